#include "core/span.h"

#include "base/text.h"

enum { DEMAND_BYTES_MAX = 1 << 10 };

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

/* ---- wanted back ---- */

/* Whether no word is cut in two there. */
static bool is_apart(struct str s, size_t at)
{
	size_t from = at, to = at;

	if (text_before(s, &from) < 0 || text_next(s, &to) < 0)
		return true;
	return text_words(str_sub(s, from, to - from)) ==
	       text_words(str_sub(s, from, at - from)) + text_words(str_sub(s, at, to - at));
}

/* [from, to) of a text with the whole words at its ends: of "Mon" in "Monday" a merge cuts what is not in "Tuesday" too. */
static struct str whole_words(struct str text, size_t from, size_t to)
{
	const size_t least = from > DEMAND_BYTES_MAX ? from - DEMAND_BYTES_MAX : 0;

	while (from > least && !is_apart(text, from))
		text_before(text, &from);
	while (to < text.n && to - from <= DEMAND_BYTES_MAX && !is_apart(text, to))
		text_next(text, &to);
	return str_sub(text, from, to - from);
}

/* From the first to the last word of a span that the revision cut (span of the text before) or put (of the text after). n 0: none. */
static struct str changed(const struct revision *r, enum diff_kind kind, int64_t at, int64_t n)
{
	int64_t here = 0, first = -1, last = -1;

	for (int i = 0; i < r->n_run; i++) {
		const int64_t size = (int64_t)r->run[i].text.n;
		const int64_t lo = at > here ? at : here;
		const int64_t hi = at + n < here + size ? at + n : here + size;

		if (r->run[i].kind != kind && r->run[i].kind != DIFF_KEPT)
			continue;
		if (r->run[i].kind == kind && lo < hi) {
			first = first < 0 ? lo : first;
			last = hi;
		}
		here += size;
	}
	return first < 0 ? (struct str){NULL, 0}
			 : whole_words(kind == DIFF_CUT ? r->before : r->after, (size_t)first,
				       (size_t)last);
}

/* @part of @text, a code point longer if it is only one. */
static struct str at_least_two(struct str text, struct str part)
{
	size_t from = (size_t)(part.p - text.p), to = from, end = from + part.n;

	if (part.n && text_next(text, &to) >= 0 && to == end && text_next(text, &to) < 0)
		text_before(text, &from);
	return part.n ? str_sub(text, from, (to > end ? to : end) - from) : part;
}

static bool says(struct arena *a, struct str said, struct str words)
{
	int64_t at = -1;

	if (said.n > DEMAND_BYTES_MAX || words.n > DEMAND_BYTES_MAX)
		return false;
	said = text_fold(a, said);
	words = text_trim(text_fold(a, words));
	while (words.n && (at = str_find(said, words, (size_t)(at + 1))) >= 0)
		if (is_apart(said, (size_t)at) && is_apart(said, (size_t)at + words.n))
			return true;
	return false;
}

/* Whether the two suggestions are against each other: of a place [at, at + n) that the first revision mended. */
static bool reverses(struct arena *a, const struct revision *r, int64_t at, int64_t n,
		     struct str before, struct str now)
{
	const struct str cut = changed(r, DIFF_CUT, at, n);

	if (!cut.n || str_eq(before, now) || !says(a, now, at_least_two(r->before, cut)))
		return false;
	span_map(r->run, r->n_run, &at, &n);
	return says(a, before, changed(r, DIFF_PUT, at, n)) ||
	       !says(a, before, at_least_two(r->before, cut));
}

bool span_wanted_back(struct arena *a, const struct revision *rev, int n_rev, int64_t severity,
		      const struct critique *before, const struct critique *now)
{
	for (int i = 0; i < before->n_issue; i++) {
		const struct issue *was = &before->issue[i];
		int64_t at = was->at, n = was->n;

		if (!counts(was, severity, (int64_t)rev->before.n))
			continue;
		for (int k = 0; k < n_rev; k++)
			span_map(rev[k].run, rev[k].n_run, &at, &n);
		for (int j = 0; j < now->n_issue; j++) {
			const struct issue *is = &now->issue[j];

			if (counts(is, severity, (int64_t)rev[n_rev - 1].after.n) &&
			    is->at < at + n + !n && at < is->at + is->n + !n &&
			    reverses(a, rev, was->at, was->n, was->suggestion, is->suggestion))
				return true;
		}
	}
	return false;
}
