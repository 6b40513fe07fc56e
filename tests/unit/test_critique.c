#include "core/critique.h"

#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define DRAFT "It ships on Friday. Yes, on Friday."
#define ISSUE                                                                                      \
	"{\"category\": \"fact\", \"snippet\": \"on Friday\", \"suggestion\": \"Say Monday.\", "   \
	"\"severity\": 4}"

static struct arena *arena;
static const struct job no_job;

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

static struct critique read_of_scale(const char *reply, int64_t score_max)
{
	const struct profile p = {.score_max = score_max, .severity_threshold = 3};
	struct critique c;

	critique_read(arena, &p, &no_job, str_c(reply), STR_OF(DRAFT), &c);
	return c;
}

static struct critique read_reply(const char *reply)
{
	return read_of_scale(reply, 100);
}

static void assert_invalid(const char *reply, const char *fault)
{
	struct critique c = read_reply(reply);

	if (c.valid)
		fail_msg("valid: %s", reply);
	if (!str_starts(c.fault, fault))
		fail_msg("\"%.*s\" does not begin with \"%s\"", STR_ARG(c.fault), fault);
	assert_int_equal(c.score, -1);
	assert_false(c.pass);
	assert_int_equal(c.n_issue, 0);
}

static void a_pass_is_read(void **state)
{
	struct critique c = read_reply(
		"\n {\"issues\": [], \"score\": 93, \"verdict\": \"pass\", \"reasons\": \"Fine.\"}\n");

	assert_true(c.valid);
	assert_null(c.fault.p);
	assert_true(c.pass);
	assert_int_equal(c.score, 93);
	assert_int_equal(c.n_issue, 0);
	assert_int_equal(c.n_ignored, 0);
	assert_true(str_is(c.reasons, "Fine."));
}

static void a_fail_is_read_in_any_order_and_without_reasons(void **state)
{
	struct critique c =
		read_reply("{\"verdict\": \"fail\", \"score\": 41, \"issues\": [" ISSUE "]}");

	assert_true(c.valid);
	assert_false(c.pass);
	assert_null(c.reasons.p);
	assert_int_equal(c.n_issue, 1);
	assert_true(str_is(c.issue[0].category, "fact"));
	assert_true(str_is(c.issue[0].snippet, "on Friday"));
	assert_true(str_is(c.issue[0].suggestion, "Say Monday."));
	assert_int_equal(c.issue[0].severity, 4);
}

/* What it means together is the loop's to judge. */
static void a_contradiction_is_read_as_it_stands(void **state)
{
	struct critique c =
		read_reply("{\"issues\": [" ISSUE "], \"score\": 93, \"verdict\": \"pass\"}");

	assert_true(c.valid);
	assert_true(c.pass);
	assert_int_equal(c.score, 93);
	assert_int_equal(c.n_issue, 1);
}

static struct issue issue_about(const char *snippet)
{
	struct str reply = arena_printf(
		arena,
		"{\"issues\": [{\"category\": \"c\", \"snippet\": \"%s\", \"suggestion\": \"s\", "
		"\"severity\": 1}], \"score\": 1, \"verdict\": \"fail\"}",
		snippet);
	struct critique c = read_reply(reply.p);

	assert_true(c.valid);
	return c.issue[0];
}

static void a_snippet_is_placed_where_it_first_stands_exactly(void **state)
{
	assert_int_equal(issue_about("on Friday").at, 9);
	assert_int_equal(issue_about("on Friday").n, 9);
	assert_int_equal(issue_about("on friday").at, -1);
	assert_int_equal(issue_about("on friday").n, 0);
	assert_int_equal(issue_about("").at, -1);
	assert_int_equal(issue_about("").n, 0);
}

static void fields_that_the_rules_do_not_know_are_counted(void **state)
{
	struct critique c = read_reply(
		"{\"issues\": [{\"category\": \"c\", \"snippet\": \"\", \"suggestion\": \"s\", "
		"\"severity\": 2, \"line\": 3}], \"score\": 50, \"verdict\": \"fail\", "
		"\"confidence\": 1, \"Verdict\": \"pass\"}");

	assert_true(c.valid);
	assert_false(c.pass);
	assert_int_equal(c.n_ignored, 3);
}

/* @score: JSON; "" leaves it out. */
static struct critique with_score(const char *score, int64_t score_max)
{
	struct str reply = arena_printf(arena, "{\"issues\": [], %s%s%s \"verdict\": \"pass\"}",
					*score ? "\"score\": " : "", score, *score ? "," : "");
	return read_of_scale(reply.p, score_max);
}

static void a_score_is_a_number_in_its_scale(void **state)
{
	static const char *const wrong[] = {
		"\"95\"", "\"00.75\"", "\"8/10\"", "\"True\"", "true", "[95]",	"null",	 "{}",
		"",	  "-1",	       "-0.001",   "100.001",  "930",  "1e300", "-1e300"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct critique c = with_score(wrong[i], 100);
		assert_false(c.valid);
		assert_int_equal(c.score, -1);
		assert_true(str_starts(c.fault, "score is "));
	}
	assert_false(with_score("NaN", 100).valid);
	assert_false(with_score("Infinity", 100).valid);
	assert_false(with_score("1e999", 100).valid);
	assert_true(str_is(with_score("\"95\"", 100).fault, "score is string, must be a number"));
	assert_true(str_is(with_score("", 100).fault, "score is absent, must be a number"));
	assert_true(str_is(with_score("11", 10).fault, "score is 11, must be 0 to 10"));
}

static void a_score_is_rounded_down_to_the_hundred(void **state)
{
	assert_int_equal(with_score("0", 100).score, 0);
	assert_int_equal(with_score("100", 100).score, 100);
	assert_int_equal(with_score("80", 100).score, 80);
	assert_int_equal(with_score("80.0", 100).score, 80);
	assert_int_equal(with_score("79.99", 100).score, 79);
	assert_int_equal(with_score("79.999999999999", 100).score, 79);
	assert_int_equal(with_score("0.99", 100).score, 0);
	assert_int_equal(with_score("10", 10).score, 100);
	assert_int_equal(with_score("8", 10).score, 80);
	assert_int_equal(with_score("7.999", 10).score, 79);
}

static void tenths_of_a_scale_of_ten_lose_nothing(void **state)
{
	for (int i = 0; i <= 100; i++) {
		struct str score = arena_printf(arena, "%d.%d", i / 10, i % 10);
		assert_int_equal(with_score(score.p, 10).score, i);
	}
}

static void a_verdict_is_exactly_pass_or_fail(void **state)
{
	static const char *const wrong[] = {"\"PASS\"",	 "\"Pass\"",	 "\"unpass\"",
					    "\"PASS?\"", "\"not pass\"", "\"pass \"",
					    "\"\"",	 "\"passed\"",	 "\"ok\""};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct str reply = arena_printf(
			arena, "{\"issues\": [], \"score\": 93, \"verdict\": %s}", wrong[i]);
		assert_invalid(reply.p, "verdict is neither \"pass\" nor \"fail\"");
	}
	assert_invalid("{\"issues\": [], \"score\": 93, \"verdict\": true}",
		       "verdict is boolean, must be a string");
	assert_invalid("{\"issues\": [], \"score\": 93}", "verdict is absent, must be a string");
}

static void reasons_are_a_string_if_there(void **state)
{
	assert_invalid("{\"issues\": [], \"score\": 93, \"verdict\": \"pass\", \"reasons\": null}",
		       "reasons is null, must be a string or absent");
	assert_invalid(
		"{\"issues\": [], \"score\": 93, \"verdict\": \"pass\", \"reasons\": [\"a\"]}",
		"reasons is array, must be a string or absent");
}

static void assert_invalid_issues(const char *issues, const char *fault)
{
	struct str reply = arena_printf(
		arena, "{\"issues\": %s, \"score\": 93, \"verdict\": \"fail\"}", issues);
	assert_invalid(reply.p, fault);
}

static void every_issue_is_whole(void **state)
{
	assert_invalid("{\"score\": 93, \"verdict\": \"pass\"}",
		       "issues is absent, must be an array");
	assert_invalid_issues("null", "issues is null, must be an array");
	assert_invalid_issues("{}", "issues is object, must be an array");
	assert_invalid_issues("[\"bad\"]", "issue 1: is string, must be an object");
	assert_invalid_issues("[" ISSUE
			      ", {\"category\": \"c\", \"snippet\": \"s\", \"severity\": 4}]",
			      "issue 2: suggestion is absent, must be a string");
	assert_invalid_issues(
		"[{\"category\": 7, \"snippet\": \"\", \"suggestion\": \"\", \"severity\": 4}]",
		"issue 1: category is integer, must be a string");
	assert_invalid_issues(
		"[{\"category\": \"c\", \"snippet\": null, \"suggestion\": \"\", \"severity\": 4}]",
		"issue 1: snippet is null, must be a string");
}

static void a_severity_is_an_integer_1_to_5(void **state)
{
	static const char *const wrong[] = {"0", "6", "-1", "4.0", "4.5", "\"4\"", "true", "null"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct str issues = arena_printf(arena,
						 "[{\"category\": \"c\", \"snippet\": \"\", "
						 "\"suggestion\": \"\", \"severity\": %s}]",
						 wrong[i]);
		assert_invalid_issues(issues.p, "issue 1: severity must be an integer, 1 to 5");
	}
	assert_invalid_issues("[{\"category\": \"c\", \"snippet\": \"\", \"suggestion\": \"\"}]",
			      "issue 1: severity must be an integer, 1 to 5");
}

/* The letter behind a severity tells which of them it is. */
static struct critique of_severities(const char *severities, int n)
{
	struct buf reply = BUF(100000);

	buf_puts(&reply, "{\"score\": 1, \"verdict\": \"fail\", \"issues\": [");
	for (int i = 0; i < n; i++)
		buf_printf(&reply,
			   "%s{\"category\": \"%c\", \"snippet\": \"\", \"suggestion\": \"s\", "
			   "\"severity\": %c}",
			   i ? ", " : "", 'a' + i % 26, severities[i % strlen(severities)]);
	buf_puts(&reply, "]}");
	struct critique c = read_reply(reply.p);
	buf_release(&reply);
	return c;
}

static void assert_kept(struct critique c, const char *letters, int n_cut)
{
	assert_true(c.valid);
	assert_int_equal(c.n_issue, strlen(letters));
	assert_int_equal(c.n_cut, n_cut);
	for (int i = 0; i < c.n_issue; i++)
		assert_int_equal(c.issue[i].category.p[0], letters[i]);
}

static void issues_stand_most_severe_first_and_the_first_of_equal_ones(void **state)
{
	assert_kept(of_severities("1", 1), "a", 0);
	assert_kept(of_severities("12345", 5), "edcba", 0);
	assert_kept(of_severities("33333", 5), "abcde", 0);
	assert_kept(of_severities("2424", 4), "bdac", 0);
}

static void over_five_issues_the_most_severe_count(void **state)
{
	assert_kept(of_severities("333333", 6), "abcde", 1);
	assert_kept(of_severities("1111115", 7), "gabcd", 2);
	assert_kept(of_severities("12345123451", 11), "ejdic", 6);
	assert_int_equal(of_severities("4", 900).n_cut, 895);
}

static void a_category_without_its_line_is_counted(void **state)
{
	static const struct str category[] = {STR("fact"), STR("tone"), STR("敬体")};
	const struct profile p = {.score_max = 100, .category = category, .n_category = 3};
	static const struct {
		const char *lines;
		int n;
	} cases[] = {
		{"", 3},
		{"\"considered\": {}, ", 3},
		{"\"considered\": {\"fact\": \"right\", \"tone\": \"\", \"other\": \"x\"}, ", 1},
		{"\"considered\": {\"敬体\": \"a\", \"tone\": \"b\", \"fact\": \"c\"}, ", 0}};

	for (int i = 0; i < 4; i++) {
		struct critique c;
		struct str reply = arena_printf(
			arena, "{%s\"issues\": [], \"score\": 93, \"verdict\": \"pass\"}",
			cases[i].lines);
		critique_read(arena, &p, &no_job, reply, STR_OF(DRAFT), &c);
		assert_true(c.valid && c.pass);
		assert_int_equal(c.n_unconsidered, cases[i].n);
		assert_int_equal(c.n_ignored, 0);
	}
}

/* ---- critics that give only issues, or a text ---- */

static struct critique read_under(const struct profile *p, const char *reply)
{
	struct critique c;

	critique_read(arena, p, &no_job, str_c(reply), STR_OF(DRAFT), &c);
	return c;
}

static void without_score_and_verdict_the_issues_decide(void **state)
{
	const struct profile p = {.pass_rule = PASS_NO_ACTIONABLE_ISSUES,
				  .severity_threshold = 3,
				  .score_max = 100,
				  .pass_score = 80};
	struct critique c = read_under(&p, "{\"issues\": []}");

	assert_true(c.valid && critique_passes(&p, &c));
	assert_int_equal(c.score, -1);
	c = read_under(&p, "{\"issues\": [" ISSUE "]}");
	assert_true(c.valid && !critique_passes(&p, &c));
	c = read_under(&p, "{\"issues\": [{\"category\": \"c\", \"snippet\": \"\", "
			   "\"suggestion\": \"s\", \"severity\": 2}]}");
	assert_true(c.valid && critique_passes(&p, &c));
	/* further fields, whatever they say */
	c = read_under(&p, "{\"issues\": [], \"score\": \"930\", \"verdict\": \"fail\"}");
	assert_true(c.valid && critique_passes(&p, &c));
	assert_int_equal(c.n_ignored, 2);
	assert_false(read_under(&p, "{}").valid);
	assert_false(read_under(&p, "{\"score\": 93, \"verdict\": \"pass\"}").valid);
}

static void an_issue_may_be_a_text_where_the_profile_says_so(void **state)
{
	const struct profile rule = {.pass_rule = PASS_NO_ACTIONABLE_ISSUES,
				     .severity_threshold = 4};
	const struct profile form = {
		.critique = CRITIQUE_PLAIN_ISSUES, .score_max = 10, .severity_threshold = 4};
	struct critique c =
		read_under(&rule, "{\"issues\": [\"The query has a parameter.\", " ISSUE "]}");

	assert_true(c.valid && !c.pass);
	assert_int_equal(c.n_issue, 2);
	assert_int_equal(c.issue[0].severity, 4);
	assert_int_equal(c.issue[0].at, -1);
	assert_int_equal(c.issue[0].snippet.n, 0);
	assert_true(str_is(c.issue[0].category, "text"));
	assert_true(str_is(c.issue[0].suggestion, "The query has a parameter."));
	c = read_under(&form, "{\"issues\": [\"a\"], \"score\": 7.9, \"verdict\": \"fail\"}");
	assert_true(c.valid && c.n_issue == 1 && c.score == 79);
	assert_false(read_under(&form, "{\"issues\": [\"a\"]}").valid);
	assert_false(
		read_under(&form, "{\"issues\": [7], \"score\": 7, \"verdict\": \"fail\"}").valid);
}

static void a_text_passes_by_one_word_alone(void **state)
{
	const struct profile p = {.critique = CRITIQUE_TEXT,
				  .pass_rule = PASS_NO_ACTIONABLE_ISSUES,
				  .severity_threshold = 3};
	static const char *const wrong[] = {"NO_DEFECTS.",
					    "**NO_DEFECTS**",
					    "\"NO_DEFECTS\"",
					    "NO_DEFECTS but the date",
					    "Not NO_DEFECTS",
					    "NO_DEFECTSNO_DEFECTS",
					    "",
					    " \n\t　"};
	static const char *const pass[] = {"NO_DEFECTS", "\n NO_DEFECTS \r\n", "　NO_DEFECTS　"};
	static const char *const issue[] = {"The day is wrong.", "no_defects", "NO DEFECTS",
					    "{\"verdict\": \"pass\"}", "曜日が違います。"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(read_under(&p, wrong[i]).valid);
	for (size_t i = 0; i < sizeof(pass) / sizeof(pass[0]); i++) {
		struct critique c = read_under(&p, pass[i]);
		assert_true(c.valid && critique_passes(&p, &c));
		assert_int_equal(c.n_issue, 0);
	}
	for (size_t i = 0; i < sizeof(issue) / sizeof(issue[0]); i++) {
		struct critique c = read_under(&p, issue[i]);
		assert_true(c.valid && !c.pass && c.n_issue == 1);
		assert_int_equal(c.issue[0].severity, 3);
		assert_int_equal(c.issue[0].at, -1);
		assert_true(str_is(c.issue[0].suggestion, issue[i]));
	}
}

static struct critique finding(const struct issue *issue, int n)
{
	return (struct critique){
		.valid = true, .reasons = STR("BLOCKED"), .issue = issue, .n_issue = n};
}

static bool repeats(struct issue before, struct issue now)
{
	struct critique x = finding(&before, 1), y = finding(&now, 1);
	return critique_repeats(arena, &x, &y);
}

static struct issue says(const char *snippet, const char *suggestion)
{
	return (struct issue){.category = STR("fact"),
			      .snippet = str_c(snippet),
			      .suggestion = str_c(suggestion)};
}

static void the_same_issues_are_a_repetition(void **state)
{
	const struct issue issue = says("ships on Friday", "The source says Monday; say Monday.");

	assert_true(repeats(issue, issue));
	/* other case, width and white space */
	assert_true(repeats(issue,
			    says("ships on\nFRIDAY", "Ｔｈｅ source says Monday;  say Monday.")));
	assert_true(repeats(issue, says("ships on Friday", "The source says Monday: say Monday.")));
	assert_true(repeats(says("価格は3000円", "資料の価格は3,500円です。直してください。"),
			    says("価格は3000円", "資料の価格は3,500円です。直してください")));
}

static void other_issues_are_none(void **state)
{
	assert_false(repeats(says("ships on Friday", "The source says Monday; say Monday."),
			     says("Dear Sir", "The recipient is Ms Tanaka: use her name.")));
	assert_false(repeats(says("金曜に発送", "資料では月曜です。"),
			     says("田中様", "敬体に揃えてください。")));
}

/* Report R08: fewer and new issues under the same reasons. */
static void converging_is_not_repeating(void **state)
{
	const struct issue first[] = {says("", "The price is missing."),
				      says("Tanaca", "Write Tanaka."),
				      says("お送りします。届くと思う。", "敬体に揃えてください。")};
	const struct issue second[] = {says("on Friday", "The source says Monday.")};
	struct critique before = finding(first, 3), now = finding(second, 1);

	assert_false(critique_repeats(arena, &before, &now));
}

static void empty_and_one_word_critiques_are_like_no_other(void **state)
{
	const struct issue whole = says("ships on Friday", "Say Monday.");
	struct critique none = finding(NULL, 0), some = finding(&whole, 1);

	assert_false(critique_repeats(arena, &none, &none));
	assert_false(critique_repeats(arena, &none, &some));
	assert_false(repeats(says("", "BLOCKED"), says("", "BLOCKED")));
	assert_false(repeats(says("", ""), says("", "")));
	assert_false(repeats(says("", "..."), says("", "...")));
	assert_true(repeats(says("", "BLOCKED again"), says("", "BLOCKED again")));
}

/* 20 signs have 18 3-grams; one changed in the middle takes 3 away: 15 of 18 = 833. Changed at the end, one: 17 of 18 = 944. */
static void japanese_is_compared_by_signs(void **state)
{
	assert_false(repeats(says("", "資料の価格は三千円なので本文を直してください"),
			     says("", "資料の価格は三千円ですが文末を直してください")));
	assert_false(repeats(says("", "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉"),
			     says("", "甲乙丙丁戊己庚辛壬癸人丑寅卯辰巳午未申酉")));
	assert_true(repeats(says("", "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉"),
			    says("", "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申人")));
	/* width, line ends and ideographic spaces do not count */
	assert_true(repeats(says("", "価格は３０００円。　直してください"),
			    says("", "価格は3000円。\n直してください")));
	/* one sign is one word; two are too few for a gram */
	assert_false(repeats(says("", "否"), says("", "否")));
	assert_false(repeats(says("", "不可"), says("", "不可")));
	assert_true(repeats(says("", "不合格"), says("", "不合格")));
}

static void one_issue_is_compared_with_one(void **state)
{
	const struct issue day = says("on Monday", "The order says Tuesday, as the source tells."),
			   again = says("On Monday", "The order says Tuesday, as the source tells"),
			   other = says("your order", "Name the parcel."), none = says("", ""),
			   word = says("", "Wrong");

	assert_true(issue_repeats(arena, &day, &again));
	assert_false(issue_repeats(arena, &day, &other));
	assert_false(issue_repeats(arena, &none, &none));
	assert_false(issue_repeats(arena, &word, &word));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, new_arena, free_arena)
	const struct CMUnitTest tests[] = {
		T(a_pass_is_read),
		T(a_fail_is_read_in_any_order_and_without_reasons),
		T(a_contradiction_is_read_as_it_stands),
		T(a_snippet_is_placed_where_it_first_stands_exactly),
		T(fields_that_the_rules_do_not_know_are_counted),
		T(a_score_is_a_number_in_its_scale),
		T(a_score_is_rounded_down_to_the_hundred),
		T(tenths_of_a_scale_of_ten_lose_nothing),
		T(a_verdict_is_exactly_pass_or_fail),
		T(reasons_are_a_string_if_there),
		T(every_issue_is_whole),
		T(a_severity_is_an_integer_1_to_5),
		T(issues_stand_most_severe_first_and_the_first_of_equal_ones),
		T(over_five_issues_the_most_severe_count),
		T(a_category_without_its_line_is_counted),
		T(without_score_and_verdict_the_issues_decide),
		T(an_issue_may_be_a_text_where_the_profile_says_so),
		T(a_text_passes_by_one_word_alone),
		T(the_same_issues_are_a_repetition),
		T(other_issues_are_none),
		T(converging_is_not_repeating),
		T(empty_and_one_word_critiques_are_like_no_other),
		T(japanese_is_compared_by_signs),
		T(one_issue_is_compared_with_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
