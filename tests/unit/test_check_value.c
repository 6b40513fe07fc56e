#include "check_world.h"

#define PRICE "\"type\": \"number\", \"pattern\": \"(?:price|価格)[:：] *(\\\\S+)\", "

static void a_captured_number_must_be_in_range(void **state)
{
	assert_green(PRICE "\"min\": 100, \"max\": 200", "price: 100, then price: 200");
	assert_red(PRICE "\"min\": 100", "price: 99", "99, at least 100 wanted", "99");
	assert_red(PRICE "\"max\": 200", "price: 201", "201, at most 200 wanted", "201");
}

static void every_match_counts(void **state)
{
	assert_red(PRICE "\"max\": 200", "price: 150 price: 2000 price: 3000",
		   "2000, at most 200 wanted", "2000");
}

static void what_is_not_found_is_red(void **state)
{
	assert_red(PRICE "\"min\": 1", "no such thing",
		   "the pattern /(?:price|価格)[:：] *(\\S+)/ is not found", NULL);
	assert_red(PRICE "\"min\": 1", "", "the pattern /(?:price|価格)[:：] *(\\S+)/ is not found",
		   NULL);
}

/* Each text against 1234.5 as the only number allowed. */
static void numbers_are_exact_decimals(void **state)
{
	static const struct {
		const char *text;
		bool ok;
	} cases[] = {
		{"1234.5", true},
		{"1,234.5", true},
		{"01234.500", true},
		{"￥１，２３４．５", true},
		{"¥1,234.5-", true},
		{"$1,234.5.", true},
		{"A-1234.5", true},
		{"1234.5円", true},
		{"1234.50000000000000000000000000000000000000001", false},
		{"1234.4999999999999999999999999999999999999999", false},
		{"-1234.5", false},
		{"−1234.5", false},
		{"1,234,5", false},
		{"12,34.5", false},
		{"1.234,5", false},
		{"1234.5.1", false},
		{"1234.5e0", false},
		{"1234.5/2", false},
		{",1234.5", false},
		{".1234.5", false},
		{"1\u200B234.5", false},
		{"千二百", false},
		{"11234.5", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str text = arena_printf(arena, "price: %s", cases[i].text);
		struct check_result r =
			result_of(PRICE "\"min\": \"1234.5\", \"max\": \"1234.50\"", text.p);
		if (r.ok != cases[i].ok)
			fail_msg("%s: %d, %.*s", cases[i].text, r.ok, STR_ARG(r.detail));
	}
}

static void numbers_below_nothing_are_in_order(void **state)
{
	assert_green(PRICE "\"min\": -10, \"max\": \"-0.5\"", "price: -0.50 price: -9.99");
	assert_red(PRICE "\"max\": \"-0.5\"", "price: -0.49", "-0.49, at most -0.5 wanted",
		   "-0.49");
	assert_red(PRICE "\"min\": -10", "price: −10.1", "−10.1, at least -10 wanted", "−10.1");
	assert_green(PRICE "\"min\": 0, \"max\": 0", "price: -0.0");
	/* more digits than any machine word */
	assert_red(PRICE "\"max\": 5", "price: 123456789012345678901234567890",
		   "123456789012345678901234567890, at most 5 wanted",
		   "123456789012345678901234567890");
}

static void what_is_no_number_is_red(void **state)
{
	assert_red(PRICE "\"min\": 1", "価格：応相談", "\"応相談\" is no decimal number", "応相談");
	assert_red("\"type\": \"number\", \"pattern\": \"x(\\\\d)?\", \"min\": 1", "ax",
		   "\"\" is no decimal number", "x");
}

static void a_description_stands_before_the_fault(void **state)
{
	assert_red(PRICE "\"max\": 9, \"describe\": \"The price\"", "price: 10",
		   "The price: 10, at most 9 wanted", "10");
	assert_phrase(PRICE "\"min\": 1, \"max\": 9, \"describe\": \"The price\"",
		      "The price (at least 1, at most 9).", "The price (1以上、9以下)。");
	assert_phrase("\"type\": \"number\", \"pattern\": \"(.)\", \"max\": \"0.5\"",
		      "The number that the pattern /(.)/ captures must be in range (at most 0.5).",
		      "正規表現 /(.)/ で取り出す数値の範囲 (0.5以下)。");
}

static void arguments_are_read_exactly(void **state)
{
#define NUMBER "{\"name\": \"c\", \"type\": \"number\", \"pattern\": \"(.)\""
	assert_refused("{\"name\": \"c\", \"type\": \"number\", \"min\": 1}",
		       "check \"c\": needs \"pattern\", a regular expression");
	assert_refused(
		"{\"name\": \"c\", \"type\": \"number\", \"pattern\": \"(.)(.)\", \"min\": 1}",
		"check \"c\": key \"pattern\": must have one (group), around the number; "
		"others are written (?:so)");
	assert_refused(NUMBER "}", "check \"c\": needs \"min\", \"max\" or both");
	assert_refused(NUMBER ", \"min\": 2, \"max\": \"1.9\"}",
		       "check \"c\": \"min\" must not be over \"max\"");
	static const char *const bad[] = {"0.5",    "\"1e3\"", "\"\"",	 "\"1,000\"",
					  "\"5.\"", "\"1-2\"", "\".5\"", "true"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_refused(arena_printf(arena, NUMBER ", \"max\": %s}", bad[i]).p,
			       "check \"c\": key \"max\": must be an integer, or a decimal as a "
			       "string: \"0.5\"");
}

/* A match at each byte: as much work as any pattern, and no more. */
static void many_matches_end_at_the_limit(void **state)
{
	static char text[200001];

	memset(text, '1', sizeof(text) - 1);
	struct check_result r =
		result_of("\"type\": \"number\", \"pattern\": \"(1)\", \"max\": 1", text);
	assert_false(r.ok);
	assert_true(str_find(r.detail, STR_OF("match limit exceeded; make it simpler"), 0) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_captured_number_must_be_in_range),
		T(every_match_counts),
		T(what_is_not_found_is_red),
		T(numbers_are_exact_decimals),
		T(numbers_below_nothing_are_in_order),
		T(what_is_no_number_is_red),
		T(a_description_stands_before_the_fault),
		T(arguments_are_read_exactly),
		T(many_matches_end_at_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
