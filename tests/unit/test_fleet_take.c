/* tests/unit/test_fleet_take.c - what a worker reads back from a real PostgreSQL: orphans, lost rows, strikes, marks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/log.h"
#include "database.h"
#include "fleet_world.h"
#include "relay.h"

/* ---- strikes, marks, drain ---- */

static bool strikes_are(struct world *w)
{
	return fleet_strikes(w->worker[0].fleet, STR_OF("jobs"), 1, 7) == w->n;
}

static void strike(struct world *w, const struct strike *what, const char *incident)
{
	w->n = w->worker[0].n_done + 1;
	fleet_strike(w->worker[0].fleet, what, incident, on_done, &w->worker[0]);
	assert_true(happens(w, is_done, 2000));
}

static void test_a_crash_counts_once(void **state)
{
	struct world *w = *state;
	struct strike message = {STR("jobs"), 1, 7}, neighbour = {STR("jobs"), 1, 8};
	start(w, 1);
	assert_int_equal(fleet_strikes(w->worker[0].fleet, STR_OF("jobs"), 1, 7), 0);
	strike(w, &message, "crash 1");
	strike(w, &message, "crash 1");
	strike(w, &neighbour, "crash 2");
	strike(w, &message, "crash 3");
	w->n = 2;
	assert_true(happens(w, strikes_are, 2000));
	assert_int_equal(fleet_strikes(w->worker[0].fleet, STR_OF("jobs"), 1, 8), 1);
	assert_int_equal(fleet_strikes(w->worker[0].fleet, STR_OF("jobs"), 17, 7), 0);
	assert_int_equal(fleet_strikes(w->worker[0].fleet, STR_OF("job"), 1, 7), 0);
}

static void test_strikes_of_a_job_come_with_it(void **state)
{
	struct world *w = *state;
	int64_t job_no = plain_job(0, 0);
	struct strike job = {.offset = job_no}, other = {.offset = job_no + 1};
	start(w, 1);
	strike(w, &job, "crash 1");
	strike(w, &job, "crash 2");
	strike(w, &other, "crash 3");
	fleet_adopt(w->worker[0].fleet, 1);
	assert_false(happens(w, never, 200));
	assert_int_equal(w->worker[0].n_job, 1);
	assert_int_equal(w->worker[0].n_strike, 2);
	assert_int_equal(w->worker[0].n_step, 0);
}

static bool mark_is(struct world *w)
{
	return fleet_mark(w->worker[0].fleet, "c", STR_OF("jobs"), 2) == w->n;
}

static void test_marks_are_read_with_each_heartbeat(void **state)
{
	struct world *w = *state;
	database_run("insert into draftmill.intake_mark values ('c', 'jobs', 2, 17)");
	start(w, 1);
	assert_int_equal(fleet_mark(w->worker[0].fleet, "c", STR_OF("jobs"), 2), 17);
	assert_int_equal(fleet_mark(w->worker[0].fleet, "c", STR_OF("jobs"), 1), -1);
	assert_int_equal(fleet_mark(w->worker[0].fleet, "d", STR_OF("jobs"), 2), -1);
	database_run("update draftmill.intake_mark set next_offset = 18");
	w->n = 18;
	assert_true(happens(w, mark_is, 2000));
}

static void on_drained(void *owner, bool drained, int64_t n_left)
{
	struct worker *k = owner;
	k->n_drained++;
	k->drained = drained;
	k->n_left = n_left;
}

static bool is_drained_told(struct world *w)
{
	return w->worker[0].n_drained;
}

static bool drained(struct world *w)
{
	/* Partition 0 has the records 5 to 9, partition 1 none. */
	static const struct partition_end end[] = {{STR("jobs"), 0, 5, 10, 5},
						   {STR("jobs"), 1, 3, 3, -1}};
	w->worker[0].n_drained = 0;
	fleet_drained(w->worker[0].fleet, "c", end, 2, on_drained, &w->worker[0]);
	assert_true(happens(w, is_drained_told, 2000));
	return w->worker[0].drained;
}

static void test_drained_is_marked_to_the_ends_and_nothing_left_below(void **state)
{
	struct world *w = *state;
	start(w, 1);
	assert_false(drained(w));
	database_run("insert into draftmill.intake_mark values ('c', 'jobs', 0, 9)");
	assert_false(drained(w));
	assert_int_equal(w->worker[0].n_left, 0);
	database_run("update draftmill.intake_mark set next_offset = 10");
	assert_true(drained(w));
	plain_job(0, 10); /* came after */
	assert_true(drained(w));
	plain_job(0, 9);
	assert_false(drained(w));
	assert_int_equal(w->worker[0].n_left, 1);
	database_run(
		"delete from draftmill.todo;"
		"insert into draftmill.dead_letter (letter_no, cluster, topic, part, \"offset\","
		" value_sha, reason, worker_id, at) values (77, 'c', 'jobs', 0, 8, '', 'empty', 1,"
		" now()); insert into draftmill.todo values (77, 'dead', 1)");
	assert_false(drained(w));
	assert_int_equal(w->worker[0].n_left, 1);
	database_run("delete from draftmill.todo; delete from draftmill.dead_letter");
	assert_true(drained(w));
}

/* ---- taking over ---- */

static void run_sql(const char *format, int64_t job_no)
{
	char sql[4000];
	snprintf(sql, sizeof sql, format, (long long)job_no);
	database_run(sql);
}

static void is_filled(const uint8_t *p, uint8_t with, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(p[i], with);
}

static void is_text(struct str s, const char *text)
{
	assert_non_null(s.p);
	assert_int_equal(s.n, strlen(text));
	assert_memory_equal(s.p, text, s.n);
}

/* clang-format off */
#define SHA(digits) "decode(repeat('" digits "', 32), 'hex')"
static const char WHOLE_JOB[] =
	"insert into draftmill.profile values (" SHA("11") ", 'mail', '{\"name\":\"mail\"}');"
	"insert into draftmill.job values (%1$lld, 'crm', 'メール-1', 3, 'b', null, 'taro', '[\"t\"]',"
	" null, '00-1', 'mail', " SHA("11") ", 'b', 'low', '2026-12-01 00:00:00.25+00',"
	" decode(repeat('22', 16), 'hex'), 'c', 'jobs', 4, 5000000000, 9,"
	" '2026-11-30 12:00:00.123+00', '\\x7b00ff7d', " SHA("33") ");"
	"insert into draftmill.step (job_no, step_no, fact, call_no, worker_id, at, active_ms,"
	" n_maybe_billed, intents, role, http_status, whole, tokens_in, reply, reply_sha, action,"
	" digest, hash, profile_sha) values"
	" (%1$lld, 1, 'replied', 0, 9, '2026-11-30 12:00:01+00', 7, 2, 1, 'generator', 200, true, 12,"
	" '\\x00', " SHA("44") ", 'call critic 1', " SHA("55") ", " SHA("66") ", " SHA("11") "),"
	" (%1$lld, 0, 'started', null, 9, '2026-11-30 12:00:00+00', 0, null, 1, null, null, false, null,"
	" null, " SHA("77") ", 'call generator 0', " SHA("88") ", " SHA("99") ", " SHA("11") ");"
	"insert into draftmill.attempt values"
	" (%1$lld, 0, 2, 9, '2026-11-30 12:00:03+00', 'server_error', 503, 80, '過負荷'),"
	" (%1$lld, 0, 1, 9, '2026-11-30 12:00:02+00', 'waited', null, null, null);"
	"insert into draftmill.todo values (%1$lld, 'run', null)";
/* clang-format on */

/* 2026-11-30 12:00:00 UTC, by date(1) */
static const int64_t NOON_MS = INT64_C(1796040000000);

static void is_whole_step(const struct step_row *step)
{
	is_text(step[0].fact, "started");
	assert_true(step[0].call_no == ROW_NULL);
	assert_false(step[0].whole);
	assert_null(step[0].reply.p);
	is_filled(step[0].reply_sha, 0x77, SHA_BYTES);
	assert_int_equal(step[1].step_no, 1);
	is_text(step[1].fact, "replied");
	assert_int_equal(step[1].call_no, 0);
	assert_int_equal(step[1].at_ms, NOON_MS + 1000);
	assert_int_equal(step[1].active_ms, 7);
	assert_int_equal(step[1].n_maybe_billed, 2);
	assert_true(step[1].whole);
	assert_int_equal(step[1].http_status, 200);
	assert_int_equal(step[1].reply.n, 1);
	assert_int_equal(step[1].reply.p[0], 0);
	is_text(step[1].action, "call critic 1");
	is_filled(step[1].digest, 0x55, SHA_BYTES);
	is_filled(step[1].hash, 0x66, SHA_BYTES);
	is_filled(step[1].profile_sha, 0x11, SHA_BYTES);
}

static void is_whole_job(const struct orphan_job *o)
{
	const struct job_row *job = o->job;
	is_text(job->id, "メール-1");
	assert_int_equal(job->revision, 3);
	assert_null(job->tenant.p);
	is_text(job->tags, "[\"t\"]");
	is_filled(job->profile_sha, 0x11, SHA_BYTES);
	is_text(job->arm, "b");
	is_text(o->profile_json, "{\"name\":\"mail\"}");
	assert_int_equal(job->not_after_ms, NOON_MS + 12 * 3600 * 1000 + 250);
	is_filled(job->salt, 0x22, SALT_BYTES);
	is_text(job->topic, "jobs");
	assert_int_equal(job->part, 4);
	assert_true(job->offset == INT64_C(5000000000));
	assert_int_equal(job->at_ms, NOON_MS + 123);
	assert_int_equal(job->payload.n, 4);
	assert_memory_equal(job->payload.p, "{\0\xff}", 4);
	assert_int_equal(o->n_step, 2);
	is_whole_step(o->step);
	assert_int_equal(o->n_attempt, 2);
	assert_int_equal(o->attempt[0].attempt_no, 1);
	assert_true(o->attempt[0].http_status == ROW_NULL);
	is_text(o->attempt[1].detail, "過負荷");
	assert_int_equal(o->attempt[1].latency_ms, 80);
}

static bool all_taken(struct world *w)
{
	const struct worker *k = w->worker;
	return k[0].n_job + k[0].n_event + k[1].n_job + k[1].n_event == w->n;
}

static void test_an_orphan_job_comes_whole(void **state)
{
	struct world *w = *state;
	run_sql(WHOLE_JOB, database_int("select draftmill.draw_block()"));
	start(w, 1);
	w->worker[0].check_job = is_whole_job;
	fleet_adopt(w->worker[0].fleet, 1);
	w->n = 1;
	assert_true(happens(w, all_taken, 2000));
}

static struct fleet *loading;

static void rest_waits(const struct orphan_job *o)
{
	assert_int_equal(fleet_n_orphans(loading), 4 - o->job->offset);
}

/* By offsets: 0 to 2 are taken over, 3 and 4 are not. */
static void test_intake_leaves_room_for_what_is_being_loaded(void **state)
{
	struct world *w = *state;
	for (int i = 0; i < 5; i++)
		plain_job(0, i);
	start(w, 1);
	loading = w->worker[0].fleet;
	w->worker[0].check_job = rest_waits;
	fleet_adopt(loading, 3);
	w->n = 3;
	assert_true(happens(w, all_taken, 2000));
	assert_int_equal(fleet_n_orphans(loading), 2);
}

static void is_outcome(const struct orphan_event *e)
{
	assert_null(e->letter);
	is_text(e->event->kind, "outcome");
	is_filled(e->event->event_id, 0xab, UUID_BYTES);
	is_text(e->event->topic, "draftmill.results");
	is_text(e->event->key, "crm-1");
	is_text(e->event->payload, "{}");
	is_filled(e->event->payload_sha, 0x33, SHA_BYTES);
	assert_null(e->event->traceparent.p);
}

static void test_an_orphan_event_comes_with_its_payload(void **state)
{
	struct world *w = *state;
	run_sql("insert into draftmill.outbox values (%1$lld, 'outcome', repeat('ab', 16)::uuid,"
		" 'draftmill.results', 'crm-1', '{}',"
		" decode(repeat('33', 32), 'hex'), null);"
		"insert into draftmill.todo values (%1$lld, 'outcome', null)",
		database_int("select draftmill.draw_block()"));
	start(w, 1);
	w->worker[0].check_event = is_outcome;
	fleet_adopt(w->worker[0].fleet, 0);
	w->n = 1;
	assert_true(happens(w, all_taken, 2000));
	assert_int_equal(n_owned(w->worker[0].worker_id), 1);
}

static void is_letter(const struct orphan_event *e)
{
	assert_non_null(e->letter);
	is_text(e->event->kind, "dead_letter");
	is_text(e->event->payload, "as received");
	is_text(e->letter->reason, "not_json");
	is_text(e->letter->key, "k");
	is_text(e->letter->value, "as received");
	is_text(e->letter->headers, "[]");
	assert_true(e->letter->first_job_no == ROW_NULL);
	assert_null(e->letter->first_sha.p);
}

static void test_an_orphan_letter_comes_with_what_was_received(void **state)
{
	struct world *w = *state;
	run_sql("insert into draftmill.outbox values (%1$lld, 'dead_letter', repeat('ab', 16)::uuid,"
		" 'draftmill.jobs.dlq', 'k', null, '', null);"
		"insert into draftmill.dead_letter values (%1$lld, 'c', 'jobs', 0, 1, '', 'not_json',"
		" null, 'k', 'as received', '[]', null, null, null, null, null, 9, now());"
		"insert into draftmill.todo values (%1$lld, 'dead_letter', null)",
		database_int("select draftmill.draw_block()"));
	start(w, 1);
	w->worker[0].check_event = is_letter;
	fleet_adopt(w->worker[0].fleet, 0);
	w->n = 1;
	assert_true(happens(w, all_taken, 2000));
}

static void test_two_workers_share_orphans_out(void **state)
{
	struct world *w = *state;
	struct worker *k = w->worker;
	for (int i = 0; i < 10; i++)
		plain_job(0, i);
	start(w, 2);
	assert_int_equal(fleet_n_orphans(k[0].fleet), 10);
	fleet_adopt(k[0].fleet, 3);
	fleet_adopt(k[0].fleet, 3); /* while the first goes on: ignored */
	fleet_adopt(k[1].fleet, 6);
	w->n = 9;
	assert_true(happens(w, all_taken, 2000));
	assert_int_equal(k[0].n_job, 3);
	assert_int_equal(k[1].n_job, 6);
	for (int i = 0; i < 9; i++) {
		int64_t job_no = i < 3 ? k[0].job_no[i] : k[1].job_no[i - 3];
		for (int j = 0; j < 3; j++)
			assert_true(i == j || job_no != k[0].job_no[j]);
	}
	assert_int_equal(n_owned(k[0].worker_id), 3);
	assert_int_equal(n_owned(k[1].worker_id), 6);
	assert_int_equal(
		database_int("select count(*) from draftmill.todo where worker_id is null"), 1);
}

/* ---- what a lost answer hid ---- */

static bool knows_first(void *owner, int64_t job_no, struct str what)
{
	struct world *w = owner;
	return job_no == w->n;
}

static bool first_has_job(struct world *w)
{
	return w->worker[0].n_job > 0;
}

static void test_what_is_ours_but_unknown_twice_comes_as_lost(void **state)
{
	struct world *w = *state;
	start(w, 1);
	w->n = plain_job(w->worker[0].worker_id, 0); /* in memory */
	int64_t lost = plain_job(w->worker[0].worker_id, 1);
	fleet_knows(w->worker[0].fleet, knows_first, w);
	assert_false(happens(w, first_has_job, 4900));
	assert_true(happens(w, first_has_job, 2000));
	assert_int_equal(w->worker[0].n_job, 1);
	assert_int_equal(w->worker[0].job_no[0], lost);
}

static bool lost_is(struct world *w)
{
	return w->worker[0].n_job == 1;
}

static bool knows_none(void *owner, int64_t job_no, struct str what)
{
	return false;
}

/* The server has given the job to the worker, and the worker never hears of it. */
static void test_a_lost_answer_to_an_adoption_loses_no_job(void **state)
{
	struct world *w = *state;
	struct relay *relay = relay_start(database_conninfo_worker());
	int64_t job_no = plain_job(0, 0);
	open_worker(w, 0, relay_conninfo(relay));
	assert_true(happens(w, first_ready, 5000));
	relay_lose_answers(relay, 1);
	fleet_adopt(w->worker[0].fleet, 1);
	fleet_knows(w->worker[0].fleet, knows_none, NULL);
	assert_true(happens(w, lost_is, 9000));
	assert_int_equal(relay_n_lost(relay), 1);
	assert_int_equal(w->worker[0].job_no[0], job_no);
	assert_int_equal(w->worker[0].n_ready, 1);
	fleet_free(w->worker[0].fleet);
	w->worker[0].fleet = NULL;
	relay_stop(relay);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLEET_TEST(test_a_crash_counts_once),
		FLEET_TEST(test_strikes_of_a_job_come_with_it),
		FLEET_TEST(test_marks_are_read_with_each_heartbeat),
		FLEET_TEST(test_drained_is_marked_to_the_ends_and_nothing_left_below),
		FLEET_TEST(test_an_orphan_job_comes_whole),
		FLEET_TEST(test_an_orphan_event_comes_with_its_payload),
		FLEET_TEST(test_an_orphan_letter_comes_with_what_was_received),
		FLEET_TEST(test_intake_leaves_room_for_what_is_being_loaded),
		FLEET_TEST(test_two_workers_share_orphans_out),
		FLEET_TEST(test_what_is_ours_but_unknown_twice_comes_as_lost),
		FLEET_TEST(test_a_lost_answer_to_an_adoption_loses_no_job),
	};
	log_set_level(LOG_ERROR);
	return cmocka_run_group_tests(tests, database_start, database_stop);
}
