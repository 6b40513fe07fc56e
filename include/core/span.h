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

struct revision {
	struct str before, after;
	const struct diff *run; /* diff_words() of the two */
	int n_run;
};

/* Whether @now wants back what was cut for @before: it flags, in whatever category, what came of a place that @before flagged, and its
 * suggestion has in it, at whole words and folded (text_fold()), the words cut there, from the first to the last. One code point alone is
 * taken with the one behind it, else the one before. @rev: the revisions between the two, the first first. The issues that count are
 * those of span_flagged_again(). The same suggestion again is none; nor is one whose words the earlier suggestion had too, unless that one
 * also had what was put there. Suggestions over 1 KiB are not looked into. */
bool span_wanted_back(struct arena *a, const struct revision *rev, int n_rev, int64_t severity,
		      const struct critique *before, const struct critique *now);

#endif
