/* str, err and clock. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct str absent;

static void check_str(struct str got, const char *want)
{
	assert_non_null(got.p);
	assert_int_equal(got.n, strlen(want));
	assert_memory_equal(got.p, want, got.n);
}

static void an_absent_string_equals_an_empty_one_in_bytes(void **state)
{
	assert_null(str_c(NULL).p);
	assert_non_null(str_c("").p);
	assert_true(str_eq(absent, str_c("")));
	assert_false(str_eq(str_c("ab"), str_c("aB")));
	assert_true(str_is(STR_OF("ab"), "ab"));
	assert_true(str_starts(str_c("abc"), "ab"));
	assert_false(str_starts(str_c("a"), "ab"));
}

static void find_gives_the_first_hit_from_a_place_on(void **state)
{
	struct str s = STR("abcabc");

	assert_int_equal(str_find(s, str_c("bc"), 0), 1);
	assert_int_equal(str_find(s, str_c("bc"), 1), 1);
	assert_int_equal(str_find(s, str_c("bc"), 2), 4);
	assert_int_equal(str_find(s, str_c("bc"), 5), -1);
	assert_int_equal(str_find(s, str_c("bc"), 100), -1);
	assert_int_equal(str_find(s, str_c(""), 0), -1);
	assert_int_equal(str_find(absent, str_c("a"), 0), -1);
}

static void trim_takes_ascii_white_space_only(void **state)
{
	check_str(str_trim(str_c(" \t\r\n a b \n")), "a b");
	check_str(str_trim(str_c(" \n")), "");
	check_str(str_trim(str_c("\xC2\xA0x")), "\xC2\xA0x");
	assert_null(str_trim(absent).p);
}

static void sub_is_clipped(void **state)
{
	struct str s = STR("abcd");

	check_str(str_sub(s, 1, 2), "bc");
	check_str(str_sub(s, 3, SIZE_MAX), "d");
	check_str(str_sub(s, 9, 1), "");
	assert_null(str_sub(absent, 1, 1).p);
}

static void a_cut_leaves_no_half_of_a_character(void **state)
{
	struct str s = STR("aé誤"); /* 1 + 2 + 3 bytes */

	check_str(str_cut(s, 6), "aé誤");
	check_str(str_cut(s, 5), "aé");
	check_str(str_cut(s, 3), "aé");
	check_str(str_cut(s, 2), "a");
	check_str(str_cut(s, 0), "");
}

static void a_word_is_looked_up_whole(void **state)
{
	static const char *const names[] = {"low", "high", NULL};

	assert_int_equal(str_among(str_c("high"), names), 1);
	assert_int_equal(str_among(str_c("hig"), names), -1);
	assert_int_equal(str_among(str_c(""), names), -1);
	assert_true(str_only(str_c("cab"), "abc") && str_only(str_c(""), "abc"));
	assert_false(str_only(str_c("cabd"), "abc"));
	assert_false(str_only(STR_OF("a\0"), "abc"));
}

static void cmp_is_the_order_of_bytes(void **state)
{
	assert_true(str_cmp(str_c("a"), str_c("b")) < 0);
	assert_true(str_cmp(str_c("ab"), str_c("a")) > 0);
	assert_true(str_cmp(str_c("Z"), str_c("a")) < 0);
	assert_true(str_cmp(str_c("z"), str_c("\xC3\xA9")) < 0);
	assert_int_equal(str_cmp(absent, str_c("")), 0);
}

static void an_integer_is_read_whole_or_not_at_all(void **state)
{
	static const struct {
		const char *text;
		int64_t value;
	} fine[] = {
		{"0", 0},
		{"7", 7},
		{"-12", -12},
		{"9223372036854775807", INT64_MAX},
		{"-9223372036854775808", INT64_MIN},
	};
	static const char *const bad[] = {
		"",
		"-",
		"+1",
		" 1",
		"1 ",
		"01",
		"-0",
		"00",
		"1.0",
		"1e3",
		"0x1",
		"12a",
		"a1",
		"--1",
		"9223372036854775808",
		"-9223372036854775809",
		"99999999999999999999",
	};
	int64_t n = 42;

	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
		assert_true(str_to_int(str_c(fine[i].text), INT64_MIN, INT64_MAX, &n));
		assert_int_equal(n, fine[i].value);
	}
	n = 42;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(str_to_int(str_c(bad[i]), INT64_MIN, INT64_MAX, &n));
	assert_false(str_to_int(absent, INT64_MIN, INT64_MAX, &n));
	assert_false(str_to_int(str_c("6"), 1, 5, &n));
	assert_false(str_to_int(str_c("0"), 1, 5, &n));
	assert_int_equal(n, 42);
	assert_true(str_to_int(str_c("5"), 1, 5, &n));
}

static void an_error_is_a_sentence_with_its_place_in_front(void **state)
{
	struct err err = {""};

	assert_int_equal(err_set(&err, ST_INVALID, "no key '%s'", "model"), ST_INVALID);
	err_at(&err, "%s:%d: ", "a.yaml", 3);
	assert_string_equal(err.text, "a.yaml:3: no key 'model'");
	assert_int_equal(err_set(NULL, ST_DOWN, "unheard"), ST_DOWN);
	err_at(NULL, "unheard");
}

static void an_error_may_quote_itself(void **state)
{
	struct err err = {"inner"};

	assert_int_equal(err_set(&err, ST_AGAIN, "outer: %s", err.text), ST_AGAIN);
	assert_string_equal(err.text, "outer: inner");
}

static void a_long_error_is_cut_between_characters(void **state)
{
	struct err err;
	char text[600];

	memset(text, 'x', sizeof(text));
	strcpy(text + 510, "\xE6\x95\xAC\xE6\x95\xAC");
	(void)err_set(&err, ST_INVALID, "%s", text);
	assert_int_equal(strlen(err.text), 510);
	strcpy(text + 508, "\xE6\x95\xAC\xE6\x95\xAC");
	(void)err_set(&err, ST_INVALID, "%s", text);
	assert_int_equal(strlen(err.text), 511);
	err_at(&err, "p: ");
	assert_memory_equal(err.text, "p: xxx", 6);
	assert_int_equal(strlen(err.text), 511);
}

static void a_time_is_read_to_the_millisecond(void **state)
{
	static const struct {
		const char *text;
		int64_t unix_ms;
	} fine[] = {
		{"1970-01-01T00:00:00Z", 0},
		{"2024-02-29T12:34:56.789Z", 1709210096789},
		{"2024-02-29t12:34:56.7890000z", 1709210096789},
		{"2024-02-29T12:34:56.7899+00:00", 1709210096789},
		{"2024-02-29T12:34:56.7Z", 1709210096700},
		{"2026-11-30T21:00:00+09:00", 1796040000000},
		{"2000-03-01T00:00:00-05:30", 951888600000},
		{"1970-01-01T01:00:00+01:00", 0},
		{"9999-12-31T23:59:59.999Z", 253402300799999},
	};

	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
		int64_t ms = -1;
		assert_true(time_read(str_c(fine[i].text), &ms));
		assert_int_equal(ms, fine[i].unix_ms);
	}
}

static void a_time_that_no_calendar_has_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"2026-11-30",
		"2026-11-30T12:00:00",
		"2026-11-30 12:00:00Z",
		"2026-11-30T12:00Z",
		"2026-11-30T12:00:00.Z",
		"2026-11-30T12:00:00,5Z",
		"2026-11-30T12:00:00Z ",
		" 2026-11-30T12:00:00Z",
		"2026-11-30T12:00:00+0900",
		"2026-11-30T12:00:00+09",
		"2026-11-30T12:00:00+24:00",
		"2026-11-30T12:00:00+09:60",
		"2026-02-29T12:00:00Z",
		"2100-02-29T12:00:00Z",
		"2026-04-31T12:00:00Z",
		"2026-13-01T12:00:00Z",
		"2026-00-01T12:00:00Z",
		"2026-01-00T12:00:00Z",
		"2026-11-30T24:00:00Z",
		"2026-11-30T12:60:00Z",
		"2026-11-30T23:59:60Z",
		"1969-12-31T23:59:59Z",
		"1970-01-01T00:00:00+00:01",
		"9999-12-31T23:59:59-00:01",
		"2026-1-30T12:00:00Z",
		"+026-11-30T12:00:00Z",
	};
	int64_t ms = 5;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(time_read(str_c(bad[i]), &ms));
	assert_false(time_read(STR_OF("2026-11-30T12:00:00\0Z"), &ms));
	assert_int_equal(ms, 5);
}

static void check_written(int64_t unix_ms, const char *want)
{
	struct buf b = BUF(100);

	time_write(&b, unix_ms);
	check_str(buf_view(&b), want);
	buf_release(&b);
}

static void a_time_is_written_in_utc(void **state)
{
	check_written(0, "1970-01-01T00:00:00.000Z");
	check_written(1709210096789, "2024-02-29T12:34:56.789Z");
	check_written(253402300799999, "9999-12-31T23:59:59.999Z");
}

static void the_clocks_go_on(void **state)
{
	int64_t before = clock_mono_ms();

	assert_true(clock_unix_ms() > 1700000000000);
	assert_true(clock_mono_ms() >= before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_absent_string_equals_an_empty_one_in_bytes),
		cmocka_unit_test(find_gives_the_first_hit_from_a_place_on),
		cmocka_unit_test(trim_takes_ascii_white_space_only),
		cmocka_unit_test(sub_is_clipped),
		cmocka_unit_test(a_cut_leaves_no_half_of_a_character),
		cmocka_unit_test(a_word_is_looked_up_whole),
		cmocka_unit_test(cmp_is_the_order_of_bytes),
		cmocka_unit_test(an_integer_is_read_whole_or_not_at_all),
		cmocka_unit_test(an_error_is_a_sentence_with_its_place_in_front),
		cmocka_unit_test(an_error_may_quote_itself),
		cmocka_unit_test(a_long_error_is_cut_between_characters),
		cmocka_unit_test(a_time_is_read_to_the_millisecond),
		cmocka_unit_test(a_time_that_no_calendar_has_is_refused),
		cmocka_unit_test(a_time_is_written_in_utc),
		cmocka_unit_test(the_clocks_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
