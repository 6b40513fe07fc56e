#include "app/page.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void assert_filled(const char *json, const char *form, const char *want)
{
	struct page page = PAGE(false);
	struct json *object;
	struct err err = {""};

	assert_int_equal(json_read(str_c(json), &object, &err), JSON_FINE);
	page_fill(&page, object, form);
	if (!str_is(buf_view(&page.text), want))
		fail_msg("'%s', not '%s'", page.text.p, want);
	buf_release(&page.text);
	json_free(object);
}

static void members_stand_where_the_form_names_them(void **state)
{
	assert_filled("{\"a\":\"x\",\"n\":-7}", "a is {a}, n {n}.", "a is x, n -7.");
	assert_filled("\"whole\"", "<{}>", "<whole>");
	assert_filled("{\"a\":null}", "{a} {b} {b|none}", "- - none");
}

static void widths_cuts_decimals_counts_and_times(void **state)
{
	assert_filled("{\"a\":\"abc\",\"n\":12}", "{a:-5}{n:4}{a:5}.", "abc    12  abc.");
	assert_filled("{\"a\":\"abcdef\"}", "{a.3}", "abc");
	assert_filled("{\"n\":1234567}", "{n/6} {n/1:10}", "1.234567   123456.7");
	assert_filled("{\"n\":5}", "{n/6}", "0.000005");
	assert_filled("{\"n\":1,\"m\":0}", "{n#call}, {m#job}", "1 call, 0 jobs");
	assert_filled("{\"at\":\"2026-11-30T12:00:00.5+00:00\"}", "{at@}",
		      "2026-11-30T12:00:00.500Z");
}

static void a_group_is_left_out_for_what_is_not_there(void **state)
{
	static const char form[] = "[a={a}][ b={b};][ {a} {b}]";

	assert_filled("{\"a\":\"x\",\"b\":2}", form, "a=x b=2; x 2");
	assert_filled("{\"a\":\"x\",\"b\":0}", form, "a=x");
	assert_filled("{\"a\":\"\",\"b\":null}", form, "");
}

static void data_is_never_a_form_and_steers_nothing(void **state)
{
	assert_filled("{\"a\":\"{b}*[%s]\\u001b[2J\",\"b\":1}", "*{a}*", "{b}*[%s]\\u001b[2J");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_stand_where_the_form_names_them),
		cmocka_unit_test(widths_cuts_decimals_counts_and_times),
		cmocka_unit_test(a_group_is_left_out_for_what_is_not_there),
		cmocka_unit_test(data_is_never_a_form_and_steers_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
