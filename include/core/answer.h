/*
 * core/answer.h - a generator's or refiner's reply, read as a draft. It is the text itself or, where the profile has named fields or wants
 * the generator's confidence, exactly one JSON object: {"FIELD": text, ...}, or {"text": text}, and "confidence".
 *
 * A draft of several fields is one text, the fields in the profile's order with a blank line between them, so that places in it mean the
 * same everywhere. The places of the fields are kept with it.
 */
#ifndef CORE_ANSWER_H
#define CORE_ANSWER_H

#include "core/profile.h"

struct field { /* where a named part of a text lies, bytes */
	struct str name;
	int64_t at, n;
};

struct answer {
	struct str text;	   /* in the arena */
	const struct field *field; /* the profile's, in the arena */
	int n_field;
	int64_t confidence_permille; /* -1: no number in 0..1 was given, which is no confidence */
};

/* The text that these make, one for each field of the profile, and where they lie in it. In @a. */
void answer_join(struct arena *a, const struct profile *, const struct str *text,
		 struct answer *out);

struct str field_text(const struct field *, struct str whole);

/* Hexadecimal digits, in lower case, of the key of a prompt's fences (core/prompt.h). */
enum { FENCE_KEY_DIGITS = 24 };

/* False: it should be a JSON object and is not exactly one, or a text in it is missing or blank; or a text has a fence of a prompt in it, "<<<KEY" or
 * "KEY>>>", whatever the key: the model copied its prompt, and such a text must not go out. */
bool answer_read(struct arena *a, const struct profile *, enum role, struct str reply,
		 struct answer *out);

#endif
