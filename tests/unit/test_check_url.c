#include "check_world.h"

#define URLS                                                                                       \
	"\"type\": \"urls\", \"hosts\": [\"good.example\", \"日本語.jp\", \"xn--eckwd4c7c.jp\"]"

static void only_allowed_hosts_are_green(void **state)
{
	static const char *const green[] = {
		"",
		"no address at all, e.g. this one. And/or that: 3.5 / 4.",
		"https://good.example",
		"https://good.example/",
		"http://good.example:8080/x?y=z#w",
		"See https://sub.domain.good.example/path.",
		"(https://good.example)",
		"<https://good.example>",
		"[link](https://good.example/a \"title\")",
		"![image](http://good.example/a.png)",
		"www.good.example/",
		"HTTPS://GOOD.EXAMPLE",
		"ｈｔｔｐｓ：／／ｇｏｏｄ．ｅｘａｍｐｌｅ",
		"https://good.example.",
		"https://good.example。",
		"https://good.example、または",
		"https://good.exampleをご覧ください。",
		"https://good.example:443です",
		"「https://good.example」",
		"詳細はhttps://good.example/料金を",
		"https://日本語.jp/",
		"https://xn--eckwd4c7c.jp/",
		"https://good.example/evil.com/x.jp",
		"https://good.example/?q=a@b.example",
		"mail to someone@evil.com or mailto:someone@evil.com",
		"JavaScript: the good parts, data: three",
		"file report.pdf, node.js, README.md, v1.2.3, 10.5, U.S., a.k.a.",
		"http:// is a scheme",
		"rate 1:2, at 10:30, note:this",
		"tel:+81-3-0000-0000",
	};

	for (size_t i = 0; i < sizeof(green) / sizeof(green[0]); i++)
		assert_green(URLS, green[i]);
}

/* Each text, the address as it is told, and the bytes of the text. */
static const struct {
	const char *text, *told, *place;
} red[] = {
	{"go to https://evil.com/x", "\"evil.com\"", "evil.com"},
	{"https://evilgood.example", "\"evilgood.example\"", "evilgood.example"},
	{"https://good.example.evil.com", "\"good.example.evil.com\"", "good.example.evil.com"},
	{"HTTPS://EVIL.COM", "\"evil.com\"", "EVIL.COM"},
	{"ht\u200Btps://ev\u00ADil.com", "\"evil.com\"", "ev\u00ADil.com"},
	{"ｈｔｔｐｓ://ｅｖｉｌ.com", "\"evil.com\"", "ｅｖｉｌ.com"},
	{"www.evil.com", "\"www.evil.com\"", "www.evil.com"},
	{"(evil.com)", "\"evil.com\"", "evil.com"},
	{"evil.comをご覧", "\"evil.com\"", "evil.com"},
	{"詳細はevil.jpへ", "\"evil.jp\"", "evil.jp"},
	{"[good.example](https://evil.dev)", "\"evil.dev\"", "evil.dev"},
	{"[x](//evil.zone/a)", "\"evil.zone\"", "evil.zone"},
	{"<a href=\"//evil.zone\">", "\"evil.zone\"", "evil.zone"},
	{"https:evil.zone", "\"evil.zone\"", "evil.zone"},
	{"https:/evil.zone", "\"evil.zone\"", "evil.zone"},
	{"https:\\\\evil.zone", "\"evil.zone\"", "evil.zone"},
	{"https:////evil.zone", "\"evil.zone\"", "evil.zone"},
	{"ftp://evil.zone", "\"evil.zone\"", "evil.zone"},
	{"myapp://evil.zone", "\"evil.zone\"", "evil.zone"},
	{"https://127.0.0.1/", "\"127.0.0.1\"", "127.0.0.1"},
	{"https://2130706433/", "\"2130706433\"", "2130706433"},
	{"https://[::1]:80/", "\"[::1]\"", "[::1]"},
	{"https://localhost:80", "\"localhost\"", "localhost"},
	{"https://%65vil.com", "\"%65vil.com\"", "%65vil.com"},
	{"https://gооd.example", "\"gооd.example\"", "gооd.example"}, /* Cyrillic */
	{"https://good。evil.zone", "\"good。evil.zone\"", "good。evil.zone"},
	{"https://good.example。evil。zone/", "\"good.example。evil。zone\"",
	 "good.example。evil。zone"},
	{"https://xn--evl-zone.jp", "\"xn--evl-zone.jp\"", "xn--evl-zone.jp"},
	{"https://中文.jp", "\"中文.jp\"", "中文.jp"},
	{"https://good.example.中文", "\"good.example.中文\"", "good.example.中文"},
	{"https://good.example/?to=https://evil.zone", "\"evil.zone\"", "evil.zone"},
	{"https://good.example@evil.com/x",
	 "\"good.example@evil.com/x\" (a user name before the host)", "good.example@evil.com/x"},
	{"https://evil.com@good.example", "\"evil.com@good.example\" (a user name before the host)",
	 "evil.com@good.example"},
	{"https://good.example;@evil.com",
	 "\"good.example;@evil.com\" (a user name before the host)", "good.example;@evil.com"},
	{"https://good.example\\@evil.com",
	 "\"good.example\\@evil.com\" (a user name before the host)", "good.example\\@evil.com"},
	{"https://good.example:80@evil.com",
	 "\"good.example:80@evil.com\" (a user name before the host)", "good.example:80@evil.com"},
	{"[x](javascript:alert(1))", "\"javascript:\" (a link that is no address)", "javascript:"},
	{"<a href='data:text/html,x'>", "\"data:\" (a link that is no address)", "data:"},
};

static void all_others_are_red(void **state)
{
	for (size_t i = 0; i < sizeof(red) / sizeof(red[0]); i++)
		assert_red(URLS, red[i].text,
			   arena_printf(arena, "not among the allowed hosts: %s", red[i].told).p,
			   red[i].place);
}

static void all_are_named_up_to_five(void **state)
{
	assert_red(URLS, "https://a.com https://good.example https://b.com",
		   "not among the allowed hosts: \"a.com\", \"b.com\"", "a.com");
	assert_red(
		URLS, "a.com b.com c.com d.com e.com f.com",
		"not among the allowed hosts: \"a.com\", \"b.com\", \"c.com\", \"d.com\", \"e.com\""
		", and more",
		"a.com");
}

#define MAIL URLS ", \"mail\": true"

static void mail_addresses_count_on_request(void **state)
{
	assert_green(MAIL, "info@good.example, mailto:info@sub.good.example、@someone, a @ b.c");
	assert_red(MAIL, "write to info@evil.com.",
		   "not among the allowed hosts: \"evil.com\" (of a mail address)", "evil.com");
	assert_red(MAIL, "[x](mailto:info@evil.zone)",
		   "not among the allowed hosts: \"evil.zone\" (of a mail address)", "evil.zone");
	assert_red(MAIL, "担当@evil.zone",
		   "not among the allowed hosts: \"evil.zone\" (of a mail address)", "evil.zone");
}

static void without_hosts_no_url_is_allowed(void **state)
{
	assert_red("\"type\": \"urls\"", "https://good.example",
		   "not among the allowed hosts: \"good.example\"", "good.example");
	assert_green("\"type\": \"urls\"", "no address");
	assert_phrase("\"type\": \"urls\"", "Must not contain any URL.", "URLを書かないこと。");
}

static void hosts_are_hosts(void **state)
{
	static const char *const bad[] = {"https://a.example", "a.example/x", "a.example:80", "",
					  ".example",	       "a@b.example", "a b",	      "a."};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_refused(arena_printf(arena,
					    "{\"name\": \"c\", \"type\": \"urls\", \"hosts\": "
					    "[\"%s\"]}",
					    bad[i])
				       .p,
			       "check \"c\": key \"hosts\", item 1: must be a host as example.com, "
			       "whose sub-domains are allowed too");
	assert_phrase("\"type\": \"urls\", \"hosts\": [\"A.example\", \"b.example\"]",
		      "URLs must be of these hosts or their sub-domains: \"a.example\", "
		      "\"b.example\".",
		      "URLに使えるホスト(サブドメインを含む): 「a.example」、「b.example」。");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(only_allowed_hosts_are_green),    T(all_others_are_red),
		T(all_are_named_up_to_five),	    T(mail_addresses_count_on_request),
		T(without_hosts_no_url_is_allowed), T(hosts_are_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
