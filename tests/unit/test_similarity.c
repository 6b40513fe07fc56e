#include "core/similarity.h"

#include "base/buf.h"
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static int64_t alike(const char *x, const char *y, int n)
{
	return similarity_permille(str_c(x), str_c(y), n);
}

static void cosine_of_counts(void **state)
{
	assert_int_equal(alike("abc", "abc", 3), 1000);
	assert_int_equal(alike("abc", "xyz", 3), 0);
	/* {abc bcd} and {abc bce}: 1 / (sqrt 2 * sqrt 2) */
	assert_int_equal(alike("abcd", "abce", 3), 500);
	/* {a:2} and {a:1 b:1}: 2 / (2 * sqrt 2) = 0.7071 */
	assert_int_equal(alike("aa", "ab", 1), 707);
	/* {aa:2} and {aa:3}: same direction */
	assert_int_equal(alike("aaa", "aaaa", 2), 1000);
	/* {word: wo or rd} and {words: wo or rd ds}: 3 / sqrt 12 = 0.8660 */
	assert_int_equal(alike("word", "words", 2), 866);
}

static void grams_are_of_code_points(void **state)
{
	/* {価格 格が} and {価格 格は} */
	assert_int_equal(alike("価格が", "価格は", 2), 500);
	/* 価 and 侠 share two of three bytes, and nothing else. */
	assert_int_equal(alike("価", "侠", 1), 0);
	assert_int_equal(alike("\xF4\x8F\xBF\xBF"
			       "ab",
			       "\xF4\x8F\xBF\xBF"
			       "ab",
			       3),
			 1000);
}

static void too_short_for_a_gram(void **state)
{
	assert_int_equal(alike("ab", "ab", 3), 0);
	assert_int_equal(alike("", "", 1), 0);
	assert_int_equal(alike("", "abc", 3), 0);
}

/* As text: kept plain, [-cut-], {+put+}. */
static void assert_diff(const char *before, const char *after, const char *expected)
{
	struct arena *a = arena_new();
	struct buf shown = BUF(1000);
	int n;
	const struct diff *run = diff_words(a, str_c(before), str_c(after), &n);

	for (int i = 0; i < n; i++) {
		static const char *const mark[][2] = {{"", ""}, {"[-", "-]"}, {"{+", "+}"}};
		buf_puts(&shown, mark[run[i].kind][0]);
		buf_str(&shown, run[i].text);
		buf_puts(&shown, mark[run[i].kind][1]);
	}
	buf_putc(&shown, '\0');
	assert_string_equal(shown.p, expected);
	buf_release(&shown);
	arena_free(a);
}

static void diff_by_words(void **state)
{
	assert_diff("ships on Friday.", "ships on Monday.", "ships on [-Friday-]{+Monday+}.");
	assert_diff("a b c", "a c", "a [-b -]c");
	assert_diff("a c", "a b c", "a {+b +}c");
	assert_diff("same", "same", "same");
	assert_diff("", "new", "{+new+}");
	assert_diff("old", "", "[-old-]");
	assert_diff("", "", "");
	assert_diff("prix: 30€", "prix: 29€", "prix: [-30-]{+29+}€");
}

static void diff_by_graphemes_where_words_have_no_spaces(void **state)
{
	assert_diff("月曜に発送します。", "火曜に発送します。", "[-月-]{+火+}曜に発送します。");
	/* か + combining voiced mark is one grapheme: it is not split from か. */
	assert_diff("か", "か\u3099", "[-か-]{+か\u3099+}");
	assert_diff("👨‍👩‍👧!", "👨!", "[-👨‍👩‍👧-]{+👨+}!");
	assert_diff("a\r\n\r\nb", "a\nb", "a[-\r\n\r\n-]{+\n+}b");
}

static void diff_keeps_a_longest_common_subsequence(void **state)
{
	/* By hand: of ABCBDAB and BDCABA the longest have 4; punctuation makes each letter a token. */
	struct arena *a = arena_new();
	int n, n_kept = 0;
	const struct diff *run =
		diff_words(a, STR_OF("甲乙丙乙丁甲乙"), STR_OF("乙丁丙甲乙甲"), &n);

	for (int i = 0; i < n; i++)
		n_kept += run[i].kind == DIFF_KEPT ? (int)text_graphemes(run[i].text) : 0;
	assert_int_equal(n_kept, 4);
	arena_free(a);
}

/* The classical table, as an independent measure of what a diff of one-letter tokens must keep. */
static int lcs(const char *x, const char *y)
{
	static int length[101][101];
	int n_x = (int)strlen(x), n_y = (int)strlen(y);

	for (int i = 1; i <= n_x; i++) {
		for (int j = 1; j <= n_y; j++) {
			int up = length[i - 1][j], left = length[i][j - 1];
			length[i][j] = x[i - 1] == y[j - 1] ? length[i - 1][j - 1] + 1
				       : up > left	    ? up
							    : left;
		}
	}
	return length[n_x][n_y];
}

static unsigned next_random(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 16 & 0x7FFF;
}

/* Both texts come back, and no two runs of one kind follow each other. Returns the bytes kept. */
static size_t assert_whole(struct str before, struct str after)
{
	struct arena *a = arena_new();
	struct buf old = BUF(4 << 20), new = BUF(4 << 20);
	size_t n_kept = 0;
	int n;
	const struct diff *run = diff_words(a, before, after, &n);

	for (int i = 0; i < n; i++) {
		assert_true(run[i].text.n > 0);
		assert_true(i == 0 || run[i].kind != run[i - 1].kind);
		if (run[i].kind != DIFF_PUT)
			buf_str(&old, run[i].text);
		if (run[i].kind != DIFF_CUT)
			buf_str(&new, run[i].text);
		n_kept += run[i].kind == DIFF_KEPT ? run[i].text.n : 0;
	}
	assert_true(str_eq(buf_view(&old), before));
	assert_true(str_eq(buf_view(&new), after));
	buf_release(&old);
	buf_release(&new);
	arena_free(a);
	return n_kept;
}

static void random_texts_come_back_whole(void **state)
{
	static const char *const piece[] = {"word", " ",       "\n", "\r\n", "価",     "格",
					    "。",   "e\u0301", "12", ",",    "\u200D", "👨"};
	unsigned seed = 1;

	for (int round = 0; round < 400; round++) {
		struct buf text[2] = {BUF(4000), BUF(4000)};
		for (int k = 0; k < 2; k++) {
			buf_puts(&text[k], ""); /* never absent */
			for (unsigned n = next_random(&seed) % 200; n > 0; n--)
				buf_puts(&text[k], piece[next_random(&seed) % 12]);
		}
		assert_whole(buf_view(&text[0]), buf_view(&text[1]));
		buf_release(&text[0]);
		buf_release(&text[1]);
	}
}

static void random_texts_keep_the_most(void **state)
{
	unsigned seed = 7;

	for (int round = 0; round < 400; round++) {
		char text[2][101] = {"", ""};
		for (int k = 0; k < 2; k++) {
			int n = (int)(next_random(&seed) % 101);
			for (int i = 0; i < n; i++)
				text[k][i] = "+-*/=<"[next_random(&seed) % 6];
		}
		assert_int_equal(assert_whole(str_c(text[0]), str_c(text[1])),
				 lcs(text[0], text[1]));
	}
}

/* @n lines "LETTER i\n". */
static struct str lines(struct buf *out, const char *letter, int n)
{
	for (int i = 0; i < n; i++)
		buf_printf(out, "%s %d\n", letter, i);
	return buf_view(out);
}

static void large_texts_are_compared_by_lines(void **state)
{
	struct buf before = BUF(1 << 20), after = BUF(1 << 20);

	/* 3,000 lines of 4 tokens, of which no beginning or end is common, and one line in the middle is. */
	lines(&before, "a", 1500);
	lines(&after, "b", 1500);
	buf_puts(&before, "the same\n");
	buf_puts(&after, "the same\n");
	lines(&before, "c", 1500);
	lines(&after, "d", 1500);
	assert_int_equal(assert_whole(buf_view(&before), buf_view(&after)),
			 strlen("the same\n") + strlen(" 1499\n")); /* the end */
	buf_release(&before);
	buf_release(&after);
}

static void hopelessly_large_texts_are_replaced(void **state)
{
	struct buf before = BUF(1 << 20), after = BUF(1 << 20);

	buf_puts(&before, "head\n");
	buf_puts(&after, "head\n");
	lines(&before, "a", 4001);
	lines(&after, "b", 4001);
	buf_puts(&before, "same\nend a");
	buf_puts(&after, "same\nend b");
	assert_int_equal(assert_whole(buf_view(&before), buf_view(&after)), strlen("head\n"));
	buf_release(&before);
	buf_release(&after);
}

static int64_t changed(const char *before, const char *after)
{
	struct arena *a = arena_new();
	int n;
	const struct diff *run = diff_words(a, str_c(before), str_c(after), &n);
	int64_t permille = diff_permille(run, n);

	arena_free(a);
	return permille;
}

static void share_changed(void **state)
{
	assert_int_equal(changed("same", "same"), 0);
	assert_int_equal(changed("", ""), 0);
	assert_int_equal(changed("", "new"), 1000);
	assert_int_equal(changed("old", "new"), 1000);
	/* 2 of 18 */
	assert_int_equal(changed("月曜に発送します。", "火曜に発送します。"), 111);
	/* 2 of 10: か + mark is one grapheme of two code points, and it is all that changed in 4 + 6 */
	assert_int_equal(changed("一二三四", "一二か\u3099三四"), 200);
}

static void a_change_is_never_nothing(void **state)
{
	struct arena *a = arena_new();
	struct buf before = BUF(20000), after = BUF(20000);
	int n;

	lines(&before, "line", 1000);
	lines(&after, "line", 1000);
	buf_puts(&after, ".");
	const struct diff *run = diff_words(a, buf_view(&before), buf_view(&after), &n);
	assert_int_equal(diff_permille(run, n), 1);
	buf_release(&before);
	buf_release(&after);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cosine_of_counts),
		cmocka_unit_test(grams_are_of_code_points),
		cmocka_unit_test(too_short_for_a_gram),
		cmocka_unit_test(diff_by_words),
		cmocka_unit_test(diff_by_graphemes_where_words_have_no_spaces),
		cmocka_unit_test(diff_keeps_a_longest_common_subsequence),
		cmocka_unit_test(random_texts_come_back_whole),
		cmocka_unit_test(random_texts_keep_the_most),
		cmocka_unit_test(large_texts_are_compared_by_lines),
		cmocka_unit_test(hopelessly_large_texts_are_replaced),
		cmocka_unit_test(share_changed),
		cmocka_unit_test(a_change_is_never_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
