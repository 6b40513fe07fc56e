#include "check_world.h"

static const char mail[] =
	"Dear Ms. Baker, thank you for using the Team plan. From 1 May on its price is 12 euros a "
	"month. You need not do anything. If you have questions, write to us. Kind regards, Support";
static const char renamed[] =
	"Dear Mr. Carver, thank you for using the Team plan. From 1 June on its price is 14 euros a "
	"month. You need not do anything. If you have questions, write to us. Kind regards, Support";
static const char other[] =
	"Dear Mr. Carver, we have received your parcel and will send the money back within five "
	"days. We are sorry for the trouble that the broken lid gave you. Kind regards, Support";
static const char letter[] =
	"佐藤様　いつもチームプランをご利用いただきありがとうございます。5月1日"
	"より料金を月額1200円に改定いたします。お手続きは不要です。";
static const char letter_renamed[] =
	"山田様\n\nいつもチームプランをご利用いただきありがとうございます。6月1日"
	"より料金を月額1400円に改定いたします。お手続きは不要です。";
static const char letter_other[] = "山田様　お送りいただいた商品を受け取りました。代金は五日以内に"
				   "返金いたします。ご不便をおかけし、申し訳ございません。";

static struct check_result compared(const char *text, const char *example, const char *more)
{
	struct str arguments = arena_printf(
		arena, "\"type\": \"unlike\", \"examples\": [\"no\", \"%s\"]%s", example, more);

	return result_of(arguments.p, text);
}

static void a_near_copy_is_red_and_another_text_is_not(void **state)
{
	assert_true(str_is(compared(mail, mail, "").detail,
			   "too like example 2: 1000 of 1000, at most 800 wanted"));
	assert_false(compared(renamed, mail, "").ok);
	assert_false(compared(letter_renamed, letter, "").ok);
	assert_true(compared(other, mail, "").ok);
	assert_true(compared(letter_other, letter, "").ok);
	assert_true(compared("", mail, "").ok);
}

static void the_limit_is_an_argument(void **state)
{
	assert_true(compared(renamed, mail, ", \"max_permille\": 980").ok);
	assert_false(compared(other, mail, ", \"max_permille\": 100").ok);
}

static void arguments_are_read_exactly(void **state)
{
	assert_refused("{\"name\": \"c\", \"type\": \"unlike\"}",
		       "check \"c\": needs \"examples\", a list of 1 to 20 texts");
	assert_refused("{\"name\": \"c\", \"type\": \"unlike\", \"examples\": [\"a\"], "
		       "\"max_permille\": 1000}",
		       "check \"c\": key \"max_permille\": must be an integer, 0 to 999");
	assert_phrase("\"type\": \"unlike\", \"examples\": [\"a\"]",
		      "Must be written for this case, not copied from an example.",
		      "例文を写さず、この件のための文章にすること。");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_near_copy_is_red_and_another_text_is_not),
		T(the_limit_is_an_argument),
		T(arguments_are_read_exactly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
