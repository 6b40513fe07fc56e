#include "core/span.h"

void span_map(const struct diff *run, int n_run, int64_t *at, int64_t *n)
{
	const int64_t from = *at, to = *at + *n;
	int64_t before = 0, after = 0, first = -1, last = -1;
	bool replaced =
		false; /* the run before was cut out of the span, so what is put came of it */

	for (int i = 0; i < n_run; i++) {
		const bool cut = run[i].kind == DIFF_CUT, put = run[i].kind == DIFF_PUT;
		const int64_t size = (int64_t)run[i].text.n;
		int64_t lo = from > before && !put ? from - before : 0;
		int64_t hi = to < before + size && !put ? to - before : size;
		bool hit = put ? replaced || (from < before && before < to) : lo < hi;

		if (hit && first < 0)
			first = after + (cut ? 0 : lo);
		if (hit)
			last = after + (cut ? 0 : hi);
		replaced = cut && hit;
		before += put ? 0 : size;
		after += cut ? 0 : size;
	}
	*at = first < 0 ? after : first;
	*n = first < 0 ? 0 : last - first;
}

static bool counts(const struct issue *i, int64_t severity, int64_t text_bytes)
{
	return i->severity >= severity && i->at >= 0 && i->n > 0 && i->n < text_bytes;
}

static int64_t bytes_without(const struct diff *run, int n_run, enum diff_kind left_out)
{
	int64_t n = 0;

	for (int i = 0; i < n_run; i++)
		n += run[i].kind == left_out ? 0 : (int64_t)run[i].text.n;
	return n;
}

bool span_flagged_again(const struct diff *run, int n_run, int64_t severity,
			const struct critique *before, const struct critique *now)
{
	const int64_t bytes_before = bytes_without(run, n_run, DIFF_PUT),
		      bytes_now = bytes_without(run, n_run, DIFF_CUT);

	for (int i = 0; i < before->n_issue; i++) {
		int64_t at = before->issue[i].at, n = before->issue[i].n;

		if (!counts(&before->issue[i], severity, bytes_before))
			continue;
		span_map(run, n_run, &at, &n);
		for (int j = 0; j < now->n_issue; j++) {
			const struct issue *flagged = &now->issue[j];

			if (counts(flagged, severity, bytes_now) &&
			    str_eq(flagged->category, before->issue[i].category) &&
			    flagged->at < at + n && at < flagged->at + flagged->n)
				return true;
		}
	}
	return false;
}
