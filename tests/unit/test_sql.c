/* tests/unit/test_sql.c - the views, the invariants and the rebuilding of the queue, over one job written out by hand: two
 * drafts, a retry, passed. And what the roles of readers may see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "database.h"
#include "io/pg.h"

/* Job 2^60 or so: taken at 12:00:00, ended 12:00:10; calls took 1, 2, 1 and 1 s, a lost attempt 0.5 s. */
static const char JOB[] =
	"set search_path = draftmill;"
	"insert into worker (host, pid, version) values ('h', 1, 'v');"
	"insert into stop_reason values ('no_issues', 'passed', 0);"
	"insert into profile values ('\\x01', 'p', '{\"limits\":{\"iterations\":2},\"pass_score\":80,"
	"\"severity_threshold\":3}');"
	"create table n as select job_no_at(now()) as j;"
	"insert into job_key select gen_random_uuid(), '\\x02', j from n;"
	"insert into job (job_no, source, id, revision, batch, profile, profile_sha, arm, stakes, salt, cluster,"
	" topic, part, \"offset\", worker_id, at, payload_sha) select j, '', 'a', 0, 'b', 'p', '\\x01', 'arm', 'low',"
	" '\\x00', 'c', 't', 0, 0, 1, '2026-11-30 12:00:00Z', '\\x02' from n;"
	"insert into step (job_no, step_no, fact, call_no, worker_id, at, active_ms, intents, role, model,"
	" cost_micro_usd, latency_ms, action, reply_sha, digest, hash, profile_sha)"
	" select j, s.*, '', '', '', '\\x01' from n, (values"
	" (0, 'started', null::int, 1, timestamptz '2026-11-30 12:00:00Z', 0, 1, null, null, 0, null::int,"
	"  'call generator 0'),"
	" (1, 'replied', 0, 1, '2026-11-30 12:00:02Z', 0, 1, 'generator', 'g', 10, 1000, 'call critic 1'),"
	" (2, 'replied', 1, 1, '2026-11-30 12:00:04Z', 0, 0, 'critic', 'c', 5, 2000, 'call refiner 2'),"
	" (3, 'replied', 2, 1, '2026-11-30 12:00:06Z', 0, 1, 'refiner', 'g', 10, 1000, 'call critic 3'),"
	" (4, 'replied', 3, 1, '2026-11-30 12:00:10Z', 0, 0, 'critic', 'c', 5, 1000,"
	"  'finish passed no_issues')) s;"
	"insert into attempt select j, 2, 1, 1, '2026-11-30 12:00:05Z', 'waited' from n;"
	"insert into attempt select j, 2, 2, 1, '2026-11-30 12:00:05.5Z', 'server_error', 503, 500 from n;"
	"insert into draft select j, 0, 1, null, 'x', '', '[]', '', 1, 2 from n;"
	"insert into draft select j, 1, 3, 0, 'y', '', '[]', '', 0, 1 from n;"
	"insert into critique select j, 2, 0, true, null, 60, 'fail', null, '', 1, 0 from n;"
	"insert into critique select j, 4, 1, true, null, 90, 'pass', null, '', 0, 0 from n;"
	"insert into issue select j, 2, 0, 'tone', 3, null, null, null, null, '' from n;"
	"insert into outcome select j, 'passed', 'no_issues', 1, 90, 2, 4, 0, 0, 0, 30, 5500, 1,"
	" '2026-11-30 12:00:10Z', '' from n;"
	"insert into outbox select j, 'outcome', gen_random_uuid(), 'r', '', '', '' from n;"
	"insert into todo select j, 'outcome', 1 from n;";

static int start(void **state)
{
	database_start(state);
	database_run(JOB);
	return 0;
}

/* ---- views ---- */

static void test_the_views_count_what_was_written(void **state)
{
	assert_int_equal(database_int("select model_ms from v_job"), 5500);
	assert_int_equal(database_int("select elapsed_ms from v_job"), 10000);
	assert_int_equal(database_int("select own_ms from v_job"), 4500);
	assert_int_equal(database_int("select count(*) from v_call"), 4);
	assert_int_equal(
		database_int("select sum(cost_micro_usd) from v_call where role = 'critic'"), 10);
	/* calls 0, 1 and 3 in their steps; call 2 waited, then was tried again */
	assert_int_equal(database_int("select count(*) from v_intent"), 5);
	assert_int_equal(database_int("select count(*) from v_intent where call_no = 2"), 2);
	assert_int_equal(database_int("select count(*) from v_intent where role = 'critic'"), 2);
	assert_int_equal(database_int("select n_unanswered from v_unanswered"), 1);
	assert_int_equal(
		database_int("select first_n_failed * 10 + last_n_failed from v_violation"), 21);
	assert_int_equal(database_int("select first_n_hard_failed from v_violation"), 1);
	assert_int_equal(database_int("select last_draft_no from v_violation"), 1);
	/* a profile from before draft_schema */
	assert_int_equal(database_int("select count(*) from v_profile where draft_schema = 'off'"),
			 1);
}

static void test_arms_stand_side_by_side(void **state)
{
	assert_int_equal(database_int("select count(*) from v_arm where profile = 'p' and "
				      "arm = 'arm' and profile_sha = '\\x01'"),
			 1);
	assert_int_equal(database_int("select n_jobs * 100 + n_passed * 10 + n_open from v_arm"),
			 110);
	assert_int_equal(database_int("select n_red_before * 10 + n_red_after from v_arm"), 11);
	assert_int_equal(database_int("select cost_micro_usd_per_job from v_arm"), 30);
	assert_int_equal(database_int("select p95_ms from v_arm"), 10000);
	assert_int_equal(database_int("select count(*) from arms('b')"), 1);
	assert_int_equal(database_int("select count(*) from arms('c')"), 0);
}

/* Two calls of 100 and 130 tokens yesterday and today; then 20 more, of 200 each, which the baseline does not take in. */
static void test_what_the_critic_reads_is_told_against_its_first_calls(void **state)
{
	database_run(
		"begin; update step set tokens_in = 100, at = now() - interval '1 day' where step_no = 2;"
		"update step set tokens_in = 130, at = now() where step_no = 4");
	assert_int_equal(database_int("select baseline from v_critic_input"), 115);
	assert_int_equal(database_int("select note_baselines()"), 0); /* too few */
	assert_int_equal(database_int("select first_mean * 1000 + later_mean from v_critic_input"),
			 100130);
	assert_int_equal(database_int("select last_day_mean from v_critic_input"), 130);
	assert_int_equal(database_int("select growth_permille from v_critic_input"), 1130);
	database_run(
		"insert into step (job_no, step_no, fact, call_no, worker_id, at, active_ms, role, tokens_in,"
		" cost_micro_usd, action, reply_sha, digest, hash, profile_sha) select j, i, 'replied', i, 1, now(), 0,"
		" 'critic', 200, 0, 'wait', '', '', '', '\\x01' from n, generate_series(10, 29) i");
	assert_int_equal(database_int("select note_baselines()"), 1);
	assert_int_equal(database_int("select note_baselines()"), 0); /* once */
	assert_int_equal(database_int("select n_call * 1000 + tokens_in from critic_baseline"),
			 20000 + (100 + 130 + 18 * 200) / 20 + 1);
	database_run(
		"delete from step where step_no < 10"); /* a month that goes takes nothing from it */
	assert_int_equal(database_int("select baseline from v_critic_input"), 192);
	assert_int_equal(database_int("select growth_permille from critic_input('b')"), 1042);
	assert_int_equal(database_int("select count(*) from critic_input('c')"), 0);
	database_run("rollback");
}

/* The same as tests/model/figures.py gives. */
static void test_the_interval_of_a_share_is_wilsons(void **state)
{
	assert_int_equal(database_int("select low * 10000 + high from share_interval(10, 10)"),
			 722 * 10000 + 1000);
	assert_int_equal(database_int("select low * 10000 + high from share_interval(9, 10)"),
			 596 * 10000 + 982);
	assert_int_equal(database_int("select low * 10000 + high from share_interval(50, 100)"),
			 404 * 10000 + 596);
	assert_int_equal(database_int("select low * 10000 + high from share_interval(0, 10)"), 278);
	assert_int_equal(database_int("select count(low) from share_interval(0, 0)"), 0);
}

static void test_two_calls_of_one_action_have_an_intent_each(void **state)
{
	database_run(
		"begin; insert into step select j, 9, 'resumed', '\\x01', null, 1, now(), 0, null, null, null, 2, null,"
		" null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, '',"
		" 'call critic 7, critic 8', '', '' from n");
	assert_int_equal(database_int("select call_no from v_intent where step_no = 9"), 8);
	database_run("rollback");
}

/* ---- invariants ---- */

/* The names of those that are broken, each once: "I3 I7 ". */
static const char *broken(struct pg *pg)
{
	static char text[1 << 15], out[200];
	struct err err = {""};
	FILE *f = fopen("sql/invariants.sql", "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof text - 1, f)] = '\0';
	fclose(f);
	out[0] = '\0';
	int n_query = 0;
	for (char *end, *at = text; (end = strchr(at, ';')); at = end + 1) {
		struct pg_rows *rows;
		*end = '\0';
		if (pg_query(pg, at, NULL, 0, &rows, &err) != ST_OK)
			fail_msg("%s: %s", at, err.text);
		for (int i = 0; i < pg_n(rows); i++) {
			char name[10];
			snprintf(name, sizeof name, "%.*s ", STR_ARG(pg_text(rows, i, 0)));
			if (!strstr(out, name))
				strcat(out, name);
		}
		pg_rows_free(rows);
		n_query++;
	}
	assert_true(n_query > 25);
	return out;
}

#define PAYLOAD                                                                                    \
	"update draftmill.job set payload = "                                                      \
	"'{\"specversion\":\"1.0\",\"data\":{\"sources\":[{\"id\":\"S1\"}]}}'; "

static void test_each_breach_is_found_by_its_invariant(void **state)
{
	static const struct {
		const char *breach, *invariant;
	} c[] = {
		{"select 1", ""},
		{"delete from draftmill.job", "I2 "},
		{"update draftmill.job_key set sha = ''", "I2 "},
		{"insert into draftmill.todo select j, 'run', 1 from draftmill.n", "I2 "},
		{"delete from draftmill.step where step_no = 0", "I3 I15 "},
		{"update draftmill.step set profile_sha = '\\x07' where step_no = 3", "I3 "},
		{"delete from draftmill.profile", "I3 "},
		{"insert into draftmill.critic_baseline values ('\\x07', 20, 900)", "I3 "},
		{"delete from draftmill.critique where step_no = 2; update draftmill.draft set n_failed = 0",
		 "I4 "},
		{"delete from draftmill.issue", "I4 "},
		{PAYLOAD "update draftmill.issue set source = 'S1'", ""},
		{PAYLOAD "update draftmill.issue set source = 'S1', miscited = 's1'", "I4 "},
		{PAYLOAD "update draftmill.issue set source = 'S2'", "I4 "},
		{"update draftmill.job set payload = '{}'; update draftmill.issue set source = 'S1'",
		 "I4 "},
		{"update draftmill.profile set body = replace(body, ':2', ':1')", "I4 "},
		{"update draftmill.step set worker_id = 2 where step_no = 3", "I5 "},
		{"update draftmill.worker set died_at = '2026-11-30 12:00:09Z'", "I5 "},
		{"update draftmill.step set cost_micro_usd = 11 where step_no = 1", "I6 "},
		{"delete from draftmill.todo", "I7 "},
		{"insert into draftmill.outbox_sent select j, 'outcome', 0, 0, now() from draftmill.n",
		 "I7 "},
		{"delete from draftmill.todo; delete from draftmill.outbox", "I7 "},
		{"update draftmill.draft set n_hard_failed = 1 where draft_no = 1", "I8 "},
		{"update draftmill.job set stakes = 'high'", "I8 "},
		{"update draftmill.critique set score = 79 where step_no = 4", "I8 "},
		{"update draftmill.critique set verdict = 'fail' where step_no = 4", "I8 "},
		{"update draftmill.critique set valid = false where step_no = 4", "I8 I9 "},
		{"update draftmill.step set fact = 'call_failed' where step_no = 2", "I9 "},
		{"grant update on draftmill.step to draftmill_worker", "I11 "},
		{"grant draftmill_owner to draftmill_reader", "I11 "},
		{"update draftmill.outcome set draft_no = 5", "I8 I14 "},
		{"update draftmill.step set intents = 0 where step_no = 1", "I15 "},
		{"update draftmill.step set action = 'call critic 9', intents = 1 where step_no = 2",
		 "I15 "},
		{"update draftmill.outcome set stop_reason = 'oneshot'", "I15 "},
	};
	struct pg *pg;
	struct err err;
	assert_int_equal(pg_connect(database_conninfo(), "test", &pg, &err), ST_OK);
	for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
		assert_int_equal(pg_script(pg, "begin", &err), ST_OK);
		if (pg_script(pg, c[i].breach, &err) != ST_OK)
			fail_msg("%s: %s", c[i].breach, err.text);
		const char *found = broken(pg);
		if (strcmp(found, c[i].invariant) != 0)
			fail_msg("%s: found %s, not %s", c[i].breach, found, c[i].invariant);
		assert_int_equal(pg_script(pg, "rollback", &err), ST_OK);
	}
	pg_free(pg);
}

/* ---- the queue, rebuilt ---- */

static void test_requeue_makes_the_rows_that_the_trail_asks_for(void **state)
{
	database_run(
		"begin; insert into job select j + 1, '', 'b', 0, null, null, null, null, null, null, 'p', '\\x01',"
		" null, 'low', null, '\\x00', 'c', 't', 0, 1, 1, now(), '', '' from n;"
		"insert into outbox select j, 'sent', gen_random_uuid(), 'r', '', '', '' from n;"
		"insert into outbox_sent select j, 'sent', 0, 0, now() from n;"
		"create temp table before as select job_no, what from todo"
		" union all select j + 1, 'run' from n;"
		"truncate todo");
	assert_int_equal(database_int("select requeue()"), 2);
	assert_int_equal(database_int("select count(*) from todo join before using (job_no, what)"
				      " where worker_id is null"),
			 2);
	assert_int_equal(database_int("select requeue()"), 0);
	database_run("rollback");
}

static void test_requeue_waits_for_the_end_of_all_workers(void **state)
{
	struct pg *pg;
	struct err err;
	assert_int_equal(pg_connect(database_conninfo(), "test", &pg, &err), ST_OK);
	assert_int_equal(
		pg_script(pg,
			  "insert into draftmill.worker_lease values (1, now() + interval '10 s')",
			  &err),
		ST_OK);
	assert_int_equal(pg_script(pg, "select draftmill.requeue()", &err), ST_INVALID);
	assert_non_null(strstr(err.text, "a worker is alive"));
	assert_int_equal(
		pg_script(pg, "update draftmill.worker_lease set lease_until = now()", &err),
		ST_OK);
	assert_int_equal(pg_script(pg, "select draftmill.requeue()", &err), ST_OK);
	pg_free(pg);
}

/* ---- roles ---- */

static void expect(const char *role, const char *sql, bool allowed)
{
	char text[300];
	struct pg *pg;
	struct err err = {""};
	assert_int_equal(pg_connect(database_conninfo(), "test", &pg, &err), ST_OK);
	snprintf(text, sizeof text, "set role draftmill_%s", role);
	assert_int_equal(pg_script(pg, text, &err), ST_OK);
	if ((pg_script(pg, sql, &err) == ST_OK) != allowed)
		fail_msg("%s: %s: %s", role, sql, allowed ? err.text : "was allowed");
	if (!allowed)
		assert_non_null(strstr(err.text, "(42501)"));
	pg_free(pg);
}

static void test_readers_see_all_but_the_salt_and_change_nothing(void **state)
{
	expect("reader", "select payload from draftmill.job", true);
	expect("reader", "select salt from draftmill.job", false);
	expect("reader", "insert into draftmill.todo values (1, 'run')", false);
	expect("reader", "select draftmill.requeue()", false);
	expect("worker", "select draftmill.requeue()", false);
	expect("worker", "update draftmill.worker set host = ''", false);
	expect("worker", "create table draftmill.x (i int)", false);
	expect("reviewer", "select salt from draftmill.job", false);
	expect("reviewer",
	       "insert into draftmill.decision select job_no, 0, gen_random_uuid(), 'r', 'approve' from draftmill.job",
	       true);
	expect("reviewer", "update draftmill.decision set verdict = 'reject'", false);
	database_run("delete from decision");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_views_count_what_was_written),
		cmocka_unit_test(test_arms_stand_side_by_side),
		cmocka_unit_test(test_the_interval_of_a_share_is_wilsons),
		cmocka_unit_test(test_what_the_critic_reads_is_told_against_its_first_calls),
		cmocka_unit_test(test_two_calls_of_one_action_have_an_intent_each),
		cmocka_unit_test(test_each_breach_is_found_by_its_invariant),
		cmocka_unit_test(test_requeue_makes_the_rows_that_the_trail_asks_for),
		cmocka_unit_test(test_requeue_waits_for_the_end_of_all_workers),
		cmocka_unit_test(test_readers_see_all_but_the_salt_and_change_nothing),
	};
	return cmocka_run_group_tests(tests, start, database_stop);
}
