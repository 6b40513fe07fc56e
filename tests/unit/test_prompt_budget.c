/* What is too large for a prompt, at its limit and one over it: refused for a stated reason, or cut with a mark; never silently. */
#include "core/loop.h"
#include "core/prompt.h"
#include "core/tool.h"

#include "../lib/loop_case.h"

#include <setjmp.h>

#include <cmocka.h>

enum { QUOTES = 100 };

static const struct job nobody; /* whose sources do not matter */

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

static void put_filled(struct json_out *o, const char *key, int64_t n)
{
	struct buf text = BUF(CASE_BYTES_MAX);

	for (int64_t i = 0; i < n; i++)
		buf_putc(&text, 'x');
	json_put_str(o, key, buf_view(&text));
	buf_release(&text);
}

/* A job with a variable of @n_value bytes that many checks quote in its prompts, and a task of @n_task. */
static struct job *quoting_job(struct arena *a, const struct profile *p, int64_t n_value,
			       int64_t n_task)
{
	struct buf text = BUF(CASE_BYTES_MAX);
	struct json_out o = {.buf = &text};

	json_open(&o, NULL, '{');
	json_put_str(&o, "id", STR_OF("j"));
	json_put_str(&o, "profile", p->name);
	put_filled(&o, "task", n_task);
	json_open(&o, "variables", '{');
	put_filled(&o, "v", n_value);
	json_close(&o, '}');
	json_open(&o, "checks", '[');
	for (int i = 0; i < QUOTES; i++)
		json_put_raw(
			&o, NULL,
			arena_printf(
				a,
				"{\"name\":\"c%d\",\"type\":\"must_include\",\"variables\":[\"v\"]}",
				i));
	json_close(&o, ']');
	json_close(&o, '}');
	struct job *job = case_job(a, p, buf_view(&text));
	buf_release(&text);
	return job;
}

static const struct profile *rich_profile(struct arena *a)
{
	return case_profile(
		a,
		case_patch(a, case_file(a, "tests/data/profile.json"),
			   STR_OF("{\"limits\":{\"tokens\":1000000000,\"micro_usd\":900000000000},"
				  "\"output_tokens\":{\"generator\":1000}}")));
}

static int64_t user_bytes(const struct profile *p, const struct job *job)
{
	const struct prompt_parts parts = {.draft_no = -1};
	struct prompt prompt = PROMPT;

	prompt_write(p, job, ROLE_GENERATOR, 0, &parts, &prompt);
	int64_t n = prompt.user.full ? -1 : (int64_t)prompt.user.n;
	prompt_release(&prompt);
	return n;
}

/* The job's first call, or why there is none. */
static enum stop_reason first(struct arena *a, const struct profile *p, const struct job *job)
{
	struct loop *loop = loop_new(a, job, p);
	const struct fact started = {.type = FACT_started, .call_no = -1};
	struct loop_output out;

	assert_int_equal(loop_step(loop, &started, &out), ST_OK);
	assert_int_equal(out.n_call, !out.finished);
	return out.finished ? out.finish.why : STOP_NONE;
}

static void a_prompt_over_eight_mebibytes_ends_its_job(void **state)
{
	const struct profile *p = rich_profile(*state);
	const int64_t value = PROMPT_BYTES_MAX / (QUOTES + 2);
	const int64_t rest = PROMPT_BYTES_MAX - user_bytes(p, quoting_job(*state, p, value, 1));

	assert_in_range(rest, 1, MESSAGE_BYTES_MAX / 2);
	struct job *at = quoting_job(*state, p, value, 1 + rest);
	struct job *over = quoting_job(*state, p, value, 2 + rest);
	assert_int_equal(user_bytes(p, at), PROMPT_BYTES_MAX);
	assert_int_equal(user_bytes(p, over), -1);
	assert_int_equal(first(*state, p, at), STOP_NONE);
	assert_int_equal(first(*state, p, over), STOP_budget);
}

static void a_prompt_over_the_tokens_of_its_job_ends_it(void **state)
{
	const struct profile *p = rich_profile(*state);
	struct job *job = quoting_job(*state, p, 1000, 1000);
	struct loop *loop = loop_new(*state, job, p);
	const struct fact started = {.type = FACT_started, .call_no = -1};
	struct loop_output out;

	assert_int_equal(loop_step(loop, &started, &out), ST_OK);
	assert_int_equal(out.n_call, 1);
	job->limits.tokens = out.call[0].reserve_tokens;
	assert_int_equal(first(*state, p, job), STOP_NONE);
	job->limits.tokens--;
	assert_int_equal(first(*state, p, job), STOP_budget);
}

/* What the worker says of a job with @member, a list or map of @n equal items. */
static enum dead_reason reason_of(struct arena *a, const char *member, const char *item, int n)
{
	const bool is_map = strstr(item, "%d") && item[0] == '"';
	struct buf text = BUF(CASE_BYTES_MAX);
	const struct schema *schema;
	struct err err = {""};
	struct job job;

	buf_printf(&text, "{\"id\":\"j\",\"profile\":\"p\",\"%s\":%c", member, is_map ? '{' : '[');
	for (int i = 0; i < n; i++) {
		buf_puts(&text, i ? "," : "");
		if (is_map)
			buf_printf(&text, "\"v%d\":\"x\"", i);
		else if (strcmp(member, "sources") == 0) /* no two have one id */
			buf_printf(&text, "{\"id\":\"s%d\",\"text\":\"t\"}", i);
		else
			buf_puts(&text, item);
	}
	buf_printf(&text, "%c}", is_map ? '}' : ']');
	const struct record record = {.value = arena_str(a, buf_view(&text))};
	buf_release(&text);
	if (schema_read(a, case_file(a, "config/schema/job.schema.json"), &schema, &err) != ST_OK)
		case_die("%s", err.text);
	return job_read(a, &record, schema, &job, &err);
}

static void more_material_than_a_job_may_have_is_refused(void **state)
{
	static const struct {
		const char *member, *item;
		int max;
	} cases[] = {
		{"variables", "\"v%d\"", 200},
		{"constraints", "\"Be brief.\"", 100},
		{"sources", "{\"id\":\"s%d\",\"text\":\"t\"}", 100},
	};
	char *sentence = arena_alloc(*state, 2100);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int over = 0; over < 2; over++)
			assert_int_equal(reason_of(*state, cases[i].member, cases[i].item,
						   cases[i].max + over),
					 over ? DEAD_out_of_range : DEAD_NONE);
	for (int over = 0; over < 2; over++) { /* 2,000 characters of a constraint */
		snprintf(sentence, 2100, "\"%0*d\"", 2000 + over, 0);
		assert_int_equal(reason_of(*state, "constraints", sentence, 1),
				 over ? DEAD_out_of_range : DEAD_NONE);
	}
}

static struct critique findings(struct arena *a, int n)
{
	const struct tool tool = {.name = STR("lint")};
	struct buf text = BUF(CASE_BYTES_MAX);
	struct critique c;

	buf_putc(&text, '[');
	for (int i = 0; i < n; i++)
		buf_printf(&text, "%s{\"severity\":3,\"message\":\"m%d\"}", i ? "," : "", i);
	buf_putc(&text, ']');
	findings_read(a, &tool, buf_view(&text), STR_OF("draft"), &c);
	buf_release(&text);
	return c;
}

static void more_findings_than_fifty_are_no_answer(void **state)
{
	assert_true(findings(*state, TOOL_FINDINGS_MAX).valid);
	assert_int_equal(findings(*state, TOOL_FINDINGS_MAX).n_issue, TOOL_FINDINGS_MAX);
	assert_false(findings(*state, TOOL_FINDINGS_MAX + 1).valid);
}

/* What the refiner is told of one critique: all up to five, the rest counted. */
static void issues_over_five_are_counted(void **state)
{
	static const char *const issue =
		"{\"category\":\"a\",\"snippet\":\"\",\"suggestion\":\"b\",\"severity\":3}";
	const struct profile p = {.score_max = 100, .pass_score = 80, .severity_threshold = 3};

	for (int n = FORM_ISSUES_MAX; n <= FORM_ISSUES_MAX + 1; n++) {
		struct buf text = BUF(CASE_BYTES_MAX);
		struct critique c;
		buf_puts(&text, "{\"issues\":[");
		for (int i = 0; i < n; i++)
			buf_printf(&text, "%s%s", i ? "," : "", issue);
		buf_puts(&text, "],\"score\":10,\"verdict\":\"fail\"}");
		critique_read(*state, &p, &nobody, buf_view(&text), STR_OF("draft"), &c);
		assert_int_equal(c.n_issue, FORM_ISSUES_MAX);
		assert_int_equal(c.n_cut, n - FORM_ISSUES_MAX);
		buf_release(&text);
	}
}

/* The request's body has room for every prompt, whatever its bytes are written as. */
static void the_largest_prompt_fits_its_request(void **state)
{
	const struct profile *p = rich_profile(*state);
	const struct wire *const wire[] = {wire_named(STR_OF("openai")),
					   wire_named(STR_OF("gemini")),
					   wire_named(STR_OF("anthropic"))};

	for (int i = 0; i < 3; i++) {
		struct model model = p->model[ROLE_GENERATOR];
		struct prompt prompt = PROMPT;
		struct buf body = BUF(REQUEST_BYTES_MAX);
		char *worst = arena_alloc(*state, PROMPT_BYTES_MAX);
		memset(worst, 1, PROMPT_BYTES_MAX); /* \u0001: six bytes */
		buf_put(&prompt.system, worst, PROMPT_BYTES_MAX);
		buf_put(&prompt.user, worst, PROMPT_BYTES_MAX);
		assert_false(prompt.system.full || prompt.user.full);
		model.wire = wire[i];
		wire[i]->request(&model, &prompt, 100, &body);
		assert_false(body.full);
		assert_true(body.n > (size_t)12 * PROMPT_BYTES_MAX);
		buf_release(&body);
		prompt_release(&prompt);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, new_arena, free_arena)
	const struct CMUnitTest tests[] = {
		T(a_prompt_over_eight_mebibytes_ends_its_job),
		T(a_prompt_over_the_tokens_of_its_job_ends_it),
		T(more_material_than_a_job_may_have_is_refused),
		T(more_findings_than_fifty_are_no_answer),
		T(issues_over_five_are_counted),
		T(the_largest_prompt_fits_its_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
