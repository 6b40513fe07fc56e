#include "base/text.h"
#include "core/similarity.h"

#include <stdlib.h>

enum { TOKENS_MAX = 4000 }; /* compared with each other; 2 * TOKENS_MAX^2 bits of memory */
enum { WORDS_BYTES_MAX = 128 << 10 }; /* cut into words */
enum {
	RUNS_MAX = 8 * TOKENS_MAX + 4
}; /* lines, between them words, and what both begin and end with */

/* What lies between the common beginning and the common end of a text and another, cut into tokens without gaps. */
struct tokens {
	struct str text;
	size_t *begin; /* token i is bytes [begin[i], begin[i + 1]) */
	size_t n;
	bool *kept; /* kept[i]: token i is in the common subsequence */
};

/* Tokens [from, to). */
static struct str part(const struct tokens *t, size_t from, size_t to)
{
	return str_sub(t->text, t->begin[from], t->begin[to] - t->begin[from]);
}

static struct str token(const struct tokens *t, size_t i)
{
	return part(t, i, i + 1);
}

enum kind { KIND_ALONE, KIND_SPACE, KIND_WORD };

/* What a grapheme that begins with @c is. Rough outside the large scripts: it only makes tokens smaller. */
static enum kind kind_of(int32_t c)
{
	if (c == ' ' || (c >= '\t' && c <= '\r') || c == 0xA0 || c == 0x3000)
		return KIND_SPACE;
	if (c < 0x80)
		return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
			       ? KIND_WORD
			       : KIND_ALONE;
	if ((c >= 0xC0 && c < 0xE00 && c != 0xD7 && c != 0xF7) || /* Latin to the Indic scripts */
	    (c >= 0x10A0 && c < 0x1680) || /* Georgian, Hangul jamo, Ethiopic, .. */
	    (c >= 0x1E00 && c < 0x2000) || /* more Latin, Greek */
	    (c >= 0xAC00 && c < 0xD7B0))   /* Hangul */
		return KIND_WORD;
	return KIND_ALONE;
}

/* End of the token that begins at byte @at. */
static size_t word_end(struct str s, size_t at)
{
	size_t first = at, next;
	enum kind kind = kind_of(text_next(s, &first));

	do {
		at = text_grapheme_end(s, at);
		next = at;
	} while (kind != KIND_ALONE && kind_of(text_next(s, &next)) == kind);
	return at;
}

/* False: they are more than @max. */
static bool cut(struct arena *scratch, struct str text, size_t (*token_end)(struct str, size_t),
		size_t max, struct tokens *t)
{
	*t = (struct tokens){
		.text = text,
		.begin = arena_array(scratch, size_t, (text.n < max ? text.n : max) + 1)};
	for (size_t at = 0; at < text.n && t->n < max; t->begin[++t->n] = at)
		at = token_end(text, at);
	t->kept = arena_array(scratch, bool, t->n);
	return t->begin[t->n] == text.n;
}

/* ---- what both texts begin and end with: up to a place where tokens end in both ---- */

static bool is_inside(struct str s, size_t at)
{
	return at < s.n && (s.p[at] & 0xC0) == 0x80;
}

static bool token_ends(struct str s, size_t at)
{
	size_t from = at, to = at;
	const int32_t before = text_before(s, &from), c = text_next(s, &to);

	return before < 0 || c < 0 ||
	       (text_apart(before, c) &&
		(kind_of(c) == KIND_ALONE || kind_of(c) != kind_of(before)));
}

static size_t common_head(struct str x, struct str y)
{
	const size_t most = x.n < y.n ? x.n : y.n;
	size_t n = 0;

	while (n < most && x.p[n] == y.p[n])
		n++;
	while (is_inside(x, n) || is_inside(y, n))
		n--;
	while (!token_ends(x, n) || !token_ends(y, n))
		text_before(x, &n);
	return n;
}

static size_t common_tail(struct str x, struct str y)
{
	const size_t most = x.n < y.n ? x.n : y.n;
	size_t n = 0;

	while (n < most && x.p[x.n - 1 - n] == y.p[y.n - 1 - n])
		n++;
	while (is_inside(x, x.n - n))
		n--;
	while (!token_ends(x, x.n - n) || !token_ends(y, y.n - n)) {
		size_t at = x.n - n;
		text_next(x, &at);
		n = x.n - at;
	}
	return n;
}

/* ---- what is common between ---- */

struct middle { /* tokens [from, to): those at the ends are equal */
	struct tokens *t;
	size_t from, to;
};

static void trim(struct middle *x, struct middle *y)
{
	while (x->from < x->to && y->from < y->to &&
	       str_eq(token(x->t, x->from), token(y->t, y->from)))
		x->t->kept[x->from++] = y->t->kept[y->from++] = true;
	while (x->from < x->to && y->from < y->to &&
	       str_eq(token(x->t, x->to - 1), token(y->t, y->to - 1)))
		x->t->kept[--x->to] = y->t->kept[--y->to] = true;
}

static bool is_blank(const struct tokens *t, size_t i)
{
	return text_trim(token(t, i)).n == 0;
}

/* The numbers of the tokens in the middle that are not blank. */
struct words {
	size_t *at, *id;
	size_t n;
};

static struct words words_of(struct arena *scratch, const struct middle *m)
{
	struct words w = {arena_array(scratch, size_t, m->to - m->from),
			  arena_array(scratch, size_t, m->to - m->from), 0};

	for (size_t i = m->from; i < m->to; i++)
		if (!is_blank(m->t, i))
			w.at[w.n++] = i;
	return w;
}

struct named {
	struct str text;
	size_t *id;
};

static int by_text(const void *x, const void *y)
{
	return str_cmp(((const struct named *)x)->text, ((const struct named *)y)->text);
}

/* Equal words of the two texts get equal ids, from 0. Returns how many there are. */
static size_t number(struct arena *scratch, const struct tokens *before, const struct tokens *after,
		     struct words *x, struct words *y)
{
	const size_t n = x->n + y->n;
	struct named *named = arena_array(scratch, struct named, n);
	size_t id = 0;

	for (size_t i = 0; i < n; i++)
		named[i] =
			i < x->n ? (struct named){token(before, x->at[i]), &x->id[i]}
				 : (struct named){token(after, y->at[i - x->n]), &y->id[i - x->n]};
	qsort(named, n, sizeof(*named), by_text);
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && !str_eq(named[i].text, named[i - 1].text))
			id++;
		*named[i].id = id;
	}
	return id + 1;
}

static bool bit(const uint64_t *row, size_t i)
{
	return row[i / 64] >> (i % 64) & 1;
}

/* One row of the table of longest common subsequences from the row before it, 64 columns at a time (H. Hyyro, "Bit-parallel
 * LCS-length computation revisited", 2004). Bit i of row j is 0 where x[0..i] has one more in common with y[0..j) than x[0..i). */
static void next_row(const uint64_t *row, const uint64_t *where, uint64_t *next, size_t n_word)
{
	bool carry = false;

	for (size_t w = 0; w < n_word; w++) {
		uint64_t hit = row[w] & where[w], sum;
		bool over = __builtin_add_overflow(row[w], hit, &sum);
		over |= __builtin_add_overflow(sum, (uint64_t)carry, &sum);
		next[w] = sum | (row[w] & ~hit);
		carry = over;
	}
}

static void keep_common_words(struct arena *scratch, struct tokens *before, struct tokens *after,
			      struct words *x, struct words *y)
{
	const size_t n_id = number(scratch, before, after, x, y), n_word = (x->n + 63) / 64;
	uint64_t *where = arena_array(scratch, uint64_t, n_id * n_word); /* of each id in x */
	uint64_t *row = arena_array(scratch, uint64_t, (y->n + 1) * n_word);

	for (size_t i = 0; i < x->n; i++)
		where[x->id[i] * n_word + i / 64] |= UINT64_C(1) << (i % 64);
	memset(row, 0xFF, n_word * sizeof(*row));
	for (size_t j = 0; j < y->n; j++)
		next_row(&row[j * n_word], &where[y->id[j] * n_word], &row[(j + 1) * n_word],
			 n_word);
	/* Back from the corner. Token i - 1 counts only if its bit is 0; and it is j - 1 that it equals if the bit was 1 before. */
	for (size_t i = x->n, j = y->n; i > 0 && j > 0;) {
		if (bit(&row[j * n_word], i - 1)) {
			i--;
		} else if (!bit(&row[(j - 1) * n_word], i - 1)) {
			j--;
		} else {
			before->kept[x->at[--i]] = true;
			after->kept[y->at[--j]] = true;
		}
	}
}

static size_t n_blank(const struct middle *gap)
{
	size_t n = 0;

	for (size_t i = gap->from; i < gap->to; i++)
		n += is_blank(gap->t, i);
	return n;
}

/* Moves *i on to the next blank token before @end. */
static bool next_blank(const struct tokens *t, size_t *i, size_t end)
{
	while (*i < end && !is_blank(t, *i))
		++*i;
	return *i < end;
}

/* White space is kept beside kept words; and between words that are not, where both texts have as many of them: word for word. */
static void keep_blanks(struct middle x, struct middle y)
{
	if (x.from < x.to && y.from < y.to && is_blank(x.t, x.from) && is_blank(y.t, y.from))
		trim(&x, &y);
	if (x.from < x.to && y.from < y.to && is_blank(x.t, x.to - 1) && is_blank(y.t, y.to - 1))
		trim(&x, &y);
	if (n_blank(&x) != n_blank(&y))
		return;
	for (size_t i = x.from, j = y.from; next_blank(x.t, &i, x.to) && next_blank(y.t, &j, y.to);
	     i++, j++)
		if (str_eq(token(x.t, i), token(y.t, j)))
			x.t->kept[i] = y.t->kept[j] = true;
}

static void keep_common(struct arena *scratch, const struct middle *x, const struct middle *y)
{
	struct words of_x = words_of(scratch, x), of_y = words_of(scratch, y);
	struct middle x_gap = *x, y_gap = *y;

	keep_common_words(scratch, x->t, y->t, &of_x, &of_y);
	while (x_gap.from < x->to || y_gap.from < y->to) {
		for (x_gap.to = x_gap.from; x_gap.to < x->to && !x->t->kept[x_gap.to];)
			x_gap.to++;
		for (y_gap.to = y_gap.from; y_gap.to < y->to && !y->t->kept[y_gap.to];)
			y_gap.to++;
		keep_blanks(x_gap, y_gap);
		x_gap.from = x_gap.to + (x_gap.to < x->to);
		y_gap.from = y_gap.to + (y_gap.to < y->to);
	}
}

/* The run of tokens from *i on that are kept, or are not; moves *i behind it. */
static struct str take_run(const struct tokens *t, size_t *i, bool kept)
{
	size_t first = *i;

	while (*i < t->n && t->kept[*i] == kept)
		++*i;
	return part(t, first, *i);
}

struct runs {
	struct diff *run;
	int n;
};

static void put_run(struct runs *r, enum diff_kind kind, struct str text)
{
	if (text.n == 0)
		return;
	if (r->n > 0 && r->run[r->n - 1].kind == kind)
		r->run[r->n - 1].text.n += text.n; /* they lie side by side */
	else
		r->run[r->n++] = (struct diff){kind, text};
}

static size_t line_end(struct str s, size_t at)
{
	int64_t feed = str_find(s, STR_OF("\n"), at);
	return feed < 0 ? s.n : (size_t)feed + 1;
}

static size_t all_end(struct str s, size_t at)
{
	return s.n;
}

static bool put_by(struct runs *r, struct str before, struct str after,
		   size_t (*token_end)(struct str, size_t), size_t *room, size_t *room_between);

/* @room_between, unless NULL: what lies between kept tokens is cut into words as far as it goes. */
static void put_middle(struct runs *r, const struct tokens *before, const struct tokens *after,
		       size_t *room_between)
{
	for (size_t i = 0, j = 0; i < before->n || j < after->n;) {
		const struct str cut = take_run(before, &i, false),
				 put = take_run(after, &j, false);
		/* The kept tokens of one text are those of the other, but may be cut into at different places. */
		const size_t first = i;
		while (i < before->n && j < after->n && before->kept[i] && after->kept[j])
			i++, j++;
		if (!room_between || !put_by(r, cut, put, word_end, room_between, NULL)) {
			put_run(r, DIFF_CUT, cut);
			put_run(r, DIFF_PUT, put);
		}
		put_run(r, DIFF_KEPT, part(before, first, i));
	}
}

/* The runs of two texts cut into tokens of one kind, at most *room of each, which as many are taken from. False, and nothing is put: there are
 * more. */
static bool put_by(struct runs *r, struct str before, struct str after,
		   size_t (*token_end)(struct str, size_t), size_t *room, size_t *room_between)
{
	struct arena *scratch = arena_new();
	const size_t head = common_head(before, after);
	const struct str b = str_sub(before, head, before.n), c = str_sub(after, head, after.n);
	const size_t tail = common_tail(b, c);
	struct tokens x, y;
	const bool ok = (token_end != word_end ||
			 (b.n - tail <= WORDS_BYTES_MAX && c.n - tail <= WORDS_BYTES_MAX)) &&
			cut(scratch, str_cut(b, b.n - tail), token_end, *room, &x) &&
			cut(scratch, str_cut(c, c.n - tail), token_end, *room, &y);

	if (ok) {
		struct middle in_x = {&x, 0, x.n}, in_y = {&y, 0, y.n};
		trim(&in_x, &in_y);
		if (in_x.from < in_x.to && in_y.from < in_y.to)
			keep_common(scratch, &in_x, &in_y);
		put_run(r, DIFF_KEPT, str_sub(before, 0, head));
		put_middle(r, &x, &y, room_between);
		put_run(r, DIFF_KEPT, str_sub(b, b.n - tail, tail));
		*room -= x.n > y.n ? x.n : y.n;
	}
	arena_free(scratch);
	return ok;
}

const struct diff *diff_words(struct arena *a, struct str before, struct str after, int *n)
{
	struct arena *scratch = arena_new();
	const size_t bytes = 2 * (before.n + after.n) + 1;
	struct runs r = {arena_array(scratch, struct diff, bytes < RUNS_MAX ? bytes : RUNS_MAX), 0};
	size_t words = TOKENS_MAX, lines = TOKENS_MAX, between = TOKENS_MAX, all = 1;

	if (!put_by(&r, before, after, word_end, &words, NULL) &&
	    !put_by(&r, before, after, line_end, &lines, &between))
		(void)put_by(&r, before, after, all_end, &all, NULL);
	struct diff *run = arena_array(a, struct diff, r.n);
	if (r.n)
		memcpy(run, r.run, sizeof(*run) * (size_t)r.n);
	*n = r.n;
	arena_free(scratch);
	return run;
}

static int64_t code_points(struct str s)
{
	int64_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += (s.p[i] & 0xC0) != 0x80;
	return n;
}

int64_t diff_permille(const struct diff *run, int n)
{
	int64_t changed = 0, all = 0, permille;

	for (int i = 0; i < n; i++) {
		const int64_t here = code_points(run[i].text);
		changed += run[i].kind == DIFF_KEPT ? 0 : here;
		all += run[i].kind == DIFF_KEPT ? 2 * here : here;
	}
	if (changed == 0)
		return 0;
	permille = changed * 1000 / all;
	return permille > 0 ? permille : 1; /* 0 is for equal texts */
}
