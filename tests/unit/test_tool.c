/* tests/unit/test_tool.c - a tool of a profile, and what counts as its answer. */
#include "core/tool.h"

#include "base/json.h"
#include "core/cost.h"

#include <setjmp.h>
#include <stdio.h>

#include <cmocka.h>

struct world {
	struct arena *a;
	const struct tool *tool;
	int n;
	struct faults faults;
};

static struct world tools(const char *text)
{
	struct world w = {.a = arena_new()};
	struct json *json;
	struct err err;

	assert_int_equal(json_read(str_c(text), &json, &err), JSON_FINE);
	w.tool = tools_read(w.a, json, &w.n, &w.faults);
	json_free(json);
	return w;
}

static void a_tool_of_a_profile(void **state)
{
	struct world w =
		tools("[{\"name\":\"c_tests\",\"command\":[\"{tools}/c_tests\",\"-Wall\"]},"
		      "{\"name\":\"sums\",\"command\":[\"sums\"],\"timeout_ms\":500}]");

	assert_int_equal(w.faults.n, 0);
	assert_int_equal(w.n, 2);
	assert_true(str_is(w.tool[0].name, "c_tests"));
	assert_int_equal(w.tool[0].n_command, 2);
	assert_true(str_is(w.tool[0].command[1], "-Wall"));
	assert_true(str_is(w.tool[0].model.id, "tool:c_tests"));
	assert_int_equal(w.tool[0].model.timeout_ms, 10000);
	assert_int_equal(w.tool[1].model.timeout_ms, 500);
	assert_true(model_is_tool(&w.tool[1].model));
	/* A run costs nothing and reserves nothing. */
	assert_int_equal(reserve_tokens(&w.tool[0].model, 0, 0), 0);
	assert_int_equal(reserve_micro_usd(&w.tool[0].model, 0, 0, 1700000000000), 0);
	(void)tools_read(w.a, NULL, &w.n, &w.faults); /* a profile of before */
	assert_int_equal(w.n + w.faults.n, 0);
	arena_free(w.a);
}

static void a_wrong_tool_is_named(void **state)
{
	static const struct {
		const char *json, *why;
	} cases[] = {
		{"{}", "tools: give a list of at most 4"},
		{"[1,2,3,4,5]", "tools: give a list of at most 4"},
		{"[1]", "tools[0].name: missing; give name and command"},
		{"[{\"command\":[\"a\"]}]",
		 "tools[0].name: give 1 to 40 characters of a-z 0-9 - _"},
		{"[{\"name\":\"A\",\"command\":[\"a\"]}]",
		 "tools[0].name: give 1 to 40 characters of a-z 0-9 - _"},
		{"[{\"name\":\"a\",\"command\":\"a | b\"}]",
		 "tools[0].command: give a list of 1 to 64 texts: program, arguments"},
		{"[{\"name\":\"a\",\"command\":[]}]",
		 "tools[0].command: give a list of 1 to 64 texts: program, arguments"},
		{"[{\"name\":\"a\",\"command\":{\"a\":1}}]",
		 "tools[0].command: give a list of 1 to 64 texts: program, arguments"},
		{"[{\"name\":\"a\",\"command\":[\"a\",1]}]",
		 "tools[0].command: give a list of 1 to 64 texts: program, arguments"},
		{"[{\"name\":\"a\",\"command\":[\"a\"],\"timeout_ms\":0}]",
		 "tools[0].timeout_ms: give an integer from 1 to 600000"},
		{"[{\"name\":\"a\",\"command\":[\"a\"],\"shell\":true}]",
		 "tools[0].shell: unknown; leave it out"},
		{"[{\"name\":\"a\",\"command\":[\"a\"]},{\"name\":\"a\",\"command\":[\"b\"]}]",
		 "tools[1].name: \"a\" is taken; give each its own"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world w = tools(cases[i].json);
		assert_int_equal(w.faults.n, 1);
		assert_string_equal(w.faults.first.text, cases[i].why);
		arena_free(w.a);
	}
}

static const char draft[] = "12 x 3 = 38, so 12 x 3 = 38 it is.";

static struct critique found(struct world *w, const char *answer)
{
	struct critique c;

	*w = tools("[{\"name\":\"sums\",\"command\":[\"sums\"]}]");
	findings_read(w->a, &w->tool[0], str_c(answer), str_c(draft), &c);
	assert_true(str_is(c.tool, "sums"));
	assert_int_equal(c.score, -1); /* it is no verdict on the text */
	assert_false(c.pass);
	return c;
}

static void findings_are_issues(void **state)
{
	struct world w;
	struct critique c = found(
		&w, "\n[{\"severity\":5,\"snippet\":\"38\",\"message\":\"it is 36\",\"line\":1},"
		    "{\"severity\":1,\"suggestion\":\"say it once\",\"category\":\"style\"},"
		    "{\"severity\":2,\"suggestion\":\"s\",\"snippet\":\"37\"}]\n");

	assert_true(c.valid);
	assert_int_equal(c.n_issue, 3);
	assert_int_equal(c.n_ignored, 1);
	assert_true(str_is(c.issue[0].category, "tool:sums"));
	assert_true(str_is(c.issue[0].suggestion, "it is 36"));
	assert_true(str_is(c.issue[0].snippet, "38"));
	assert_int_equal(c.issue[0].at, 9); /* the first of two */
	assert_int_equal(c.issue[0].n, 2);
	assert_true(str_is(c.issue[1].category, "tool:sums/style"));
	assert_int_equal(c.issue[1].at, -1);
	assert_int_equal(c.issue[2].at, -1); /* not in the draft: of the whole text */
	assert_true(str_is(c.issue[2].snippet, ""));
	arena_free(w.a);
	c = found(&w, "[]");
	assert_true(c.valid);
	assert_int_equal(c.n_issue, 0);
	arena_free(w.a);
}

static void any_other_answer_is_none(void **state)
{
	static const char *const answers[] = {
		"",
		"ok",
		"null",
		"{}",
		"{\"findings\":[]}",
		"[] []",
		"[]\n[]",
		"[null]",
		"[[]]",
		"[{}]",
		"[{\"severity\":3}]",
		"[{\"severity\":3,\"message\":\"\"}]",
		"[{\"severity\":3,\"message\":\"a\",\"suggestion\":\"b\"}]",
		"[{\"severity\":\"3\",\"message\":\"a\"}]",
		"[{\"severity\":3.0,\"message\":\"a\"}]",
		"[{\"severity\":0,\"message\":\"a\"}]",
		"[{\"severity\":6,\"message\":\"a\"}]",
		"[{\"severity\":3,\"message\":\"a\",\"snippet\":null}]",
		"[{\"severity\":3,\"message\":\"a\",\"category\":[\"b\"]}]",
		"[{\"severity\":3,\"message\":\"a\",\"message\":\"b\"}]",
		"[{\"severity\":3,\"message\":\"\xff\"}]",
	};
	struct world w;

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct critique c = found(&w, answers[i]);
		if (c.valid || !c.fault.n || c.n_issue)
			fail_msg("%s is read as findings", answers[i]);
		arena_free(w.a);
	}
}

static void fifty_findings_and_no_more(void **state)
{
	struct buf answer = BUF(10000);
	struct world w;

	buf_puts(&answer, "[{\"severity\":1,\"message\":\"a\"}");
	for (int i = 1; i < 50; i++)
		buf_puts(&answer, ",{\"severity\":1,\"message\":\"a\"}");
	buf_puts(&answer, "]");
	assert_int_equal(found(&w, buf_view(&answer).p).n_issue, 50);
	arena_free(w.a);
	answer.n--;
	buf_puts(&answer, ",{\"severity\":1,\"message\":\"a\"}]");
	assert_false(found(&w, buf_view(&answer).p).valid);
	arena_free(w.a);
	buf_release(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tool_of_a_profile),
		cmocka_unit_test(a_wrong_tool_is_named),
		cmocka_unit_test(findings_are_issues),
		cmocka_unit_test(any_other_answer_is_none),
		cmocka_unit_test(fifty_findings_and_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
