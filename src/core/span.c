#include "core/span.h"

void span_map(const struct diff *run, int n_run, int64_t *at, int64_t *n)
{
	const int64_t from = *at, to = *at + *n;
	int64_t before = 0, after = 0, first = -1, last = -1;

	for (int i = 0; i < n_run; i++) {
		const int64_t size = (int64_t)run[i].text.n;
		const int64_t here = run[i].kind == DIFF_PUT ? 0 : size;
		int64_t lo = from > before ? from - before : 0;
		int64_t hi = to < before + here ? to - before : here;

		if (run[i].kind ==
		    DIFF_PUT) { /* text put inside the span, or in place of its end */
			lo = 0;
			hi = before > from && before <= to ? size : -1;
		}
		if (run[i].kind != DIFF_CUT && hi > lo) {
			first = first < 0 ? after + lo : first;
			last = after + hi;
		} else if (run[i].kind == DIFF_CUT && hi > lo && first < 0) {
			first = last = after;
		}
		before += here;
		after += run[i].kind == DIFF_CUT ? 0 : size;
	}
	*at = first < 0 ? after : first;
	*n = first < 0 ? 0 : last - first;
}

static bool has_place(const struct issue *i, struct str text)
{
	return i->at >= 0 && i->n > 0 && i->n < (int64_t)text.n;
}

bool span_flagged_again(struct arena *a, struct str text_before, const struct critique *before,
			struct str text_now, const struct critique *now)
{
	int n_run;
	const struct diff *run = diff_words(a, text_before, text_now, &n_run);

	for (int i = 0; i < before->n_issue; i++) {
		int64_t at = before->issue[i].at, n = before->issue[i].n;

		if (!has_place(&before->issue[i], text_before))
			continue;
		span_map(run, n_run, &at, &n);
		for (int j = 0; j < now->n_issue; j++) {
			const struct issue *flagged = &now->issue[j];

			if (has_place(flagged, text_now) &&
			    str_eq(flagged->category, before->issue[i].category) &&
			    flagged->at < at + n && at < flagged->at + flagged->n)
				return true;
		}
	}
	return false;
}
