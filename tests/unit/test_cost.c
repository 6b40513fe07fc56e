#include "core/cost.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* USD 3 in, 0.30 cached, 15 out for a million tokens; all twice as dear from the moment 1000 on. */
static const struct price prices[] = {
	{.valid_from_ms = 500, .in = 3000000, .cached = 300000, .out = 15000000},
	{.valid_from_ms = 1000, .in = 6000000, .cached = 600000, .out = 30000000},
};
static const struct model model = {.tokens_per_kb = 400, .price = prices, .n_price = 2};

static int64_t cost(int64_t in, int64_t cached, int64_t out)
{
	return cost_micro_usd(&model, (struct usage){in, cached, out, 0}, 700);
}

static void a_thousand_in_and_200_out_cost_6000_micro_usd(void **state)
{
	assert_int_equal(cost(1000, 0, 200), 6000);
	assert_int_equal(cost(0, 0, 0), 0);
}

static void cached_tokens_are_part_of_the_input_and_cheaper(void **state)
{
	assert_int_equal(cost(1000, 1000, 0), 300);
	assert_int_equal(cost(1000, 400, 0), 1800 + 120);
}

/* 0.3 of a micro-USD is 1, and so are 3 of these: the call is rounded, not its parts. */
static void a_call_is_rounded_up_once(void **state)
{
	static const struct price cheap = {.in = 300000, .cached = 300000, .out = 300000};
	static const struct model small = {.price = &cheap, .n_price = 1};

	assert_int_equal(cost_micro_usd(&small, (struct usage){1, 0, 0, 0}, 0), 1);
	assert_int_equal(cost_micro_usd(&small, (struct usage){2, 1, 1, 0}, 0), 1);
	assert_int_equal(cost_micro_usd(&small, (struct usage){2, 1, 2, 0}, 0), 2);
}

static void the_row_in_force_at_the_time_counts(void **state)
{
	const struct usage u = {.in = 1000};

	assert_int_equal(cost_micro_usd(&model, u, 999), 3000);
	assert_int_equal(cost_micro_usd(&model, u, 1000), 6000);
	assert_int_equal(cost_micro_usd(&model, u, INT64_MAX), 6000);
	assert_int_equal(cost_micro_usd(&model, u, 0), 3000); /* before any row: the first */
}

static void what_cannot_be_counted_is_the_maximum(void **state)
{
	const int64_t most = INT64_MAX;

	assert_int_equal(cost(most, 0, 0), COST_MAX);
	assert_int_equal(cost(most, most, most), COST_MAX);
	assert_int_equal(cost(INT64_C(1) << 40, 0, INT64_C(1) << 40), COST_MAX);
	assert_int_equal(reserve_tokens(&model, most, 1), COST_MAX);
	assert_int_equal(reserve_tokens(&model, 0, most), COST_MAX);
	assert_int_equal(reserve_tokens(&model, 1000, most), COST_MAX);
	assert_int_equal(reserve_micro_usd(&model, most, 0, 700), COST_MAX);
}

/* 1,001 bytes at 400 tokens for 1,000 bytes are 400.4, so 401 tokens. */
static void a_reserve_is_the_worst_case(void **state)
{
	assert_int_equal(reserve_tokens(&model, 1000, 200), 600);
	assert_int_equal(reserve_tokens(&model, 1001, 200), 601);
	assert_int_equal(reserve_micro_usd(&model, 1001, 200, 700), 401 * 3 + 200 * 15);
	assert_int_equal(reserve_micro_usd(&model, 1001, 200, 1000), 2 * (401 * 3 + 200 * 15));
}

/* 1,000 in, of which 600 are read from the cache and 300 written to it: 100 * 3 + 600 * 0.3 + 300 * 3.75 = 1605. */
static void what_is_written_to_the_cache_has_its_own_price(void **state)
{
	static const struct price dear = {
		.in = 3000000, .cached = 300000, .out = 15000000, .cache_write = 3750000};
	static const struct model writer = {.tokens_per_kb = 400, .price = &dear, .n_price = 1};
	const struct usage u = {.in = 1000, .cached = 600, .cache_write = 300};

	assert_int_equal(cost_micro_usd(&writer, u, 0), 1605);
	/* The worst case is that all of the prompt is written. */
	assert_int_equal(reserve_micro_usd(&writer, 1000, 200, 0), 400 * 3750 / 1000 + 200 * 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thousand_in_and_200_out_cost_6000_micro_usd),
		cmocka_unit_test(cached_tokens_are_part_of_the_input_and_cheaper),
		cmocka_unit_test(a_call_is_rounded_up_once),
		cmocka_unit_test(the_row_in_force_at_the_time_counts),
		cmocka_unit_test(what_cannot_be_counted_is_the_maximum),
		cmocka_unit_test(a_reserve_is_the_worst_case),
		cmocka_unit_test(what_is_written_to_the_cache_has_its_own_price),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
