#include "core/loop.h"

#include "../lib/loop_case.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { VALUE_BYTES = 2 * CHECK_DETAIL_BYTES_MAX };

static void put_check(struct buf *out, const char *of, int i)
{
	buf_printf(out, "%s{\"name\":\"%s%d\",\"type\":\"must_include\",\"variables\":[\"v\"]}",
		   i ? "," : "", of, i);
}

static const struct profile *profile_with_all_checks(struct arena *a)
{
	struct buf patch = BUF(CASE_BYTES_MAX);

	buf_puts(&patch, "{\"checks\":[");
	for (int i = 0; i < CHECKS_MAX; i++)
		put_check(&patch, "profile", i);
	buf_puts(&patch, "],\"limits\":{\"tokens\":1000000000,\"micro_usd\":1000000000000}}");
	struct str base = case_file(a, "tests/data/profile.json");
	const struct profile *p = case_profile(a, case_patch(a, base, buf_view(&patch)));
	buf_release(&patch);
	return p;
}

/* Its variable is what JSON writes longest: six bytes for one. */
static struct job *job_with_all_checks(struct arena *a, const struct profile *profile)
{
	struct buf text = BUF(CASE_BYTES_MAX);

	buf_puts(&text, "{\"id\":\"a\",\"profile\":\"letter\",\"variables\":{\"v\":\"x");
	for (int i = 0; i < VALUE_BYTES; i++)
		buf_puts(&text, "\\u0001");
	buf_puts(&text, "\"},\"checks\":[");
	for (int i = 0; i < CHECKS_MAX; i++)
		put_check(&text, "job", i);
	buf_puts(&text, "]}");
	struct job *job = case_job(a, profile, buf_view(&text));
	buf_release(&text);
	return job;
}

/* The rows of a job's first draft. */
static void write_draft(struct arena *a, const struct job *job, const struct profile *profile,
			struct step_rows *rows)
{
	static const uint8_t previous[SHA_BYTES];
	struct loop *loop = loop_new(a, job, profile);
	struct loop_output out;
	struct fact fact = {.type = FACT_started, .call_no = -1};

	assert_int_equal(loop_step(loop, &fact, &out), ST_OK);
	fact = (struct fact){.type = FACT_replied,
			     .reply = {.class = REPLY_complete,
				       .text = STR("Dear Ms Tanaka"),
				       .usage = {.in = 1, .out = 1}}};
	assert_int_equal(loop_step(loop, &fact, &out), ST_OK);
	step_rows(a, job, profile, loop_history(loop), &fact, &out, 1, 1, 0, previous, rows);
}

static void the_results_of_all_checks_are_stored_whole(void **state)
{
	struct arena *a = arena_new();
	const struct profile *profile = profile_with_all_checks(a);
	const struct json *result;
	struct step_rows rows;
	struct str detail;

	write_draft(a, job_with_all_checks(a, profile), profile, &rows);
	assert_int_equal(rows.draft->n_failed, 2 * CHECKS_MAX);
	struct json *checks = case_json(rows.draft->checks);
	assert_int_equal(json_size(checks), 2 * CHECKS_MAX);
	for (size_t i = 0; i < json_size(checks); i++) {
		result = json_item(checks, i);
		assert_true(json_get_str(result, "detail", &detail));
		assert_int_equal(detail.n, CHECK_DETAIL_BYTES_MAX);
		assert_true(str_starts(detail, "missing: \"x\x01"));
		assert_string_equal(detail.p + detail.n - 4, "\x01...");
	}
	json_free(checks);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_results_of_all_checks_are_stored_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
