/* tests/unit/test_retry.c - what is tried again, how often, and after how long. */
#include "app/retry.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const enum reply_class without_end[] = {REPLY_rate_limited, REPLY_overloaded,
					       REPLY_server_error, REPLY_credentials, REPLY_unsent};

static int64_t after(struct retry_state *s, enum reply_class class, uint32_t random)
{
	return retry_after_ms(s, class, -1, true, random);
}

/* Half a second, doubling to a minute; the wait lies in the upper half of it. */
static void the_wait_doubles_to_a_minute_and_half_of_it_is_jitter(void **state)
{
	static const uint32_t ceiling_ms[] = {500,   1000,  2000,  4000,  8000,
					      16000, 32000, 60000, 60000, 60000};
	struct retry_state low = {0}, high = {0};

	for (size_t i = 0; i < sizeof(ceiling_ms) / sizeof(*ceiling_ms); i++) {
		assert_int_equal(after(&low, REPLY_rate_limited, 0), ceiling_ms[i] / 2);
		assert_int_equal(after(&high, REPLY_rate_limited, ceiling_ms[i] / 2 - 1),
				 ceiling_ms[i] - 1);
	}
}

static void the_wait_never_reaches_its_ceiling(void **state)
{
	struct retry_state s = {0};

	assert_int_equal(after(&s, REPLY_unsent, 250), 250);
	assert_int_equal(after(&s, REPLY_unsent, UINT32_MAX), 500 + UINT32_MAX % 500);
}

static void retry_after_is_a_floor_under_the_jitter(void **state)
{
	struct retry_state s = {0};

	assert_int_equal(retry_after_ms(&s, REPLY_rate_limited, 2000, true, 123), 2123);
	assert_int_equal(retry_after_ms(&s, REPLY_server_error, 0, true, 123), 623);
	assert_int_equal(retry_after_ms(&s, REPLY_rate_limited, -1, true, 123), 1123);
}

/* Requests of one call in its first ten seconds, every one answered with 429 and this header. */
static int in_ten_seconds(const char *headers, uint32_t random)
{
	const int64_t now_ms = INT64_C(1764000000000);
	struct retry_state s = {0};
	int n = 0;

	for (int64_t at_ms = 0; at_ms <= 10000; n++) {
		int64_t floor_ms = http_retry_after_ms(str_c(headers), now_ms + at_ms);
		at_ms += retry_after_ms(&s, REPLY_rate_limited, floor_ms, true, random);
	}
	return n;
}

/* Own backoff at 0, 0.25 to 0.5, 0.75 to 1.5, 1.75 to 3.5, 3.75 to 7.5, 7.75 to 15.5 seconds. */
static void a_retry_after_that_says_nothing_changes_no_number_of_requests(void **state)
{
	static const char *const nothing[] = {"", "retry-after: 0\r\n", "retry-after: -1\r\n",
					      "retry-after: soon\r\n",
					      "retry-after: Mon, 24 Nov 2025 15:59:50 GMT\r\n"};

	for (size_t i = 0; i < sizeof(nothing) / sizeof(*nothing); i++) {
		for (uint32_t random = 0; random < 60000; random++) {
			int n = in_ten_seconds(nothing[i], random);
			assert_true(n == 5 || n == 6);
		}
		assert_int_equal(in_ten_seconds(nothing[i], 0), 6);
	}
}

static void no_floor_is_longer_than_a_day(void **state)
{
	struct retry_state s = {0};

	assert_int_equal(retry_after_ms(&s, REPLY_rate_limited, 7 * 86400000, true, 1), 86400001);
}

static void some_failures_are_retried_without_end(void **state)
{
	for (size_t i = 0; i < sizeof(without_end) / sizeof(*without_end); i++) {
		struct retry_state s = {0};

		for (int n = 0; n < 1000; n++)
			assert_true(after(&s, without_end[i], 7) >= 0);
		assert_int_equal(s.n_maybe_billed, 0);
	}
}

/* Only those count that the request met while the model answered others: an outage may begin with a few answers in between. */
static void the_sixth_server_error_ends_it_only_if_others_are_answered(void **state)
{
	struct retry_state s = {0};

	for (int n = 1; n <= 5; n++) {
		for (int in_vain = 0; in_vain < 20; in_vain++) {
			assert_true(after(&s, REPLY_server_error, 0) >= 0);
			assert_true(retry_after_ms(&s, REPLY_server_error, -1, true, 0) >= 0);
		}
		assert_true(retry_after_ms(&s, REPLY_server_error, -1, false, 0) >= 0);
	}
	assert_true(after(&s, REPLY_server_error, 0) >= 0);
	assert_int_equal(retry_after_ms(&s, REPLY_server_error, -1, false, 0), -1);
}

static void other_failures_are_no_server_errors(void **state)
{
	struct retry_state s = {0};

	for (int n = 0; n < 20; n++)
		assert_true(retry_after_ms(&s, REPLY_rate_limited, -1, false, 0) >= 0);
	assert_true(retry_after_ms(&s, REPLY_server_error, -1, false, 0) >= 0);
}

/* Of a request that fails while others are answered. */
static int64_t alone_after(struct retry_state *s, enum reply_class class)
{
	return retry_after_ms(s, class, -1, false, 0);
}

static void what_may_be_billed_is_tried_three_times_in_all(void **state)
{
	struct retry_state s = {0};

	assert_true(alone_after(&s, REPLY_broken_off) >= 0);
	assert_true(alone_after(&s, REPLY_rate_limited) >= 0);
	assert_true(alone_after(&s, REPLY_unreadable) >= 0);
	assert_int_equal(alone_after(&s, REPLY_broken_off), -1);
	assert_int_equal(s.n_maybe_billed, 3);
	assert_int_equal(s.n_failed, 4);
}

/* A model that hangs for an hour is not each request's fault; what it may cost is counted all the same. */
static void what_breaks_off_while_all_do_is_counted_but_not_held_against_it(void **state)
{
	struct retry_state s = {0};

	for (int n = 0; n < 20; n++)
		assert_true(after(&s, REPLY_broken_off, 0) >= 0);
	assert_int_equal(s.n_maybe_billed, 20);
	assert_true(alone_after(&s, REPLY_broken_off) >= 0);
	assert_true(alone_after(&s, REPLY_unreadable) >= 0);
	assert_int_equal(alone_after(&s, REPLY_broken_off), -1);
	assert_int_equal(s.n_maybe_billed, 23);
}

/* Each is charged to the job: 1, 4, 16, 64, 256 s and 15 minutes at least, or what the provider asks if that is longer. */
static void the_pauses_before_what_may_be_billed_again_grow_fourfold(void **state)
{
	static const int64_t floor_ms[] = {1000, 4000, 16000, 64000, 256000, 900000, 900000};
	struct retry_state s = {0};

	assert_int_equal(after(&s, REPLY_overloaded, 0), 250);
	for (size_t i = 0; i < sizeof(floor_ms) / sizeof(*floor_ms); i++)
		assert_in_range(after(&s, REPLY_broken_off, 0), floor_ms[i], floor_ms[i] + 30000);
	assert_int_equal(retry_after_ms(&s, REPLY_unreadable, 1000000, true, 0), 1000000);
}

/* 500 calls are told "in 5 seconds" at one moment: none comes sooner, they come over 2.5 seconds, in no tenth of it more than twice their
 * share. A minute's floor spreads over half a minute. */
static void those_told_the_same_do_not_come_back_together(void **state)
{
	static const struct {
		int64_t floor_ms, spread_ms;
	} told[] = {{5000, 2500}, {60000, 30000}, {600000, 30000}};
	uint32_t random = 2463534242;

	for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++) {
		int n_in_tenth[10] = {0};

		for (int n = 0; n < 500; n++) {
			struct retry_state s = {0};
			random ^= random << 13;
			random ^= random >> 17;
			random ^= random << 5;
			int64_t late_ms = retry_after_ms(&s, REPLY_rate_limited, told[i].floor_ms,
							 true, random) -
					  told[i].floor_ms;
			assert_in_range(late_ms, 0, told[i].spread_ms - 1);
			n_in_tenth[late_ms * 10 / told[i].spread_ms]++;
		}
		for (int tenth = 0; tenth < 10; tenth++)
			assert_in_range(n_in_tenth[tenth], 25, 100);
	}
}

static void a_rejected_request_is_not_sent_again(void **state)
{
	struct retry_state s = {0};

	assert_int_equal(after(&s, REPLY_rejected, 0), -1);
	assert_int_equal(s.n_maybe_billed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_wait_doubles_to_a_minute_and_half_of_it_is_jitter),
		cmocka_unit_test(the_wait_never_reaches_its_ceiling),
		cmocka_unit_test(retry_after_is_a_floor_under_the_jitter),
		cmocka_unit_test(a_retry_after_that_says_nothing_changes_no_number_of_requests),
		cmocka_unit_test(no_floor_is_longer_than_a_day),
		cmocka_unit_test(some_failures_are_retried_without_end),
		cmocka_unit_test(the_sixth_server_error_ends_it_only_if_others_are_answered),
		cmocka_unit_test(other_failures_are_no_server_errors),
		cmocka_unit_test(what_may_be_billed_is_tried_three_times_in_all),
		cmocka_unit_test(what_breaks_off_while_all_do_is_counted_but_not_held_against_it),
		cmocka_unit_test(the_pauses_before_what_may_be_billed_again_grow_fourfold),
		cmocka_unit_test(those_told_the_same_do_not_come_back_together),
		cmocka_unit_test(a_rejected_request_is_not_sent_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
