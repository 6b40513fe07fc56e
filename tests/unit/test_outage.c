/* tests/unit/test_outage.c - hours without the model, lived through in a moment: limit and retry together, as the driver of calls joins them. */
#include "app/limit.h"
#include "app/retry.h"
#include "base/clock.h"
#include "base/log.h"

#include "fake_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
	MINUTE_MS = 60000,
	HOUR_MS = 60 * MINUTE_MS,
	TIMEOUT_MS = 60000,
	ANSWER_MS = 2000,
	CONCURRENCY = 128,
	TASKS_MAX = 500
};

struct world;

struct task { /* a job that wants one answer */
	struct world *world;
	struct timer *timer;
	struct limit_wait *wait;
	struct retry_state retry;
	enum reply_class class; /* of the attempt that is under way */
	int64_t n_answered, asked_mono_ms, again_mono_ms;
	bool at_fault; /* every call of it fails */
	bool answered, gave_up;
};

struct world {
	struct limit *limit;
	enum reply_class fault; /* what every call gets until the end of the outage */
	int64_t begin_mono_ms, end_mono_ms;
	int percent_before; /* so many calls get it already before its begin */
	uint32_t random;
	int64_t timeout_ms;
	int n_request, n_out, n_out_max, n_done;
	int64_t last_mono_ms; /* when the last was answered */
	struct task task[TASKS_MAX];
};

static uint32_t draw(struct world *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 17;
	w->random ^= w->random << 5;
	return w->random;
}

static bool fails(struct world *w)
{
	const int64_t now = clock_mono_ms();

	if (now < w->begin_mono_ms)
		return draw(w) % 100 < (uint32_t)w->percent_before;
	return now < w->end_mono_ms;
}

static void ask(void *owner);

static void after(struct task *t, reactor_fn *fn, int64_t ms)
{
	timer_close(t->timer);
	t->timer = timer_new(NULL, fn, t);
	timer_start(t->timer, ms, 0);
}

static void pause_task(void *owner)
{
	struct task *t = owner;
	const int64_t left_ms = t->again_mono_ms - clock_mono_ms();

	if (left_ms <= 0 ||
	    (reply_maybe_billed(t->class) && limit_n_answered(t->world->limit) > t->n_answered))
		ask(t);
	else
		after(t, pause_task, left_ms < MINUTE_MS ? left_ms : MINUTE_MS);
}

static void replied(void *owner)
{
	struct task *t = owner;
	struct world *w = t->world;
	bool in_vain = limit_n_answered(w->limit) == t->n_answered;
	int64_t wait_ms;

	w->n_out--;
	limit_give(w->limit,
		   &(struct attempt_end){.class = t->class,
					 .in_vain = in_vain,
					 .latency_ms = clock_mono_ms() - t->asked_mono_ms});
	if (reply_is_answer(t->class)) {
		t->answered = true;
		w->n_done++;
		w->last_mono_ms = clock_mono_ms();
		return;
	}
	in_vain = in_vain || limit_breaker(w->limit) != BREAKER_CLOSED;
	wait_ms = retry_after_ms(&t->retry, t->class, -1, in_vain, draw(w));
	t->n_answered = limit_n_answered(w->limit);
	t->gave_up = wait_ms < 0;
	t->again_mono_ms = clock_mono_ms() + wait_ms;
	if (!t->gave_up)
		pause_task(t);
}

static void post(void *owner)
{
	struct task *t = owner;
	struct world *w = t->world;
	const int64_t failure_ms = w->fault == REPLY_broken_off ? w->timeout_ms : 5;

	t->wait = NULL;
	w->n_request++;
	if (++w->n_out > w->n_out_max)
		w->n_out_max = w->n_out;
	t->class = t->at_fault || fails(w) ? w->fault : REPLY_complete;
	t->asked_mono_ms = clock_mono_ms();
	if (!t->retry.n_failed)
		t->n_answered = limit_n_answered(w->limit);
	after(t, replied, t->class == REPLY_complete ? ANSWER_MS : failure_ms);
}

static void ask(void *owner)
{
	struct task *t = owner;

	if (limit_take(t->world->limit, 0))
		post(t);
	else
		t->wait = limit_wait(t->world->limit, 0, post, t);
}

static void run(int64_t ms)
{
	fake_time_run(clock_mono_ms() + ms);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	const struct rates most = {.concurrency = CONCURRENCY};

	log_set_level(LOG_ERROR);
	w->random = 88172645;
	w->timeout_ms = TIMEOUT_MS;
	w->limit = limit_new(NULL, "m", &most);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < TASKS_MAX; i++) {
		limit_cancel(w->task[i].wait);
		timer_close(w->task[i].timer);
	}
	limit_free(w->limit);
	free(w);
	return 0;
}

/* @n jobs come at the begin of an hour in which every call fails so. */
static void begin(struct world *w, int n, enum reply_class fault)
{
	w->fault = fault;
	w->begin_mono_ms = clock_mono_ms();
	w->end_mono_ms = w->begin_mono_ms + HOUR_MS;
	for (int i = 0; i < n; i++) {
		w->task[i].world = w;
		ask(&w->task[i]);
	}
}

static void nobody_gave_up(const struct world *w)
{
	for (int i = 0; i < TASKS_MAX; i++)
		assert_false(w->task[i].gave_up);
}

/* Those under way fail once; then the breaker asks after 1, 2, 4, 8, 16, 32 s and each minute: six and 58 more. */
static void an_hour_of_refusals_costs_a_request_a_minute(void **state)
{
	static const enum reply_class fault[] = {REPLY_unsent, REPLY_overloaded, REPLY_server_error,
						 REPLY_credentials};

	for (size_t i = 0; i < sizeof(fault) / sizeof(*fault); i++) {
		struct world *w = *state;

		begin(w, TASKS_MAX, fault[i]);
		run(HOUR_MS - 1);
		assert_in_range(w->n_request, CONCURRENCY + 60, CONCURRENCY + 65);
		run(3 * MINUTE_MS);
		assert_int_equal(w->n_done, TASKS_MAX);
		nobody_gave_up(w);
		teardown(state);
		setup(state);
	}
}

/* Each hung call is charged at its reserve, so few are let hang: 9 while the pause doubles to 4 minutes 16, then one in 6. */
static void an_hour_of_silence_costs_each_job_little(void **state)
{
	struct world *w = *state;

	begin(w, TASKS_MAX, REPLY_broken_off);
	run(HOUR_MS - 1);
	assert_in_range(w->n_request, CONCURRENCY + 10, CONCURRENCY + 20);
	run(10 * MINUTE_MS);
	assert_int_equal(w->n_done, TASKS_MAX);
	nobody_gave_up(w);
	for (int i = 0; i < TASKS_MAX; i++) {
		assert_in_range(w->task[i].retry.n_maybe_billed, 0, 2);
		assert_int_equal(w->task[i].retry.n_broken, 0);
	}
}

static void two_jobs_outlive_an_hour_of_silence(void **state)
{
	struct world *w = *state;

	begin(w, 2, REPLY_broken_off);
	run(HOUR_MS + 10 * MINUTE_MS);
	assert_int_equal(w->n_done, 2);
	nobody_gave_up(w);
	assert_in_range(w->task[0].retry.n_maybe_billed, 3, 9);
}

/* As shipped: an attempt hangs for the 30 s that a job has, is charged 0.0156 USD, and 0.2 USD are its cap. After the hour the same again
 * must fit beside what the loop costs: 11 at most. */
static void one_job_alone_outlives_an_hour_of_silence(void **state)
{
	static const enum reply_class fault[] = {REPLY_broken_off, REPLY_unreadable};

	for (int i = 0; i < 200; i++) {
		struct world *w = *state;

		w->random += (uint32_t)i;
		w->timeout_ms = 30000;
		begin(w, 1, fault[i % 2]);
		run(HOUR_MS + 16 * MINUTE_MS);
		assert_int_equal(w->n_done, 1);
		nobody_gave_up(w);
		assert_in_range(w->task[0].retry.n_maybe_billed, 7, 10);
		teardown(state);
		setup(state);
	}
}

/* One after the other is answered, each 20 seconds, beside it and in its pauses. */
static void a_request_that_hangs_while_others_are_answered_is_given_up(void **state)
{
	struct world *w = *state;

	w->fault = REPLY_broken_off;
	w->task[0].at_fault = true;
	for (int i = 0; i < TASKS_MAX && !w->task[0].gave_up; i++) {
		w->task[i].world = w;
		ask(&w->task[i]);
		run(20000);
	}
	assert_true(w->task[0].gave_up);
	assert_int_equal(w->task[0].retry.n_maybe_billed, 3);
	assert_in_range(w->n_done, 9, 12);
}

/* The first comes when the breaker is open for the fault of a request alone: it waits for a pause and an attempt, no more. */
static void a_second_job_tells_a_request_at_fault_from_an_outage(void **state)
{
	struct world *w = *state;

	w->fault = REPLY_broken_off;
	w->task[0].at_fault = true;
	w->task[0].world = w;
	ask(&w->task[0]);
	run(3 * MINUTE_MS);
	assert_true(limit_hangs(w->limit));
	assert_int_equal(w->task[0].retry.n_broken, 0);
	for (int i = 1; i < 20; i++) {
		w->task[i].world = w;
		ask(&w->task[i]);
		run(2 * MINUTE_MS);
		assert_in_range(w->n_done, i - 1, i);
	}
	assert_true(w->task[0].gave_up);
	assert_int_equal(w->n_done, 19);
}

/* Ten minutes in which half of the calls still succeed, then none: no request is taken for the one at fault. */
static void an_outage_that_comes_slowly_is_nobodys_fault(void **state)
{
	struct world *w = *state;

	begin(w, 0, REPLY_server_error);
	w->begin_mono_ms += MINUTE_MS;
	w->percent_before = 50;
	for (int i = 0; i < TASKS_MAX; i++) {
		w->task[i].world = w;
		ask(&w->task[i]);
		run(MINUTE_MS * 2 / TASKS_MAX);
	}
	run(HOUR_MS + 3 * MINUTE_MS);
	assert_int_equal(w->n_done, TASKS_MAX);
	nobody_gave_up(w);
}

/* The probe's answer lets out two, these three or four: at most double in the time of an answer. */
static void a_model_that_comes_back_is_not_run_over(void **state)
{
	struct world *w = *state;

	begin(w, TASKS_MAX, REPLY_unsent);
	run(HOUR_MS - 1);
	w->n_out_max = 0;
	for (int more = 0; w->n_done == 0 && more < MINUTE_MS; more++) {
		assert_in_range(w->n_out_max, 0, 1);
		run(1);
	}
	assert_int_equal(w->n_done, 1);
	for (int most = 2; most <= 32; most *= 2) {
		run(ANSWER_MS - 100);
		assert_in_range(w->n_out_max, 2, most);
		run(100);
	}
	run(MINUTE_MS);
	assert_true(w->n_out_max > 64);
	assert_int_equal(w->n_done, TASKS_MAX);
}

/* The queue is in order of arrival: who comes anew waits behind those who asked before, and is not overtaken by who asks again. */
static void a_fresh_job_is_not_starved_by_retries(void **state)
{
	struct world *w = *state;
	struct task *fresh = &w->task[TASKS_MAX - 1];

	begin(w, TASKS_MAX - 1, REPLY_rate_limited);
	run(20 * MINUTE_MS);
	fresh->world = w;
	ask(fresh);
	run(MINUTE_MS);
	assert_true(fresh->retry.n_failed > 3);
	run(HOUR_MS);
	assert_int_equal(w->n_done, TASKS_MAX);
}

/* ---- what shows that a model is silent ---- */

static void broken_off(struct world *w, bool in_vain)
{
	limit_give(w->limit, &(struct attempt_end){.class = REPLY_broken_off, .in_vain = in_vain});
}

static void answered(struct world *w, int64_t latency_ms)
{
	limit_give(w->limit,
		   &(struct attempt_end){.class = REPLY_complete, .latency_ms = latency_ms});
}

static void take(struct world *w, int n)
{
	for (int i = 0; i < n; i++)
		assert_true(limit_take(w->limit, 0));
}

static bool is_closed(const struct world *w)
{
	return limit_breaker(w->limit) == BREAKER_CLOSED;
}

static void one_that_hangs_alone_shows_it_unless_others_are_answered(void **state)
{
	struct world *w = *state;

	take(w, 1);
	run(MINUTE_MS);
	broken_off(w, false);
	assert_true(is_closed(w));
	take(w, 1);
	broken_off(w, true);
	assert_false(is_closed(w));
	assert_true(limit_hangs(w->limit));
}

/* A second call that has just been asked does not wait in vain yet. */
static void of_two_that_hang_the_first_shows_it_when_both_have_waited_for_ten_seconds(void **state)
{
	struct world *w = *state;

	take(w, 1);
	run(MINUTE_MS);
	take(w, 1);
	run(9999);
	broken_off(w, true);
	assert_true(is_closed(w));
	take(w, 1);
	run(10000);
	broken_off(w, false);
	assert_false(is_closed(w));
}

/* Answers took 20 s: silence of less says nothing. The longest is forgotten by an eighth with each that comes sooner. */
static void where_answers_take_long_silence_has_to_be_longer(void **state)
{
	struct world *w = *state;

	take(w, 3);
	answered(w, 20000);
	run(19999);
	broken_off(w, true);
	assert_true(is_closed(w));
	take(w, 1);
	run(20000);
	broken_off(w, true);
	assert_false(is_closed(w));
	assert_int_equal(limit_slowest_ms(w->limit), 20000);
	answered(w, 100);
	assert_int_equal(limit_slowest_ms(w->limit), 17500);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_hour_of_refusals_costs_a_request_a_minute),
		TEST(an_hour_of_silence_costs_each_job_little),
		TEST(two_jobs_outlive_an_hour_of_silence),
		TEST(one_job_alone_outlives_an_hour_of_silence),
		TEST(a_request_that_hangs_while_others_are_answered_is_given_up),
		TEST(a_second_job_tells_a_request_at_fault_from_an_outage),
		TEST(an_outage_that_comes_slowly_is_nobodys_fault),
		TEST(a_model_that_comes_back_is_not_run_over),
		TEST(a_fresh_job_is_not_starved_by_retries),
		TEST(one_that_hangs_alone_shows_it_unless_others_are_answered),
		TEST(of_two_that_hang_the_first_shows_it_when_both_have_waited_for_ten_seconds),
		TEST(where_answers_take_long_silence_has_to_be_longer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
