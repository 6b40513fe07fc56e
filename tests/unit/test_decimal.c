#include "base/decimal.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct decimal read_one(const char *number)
{
	struct decimal out;

	assert_true(decimal_read(str_c(number), &out));
	return out;
}

static void equal_numbers_have_one_form(void **state)
{
	static const char *const forms[][2] = {
		{"0", "0e0"},
		{"-0.0e7", "0e0"},
		{"1", "1e0"},
		{"1.0", "1e0"},
		{"10e-1", "1e0"},
		{"0.1E+1", "1e0"},
		{"-1200", "-12e2"},
		{"0.00120", "12e-4"},
		{"120.0340", "120034e-3"},
		{"1e05", "1e5"},
		{"5e-999999999", "5e-999999999"},
		{"123456789012345678901234567890", "12345678901234567890123456789e1"},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct decimal d = read_one(forms[i][0]);
		struct buf form = BUF(100);
		decimal_put(&d, &form);
		assert_string_equal(form.p, forms[i][1]);
		buf_release(&form);
	}
}

static void an_exponent_has_at_most_nine_digits(void **state)
{
	struct decimal out;

	assert_true(decimal_read(STR_OF("1e-00999999999"), &out));
	assert_false(decimal_read(STR_OF("1e1000000000"), &out));
	assert_false(decimal_read(STR_OF("0e-1000000000"), &out));
}

static void numbers_are_ordered(void **state)
{
	static const char *const order[] = {"-1e999",
					    "-10.01",
					    "-10",
					    "-9.5",
					    "-1e-999",
					    "0",
					    "1e-999",
					    "0.1",
					    "0.1000000000000000000001",
					    "0.11",
					    "9",
					    "10",
					    "10.5",
					    "99",
					    "9007199254740992",
					    "9007199254740993",
					    "1e308",
					    "1e309",
					    "2e309"};
	const int n = sizeof(order) / sizeof(order[0]);

	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++) {
			struct decimal a = read_one(order[i]), b = read_one(order[k]);
			assert_int_equal(decimal_cmp(&a, &b), (i > k) - (i < k));
		}
}

static bool is_multiple(const char *number, const char *unit)
{
	struct decimal n = read_one(number), u = read_one(unit);

	return decimal_is_multiple(&n, &u);
}

static void multiples_are_exact(void **state)
{
	assert_true(is_multiple("0", "7"));
	assert_true(is_multiple("0.07", "0.01"));
	assert_true(is_multiple("19.99", "0.01"));
	assert_false(is_multiple("19.995", "0.01"));
	assert_true(is_multiple("-1e100", "8"));
	assert_false(is_multiple("1e2", "8"));
	assert_true(is_multiple("1e3", "8"));
	assert_true(is_multiple("1e999999999", "0.125"));
	assert_false(is_multiple("1e999999999", "3"));
	/* 3 * 333333333333333333333333333333333 and one more */
	assert_true(is_multiple("999999999999999999999999999999999", "3"));
	assert_false(is_multiple("1000000000000000000000000000000000", "3"));
	/* 999999999999999989 * 1000000007, by multiplication */
	assert_true(is_multiple("1000000006999999988999999923", "999999999999999989"));
	assert_false(is_multiple("1000000006999999988999999924", "999999999999999989"));
	assert_false(is_multiple("0.5", "1"));
	assert_true(is_multiple("7", "0.5"));
}

static void integers_are_told_by_their_value(void **state)
{
	const char *const integers[] = {"0", "-0.0", "1.0", "1e2", "12.50e2"};
	const char *const others[] = {"0.5", "1e-1", "12.50e1", "100e-3"};
	struct decimal d;

	for (size_t i = 0; i < sizeof(integers) / sizeof(integers[0]); i++) {
		d = read_one(integers[i]);
		assert_true(decimal_is_integer(&d));
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) - 1; i++) {
		d = read_one(others[i]);
		assert_int_equal(decimal_is_integer(&d), i == 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_numbers_have_one_form),
		cmocka_unit_test(an_exponent_has_at_most_nine_digits),
		cmocka_unit_test(numbers_are_ordered),
		cmocka_unit_test(multiples_are_exact),
		cmocka_unit_test(integers_are_told_by_their_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
