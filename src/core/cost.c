#include "core/cost.h"

enum { TOKENS_A_PRICE = 1000000, BYTES_A_RATE = 1000 };

/* Counts and prices are never negative: only the upper end can be passed. */
static int64_t add(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t multiply(int64_t a, int64_t b)
{
	int64_t product;

	return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* @a / @b, rounded up; what was too large to count stays so. */
static int64_t divide_up(int64_t a, int64_t b)
{
	return a == INT64_MAX ? a : a / b + (a % b != 0);
}

static int64_t at_most(int64_t n)
{
	return n < COST_MAX ? n : COST_MAX;
}

static const struct price *price_at(const struct model *model, int64_t at_ms)
{
	const struct price *price = model->price;

	for (int i = 1; i < model->n_price && model->price[i].valid_from_ms <= at_ms; i++)
		price = &model->price[i];
	return price;
}

int64_t cost_micro_usd(const struct model *model, struct usage usage, int64_t at_ms)
{
	const struct price *price = price_at(model, at_ms);

	if (usage.in < 0 || usage.out < 0 || usage.cached < 0 || usage.cached > usage.in ||
	    usage.cache_write < 0 || usage.cache_write > usage.in - usage.cached)
		BUG("a price asked for %lld tokens in, %lld and %lld of them cached, %lld out",
		    (long long)usage.in, (long long)usage.cached, (long long)usage.cache_write,
		    (long long)usage.out);
	int64_t in = multiply(usage.in - usage.cached - usage.cache_write, price->in);
	int64_t cached = add(multiply(usage.cached, price->cached),
			     multiply(usage.cache_write, price->cache_write));
	int64_t out = multiply(usage.out, price->out);
	return at_most(divide_up(add(add(in, cached), out), TOKENS_A_PRICE));
}

/* An upper estimate of the input. */
static int64_t prompt_tokens(const struct model *model, int64_t prompt_bytes)
{
	return divide_up(multiply(prompt_bytes, model->tokens_per_kb), BYTES_A_RATE);
}

int64_t reserve_tokens(const struct model *model, int64_t prompt_bytes, int64_t max_output_tokens)
{
	return at_most(add(prompt_tokens(model, prompt_bytes), max_output_tokens));
}

int64_t reserve_micro_usd(const struct model *model, int64_t prompt_bytes,
			  int64_t max_output_tokens, int64_t at_ms)
{
	const struct price *price = price_at(model, at_ms);
	struct usage worst = {.in = prompt_tokens(model, prompt_bytes), .out = max_output_tokens};

	if (price->cache_write > price->in)
		worst.cache_write = worst.in;
	return cost_micro_usd(model, worst, at_ms);
}
