#include "core/particulars.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct variable variables[] = {
	{STR("customer"), STR("鈴木")}, {STR("plan"), STR("Team")}, {STR("segment"), STR("new")}};
static const struct job job = {.variable = variables, .n_variable = 3};

static const char *const name[] = {"number", "name", "address", "quotation", "uncounted", "none"};

static void loses(const char *before, const char *after, const char *what)
{
	const enum particular lost =
		particulars_lost(&job, str_c(before), NULL, 0, str_c(after), str_c(""));

	if (strcmp(name[lost], what) != 0)
		fail_msg("\"%s\" -> \"%s\" loses %s, not %s", before, after, name[lost], what);
}

static void numbers_stay_as_often_as_they_stood(void **state)
{
	loses("It costs 5 USD.", "It costs 5 USD in all.", "none");
	loses("It costs 5.", "It costs 6.", "number");
	loses("2 seats for 2 days", "2 seats for a while", "number");
	loses("1,000 or 10.5 on 2026-12-01 at 10:30", "at 10:30 on 2026-12-01: 10.5 or 1,000",
	      "none");
	loses("1,000 seats", "1,00 seats", "number");
	loses("under R-2614.", "under R-2615.", "number");
	loses("A fee of $5", "A fee of €5", "number");
	loses("a rise of 5%", "a rise of 5 points", "number");
	loses("below -5 degrees", "below 5 degrees", "number");
	loses("第３四半期に１２０円です", "第3四半期に120円です",
	      "none"); /* full width is the same number */
	loses("3万円です", "3円です", "number");
	loses("三日以内に届きます", "四日以内に届きます", "number");
	loses("一方で統一します", "他方で合わせます", "none"); /* numerals, but no numbers */
}

static void names_stay_once(void **state)
{
	loses("Ask Baker, or let Baker ask.", "Baker asks.", "none");
	loses("We wrote to Ms Sato.", "We wrote to you.", "name");
	loses("We wrote to Ms. Sato.", "We wrote to Ms. Saito.", "name");
	loses("We wrote to Sato.", "Sato has our letter.",
	      "none"); /* at the beginning it is still there */
	loses("Dear reader.\nThanks. Please wait: it comes.\n- Note this", "it comes, wait",
	      "none");
	loses("I know, and I'll tell what I know.", "we know", "none");
	loses("佐藤様、ありがとうございます。", "ありがとうございます。", "name");
	loses("佐藤様、ありがとうございます。", "ありがとうございます、佐藤さん。", "none");
	loses("山田製作所御中", "山本製作所御中", "name");
	loses("お客様の仕様は同様です。皆様へ", "承知しました", "none");
	loses("今はProです", "今はプロです", "name");
	loses("鈴木はおります", "おります", "name");   /* by the job's variable */
	loses("Team is new", "Team is there", "none"); /* "new" is a word like others */
	loses("The Team is it", "It is the TEAM", "none");
}

static void addresses_stay(void **state)
{
	loses("See https://a.example/x?y=1.", "See (https://a.example/x?y=1)", "none");
	loses("See [this](https://a.example/x).", "See https://a.example/y", "address");
	loses("Mail help@a.example, please", "Please mail help@b.example", "address");
	loses("See www.a.example!", "See it", "address");
	loses("詳細はhttps://a.example/をご覧ください", "詳細はhttps://a.example/です", "none");
	loses("a :// b @ c", "nothing", "none");
}

static void quotations_stay(void **state)
{
	loses("He said \"we are  sorry\" twice.", "He said \"we are sorry\".", "none");
	loses("He said “we are sorry”.", "He said “we were sorry”.", "quotation");
	loses("「返金します」と言う", "「返品します」と言う", "quotation");
	loses("a lone \" mark\n\nand \" another", "no mark", "none");
}

static void what_is_flagged_may_change(void **state)
{
	const struct span price[] = {{9, 1}}, beside[] = {{8, 1}};
	struct str before = STR("It costs 5 USD."), after = STR("It costs 6 USD.");

	assert_int_equal(particulars_lost(&job, before, price, 1, after, str_c("")),
			 PARTICULAR_none);
	assert_int_equal(particulars_lost(&job, before, beside, 1, after, str_c("")),
			 PARTICULAR_number);
}

static enum particular exchanged(const char *before, const char *after, const char *said)
{
	return particulars_lost(&job, str_c(before), NULL, 0, str_c(after), str_c(said));
}

static void what_an_issue_names_may_go_and_come(void **state)
{
	const char *before = "It arrives on Monday and costs 5 USD.";

	assert_int_equal(exchanged(before, "It arrives on Tuesday and costs 5 USD.",
				   "The order says Tuesday."),
			 PARTICULAR_none);
	assert_int_equal(exchanged(before, "It arrives on Friday and costs 5 USD.",
				   "The order says Tuesday."),
			 PARTICULAR_name);
	assert_int_equal(exchanged(before, "It arrives on Tuesday and costs 6 USD.",
				   "The order says Tuesday."),
			 PARTICULAR_number);
	assert_int_equal(exchanged(before, "It arrives on Monday.", "Leave out the 5 USD."),
			 PARTICULAR_none);
}

static void too_many_count_as_lost(void **state)
{
	struct buf text = BUF(1 << 20);

	for (int i = 0; i < 20000; i++)
		buf_puts(&text, "1 ");
	assert_int_equal(
		particulars_lost(&job, buf_view(&text), NULL, 0, buf_view(&text), str_c("")),
		PARTICULAR_uncounted);
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_stay_as_often_as_they_stood),
		cmocka_unit_test(names_stay_once),
		cmocka_unit_test(addresses_stay),
		cmocka_unit_test(quotations_stay),
		cmocka_unit_test(what_is_flagged_may_change),
		cmocka_unit_test(what_an_issue_names_may_go_and_come),
		cmocka_unit_test(too_many_count_as_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
