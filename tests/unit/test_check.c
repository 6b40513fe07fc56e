#include "base/clock.h"
#include "check_world.h"

/* Reading */

static void a_check_is_hard_and_of_severity_4_unless_it_says_otherwise(void **state)
{
	struct check plain = check_of("\"type\": \"json\"");
	struct check soft = check_of("\"type\": \"json\", \"severity\": 2, \"hard\": false");

	assert_true(str_is(plain.name, "c"));
	assert_string_equal(plain.type->name, "json");
	assert_true(plain.hard);
	assert_int_equal(plain.severity, 4);
	assert_false(soft.hard);
	assert_int_equal(soft.severity, 2);
}

static void what_all_checks_have_is_read_exactly(void **state)
{
	assert_refused("[]", "a check must be an object, not array");
	assert_refused("{\"type\": \"json\"}",
		       "a check needs a \"name\" of 1 to 40 characters out of a-z 0-9 _ -");
	assert_refused("{\"name\": \"No Spaces\", \"type\": \"json\"}",
		       "a check needs a \"name\" of 1 to 40 characters out of a-z 0-9 _ -");
	assert_refused("{\"name\": \"c\"}",
		       "check \"c\": key \"type\": must be a string, the type's name");
	assert_refused("{\"name\": \"c\", \"type\": \"json\", \"severity\": 6}",
		       "check \"c\": key \"severity\": must be an integer, 1 to 5");
	assert_refused("{\"name\": \"c\", \"type\": \"json\", \"severity\": 4.0}",
		       "check \"c\": key \"severity\": must be an integer, 1 to 5");
	assert_refused("{\"name\": \"c\", \"type\": \"json\", \"hard\": 1}",
		       "check \"c\": key \"hard\": must be true or false");
}

static void a_name_has_at_most_40_characters(void **state)
{
	struct check check;
	struct err err = {""};

	assert_int_equal(read_spec("{\"name\": \"a234567890b234567890c234567890d234567890\", "
				   "\"type\": \"json\"}",
				   &check, &err),
			 ST_OK);
	assert_refused(
		"{\"name\": \"a234567890b234567890c234567890d2345678901\", \"type\": \"json\"}",
		"a check needs a \"name\" of 1 to 40 characters out of a-z 0-9 _ -");
}

static void a_mistyped_type_gets_a_suggestion(void **state)
{
	assert_refused(
		"{\"name\": \"c\", \"type\": \"grapheme\"}",
		"check \"c\": unknown type \"grapheme\"; did you mean \"graphemes\"?; README.md lists the types");
	assert_refused(
		"{\"name\": \"c\", \"type\": \"must-include\"}",
		"check \"c\": unknown type \"must-include\"; did you mean \"must_include\"?; README.md lists the types");
	assert_refused("{\"name\": \"c\", \"type\": \"zzz\"}",
		       "check \"c\": unknown type \"zzz\"; README.md lists the types");
}

static void an_unknown_key_is_refused_with_those_allowed(void **state)
{
	assert_refused("{\"name\": \"c\", \"type\": \"words\", \"mni\": 3}",
		       "check \"c\": unknown key \"mni\"; the keys of type words are: "
		       "name, type, severity, hard, field, min, max");
	/* another type's */
	assert_refused("{\"name\": \"c\", \"type\": \"json\", \"pattern\": \"x\"}",
		       "check \"c\": unknown key \"pattern\"; the keys of type json are: "
		       "name, type, severity, hard, field");
}

static void the_table_of_types_ends(void **state)
{
	size_t n = 0;

	while (check_type_at(n))
		n++;
	assert_true(n > 20);
	assert_null(check_type_at(n + 1));
}

/* Length */

#define SIX "\"type\": \"graphemes\", \"min\": 6, \"max\": 6"

static void length_counts_what_a_reader_sees(void **state)
{
	assert_green(SIX, "abcdef");
	assert_red(SIX, "abcde", "5 characters, at least 6 wanted", NULL);
	assert_red(SIX, "abcdefg", "7 characters, at most 6 wanted", NULL);
	assert_green(SIX, "e\u0301cole!\u0301"); /* e + accent is one, so is ! + accent */
	assert_green(SIX, "か\u3099くせいです"); /* が written as two code points */
	assert_green(SIX, "👨‍👩‍👧🇯🇵abcd"); /* a family, a flag */
	assert_green(SIX, "ab\r\ncde");			     /* CRLF is one */
}

static void length_leaves_out_white_space_at_the_ends(void **state)
{
	assert_green(SIX, " \r\n\tabc ef\n");
	assert_green(SIX, "　\u00A0abc　ef \u2028　\n");
	assert_red(SIX, "　 \n", "0 characters, at least 6 wanted", NULL);
	assert_red(SIX, "", "0 characters, at least 6 wanted", NULL);
	assert_red(SIX, "a", "1 character, at least 6 wanted", NULL);
}

static void words_are_counted_in_both_languages(void **state)
{
	assert_green("\"type\": \"words\", \"max\": 3", "It's well-known, 2024.");
	assert_red("\"type\": \"words\", \"max\": 3", "one two three four",
		   "4 words, at most 3 wanted", NULL);
	assert_green("\"type\": \"words\", \"min\": 4, \"max\": 4", "東京です。");
}

static void large_numbers_are_grouped(void **state)
{
	assert_red("\"type\": \"words\", \"min\": 1000000", "a",
		   "1 word, at least 1,000,000 wanted", NULL);
	assert_phrase("\"type\": \"graphemes\", \"min\": 200, \"max\": 1200",
		      "Length: 200 to 1,200 characters.", "長さは200〜1,200文字。");
	assert_phrase("\"type\": \"words\", \"max\": 1005", "Length: at most 1,005 words.",
		      "長さは1,005語以下。");
}

static void length_needs_sensible_bounds(void **state)
{
	assert_refused("{\"name\": \"c\", \"type\": \"words\"}",
		       "check \"c\": needs \"min\", \"max\" or both");
	assert_refused("{\"name\": \"c\", \"type\": \"words\", \"min\": 3, \"max\": 2}",
		       "check \"c\": \"min\" must not be over \"max\"");
	assert_refused("{\"name\": \"c\", \"type\": \"words\", \"max\": \"3\"}",
		       "check \"c\": key \"max\": must be an integer, 0 to 1000000");
	assert_refused("{\"name\": \"c\", \"type\": \"words\", \"min\": -1}",
		       "check \"c\": key \"min\": must be an integer, 0 to 1000000");
}

static void length_is_phrased_by_its_bounds(void **state)
{
	assert_phrase("\"type\": \"words\", \"min\": 1", "Length: at least 1 word.",
		      "長さは1語以上。");
	assert_phrase(SIX, "Length: exactly 6 characters.", "長さはちょうど6文字。");
	assert_phrase("\"type\": \"words\", \"max\": 0", "Length: exactly 0 words.",
		      "長さはちょうど0語。");
}

/* Must include */

#define MUST "\"type\": \"must_include\", "

static void must_include_compares_folded(void **state)
{
	assert_green(MUST "\"values\": [\"Gold Plan\"]", "Your ＧＯＬＤ　plan is ready.");
	assert_green(MUST "\"values\": [\"ガイド\"]", "ｶﾞｲﾄﾞをご覧ください");
	assert_green(MUST "\"values\": [\"Gold\"]", "Go\u200Bld");
	assert_green(MUST "\"values\": [\"9時〜17時\"]", "受付は9時～17時です");
}

static void must_include_names_all_that_is_missing(void **state)
{
	assert_red(MUST "\"values\": [\"A\", \"b\", \"C\"], \"variables\": [\"plan\"]", "only b",
		   "missing: \"A\", \"C\", \"Gold\"", NULL);
}

static void a_number_is_not_met_by_a_longer_one(void **state)
{
	assert_green(MUST "\"variables\": [\"number\"]", "Order 00042.");
	assert_red(MUST "\"variables\": [\"number\"]", "Order 42.", "missing: \"00042\"", NULL);
	assert_red(MUST "\"values\": [\"42\"]", "Order 00042.", "missing: \"42\"", NULL);
	assert_red(MUST "\"values\": [\"30\"]", "300 yen", "missing: \"30\"", NULL);
	assert_green(MUST "\"values\": [\"30\"]", "300 yen, no: 30円");
}

/* Each place of the text is one of the term, too, and none of them will do: no more work than for another text. */
static void a_term_of_one_letter_takes_no_longer(void **state)
{
	struct buf spec = BUF(1 << 20), text = BUF(1 << 20);

	buf_puts(&spec, "\"type\": \"must_include\", \"values\": [\"");
	for (int i = 0; i < 100000; i++)
		buf_putc(&spec, '1');
	buf_puts(&spec, "\"]");
	for (int i = 0; i < 250000; i++)
		buf_putc(&text, '1');
	int64_t begin_ms = clock_mono_ms();
	assert_false(result_of(spec.p, text.p).ok);
	assert_true(clock_mono_ms() - begin_ms < 1000);
	buf_release(&spec);
	buf_release(&text);
}

/* A place that will not do may overlap the one that will. */
static void a_term_is_found_behind_places_that_overlap_it(void **state)
{
	assert_green("\"type\": \"must_include\", \"values\": [\"1 1\"]", "11 1 11 1 1");
	assert_red("\"type\": \"must_include\", \"values\": [\"1 1\"]", "11 11 1",
		   "missing: \"1 1\"", NULL);
	assert_green("\"type\": \"must_include\", \"values\": [\"-1-1\"]", "-1-12 -1-1-1");
}

static void a_variable_without_value_is_red(void **state)
{
	assert_green(MUST "\"variables\": [\"name\"]", "山田花子様");
	assert_red(MUST "\"variables\": [\"coupon\", \"plan\", \"empty\"]", "Hello",
		   "missing: \"Gold\"; the job gives no value for: \"coupon\", \"empty\"", NULL);
	assert_red(MUST "\"variables\": [\"coupon\"]", "coupon",
		   "the job gives no value for: \"coupon\"", NULL);
}

static void must_include_is_phrased_with_the_values(void **state)
{
	assert_phrase(MUST "\"values\": [\"A\"], \"variables\": [\"plan\"]",
		      "Must contain: \"A\", \"Gold\".",
		      "次の語句をすべて含めること: 「A」、「Gold」。");
}

static void terms_are_lists_of_visible_strings(void **state)
{
	assert_refused("{\"name\": \"c\", \"type\": \"must_include\"}",
		       "check \"c\": needs \"values\", \"variables\" or both");
	assert_refused("{\"name\": \"c\", \"type\": \"must_include\", \"values\": \"A\"}",
		       "check \"c\": key \"values\": must be a list of strings, not empty");
	assert_refused("{\"name\": \"c\", \"type\": \"forbidden\"}",
		       "check \"c\": needs \"terms\", a list of strings");
	assert_refused("{\"name\": \"c\", \"type\": \"forbidden\", \"terms\": []}",
		       "check \"c\": key \"terms\": must be a list of strings, not empty");
	assert_refused("{\"name\": \"c\", \"type\": \"forbidden\", \"terms\": [\"a\", 1]}",
		       "check \"c\": key \"terms\", item 2: must be a string");
	assert_refused("{\"name\": \"c\", \"type\": \"forbidden\", \"terms\": [\"\\u200B\"]}",
		       "check \"c\": key \"terms\", item 1: must have visible characters");
}

/* Forbidden */

#define FORBIDDEN "\"type\": \"forbidden\", \"terms\": "

static void forbidden_terms_are_found_in_disguise(void **state)
{
	assert_red(FORBIDDEN "[\"free\"]", "It is FREE.", "found: \"free\"", "FREE");
	assert_red(FORBIDDEN "[\"free\"]", "無料ｆｒｅｅです", "found: \"free\"", "ｆｒｅｅ");
	assert_red(FORBIDDEN "[\"free\"]", "It is fr\u200Bee.", "found: \"free\"", "fr\u200Bee");
	assert_red(FORBIDDEN "[\"絶対\"]", "これは絶\u00AD対です", "found: \"絶対\"", "絶\u00AD対");
	assert_red(FORBIDDEN "[\"ガ\"]", "ああｶﾞ", "found: \"ガ\"", "ｶﾞ");
	assert_red(FORBIDDEN "[\"が\"]", "い か\u3099", "found: \"が\"", "か\u3099");
	assert_red(FORBIDDEN "[\"STRASSE\"]", "die Straße", "found: \"STRASSE\"", "Straße");
	assert_red(FORBIDDEN "[\"キロ\"]", "10㌔", "found: \"キロ\"", "㌔");
}

static void the_place_is_in_bytes_of_the_text_as_it_is(void **state)
{
	/* Before it each kind of thing whose folded form is longer, shorter or nothing. */
	assert_red(FORBIDDEN "[\"free\"]", "\u200BＡ ㍿\r\nßﬁ ①e\u0301 ｶﾞ FREE!", "found: \"free\"",
		   "FREE");
}

static void a_legal_word_that_contains_a_term_is_no_hit(void **state)
{
	assert_green(FORBIDDEN "[\"ass\", \"cheap\", \"10\", \"ан\"]",
		     "A classic, cheaper: 100 or 2010. Банан.");
	assert_green(FORBIDDEN "[\"cafe\"]", "cafe\u0301");
	assert_int_equal(result_of(FORBIDDEN "[\"ass\"]", "class, ass").at, 7);
	assert_red(FORBIDDEN "[\"free\"]", "free-range", "found: \"free\"", "free");
	/* Scripts without spaces have no such border; nor has a term that ends in a sign. */
	assert_red(FORBIDDEN "[\"必ず\"]", "必ずしも", "found: \"必ず\"", "必ず");
	assert_red(FORBIDDEN "[\"SALE\"]", "大SALE中", "found: \"SALE\"", "SALE");
	assert_red(FORBIDDEN "[\"100%\"]", "100%sure", "found: \"100%\"", "100%");
}

static void all_terms_found_are_named_and_the_first_is_placed(void **state)
{
	assert_red(FORBIDDEN "[\"x\", \"b\", \"a\"]", "a b", "found: \"b\", \"a\"", "b");
	assert_green(FORBIDDEN "[\"x\"]", "");
}

static void forbidden_is_phrased(void **state)
{
	assert_phrase(FORBIDDEN "[\"free\", \"絶対\"]", "Must not contain: \"free\", \"絶対\".",
		      "次の語句を使わないこと: 「free」、「絶対」。");
}

/* Regex */

static void a_pattern_must_be_found(void **state)
{
	assert_green("\"type\": \"regex\", \"pattern\": \"^Dear \\\\p{Lu}\"", "Dear Ärzte");
	assert_red("\"type\": \"regex\", \"pattern\": \"^Dear\"", "Hello",
		   "the pattern /^Dear/ is not found", NULL);
	assert_red("\"type\": \"regex\", \"pattern\": \"x\"", "", "the pattern /x/ is not found",
		   NULL);
}

static void a_pattern_must_not_be_found(void **state)
{
	assert_red("\"type\": \"regex\", \"match\": false, \"pattern\": \"\\\\{\\\\w+\\\\}\"",
		   "様、{名前}さん", "the pattern /\\{\\w+\\}/ is found", "{名前}");
	assert_green("\"type\": \"regex\", \"match\": false, \"pattern\": \"\\\\{\\\\w+\\\\}\"",
		     "様");
}

static void a_pattern_may_say_what_it_means(void **state)
{
	assert_red(
		"\"type\": \"regex\", \"pattern\": \"^Dear\", \"describe\": \"Begin with Dear.\"",
		"Hello", "Begin with Dear. (the pattern /^Dear/ is not found)", NULL);
	assert_phrase(
		"\"type\": \"regex\", \"pattern\": \"^Dear\", \"describe\": \"Begin with Dear.\"",
		"Begin with Dear.", "Begin with Dear.");
	assert_phrase("\"type\": \"regex\", \"pattern\": \"a+\"", "Must match the pattern /a+/.",
		      "正規表現 /a+/ に一致すること。");
	assert_phrase("\"type\": \"regex\", \"pattern\": \"a+\", \"match\": false",
		      "Must not match the pattern /a+/.", "正規表現 /a+/ に一致しないこと。");
}

static void a_pattern_that_meets_a_limit_is_red_either_way(void **state)
{
	static char text[256 << 10];

	memset(text, 'a', sizeof(text) - 1);
	/* exponential, square without a single try too many at one place, deep */
	assert_red(
		"\"type\": \"regex\", \"pattern\": \"(a+)+[bc]\"", text,
		"the pattern /(a+)+[bc]/ could not be decided: match limit exceeded; make it simpler",
		NULL);
	assert_red(
		"\"type\": \"regex\", \"pattern\": \"[^xy]*+[xy]\", \"match\": false", text,
		"the pattern /[^xy]*+[xy]/ could not be decided: match limit exceeded; make it simpler",
		NULL);
	assert_red("\"type\": \"regex\", \"pattern\": \"(a|aa)+[bc]\", \"match\": false", text,
		   "the pattern /(a|aa)+[bc]/ could not be decided: matching depth limit exceeded; "
		   "make it simpler",
		   NULL);
	assert_green("\"type\": \"regex\", \"pattern\": \"a{5}$\"", text + (200 << 10));
}

static void a_pattern_cannot_raise_its_limits(void **state)
{
	static char text[4 << 10];

	memset(text, 'a', sizeof(text) - 1);
	assert_red("\"type\": \"regex\", \"pattern\": \"(*LIMIT_MATCH=4000000000)(a+)+[bc]\"", text,
		   "the pattern /(*LIMIT_MATCH=4000000000)(a+)+[bc]/ could not be decided: "
		   "match limit exceeded; make it simpler",
		   NULL);
}

static void a_pattern_is_compiled_when_read(void **state)
{
	assert_refused("{\"name\": \"c\", \"type\": \"regex\", \"pattern\": \"ab(\"}",
		       "check \"c\": key \"pattern\": missing closing parenthesis, at byte 3");
	assert_refused("{\"name\": \"c\", \"type\": \"regex\"}",
		       "check \"c\": needs \"pattern\", a regular expression");
	assert_refused("{\"name\": \"c\", \"type\": \"regex\", \"pattern\": \"a\", \"match\": 1}",
		       "check \"c\": key \"match\": must be true or false");
	assert_refused(
		"{\"name\": \"c\", \"type\": \"regex\", \"pattern\": \"a\", \"describe\": \"\"}",
		"check \"c\": key \"describe\": must be a string of 1 to 1000 bytes");
}

/* JSON */

static void the_whole_text_is_one_json_value(void **state)
{
	assert_green("\"type\": \"json\"", "\n {\"a\": [1, 2.5, null]} \n");
	assert_green("\"type\": \"json\"", "3");
	assert_false(result_of("\"type\": \"json\"", "```json\n{}\n```").ok);
	assert_false(result_of("\"type\": \"json\"", "{} {}").ok);
	assert_false(result_of("\"type\": \"json\"", "{\"a\": 1, \"a\": 2}").ok);
	assert_false(result_of("\"type\": \"json\"", "{'a': 1}").ok);
	assert_false(result_of("\"type\": \"json\"", "").ok);
	assert_true(str_starts(result_of("\"type\": \"json\"", "{\"a\": NaN}").detail,
			       "not one JSON value: "));
}

/* All types: what they say */

static void a_long_detail_is_cut_between_characters(void **state)
{
	struct buf spec = BUF(8 << 10);

	buf_puts(&spec, "\"type\": \"must_include\", \"values\": [\"x");
	for (int i = 0; i < 1000; i++)
		buf_puts(&spec, "あ");
	buf_puts(&spec, "\"]");
	struct str detail = result_of(spec.p, "").detail;
	/* `missing: "x` is 11 bytes, so 3 * 328 more are within 1,000 - 3. */
	assert_int_equal(detail.n, 11 + 3 * 328 + 3);
	assert_true(str_starts(detail, "missing: \"xあ"));
	assert_string_equal(detail.p + detail.n - 6, "あ...");
	buf_release(&spec);
}

static void a_message_cuts_a_name_between_characters(void **state)
{
	assert_refused("{\"name\": \"c\", \"type\": \"ああああああああああああああ\"}",
		       "check \"c\": unknown type \"あああああああああああああ\"; README.md lists "
		       "the types");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_check_is_hard_and_of_severity_4_unless_it_says_otherwise),
		T(what_all_checks_have_is_read_exactly),
		T(a_name_has_at_most_40_characters),
		T(a_mistyped_type_gets_a_suggestion),
		T(an_unknown_key_is_refused_with_those_allowed),
		T(the_table_of_types_ends),
		T(length_counts_what_a_reader_sees),
		T(length_leaves_out_white_space_at_the_ends),
		T(words_are_counted_in_both_languages),
		T(large_numbers_are_grouped),
		T(length_needs_sensible_bounds),
		T(length_is_phrased_by_its_bounds),
		T(must_include_compares_folded),
		T(must_include_names_all_that_is_missing),
		T(a_number_is_not_met_by_a_longer_one),
		T(a_term_of_one_letter_takes_no_longer),
		T(a_term_is_found_behind_places_that_overlap_it),
		T(a_variable_without_value_is_red),
		T(must_include_is_phrased_with_the_values),
		T(terms_are_lists_of_visible_strings),
		T(forbidden_terms_are_found_in_disguise),
		T(the_place_is_in_bytes_of_the_text_as_it_is),
		T(a_legal_word_that_contains_a_term_is_no_hit),
		T(all_terms_found_are_named_and_the_first_is_placed),
		T(forbidden_is_phrased),
		T(a_pattern_must_be_found),
		T(a_pattern_must_not_be_found),
		T(a_pattern_may_say_what_it_means),
		T(a_pattern_that_meets_a_limit_is_red_either_way),
		T(a_pattern_cannot_raise_its_limits),
		T(a_pattern_is_compiled_when_read),
		T(the_whole_text_is_one_json_value),
		T(a_long_detail_is_cut_between_characters),
		T(a_message_cuts_a_name_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
