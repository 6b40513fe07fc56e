/*
 * core/hint.h - what of a text's checks a JSON Schema can say, so that a model that decodes under a schema cannot break it.
 *
 * A check says of its own part of a draft (of one text: of all of it); one without a field says nothing where a draft has fields.
 *
 *	graphemes               minLength, maxLength
 *	must_include            pattern: the values in any order. At most three; of two that share a beginning and an end, or of which one
 *	                        holds the other, the longer; none with a control character or over 200 bytes
 *	regex, match true       enum, if its pattern is nothing but the whole text, or a choice of several: ^(?:yes|no)$, \Ayes\z
 *
 * What is left out stays with the checks alone, and they judge what comes back as ever. A text that all checks accept fits what is said,
 * with these exceptions:
 *
 *	maxLength    counts code points, and white space at the ends, a check graphemes between them. Most graphemes are one code point; an accent
 *	             or 濁点 written apart, an emoji of several, CR LF are two and more. No factor would hold for all, so it is 1: such a text
 *	             is cut earlier by as many code points as it has over its graphemes. A minimum needs no such exception
 *	pattern      wants values as the job writes them; a check takes other cases and widths, and another honorific, too
 *	enum         has no line end behind it, which $ lets pass
 *
 * Where a server holds a pattern against the JSON as it is written and takes no length beside it (SCHEMA_SAYS_ALL_WRITTEN), a part with values has
 * the pattern, each gap in it up to what the values leave of the maximum, so that a text may still be too long. Where the gaps of all orders
 * together are over 300 characters, or there is a minimum alone, it has its lengths instead: such a pattern takes minutes. A gap is at most
 * 150 with one value, 50 with two, 12 with three.
 */
#ifndef CORE_HINT_H
#define CORE_HINT_H

#include "core/job.h"

enum { HINT_VALUES_MAX = 3, HINT_VALUE_BYTES_MAX = 200, HINT_WRITTEN_GAPS_MAX = 300 };

struct hint {
	int64_t min, max; /* code points; 0, INT64_MAX: none */
	struct str value[HINT_VALUES_MAX];
	int n_value;
	const struct str *choice; /* the text is one of these */
	int n_choice;		  /* 0: it is free */
};

/* Of the part @field, absent: of the whole text, by the checks of profile and job. Lives in @a. */
void hint_of(struct arena *a, const struct profile *, const struct job *, struct str field,
	     struct hint *out);

/* Writes what the model's row allows into the open schema of a string. */
void hint_put(const struct hint *, const struct model *, struct json_out *);

#endif
