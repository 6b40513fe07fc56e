/* Stakes by rules: what a rule may be, for which values it holds, and how job, profile and rules come together. */
#include "core/stakes.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define RULE(test) "{\"variable\":\"v\",\"stakes\":\"high\"," test "}"

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

static const struct stakes_rule *read_rules(const char *text, int *n, struct faults *faults)
{
	const struct stakes_rule *rule;
	struct json *doc;
	struct err err;

	*faults = (struct faults){.tell = NULL};
	if (json_read(str_c(text), &doc, &err) != JSON_FINE)
		fail_msg("%s: %s", text, err.text);
	rule = stakes_rules_read(arena, doc, n, faults);
	json_free(doc);
	return rule;
}

/* ---- what a rule may be ---- */

static void a_name_may_have_200_bytes(void **state)
{
	struct faults faults;
	int n;

	for (int more = 0; more <= 1; more++) {
		const char *rules = arena_printf(arena,
						 "[{\"variable\":\"%0*d\",\"stakes\":\"high\","
						 "\"equals\":\"a\"}]",
						 200 + more, 0)
					    .p;
		(void)read_rules(rules, &n, &faults);
		assert_int_equal(faults.n, more);
	}
	assert_string_equal(faults.first.text,
			    "stakes_rules[0].variable: a name of 200 bytes at most");
}

static void a_rule_that_is_none_is_named_with_its_mend(void **state)
{
	static const struct {
		const char *rules, *fault;
	} cases[] = {
		{"{}", "stakes_rules: give a list of at most 20"},
		{"[" RULE("\"equals\":\"a\"") ",7]", "stakes_rules[1]: give keys, as variable"},
		{"[" RULE("\"equal\":\"a\",\"at_most\":1") "]",
		 "stakes_rules[0].equal: unknown; leave it out"},
		{"[" RULE("\"absent\":\"high\"") "]",
		 "stakes_rules[0]: give one of equals, one_of, matches, at_least, at_most"},
		{"[" RULE("\"at_least\":1,\"at_most\":2") "]", "stakes_rules[0]: give one of"},
		{"[{\"variable\":\"\",\"stakes\":\"high\",\"equals\":\"a\"}]",
		 "stakes_rules[0].variable: this string does not fit; give a text"},
		{"[{\"variable\":\"v\",\"equals\":\"a\"}]",
		 "stakes_rules[0].stakes: missing; give low or normal or high"},
		{"[" RULE("\"equals\":\"a\",\"absent\":\"yes\"") "]",
		 "stakes_rules[0].absent: this string does not fit; give low or normal or high"},
		{"[" RULE("\"equals\":7") "]",
		 "stakes_rules[0].equals: give a text of 1 to 200 bytes, in quotes where"},
		{"[" RULE("\"equals\":\" \"") "]", "stakes_rules[0].equals: give a text"},
		{"[" RULE("\"equals\":\"\u200b\"") "]", "stakes_rules[0].equals: give a text"},
		{"[" RULE("\"equals\":[\"a\"]") "]", "stakes_rules[0].equals: give a text"},
		{"[" RULE("\"one_of\":\"a\"") "]", "stakes_rules[0].one_of: give a list of 1"},
		{"[" RULE("\"one_of\":[]") "]", "stakes_rules[0].one_of: give a list of 1"},
		{"[" RULE("\"one_of\":[\"a\",true]") "]", "stakes_rules[0].one_of: give a list"},
		{"[" RULE("\"matches\":\"(\"") "]", "stakes_rules[0].matches: "},
		{"[" RULE("\"matches\":7") "]", "stakes_rules[0].matches: give a pattern"},
		{"[" RULE("\"at_least\":\"1,200\"") "]",
		 "stakes_rules[0].at_least: give an integer, or a decimal as a string"},
		{"[" RULE("\"at_most\":\"\"") "]", "stakes_rules[0].at_most: give an integer"},
		{"[" RULE("\"at_most\":true") "]", "stakes_rules[0].at_most: give an integer"},
	};
	struct faults faults;
	int n;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		(void)read_rules(cases[i].rules, &n, &faults);
		if (faults.n == 0 || !str_starts(str_c(faults.first.text), cases[i].fault))
			fail_msg("%s: '%s', not '%s'", cases[i].rules, faults.first.text,
				 cases[i].fault);
	}
}

static void a_profile_of_before_has_no_rules(void **state)
{
	struct faults faults = {.tell = NULL};
	int n = -1;

	(void)stakes_rules_read(arena, NULL, &n, &faults);
	assert_int_equal(n, 0);
	assert_int_equal(faults.n, 0);
}

/* ---- for which values it holds ---- */

/* A job with the variable v, or without it; under rules and the profile's own stakes. */
static struct job settled(const char *rules, const char *value, enum stakes of_profile)
{
	struct variable *v = arena_array(arena, struct variable, 1);
	struct job job = {.variable = v, .n_variable = value != NULL};
	struct profile p = {.stakes = of_profile};
	struct faults faults;

	*v = (struct variable){STR_OF("v"), str_c(value)};
	p.stakes_rule = read_rules(rules, &p.n_stakes_rule, &faults);
	if (faults.n)
		fail_msg("%s", faults.first.text);
	stakes_settle(&job, &p);
	return job;
}

static void assert_by(const char *rules, const char *value, const char *by)
{
	struct job job = settled(rules, value, STAKES_NORMAL);

	if (!str_is(job.stakes_by, by))
		fail_msg("%s of %s: %.*s, not %s", rules, value, STR_ARG(job.stakes_by), by);
	assert_int_equal(job.stakes,
			 str_is(job.stakes_by, "profile") ? STAKES_NORMAL : STAKES_HIGH);
}

#define HOLDS "stakes_rules[0] v"
#define HOLDS_NOT "profile"
#define IN_DOUBT "stakes_rules[0] v, not judged"

static void texts_are_compared_as_people_read_them(void **state)
{
	static const char equals[] = "[" RULE("\"equals\":\"Churn-Risk\"") "]",
			  one_of[] = "[" RULE("\"one_of\":[\"court\",\"規制当局\"]") "]";

	assert_by(equals, "Churn-Risk", HOLDS);
	assert_by(equals, " churn-risk\n", HOLDS);
	assert_by(equals, "Ｃｈｕｒｎ-Risk", HOLDS);
	assert_by(equals, "churn\u200b-risk", HOLDS);
	assert_by(equals, "churn risk", HOLDS_NOT);
	assert_by(equals, "churn-risk?", HOLDS_NOT);
	assert_by(one_of, "規制当局", HOLDS);
	assert_by(one_of, "COURT", HOLDS);
	assert_by(one_of, "courts", HOLDS_NOT);
}

static void numbers_are_compared_exactly(void **state)
{
	static const char least[] = "[" RULE("\"at_least\":10000") "]",
			  most[] = "[" RULE("\"at_most\":\"-0.30\"") "]",
			  large[] = "[" RULE("\"at_least\":\"90071992547409930.01\"") "]";

	assert_by(least, "10000", HOLDS);
	assert_by(least, " 10000.00 ", HOLDS);
	assert_by(least, "1e4", HOLDS);
	assert_by(least, "9999.99999999999999999999", HOLDS_NOT);
	assert_by(least, "-10000", HOLDS_NOT);
	assert_by(most, "-0.3", HOLDS);
	assert_by(most, "-0.29999999999999999999", HOLDS_NOT);
	assert_by(large, "90071992547409930.01", HOLDS);
	assert_by(large, "90071992547409930.00", HOLDS_NOT);
}

/* A wrong `low` costs more than a look. */
static void what_is_no_number_holds(void **state)
{
	static const char *const values[] = {"12,000", "１２０００", "12 EUR", "EUR 12",
					     "twelve", "0x10",	     "007",    "1.",
					     "--1",    "1e",	     "+1",     "[1]",
					     "\"1\"",  "NaN",	     "1 2",    "1e9999999999"};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		assert_by("[" RULE("\"at_least\":1000000") "]", values[i], IN_DOUBT);
		assert_by("[" RULE("\"at_most\":-1000000") "]", values[i], IN_DOUBT);
	}
}

static void a_pattern_is_found_anywhere_or_holds_where_it_cannot_tell(void **state)
{
	static const char law[] = "[" RULE("\"matches\":\"(?i)lawy?er|弁護士\"") "]",
			  slow[] = "[" RULE("\"matches\":\"(a+)+$\"") "]";
	char many[60] = "";

	assert_by(law, "She wrote that her Lawyer\nwill call.", HOLDS);
	assert_by(law, "弁護士から連絡", HOLDS);
	assert_by(law, "She wrote.", HOLDS_NOT);
	memset(many, 'a', sizeof(many) - 2);
	many[sizeof(many) - 2] = 'b';
	assert_by(slow, many, IN_DOUBT);
}

static void a_long_value_is_not_judged_but_by_a_pattern(void **state)
{
	char value[STAKES_VALUE_BYTES_MAX + 2];

	memset(value, '1', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	assert_by("[" RULE("\"equals\":\"a\"") "]", value, IN_DOUBT);
	assert_by("[" RULE("\"at_most\":1") "]", value, IN_DOUBT);
	assert_by("[" RULE("\"matches\":\"2\"") "]", value, HOLDS_NOT);
	value[sizeof(value) - 2] = '\0';
	assert_by("[" RULE("\"equals\":\"a\"") "]", value, HOLDS_NOT);
	assert_by("[" RULE("\"at_most\":1") "]", value, HOLDS_NOT);
}

static void what_is_absent_holds_only_where_that_is_asked_for(void **state)
{
	static const char *const nothing[] = {NULL, "", " \t\n　"};

	for (int i = 0; i < 3; i++) {
		assert_by("[" RULE("\"at_least\":1") "]", nothing[i], HOLDS_NOT);
		assert_by("[" RULE("\"matches\":\"^\"") "]", nothing[i], HOLDS_NOT);
		assert_by("[" RULE("\"at_least\":1,\"absent\":\"high\"") "]", nothing[i],
			  "stakes_rules[0] v, absent");
		assert_by("[" RULE("\"at_least\":1,\"absent\":\"low\"") "]", nothing[i], HOLDS_NOT);
	}
	assert_by("[" RULE("\"at_least\":5,\"absent\":\"high\"") "]", "4", HOLDS_NOT);
}

/* ---- how they come together ---- */

static void the_highest_holds_and_the_first_that_set_it_is_named(void **state)
{
#define LEVEL(stakes) "{\"variable\":\"v\",\"stakes\":\"" stakes "\",\"equals\":\"a\"}"
	struct job job = settled("[" LEVEL("normal") "," LEVEL("high") "," LEVEL("high") "]", "a",
				 STAKES_LOW);
	assert_int_equal(job.stakes, STAKES_HIGH);
	assert_true(str_is(job.stakes_by, "stakes_rules[1] v"));
	job = settled("[" LEVEL("normal") "]", "a", STAKES_LOW);
	assert_int_equal(job.stakes, STAKES_NORMAL);
	assert_true(str_is(job.stakes_by, "stakes_rules[0] v"));
	/* nothing is lowered, and who raised nothing is not named */
	job = settled("[" LEVEL("low") "," LEVEL("normal") "]", "a", STAKES_NORMAL);
	assert_int_equal(job.stakes, STAKES_NORMAL);
	assert_true(str_is(job.stakes_by, "profile"));
#undef LEVEL
}

static void a_jobs_word_counts_unless_the_profile_says_higher(void **state)
{
	const struct profile normal = {.stakes = STAKES_NORMAL}, low = {.stakes = STAKES_LOW};
	struct job job = {.stakes = STAKES_LOW, .has_stakes = true};

	stakes_settle(&job, &normal);
	assert_int_equal(job.stakes, STAKES_NORMAL);
	assert_true(str_is(job.stakes_by, "profile"));
	job = (struct job){.stakes = STAKES_HIGH, .has_stakes = true};
	stakes_settle(&job, &low);
	assert_int_equal(job.stakes, STAKES_HIGH);
	assert_true(str_is(job.stakes_by, "job"));
	job = (struct job){0};
	stakes_settle(&job, &low);
	assert_int_equal(job.stakes, STAKES_LOW);
	assert_true(str_is(job.stakes_by, "profile"));
}

/* Also where today's program would say something else; a word that it does not know is the gravest. */
static void what_was_stored_is_not_settled_anew(void **state)
{
	struct job_row row = {.stakes = STR_OF("low"), .stakes_by = STR_OF("job")};
	struct job job = {.stakes = STAKES_HIGH, .stakes_by = STR_OF("stakes_rules[0] v")};

	stakes_stored(arena, &job, &row);
	assert_int_equal(job.stakes, STAKES_LOW);
	assert_true(str_is(job.stakes_by, "job"));
	row = (struct job_row){.stakes = STR_OF("grave")};
	stakes_stored(arena, &job, &row);
	assert_int_equal(job.stakes, STAKES_HIGH);
	assert_null(job.stakes_by.p);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, new_arena, free_arena)
	const struct CMUnitTest tests[] = {
		T(a_name_may_have_200_bytes),
		T(a_rule_that_is_none_is_named_with_its_mend),
		T(a_profile_of_before_has_no_rules),
		T(texts_are_compared_as_people_read_them),
		T(numbers_are_compared_exactly),
		T(what_is_no_number_holds),
		T(a_pattern_is_found_anywhere_or_holds_where_it_cannot_tell),
		T(a_long_value_is_not_judged_but_by_a_pattern),
		T(what_is_absent_holds_only_where_that_is_asked_for),
		T(the_highest_holds_and_the_first_that_set_it_is_named),
		T(a_jobs_word_counts_unless_the_profile_says_higher),
		T(what_was_stored_is_not_settled_anew),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
