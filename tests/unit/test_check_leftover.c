#include "check_world.h"

#define LEFTOVER "\"type\": \"leftover\""

/* The text, and what of it is left over; NULL: nothing is. */
static const char *const cases[][2] = {
	{"Dear {{name}},", "{{name}}"},
	{"Dear {{ customer.first_name }},", "{{ customer.first_name }}"},
	{"{% if vip %}Hello", "{% if vip %}"},
	{"<%= name %>", "<%= name %>"},
	{"Hi ${user.name}!", "${user.name}"},
	{"Hi {name}!", "{name}"},
	{"{お客様名}様", "{お客様名}"},
	{"Hi %NAME%,", "%NAME%"},
	{"Hi %FIRST_NAME%,", "%FIRST_NAME%"},
	{"Dear [NAME],", "[NAME]"},
	{"Dear [Your Name],", "[Your Name]"},
	{"[Recipient's Address]", "[Recipient's Address]"},
	{"on [date], at [Company Name]", "[date]"},
	{"[CUSTOMER_ID]", "[CUSTOMER_ID]"},
	{"[insert the new terms here]", "[insert the new terms here]"},
	{"[お名前]様", "[お名前]"},
	{"［会社名］御中", "［会社名］"},
	{"【お客様名】様", "【お客様名】"},
	{"【日付を入力】", "【日付を入力】"},
	{"〔ここに記入〕", "〔ここに記入〕"},
	{"Dear <NAME>,", "<NAME>"},
	{"<CUSTOMER_ID>", "<CUSTOMER_ID>"},
	{"<your company>", "<your company>"},
	{"〇〇様", "〇〇"},
	{"株式会社○○○", "○○○"},
	{"◯◯円、△△円", "◯◯"},
	{"●●様", "●●"},
	{("It costs X"
	  "XX."),
	 ("X"
	  "XX")},
	{"XX月XX日", "XX"},
	{"ＸＸ円", "ＸＸ"},
	{"The price is TBD.", "TBD"},
	{("TO"
	  "DO: ask"),
	 ("TO"
	  "DO")},
	{"Lorem ipsum dolor", "Lorem ipsum"},
	{"Dear Ms. Smith, your plan (Gold) is [active].", NULL},
	{"See [the contract](https://a.example), [1], [a][b], [ ] and [x].", NULL},
	{"[name]: https://a.example", NULL},
	{"[PDF] [RFC 2119] [sic] [see page 3] a[name]", NULL},
	{"【重要】【氏名】山田太郎【お知らせ】", NULL},
	{"<b>bold</b> <BR> <title> <https://a.example> a < b > c <name>", NULL},
	{"{\"a\": 1} {} { x } \\frac{ab}{cd} f{ab} {あ、い}", NULL},
	{"5%OFF%, 10% to 20%, 100 %", NULL},
	{"二〇〇〇年、一〇〇円、〇×表、○ 良い、△", NULL},
	{"XXL, XX, X-ray, XXXL, SIXXX, XXX_1, xxx", NULL},
	{"TBDs, mTODO, todo, to-do", NULL},
	{"$100 and $ {a}", NULL},
	{"", NULL},
};

static void what_was_to_be_filled_in_is_found(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct check_result r = result_of(LEFTOVER, cases[i][0]);
		struct str found = cases[i][1]
					   ? str_sub(str_c(cases[i][0]), (size_t)r.at, (size_t)r.n)
					   : STR_OF("");
		if (r.ok != !cases[i][1] || (!r.ok && !str_is(found, cases[i][1])))
			fail_msg("%s: %.*s", cases[i][0], STR_ARG(r.detail));
	}
}

static void up_to_five_are_named(void **state)
{
	assert_red(LEFTOVER, "[NAME], {{a}}", "left over: \"[NAME]\", \"{{a}}\"", "[NAME]");
	assert_red(LEFTOVER, "{{a}} {{b}} {{c}} {{d}} {{e}} {{f}}",
		   "left over: \"{{a}}\", \"{{b}}\", \"{{c}}\", \"{{d}}\", \"{{e}}\", and more",
		   "{{a}}");
}

static void what_is_allowed_may_stand(void **state)
{
	assert_red(LEFTOVER ", \"allow\": [\"{{coupon}}\", \"TBD\"]", "{{coupon}} TBD {{name}} TBA",
		   "left over: \"{{name}}\", \"TBA\"", "{{name}}");
	assert_refused("{\"name\": \"c\", \"type\": \"leftover\", \"allow\": []}",
		       "check \"c\": key \"allow\": must be a list of strings, not empty");
	assert_phrase(LEFTOVER, "No placeholder is left over, such as {{name}}, [NAME] or TBD.",
		      "{{name}}、[NAME]、〇〇様、TBDのような未記入の箇所を残さないこと。");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_was_to_be_filled_in_is_found),
		T(up_to_five_are_named),
		T(what_is_allowed_may_stand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
