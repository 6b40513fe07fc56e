#include "core/merge.h"

#include "base/text.h"

#include <stdlib.h>

enum { FOUND_BYTES_MAX = 200 };

/* What a revision does at one place: it cuts draft [from, to) and puts what is in its stead. */
struct hunk {
	size_t from, to;
	struct str put;
	size_t kept_before, kept_after; /* bytes that draft and revision have in common beside it */
};

/* ---- spans ---- */

static int by_place(const void *x, const void *y)
{
	const int64_t a = ((const struct span *)x)->at, b = ((const struct span *)y)->at;
	return (a > b) - (a < b);
}

/* Sorted, and those that touch made one; returns how many are left. */
static int join_spans(struct span *span, int n)
{
	int last = 0;

	if (n == 0)
		return 0;
	qsort(span, (size_t)n, sizeof(*span), by_place);
	for (int i = 1; i < n; i++) {
		const int64_t end = span[last].at + span[last].n, to = span[i].at + span[i].n;
		if (span[i].at > end)
			span[++last] = span[i];
		else if (to > end)
			span[last].n = to - span[last].at;
	}
	return last + 1;
}

/* ---- hunks ---- */

static bool is_inside_character(struct str s, size_t at)
{
	return at < s.n && (s.p[at] & 0xC0) == 0x80;
}

/* What the two have in common at their ends belongs to neither. */
static void trim_hunk(struct str draft, struct hunk *h)
{
	struct str cut = str_sub(draft, h->from, h->to - h->from), put = h->put;
	size_t most = cut.n < put.n ? cut.n : put.n, head = 0, tail = 0;

	while (head < most && cut.p[head] == put.p[head])
		head++;
	while (is_inside_character(cut, head) || is_inside_character(put, head))
		head--;
	while (tail < most - head && cut.p[cut.n - 1 - tail] == put.p[put.n - 1 - tail])
		tail++;
	while (tail > 0 &&
	       (is_inside_character(cut, cut.n - tail) || is_inside_character(put, put.n - tail)))
		tail--;
	h->from += head;
	h->to -= tail;
	h->put = str_sub(put, head, put.n - head - tail);
	h->kept_before += head;
	h->kept_after += tail;
}

/* The next hunk of @run from *i on, at draft byte *at; moves both behind it. False: there is none. */
static bool next_hunk(struct str draft, const struct diff *run, int n, int *i, size_t *at,
		      struct hunk *h)
{
	*h = (struct hunk){.kept_before = 0};
	for (; *i < n && run[*i].kind == DIFF_KEPT; ++*i) {
		h->kept_before += run[*i].text.n;
		*at += run[*i].text.n;
	}
	h->from = *at;
	if (*i == n)
		return false;
	for (; *i < n && run[*i].kind != DIFF_KEPT; ++*i) {
		if (run[*i].kind == DIFF_CUT)
			*at += run[*i].text.n;
		else if (h->put.p)
			h->put.n += run[*i].text.n; /* they lie side by side in the revision */
		else
			h->put = run[*i].text;
	}
	h->to = *at;
	for (int j = *i; j < n && run[j].kind == DIFF_KEPT; j++)
		h->kept_after += run[j].text.n;
	trim_hunk(draft, h);
	return true;
}

/* What only puts, or only cuts, can often be read at several places with the same result: "very " put into "very good" may stand
 * before either word. How far @h can be moved so: */
static size_t slide_left(struct str draft, const struct hunk *h, struct str moved)
{
	size_t by = 0;

	while (by < h->kept_before &&
	       draft.p[h->from - 1 - by] == (by < moved.n ? moved.p[moved.n - 1 - by]
							  : draft.p[h->from - 1 - by + moved.n]))
		by++;
	return by;
}

static size_t slide_right(struct str draft, const struct hunk *h, struct str moved)
{
	size_t by = 0;

	while (by < h->kept_after &&
	       draft.p[h->to + by] == (by < moved.n ? moved.p[by] : draft.p[h->to + by - moved.n]))
		by++;
	return by;
}

/* ---- which part of a hunk survives ---- */

static size_t max_size(size_t a, size_t b)
{
	return a > b ? a : b;
}

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Whether @h, or the same moved, lies in @span; what only puts, also at its edge. */
static bool lies_in(struct str draft, const struct hunk *h, const struct span *span)
{
	const bool mixed = h->put.n > 0 && h->to > h->from;
	const struct str moved = h->put.n ? h->put : str_sub(draft, h->from, h->to - h->from);
	const int64_t left = mixed ? 0 : (int64_t)slide_left(draft, h, moved);
	const int64_t right = mixed ? 0 : (int64_t)slide_right(draft, h, moved);
	const int64_t from = span->at - (int64_t)h->from, to = span->at + span->n - (int64_t)h->to;

	return from <= to && from <= right && to >= -left;
}

/* Without the punctuation or white space at its end, or at its beginning. */
static struct str without_marks(struct str s, bool at_end)
{
	size_t at = at_end ? s.n : 0, before = at;

	while (at_end ? text_before(s, &at) >= 0 : text_next(s, &at) >= 0) {
		const size_t lo = min_size(at, before), hi = max_size(at, before);
		if (text_words(str_sub(s, lo, hi - lo)))
			break;
		before = at;
	}
	return at_end ? str_sub(s, 0, before) : str_sub(s, before, s.n);
}

static bool is_in_word(struct str s, size_t at)
{
	size_t from = at, to = at;

	if (text_before(s, &from) < 0 || text_next(s, &to) < 0)
		return false;
	return text_words(str_sub(s, from, at - from)) && text_words(str_sub(s, at, to - at)) &&
	       text_words(str_sub(s, from, to - from)) == 1;
}

/* A diff may find a word of the span again far away, beyond what is cut beside it: "on [Monday. Bye]." for "on {Tuesday}." How much
 * of [from, to) at its end is what is kept behind the hunk, or at its begin what is kept before it. */
static size_t found_behind(struct str draft, const struct hunk *h, size_t from, size_t to)
{
	size_t n = min_size(min_size(to - from, h->kept_after), FOUND_BYTES_MAX);

	while (n > 0 && (memcmp(draft.p + to - n, draft.p + h->to, n) != 0 ||
			 is_inside_character(draft, to - n) || is_in_word(draft, to - n) ||
			 is_in_word(draft, h->to + n)))
		n--;
	return n;
}

static size_t found_before(struct str draft, const struct hunk *h, size_t from, size_t to)
{
	size_t n = min_size(min_size(to - from, h->kept_before), FOUND_BYTES_MAX);

	while (n > 0 && (memcmp(draft.p + from, draft.p + h->from - n, n) != 0 ||
			 is_inside_character(draft, from + n) || is_in_word(draft, from + n) ||
			 is_in_word(draft, h->from - n)))
		n--;
	return n;
}

/* @h cuts in @span and beside it: makes it what it does in the span. False: what it puts is rather for all that it cuts. */
static bool take_part(struct str draft, struct hunk *h, const struct span *span)
{
	size_t from = max_size(h->from, (size_t)span->at);
	size_t to = min_size(h->to, (size_t)(span->at + span->n));
	const struct str left = str_sub(draft, h->from, from - h->from);
	const struct str right = str_sub(draft, to, h->to - to);

	if (h->put.n == 0) {
		if (text_trim(left).n + text_trim(right).n > 0)
			return false;
	} else if (text_words(left) + text_words(right) == 0) {
		if (left.n)
			h->put = without_marks(h->put, false);
		if (right.n)
			h->put = without_marks(h->put, true);
	} else if (2 * h->put.n > to - from + h->to - h->from) {
		return false;
	}
	if (right.n)
		to -= found_behind(draft, h, from, to);
	if (left.n)
		from += found_before(draft, h, from, to);
	h->from = from;
	h->to = to;
	return true;
}

static bool survives(struct str draft, struct hunk *h, const struct span *span, int n)
{
	const struct span *hit = NULL;

	for (int i = 0; i < n; i++) {
		const size_t at = (size_t)span[i].at, end = at + (size_t)span[i].n;
		if (lies_in(draft, h, &span[i]))
			return true;
		if (at >= h->to || end <= h->from)
			continue;
		if (hit) /* nobody knows which part is for which */
			return false;
		hit = &span[i];
	}
	return hit && take_part(draft, h, hit);
}

/* Whether @revision has all that is not flagged, in order, the first and the last of it at its ends. */
static bool keeps_the_rest(struct str draft, struct str revision, const struct span *span, int n)
{
	size_t from = 0, done = 0;

	for (int i = 0; i <= n; i++) {
		const size_t to = i < n ? (size_t)span[i].at : draft.n, size = to - from;
		const bool last = i == n;
		if (revision.n < done + size)
			return false;
		const int64_t at = size == 0 ? (int64_t)done
				   : last    ? (int64_t)(revision.n - size)
					     : str_find(revision, str_sub(draft, from, size), done);
		if (at < 0 || (i == 0 && at != 0) ||
		    memcmp(revision.p + at, draft.p + from, size) != 0)
			return false;
		done = (size_t)at + size;
		from = last ? to : to + (size_t)span[i].n;
	}
	return n > 0 || str_eq(draft, revision);
}

static void put_run(struct merge *m, enum diff_kind kind, struct str text)
{
	if (text.n > 0)
		m->run[m->n_run++] = (struct diff){kind, text};
}

static struct str text_of_runs(struct arena *a, const struct merge *m, size_t max)
{
	struct buf all = BUF(max + 1);

	for (int i = 0; i < m->n_run; i++)
		if (m->run[i].kind != DIFF_CUT)
			buf_str(&all, m->run[i].text);
	if (all.full)
		BUG("a merge longer than both texts");
	struct str text = arena_str(a, buf_view(&all));
	buf_release(&all);
	return text;
}

void merge_flagged(struct arena *a, struct str draft, struct str revision,
		   const struct span *flagged, int n, struct merge *out)
{
	struct arena *scratch = arena_new();
	struct span *span = arena_array(scratch, struct span, n);
	size_t at = 0, written = 0;
	struct hunk h;
	int n_run;
	const struct diff *run = diff_words(scratch, draft, revision, &n_run);

	memcpy(span, flagged, sizeof(*span) * (size_t)n);
	n = join_spans(span, n);
	const bool all = keeps_the_rest(draft, revision, span, n);
	*out = (struct merge){.run = arena_array(a, struct diff, 3 * n_run + 1)};
	for (int i = 0; next_hunk(draft, run, n_run, &i, &at, &h);) {
		if (!all && !survives(draft, &h, span, n)) {
			out->n_reverted++;
			continue;
		}
		out->n_kept++;
		put_run(out, DIFF_KEPT, str_sub(draft, written, h.from - written));
		put_run(out, DIFF_CUT, str_sub(draft, h.from, h.to - h.from));
		put_run(out, DIFF_PUT, h.put);
		written = h.to;
	}
	put_run(out, DIFF_KEPT, str_sub(draft, written, draft.n - written));
	out->text = out->n_kept ? text_of_runs(a, out, draft.n + revision.n) : draft;
	arena_free(scratch);
}
