/* Requests of gemini and anthropic, and what a model's row may ask of each format. openai's are in test_wire.c. */
#include "core/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct model row(const char *wire)
{
	return (struct model){.id = STR("m-1"),
			      .wire = wire_named(str_c(wire)),
			      .sampling = SAMPLING_OMIT,
			      .temperature_milli = 700,
			      .max_output_tokens = 4000,
			      .schema_mode = SCHEMA_MODE_JSON_SCHEMA};
}

/* Any schema goes out as it is. */
#define SCHEMA "{\"type\":\"object\"}"

static void check_request(const struct model *model, enum want want, const char *expected)
{
	struct prompt prompt = {BUF(100), BUF(100), want, BUF(100)};
	buf_puts(&prompt.schema, want == WANT_TEXT ? "" : SCHEMA);
	struct buf body = BUF(4000);
	struct json *root;

	buf_puts(&prompt.system, "Judge.");
	buf_puts(&prompt.user, "Say \"hi\"");
	model->wire->request(model, &prompt, 64, &body);
	if (!str_is(buf_view(&body), expected))
		fail_msg("%.*s\nnot\n%s", STR_ARG(buf_view(&body)), expected);
	assert_int_equal(json_read(buf_view(&body), &root, NULL), JSON_FINE);
	json_free(root);
	buf_release(&prompt.system);
	buf_release(&prompt.user);
	buf_release(&prompt.schema);
	buf_release(&body);
}

static void each_interface_takes_its_dialect_of_schemas(void **state)
{
	struct model m = row("gemini");

	assert_int_equal(wire_dialect(&m), DIALECT_FULL);
	m.schema_mode = SCHEMA_MODE_OPENAPI;
	assert_int_equal(wire_dialect(&m), DIALECT_OPENAPI);
	m = row("openai");
	assert_int_equal(wire_dialect(&m), DIALECT_FULL);
	m = row("anthropic"); /* answers 400 to a bound */
	assert_int_equal(wire_dialect(&m), DIALECT_UNBOUNDED);
}

/* --- gemini --- */

#define CONTENTS                                                                                   \
	"{\"systemInstruction\":{\"parts\":[{\"text\":\"Judge.\"}]},"                              \
	"\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"Say \\\"hi\\\"\"}]}],"

static void gemini_names_no_model_and_sends_what_the_row_says(void **state)
{
	struct model m = row("gemini");

	check_request(&m, WANT_TEXT, CONTENTS "\"generationConfig\":{\"maxOutputTokens\":64}}");
	m.sampling = SAMPLING_SEND;
	m.thinking = STR_OF("low");
	check_request(&m, WANT_TEXT,
		      CONTENTS "\"generationConfig\":{\"maxOutputTokens\":64,\"temperature\":0.7,"
			       "\"thinkingConfig\":{\"thinkingLevel\":\"low\"}}}");
	m.sampling = SAMPLING_REJECT;
	m.thinking = STR_OF("0");
	check_request(&m, WANT_TEXT,
		      CONTENTS "\"generationConfig\":{\"maxOutputTokens\":64,"
			       "\"thinkingConfig\":{\"thinkingBudget\":0}}}");
}

static void gemini_takes_a_schema_in_two_dialects_or_none(void **state)
{
	struct model m = row("gemini");

	check_request(&m, WANT_CRITIQUE,
		      CONTENTS "\"generationConfig\":{\"maxOutputTokens\":64,"
			       "\"responseMimeType\":\"application/json\","
			       "\"responseJsonSchema\":" SCHEMA "}}");
	m.schema_mode = SCHEMA_MODE_OPENAPI;
	check_request(&m, WANT_CRITIQUE,
		      CONTENTS "\"generationConfig\":{\"maxOutputTokens\":64,"
			       "\"responseMimeType\":\"application/json\","
			       "\"responseSchema\":" SCHEMA "}}");
	m.schema_mode = SCHEMA_MODE_JSON_OBJECT;
	check_request(&m, WANT_DRAFT,
		      CONTENTS "\"generationConfig\":{\"maxOutputTokens\":64,"
			       "\"responseMimeType\":\"application/json\"}}");
	m.schema_mode = SCHEMA_MODE_NONE;
	check_request(&m, WANT_CRITIQUE, CONTENTS "\"generationConfig\":{\"maxOutputTokens\":64}}");
}

/* --- anthropic --- */

#define MESSAGES                                                                                   \
	"{\"model\":\"m-1\",\"max_tokens\":64,\"system\":\"Judge.\","                              \
	"\"messages\":[{\"role\":\"user\",\"content\":\"Say \\\"hi\\\"\"}]"

static void anthropic_has_system_text_at_the_top(void **state)
{
	struct model m = row("anthropic");

	check_request(&m, WANT_TEXT, MESSAGES "}");
	m.sampling = SAMPLING_SEND;
	check_request(&m, WANT_TEXT, MESSAGES ",\"temperature\":0.7}");
}

static void anthropic_thinks_by_effort_budget_or_not_at_all(void **state)
{
	struct model m = row("anthropic");

	m.thinking = STR_OF("xhigh");
	check_request(&m, WANT_TEXT,
		      MESSAGES ",\"thinking\":{\"type\":\"adaptive\"},"
			       "\"output_config\":{\"effort\":\"xhigh\"}}");
	m.thinking = STR_OF("2048");
	check_request(&m, WANT_TEXT,
		      MESSAGES ",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2048}}");
	m.thinking = STR_OF("none");
	check_request(&m, WANT_TEXT, MESSAGES ",\"thinking\":{\"type\":\"disabled\"}}");
	m.thinking = STR_OF("between_tools");
	check_request(&m, WANT_TEXT, MESSAGES ",\"thinking\":{\"type\":\"between_tools\"}}");
}

static void anthropic_takes_a_schema_beside_the_effort(void **state)
{
	struct model m = row("anthropic");

	check_request(&m, WANT_CRITIQUE,
		      MESSAGES
		      ",\"output_config\":{\"format\":{\"type\":\"json_schema\",\"schema\":" SCHEMA
		      "}}}");
	m.thinking = STR_OF("low");
	check_request(&m, WANT_CRITIQUE,
		      MESSAGES ",\"thinking\":{\"type\":\"adaptive\"},\"output_config\":"
			       "{\"effort\":\"low\",\"format\":{\"type\":\"json_schema\","
			       "\"schema\":" SCHEMA "}}}");
	m.thinking = STR_OF("none");
	m.schema_mode = SCHEMA_MODE_NONE;
	check_request(&m, WANT_CRITIQUE, MESSAGES ",\"thinking\":{\"type\":\"disabled\"}}");
}

/* --- what a row may say --- */

struct combination {
	const char *wire, *thinking;
	enum schema_mode schema_mode;
	enum sampling sampling;
	int64_t temperature_milli;
	const char *fault; /* its beginning; NULL: fine */
};

static void what_a_wire_cannot_say_is_refused_by_name(void **state)
{
	static const struct combination cases[] = {
		{"openai", NULL, SCHEMA_MODE_JSON_OBJECT, SAMPLING_SEND, 2000, NULL},
		{"openai", "none", SCHEMA_MODE_NONE, SAMPLING_OMIT, 0, NULL},
		{"openai", "max", SCHEMA_MODE_JSON_SCHEMA, SAMPLING_REJECT, 0, NULL},
		{"openai", "2048", SCHEMA_MODE_NONE, SAMPLING_OMIT, 0,
		 "thinking: wire openai does not know \"2048\"; give one of none, minimal, low, medium, high, xhigh, max"},
		{"openai", "lots", SCHEMA_MODE_NONE, SAMPLING_OMIT, 0, "thinking: "},
		{"openai", NULL, SCHEMA_MODE_OPENAPI, SAMPLING_OMIT, 0,
		 "schema_mode: wire openai "},
		{"gemini", "minimal", SCHEMA_MODE_OPENAPI, SAMPLING_SEND, 2000, NULL},
		{"gemini", "0", SCHEMA_MODE_JSON_OBJECT, SAMPLING_OMIT, 0, NULL},
		{"gemini", "3999", SCHEMA_MODE_NONE, SAMPLING_OMIT, 0, NULL},
		{"gemini", "4000", SCHEMA_MODE_NONE, SAMPLING_OMIT, 0,
		 "thinking: wire gemini does not know \"4000\"; give one of minimal, low, medium, "
		 "high, xhigh, or tokens from 0 to under max_output_tokens"},
		{"gemini", "-1", SCHEMA_MODE_NONE, SAMPLING_OMIT, 0, "thinking: "},
		{"gemini", "none", SCHEMA_MODE_NONE, SAMPLING_OMIT, 0, "thinking: "},
		{"anthropic", "1024", SCHEMA_MODE_JSON_SCHEMA, SAMPLING_OMIT, 0, NULL},
		{"anthropic", "1023", SCHEMA_MODE_JSON_SCHEMA, SAMPLING_OMIT, 0, "thinking: "},
		{"anthropic", "minimal", SCHEMA_MODE_JSON_SCHEMA, SAMPLING_OMIT, 0, "thinking: "},
		{"anthropic", NULL, SCHEMA_MODE_JSON_OBJECT, SAMPLING_OMIT, 0,
		 "schema_mode: wire anthropic "},
		{"anthropic", NULL, SCHEMA_MODE_NONE, SAMPLING_SEND, 1000, NULL},
		{"anthropic", "none", SCHEMA_MODE_NONE, SAMPLING_SEND, 1000, NULL},
		{"anthropic", NULL, SCHEMA_MODE_NONE, SAMPLING_SEND, 1001,
		 "temperature: wire anthropic takes at most 1; "},
		{"anthropic", "low", SCHEMA_MODE_NONE, SAMPLING_SEND, 1000,
		 "sampling: wire anthropic takes no temperature from a model that thinks; "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct combination *c = &cases[i];
		struct model m = row(c->wire);
		struct err err = {""};

		m.thinking = str_c(c->thinking);
		m.schema_mode = c->schema_mode;
		m.sampling = c->sampling;
		m.temperature_milli = c->temperature_milli;
		enum status status = wire_check(&m, &err);
		if (status != (c->fault ? ST_INVALID : ST_OK) ||
		    (c->fault && !str_starts(str_c(err.text), c->fault)))
			fail_msg("case %zu: '%s', not '%s'", i, err.text, c->fault ? c->fault : "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_interface_takes_its_dialect_of_schemas),
		cmocka_unit_test(gemini_names_no_model_and_sends_what_the_row_says),
		cmocka_unit_test(gemini_takes_a_schema_in_two_dialects_or_none),
		cmocka_unit_test(anthropic_has_system_text_at_the_top),
		cmocka_unit_test(anthropic_thinks_by_effort_budget_or_not_at_all),
		cmocka_unit_test(anthropic_takes_a_schema_beside_the_effort),
		cmocka_unit_test(what_a_wire_cannot_say_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
