#include "base/clock.h"
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <utf8proc.h>

static int new_arena(void **state)
{
	*state = arena_new();
	return 0;
}

static int free_arena(void **state)
{
	arena_free(*state);
	return 0;
}

static void check_str(struct str got, const char *want)
{
	if (!str_is(got, want))
		fail_msg("'%.*s' is not '%s'", STR_ARG(got), want);
}

/* The edges of table 3-7 of the Unicode standard. */
static void utf8_is_strict(void **state)
{
	static const char *const fine[] = {
		"",
		"a",
		"\x7F",
		"\xC2\x80",
		"\xDF\xBF",
		"\xE0\xA0\x80",
		"\xED\x9F\xBF",
		"\xEE\x80\x80",
		"\xEF\xBF\xBF",
		"\xF0\x90\x80\x80",
		"\xF4\x8F\xBF\xBF",
		"eight ascii bytes, then 敬具",
	};
	static const char *const bad[] = {
		"\x80",
		"\xBF",
		"\xC0\x80",
		"\xC1\xBF",
		"\xC2",
		"\xC2\x7F",
		"\xC2\xC0",
		"\xE0\x9F\xBF",
		"\xED\xA0\x80",
		"\xED\xBF\xBF",
		"\xE6\x95",
		"\xE6\x95 ",
		"\xF0\x8F\xBF\xBF",
		"\xF4\x90\x80\x80",
		"\xF5\x80\x80\x80",
		"\xF0\x9F\x98",
		"\xF8\x88\x80\x80\x80",
		"\xFE",
		"\xFF",
		"12345678\xFF",
		"1234567\xC2",
	};

	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
		assert_true(text_is_utf8(str_c(fine[i])));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(text_is_utf8(str_c(bad[i])));
	assert_true(text_is_utf8(STR_OF("a\0b")));
	assert_true(text_is_utf8(str_c(NULL)));
	assert_false(text_is_utf8((struct str){"\xE6\x95\xAC", 2}));
}

static void ill_formed_bytes_are_replaced_one_by_one(void **state)
{
	struct str fine = STR("敬具");

	assert_ptr_equal(text_to_utf8(*state, fine).p, fine.p);
	check_str(text_to_utf8(*state, str_c("a\xFF\xFE"
					     "b")),
		  "a\xEF\xBF\xBD\xEF\xBF\xBD"
		  "b");
	check_str(text_to_utf8(*state, str_c("敬\xE6\x95")), "敬\xEF\xBF\xBD\xEF\xBF\xBD");
	check_str(text_to_utf8(*state, str_c("\xED\xA0\x80")),
		  "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

static void code_points_come_one_after_another(void **state)
{
	struct str s = STR("a敬\xF0\x9F\x98\x80\xFF");
	size_t at = 0;

	assert_int_equal(text_next(s, &at), 'a');
	assert_int_equal(text_next(s, &at), 0x656C);
	assert_int_equal(at, 4);
	assert_int_equal(text_next(s, &at), 0x1F600);
	assert_int_equal(text_next(s, &at), 0xFFFD);
	assert_int_equal(text_next(s, &at), -1);
	assert_int_equal(at, s.n);
}

/* Cases of UAX #29, table 1a and rules GB3 to GB13. */
static void graphemes_are_what_people_count(void **state)
{
	static const struct {
		const char *text;
		int64_t n;
	} cases[] = {
		{"", 0},
		{"abc", 3},
		{"敬具。", 3},
		{"a\r\nb", 3},
		{"\n\r", 2},
		{"e\xCC\x81", 1},			     /* e, combining acute */
		{"\xE3\x81\x8B\xE3\x82\x99", 1},	     /* ka, combining voiced mark */
		{"\xEF\xBD\xB6\xEF\xBE\x9E", 1},	     /* the same in half width */
		{"\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", 1}, /* Hangul syllable of three jamo */
		{"\xED\x95\x9C\xEA\xB5\xAD", 2},	     /* two precomposed ones */
		{"\xE0\xB8\x81\xE0\xB8\xB3", 1},	     /* Thai ko kai, sara am */
		{"\xE0\xA4\xA8\xE0\xA4\xBF", 1},	     /* Devanagari na, vowel sign i */
		{"\xF0\x9F\x87\xAF\xF0\x9F\x87\xB5\xF0\x9F\x87\xAB\xF0\x9F\x87\xB7",
		 2},							 /* two flags */
		{"\xF0\x9F\x87\xAF\xF0\x9F\x87\xB5\xF0\x9F\x87\xAB", 2}, /* one and a half */
		{"\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD", 1},		 /* thumb, skin tone */
		{"\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7",
		 1},				 /* family */
		{"\xE2\x9D\xA4\xEF\xB8\x8F", 1}, /* heart, variation selector */
		{"a\xE2\x80\x8D"
		 "b",
		 2}, /* ZWJ belongs to what is before it */
		{"\xCC\x81"
		 "a",
		 2}, /* a mark alone */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (text_graphemes(str_c(cases[i].text)) != cases[i].n)
			fail_msg("case %zu: '%s'", i, cases[i].text);
	}
}

static void words_are_runs_or_single_signs(void **state)
{
	static const struct {
		const char *text;
		int64_t n;
	} cases[] = {
		{"", 0},
		{" \n.,!? -- ' ", 0},
		{"one", 1},
		{"One, two;three", 3},
		{"don't e-mail the Smiths' dog-", 5},
		{"don\xE2\x80\x99t", 1},
		{"'quoted' -5", 2},
		{"well--known", 2},
		{"a-'b", 2},
		{"3 items in 2026", 4},
		{"1,000", 2},
		{"na\xC3\xAFve nai\xCC\x88ve", 2},
		{"Привет, мир", 2},
		{"\xED\x95\x9C\xEA\xB5\xAD \xEC\x96\xB4", 2}, /* Korean has spaces */
		{"敬具", 2},
		{"お世話になっております。", 11},
		{"\xE3\x81\x8B\xE3\x82\x99", 1}, /* ka, combining voiced mark */
		{"\xE3\x82\xB5\xE3\x83\xBC\xE3\x83\x93\xE3\x82\xB9",
		 4}, /* with a long-vowel mark */
		{"ABC株式会社の3名", 1 + 4 + 1 + 1 + 1},
		{"東京-大阪", 4},
		{"AI-東京", 3},
		{"\xE0\xB8\x81\xE0\xB8\xB3\xE0\xB8\x81", 2}, /* Thai */
		{"\xF0\x9F\x98\x80 hi", 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (text_words(str_c(cases[i].text)) != cases[i].n)
			fail_msg("'%s': %d, not %d", cases[i].text,
				 (int)text_words(str_c(cases[i].text)), (int)cases[i].n);
	}
}

static void folding_makes_spellings_of_a_term_equal(void **state)
{
	static const struct {
		const char *text, *folded;
	} cases[] = {
		{"FREE Offer", "free offer"},
		{"Straße STRASSE", "strasse strasse"},
		{"ＦＲＥＥ　１２３", "free 123"},		  /* full width */
		{"\xEF\xBD\xB6\xEF\xBE\x9E\xEF\xBD\xB0", "ガー"}, /* half width ga, long mark */
		{"\xE3\x81\x8B\xE3\x82\x99", "が"},		  /* composed */
		{"e\xCC\x81 \xC3\x89", "é é"},
		{"fr\xE2\x80\x8B"
		 "e\xC2\xAD"
		 "e\xEF\xBB\xBF\xE2\x81\xA0",
		 "free"}, /* ZWSP, soft hyphen, BOM, WJ */
		{"\xE2\x80\x8E"
		 "a\xE2\x80\x8D",
		 "a"}, /* LRM, ZWJ */
		{"①㈱™", "1(株)tm"},
		{"10〜20 10～20 10~20 10∼20 10〰20", "10~20 10~20 10~20 10~20 10~20"},
		{"f\u202Er\u2066e\u200De\uFE0F \uFFF9x\uFFFB",
		 "free x"}, /* bidi, joiner, selector */
		{"ﬁ Σς", "fi σσ"},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str once = text_fold(*state, str_c(cases[i].text));
		check_str(once, cases[i].folded);
		check_str(text_fold(*state, once), cases[i].folded);
	}
	assert_null(text_fold(*state, str_c(NULL)).p);
}

static void squeezing_forgets_only_white_space_and_composition(void **state)
{
	check_str(text_squeeze(*state, str_c(" \n a \t\r\n b  ")), "a b");
	check_str(text_squeeze(*state, str_c("\xE3\x80\x80拝啓\xE3\x80\x80\xC2\xA0様\xE2\x80\xA8")),
		  "拝啓 様");
	check_str(text_squeeze(*state, str_c("e\xCC\x81")), "\xC3\xA9");
	check_str(text_squeeze(*state, str_c("Ａ ﬁ \xE2\x80\x8B")), "Ａ ﬁ \xE2\x80\x8B");
	check_str(text_squeeze(*state, str_c(" \n")), "");
	assert_null(text_squeeze(*state, str_c(NULL)).p);
}

static void bare_text_has_no_white_space(void **state)
{
	check_str(text_bare(*state, str_c(" Ａ B\n\xE3\x80\x80ｃ ")), "abc");
	check_str(text_bare(*state, str_c("")), "");
}

static void white_space_inside_japanese_is_closed(void **state)
{
	static const char *const cases[][2] = {
		{"山田 太郎", "山田太郎"},
		{"山田\u3000 \n太郎様", "山田太郎様"},
		{" 東 京 ", " 東京 "},
		{"プラン A 1 2", "プラン A 1 2"},
		{"カ ー ド", "カード"},
		{"Taro  山田", "Taro  山田"},
		{"한국 말", "한국 말"},
		{"。 次", "。 次"},
		{"", ""},
		{" ", " "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_str(text_close_cjk(*state, str_c(cases[i][0])), cases[i][1]);
}

static void hiragana_becomes_katakana_in_its_place(void **state)
{
	check_str(text_katakana(*state, str_c("ぁあがんゔゕゖ ゝゞ")), "ァアガンヴヵヶ ヽヾ");
	check_str(text_katakana(*state, str_c("カー漢a〜゛ゟ。")), "カー漢a〜゛ゟ。");
	check_str(text_katakana(*state, str_c("")), "");
}

static void trimming_knows_all_white_space(void **state)
{
	check_str(text_trim(str_c(" \n\xE3\x80\x80拝啓 様\xC2\xA0\t")), "拝啓 様");
	check_str(text_trim(str_c("a")), "a");
	check_str(text_trim(str_c("\xE3\x80\x80 ")), "");
	assert_null(text_trim(str_c(NULL)).p);
}

static void a_text_is_walked_backwards_too(void **state)
{
	struct str s = STR("aé\xF0\x9F\x98\x80");
	size_t at = s.n;

	assert_int_equal(text_before(s, &at), 0x1F600);
	assert_int_equal(text_before(s, &at), 0xE9);
	assert_int_equal(text_before(s, &at), 'a');
	assert_int_equal(text_before(s, &at), -1);
	assert_int_equal(at, 0);
}

/* Sorting it whole would take minutes. What comes apart into marks counts as well: U+0F73, and U+FF9E by its compatibility. */
static void a_heap_of_marks_takes_no_longer_than_other_text(void **state)
{
	static const char *const marks[][2] = {
		{"\xCC\x81", "\xCC\xA3"},
		{"\xE0\xBD\xB3", "\xCC\xB8"},
		{"\xEF\xBE\x9E", "\xCC\x81"},
		{"\xE2\x80\x8D\xCC\x81\xCC\x81",
		 "\xCC\xA3"}, /* what folding drops does not part them */
	};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		struct buf heap = BUF(1 << 20);
		for (int k = 0; k < 200000; k++)
			buf_puts(&heap, marks[i][i == 0 ? k / 100000 : k % 2]);
		int64_t begin_ms = clock_mono_ms();
		assert_true(text_fold(*state, buf_view(&heap)).n >= heap.n / 2);
		assert_int_equal(text_graphemes(buf_view(&heap)), 1);
		assert_true(clock_mono_ms() - begin_ms < 2000);
		buf_release(&heap);
	}
}

/* What is slow is counted once, however often it comes: 3 parts of 3 bytes; a blank with 32 marks; one mark more. */
static void what_a_text_has_had_before_is_quick(void **state)
{
	struct buf text = BUF(1 << 20);
	int64_t slow_bytes = 9 + 65 + 2, too_few = slow_bytes - 1;

	for (int i = 0; i < 1000; i++)
		buf_puts(&text, "a\xCC\x81 e\xCC\x81 o\xCC\x81 ");
	for (int i = 0; i < 33; i++)
		buf_puts(&text, "\xCC\x81");
	assert_non_null(text_fold_within(*state, buf_view(&text), &slow_bytes).p);
	assert_int_equal(slow_bytes, 0);
	assert_null(text_fold_within(*state, buf_view(&text), &too_few).p);
	buf_release(&text);
}

static void what_is_too_slow_to_compose_is_squeezed_as_it_is(void **state)
{
	struct buf heap = BUF(1 << 20);

	buf_puts(&heap, " e\xCC\x81 ");
	while (heap.n < 70000)
		buf_puts(&heap, "\xCC\xA3\xCC\x81");
	struct str s = text_squeeze(*state, buf_view(&heap));
	assert_int_equal(s.n, heap.n - 1);
	assert_true(str_starts(s, "e\xCC\x81 "));
	buf_release(&heap);
}

/* ---- against utf8proc alone ---- */

static utf8proc_int32_t to_tilde(utf8proc_int32_t c, void *unused)
{
	static const int32_t wave[] = {0x223C, 0x301C, 0x3030}, hidden[] = {0xFFF9, 0xFFFA, 0xFFFB};

	for (int i = 0; i < 3; i++) {
		if (c == wave[i] || c == hidden[i])
			return c == wave[i] ? '~' : 0x200B;
	}
	return c;
}

static void assert_mapped(struct str s, struct str got, int options, utf8proc_custom_func custom)
{
	utf8proc_uint8_t *want;
	utf8proc_ssize_t n =
		utf8proc_map_custom((const utf8proc_uint8_t *)s.p, (utf8proc_ssize_t)s.n, &want,
				    (utf8proc_option_t)options, custom, NULL);

	assert_true(n >= 0);
	if (got.n != (size_t)n || memcmp(got.p, want, got.n) != 0)
		fail_msg("'%.*s' becomes '%.*s', not '%s'", STR_ARG(s), STR_ARG(got), (char *)want);
	free(want);
}

static int64_t slow_graphemes(struct str s)
{
	utf8proc_int32_t before = -1, c, state = 0;
	int64_t n = 0;

	for (size_t at = 0; (c = text_next(s, &at)) >= 0; before = c)
		n += before < 0 || utf8proc_grapheme_break_stateful(before, c, &state);
	return n;
}

/* Each code point alone, beside itself, before and behind what joins others, and between letters: what is passed over unmapped
 * would be mapped to itself. */
static void every_code_point_is_mapped_as_utf8proc_does(void **state)
{
	static const char *const beside[] = {
		"\xE3\x81\x8B",		    /* ka */
		"\xE3\x82\x99",		    /* its voiced mark */
		"A\xCC\x81",		    /* A, acute */
		"\xE2\x80\x8D",		    /* joiner, ignorable */
		"\xE1\x85\xA1\xE1\x86\xA8", /* Hangul vowel and final */
	};
	struct arena *a = NULL;

	for (int32_t c = 1; c < 0x110000; c++) {
		char sign[4], text[100];
		if (c >= 0xD800 && c < 0xE000)
			continue;
		if (c % 0x1000 == 1) {
			arena_free(a);
			a = arena_new();
		}
		if (c == 0x32000) /* up to U+E0000 nothing is assigned */
			c = 0xE0000;
		if (c == 0xE1000) /* nor from here on, but for private use */
			c = 0x10F000;
		int n = (int)utf8proc_encode_char(c, (utf8proc_uint8_t *)sign);
		char *end = text;
		for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++)
			end += sprintf(end, "%.*s%s", n, sign, beside[i]);
		end += sprintf(end, "%.*s%.*s", n, sign, n, sign);
		struct str s = {text, (size_t)(end - text)};
		assert_mapped(s, text_fold(a, s),
			      UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE |
				      UTF8PROC_CASEFOLD | UTF8PROC_IGNORE,
			      to_tilde);
		struct str squeezed = text_squeeze(a, s);
		if (!(c >= 9 && c <= 13) && c != ' ' && c != 0x85 && c != 0xA0 && c != 0x1680 &&
		    !(c >= 0x2000 && c <= 0x200A) && c != 0x2028 && c != 0x2029 && c != 0x202F &&
		    c != 0x205F && c != 0x3000)
			assert_mapped(s, squeezed, UTF8PROC_STABLE | UTF8PROC_COMPOSE, NULL);
		assert_int_equal(text_graphemes(s), slow_graphemes(s));
	}
	arena_free(a);
}

static void a_code_point_has_a_class(void **state)
{
	static const struct {
		int32_t c;
		bool space, word, digit, upper, lower;
	} cases[] = {
		{-1, 0, 0, 0, 0, 0},	 {0, 0, 0, 0, 0, 0},	  {'_', 0, 1, 0, 0, 0},
		{'7', 0, 1, 1, 0, 0},	 {'Q', 0, 1, 0, 1, 0},	  {'q', 0, 1, 0, 0, 1},
		{'\n', 1, 0, 0, 0, 0},	 {0xA0, 1, 0, 0, 0, 0},	  {0x3000, 1, 0, 0, 0, 0},
		{0x200B, 0, 0, 0, 0, 0}, {0x665, 0, 1, 1, 0, 0},  {0xFF15, 0, 1, 1, 0, 0},
		{0xBD, 0, 1, 0, 0, 0},	 {0x2167, 0, 1, 0, 1, 0}, {0x24D0, 0, 0, 0, 0, 1},
		{0xBA, 0, 1, 0, 0, 1},	 {0xDC, 0, 1, 0, 1, 0},	  {0x3A9, 0, 1, 0, 1, 0},
		{0x65E5, 0, 1, 0, 0, 0}, {0x301, 0, 0, 0, 0, 0},  {0x1F130, 0, 0, 0, 1, 0},
		{0x3001, 0, 0, 0, 0, 0}, {0x1C5, 0, 1, 0, 0, 0},  {0x10FFFF, 0, 0, 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(text_is_space(cases[i].c), cases[i].space);
		assert_int_equal(text_is_word(cases[i].c), cases[i].word);
		assert_int_equal(text_is_digit(cases[i].c), cases[i].digit);
		assert_int_equal(text_is_upper(cases[i].c), cases[i].upper);
		assert_int_equal(text_is_lower(cases[i].c), cases[i].lower);
	}
}

static void case_is_forgotten_code_point_by_code_point(void **state)
{
	check_str(text_lower(*state, STR_OF("AbÜ\u0130\u0131\u212AΣ日\u2C62")),
		  "abüi\u0307\u0131kσ日\u026B");
	check_str(text_ignore_case(*state, STR_OF("AbÜ\u0130\u0131\u212AΣς\u017F日\u2C62")),
		  "abüiikσσs日\u026B");
	check_str(text_lower(*state, STR_OF("")), "");
}

#define ARENA_TEST(f) cmocka_unit_test_setup_teardown(f, new_arena, free_arena)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(utf8_is_strict),
		ARENA_TEST(ill_formed_bytes_are_replaced_one_by_one),
		cmocka_unit_test(code_points_come_one_after_another),
		cmocka_unit_test(graphemes_are_what_people_count),
		cmocka_unit_test(words_are_runs_or_single_signs),
		ARENA_TEST(folding_makes_spellings_of_a_term_equal),
		ARENA_TEST(squeezing_forgets_only_white_space_and_composition),
		ARENA_TEST(bare_text_has_no_white_space),
		cmocka_unit_test_setup_teardown(white_space_inside_japanese_is_closed, new_arena,
						free_arena),
		cmocka_unit_test_setup_teardown(hiragana_becomes_katakana_in_its_place, new_arena,
						free_arena),
		cmocka_unit_test(trimming_knows_all_white_space),
		cmocka_unit_test(a_text_is_walked_backwards_too),
		ARENA_TEST(what_a_text_has_had_before_is_quick),
		ARENA_TEST(what_is_too_slow_to_compose_is_squeezed_as_it_is),
		cmocka_unit_test(every_code_point_is_mapped_as_utf8proc_does),
		cmocka_unit_test(a_code_point_has_a_class),
		ARENA_TEST(case_is_forgotten_code_point_by_code_point),
		ARENA_TEST(a_heap_of_marks_takes_no_longer_than_other_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
