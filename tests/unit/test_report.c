#include "app/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "app/ask.h"
#include "app/file.h"
#include "core/row.h"
#include "database.h"

/* ---- as text: tests/data/report/NAME.json makes NAME.txt; with GOLDEN=1 in the environment it is written anew ---- */

static struct str file_of(struct arena *a, const char *name)
{
	struct str text = {NULL, 0};
	struct err err = {""};

	if (file_read(a, arena_printf(a, "tests/data/report/%s", name).p, &text, &err) != ST_OK)
		fail_msg("%s", err.text);
	return text;
}

static void assert_shown_as_before(const char *name)
{
	struct arena *a = arena_new();
	struct page page = PAGE(false);
	struct json *figures;
	struct err err;
	const char *txt = arena_printf(a, "%s.txt", name).p;

	assert_int_equal(json_read(file_of(a, arena_printf(a, "%s.json", name).p), &figures, &err),
			 JSON_FINE);
	report_text(figures, &page);
	if (getenv("GOLDEN")) {
		FILE *f = fopen(arena_printf(a, "tests/data/report/%s", txt).p, "w");
		assert_non_null(f);
		fwrite(page.text.p, 1, page.text.n, f);
		fclose(f);
	}
	assert_string_equal(page.text.p, file_of(a, txt).p);
	buf_release(&page.text);
	json_free(figures);
	arena_free(a);
}

static void figures_stand_in_columns(void **state)
{
	assert_shown_as_before("batch");
}

static void no_jobs_make_no_shares_and_no_means(void **state)
{
	assert_shown_as_before("empty");
}

/* ---- from the database ---- */

/* Job @no, of batch @batch, ends after @wall ms; one generator call of @ms, after an attempt of @lost ms. */
static void add_job(int no, const char *batch, int wall, int ms, int lost)
{
	char sql[3000];

	snprintf(
		sql, sizeof(sql),
		"insert into draftmill.job (job_no, source, id, revision, batch, profile, profile_sha, stakes, cluster, topic, part,"
		" \"offset\", worker_id, at, payload_sha) values (%d, '', 'j%d', 0, '%s', 'p', '', 'normal', 'c', 't', 0, %d, 1,"
		" '2026-11-30 12:00:00Z', '');"
		"insert into draftmill.step (job_no, step_no, fact, call_no, worker_id, at, active_ms, role, latency_ms,"
		" cost_micro_usd, reply_sha, action, digest, hash, profile_sha) values (%d, 1, 'replied', 0, 1, now(), 0, 'generator', %d, 10, '',"
		" 'wait', '', '', '');"
		"insert into draftmill.attempt values (%d, 0, 1, 1, now(), 'rate_limited', 429, %d, null);"
		"insert into draftmill.outcome values (%d, 'passed', 'no_issues', 1, 90, 1, 2, 100, 40, 20, 30, 5, 1,"
		" timestamptz '2026-11-30 12:00:00Z' + %d * interval '1 ms', '');",
		no, no, batch, no, no, ms, no, lost, no, wall);
	database_run(sql);
}

static int start_with_rows(void **state)
{
	if (database_start(state))
		return 1;
	database_run("create table draftmill.months partition of draftmill.job default;"
		     "create table draftmill.months_s partition of draftmill.step default;"
		     "create table draftmill.months_a partition of draftmill.attempt default;"
		     "create table draftmill.months_d partition of draftmill.draft default;"
		     "create table draftmill.months_c partition of draftmill.critique default;"
		     "create table draftmill.months_o partition of draftmill.outcome default;"
		     "insert into draftmill.stop_reason values ('no_issues', 'passed', 0)");
	for (int i = 1; i <= 20; i++) /* calls of 10, 20 .. 200 ms; own part 1 .. 20 ms */
		add_job(i, "b", 5 + 11 * i, 10 * i, 5);
	add_job(21, "other", 9999, 9999, 0);
	database_run(/* 20 first drafts, every second with a red check; one still red at its end */
		     "insert into draftmill.draft select n, 0, 1, null, 'x', '', '[]', '', 0, n % 2, 0, null from"
		     " generate_series(1, 20) n;"
		     "insert into draftmill.draft select n, 1, 2, 0, 'x', '', '[]', '', 0, (n = 3)::int, 0, null from"
		     " generate_series(1, 20) n;"
		     /* scores 90 and 61; \"95\" as a text is no score: stored as null, not valid */
		     "insert into draftmill.critique values (1, 2, 0, true, null, 90, 'pass', null, '', 0, 0, 'whole', 0, 3),"
		     " (2, 2, 0, true, null, 61, 'fail', null, '', 0, 0, 'fence', 2, 0), (3, 2, 0, false, 'score', null, null, null, '', 0, 0, null, 0, 0),"
		     " (4, 2, 0, true, null, null, 'pass', null, '', 0, 0, 'thinking', 0, 1);"
		     "insert into draftmill.profile values ('', 'p', '{\"mode\":\"reflect\"}');"
		     "insert into draftmill.job (job_no, source, id, revision, batch, profile, profile_sha, stakes, cluster, topic, part,"
		     " \"offset\", worker_id, at, payload_sha) values (22, '', 'open', 0, 'b', 'p', '', 'normal', 'c', 't', 0, 22, 1, now(), '');"
		     "insert into draftmill.dead_letter (letter_no, cluster, topic, part, \"offset\", value_sha, reason, worker_id, at)"
		     " values (1, 'c', 't', 0, 0, '', 'not_json', 1, now())");
	return 0;
}

static struct json *load(const char *batch)
{
	char conninfo[800];
	struct pg *pg;
	struct json *figures = NULL;
	struct err err = {""};

	snprintf(conninfo, sizeof(conninfo), "%s user=draftmill_reader", database_conninfo());
	if (pg_connect(conninfo, "test", &pg, &err) != ST_OK ||
	    report_load(pg, batch, &figures, &err) != ST_OK)
		fail_msg("%s", err.text);
	pg_free(pg);
	return figures;
}

static void assert_number(const struct json *object, const char *key, int64_t want)
{
	int64_t got = ask_number(object, key);

	if (got != want)
		fail_msg("%s is %lld, not %lld", key, (long long)got, (long long)want);
}

static void a_batch_counts_its_own_jobs(void **state)
{
	struct json *r = load("b");

	assert_number(r, "n_jobs", 21);
	assert_number(r, "n_open", 1);
	assert_int_equal(json_size(json_get(r, "outcomes")), 1);
	assert_number(json_item(json_get(r, "outcomes"), 0), "n", 20);
	assert_number(json_item(json_get(r, "dead_letters"), 0), "n", 1);
	json_free(r);
	r = load(NULL);
	assert_number(r, "n_jobs", 22);
	assert_number(json_item(json_get(r, "outcomes"), 0), "n", 21);
	json_free(r);
}

static void violations_are_counted_before_and_after(void **state)
{
	struct json *r = load("b");
	const struct json *v = json_get(r, "violations");

	assert_number(v, "n_jobs", 20);
	assert_number(v, "n_before", 10);
	assert_number(v, "n_after", 1);
	json_free(r);
}

/* Profiles of one batch stand side by side; a loop under a schema is told whether the schema alone stands there, too. */
static void a_loop_under_a_schema_stands_beside_its_control(void **state)
{
	static const char job[] =
		"insert into draftmill.job (job_no, source, id, revision, batch, profile, profile_sha, stakes, cluster, topic, part,"
		" \"offset\", worker_id, at, payload_sha) select n, '', 'k' || n, 0, 'arms', 'q', %s, 'normal', 'c', 't', 0, n, 1,"
		" '2026-11-30 12:00:00Z', '' from generate_series(%d, %d) n;"
		"insert into draftmill.draft select n, 0, 1, null, 'x', '', '[]', '', 0, 1, 0, null from generate_series(%d, %d) n;"
		"insert into draftmill.outcome select n, 'passed', 'no_issues', 0, 90, 1, 2, 100, 40, 20, 30, 5, 1,"
		" timestamptz '2026-11-30 12:00:00Z' + n * interval '1 ms', '' from generate_series(%d, %d) n";
	char sql[3000];

	database_run(
		"insert into draftmill.profile values"
		" ('\\x02', 'loop', '{\"mode\":\"critic_refiner\",\"draft_schema\":\"refine\",\"checks\":[1]}'),"
		" ('\\x03', 'other', '{\"mode\":\"oneshot\",\"draft_schema\":\"always\",\"checks\":[2]}'),"
		" ('\\x04', 'plain', '{\"mode\":\"oneshot\",\"checks\":[1]}'),"
		" ('\\x05', 'control', '{\"mode\":\"oneshot\",\"draft_schema\":\"always\",\"checks\":[1]}')");
	for (int i = 2; i <= 5; i++) {
		char sha[16];
		snprintf(sha, sizeof(sha), "'\\x%02d'", i);
		snprintf(sql, sizeof(sql), job, sha, 100 * i, 100 * i + 9, 100 * i, 100 * i + i,
			 100 * i, 100 * i + 9);
		database_run(sql);
		struct json *r = load("arms");
		const struct json *list = json_get(r, "profiles"), *loop = NULL;
		assert_int_equal(json_size(list), i - 1);
		for (size_t k = 0; k < json_size(list); k++)
			if (str_is(ask_text(json_item(list, k), "profile"), "loop"))
				loop = json_item(list, k);
		assert_true(loop != NULL);
		assert_number(loop, "n_jobs", 10);
		assert_number(loop, "n_texts", 3);
		assert_number(loop, "n_before", 3);
		assert_number(loop, "tokens_per_job", 120);
		assert_number(loop, "p95_ms", 209);
		assert_int_equal(ask_text(loop, "uncontrolled").p != NULL, i < 5);
		json_free(r);
	}
}

static void an_invalid_critique_stays_out_of_the_mean(void **state)
{
	struct json *r = load("b");
	const struct json *c = json_get(r, "critiques");

	assert_number(c, "n_valid", 3);
	assert_number(c, "n_invalid", 1);
	assert_number(c, "n_unscored", 1);
	assert_number(c, "score_mean_tenths", 755); /* (90 + 61) / 2 */
	json_free(r);
}

static void what_was_repaired_is_counted_by_its_shape(void **state)
{
	struct json *r = load("b");
	const struct json *c = json_get(r, "critiques");

	assert_number(c, "n_fence", 1);
	assert_number(c, "n_thinking", 1);
	assert_number(c, "n_prose", 0);
	assert_number(c, "n_cut", 1);
	assert_number(c, "n_silent", 2);
	json_free(r);
}

static void what_its_own_writer_passed_is_counted(void **state)
{
	struct json *r = load("b");

	assert_number(r, "n_reflect", 20);
	json_free(r);
}

/* An attempt of a call that was answered, of one that is still open, and of one that was given up. One that only waited failed in nothing. */
static void attempts_that_failed_are_counted_by_model_and_class(void **state)
{
	database_run(
		"begin;"
		"insert into draftmill.profile values ('\\x01', 'q', '{\"models\":{\"critic\":{\"id\":\"judge\"},\"refiner\":{\"id\":\"writer\"}}}');"
		"insert into draftmill.job (job_no, source, id, revision, batch, profile, profile_sha, stakes, cluster, topic, part,"
		" \"offset\", worker_id, at, payload_sha) values (30, '', 'f', 0, 'failing', 'q', '\\x01', 'normal', 'c', 't', 0, 30, 1, now(), '');"
		"insert into draftmill.step (job_no, step_no, fact, call_no, worker_id, at, active_ms, role, model_asked, class, reply_sha, action, digest, hash, profile_sha)"
		" values (30, 0, 'started', null, 1, now(), 0, null, null, null, '', 'call critic 0', '', '', ''),"
		" (30, 1, 'replied', 0, 1, now(), 0, 'critic', 'judge', 'complete', '', 'call critic 1, refiner 2', '', '', ''),"
		" (30, 2, 'call_failed', 1, 1, now(), 0, 'critic', 'judge', 'broken_off', '', 'wait', '', '', '');"
		"insert into draftmill.attempt values (30, 0, 1, 1, now(), 'waited', null, null, null),"
		" (30, 0, 2, 1, now(), 'overloaded', 503, null, null), (30, 1, 1, 1, now(), 'broken_off', null, null, null),"
		" (30, 2, 1, 1, now(), 'unsent', null, null, null);"
		"commit");
	struct json *r = load("failing");
	const struct json *f = json_get(r, "failures");

	assert_int_equal(json_size(f), 3);
	for (int i = 0; i < 3; i++) {
		static const char *const want[][2] = {
			{"judge", "broken_off"}, {"judge", "overloaded"}, {"writer", "unsent"}};
		assert_true(str_is(ask_text(json_item(f, i), "model"), want[i][0]));
		assert_true(str_is(ask_text(json_item(f, i), "class"), want[i][1]));
		assert_number(json_item(f, i), "n", i == 0 ? 2 : 1);
	}
	json_free(r);
	r = load("b");
	assert_number(json_item(json_get(r, "failures"), 0), "n", 20);
	json_free(r);
}

static void tokens_and_money_are_those_of_the_outcomes(void **state)
{
	struct json *r = load("b");
	const struct json *s = json_get(r, "spent");

	assert_number(s, "tokens_in", 2000);
	assert_number(s, "tokens_cached", 800);
	assert_number(s, "tokens_out", 400);
	assert_number(s, "cost_micro_usd", 600);
	assert_number(s, "cost_micro_usd_per_job", 30);
	json_free(r);
}

static void percentiles_are_values_that_occurred(void **state)
{
	struct json *r = load("b");
	const struct json *calls = json_item(json_get(r, "calls"), 0);

	assert_number(calls, "n", 20);
	assert_number(calls, "n_failed", 0);
	assert_number(calls, "p50_ms", 100); /* the 10th of 20 */
	assert_number(calls, "p95_ms", 190); /* the 19th */
	assert_number(json_get(r, "elapsed"), "p50_ms", 115);
	assert_number(json_get(r, "own"), "p50_ms", 10); /* 115 - 100 - 5 */
	assert_number(json_get(r, "own"), "p95_ms", 19);
	json_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_stand_in_columns),
		cmocka_unit_test(no_jobs_make_no_shares_and_no_means),
		cmocka_unit_test(a_batch_counts_its_own_jobs),
		cmocka_unit_test(violations_are_counted_before_and_after),
		cmocka_unit_test(a_loop_under_a_schema_stands_beside_its_control),
		cmocka_unit_test(an_invalid_critique_stays_out_of_the_mean),
		cmocka_unit_test(what_was_repaired_is_counted_by_its_shape),
		cmocka_unit_test(what_its_own_writer_passed_is_counted),
		cmocka_unit_test(tokens_and_money_are_those_of_the_outcomes),
		cmocka_unit_test(percentiles_are_values_that_occurred),
		cmocka_unit_test(attempts_that_failed_are_counted_by_model_and_class),
	};
	return cmocka_run_group_tests(tests, start_with_rows, database_stop);
}
