/* tests/unit/test_trail.c - what the trail stores, in a real PostgreSQL, as the worker's role. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/log.h"
#include "database.h"
#include "io/pg.h"
#include "trail_world.h"

/* ---- intake ---- */

static void test_one_batch_tells_new_duplicate_and_conflict(void **state)
{
	struct world w;
	struct job_rows job[5];
	open_world(&w, database_conninfo_worker());
	for (int i = 0; i < 3; i++)
		make_job(&job[i], &w, w.base + i, i, "payload");
	make_job(&job[3], &w, w.base + 3, 1, "payload");
	make_job(&job[4], &w, w.base + 4, 2, "another payload");
	for (int i = 0; i < 5; i++)
		trail_intake(w.trail, &job[i].intake, stored, &slot[i]);
	assert_int_equal(w.n_done, 0); /* never inside the call that queued it */
	run(&w, 5);
	for (int i = 0; i < 3; i++)
		assert_int_equal(w.stored[i], STORED);
	assert_int_equal(w.stored[3], STORED_DUPLICATE);
	assert_int_equal(w.why[3].first_job_no, w.base + 1);
	assert_int_equal(w.stored[4], STORED_CONFLICT);
	assert_int_equal(w.why[4].first_job_no, w.base + 2);
	assert_memory_equal(w.why[4].first_sha, job[2].job.payload_sha, SHA_BYTES);
	assert_int_equal(count("job", &w), 3);
	assert_int_equal(count("step", &w), 3);
	assert_int_equal(count_todo(&w, "run"), 3);
	assert_int_equal(database_int("select count(*) from draftmill.profile where name = 'email'"
				      " and body = '{\"a\":1}'"),
			 1);
	assert_true(trail_is_idle(w.trail));
	close_world(&w);
}

static void test_a_first_step_may_end_the_job(void **state)
{
	struct world w;
	struct job_rows job[2];
	struct ending_rows end[2];
	open_world(&w, database_conninfo_worker());
	for (int i = 0; i < 2; i++) { /* the second is a duplicate */
		make_job(&job[i], &w, w.base + i, 0, "payload");
		make_ending(&end[i], &w, w.base + i, 0);
		job[i].first.outcome = &end[i].outcome;
		job[i].first.event = end[i].event;
		job[i].first.n_event = 1;
		trail_intake(w.trail, &job[i].intake, stored, &slot[i]);
	}
	run(&w, 2);
	assert_int_equal(w.stored[1], STORED_DUPLICATE);
	assert_int_equal(count("outcome", &w), 1);
	assert_int_equal(count("outbox", &w), 1);
	assert_int_equal(count_todo(&w, "run"), 0);
	assert_int_equal(count_todo(&w, "outcome"), 1);
	close_world(&w);
}

/* Two workers get the same 60 messages at the same time, in opposite order. */
static void test_two_racing_workers_share_the_jobs_out(void **state)
{
	enum { N = 60 };
	struct world w;
	static struct job_rows job[2 * N];
	open_world(&w, database_conninfo_worker());
	struct trail *other = trail_open(w.reactor, database_conninfo_worker(), &world_events, &w);
	trail_start(other, new_worker());
	for (int i = 0; i < N; i++) {
		make_job(&job[i], &w, w.base + i, i, "payload");
		make_job(&job[N + i], &w, w.base + N + i, N - 1 - i, "payload");
		trail_intake(w.trail, &job[i].intake, stored, &slot[i]);
		trail_intake(other, &job[N + i].intake, stored, &slot[N + i]);
	}
	run(&w, 2 * N);
	for (int i = 0; i < N; i++)
		assert_int_equal(w.stored[i] + w.stored[2 * N - 1 - i], STORED + STORED_DUPLICATE);
	assert_int_equal(count("job", &w), N);
	assert_int_equal(count("step", &w), N);
	assert_int_equal(count("todo", &w), N);
	trail_free(other);
	close_world(&w);
}

/* ---- steps and events ---- */

static void test_a_job_goes_from_intake_to_sent(void **state)
{
	struct world w;
	struct job_rows job[1];
	struct ending_rows end;
	struct attempt_row attempt;
	open_world(&w, database_conninfo_worker());
	take_in(&w, job, 1);
	attempt = (struct attempt_row){.job_no = w.base,
				       .attempt_no = 1,
				       .worker_id = w.worker_id,
				       .at_ms = 1796000000200,
				       .why = STR_OF("rate_limited"),
				       .http_status = 429,
				       .latency_ms = 12};
	trail_attempt(w.trail, &attempt, stored, &slot[1]);
	run(&w, 2);
	make_ending(&end, &w, w.base, 1);
	trail_step(w.trail, &end.step, stored, &slot[2]);
	run(&w, 3);
	assert_int_equal(w.stored[2], STORED);
	const char *one_row_each[] = {"step where step_no = 1 and", "attempt where", "draft where",
				      "critique where", "outcome where"};
	for (int i = 0; i < 5; i++) {
		char sql[200];
		snprintf(sql, sizeof sql, "select count(*) from draftmill.%s job_no = %lld",
			 one_row_each[i], (long long)w.base);
		assert_int_equal(database_int(sql), 1);
	}
	assert_int_equal(count("issue", &w), 2);
	assert_int_equal(count("outbox", &w), 2);
	assert_int_equal(count_todo(&w, "run"), 0);
	assert_int_equal(count_todo(&w, "outcome"), 1);
	assert_int_equal(count_todo(&w, "opened"), 1);
	char kind[] = "outcome";
	struct sent_row sent = {w.base, str_c(kind), 1, 17, 1796000001000};
	trail_sent(w.trail, &sent);
	kind[0] = 'x'; /* it was copied */
	assert_false(trail_is_idle(w.trail));
	trail_mark(w.trail, "c", STR_OF("jobs"), 3, 50);
	run(&w, 0); /* stops at the mark's event */
	assert_int_equal(w.marked, 50);
	assert_int_equal(count("outbox_sent", &w), 1);
	assert_int_equal(count_todo(&w, "outcome"), 0);
	assert_int_equal(count_todo(&w, "opened"), 1);
	close_world(&w);
}

static void test_values_come_back_as_they_were(void **state)
{
	struct world w;
	struct job_rows job[1];
	open_world(&w, database_conninfo_worker());
	take_in(&w, job, 1);
	char sql[500];
	snprintf(
		sql, sizeof sql,
		"select count(*) from draftmill.job j join draftmill.step s using (job_no)"
		" where job_no = %lld and j.at = '2026-11-30 00:53:20.123Z' and j.not_after is null"
		" and j.batch is null and j.source = '' and j.salt = decode(repeat('00', 16), 'hex')"
		" and j.payload = 'payload' and s.call_no is null and s.whole"
		" and s.reply = '\\x7b227265706c79223a00317d' and get_byte(s.hash, 1) = 1",
		(long long)w.base);
	assert_int_equal(database_int(sql), 1);
	close_world(&w);
}

static void test_of_two_marks_the_database_keeps_the_higher(void **state)
{
	struct world w;
	open_world(&w, database_conninfo_worker());
	database_run("insert into draftmill.intake_mark values ('m', 'jobs', 3, 100)");
	trail_mark(w.trail, "m", STR_OF("jobs"), 3, 90); /* another worker was further */
	run(&w, 0);
	assert_int_equal(database_int("select next_offset from draftmill.intake_mark"
				      " where cluster = 'm'"),
			 100);
	trail_mark(w.trail, "m", STR_OF("jobs"), 3, 110);
	trail_mark(w.trail, "m", STR_OF("jobs"), 3, 120);
	run(&w, 0);
	assert_int_equal(w.marked, 120);
	assert_int_equal(database_int("select next_offset from draftmill.intake_mark"
				      " where cluster = 'm'"),
			 120);
	database_run("update draftmill.intake_mark set next_offset = 0 where cluster = 'm'");
	trail_mark(w.trail, "m", STR_OF("jobs"), 3, 120); /* the same is told again */
	run(&w, 0);
	assert_int_equal(database_int("select next_offset from draftmill.intake_mark"
				      " where cluster = 'm'"),
			 120);
	close_world(&w);
}

/* ---- dead letters ---- */

static void test_the_same_record_makes_one_dead_letter(void **state)
{
	struct world w;
	struct dead_letter_row letter[3];
	struct outbox_row event[3];
	open_world(&w, database_conninfo_worker());
	for (int i = 0; i < 3; i++) {
		letter[i] = (struct dead_letter_row){.letter_no = w.base + i,
						     .cluster = STR_OF("c"),
						     .topic = STR_OF("jobs"),
						     .offset = w.base,
						     .reason = STR_OF("not_json"),
						     .value = STR_OF("{\0"),
						     .revision = ROW_NULL,
						     .first_job_no = ROW_NULL,
						     .worker_id = w.worker_id,
						     .at_ms = 1796000000000};
		event[i] = event_row(w.base + i, "dead_letter");
	}
	trail_dead_letter(w.trail, &letter[0], &event[0], stored, &slot[0]);
	trail_dead_letter(w.trail, &letter[1], &event[1], stored, &slot[1]);
	run(&w, 2);
	trail_dead_letter(w.trail, &letter[2], &event[2], stored, &slot[2]);
	run(&w, 3);
	assert_int_equal(w.stored[0] + w.stored[1], STORED + STORED_DUPLICATE);
	assert_int_equal(w.stored[2], STORED_DUPLICATE);
	assert_int_equal(count("outbox", &w), 1);
	assert_int_equal(count_todo(&w, "dead_letter"), 1);
	close_world(&w);
}

/* Kafka sets no limit to a key of its own: 20 of 1 MiB, each in the letter and in its event, are more than a batch holds. */
static void test_large_keys_do_not_make_a_large_batch(void **state)
{
	enum { LETTERS = 20, KEY_BYTES = 1 << 20 };
	struct world w;
	struct dead_letter_row letter[LETTERS];
	struct outbox_row event[LETTERS];
	char *key = calloc(1, KEY_BYTES);
	open_world(&w, database_conninfo_worker());
	for (int i = 0; i < LETTERS; i++) {
		letter[i] = (struct dead_letter_row){.letter_no = w.base + i,
						     .cluster = STR_OF("c"),
						     .topic = STR_OF("large"),
						     .offset = w.base + i,
						     .reason = STR_OF("null"),
						     .key = {key, KEY_BYTES},
						     .revision = ROW_NULL,
						     .first_job_no = ROW_NULL,
						     .worker_id = w.worker_id,
						     .at_ms = 1796000000000};
		event[i] = event_row(w.base + i, "dead_letter");
		event[i].key = letter[i].key;
		trail_dead_letter(w.trail, &letter[i], &event[i], stored, &slot[i]);
	}
	run(&w, LETTERS);
	assert_int_equal(database_int("select count(distinct xmin::text) from draftmill.dead_letter"
				      " where topic = 'large'"),
			 3);
	close_world(&w);
	free(key);
}

/* ---- what the role may not do ---- */

static void test_the_worker_role_cannot_change_the_trail(void **state)
{
	static const char *const table[] = {
		"job_key", "profile", "job",	"step",	       "attempt",  "draft",	 "critique",
		"issue",   "outcome", "outbox", "outbox_sent", "decision", "dead_letter"};
	static const char *const verb[] = {"update draftmill.%s set %s = %s",
					   "delete from draftmill.%s", "truncate draftmill.%s"};
	struct pg *pg;
	struct err err;
	assert_int_equal(pg_connect(database_conninfo_worker(), "test", &pg, &err), ST_OK);
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		const char *column = i == 1 ? "name" : i == 12 ? "letter_no" : "job_no";
		for (int v = 0; v < 3; v++) {
			char sql[200];
			snprintf(sql, sizeof sql, verb[v], table[i], column, column);
			assert_int_equal(pg_script(pg, sql, &err), ST_INVALID);
			if (!strstr(err.text, "(42501)"))
				fail_msg("%s: %s", sql, err.text);
		}
	}
	pg_free(pg);
}

/* ---- without a database ---- */

static void test_without_a_conninfo_all_is_acknowledged_and_nothing_kept(void **state)
{
	struct world w;
	struct job_rows job[3];
	open_world(&w, NULL);
	assert_true(trail_is_up(w.trail));
	take_in(&w, job, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(w.stored[i], STORED);
	trail_sent(w.trail, &(struct sent_row){.job_no = 1, .kind = STR_OF("outcome")});
	trail_mark(w.trail, "c", STR_OF("jobs"), 3, 5);
	run(&w, 0);
	assert_int_equal(w.marked, 5);
	assert_true(trail_is_idle(w.trail));
	assert_int_equal(count("job", &w), 0);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_batch_tells_new_duplicate_and_conflict),
		cmocka_unit_test(test_a_first_step_may_end_the_job),
		cmocka_unit_test(test_two_racing_workers_share_the_jobs_out),
		cmocka_unit_test(test_a_job_goes_from_intake_to_sent),
		cmocka_unit_test(test_values_come_back_as_they_were),
		cmocka_unit_test(test_of_two_marks_the_database_keeps_the_higher),
		cmocka_unit_test(test_the_same_record_makes_one_dead_letter),
		cmocka_unit_test(test_large_keys_do_not_make_a_large_batch),
		cmocka_unit_test(test_the_worker_role_cannot_change_the_trail),
		cmocka_unit_test(test_without_a_conninfo_all_is_acknowledged_and_nothing_kept),
	};
	log_set_level(LOG_ERROR);
	return cmocka_run_group_tests(tests, database_start, database_stop);
}
