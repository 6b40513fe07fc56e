/* tests/unit/test_trail_trouble.c - the trail when PostgreSQL refuses a row, loses the connection or has fenced the worker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/log.h"
#include "database.h"
#include "relay.h"
#include "trail_world.h"

/* ---- refusals ---- */

static void test_a_row_at_fault_is_refused_alone(void **state)
{
	struct world w;
	struct job_rows job[5];
	open_world(&w, database_conninfo_worker());
	for (int i = 0; i < 5; i++)
		make_job(&job[i], &w, w.base + i, i, "payload");
	job[1].job.subject = (struct str){"a\0b", 3}; /* no NUL in a text */
	job[3].first.step.lost = 70000;		      /* no smallint */
	for (int i = 0; i < 5; i++)
		trail_intake(w.trail, &job[i].intake, stored, &slot[i]);
	trail_mark(w.trail, "c", STR_OF("jobs"), 3, 900);
	run(&w, 5);
	for (int i = 0; i < 5; i++)
		assert_int_equal(w.stored[i], i % 2 ? STORED_REFUSED : STORED);
	assert_string_equal(w.sqlstate[1], "22021");
	assert_string_equal(w.sqlstate[3], "22P03");
	assert_int_equal(count("job", &w), 3);
	assert_int_equal(count("todo", &w), 3);
	run(&w, 0); /* the mark was not lost */
	assert_int_equal(w.marked, 900);
	close_world(&w);
}

static void make_months(void *owner)
{
	database_run("select draftmill.ensure_months(8)");
}

/* Without its month no row goes in; that is no fault of the row. */
static void test_a_missing_month_stops_the_work_until_it_is_made(void **state)
{
	struct world w;
	struct job_rows job[1];
	open_world(&w, database_conninfo_worker());
	w.base = database_int("select draftmill.job_no_at(now() + interval '6 months')");
	w.tick = timer_new(w.reactor, make_months, &w);
	timer_start(w.tick, 150, 0);
	take_in(&w, job, 1);
	assert_int_equal(w.stored[0], STORED);
	assert_int_equal(count("job", &w), 1);
	close_world(&w);
}

/* ---- the fence ---- */

static void expect_fenced(const char *sql_end)
{
	struct world w;
	struct job_rows job[1];
	char sql[200];
	open_world(&w, database_conninfo_worker());
	snprintf(sql, sizeof sql, "update draftmill.worker set %s where worker_id = %lld", sql_end,
		 (long long)w.worker_id);
	database_run(sql);
	take_in(&w, job, 1);
	assert_true(w.fenced);
	assert_int_equal(w.n_done, 0);
	assert_false(trail_is_up(w.trail));
	assert_int_equal(count("job", &w), 0);
	close_world(&w);
}

static void test_a_dead_worker_stores_nothing(void **state)
{
	expect_fenced("died_at = now()");
}

static void test_a_worker_of_another_timeline_stores_nothing(void **state)
{
	expect_fenced("timeline = 'FFFFFFFF'");
}

/* ---- lost connections ---- */

static void cut(void *owner)
{
	struct world *w = owner;
	char sql[200];
	snprintf(sql, sizeof sql,
		 "select pg_terminate_backend(pid) from pg_stat_activity"
		 " where application_name = 'draftmill-trail/%lld'",
		 (long long)w->worker_id);
	database_run(sql);
}

/* The cut meets the batch at another point each time: before, while and after it is worked on. */
static void test_a_cut_connection_stores_each_write_once(void **state)
{
	enum { JOBS = 40, CUTS = 20 };
	struct world w;
	static struct job_rows job[JOBS];
	static struct ending_rows end[JOBS];
	int n_cut = 0;
	open_world(&w, database_conninfo_worker());
	w.tick = timer_new(w.reactor, cut, &w);
	take_in(&w, job, JOBS);
	for (; n_cut < CUTS; n_cut++) {
		w.n_done = 0;
		for (int i = 0; i < JOBS; i++) {
			make_step(&end[i].step, &w, w.base + i, n_cut + 1);
			trail_step(w.trail, &end[i].step, stored, &slot[i]);
		}
		timer_start(w.tick, n_cut / 4, 0);
		run(&w, JOBS);
		for (int i = 0; i < JOBS; i++)
			assert_int_equal(w.stored[i], STORED);
	}
	assert_int_equal(count("step", &w), JOBS * (1 + CUTS));
	close_world(&w);
}

/* The server commits, and its answer is lost on the way: the worst case. */
static void test_a_lost_answer_stores_each_write_once(void **state)
{
	struct world w;
	struct job_rows job[2];
	struct ending_rows end[2];
	struct relay *relay = relay_start(database_conninfo_worker());
	open_world(&w, relay_conninfo(relay));
	relay_lose_answers(relay, 1);
	take_in(&w, job, 2);
	assert_int_equal(w.stored[0], STORED);
	assert_int_equal(w.stored[1], STORED);
	for (int i = 0; i < 2; i++) {
		make_ending(&end[i], &w, w.base + i, 1);
		trail_step(w.trail, &end[i].step, stored, &slot[2 + i]);
	}
	relay_lose_answers(relay, 2);
	run(&w, 4);
	assert_int_equal(relay_n_lost(relay), 3);
	assert_int_equal(w.stored[2], STORED);
	assert_int_equal(w.stored[3], STORED);
	assert_int_equal(count("job", &w), 2);
	assert_int_equal(count("step", &w), 4);
	assert_int_equal(count("outcome", &w), 2);
	assert_int_equal(count("todo", &w), 4);
	close_world(&w);
	relay_stop(relay);
}

static void test_a_step_stored_otherwise_fences(void **state)
{
	struct world w;
	struct job_rows job[1];
	struct step_rows step;
	char sql[400];
	struct relay *relay = relay_start(database_conninfo_worker());
	open_world(&w, relay_conninfo(relay));
	take_in(&w, job, 1);
	make_step(&step, &w, w.base, 1);
	trail_step(w.trail, &step, stored, &slot[1]);
	relay_lose_answers(relay, 1);
	snprintf(sql, sizeof sql,
		 "create or replace function draftmill.spoil() returns trigger language plpgsql as"
		 " 'begin new.hash := ''\\x00''; return new; end';"
		 "create trigger spoil before insert on draftmill.step for each row"
		 " when (new.job_no = %lld) execute function draftmill.spoil();"
		 "grant execute on function draftmill.spoil() to draftmill_worker",
		 (long long)w.base);
	database_run(sql);
	run(&w, 2);
	database_run("drop trigger spoil on draftmill.step; drop function draftmill.spoil()");
	assert_true(w.fenced);
	assert_int_equal(w.n_done, 1);
	close_world(&w);
	relay_stop(relay);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_row_at_fault_is_refused_alone),
		cmocka_unit_test(test_a_missing_month_stops_the_work_until_it_is_made),
		cmocka_unit_test(test_a_dead_worker_stores_nothing),
		cmocka_unit_test(test_a_worker_of_another_timeline_stores_nothing),
		cmocka_unit_test(test_a_cut_connection_stores_each_write_once),
		cmocka_unit_test(test_a_lost_answer_stores_each_write_once),
		cmocka_unit_test(test_a_step_stored_otherwise_fences),
	};
	log_set_level(LOG_ERROR);
	return cmocka_run_group_tests(tests, database_start, database_stop);
}
