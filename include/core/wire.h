/*
 * core/wire.h - request and reply bytes of a model API. Pure: bytes in, meaning out. One const struct wire a format; wire.c lists them.
 * Formats of today: openai (chat completions; also llama.cpp, vLLM, Ollama, LiteLLM).
 */
#ifndef CORE_WIRE_H
#define CORE_WIRE_H

#include "base/json.h"
#include "core/profile.h"

/* What a call got. The first three end it (fact REPLIED), the others are tried again by their class (app/retry.h) or end it
 * as CALL_FAILED. `maybe billed`: the provider may have done the work. */
/* clang-format off */
#define REPLY_CLASSES(X) \
	/* class,      maybe billed */ \
	X(complete,     true)  /* 200, whole, JSON of the expected shape, a known good finish reason, a text that is not empty */ \
	X(truncated,    true)  /* ended at its length limit */ \
	X(refused,      true)  /* blocked, an unknown finish reason, or no text */ \
	X(rate_limited, false) /* 429 */ \
	X(server_error, false) /* 5xx, 408, 409 */ \
	X(credentials,  false) /* 401, 403, 404: key, model or path is wrong, whatever the job */ \
	X(rejected,     false) /* any other status: this very request is at fault */ \
	X(unreadable,   true)  /* 200, but not whole, no JSON, or another shape */ \
	X(unsent,       false) /* no byte of the request left: resolve, connect, TLS */ \
	X(broken_off,   true)  /* cut or timed out after the request */
/* clang-format on */
#define X(name, maybe_billed) REPLY_##name,
enum reply_class { REPLY_CLASSES(X) N_REPLY_CLASSES };
#undef X
const char *reply_class_name(enum reply_class);
enum reply_class reply_class_read(struct str name); /* N_REPLY_CLASSES: none of that name */
bool reply_maybe_billed(enum reply_class);

struct usage {		/* tokens; -1: the reply has none, or nonsense (negative, over 2^40) */
	int64_t in;	/* all input, cached included */
	int64_t cached; /* part of in; 0 if not told */
	int64_t out;	/* all that is billed as output */
};

struct reply {
	enum reply_class class;
	struct str text;  /* complete, truncated: the model's text; in the arena */
	struct str model; /* that answered; absent if not told */
	struct str request_id, finish_reason;
	struct usage usage;
	int64_t retry_after_ms; /* a floor; -1: absent, 0, past, negative or nonsense */
	struct str detail; /* a failure in the provider's words, cut at 300 bytes; never a prompt */
};

enum want { WANT_TEXT, WANT_CRITIQUE, WANT_CONFIDENT_TEXT };

struct prompt { /* built by core/prompt.h */
	struct buf system, user;
	enum want want;
};

/* An HTTP reply as received, as far as it is kept. */
struct http_reply {
	int status; /* 0: there was none */
	struct str
		headers; /* "name: value\n", names in lower case: content-type, date, retry-after, x-request-id, request-id */
	struct str body;
	bool whole; /* ended as its framing said */
};

struct wire {
	const char *name;
	const char *path; /* after the provider's base URL */
	/* The body of one call. Structured output in this API's dialect for the wants that have a schema, as the model's schema_mode says. */
	void (*request)(const struct model *, const struct prompt *, int64_t max_output_tokens,
			struct buf *body);
	/* @received_ms: Unix time, for Retry-After dates. Never fails: what cannot be read is a class. */
	void (*reply)(const struct http_reply *, int64_t received_ms, struct arena *,
		      struct reply *out);
};

const struct wire *wire_named(struct str name); /* NULL: none */

/* The value of a kept header; absent if there is none. */
struct str http_header(struct str headers, const char *name);

/* Retry-After, milliseconds from @received_ms: seconds, also with a fraction, or an HTTP date (IMF-fixdate). -1: absent, 0, past,
 * negative, more than a week, or something else. */
int64_t http_retry_after_ms(struct str headers, int64_t received_ms);

/* JSON Schemas of the structured wants, as constant text: the same that core/critique.h reads by. */
struct str want_schema(enum want); /* absent for WANT_TEXT */

#endif
