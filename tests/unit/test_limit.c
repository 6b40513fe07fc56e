/* tests/unit/test_limit.c - slots by concurrency and rate, their queue, and the breaker. */
#include "app/limit.h"
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct world {
	struct reactor *reactor;
	struct limit *limit;
	struct timer *timer;
	char served[16]; /* who got a slot from the queue, in order */
	size_t n_served, n_wanted;
};

struct waiter {
	struct world *world;
	char name;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->reactor = reactor_new();
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	timer_close(w->timer);
	limit_free(w->limit);
	reactor_free(w->reactor);
	free(w);
	return 0;
}

static void on_slot(void *owner)
{
	struct waiter *who = owner;
	struct world *w = who->world;

	w->served[w->n_served++] = who->name;
	if (w->n_served == w->n_wanted)
		reactor_stop(w->reactor);
}

static void on_timeout(void *owner)
{
	reactor_stop(((struct world *)owner)->reactor);
}

/* Runs until @n more are served, or @ms are over; milliseconds that it took. */
static int64_t run(struct world *w, size_t n, int64_t ms)
{
	const int64_t begin_ms = clock_mono_ms();

	w->n_wanted = w->n_served + n;
	timer_close(w->timer);
	w->timer = timer_new(w->reactor, on_timeout, w);
	timer_start(w->timer, ms, 0);
	reactor_run(w->reactor);
	return clock_mono_ms() - begin_ms;
}

static void take(struct world *w, int n)
{
	for (int i = 0; i < n; i++)
		assert_true(limit_take(w->limit));
}

static void no_limit_gives_always(void **state)
{
	struct world *w = *state;

	w->limit = limit_new(w->reactor, "m", 0, 0);
	take(w, 1000);
}

static void concurrency_is_kept(void **state)
{
	struct world *w = *state;

	w->limit = limit_new(w->reactor, "m", 0, 2);
	take(w, 2);
	assert_false(limit_take(w->limit));
	limit_give(w->limit, REPLY_complete);
	take(w, 1);
	assert_false(limit_take(w->limit));
	limit_return(w->limit);
	take(w, 1);
}

static void other_numbers_serve_who_waits(void **state)
{
	struct world *w = *state;
	struct waiter a = {w, 'a'}, b = {w, 'b'};

	w->limit = limit_new(w->reactor, "m", 0, 1);
	take(w, 1);
	limit_wait(w->limit, on_slot, &a);
	limit_wait(w->limit, on_slot, &b);
	limit_set(w->limit, 0, 2);
	run(w, 2, 30);
	assert_string_equal(w->served, "a"); /* two are out now */
	limit_set(w->limit, 0, 1);
	limit_return(w->limit);
	run(w, 1, 30);
	assert_string_equal(w->served, "a"); /* there is one too many, no more */
	limit_return(w->limit);
	run(w, 1, 1000);
	assert_string_equal(w->served, "ab");
}

static void those_who_wait_are_served_in_their_order(void **state)
{
	struct world *w = *state;
	struct waiter a = {w, 'a'}, b = {w, 'b'}, c = {w, 'c'};
	struct limit_wait *gives_up;

	w->limit = limit_new(w->reactor, "m", 0, 2);
	take(w, 2);
	limit_wait(w->limit, on_slot, &a);
	gives_up = limit_wait(w->limit, on_slot, &b);
	limit_wait(w->limit, on_slot, &c);
	limit_cancel(gives_up);
	limit_cancel(NULL);
	limit_give(w->limit, REPLY_complete);
	assert_int_equal(w->n_served, 0); /* from the loop only */
	limit_give(w->limit, REPLY_complete);
	run(w, 2, 500);
	assert_string_equal(w->served, "ac");
	assert_false(limit_take(w->limit));
}

/* Somebody who waits is not overtaken by one who asks when a slot has just come free. */
static void the_queue_comes_before_a_newcomer(void **state)
{
	struct world *w = *state;
	struct waiter a = {w, 'a'};

	w->limit = limit_new(w->reactor, "m", 0, 1);
	take(w, 1);
	limit_wait(w->limit, on_slot, &a);
	limit_give(w->limit, REPLY_complete);
	assert_false(limit_take(w->limit));
	run(w, 1, 500);
	assert_string_equal(w->served, "a");
}

/* 1200 a minute are twenty a second: twenty at once, then one each 50 ms. */
static void the_rate_is_kept_after_one_seconds_worth(void **state)
{
	struct world *w = *state;
	struct waiter a = {w, 'a'}, b = {w, 'b'};
	int64_t took_ms;

	w->limit = limit_new(w->reactor, "m", 1200, 0);
	take(w, 20);
	assert_false(limit_take(w->limit));
	limit_wait(w->limit, on_slot, &a);
	limit_wait(w->limit, on_slot, &b);
	took_ms = run(w, 2, 1000);
	assert_int_equal(w->n_served, 2);
	assert_in_range(took_ms, 90, 400);
}

static void a_fleet_shares_the_rate(void **state)
{
	struct world *w = *state;
	struct waiter a = {w, 'a'};
	int64_t took_ms;

	w->limit = limit_new(w->reactor, "m", 1200, 0);
	take(w, 20);
	limit_set_fleet(w->limit, 5);
	limit_wait(w->limit, on_slot, &a);
	took_ms = run(w, 1, 1500);
	assert_int_equal(w->n_served, 1);
	assert_in_range(took_ms, 230, 700);
}

static void give_n(struct world *w, enum reply_class class, int n)
{
	for (int i = 0; i < n; i++)
		limit_give(w->limit, class);
}

static void five_failures_in_a_row_open_the_breaker(void **state)
{
	static const enum reply_class of_a_model[] = {REPLY_unsent, REPLY_overloaded,
						      REPLY_server_error, REPLY_credentials};

	struct world *w = *state;

	for (int i = 0; i < 4; i++) {
		if (w->limit)
			limit_free(w->limit);
		w->limit = limit_new(w->reactor, "m", 0, 0);
		take(w, 12);
		give_n(w, of_a_model[i], 4);
		limit_give(w->limit, REPLY_complete); /* no row of five any more */
		give_n(w, of_a_model[i], 4);
		assert_false(limit_is_open(w->limit));
		take(w, 1);
		give_n(w, of_a_model[i], 1);
		assert_true(limit_is_open(w->limit));
		assert_int_equal(limit_breaker(w->limit), BREAKER_OPEN);
		assert_false(limit_take(w->limit));
	}
}

static void the_fault_of_a_request_opens_nothing(void **state)
{
	struct world *w = *state;

	w->limit = limit_new(w->reactor, "m", 0, 0);
	take(w, 20);
	give_n(w, REPLY_broken_off, 10);
	give_n(w, REPLY_rejected, 10);
	assert_false(limit_is_open(w->limit));
}

/* All calls that were under way when a model went down fail at once: that is one outage, so the first pause is a second. */
static void then_one_probes_after_a_second_and_an_answer_closes_it(void **state)
{
	struct world *w = *state;
	struct waiter a = {w, 'a'}, b = {w, 'b'};
	int64_t took_ms;

	w->limit = limit_new(w->reactor, "m", 0, 0);
	take(w, 50);
	give_n(w, REPLY_unsent, 50);
	limit_wait(w->limit, on_slot, &a);
	limit_wait(w->limit, on_slot, &b);
	took_ms = run(w, 2, 1300);
	assert_string_equal(w->served, "a"); /* b waits for the probe's end */
	assert_int_equal(limit_n_out(w->limit), 1);
	assert_int_equal(limit_breaker(w->limit), BREAKER_PROBING);
	assert_in_range(took_ms, 1250, 1600);
	assert_false(limit_take(w->limit));
	limit_give(w->limit, REPLY_complete);
	run(w, 1, 500);
	assert_string_equal(w->served, "ab");
	assert_int_equal(limit_breaker(w->limit), BREAKER_CLOSED);
	take(w, 10);
}

static void only_answers_are_counted(void **state)
{
	struct world *w = *state;

	w->limit = limit_new(w->reactor, "m", 0, 0);
	take(w, N_REPLY_CLASSES);
	for (int class = 0; class < N_REPLY_CLASSES; class ++)
		limit_give(w->limit, (enum reply_class) class);
	assert_int_equal(limit_n_answered(w->limit), 4); /* complete, truncated, refused, blocked */
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(no_limit_gives_always),
		TEST(concurrency_is_kept),
		TEST(other_numbers_serve_who_waits),
		TEST(those_who_wait_are_served_in_their_order),
		TEST(the_queue_comes_before_a_newcomer),
		TEST(the_rate_is_kept_after_one_seconds_worth),
		TEST(a_fleet_shares_the_rate),
		TEST(five_failures_in_a_row_open_the_breaker),
		TEST(the_fault_of_a_request_opens_nothing),
		TEST(then_one_probes_after_a_second_and_an_answer_closes_it),
		TEST(only_answers_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
