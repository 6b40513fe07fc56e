#include "base/text.h"
#include "core/similarity.h"

#include <stdlib.h>

enum { TOKENS_MAX = 4000 }; /* compared with each other; 2 * TOKENS_MAX^2 bits of memory */
enum { WORDS_BYTES_MAX = 128 << 10 }; /* cut into words */

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

static size_t line_end(struct str s, size_t at)
{
	int64_t feed = str_find(s, STR_OF("\n"), at);
	return feed < 0 ? s.n : (size_t)feed + 1;
}

/* False: they are too many. */
static bool cut(struct arena *scratch, struct str text, size_t (*token_end)(struct str, size_t),
		struct tokens *t)
{
	*t = (struct tokens){.text = text,
			     .begin = arena_array(scratch, size_t,
						  (text.n < TOKENS_MAX ? text.n : TOKENS_MAX) + 1)};
	for (size_t at = 0; at < text.n && t->n < TOKENS_MAX; t->begin[++t->n] = at)
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

struct named {
	struct str text;
	size_t *id;
};

static int by_text(const void *x, const void *y)
{
	return str_cmp(((const struct named *)x)->text, ((const struct named *)y)->text);
}

/* Equal tokens of the two get equal numbers, from 0. Returns how many there are. */
static size_t number(struct arena *scratch, const struct middle *x, const struct middle *y,
		     size_t *x_id, size_t *y_id)
{
	size_t n_x = x->to - x->from, n = n_x + y->to - y->from, id = 0;
	struct named *named = arena_array(scratch, struct named, n);

	for (size_t i = 0; i < n; i++)
		named[i] = i < n_x ? (struct named){token(x->t, x->from + i), &x_id[i]}
				   : (struct named){token(y->t, y->from + i - n_x), &y_id[i - n_x]};
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

static void keep_common(struct arena *scratch, const struct middle *x, const struct middle *y)
{
	size_t n_x = x->to - x->from, n_y = y->to - y->from, n_word = (n_x + 63) / 64;
	size_t *x_id = arena_array(scratch, size_t, n_x), *y_id = arena_array(scratch, size_t, n_y);
	size_t n_id = number(scratch, x, y, x_id, y_id);
	uint64_t *where = arena_array(scratch, uint64_t, n_id * n_word); /* of each id in x */
	uint64_t *row = arena_array(scratch, uint64_t, (n_y + 1) * n_word);

	for (size_t i = 0; i < n_x; i++)
		where[x_id[i] * n_word + i / 64] |= UINT64_C(1) << (i % 64);
	memset(row, 0xFF, n_word * sizeof(*row));
	for (size_t j = 0; j < n_y; j++)
		next_row(&row[j * n_word], &where[y_id[j] * n_word], &row[(j + 1) * n_word],
			 n_word);
	/* Back from the corner. Token i - 1 counts only if its bit is 0; and it is j - 1 that it equals if the bit was 1 before. */
	for (size_t i = n_x, j = n_y; i > 0 && j > 0;) {
		if (bit(&row[j * n_word], i - 1)) {
			i--;
		} else if (!bit(&row[(j - 1) * n_word], i - 1)) {
			j--;
		} else {
			x->t->kept[x->from + --i] = true;
			y->t->kept[y->from + --j] = true;
		}
	}
}

static size_t all_end(struct str s, size_t at)
{
	return s.n;
}

/* By words; if they are too many by lines, else the two are one token each. */
static void compare(struct arena *scratch, struct str before, struct str after, struct tokens *x,
		    struct tokens *y)
{
	static size_t (*const token_end[])(struct str, size_t) = {word_end, line_end, all_end};
	int i = before.n > WORDS_BYTES_MAX || after.n > WORDS_BYTES_MAX;

	while (!cut(scratch, before, token_end[i], x) || !cut(scratch, after, token_end[i], y))
		i++;
	struct middle in_x = {x, 0, x->n}, in_y = {y, 0, y->n};
	trim(&in_x, &in_y);
	if (in_x.from < in_x.to && in_y.from < in_y.to)
		keep_common(scratch, &in_x, &in_y);
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

static void put_middle(struct runs *r, const struct tokens *before, const struct tokens *after)
{
	for (size_t i = 0, j = 0; i < before->n || j < after->n;) {
		put_run(r, DIFF_CUT, take_run(before, &i, false));
		put_run(r, DIFF_PUT, take_run(after, &j, false));
		/* The kept tokens of one text are those of the other, but may be cut into at different places. */
		size_t first = i;
		while (i < before->n && j < after->n && before->kept[i] && after->kept[j])
			i++, j++;
		put_run(r, DIFF_KEPT, part(before, first, i));
	}
}

const struct diff *diff_words(struct arena *a, struct str before, struct str after, int *n)
{
	struct arena *scratch = arena_new();
	const size_t head = common_head(before, after);
	const struct str b = str_sub(before, head, before.n), c = str_sub(after, head, after.n);
	const size_t tail = common_tail(b, c);
	struct tokens x, y;

	compare(scratch, str_cut(b, b.n - tail), str_cut(c, c.n - tail), &x, &y);
	struct runs r = {arena_array(scratch, struct diff, x.n + y.n + 2), 0};
	put_run(&r, DIFF_KEPT, str_sub(before, 0, head));
	put_middle(&r, &x, &y);
	put_run(&r, DIFF_KEPT, str_sub(b, b.n - tail, tail));
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
