#include "base/text.h"
#include "core/similarity.h"

#include <stdlib.h>

enum { TOKENS_MAX = 4000 }; /* compared with each other; 2 * TOKENS_MAX^2 bits of memory */

/* A text cut into tokens without gaps. */
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

static struct tokens tokens_of(struct arena *scratch, struct str text,
			       size_t (*token_end)(struct str, size_t))
{
	struct tokens t = {.text = text, .begin = arena_array(scratch, size_t, text.n + 1)};

	for (size_t at = 0; at < text.n; t.begin[++t.n] = at)
		at = token_end(text, at);
	t.kept = arena_array(scratch, bool, t.n);
	return t;
}

/* What lies between the common beginning and the common end of two texts: tokens [from, to). */
struct middle {
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

/* Marks what is common; false, and only the ends are marked: too many tokens between them. */
static bool compare(struct arena *scratch, struct tokens *before, struct tokens *after)
{
	struct middle x = {before, 0, before->n}, y = {after, 0, after->n};

	trim(&x, &y);
	if (x.from == x.to || y.from == y.to)
		return true;
	if (x.to - x.from > TOKENS_MAX || y.to - y.from > TOKENS_MAX)
		return false;
	keep_common(scratch, &x, &y);
	return true;
}

/* The run of tokens from *i on that are kept, or are not; moves *i behind it. */
static struct str take_run(const struct tokens *t, size_t *i, bool kept)
{
	size_t first = *i;

	while (*i < t->n && t->kept[*i] == kept)
		++*i;
	return part(t, first, *i);
}

/* Writes the runs to @out unless it is NULL; returns how many they are. */
static int write_runs(const struct tokens *before, const struct tokens *after, struct diff *out)
{
	size_t i = 0, j = 0;
	int n = 0;

	while (i < before->n || j < after->n) {
		struct diff run[] = {
			{DIFF_CUT, take_run(before, &i, false)},
			{DIFF_PUT, take_run(after, &j, false)},
			{DIFF_KEPT, {NULL, 0}},
		};
		/* The kept tokens of one text are those of the other, but may be cut into at different places. */
		size_t first = i;
		while (i < before->n && j < after->n && before->kept[i] && after->kept[j])
			i++, j++;
		run[2].text = part(before, first, i);
		for (int k = 0; k < 3; k++) {
			if (run[k].text.n == 0)
				continue;
			if (out)
				out[n] = run[k];
			n++;
		}
	}
	return n;
}

const struct diff *diff_words(struct arena *a, struct str before, struct str after, int *n)
{
	struct arena *scratch = arena_new();
	struct tokens x = tokens_of(scratch, before, word_end),
		      y = tokens_of(scratch, after, word_end);

	if (!compare(scratch, &x, &y)) {
		x = tokens_of(scratch, before, line_end);
		y = tokens_of(scratch, after, line_end);
		(void)compare(scratch, &x, &y);
	}
	*n = write_runs(&x, &y, NULL);
	struct diff *run = arena_array(a, struct diff, *n);
	(void)write_runs(&x, &y, run);
	arena_free(scratch);
	return run;
}

int64_t changed_permille(struct arena *a, struct str before, struct str after)
{
	int64_t changed = 0, all = 0, permille;
	int n;
	const struct diff *run = diff_words(a, before, after, &n);

	for (int i = 0; i < n; i++) {
		int64_t n_grapheme = text_graphemes(run[i].text);
		changed += run[i].kind == DIFF_KEPT ? 0 : n_grapheme;
		all += run[i].kind == DIFF_KEPT ? 2 * n_grapheme : n_grapheme;
	}
	if (changed == 0)
		return 0;
	permille = changed * 1000 / all;
	return permille > 0 ? permille : 1; /* 0 is for equal texts */
}
