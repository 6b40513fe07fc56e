/* tests/unit/test_fleet.c - how a worker lives and ends, in a real PostgreSQL, as the worker's role. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/log.h"
#include "database.h"
#include "fleet_world.h"
#include "relay.h"

/* ---- life ---- */

static bool two_alive(struct world *w)
{
	return fleet_n_alive(w->worker[0].fleet) == 2 && fleet_n_alive(w->worker[1].fleet) == 2;
}

static void test_workers_register_and_see_each_other(void **state)
{
	struct world *w = *state;
	open_worker(w, 0, database_conninfo_worker());
	assert_int_equal(fleet_worker_id(w->worker[0].fleet), 0);
	assert_int_equal(fleet_n_alive(w->worker[0].fleet), 1);
	assert_false(fleet_may_act(w->worker[0].fleet));
	assert_false(fleet_has_next_month(w->worker[0].fleet, clock_unix_ms()));
	open_worker(w, 1, database_conninfo_worker());
	assert_true(happens(w, both_ready, 5000));
	int64_t id = w->worker[0].worker_id;
	assert_true(id != w->worker[1].worker_id);
	assert_int_equal(fleet_worker_id(w->worker[0].fleet), id);
	assert_true(fleet_may_act(w->worker[0].fleet));
	assert_true(fleet_has_next_month(w->worker[0].fleet, clock_unix_ms()));
	/* Two months are made ahead; in 62 days or more it is the second of them at least. */
	assert_false(
		fleet_has_next_month(w->worker[0].fleet, clock_unix_ms() + 62 * INT64_C(86400000)));
	int64_t left_ms = fleet_lease_until_mono_ms(w->worker[0].fleet) - clock_mono_ms();
	assert_true(left_ms > 0 && left_ms <= LEASE_MS);
	assert_int_equal(sql_int("select count(*) from draftmill.worker where worker_id = %lld and"
				 " host = 'host-a' and version = '1.2.3' and pid = %d"
				 " and died_at is null",
				 (long long)id, (int)getpid()),
			 1);
	assert_true(happens(w, two_alive, 2000));
	/* Much longer than a lease. */
	assert_false(happens(w, never, 2 * LEASE_MS));
	assert_true(two_alive(w) && fleet_may_act(w->worker[0].fleet));
	assert_int_equal(w->worker[0].n_ready, 1);
	assert_int_equal(sql_int("select count(*) from pg_stat_activity where application_name"
				 " = 'draftmill-control/%lld'",
				 (long long)id),
			 1);
}

static bool has_numbers(struct world *w)
{
	return fleet_n_numbers(w->worker[0].fleet) >= w->n;
}

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static void test_numbers_rise_and_never_repeat(void **state)
{
	enum { MANY = 30000 };
	static int64_t number[2 * MANY];
	struct world *w = *state;
	int n = 0;
	start(w, 2);
	assert_int_equal(fleet_n_numbers(w->worker[0].fleet), 8192);
	for (int round = 0; n < MANY; round++) {
		for (int i = 0; i < 2; i++) {
			int64_t last = 0, next;
			while ((next = fleet_number(w->worker[i].fleet))) {
				assert_true(next > last);
				number[n++] = last = next;
			}
		}
		assert_int_equal(fleet_n_numbers(w->worker[0].fleet), 0);
		w->n = 8192;
		assert_true(happens(w, has_numbers, 2000));
	}
	qsort(number, (size_t)n, sizeof *number, by_value);
	for (int i = 1; i < n; i++)
		assert_true(number[i - 1] < number[i]);
}

static bool is_fenced(struct world *w)
{
	return w->worker[0].n_fenced;
}

static void test_a_worker_marked_dead_is_fenced(void **state)
{
	struct world *w = *state;
	start(w, 1);
	sql_int("update draftmill.worker set died_at = now(), died_of = 'test' where worker_id = %lld"
		" returning 1",
		(long long)w->worker[0].worker_id);
	assert_true(happens(w, is_fenced, 2000));
	assert_false(fleet_may_act(w->worker[0].fleet));
	fleet_adopt(w->worker[0].fleet, 1);
	assert_false(happens(w, never, LEASE_MS));
	assert_int_equal(w->worker[0].n_fenced, 1);
}

static void test_another_timeline_fences(void **state)
{
	struct world *w = *state;
	start(w, 1);
	database_run("alter function draftmill.timeline() rename to timeline_kept;"
		     "create function draftmill.timeline() returns text language sql as"
		     " $$ select '0000000F' $$;"
		     "grant execute on function draftmill.timeline() to draftmill_worker");
	bool fenced = happens(w, is_fenced, 2000);
	database_run("drop function draftmill.timeline();"
		     "alter function draftmill.timeline_kept() rename to timeline");
	assert_true(fenced);
	assert_false(fleet_may_act(w->worker[0].fleet));
}

static bool may_not_act(struct world *w)
{
	return !fleet_may_act(w->worker[0].fleet);
}

static bool may_act(struct world *w)
{
	return fleet_may_act(w->worker[0].fleet);
}

static bool other_is_dead(struct world *w)
{
	return is_dead(w->n);
}

static void test_without_a_database_the_lease_runs_out_and_comes_back(void **state)
{
	struct world *w = *state;
	start(w, 1);
	database_run("alter role draftmill_worker connection limit 0");
	cut_connections();
	bool ran_out = happens(w, may_not_act, 3 * LEASE_MS);
	int64_t fellow = other_worker(true);
	struct strike message = {STR("jobs"), 1, 7};
	fleet_strike(w->worker[0].fleet, &message, "crash", on_done, &w->worker[0]);
	database_run("alter role draftmill_worker connection limit -1");
	assert_true(ran_out);
	w->n = 1;
	assert_true(happens(w, is_done, 8000));
	assert_true(happens(w, may_act, 2000));
	assert_int_equal(w->worker[0].n_ready, 1);
	assert_int_equal(w->worker[0].n_fenced, 0);
	assert_true(fleet_number(w->worker[0].fleet) > 0);
	assert_false(happens(w, never, LEASE_MS / 2));
	assert_int_equal(is_dead(fellow),
			 0); /* whom the same outage hit; a lease later it is dead */
	w->n = fellow;
	assert_true(happens(w, other_is_dead, 3000));
}

static void test_a_lost_answer_to_the_registration_is_made_good(void **state)
{
	struct world *w = *state;
	int64_t before = database_int("select count(*) from draftmill.worker");
	struct relay *relay = relay_start(database_conninfo_worker());
	relay_lose_answers(relay, 1);
	open_worker(w, 0, relay_conninfo(relay));
	assert_true(happens(w, first_ready, 5000));
	assert_int_equal(relay_n_lost(relay), 1);
	assert_int_equal(database_int("select count(*) from draftmill.worker") - before, 2);
	fleet_free(w->worker[0].fleet);
	w->worker[0].fleet = NULL;
	relay_stop(relay);
}

/* ---- death ---- */

static bool first_has_orphans(struct world *w)
{
	return fleet_n_orphans(w->worker[0].fleet) == w->n;
}

static void test_an_expired_worker_is_ended_and_its_rows_are_orphans(void **state)
{
	struct world *w = *state;
	int64_t dead = other_worker(true), alive = other_worker(false);
	int64_t job_no = plain_job(dead, 0);
	plain_job(alive, 1);
	start(w, 1);
	w->n = 1;
	assert_true(happens(w, first_has_orphans, 3000));
	assert_int_equal(is_dead(dead), 1);
	assert_int_equal(is_dead(alive), 0);
	assert_int_equal(n_owned(alive), 1);
	assert_int_equal(
		sql_int("select count(*) from draftmill.worker_lease where worker_id = %lld",
			(long long)dead),
		0);
	assert_int_equal(w->worker[0].n_job, 0);
	fleet_adopt(w->worker[0].fleet, 10);
	assert_false(happens(w, never, 300));
	assert_int_equal(w->worker[0].n_job, 1);
	assert_int_equal(w->worker[0].job_no[0], job_no);
	assert_int_equal(fleet_n_orphans(w->worker[0].fleet), 0);
}

/* A connection of @worker_id that has stopped in the middle of a commit. */
static struct pg *hold_fence(int64_t worker_id, const char *application_name)
{
	struct pg *pg;
	struct err err;
	char sql[100];
	assert_int_equal(pg_connect(database_conninfo_worker(), application_name, &pg, &err),
			 ST_OK);
	snprintf(sql, sizeof sql, "begin; select draftmill.fence(%lld)", (long long)worker_id);
	assert_int_equal(pg_script(pg, sql, &err), ST_OK);
	return pg;
}

static void test_connections_of_an_expired_worker_are_terminated(void **state)
{
	struct world *w = *state;
	char name[64];
	struct err err;
	w->n = other_worker(true);
	snprintf(name, sizeof name, "draftmill-trail/%lld", (long long)w->n);
	struct pg *stopped = hold_fence(w->n, name);
	start(w, 1);
	assert_true(happens(w, other_is_dead, 2000));
	assert_int_equal(pg_script(stopped, "commit", &err), ST_DOWN);
	pg_free(stopped);
}

static void test_a_commit_under_way_holds_up_its_own_death_only(void **state)
{
	struct world *w = *state;
	struct err err;
	w->n = other_worker(true);
	struct pg *busy = hold_fence(w->n, "by another name");
	start(w, 1);
	assert_false(happens(w, other_is_dead, 2 * LEASE_MS));
	assert_true(fleet_may_act(w->worker[0].fleet));
	assert_int_equal(pg_script(busy, "commit", &err), ST_OK);
	pg_free(busy);
	assert_true(happens(w, other_is_dead, 2000));
}

static void test_leaving_orphans_what_is_left(void **state)
{
	struct world *w = *state;
	start(w, 1);
	int64_t id = w->worker[0].worker_id;
	plain_job(id, 0);
	fleet_leave(w->worker[0].fleet, on_done, &w->worker[0]);
	assert_false(fleet_may_act(w->worker[0].fleet));
	assert_int_equal(w->worker[0].n_done, 0);
	w->n = 1;
	assert_true(happens(w, is_done, 1000));
	assert_int_equal(sql_int("select count(*) from draftmill.worker where worker_id = %lld"
				 " and died_of = 'stopped'",
				 (long long)id),
			 1);
	assert_int_equal(
		database_int("select count(*) from draftmill.todo where worker_id is null"), 1);
	assert_int_equal(database_int("select count(*) from draftmill.worker_lease"), 0);
	assert_false(happens(w, never, LEASE_MS));
	assert_int_equal(w->worker[0].n_done, 1);
	assert_int_equal(w->worker[0].n_fenced, 0);
}

static void test_leaving_without_a_database_takes_two_seconds(void **state)
{
	struct world *w = *state;
	start(w, 1);
	database_run("alter role draftmill_worker connection limit 0");
	cut_connections();
	fleet_leave(w->worker[0].fleet, on_done, &w->worker[0]);
	int64_t began_ms = clock_mono_ms();
	w->n = 1;
	bool done = happens(w, is_done, 4000);
	int64_t took_ms = clock_mono_ms() - began_ms;
	database_run("alter role draftmill_worker connection limit -1");
	assert_true(done);
	assert_true(took_ms >= 1900 && took_ms < 2600);
}

static void test_leaving_before_it_has_registered_is_quick(void **state)
{
	struct world *w = *state;
	open_worker(w, 0, "host=/nowhere");
	fleet_leave(w->worker[0].fleet, on_done, &w->worker[0]);
	w->n = 1;
	assert_true(happens(w, is_done, 500));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLEET_TEST(test_workers_register_and_see_each_other),
		FLEET_TEST(test_numbers_rise_and_never_repeat),
		FLEET_TEST(test_a_worker_marked_dead_is_fenced),
		FLEET_TEST(test_another_timeline_fences),
		FLEET_TEST(test_without_a_database_the_lease_runs_out_and_comes_back),
		FLEET_TEST(test_a_lost_answer_to_the_registration_is_made_good),
		FLEET_TEST(test_an_expired_worker_is_ended_and_its_rows_are_orphans),
		FLEET_TEST(test_connections_of_an_expired_worker_are_terminated),
		FLEET_TEST(test_a_commit_under_way_holds_up_its_own_death_only),
		FLEET_TEST(test_leaving_orphans_what_is_left),
		FLEET_TEST(test_leaving_without_a_database_takes_two_seconds),
		FLEET_TEST(test_leaving_before_it_has_registered_is_quick),
	};
	log_set_level(LOG_ERROR);
	return cmocka_run_group_tests(tests, database_start, database_stop);
}
