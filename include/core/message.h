/*
 * core/message.h - a Kafka record as a job message: plain JSON, or CloudEvents 1.0 in structured mode (an object with
 * `specversion`; the job is its `data`) or binary mode (headers ce_*; the body is the job). Both are told by content, so kcat alone
 * can send any of them. In structured mode headers count for nothing but the trace context.
 */
#ifndef CORE_MESSAGE_H
#define CORE_MESSAGE_H

#include "base/json.h"

/* Why a message is no job. The order is the order of the tests. */
#define DEAD_REASONS(X)                                                                            \
	X(null)	     /* no value: a tombstone */                                                   \
	X(empty)     /* nothing but white space */                                                 \
	X(too_large) /* over the cap of a job, MESSAGE_BYTES_MAX */                                \
	X(not_utf8)                                                                                \
	X(not_json)                                                                                \
	X(duplicate_key)                                                                           \
	X(wrong_type)                                                                              \
	X(missing_field) /* also a variable that a hard check of the profile needs */              \
	X(unknown_field)                                                                           \
	X(out_of_range) /* length, number, enum, time, or a check that does not compile */         \
	X(unknown_profile)                                                                         \
	X(limits_loosened) /* the job asks for more than its profile allows */                     \
	X(conflict)	   /* its identity is known with other bytes */                            \
	X(poison)	   /* it crashed the worker three times; not parsed */

#define X(name) DEAD_##name,
enum dead_reason { DEAD_REASONS(X) N_DEAD_REASONS, DEAD_NONE = N_DEAD_REASONS };
#undef X
const char *dead_name(enum dead_reason);

enum {
	MESSAGE_BYTES_MAX = 1 << 20, /* of a record's value */
	ATTRIBUTES_MAX = 64,	     /* other CloudEvents attributes of a message, and.. */
	ATTRIBUTES_BYTES_MAX =
		16 << 10, /* ..their size as JSON: they travel in every event of the job */
};

struct header {
	struct str key;
	struct str value; /* absent = null */
};

/* A record as received; everything is borrowed. */
struct record {
	struct str topic;
	int32_t partition;
	int64_t offset;
	struct str key, value; /* absent = null */
	const struct header *header;
	int n_header;
};

/* What the envelope says; strings live as long as the record and @doc. */
struct message {
	struct json *doc;	 /* json_free() it; NULL after a failure */
	const struct json *body; /* the job: doc itself, or its `data` */
	struct str source, id;	 /* from the CloudEvent; absent if it has none */
	struct str
		attributes; /* other CloudEvents attributes as one canonical JSON object, in @a; absent if none */
	struct str
		traceparent; /* W3C Trace Context, from header, ce_ header or attribute; absent if none or malformed */
};

/* DEAD_NONE, or the reason and in *err the place. */
enum dead_reason message_read(struct arena *a, const struct record *, struct message *out,
			      struct err *err) MUST_CHECK;

/* The traceparent of @s if it has the form of W3C Trace Context level 1 (version 00), else absent. */
struct str traceparent_read(struct str s);

#endif
