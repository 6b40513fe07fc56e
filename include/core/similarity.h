/*
 * core/similarity.h - how alike two texts are, in integers.
 */
#ifndef CORE_SIMILARITY_H
#define CORE_SIMILARITY_H

#include "base/arena.h"

/* Cosine of the two texts' code point n-gram counts, in permille, rounded down. 0 if either has fewer than @n code points. @n is 1 to 3. */
int64_t similarity_permille(struct str x, struct str y, int n);

/* One run of a diff: kept (in both), or cut from @before, or put in @after. For showing changes. */
enum diff_kind { DIFF_KEPT, DIFF_CUT, DIFF_PUT };
struct diff {
	enum diff_kind kind;
	struct str text; /* borrowed from the texts */
};
/* Runs in reading order, in @a, no two of a kind side by side: the kept and cut ones together are @before, the kept and put ones @after. A
 * longest common subsequence of tokens: words, single graphemes of all else (Han, kana, punctuation); white space is kept beside kept words, and
 * between others where both texts have as much of it. Bounded work: if more than 128 KiB or 4,000 tokens are left between what both texts begin and end
 * with, lines are the tokens, and what lies between equal lines is told by words up to as many; if the lines too are more than 4,000, all between
 * is cut and put. */
const struct diff *diff_words(struct arena *a, struct str before, struct str after, int *n);

/* The share of the two texts' code points that the diff does not keep, in permille: 0 = equal, 1000 = nothing in common. */
int64_t diff_permille(const struct diff *run, int n_run);

#endif
