/* The form of a critique: schema in each dialect, words of the prompt, and that both say what the reader takes. */
#include "core/critique.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct str categories[] = {STR("fact"), STR("敬体"), STR("a \"b\"")};

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

static struct profile profile_of(struct arena *a, enum critique_kind kind, enum pass_rule rule)
{
	struct profile p = {.critique = kind,
			    .pass_rule = rule,
			    .pass_score = 85,
			    .score_max = 10,
			    .severity_threshold = 3,
			    .category = categories,
			    .n_category = 3};

	return p;
}

static struct json *schema_of(const struct profile *p, enum dialect dialect)
{
	struct buf text = BUF(10000);
	struct json *schema;
	struct err err;

	form_schema(p, ROLE_CRITIC, NULL, dialect, &text);
	if (json_read(buf_view(&text), &schema, &err) != JSON_FINE)
		fail_msg("%s", err.text);
	buf_release(&text);
	return schema;
}

/* What a strict decoder demands of a schema, down to the leaves: no member is optional or unknown; bounds only where they may be. */
static void assert_strict(const struct json *schema, enum dialect dialect)
{
	const struct json *properties = json_get(schema, "properties"), *value;
	bool closed = true;
	struct str key;

	for (size_t i = 0; dialect == DIALECT_UNBOUNDED && json_member(schema, i, &key, &value);
	     i++)
		assert_false(str_starts(key, "min") || str_starts(key, "max"));
	if (json_get(schema, "items"))
		assert_strict(json_get(schema, "items"), dialect);
	if (!properties)
		return;
	assert_int_equal(json_get_bool(schema, "additionalProperties", &closed),
			 dialect != DIALECT_OPENAPI);
	assert_int_equal(closed, dialect == DIALECT_OPENAPI);
	assert_int_equal(json_size(json_get(schema, "required")), json_size(properties));
	for (size_t i = 0; json_member(properties, i, &key, &value); i++) {
		assert_true(str_eq(json_str(json_item(json_get(schema, "required"), i)), key));
		assert_strict(value, dialect);
	}
}

static void assert_order(const struct json *schema, const char *const *order)
{
	const struct json *properties = json_get(schema, "properties"), *value;
	struct str key;
	size_t i = 0;

	for (; order[i]; i++) {
		assert_true(json_member(properties, i, &key, &value));
		if (!str_is(key, order[i]))
			fail_msg("%.*s, not %s", STR_ARG(key), order[i]);
	}
	assert_int_equal(json_size(properties), i);
}

static void schemas_are_strict_and_put_evidence_first(void **state)
{
	static const char *const scored[] = {"considered", "issues",  "reasons",
					     "score",	   "verdict", NULL};
	static const char *const unscored[] = {"considered", "issues", "reasons", NULL};

	for (int rule = 0; rule < 2; rule++) {
		const struct profile p = profile_of(*state, CRITIQUE_JSON, (enum pass_rule)rule);
		for (int d = 0; d < N_DIALECTS; d++) {
			struct json *schema = schema_of(&p, (enum dialect)d);
			assert_strict(schema, (enum dialect)d);
			assert_order(schema, rule == PASS_VERDICT_AND_SCORE ? scored : unscored);
			json_free(schema);
		}
	}
}

static const struct json *under(const struct json *schema, const char *name)
{
	return json_get(json_get(schema, "properties"), name);
}

static void a_line_is_required_for_each_category(void **state)
{
	const struct profile p = profile_of(*state, CRITIQUE_JSON, PASS_VERDICT_AND_SCORE);
	static const char *const names[] = {"fact", "敬体", "a \"b\"", NULL};
	struct json *schema = schema_of(&p, DIALECT_FULL);

	assert_order(under(schema, "considered"), names);
	json_free(schema);
}

static void bounds_are_those_of_the_profile(void **state)
{
	const struct profile p = profile_of(*state, CRITIQUE_JSON, PASS_VERDICT_AND_SCORE);
	struct json *full = schema_of(&p, DIALECT_FULL), *bare = schema_of(&p, DIALECT_UNBOUNDED);
	int64_t n;

	assert_true(json_get_int(under(full, "score"), "maximum", 10, 10, &n));
	assert_true(json_get_int(under(full, "issues"), "maxItems", 5, 5, &n));
	assert_true(str_is(json_str(json_get(under(bare, "score"), "description")), "0 to 10"));
	assert_int_equal(
		json_size(json_get(under(json_get(under(bare, "issues"), "items"), "severity"),
				   "enum")),
		5);
	json_free(full);
	json_free(bare);
}

static void plain_issues_are_asked_for_as_texts(void **state)
{
	const struct profile p = profile_of(*state, CRITIQUE_PLAIN_ISSUES, PASS_VERDICT_AND_SCORE);
	struct json *schema = schema_of(&p, DIALECT_FULL);
	const struct json *items = json_get(under(schema, "issues"), "items");

	assert_true(str_is(json_str(json_get(items, "type")), "string"));
	json_free(schema);
}

static struct str words_of(struct arena *a, const struct profile *p, bool japanese)
{
	struct buf words = BUF(10000);

	form_words(p, japanese, &words);
	struct str all = arena_str(a, buf_view(&words));
	buf_release(&words);
	return all;
}

static bool tells(struct str words, const char *what)
{
	return str_find(words, str_c(what), 0) >= 0;
}

static void the_words_name_each_part_of_the_reply_and_no_other(void **state)
{
	struct profile p;

	for (int japanese = 0; japanese < 2; japanese++) {
		p = profile_of(*state, CRITIQUE_JSON, PASS_VERDICT_AND_SCORE);
		struct str words = words_of(*state, &p, japanese);
		assert_true(tells(words, "considered: ") && tells(words, "issues: ") &&
			    tells(words, "snippet: ") && tells(words, "reasons: ") &&
			    tells(words, "verdict: ") && tells(words, "8.5"));
		assert_true(tells(words, japanese ? "0 から 10 " : "0 to 10;"));
		p = profile_of(*state, CRITIQUE_PLAIN_ISSUES, PASS_NO_ACTIONABLE_ISSUES);
		words = words_of(*state, &p, japanese);
		assert_true(tells(words, "issues: ") && tells(words, "considered: "));
		assert_false(tells(words, "snippet") || tells(words, "score") ||
			     tells(words, "verdict"));
		p = profile_of(*state, CRITIQUE_TEXT, PASS_NO_ACTIONABLE_ISSUES);
		words = words_of(*state, &p, japanese);
		assert_true(tells(words, "NO_DEFECTS"));
		assert_false(tells(words, "issues:") || tells(words, "JSON"));
		assert_int_equal(form_want(&p, ROLE_CRITIC), WANT_TEXT);
	}
}

/* Asked for where it is wanted, and else nothing of the form changes. */
static void a_source_is_asked_for_by_its_profile_alone(void **state)
{
	static const char *const cited[] = {"category",	  "snippet",  "source",
					    "suggestion", "severity", NULL};
	static const char *const plain[] = {"category", "snippet", "suggestion", "severity", NULL};
	struct profile p = profile_of(*state, CRITIQUE_JSON, PASS_VERDICT_AND_SCORE);

	for (int citing = 0; citing < 2; citing++) {
		p.cite_sources = citing;
		for (int d = 0; d < N_DIALECTS; d++) {
			struct json *schema = schema_of(&p, (enum dialect)d);
			assert_strict(schema, (enum dialect)d);
			assert_order(json_get(under(schema, "issues"), "items"),
				     citing ? cited : plain);
			json_free(schema);
		}
		for (int japanese = 0; japanese < 2; japanese++) {
			struct str words = words_of(*state, &p, japanese);
			assert_int_equal(tells(words, "source: "), citing);
			assert_true(tells(words, "suggestion: ") && tells(words, "severity: "));
		}
	}
}

static void a_template_that_speaks_of_another_scale_is_refused(void **state)
{
	static const struct {
		const char *text;
		bool fine;
	} cases[] = {{"Judge. {{reply}}", true},	{"A score from 0 to 10.", true},
		     {"A score from 0 to 100.", false}, {"A score, 0-100.", false},
		     {"0〜100 で採点する。", false},	{"0 から 100 まで", false},
		     {"so many out of 100", false},	{"say 85/100", false},
		     {"from 0 to 1000", true},		{"{{score_max}} {{pass_score}}", true}};
	struct profile p = profile_of(*state, CRITIQUE_JSON, PASS_VERDICT_AND_SCORE);
	struct err err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(form_check(&p, str_c(cases[i].text), &err),
				 cases[i].fine ? ST_OK : ST_INVALID);
	p.pass_rule = PASS_NO_ACTIONABLE_ISSUES;
	assert_int_equal(form_check(&p, STR_OF("At {{pass_score}}."), &err), ST_INVALID);
	assert_int_equal(form_check(&p, STR_OF("Up to {{score_max}}."), &err), ST_INVALID);
	p.score_max = 100;
	assert_int_equal(form_check(&p, STR_OF("0 to 100"), &err), ST_OK);
	assert_int_equal(form_check(&p, STR_OF("0 to 10"), &err), ST_INVALID);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, new_arena, free_arena)
	const struct CMUnitTest tests[] = {
		T(schemas_are_strict_and_put_evidence_first),
		T(a_line_is_required_for_each_category),
		T(bounds_are_those_of_the_profile),
		T(plain_issues_are_asked_for_as_texts),
		T(the_words_name_each_part_of_the_reply_and_no_other),
		T(a_source_is_asked_for_by_its_profile_alone),
		T(a_template_that_speaks_of_another_scale_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
