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
		assert_true(limit_take(w->limit, 0));
}

/* An attempt of no time that had others answered beside it. */
static void give(struct world *w, enum reply_class class, int64_t unused_tokens)
{
	limit_give(w->limit, &(struct attempt_end){.class = class, .unused_tokens = unused_tokens});
}

static struct limit *limit_of(struct world *w, int64_t requests_per_minute, int64_t concurrency)
{
	return limit_new(w->reactor, "m",
			 &(struct rates){.requests_per_minute = requests_per_minute,
					 .concurrency = concurrency});
}

static bool is_open(const struct world *w)
{
	return limit_breaker(w->limit) == BREAKER_OPEN;
}

static void no_limit_gives_always(void **state)
{
	struct world *w = *state;

	w->limit = limit_of(w, 0, 0);
	take(w, 1000);
}

static void concurrency_is_kept(void **state)
{
	struct world *w = *state;

	w->limit = limit_of(w, 0, 2);
	take(w, 2);
	assert_false(limit_take(w->limit, 0));
	give(w, REPLY_complete, 0);
	take(w, 1);
	assert_false(limit_take(w->limit, 0));
	limit_return(w->limit, 0);
	take(w, 1);
}

static void other_numbers_serve_who_waits(void **state)
{
	struct world *w = *state;
	struct waiter a = {w, 'a'}, b = {w, 'b'};

	w->limit = limit_of(w, 0, 1);
	take(w, 1);
	limit_wait(w->limit, 0, on_slot, &a);
	limit_wait(w->limit, 0, on_slot, &b);
	limit_set(w->limit, &(struct rates){.concurrency = 2});
	run(w, 2, 30);
	assert_string_equal(w->served, "a"); /* two are out now */
	limit_set(w->limit, &(struct rates){.concurrency = 1});
	limit_return(w->limit, 0);
	run(w, 1, 30);
	assert_string_equal(w->served, "a"); /* there is one too many, no more */
	limit_return(w->limit, 0);
	run(w, 1, 1000);
	assert_string_equal(w->served, "ab");
}

static void those_who_wait_are_served_in_their_order(void **state)
{
	struct world *w = *state;
	struct waiter a = {w, 'a'}, b = {w, 'b'}, c = {w, 'c'};
	struct limit_wait *gives_up;

	w->limit = limit_of(w, 0, 2);
	take(w, 2);
	limit_wait(w->limit, 0, on_slot, &a);
	gives_up = limit_wait(w->limit, 0, on_slot, &b);
	limit_wait(w->limit, 0, on_slot, &c);
	limit_cancel(gives_up);
	limit_cancel(NULL);
	give(w, REPLY_complete, 0);
	assert_int_equal(w->n_served, 0); /* from the loop only */
	give(w, REPLY_complete, 0);
	run(w, 2, 500);
	assert_string_equal(w->served, "ac");
	assert_false(limit_take(w->limit, 0));
}

/* Somebody who waits is not overtaken by one who asks when a slot has just come free. */
static void the_queue_comes_before_a_newcomer(void **state)
{
	struct world *w = *state;
	struct waiter a = {w, 'a'};

	w->limit = limit_of(w, 0, 1);
	take(w, 1);
	limit_wait(w->limit, 0, on_slot, &a);
	give(w, REPLY_complete, 0);
	assert_false(limit_take(w->limit, 0));
	run(w, 1, 500);
	assert_string_equal(w->served, "a");
}

/* 1200 a minute are twenty a second: twenty at once, then one each 50 ms. */
static void the_rate_is_kept_after_one_seconds_worth(void **state)
{
	struct world *w = *state;
	struct waiter a = {w, 'a'}, b = {w, 'b'};
	int64_t took_ms;

	w->limit = limit_of(w, 1200, 0);
	take(w, 20);
	assert_false(limit_take(w->limit, 0));
	limit_wait(w->limit, 0, on_slot, &a);
	limit_wait(w->limit, 0, on_slot, &b);
	took_ms = run(w, 2, 1000);
	assert_int_equal(w->n_served, 2);
	assert_in_range(took_ms, 90, 400);
}

static void a_fleet_shares_the_rate(void **state)
{
	struct world *w = *state;
	struct waiter a = {w, 'a'};
	int64_t took_ms;

	w->limit = limit_of(w, 1200, 0);
	take(w, 20);
	limit_set_fleet(w->limit, 5);
	limit_wait(w->limit, 0, on_slot, &a);
	took_ms = run(w, 1, 1500);
	assert_int_equal(w->n_served, 1);
	assert_in_range(took_ms, 230, 700);
}

static void give_n(struct world *w, enum reply_class class, int n)
{
	for (int i = 0; i < n; i++)
		give(w, class, 0);
}

static void five_failures_in_a_row_open_the_breaker(void **state)
{
	static const enum reply_class of_a_model[] = {REPLY_unsent, REPLY_overloaded,
						      REPLY_server_error, REPLY_unreadable,
						      REPLY_broken_off};
	struct world *w = *state;

	for (int i = 0; i < 5; i++) {
		if (w->limit)
			limit_free(w->limit);
		w->limit = limit_of(w, 0, 0);
		take(w, 12);
		give_n(w, of_a_model[i], 4);
		give(w, REPLY_complete, 0); /* no row of five any more */
		give_n(w, of_a_model[i], 4);
		assert_int_equal(limit_breaker(w->limit), BREAKER_CLOSED);
		take(w, 1);
		give_n(w, of_a_model[i], 1);
		assert_true(is_open(w));
		assert_false(limit_take(w->limit, 0));
	}
}

static void one_refused_key_opens_the_breaker(void **state)
{
	struct world *w = *state;

	w->limit = limit_of(w, 0, 0);
	take(w, 1);
	give(w, REPLY_credentials, 0);
	assert_true(is_open(w));
}

static void the_fault_of_a_request_opens_nothing(void **state)
{
	static const enum reply_class of_a_request[] = {REPLY_rejected, REPLY_blocked,
							REPLY_refused, REPLY_rate_limited};
	struct world *w = *state;

	w->limit = limit_of(w, 0, 0);
	for (int i = 0; i < 4; i++) {
		take(w, 10);
		give_n(w, of_a_request[i], 10);
		assert_int_equal(limit_breaker(w->limit), BREAKER_CLOSED);
	}
}

/* All calls that were under way when a model went down fail at once: that is one outage, so the first pause is a second. */
static void then_one_probes_after_a_second_and_its_answer_lets_out_more_and_more(void **state)
{
	struct world *w = *state;
	struct waiter a = {w, 'a'}, b = {w, 'b'};
	int64_t took_ms;

	w->limit = limit_of(w, 0, 0);
	take(w, 50);
	give_n(w, REPLY_unsent, 50);
	limit_wait(w->limit, 0, on_slot, &a);
	limit_wait(w->limit, 0, on_slot, &b);
	took_ms = run(w, 2, 1300);
	assert_string_equal(w->served, "a"); /* b waits for the probe's end */
	assert_int_equal(limit_n_out(w->limit), 1);
	assert_int_equal(limit_breaker(w->limit), BREAKER_PROBING);
	assert_in_range(took_ms, 1250, 1600);
	assert_int_equal(limit_breaker(w->limit), BREAKER_PROBING);
	assert_false(limit_take(w->limit, 0));
	give(w, REPLY_complete, 0);
	run(w, 1, 500);
	assert_string_equal(w->served, "ab");
	assert_int_equal(limit_breaker(w->limit), BREAKER_CLOSED);
	take(w, 1);
	assert_false(limit_take(w->limit, 0)); /* two at once */
	give(w, REPLY_rate_limited, 0);
	take(w, 1);
	assert_false(limit_take(w->limit, 0)); /* who asks too much does not help it grow */
	give_n(w, REPLY_complete, 2);
	take(w, 4);
	assert_false(limit_take(w->limit, 0));
}

/* 60,000 a minute are 1,000 a second. A call larger than that goes when the bucket is full, and the next pays for it. */
static void tokens_are_limited_at_their_worst_case_and_corrected(void **state)
{
	struct world *w = *state;
	struct waiter a = {w, 'a'};
	int64_t took_ms;

	w->limit = limit_new(w->reactor, "m", &(struct rates){.tokens_per_minute = 60000});
	assert_true(limit_take(w->limit, 1300));
	assert_false(limit_take(w->limit, 200));
	limit_wait(w->limit, 200, on_slot, &a);
	took_ms = run(w, 1, 1500);
	assert_int_equal(w->n_served, 1);
	assert_in_range(took_ms, 490, 800); /* 300 of debt and 200 */
	give(w, REPLY_complete, 900);
	assert_true(limit_take(w->limit, 700));
	assert_false(limit_take(w->limit, 500));
}

static void only_answers_are_counted(void **state)
{
	struct world *w = *state;

	w->limit = limit_of(w, 0, 0);
	take(w, N_REPLY_CLASSES);
	for (int class = 0; class < N_REPLY_CLASSES; class ++)
		give(w, (enum reply_class) class, 0);
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
		TEST(one_refused_key_opens_the_breaker),
		TEST(the_fault_of_a_request_opens_nothing),
		TEST(then_one_probes_after_a_second_and_its_answer_lets_out_more_and_more),
		TEST(tokens_are_limited_at_their_worst_case_and_corrected),
		TEST(only_answers_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
