/*
 * core/span.h - places in a text, followed through its revision.
 */
#ifndef CORE_SPAN_H
#define CORE_SPAN_H

#include "core/critique.h"
#include "core/similarity.h"

/* Where [*at, *at + *n) of the text before lies in the text after: from the first to the last byte that came of it, that is
 * kept, put in the place of what was cut from it, or put inside; not what is put beside it. @run: diff_words() of the two. A span
 * cut away leaves *n 0 at its place. */
void span_map(const struct diff *run, int n_run, int64_t *at, int64_t *n);

/* Whether @now flags, in the same category, a place that @before flagged: the fix did not take. @run: from the text that @before is of to
 * the one that @now is of. Only issues of @severity or more count: of others the refiner did not hear. An issue without a place, or
 * whose place is the whole text, is never the same. */
bool span_flagged_again(const struct diff *run, int n_run, int64_t severity,
			const struct critique *before, const struct critique *now);

#endif
