/*
 * core/wire.h - request and reply bytes of a model API. Pure: bytes in, meaning out. One const struct wire a format; wire.c lists them.
 * Formats of today: openai (chat completions; also llama.cpp, vLLM, Ollama, LiteLLM), gemini (generateContent), anthropic (Messages).
 */
#ifndef CORE_WIRE_H
#define CORE_WIRE_H

#include "base/json.h"
#include "core/profile.h"

/* What a call got. The first four end it (fact REPLIED), the others are tried again by their class (app/retry.h) or end it
 * as CALL_FAILED. `maybe billed`: the provider may have done the work. The code in an error's body decides before the status: a
 * 429 is a rate limit, or an account without money. */
/* clang-format off */
#define REPLY_CLASSES(X) \
	/* class,      maybe billed */ \
	X(complete,     true)  /* 200, whole, JSON of the expected shape, a known good finish reason, a text that is not empty */ \
	X(truncated,    true)  /* ended at its length limit */ \
	X(refused,      true)  /* the model declined, an unknown finish reason, or no text */ \
	X(blocked,      true)  /* a filter of the provider stopped the prompt or the text */ \
	X(rate_limited, false) /* too much asked in too short a time: 429 */ \
	X(overloaded,   false) /* no room, whoever asks: 503, 529 */ \
	X(server_error, false) /* other 5xx, 409 */ \
	X(credentials,  false) /* key, model or path is wrong, or the account's money or quota of the day is used up, whatever the job: 401 to 404; or who stands before it refuses us */ \
	X(rejected,     false) /* any other status: this very request is at fault */ \
	X(unreadable,   true)  /* 200, but not whole, no JSON, or another shape */ \
	X(unsent,       false) /* no byte of the request left: resolve, connect, TLS */ \
	X(broken_off,   true)  /* cut or timed out after the request, by us or by a server on the way: 408, 499, 504, 524 */
/* clang-format on */
#define X(name, maybe_billed) REPLY_##name,
enum reply_class { REPLY_CLASSES(X) N_REPLY_CLASSES };
#undef X
const char *reply_class_name(enum reply_class);
enum reply_class reply_class_read(struct str name); /* N_REPLY_CLASSES: none of that name */
bool reply_maybe_billed(enum reply_class);
bool reply_is_answer(enum reply_class); /* complete, truncated, refused or blocked */

struct usage { /* tokens; -1: the reply has none, or nonsense (negative, over 2^40, or 0 of what cannot be free) */
	int64_t in;	     /* all input, what was cached included */
	int64_t cached;	     /* part of in, read from the cache; 0 if not told */
	int64_t out;	     /* all that is billed as output, thinking included */
	int64_t cache_write; /* another part of in, written to the cache; 0 if not told */
};

struct reply {
	enum reply_class class;
	struct str text;  /* complete, truncated: the model's text; in the arena */
	struct str model; /* that answered, as its id; absent if not told */
	struct str request_id, finish_reason;
	struct usage usage;
	int64_t retry_after_ms; /* a floor; -1: absent, 0, past, negative or nonsense */
	struct str detail; /* a failure in the provider's words, cut at 300 bytes; never a prompt */
};

struct prompt { /* built by core/prompt.h */
	struct buf system, user;
	enum want want;
	struct buf schema; /* of the reply, in the model's dialect; empty for WANT_TEXT */
};

/* An HTTP reply as received, as far as it is kept. */
struct http_reply {
	int status; /* 0: there was none */
	struct str
		headers; /* "name: value\n", names in lower case: content-type, date, retry-after, retry-after-ms, x-request-id, request-id */
	struct str body;
	bool whole; /* ended as its framing said */
};

struct wire {
	const char *name;
	const char *base_url; /* the maker's; a provider may have another */
	const char *path;     /* after the base URL, with "{model}" for the model's id */
	const char *auth_header, *auth_prefix; /* the maker's; a provider may have others */
	const char *header; /* "Name: value" that every request needs; NULL: none */

	/* What a model's row may say, see wire_check(). */
	const char *const *level;  /* words of `thinking`, NULL at the end */
	int64_t budget_min_tokens; /* of `thinking` as a number of tokens; -1: it takes none */
	unsigned schema_modes;	   /* 1 << enum schema_mode */
	bool schema_bounds;	   /* its schemas may bound numbers and arrays */
	unsigned
		text_bounds; /* 1 << enum schema_mode: in which they may bound texts, by pattern and length */
	int64_t temperature_max_milli;
	bool thinking_bars_temperature; /* unless `thinking` is "none" */

	/* The body of one call. Structured output in this API's dialect for the wants that have a schema, as the model's schema_mode says. */
	void (*request)(const struct model *, const struct prompt *, int64_t max_output_tokens,
			struct buf *body);
	/* @received_ms: Unix time, for Retry-After dates. Never fails: what cannot be read is a class. */
	void (*reply)(const struct http_reply *, int64_t received_ms, struct arena *,
		      struct reply *out);
};

const struct wire *wire_named(struct str name); /* NULL: none */

/* What the row asks for, its wire can say. ST_INVALID: *err is "key: what is wrong; the mend". */
enum status wire_check(const struct model *, struct err *err) MUST_CHECK;

/* @id, as a reply names it, is the row's model or a dated version of it: "gpt-5.4-2026-03-05" is "gpt-5.4", "gpt-5.4-mini" is not; folders
 * before it ("models/", "openai/") do not count. False if either is absent. */
bool model_is(const struct model *, struct str id);

/* The two rows ask the same model, under whatever names and at whatever providers: one's id is the other's or a dated version of it, in any
 * case of their letters. */
bool model_same(const struct model *, const struct model *);

/* The value of a kept header; absent if there is none. */
struct str http_header(struct str headers, const char *name);

/* How long the headers ask to wait, milliseconds from @received_ms: retry-after-ms, or Retry-After in seconds, both also with a fraction, or
 * as an HTTP date (IMF-fixdate). -1: absent, 0, past, negative, more than a week, or something else. */
int64_t http_retry_after_ms(struct str headers, int64_t received_ms);

/* Whether a schema to this model may bound texts, as far as its wire goes. */
bool wire_bounds_texts(const struct model *);

/* In which words a schema goes to this model. */
enum dialect wire_dialect(const struct model *);

#endif
