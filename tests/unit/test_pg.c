/* tests/unit/test_pg.c - a connection to a real PostgreSQL: blocking, and as a pipeline on the loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/row.h"
#include "database.h"
#include "io/pg.h"
#include "io/pg_array.h"

/* ---- blocking ---- */

static void test_query_gives_text_null_numbers_and_bytes(void **state)
{
	struct pg *pg;
	struct pg_rows *rows;
	struct err err;
	struct arena *a = arena_new();
	const char *param[] = {"7", NULL};
	assert_int_equal(pg_connect(database_conninfo(), "test", &pg, &err), ST_OK);
	assert_int_equal(pg_query(pg,
				  "select $1::int, $2::text, 'x', '\\x00ff'::bytea, ''::bytea"
				  " union all select 1, '', 'y', null, null",
				  param, 2, &rows, &err),
			 ST_OK);
	assert_int_equal(pg_n(rows), 2);
	assert_int_equal(pg_int(rows, 0, 0), 7);
	assert_null(pg_text(rows, 0, 1).p);
	assert_true(pg_int(rows, 0, 1) == ROW_NULL);
	assert_non_null(pg_text(rows, 1, 1).p);
	assert_true(str_is(pg_text(rows, 1, 2), "y"));
	struct str bytes = pg_bytes(rows, a, 0, 3);
	assert_int_equal(bytes.n, 2);
	assert_memory_equal(bytes.p, "\0\377", 2);
	assert_int_equal(pg_bytes(rows, a, 0, 4).n, 0);
	assert_non_null(pg_bytes(rows, a, 0, 4).p);
	assert_null(pg_bytes(rows, a, 1, 3).p);
	pg_rows_free(rows);
	arena_free(a);
	pg_free(pg);
}

static void test_errors_of_a_query_are_told(void **state)
{
	struct pg *pg;
	struct err err;
	assert_int_equal(pg_connect("host=/nowhere", "test", &pg, &err), ST_DOWN);
	assert_null(pg);
	assert_int_equal(pg_connect("nonsense", "test", &pg, &err), ST_INVALID);
	assert_int_equal(pg_connect(database_conninfo(), "test", &pg, &err), ST_OK);
	assert_int_equal(pg_query(pg, "select * from nowhere.x", NULL, 0, NULL, &err), ST_INVALID);
	assert_non_null(strstr(err.text, "42P01"));
	assert_non_null(strstr(err.text, "draftmill migrate"));
	assert_int_equal(pg_script(pg, "select 1; selec", &err), ST_INVALID);
	assert_int_equal(pg_script(pg, "select pg_terminate_backend(pg_backend_pid())", &err),
			 ST_DOWN);
	pg_free(pg);
}

/* ---- on the loop ---- */

struct world {
	struct reactor *reactor;
	struct timer *limit;
	struct pg *pg;
	char story
		[400]; /* u(p) d(own) a(nswer)VALUE e(rror)SQLSTATE s(ynced) S(ynced with error)SQLSTATE */
	void (*on_up)(struct world *);
	int n_up, stop_after_ups, n_down, stop_after_downs, n_sync, stop_after_syncs;
};

static void tell(struct world *w, const char *what, const char *more)
{
	size_t n = strlen(w->story);
	snprintf(w->story + n, sizeof w->story - n, "%s%s ", what, more);
}

static void up(void *owner)
{
	struct world *w = owner;
	tell(w, "u", "");
	w->n_up++;
	if (w->on_up)
		w->on_up(w);
	if (w->n_up == w->stop_after_ups)
		reactor_stop(w->reactor);
}

static void down(void *owner, const char *why)
{
	struct world *w = owner;
	assert_true(strlen(why) > 0);
	tell(w, "d", "");
	if (++w->n_down == w->stop_after_downs)
		reactor_stop(w->reactor);
}

static void stop_loop(void *owner)
{
	reactor_stop(owner);
}

static void answer(void *owner, struct pg_rows *rows)
{
	char text[40] = "";
	if (pg_n(rows))
		snprintf(text, sizeof text, "%.*s", STR_ARG(pg_text(rows, 0, 0)));
	tell(owner, rows ? "a" : "e", text);
	pg_rows_free(rows);
}

static void synced(void *owner, const struct pg_error *error)
{
	struct world *w = owner;
	tell(w, error ? "S" : "s", error ? error->sqlstate : "");
	if (++w->n_sync == w->stop_after_syncs)
		reactor_stop(w->reactor);
}

static const struct pg_events events = {up, down, answer, synced};

static void too_long(void *owner)
{
	struct world *w = owner;
	fail_msg("nothing more happened after: %s", w->story);
}

static void run(struct world *w, const char *conninfo)
{
	w->reactor = reactor_new();
	w->limit = timer_new(w->reactor, too_long, w);
	timer_start(w->limit, 10000, 0);
	w->pg = pg_open(w->reactor, conninfo, "test_loop", &events, w);
	reactor_run(w->reactor);
	pg_free(w->pg);
	timer_close(w->limit);
	reactor_free(w->reactor);
}

static void send(struct world *w, const char *name, const char *sql)
{
	pg_send(w->pg, name, sql, NULL, 0);
}

static void two_batches(struct world *w)
{
	send(w, NULL, "select 1");
	send(w, "two", "select 2");
	pg_sync(w->pg);
	send(w, "two", "select 2");
	pg_sync(w->pg);
}

static void test_answers_come_in_order_and_names_are_prepared_once(void **state)
{
	struct world w = {.on_up = two_batches, .stop_after_syncs = 2};
	run(&w, database_conninfo());
	assert_string_equal(w.story, "u a1 a2 s a2 s ");
}

static void failing_batch(struct world *w)
{
	send(w, NULL, "create table kept_not (i int)");
	send(w, NULL, "select 1/0");
	send(w, "three", "select 3");
	pg_sync(w->pg);
	send(w, "three", "select 3");
	send(w, NULL, "select count(*) from pg_class where relname = 'kept_not'");
	pg_sync(w->pg);
}

static void test_an_error_ends_its_batch_alone_and_names_the_first(void **state)
{
	struct world w = {.on_up = failing_batch, .stop_after_syncs = 2};
	run(&w, database_conninfo());
	assert_string_equal(w.story, "u a e e S22012 a3 a0 s ");
}

static void prepare_again(struct world *w)
{
	send(w, NULL, "select 1/0");
	send(w, "three", "select 3");
	pg_sync(w->pg);
}

static void test_a_name_skipped_by_an_error_is_prepared_later(void **state)
{
	struct world w = {.on_up = prepare_again, .stop_after_syncs = 1};
	w.reactor = reactor_new();
	w.limit = timer_new(w.reactor, too_long, &w);
	timer_start(w.limit, 10000, 0);
	w.pg = pg_open(w.reactor, database_conninfo(), "test_loop", &events, &w);
	reactor_run(w.reactor);
	w.stop_after_syncs = 2;
	send(&w, "three", "select 3");
	pg_sync(w.pg);
	reactor_run(w.reactor);
	assert_string_equal(w.story, "u e e S22012 a3 s ");
	pg_free(w.pg);
	timer_close(w.limit);
	reactor_free(w.reactor);
}

static void die_once(struct world *w)
{
	if (w->n_up > 1)
		return;
	send(w, NULL, "select pg_terminate_backend(pg_backend_pid())");
	pg_sync(w->pg);
}

static void test_a_lost_connection_comes_back(void **state)
{
	struct world w = {.on_up = die_once, .stop_after_ups = 2};
	run(&w, database_conninfo());
	assert_true(strcmp(w.story, "u e d u ") == 0 || strcmp(w.story, "u d u ") == 0);
}

/* More than a socket holds, both ways: would stand still if either side waited for the other. */
static void much(struct world *w)
{
	struct buf text = BUF(64 << 20);
	for (int i = 0; i < 4 << 20; i++)
		buf_putc(&text, 'x');
	struct pg_param param = param_text(buf_view(&text));
	for (int i = 0; i < 4; i++)
		pg_send(w->pg, "echo", "select length($1::text), $1::text", &param, 1);
	pg_sync(w->pg);
	buf_release(&text);
}

/* Ended by the server while we send: libpq then closes the socket by itself, before the loop has told anybody. */
static void end_session(struct world *w)
{
	struct pg *other;
	struct err err;
	assert_int_equal(pg_connect(database_conninfo(), "test", &other, &err), ST_OK);
	assert_int_equal(pg_script(other,
				   "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
				   " where application_name = 'test_loop'",
				   &err),
			 ST_OK);
	pg_free(other);
	for (int i = 0; i < 10 && pg_is_up(w->pg); i++)
		pg_sync(w->pg);
	assert_false(pg_is_up(w->pg));
}

static void on_nothing(void *owner, int watched)
{
}

static void lose_socket_to_another(struct world *w)
{
	if (w->n_up > 1)
		return;
	end_session(w);
	int fd = eventfd(0, 0); /* gets the number that came free */
	struct watch *watch = watch_new(w->reactor, fd, on_nothing, NULL);
	watch_set(watch, WATCH_READ);
	watch_close(watch);
	close(fd);
}

static void test_the_number_of_a_lost_socket_is_free_at_once(void **state)
{
	struct world w = {.on_up = lose_socket_to_another, .stop_after_ups = 2};
	run(&w, database_conninfo());
	assert_string_equal(w.story, "u d u ");
}

static void lose_half_sent(struct world *w)
{
	if (w->n_up > 1)
		return;
	much(w);
	end_session(w);
}

static void test_a_socket_lost_with_unsent_bytes_is_watched_no_more(void **state)
{
	struct world w = {.on_up = lose_half_sent, .stop_after_ups = 2};
	run(&w, database_conninfo());
	assert_string_equal(w.story, "u d u ");
}

static void stop_soon(void *owner)
{
	struct world *w = owner;
	reactor_stop(w->reactor);
}

static void test_an_absent_server_is_tried_again_and_again(void **state)
{
	struct world w = {0};
	w.reactor = reactor_new();
	w.limit = timer_new(w.reactor, stop_soon, &w);
	timer_start(w.limit, 500, 0);
	w.pg = pg_open(w.reactor, "host=127.0.0.1 port=1", "test_loop", &events, &w);
	reactor_run(w.reactor);
	/* at 0, 100, 300 ms at the latest, and at 0, 50, 150, 350 at the earliest */
	assert_true(strlen(w.story) >= 3 * 2 && strlen(w.story) <= 5 * 2);
	assert_false(pg_is_up(w.pg));
	pg_send(w.pg, NULL, "select 1", NULL, 0); /* does nothing */
	pg_sync(w.pg);
	pg_free(w.pg);
	timer_close(w.limit);
	reactor_free(w.reactor);
}

static void test_large_batches_flow_both_ways(void **state)
{
	struct world w = {.on_up = much, .stop_after_syncs = 1};
	run(&w, database_conninfo());
	assert_string_equal(w.story, "u a4194304 a4194304 a4194304 a4194304 s ");
}

static void test_a_host_name_is_resolved(void **state)
{
	char conninfo[800];
	struct err err;
	struct pg *pg;
	struct pg_rows *rows;
	assert_int_equal(pg_connect(database_conninfo(), "test", &pg, &err), ST_OK);
	assert_int_equal(pg_query(pg, "select current_setting('port')", NULL, 0, &rows, &err),
			 ST_OK);
	snprintf(conninfo, sizeof conninfo, "%s host=localhost port=%.*s", database_conninfo(),
		 STR_ARG(pg_text(rows, 0, 0)));
	pg_rows_free(rows);
	pg_free(pg);
	struct world w = {.on_up = two_batches, .stop_after_syncs = 2};
	run(&w, conninfo);
	assert_string_equal(w.story, "u a1 a2 s a2 s ");
}

/* ---- what a session is given ---- */

static void look_at_settings(struct world *w)
{
	send(w, NULL, "select current_setting('plan_cache_mode')");
	send(w, NULL, "select current_setting('statement_timeout')");
	send(w, NULL, "select current_setting('lock_timeout')");
	pg_sync(w->pg);
}

static void test_a_session_has_our_settings_and_over_them_the_users(void **state)
{
	char conninfo[800];
	struct world w = {.on_up = look_at_settings, .stop_after_syncs = 1};
	snprintf(conninfo, sizeof conninfo, "%s options='-c statement_timeout=7s'",
		 database_conninfo());
	run(&w, conninfo);
	assert_string_equal(w.story, "u aforce_generic_plan a7s a5s s ");
	setenv("PGOPTIONS", "-c lock_timeout=9s", 1);
	w = (struct world){.on_up = look_at_settings, .stop_after_syncs = 1};
	run(&w, database_conninfo());
	unsetenv("PGOPTIONS");
	assert_string_equal(w.story, "u aforce_generic_plan a30s a9s s ");
}

/* The test's server wants no password: what counts here is that a command that fails is no connection. */
static void test_without_the_commands_password_there_is_no_connection(void **state)
{
	static const char *const fine[] = {"echo", "secret", NULL}, *const bad[] = {"false", NULL};
	struct pg *pg;
	struct err err;
	pg_password_command(bad);
	assert_int_equal(pg_connect(database_conninfo(), "test", &pg, &err), ST_DOWN);
	assert_string_equal(err.text, "database.password_command: "
				      "the command false ended with status 1");
	struct world w = {.stop_after_downs = 2};
	run(&w, database_conninfo());
	assert_string_equal(w.story, "d d ");
	pg_password_command(fine);
	w = (struct world){.on_up = two_batches, .stop_after_syncs = 2};
	run(&w, database_conninfo());
	assert_string_equal(w.story, "u a1 a2 s a2 s ");
	pg_password_command((const char *const[]){"sleep", "1000", NULL});
	struct reactor *reactor = reactor_new(); /* ended while it asks */
	pg = pg_open(reactor, database_conninfo(), "test", &events, &w);
	struct timer *timer = timer_new(reactor, stop_loop, reactor);
	timer_start(timer, 50, 0);
	reactor_run(reactor);
	pg_free(pg);
	timer_close(timer);
	reactor_free(reactor);
	pg_password_command(NULL);
}

static void test_secrets_of_a_conninfo(void **state)
{
	struct err err;
	assert_int_equal(pg_conninfo_check("host=x passfile=/x", false, &err), ST_OK);
	assert_int_equal(pg_conninfo_check("host=x password=y", true, &err), ST_OK);
	assert_int_equal(pg_conninfo_check("host=x password=y", false, &err), ST_INVALID);
	assert_int_equal(pg_conninfo_check("postgresql://u:y@x/db", false, &err), ST_INVALID);
	assert_int_equal(pg_conninfo_check("host=x sslpassword=y", false, &err), ST_INVALID);
	assert_non_null(strstr(err.text, "a sslpassword does not belong here"));
	assert_int_equal(pg_conninfo_check("host", true, &err), ST_INVALID);
}

/* ---- arrays ---- */

struct thing {
	int64_t big, small, time;
	bool yes;
	struct str text, bytes;
	uint8_t uuid[UUID_BYTES];
};

static const struct column big = {"big", COL_BIGINT, false, offsetof(struct thing, big)};
static const struct column small = {"small", COL_SMALLINT, false, offsetof(struct thing, small)};
static const struct column at = {"at", COL_TIME, false, offsetof(struct thing, time)};
static const struct column yes = {"yes", COL_BOOLEAN, false, offsetof(struct thing, yes)};
static const struct column text = {"text", COL_TEXT, false, offsetof(struct thing, text)};
static const struct column bytes = {"bytes", COL_BYTES, false, offsetof(struct thing, bytes)};
static const struct column uuid = {"uuid", COL_UUID, false, offsetof(struct thing, uuid)};

static const struct thing things[] = {
	{-5, 300, 0, true, STR("a\"\\ ,{}"), STR("\1\2"), {1, 2, 3}},
	{ROW_NULL, ROW_NULL, ROW_NULL, false, {NULL, 0}, {NULL, 0}, {0}},
};

static void send_array(struct world *w, const struct column *c, const char *sql)
{
	const void *row[] = {&things[0], &things[1]};
	struct buf array = BUF(1000);
	array_column(&array, c, row, 2);
	struct pg_param param = {0, buf_view(&array)};
	pg_send(w->pg, NULL, sql, &param, 1);
	buf_release(&array);
}

static void arrays(struct world *w)
{
	send_array(w, &big, "select $1::bigint[]");
	send_array(w, &small, "select $1::smallint[]");
	send_array(w, &at, "select ($1::timestamptz[])[1] = 'epoch'");
	send_array(w, &yes, "select $1::boolean[]");
	send_array(w, &text, "select $1::text[]");
	send_array(w, &bytes, "select $1::bytea[]");
	send_array(w, &uuid, "select ($1::uuid[])[1]");
	pg_sync(w->pg);
}

static void test_arrays_mean_what_their_rows_say(void **state)
{
	struct world w = {.on_up = arrays, .stop_after_syncs = 1};
	run(&w, database_conninfo());
	assert_string_equal(w.story, "u a{-5,NULL} a{300,NULL} at a{t,f} "
				     "a{\"a\\\"\\\\ ,{}\",NULL} a{\"\\\\x0102\",NULL} "
				     "a01020300-0000-0000-0000-000000000000 s ");
}

static const struct thing too_big = {.small = 32768};

static void overflow(struct world *w)
{
	const void *row[] = {&too_big};
	struct buf array = BUF(1000);
	array_column(&array, &small, row, 1);
	struct pg_param param = {0, buf_view(&array)};
	pg_send(w->pg, NULL, "select $1::smallint[]", &param, 1);
	pg_sync(w->pg);
	buf_release(&array);
}

static void test_an_integer_that_does_not_fit_is_refused_as_data(void **state)
{
	struct world w = {.on_up = overflow, .stop_after_syncs = 1};
	run(&w, database_conninfo());
	assert_string_equal(w.story, "u e S22P03 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_query_gives_text_null_numbers_and_bytes),
		cmocka_unit_test(test_errors_of_a_query_are_told),
		cmocka_unit_test(test_answers_come_in_order_and_names_are_prepared_once),
		cmocka_unit_test(test_an_error_ends_its_batch_alone_and_names_the_first),
		cmocka_unit_test(test_a_name_skipped_by_an_error_is_prepared_later),
		cmocka_unit_test(test_a_lost_connection_comes_back),
		cmocka_unit_test(test_the_number_of_a_lost_socket_is_free_at_once),
		cmocka_unit_test(test_a_socket_lost_with_unsent_bytes_is_watched_no_more),
		cmocka_unit_test(test_an_absent_server_is_tried_again_and_again),
		cmocka_unit_test(test_large_batches_flow_both_ways),
		cmocka_unit_test(test_a_session_has_our_settings_and_over_them_the_users),
		cmocka_unit_test(test_without_the_commands_password_there_is_no_connection),
		cmocka_unit_test(test_secrets_of_a_conninfo),
		cmocka_unit_test(test_a_host_name_is_resolved),
		cmocka_unit_test(test_arrays_mean_what_their_rows_say),
		cmocka_unit_test(test_an_integer_that_does_not_fit_is_refused_as_data),
	};
	return cmocka_run_group_tests(tests, database_start, database_stop);
}
