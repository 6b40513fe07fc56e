#include "settings_world.h"

#include <stdio.h>
#include <stdlib.h>

static enum status endpoint(const char *text, struct endpoint *out, struct err *err)
{
	assert_int_equal(read_text(text), 0);
	return settings_endpoint(&settings, a, settings.model, out, err);
}

static void an_endpoint_has_url_and_credential(void **state)
{
	struct endpoint e;
	struct err err;

	setenv("TEST_KEY", "k-1", 1);
	assert_int_equal(endpoint(a_model, &e, &err), ST_OK);
	assert_string_equal(e.url, "https://api.openai.com/v1/chat/completions");
	assert_string_equal(e.header[0], "Authorization: Bearer k-1");
	assert_null(e.header[1]);
	assert_null(e.ca_file);
	unsetenv("TEST_KEY");
	assert_int_equal(endpoint(a_model, &e, &err), ST_INVALID);
	assert_string_equal(err.text, "providers.openai: the environment variable TEST_KEY is not "
				      "set; put the credential there");
}

static void a_wire_has_its_own_address_and_headers(void **state)
{
	char text[600];
	struct endpoint e;
	struct err err;

	setenv("TEST_KEY", "k-1", 1);
	snprintf(text, sizeof(text), "%s    wire: anthropic\n", a_model);
	assert_int_equal(endpoint(text, &e, &err), ST_OK);
	assert_string_equal(e.url, "https://api.anthropic.com/v1/messages");
	assert_string_equal(e.header[0], "x-api-key: k-1");
	assert_string_equal(e.header[1], "anthropic-version: 2023-06-01");
	assert_null(e.header[2]);
	assert_int_equal(
		endpoint(
			"providers:\n  p:\n    key_env: TEST_KEY\nmodels:\n  m:\n    id: tuned/m 1:x\n"
			"    provider: p\n    wire: gemini\n    prices:\n      - {valid_from: "
			"2026-01-01, in_usd_per_mtok: 1, out_usd_per_mtok: 1}\n",
			&e, &err),
		ST_OK);
	assert_string_equal(e.url, "https://generativelanguage.googleapis.com/v1beta/models/"
				   "tuned%2Fm%201:x:generateContent");
	assert_string_equal(e.header[0], "x-goog-api-key: k-1");
	assert_null(e.header[1]);
	unsetenv("TEST_KEY");
}

static void a_gateways_header_takes_the_place_of_the_wires(void **state)
{
	static const struct {
		const char *keys, *header;
	} cases[] = {
		{"    auth_header: api-key\n", "api-key: k-1"},
		{"    auth_header: Authorization\n    auth_prefix: \"Bearer \"\n",
		 "Authorization: Bearer k-1"},
		{"    auth_prefix: \"Token \"\n", "x-goog-api-key: Token k-1"},
	};
	char text[600];
	struct endpoint e;
	struct err err;

	setenv("TEST_KEY", "k-1", 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text),
			 "providers:\n  p:\n    key_env: TEST_KEY\n%smodels:\n  m:\n    id: m\n"
			 "    provider: p\n    wire: gemini\n    prices:\n      - {valid_from: "
			 "2026-01-01, in_usd_per_mtok: 1, out_usd_per_mtok: 1}\n",
			 cases[i].keys);
		assert_int_equal(endpoint(text, &e, &err), ST_OK);
		assert_string_equal(e.header[0], cases[i].header);
	}
	unsetenv("TEST_KEY");
}

static void a_credential_can_stand_in_a_file(void **state)
{
	char text[600];
	struct endpoint e;
	struct err err;

	snprintf(
		text, sizeof(text),
		"%s  second:\n    id: x\n    provider: files\n    prices:\n      - {valid_from: 2026-01-01, "
		"in_usd_per_mtok: 1, out_usd_per_mtok: 1}\n",
		a_model);
	assert_int_equal(read_text(text), 1); /* there is no provider `files` yet */
	snprintf(
		text, sizeof(text), "%s",
		"providers:\n  p:\n    key_file: key\n    auth_header: X-Key\n    auth_prefix: \"\"\n"
		"models:\n  m:\n    id: x\n    provider: p\n    prices:\n      - {valid_from: 2026-01-01, "
		"in_usd_per_mtok: 1, out_usd_per_mtok: 1}\n");
	write_file("key", "k-2\n");
	assert_int_equal(endpoint(text, &e, &err), ST_OK);
	assert_string_equal(e.header[0], "X-Key: k-2");
	write_file("key", "k-2\nX-Other: 1\n");
	assert_int_equal(endpoint(text, &e, &err), ST_INVALID);
	assert_null(strstr(err.text, "k-2"));
	write_file("key", "");
	assert_int_equal(endpoint(text, &e, &err), ST_INVALID);
}

static void a_local_server_needs_no_credential(void **state)
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
		TEST(an_endpoint_has_url_and_credential),
		TEST(a_wire_has_its_own_address_and_headers),
		TEST(a_gateways_header_takes_the_place_of_the_wires),
		TEST(a_credential_can_stand_in_a_file),
		TEST(a_local_server_needs_no_credential),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
