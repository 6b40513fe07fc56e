/*
 * wire_parts.h - what the formats have in common, request and reply. A format's own file, wire_NAME.c, has the rest.
 */
#ifndef WIRE_PARTS_H
#define WIRE_PARTS_H

#include "core/wire.h"

/* ---- requests ---- */

/* "temperature":0.7, where the row says that it is sent. */
void put_temperature(struct json_out *, const struct model *);

/* ---- replies ---- */

struct reply_format {
	const char *model_key, *id_key; /* of the body; a header names the request first */
	struct usage (*usage)(const struct json *root);
	/* A 200 that came whole, is JSON and tells no error: class, text, finish reason and detail. */
	void (*answer)(struct arena *, const struct json *root, struct reply *out);
};

void reply_read(const struct reply_format *, const struct http_reply *, int64_t received_ms,
		struct arena *, struct reply *out);

struct ending { /* a finish reason and what it means; the last has no word, and all others are refusals */
	const char *word;
	enum reply_class class;
};

/* An answer of the expected shape: what its end, out->finish_reason, means for @text. */
void reply_end(struct arena *, const struct ending *, struct str text, struct reply *out);

/* Another class, in the provider's words or ours: cut and copied. */
void reply_fail(struct arena *, enum reply_class, struct str detail, struct reply *out);

/* A member as a word, cut and copied; absent if there is none. */
struct str reply_word(struct arena *, const struct json *object, const char *key);

/* A count of tokens, also as digits in a text, as some gateways send it; @absent if there is no such member; -1: nonsense. */
int64_t reply_count(const struct json *object, const char *key, int64_t absent);

/* The members "text" of those items of @parts that @is_text takes, joined. */
struct str reply_join(struct arena *, const struct json *parts,
		      bool (*is_text)(const struct json *part));

/* "34" or "34.07" units as milliseconds; digits after the third of the fraction are cut. -1: absent, 0, over a week, or no such number. */
int64_t wait_read_ms(struct str, int64_t unit_ms);

#endif
