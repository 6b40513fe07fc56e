#include "app/file.h"
#include "core/check.h"
#include "core/job.h"
#include "core/language.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static struct arena *arena;

static int new_arena(void **state)
{
	arena = arena_new();
	return 0;
}

static int free_arena(void **state)
{
	arena_free(arena);
	return 0;
}

static const char *told(struct str text)
{
	const char *code = language_of(arena, text);
	return code ? code : "-";
}

/* @unit so often that it is @n bytes or more. */
static void put_times(struct buf *out, const char *unit, size_t n)
{
	for (size_t end = out->n + n; out->n < end;)
		buf_puts(out, unit);
}

/* tests/data/language/told.tsv: what langdetect 1.0.9 tells with each of 40 seeds, "-" for no letters, and the text. */
static void told_as_the_original_does(void **state)
{
	struct str all;
	struct err err;
	int n_text = 0;

	if (file_read(arena, "tests/data/language/told.tsv", &all, &err) != ST_OK)
		fail_msg("%s", err.text);
	for (size_t at = 0; at < all.n; n_text++) {
		size_t tab = (size_t)str_find(all, STR_OF("\t"), at);
		size_t end = (size_t)str_find(all, STR_OF("\n"), at);
		struct str text = str_sub(all, tab + 1, end - tab - 1);
		if (!str_is(str_sub(all, at, tab - at), told(text)))
			fail_msg("%.*s, not %s: %.*s", STR_ARG(str_sub(all, at, tab - at)),
				 told(text), STR_ARG(text));
		at = end + 1;
	}
	assert_true(n_text > 90);
}

static void it_tells_55_languages(void **state)
{
	size_t n = 0;

	for (; language_at(n); n++)
		assert_true(n == 0 || strcmp(language_at(n - 1), language_at(n)) < 0);
	assert_int_equal(n, 55);
	assert_string_equal(language_at(0), "af");
	assert_string_equal(language_at(54), "zh-tw");
	assert_null(language_at(n + 1));
}

static void only_the_first_characters_count(void **state)
{
	struct buf text = BUF(100000);

	put_times(&text, "ü und der ", LANGUAGE_CHARACTERS_MAX + LANGUAGE_CHARACTERS_MAX / 10);
	put_times(&text, "and the next one ", 80000);
	assert_string_equal(told(buf_view(&text)), "de");
	buf_release(&text);
}

static void an_address_does_not_count(void **state)
{
	struct buf text = BUF(100000);

	put_times(&text, "https://example.org/und/der/die/das ", 40000);
	put_times(&text, "der.und.die@example.org ", 40000);
	buf_puts(&text, "Where is the next one?");
	assert_string_equal(told(buf_view(&text)), "en");
	buf_release(&text);
}

static void ill_formed_bytes_do_no_harm(void **state)
{
	assert_string_equal(told(STR_OF("")), "-");
	assert_string_equal(told(STR_OF("\0\0")), "-");
	assert_string_equal(told(STR_OF("\xFFthe next\0 one is \xF0\x9Fthere@")), "en");
}

/* ---- the checks ---- */

static struct check_result result_of(const char *arguments, struct str text)
{
	static const struct job job;
	struct check *check = arena_alloc(arena, sizeof(*check));
	struct checked checked = {.scratch = arena, .text = text};
	struct str spec = arena_printf(arena, "{\"name\": \"c\", \"type\": %s}", arguments);
	struct check_result result;
	struct json *json;
	struct err err;

	assert_int_equal(json_read(spec, &json, &err), JSON_FINE);
	if (check_read(arena, json, check, &err) != ST_OK)
		fail_msg("%s", err.text);
	json_free(json);
	check_run(arena, check, &job, &checked, &result);
	assert_true(checked.work <= CHECK_WORK_MAX);
	return result;
}

static void assert_green(const char *arguments, const char *text)
{
	struct check_result r = result_of(arguments, str_c(text));

	if (!r.ok)
		fail_msg("\"%s\" is red: %.*s", text, STR_ARG(r.detail));
}

/* Red at the first @place in @text; NULL = the whole text. */
static void assert_red(const char *arguments, const char *text, const char *detail,
		       const char *place)
{
	struct check_result r = result_of(arguments, str_c(text));

	if (r.ok)
		fail_msg("\"%s\" is green", text);
	assert_string_equal(r.detail.p, detail);
	assert_int_equal(r.at, place ? str_find(str_c(text), str_c(place), 0) : -1);
	assert_int_equal(r.n, place ? strlen(place) : 0);
}

#define IN(code) "\"language:response_language\", \"language\": \"" code "\""
#define CAPITAL "\"change_case:english_capital\""
#define LOWER "\"change_case:english_lowercase\""

static void a_response_is_in_the_language(void **state)
{
	assert_green(IN("de"), "Bitte antworten Sie bis Freitag auf diese Nachricht.");
	assert_red(IN("en"), "Bitte antworten Sie bis Freitag auf diese Nachricht.",
		   "the language looks like \"de\", \"en\" is wanted", NULL);
	assert_green(IN("zh-cn"), "货物星期一送到，我们会提前打电话给您。");
	assert_green(IN("de"), "1234!"); /* no letters, no other language */
	assert_red(IN("de"), " \n", "the text is empty", NULL);
}

#define IN_CAPITALS "THE DELIVERY COMES ON MONDAY AND WE WILL CALL YOU BEFORE THAT"

static void all_in_capitals_and_english(void **state)
{
	assert_green(CAPITAL, IN_CAPITALS ". 24 年 (№ 5)");
	assert_red(CAPITAL, IN_CAPITALS ", ok?", "not all in capital letters", "o");
	assert_red(CAPITAL, IN_CAPITALS " É é", "not all in capital letters", "é");
	assert_red(CAPITAL, "1234!", "not all in capital letters", NULL);
	assert_red(CAPITAL, "", "the text is empty", NULL);
	/* Right in fact, and red with the original as well. */
	assert_red(CAPITAL, "KEEP CALM AND KEEP WORKING, KIDS.",
		   "the language looks like \"de\", \"en\" is wanted", NULL);
}

static void all_in_lower_case_and_english(void **state)
{
	assert_green(LOWER, "the delivery comes on monday, at 5 p.m.");
	assert_red(LOWER, "the delivery comes on Monday", "not all in lower-case letters", "M");
	assert_red(LOWER, "die lieferung kommt am montag, bitte bleiben sie zu hause",
		   "the language looks like \"de\", \"en\" is wanted", NULL);
}

static void an_unknown_language_is_refused_with_the_list(void **state)
{
	static const char *const specs[] = {
		"{\"name\":\"c\",\"type\":\"language:response_language\",\"language\":\"EN\"}",
		"{\"name\":\"c\",\"type\":\"language:response_language\",\"language\":3}",
		"{\"name\":\"c\",\"type\":\"language:response_language\"}",
	};

	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct json *json;
		struct check check;
		struct err err;
		assert_int_equal(json_read(str_c(specs[i]), &json, &err), JSON_FINE);
		assert_int_equal(check_read(arena, json, &check, &err), ST_INVALID);
		json_free(json);
		assert_non_null(strstr(err.text, "check \"c\": key \"language\": must be one of "
						 "af, ar, bg, bn, ca, cs, "));
		assert_non_null(strstr(err.text, "vi, zh-cn, zh-tw"));
	}
}

static void it_says_what_is_wanted(void **state)
{
	static const struct {
		const char *type, *english, *japanese;
	} said[] = {
		{IN("sw"), "The whole text is in the language \"sw\" (ISO 639-1).",
		 "全文を言語「sw」(ISO 639-1)で書くこと。"},
		{CAPITAL, "The whole text is in English and in capital letters alone.",
		 "全文を英語の大文字だけで書くこと。"},
		{LOWER, "The whole text is in English and in lower-case letters alone.",
		 "全文を英語の小文字だけで書くこと。"},
	};

	for (size_t i = 0; i < 2 * sizeof(said) / sizeof(*said); i++) {
		const struct check *check = result_of(said[i / 2].type, STR_OF("a")).check;
		struct buf phrase = BUF(200);
		check->type->phrase(check->args, NULL, i % 2, &phrase);
		assert_string_equal(phrase.p, i % 2 ? said[i / 2].japanese : said[i / 2].english);
		buf_release(&phrase);
	}
}

/* However long the draft, there is work left for other checks. */
static void the_work_is_bounded(void **state)
{
	struct buf text = BUF(300000);

	put_times(&text, "龜 é THE and ", 256 << 10);
	assert_true(language_work(buf_view(&text)) < CHECK_WORK_MAX / 2);
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(told_as_the_original_does),
		cmocka_unit_test(it_tells_55_languages),
		cmocka_unit_test(only_the_first_characters_count),
		cmocka_unit_test(an_address_does_not_count),
		cmocka_unit_test(ill_formed_bytes_do_no_harm),
		cmocka_unit_test(a_response_is_in_the_language),
		cmocka_unit_test(all_in_capitals_and_english),
		cmocka_unit_test(all_in_lower_case_and_english),
		cmocka_unit_test(an_unknown_language_is_refused_with_the_list),
		cmocka_unit_test(it_says_what_is_wanted),
		cmocka_unit_test(the_work_is_bounded),
	};

	return cmocka_run_group_tests(tests, new_arena, free_arena);
}
