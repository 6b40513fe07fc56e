#include "settings_world.h"

#include <stdio.h>

static enum status endpoint(const char *text, struct endpoint *out, struct err *err)
{
	assert_int_equal(read_text(text), 0);
	return settings_endpoint(&settings, a, settings.model, out, err);
}

static void an_endpoint_has_url_and_header(void **state)
{
	struct endpoint e;
	struct err err;

	assert_int_equal(endpoint(a_model, &e, &err), ST_OK);
	assert_string_equal(e.url, "https://api.openai.com/v1/chat/completions");
	assert_string_equal(e.key_header, "Authorization: Bearer ");
	assert_null(e.key.p);
	assert_null(e.header[0]);
	assert_null(e.ca_file);
}

static void a_wire_has_its_own_address_and_headers(void **state)
{
	char text[600];
	struct endpoint e;
	struct err err;

	snprintf(text, sizeof(text), "%s    wire: anthropic\n", a_model);
	assert_int_equal(endpoint(text, &e, &err), ST_OK);
	assert_string_equal(e.url, "https://api.anthropic.com/v1/messages");
	assert_string_equal(e.key_header, "x-api-key: ");
	assert_string_equal(e.header[0], "anthropic-version: 2023-06-01");
	assert_null(e.header[1]);
	assert_int_equal(
		endpoint(
			"providers:\n  p:\n    key_env: TEST_KEY\nmodels:\n  m:\n    id: tuned/m 1:x\n"
			"    provider: p\n    wire: gemini\n    prices:\n      - {valid_from: "
			"2026-01-01, in_usd_per_mtok: 1, out_usd_per_mtok: 1}\n",
			&e, &err),
		ST_OK);
	assert_string_equal(e.url, "https://generativelanguage.googleapis.com/v1beta/models/"
				   "tuned%2Fm%201:x:generateContent");
	assert_string_equal(e.key_header, "x-goog-api-key: ");
	assert_null(e.header[0]);
}

static void a_gateways_header_takes_the_place_of_the_wires(void **state)
{
	static const struct {
		const char *keys, *header;
	} cases[] = {
		{"    auth_header: api-key\n", "api-key: "},
		{"    auth_header: Authorization\n    auth_prefix: \"Bearer \"\n",
		 "Authorization: Bearer "},
		{"    auth_prefix: \"Token \"\n", "x-goog-api-key: Token "},
	};
	char text[600];
	struct endpoint e;
	struct err err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text),
			 "providers:\n  p:\n    key_env: TEST_KEY\n%smodels:\n  m:\n    id: m\n"
			 "    provider: p\n    wire: gemini\n    prices:\n      - {valid_from: "
			 "2026-01-01, in_usd_per_mtok: 1, out_usd_per_mtok: 1}\n",
			 cases[i].keys);
		assert_int_equal(endpoint(text, &e, &err), ST_OK);
		assert_string_equal(e.key_header, cases[i].header);
	}
}

static void a_wrong_entry_is_told(void **state)
{
	static const struct {
		const char *key, *told;
	} cases[] = {
		{"proxy: http://me:secret@p:1", "proxy: a URL with a user in it is refused"},
		{"proxy: p:3128", "proxy: write it as http://HOST:PORT"},
		{"proxy: ftp://p:3128", "proxy: write it as http://HOST:PORT"},
		{"path: v1", "path: \"v1\" does not begin with a /"},
		{"query: ?a=b", "query: give it without ?"},
		{"headers: [X-Team]", "headers: item 1 is no header"},
		{"ca_file: none.pem", "none.pem cannot be read"},
		{"client_cert: none.pem", "none.pem cannot be read"},
	};
	char text[600];
	struct endpoint e;
	struct err err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "providers:\n  openai:\n    %s\n%s", cases[i].key,
			 strstr(a_model, "models:"));
		assert_int_equal(endpoint(text, &e, &err), ST_INVALID);
		assert_ptr_equal(strstr(err.text, "providers.openai: "), err.text);
		if (!strstr(err.text, cases[i].told))
			fail_msg("%s: %s", cases[i].key, err.text);
		assert_null(strstr(err.text, "secret"));
	}
}

static void a_provider_can_be_on_this_machine(void **state)
{
	struct endpoint e;
	struct err err;

	assert_int_equal(
		endpoint(
			"providers:\n  p:\n    base_url: http://localhost:8080/v1\nmodels:\n  m:\n    id: x\n"
			"    provider: p\n    prices:\n      - {valid_from: 2026-01-01, in_usd_per_mtok: 1, "
			"out_usd_per_mtok: 1}\n",
			&e, &err),
		ST_OK);
	assert_string_equal(e.url, "http://localhost:8080/v1/chat/completions");
	assert_null(e.header[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_endpoint_has_url_and_header),
		TEST(a_wire_has_its_own_address_and_headers),
		TEST(a_gateways_header_takes_the_place_of_the_wires),
		TEST(a_wrong_entry_is_told),
		TEST(a_provider_can_be_on_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
