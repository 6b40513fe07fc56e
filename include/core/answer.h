/*
 * core/answer.h - a generator's reply under the gate: {"text", "confidence"}.
 */
#ifndef CORE_ANSWER_H
#define CORE_ANSWER_H

#include "base/arena.h"

struct answer {
	struct str text;	     /* in the arena */
	int64_t confidence_permille; /* -1: no number in 0..1 was given, which is no confidence */
};

/* False: not exactly one JSON object with a text that is not blank. */
bool answer_read(struct arena *a, struct str reply, struct answer *out);

#endif
