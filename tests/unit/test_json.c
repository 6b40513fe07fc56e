#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void check_fault(struct str text, enum json_fault want, const char *part_of_error)
{
	struct json *j = NULL;
	struct err err = {""};
	enum json_fault fault = json_read(text, &j, &err);

	if (fault != want)
		fail_msg("'%.*s': fault %d, not %d (%s)", STR_ARG(text), fault, want, err.text);
	if (!strstr(err.text, part_of_error))
		fail_msg("'%.*s': '%s' does not say '%s'", STR_ARG(text), err.text, part_of_error);
	assert_null(j);
}

static struct json *read_fine(const char *text)
{
	struct json *j = NULL;
	struct err err = {""};

	if (json_read(str_c(text), &j, &err) != JSON_FINE)
		fail_msg("'%s': %s", text, err.text);
	return j;
}

/* What comes out of @text by json_print(). */
static void check_printed(const char *text, const char *want)
{
	struct json *j = read_fine(text);
	struct buf b = BUF(1 << 20);

	json_print(j, &b);
	assert_string_equal(buf_view(&b).p, want);
	buf_release(&b);
	json_free(j);
}

static void each_kind_of_value_is_read(void **state)
{
	check_printed("null", "null");
	check_printed(" true\n", "true");
	check_printed("\t[false]\r\n", "[false]");
	check_printed("0", "0");
	check_printed("-0", "0");
	check_printed("-12", "-12");
	check_printed("1.5", "1.5");
	check_printed("-0.0", "-0.0");
	check_printed("2E+3", "2E+3"); /* what was no integer is read as none again */
	check_printed("1e-2", "1e-2");
	check_printed("\"\"", "\"\"");
	check_printed("[ ]", "[]");
	check_printed("{ }", "{}");
	check_printed("{\"b\" : [1 , 2.25, {\"x\":null}] , \"a\":\"敬具\"}",
		      "{\"b\":[1,2.25,{\"x\":null}],\"a\":\"敬具\"}");
}

static void integers_keep_all_64_bits(void **state)
{
	check_printed("[9223372036854775807,-9223372036854775808,9007199254740993]",
		      "[9223372036854775807,-9223372036854775808,9007199254740993]");
}

static void a_byte_order_mark_in_front_is_skipped(void **state)
{
	check_printed("\xEF\xBB\xBF {}", "{}");
	check_fault(STR_OF("{}\xEF\xBB\xBF"), JSON_NOT_JSON, "byte 2");
	check_fault(STR_OF("\xEF\xBB\xBF"), JSON_EMPTY, "");
}

static void nothing_is_empty(void **state)
{
	check_fault(STR_OF(""), JSON_EMPTY, "no value");
	check_fault(STR_OF(" \t\r\n"), JSON_EMPTY, "no value");
	check_fault(str_c(NULL), JSON_EMPTY, "no value");
}

/* What json-c 0.16 lets pass in its strict mode, each measured. */
static void what_json_c_alone_lets_pass_is_refused(void **state)
{
	check_fault(STR_OF("{\"score\":1,\"score\":9}"), JSON_DUPLICATE_KEY, "'score'");
	check_fault(STR_OF("99999999999999999999"), JSON_NOT_JSON, "number out of range");
	check_fault(STR_OF("NaN"), JSON_NOT_JSON, "no JSON value");
	check_fault(STR_OF("[Infinity]"), JSON_NOT_JSON, "byte 1");
	check_fault(STR_OF("-Infinity"), JSON_NOT_JSON, "byte 1");
	check_fault(STR_OF("1e400"), JSON_NOT_JSON, "number out of range");
	check_fault(STR_OF("{'a':1}"), JSON_NOT_JSON, "byte 1");
	check_fault(STR_OF("{\"a\":1}\0{\"a\":2}"), JSON_NOT_JSON,
		    "more after the value at byte 7");
	check_fault(STR_OF("\"\xC0\xAF\""), JSON_NOT_UTF8, "byte 1");
	check_fault(STR_OF("\"\xED\xA0\x80\""), JSON_NOT_UTF8, "byte 1");
	check_fault(STR_OF("\"\\ud800\""), JSON_NOT_JSON, "lone surrogate at byte 1");
}

static const char *const no_json[] = {
	"[1,]",
	"[,1]",
	"[1 2]",
	"[",
	"]",
	"[1",
	"{",
	"{\"a\"",
	"{\"a\":",
	"{\"a\":1",
	"{\"a\":1,",
	"{\"a\":1,}",
	"{,}",
	"{a:1}",
	"{1:1}",
	"{\"a\" 1}",
	"{\"a\"::1}",
	"{\"a\":1]",
	"[1}",
	"01",
	"-",
	"-01",
	"+1",
	".5",
	"1.",
	"1.e3",
	"1e",
	"1e+",
	"0x10",
	"1_000",
	"tru",
	"True",
	"nul",
	"nullx",
	"true false",
	"\"a",
	"\"a\\",
	"\"\\x\"",
	"\"\\u12\"",
	"\"\\u12g4\"",
	"\"a\nb\"",
	"\"a\tb\"",
	"\"\\u0000\"",
	"\"\\udc00\"",
	"\"\\ud83d\\n\"",
	"\"\\ud83d\\u0041\"",
	"\"\\ud83d\"",
	"// c\n1",
	"/* c */ 1",
	"1 // c",
	"{}{}",
	"[]]",
	"'a'",
	"\\u0031",
	"\xC2\xA0 1",
	"1\f",
	"\"\\U0041\"",
	"--1",
	"1-",
	"\"\\ud83d\\ud83d\"",
};

static void what_is_no_json_is_refused(void **state)
{
	for (size_t i = 0; i < sizeof(no_json) / sizeof(no_json[0]); i++)
		check_fault(str_c(no_json[i]), JSON_NOT_JSON, "byte");
	check_fault(STR_OF("\"a\0b\""), JSON_NOT_JSON, "control character in a string at byte 2");
	check_fault(STR_OF("\0"), JSON_NOT_JSON, "byte 0");
}

static void numbers_end_at_64_bits_and_at_the_largest_double(void **state)
{
	char digits[300];

	check_fault(STR_OF("[9223372036854775808]"), JSON_NOT_JSON,
		    "number out of range at byte 1");
	check_fault(STR_OF("-9223372036854775809"), JSON_NOT_JSON, "number out of range");
	check_fault(STR_OF("-1e309"), JSON_NOT_JSON, "number out of range");
	check_printed("1e308", "1e308");
	check_printed("1e-400", "1e-400");
	memset(digits, '1', sizeof(digits));
	digits[1] = '.';
	check_fault((struct str){digits, sizeof(digits)}, JSON_NOT_JSON, "number out of range");
}

static void text_that_is_not_utf8_is_named_by_its_first_byte(void **state)
{
	check_fault(STR_OF("{\"a\":\"\xFF\"}"), JSON_NOT_UTF8, "byte 6");
	check_fault(STR_OF("not json either \x80"), JSON_NOT_UTF8, "byte 16");
	check_fault(STR_OF("\"\xE6\x95\""), JSON_NOT_UTF8, "byte 1");
	check_fault(STR_OF("\"\xF4\x90\x80\x80\""), JSON_NOT_UTF8, "byte 1");
	check_fault(STR_OF("\"\xF0\x9F\x98"), JSON_NOT_UTF8, "byte 1");
}

static void escapes_come_out_right(void **state)
{
	struct json *j = read_fine("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\",\"\\u0041\\u00e9\\u656C\","
				   "\"\\ud83D\\uDE00\",\"\\uFFFF\\u007f\",\"a\\u0001z\"]");
	static const char *const want[] = {"\"\\/\b\f\n\r\t", "A\xC3\xA9\xE6\x95\xAC",
					   "\xF0\x9F\x98\x80", "\xEF\xBF\xBF\x7F", "a\1z"};

	assert_int_equal(json_size(j), 5);
	for (size_t i = 0; i < 5; i++)
		assert_true(str_is(json_str(json_item(j, i)), want[i]));
	json_free(j);
}

static void keys_are_compared_as_they_read(void **state)
{
	check_fault(STR_OF("{\"a\":1,\"\\u0061\":2}"), JSON_DUPLICATE_KEY, "byte 7");
	check_fault(STR_OF("{\"\\u006b\\n\":1,\"k\\u000A\":2}"), JSON_DUPLICATE_KEY, "byte 14");
	check_fault(STR_OF("{\"\":1,\"\":2}"), JSON_DUPLICATE_KEY, "byte 6");
	check_fault(STR_OF("{\"a\":{\"b\":1},\"c\":[{\"d\":1,\"e\":2,\"d\":3}]}"),
		    JSON_DUPLICATE_KEY, "'d'");
	check_fault(STR_OF("{\"\\ud83d\\ude00\":1,\"\xF0\x9F\x98\x80\":2}"), JSON_DUPLICATE_KEY,
		    "byte 18");
	check_printed(
		"{\"a\":{\"a\":{\"a\":1}},\"A\":[{\"a\":1},{\"a\":2}],\"\\u00e9\":1,\"e\\u0301\":2}",
		"{\"a\":{\"a\":{\"a\":1}},\"A\":[{\"a\":1},{\"a\":2}],\"é\":1,\"e\xCC\x81\":2}");
}

/* @inside @n_level brackets. */
static struct str nested(struct arena *a, int n_level, const char *inside)
{
	struct str open, close;

	open.p = memset(arena_alloc(a, (size_t)n_level + 1), '[', (size_t)n_level);
	close.p = memset(arena_alloc(a, (size_t)n_level + 1), ']', (size_t)n_level);
	return arena_printf(a, "%s%s%s", open.p, inside, close.p);
}

/* [1,1,..] of @n ones: n + 1 values. */
static enum json_fault read_ones(int n, struct err *err)
{
	struct json *j = NULL;
	struct buf text = BUF(1 << 20);

	buf_puts(&text, "[1");
	for (int i = 1; i < n; i++)
		buf_puts(&text, ",1");
	buf_puts(&text, "]");
	enum json_fault fault = json_read_sent(buf_view(&text), &j, err);
	assert_int_equal(json_read(buf_view(&text), &j, err), JSON_FINE);
	json_free(j);
	buf_release(&text);
	return fault;
}

static void what_is_sent_has_a_most_of_values(void **state)
{
	struct json *j = NULL;
	struct err err = {""};

	assert_int_equal(json_read_sent(str_c("{\"a\":[1]}"), &j, &err), JSON_FINE);
	json_free(j);
	assert_int_equal(read_ones(JSON_VALUES_MAX, &err), JSON_NOT_JSON);
	assert_string_equal(err.text, "more than 10000 values at byte 19999");
}

static void sixty_four_levels_and_no_more(void **state)
{
	struct arena *a = arena_new();

	check_printed(nested(a, 64, "").p, nested(a, 64, "").p);
	check_printed(nested(a, 64, "1").p, nested(a, 64, "1").p);
	check_printed(nested(a, 63, "{\"a\":\"x\"}").p, nested(a, 63, "{\"a\":\"x\"}").p);
	check_fault(nested(a, 65, ""), JSON_NOT_JSON, "more than 64 levels at byte 64");
	check_fault(nested(a, 64, "{}"), JSON_NOT_JSON, "more than 64 levels at byte 64");
	check_fault(nested(a, 100000, ""), JSON_NOT_JSON, "more than 64 levels at byte 64");
	arena_free(a);
}

/* Quadratic work on 100,000 keys would take many seconds. */
static void a_long_object_is_read_and_walked_in_linear_time(void **state)
{
	enum { N_KEY = 100000 };
	struct buf b = BUF(4 << 20);
	struct json_out o = {.buf = &b};
	const struct json *value;
	char key[20];
	struct json *j;
	struct str k;

	json_open(&o, NULL, '{');
	for (int i = 0; i < N_KEY; i++) {
		snprintf(key, sizeof(key), "k%d", i * 7919 % N_KEY);
		json_put_int(&o, key, i);
	}
	json_close(&o, '}');
	j = read_fine(b.p);
	for (size_t i = 0; i < N_KEY; i++) {
		assert_true(json_member(j, i, &k, &value));
		assert_int_equal(json_int(value), i);
	}
	assert_false(json_member(j, N_KEY, &k, &value));
	json_free(j);
	b.n--;
	o.comma = true;
	json_put_int(&o, "k0", 1);
	json_close(&o, '}');
	check_fault(buf_view(&b), JSON_DUPLICATE_KEY, "'k0'");
	buf_release(&b);
}

static void getters_never_convert(void **state)
{
	struct json *j = read_fine(
		"{\"s\":\"10\",\"i\":10,\"d\":10.0,\"t\":true,\"n\":null,\"a\":[],\"o\":{}}");
	static const char *const keys[] = {"s", "i", "d", "t", "n", "a", "o", "absent"};
	int64_t number = -1;
	bool flag = false;
	struct str s = STR("before");

	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(json_get_int(j, keys[i], INT64_MIN, INT64_MAX, &number), i == 1);
		assert_int_equal(json_get_str(j, keys[i], &s), i == 0);
		assert_int_equal(json_get_bool(j, keys[i], &flag), i == 3);
	}
	assert_int_equal(number, 10);
	assert_true(str_is(s, "10"));
	assert_true(flag);
	assert_false(json_get_int(j, "i", 11, 20, &number));
	assert_false(json_get_int(j, "i", 0, 9, &number));
	assert_true(json_double(json_get(j, "i")) == 10.0);
	assert_true(json_double(json_get(j, "d")) == 10.0);
	json_free(j);
}

static void a_null_is_not_absent(void **state)
{
	struct json *j = read_fine("{\"n\":null}"), *root = read_fine("null");

	assert_non_null(json_get(j, "n"));
	assert_int_equal(json_kind(json_get(j, "n")), JSON_NULL);
	assert_null(json_get(j, "m"));
	assert_null(json_get(json_get(j, "n"), "m"));
	assert_null(json_get(NULL, "m"));
	assert_int_equal(json_kind(NULL), JSON_NULL);
	assert_int_equal(json_kind(root), JSON_NULL);
	assert_string_equal(json_kind_name(JSON_INT), "integer");
	assert_string_equal(json_kind_name(JSON_OBJECT), "object");
	json_free(root);
	json_free(j);
	json_free(NULL);
}

static void members_come_in_the_order_of_the_text(void **state)
{
	struct json *j = read_fine("{\"z\":1,\"a\":2}");
	const struct json *value;
	struct str key;

	assert_int_equal(json_size(j), 2);
	assert_true(json_member(j, 0, &key, &value) && str_is(key, "z") && json_int(value) == 1);
	assert_true(json_member(j, 1, &key, &value) && str_is(key, "a") && json_int(value) == 2);
	assert_false(json_member(j, 2, &key, &value));
	assert_int_equal(json_size(value), 0);
	json_free(j);
}

static void canonical_text_has_one_form(void **state)
{
	struct json *j = read_fine(
		"{ \"b\":[ 1, -2, true, null, {\"y\":{}, \"x\":\"\\u00e9\\/\\n\\u001F\"} ],"
		"\"é\":0, \"a\":\"\", \"Z\":false, \"ab\":1 }");
	struct buf b = BUF(1000);

	assert_int_equal(json_canonical(j, &b), ST_OK);
	assert_string_equal(b.p, "{\"Z\":false,\"a\":\"\",\"ab\":1,\"b\":[1,-2,true,null,"
				 "{\"x\":\"é/\\n\\u001f\",\"y\":{}}],\"é\":0}");
	buf_release(&b);
	json_free(j);
	j = read_fine("[1,{\"a\":1.0}]");
	assert_int_equal(json_canonical(j, &b), ST_INVALID);
	buf_release(&b);
	json_free(j);
}

static void the_writer_puts_commas_and_quotes(void **state)
{
	struct buf b = BUF(1000);
	struct json_out o = {.buf = &b};

	json_open(&o, NULL, '{');
	json_put_int(&o, "n", INT64_MIN);
	json_open(&o, "list", '[');
	json_put_str(&o, NULL, str_c("x"));
	json_put_str(&o, NULL, str_c(NULL));
	json_open(&o, NULL, '{');
	json_close(&o, '}');
	json_put_bool(&o, NULL, false);
	json_close(&o, ']');
	json_put_null(&o, "none");
	json_put_raw(&o, "raw", str_c("[1]"));
	json_put_pair(&o, str_c("ke\"y"), str_c("v"));
	json_put_bool(&o, "last", true);
	json_close(&o, '}');
	assert_string_equal(b.p, "{\"n\":-9223372036854775808,\"list\":[\"x\",null,{},false],"
				 "\"none\":null,\"raw\":[1],\"ke\\\"y\":\"v\",\"last\":true}");
	buf_release(&b);
}

static void check_escaped(struct str text, const char *want)
{
	struct buf b = BUF(1000);
	struct json_out o = {.buf = &b};

	json_put_str(&o, NULL, text);
	assert_string_equal(b.p, want);
	buf_release(&b);
}

static void strings_are_escaped_no_more_than_needed(void **state)
{
	check_escaped(STR_OF("a\"b\\c/\b\f\n\r\t\0\x1F\x7F"),
		      "\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0000\\u001f\x7F\"");
	check_escaped(STR_OF("敬具 \xF0\x9F\x98\x80"), "\"敬具 \xF0\x9F\x98\x80\"");
	check_escaped(STR_OF(""), "\"\"");
}

static void bytes_that_are_not_utf8_become_replacement_characters(void **state)
{
	check_escaped(STR_OF("a\xFFz"), "\"a\xEF\xBF\xBDz\"");
	check_escaped(STR_OF("\xC0\xAF"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
	check_escaped(STR_OF("\xE6\x95"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
	check_escaped(STR_OF("\xED\xA0\x80\xE6\x95\xAC"),
		      "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD敬\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_value_is_read),
		cmocka_unit_test(integers_keep_all_64_bits),
		cmocka_unit_test(a_byte_order_mark_in_front_is_skipped),
		cmocka_unit_test(nothing_is_empty),
		cmocka_unit_test(what_json_c_alone_lets_pass_is_refused),
		cmocka_unit_test(what_is_no_json_is_refused),
		cmocka_unit_test(numbers_end_at_64_bits_and_at_the_largest_double),
		cmocka_unit_test(text_that_is_not_utf8_is_named_by_its_first_byte),
		cmocka_unit_test(escapes_come_out_right),
		cmocka_unit_test(keys_are_compared_as_they_read),
		cmocka_unit_test(what_is_sent_has_a_most_of_values),
		cmocka_unit_test(sixty_four_levels_and_no_more),
		cmocka_unit_test(a_long_object_is_read_and_walked_in_linear_time),
		cmocka_unit_test(getters_never_convert),
		cmocka_unit_test(a_null_is_not_absent),
		cmocka_unit_test(members_come_in_the_order_of_the_text),
		cmocka_unit_test(canonical_text_has_one_form),
		cmocka_unit_test(the_writer_puts_commas_and_quotes),
		cmocka_unit_test(strings_are_escaped_no_more_than_needed),
		cmocka_unit_test(bytes_that_are_not_utf8_become_replacement_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
