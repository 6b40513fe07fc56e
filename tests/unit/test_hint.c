/* What the schema of a draft says of the checks, for each wire and row; tests/property/test_hint.c has what it must not exclude. */
#include "core/form.h"
#include "core/hint.h"
#include "core/prompt.h"

#include "../lib/loop_case.h"

#include <setjmp.h>

#include <cmocka.h>

/* With the generator's row, and keys of the profile and of the job. */
static const struct profile *profile_of(struct arena *a, const char *row, const char *keys,
					const char *job, const struct job **out)
{
	const struct str patch = arena_printf(
		a, "{\"draft_schema\":\"always\",\"models\":{\"generator\":{%s}},%s}", row, keys);
	const struct profile *p =
		case_profile(a, case_patch(a, case_file(a, "tests/data/profile.json"), patch));

	*out = case_job(a, p,
			case_patch(a, STR_OF("{\"id\":\"a\",\"profile\":\"letter\"}"), str_c(job)));
	return p;
}

/* The schema that is sent to the generator. */
static struct str schema_of(struct arena *a, const char *row, const char *keys, const char *job)
{
	const struct job *j;
	const struct profile *p = profile_of(a, row, keys, job, &j);
	struct buf text = BUF(1 << 16);

	form_schema(p, ROLE_GENERATOR, j, wire_dialect(&p->model[ROLE_GENERATOR]), &text);
	struct str schema = arena_str(a, buf_view(&text));
	buf_release(&text);
	return schema;
}

static void assert_text(void **state, const char *row, const char *checks, const char *wanted)
{
	struct arena *a = *state;
	struct str got = schema_of(a, row, arena_printf(a, "\"checks\":[%s]", checks).p,
				   "{\"variables\":{\"customer\":\"J. \\\"B\\\" Baker\"}}");
	const bool closed = !strstr(row, "openapi");
	struct str whole = arena_printf(a,
					"{\"type\":\"object\",\"properties\":{\"text\":{\"type\":"
					"\"string\"%s}},\"required\":[\"text\"]%s}",
					wanted, closed ? ",\"additionalProperties\":false" : "");

	if (!str_eq(got, whole))
		fail_msg("%s: %.*s, not %.*s", row, STR_ARG(got), STR_ARG(whole));
}

#define SIZE "{\"name\":\"s\",\"type\":\"graphemes\",\"min\":120,\"max\":400}"
#define SHORT "{\"name\":\"s\",\"type\":\"graphemes\",\"max\":40}"
#define NAMED "{\"name\":\"n\",\"type\":\"must_include\",\"variables\":[\"customer\"]}"
#define TWO "{\"name\":\"t\",\"type\":\"must_include\",\"values\":[\"50 %\",\"a+b\"]}"
#define CHOICE "{\"name\":\"c\",\"type\":\"regex\",\"pattern\":\"^(?:yes|no\\\\.)$\"}"
#define ANY "[\\\\s\\\\S]*"
#define CHAR "([^\\\"\\\\\\\\\\\\x00-\\\\x1f]|\\\\\\\\[\\\"\\\\\\\\/bfnrt]|\\\\\\\\u[0-9a-fA-F]{4})"

static void a_row_is_told_what_it_allows(void **state)
{
	static const char lengths[] = ",\"minLength\":120,\"maxLength\":400";
	static const char named[] = ",\"pattern\":\"^(" ANY "J\\\\. \\\"B\\\" Baker" ANY ")$\"";
	static const char both[] = ",\"pattern\":\"^(" ANY "J\\\\. \\\"B\\\" Baker" ANY
				   ")$\",\"minLength\":120,\"maxLength\":400";
	static const char choice[] = ",\"enum\":[\"yes\",\"no.\"]";

	assert_text(state, "\"schema_says\":\"all\"", SIZE, lengths);
	assert_text(state, "\"schema_says\":\"all\"", SIZE "," NAMED, both);
	assert_text(state, "\"schema_says\":\"values\"", SIZE "," NAMED, named);
	assert_text(state, "\"schema_says\":\"values\"", CHOICE "," SIZE, choice);
	assert_text(state, "\"schema_says\":\"values\",\"wire\":\"anthropic\"", CHOICE, choice);
	assert_text(state, "\"schema_says\":\"values\",\"wire\":\"anthropic\"", SIZE "," NAMED, "");
	assert_text(state, "\"schema_says\":\"values\",\"wire\":\"gemini\"", NAMED "," SIZE, "");
	assert_text(state, "\"schema_says\":\"values\",\"wire\":\"gemini\"", CHOICE, choice);
	assert_text(state,
		    "\"schema_says\":\"all\",\"wire\":\"gemini\",\"schema_mode\":\"openapi\"",
		    SIZE "," NAMED, both);
}

/* llama.cpp: the characters of a JSON string as they are written, and no length beside a pattern. */
static void a_pattern_may_be_of_the_json_as_it_is_written(void **state)
{
	static const char row[] = "\"schema_says\":\"all_written\"";

	assert_text(state, row, SIZE, ",\"minLength\":120,\"maxLength\":400");
	assert_text(state, row, SIZE "," NAMED, ",\"minLength\":120,\"maxLength\":400");
	assert_text(state, row, NAMED,
		    ",\"pattern\":\"^(" CHAR "*J\\\\. \\\\\\\\\\\"B\\\\\\\\\\\" Baker" CHAR
		    "*)$\"");
	assert_text(state, row, SHORT "," TWO,
		    ",\"pattern\":\"^(" CHAR "{0,33}50 %" CHAR "{0,33}a\\\\+b" CHAR "{0,33}|" CHAR
		    "{0,33}a\\\\+b" CHAR "{0,33}50 %" CHAR "{0,33})$\"");
}

static void values_may_stand_in_any_order(void **state)
{
	assert_text(state, "\"schema_says\":\"values\"", TWO,
		    ",\"pattern\":\"^(" ANY "50 %" ANY "a\\\\+b" ANY "|" ANY "a\\\\+b" ANY
		    "50 %" ANY ")$\"");
}

#define VALUES(list) "{\"name\":\"v\",\"type\":\"must_include\",\"values\":[" list "]}"

/* What cannot be said without excluding a good text is left to the checks. */
static void what_cannot_be_said_is_left_out(void **state)
{
	static const char row[] = "\"schema_says\":\"all\"";

	assert_text(state, row, VALUES("\"Team\",\"Team Plus\",\"Plus\""),
		    ",\"pattern\":\"^(" ANY "Team Plus" ANY ")$\"");
	assert_text(state, row, VALUES("\"Baker\",\"kerTeam\""),
		    ",\"pattern\":\"^(" ANY "kerTeam" ANY ")$\"");
	assert_text(state, row, VALUES("\"a\\nb\""), "");
	assert_text(state, row, "{\"name\":\"w\",\"type\":\"words\",\"max\":9}", "");
	assert_text(state, row, "{\"name\":\"f\",\"type\":\"forbidden\",\"terms\":[\"x\"]}", "");
	assert_text(state, row, "{\"name\":\"r\",\"type\":\"regex\",\"pattern\":\"^yes|no$\"}", "");
	assert_text(state, row,
		    "{\"name\":\"r\",\"type\":\"regex\",\"pattern\":\"^yes$\",\"match\":false}",
		    "");
	assert_text(state, row, SIZE ",{\"name\":\"m\",\"type\":\"graphemes\",\"max\":9}", "");
}

/* Each part by its own checks; one of the whole cannot be said of a part. The job's own count, too. */
static void a_part_is_told_its_own_checks(void **state)
{
	struct arena *a = *state;
	struct str got = schema_of(
		a, "\"schema_says\":\"all\"",
		"\"gate_permille\":900,\"fields\":[\"subject\",\"body\"],\"checks\":["
		"{\"name\":\"a\",\"type\":\"graphemes\",\"max\":60,\"field\":\"subject\"},"
		"{\"name\":\"b\",\"type\":\"graphemes\",\"min\":100}]",
		"{\"checks\":[{\"name\":\"c\",\"type\":\"must_include\",\"values\":[\"May\"],"
		"\"field\":\"body\"}]}");

	assert_true(str_is(
		got,
		"{\"type\":\"object\",\"properties\":{\"subject\":{\"type\":\"string\","
		"\"maxLength\":60},\"body\":{\"type\":\"string\",\"pattern\":\"^(" ANY "May" ANY
		")$\"},\"confidence\":{\"type\":\"number\"}},\"required\":[\"subject\",\"body\","
		"\"confidence\"],\"additionalProperties\":false}"));
}

/* In its own place of the request. */
static void each_wire_sends_it(void **state)
{
	static const struct {
		const char *row, *place;
	} wires[] = {
		{"\"wire\":\"openai\"",
		 "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"draft\","
		 "\"strict\":true,\"schema\":"},
		{"\"wire\":\"gemini\"", "\"responseJsonSchema\":"},
		{"\"wire\":\"gemini\",\"schema_mode\":\"openapi\"", "\"responseSchema\":"},
		{"\"wire\":\"anthropic\"",
		 "\"output_config\":{\"format\":{\"type\":\"json_schema\",\"schema\":"},
	};
	struct arena *a = *state;

	for (size_t i = 0; i < sizeof(wires) / sizeof(*wires); i++) {
		const char *row = arena_printf(a, "\"schema_says\":\"values\",%s", wires[i].row).p;
		struct prompt prompt = PROMPT;
		struct buf body = BUF(1 << 20);
		const struct job *job;
		const struct profile *p = profile_of(a, row, "\"checks\":[" CHOICE "]", "{}", &job);

		prompt_write(p, job, ROLE_GENERATOR, 0, &(struct prompt_parts){.again = false},
			     &prompt);
		assert_int_equal(prompt.want, WANT_DRAFT);
		assert_true(str_find(buf_view(&prompt.schema), STR_OF("\"enum\":[\"yes\",\"no.\"]"),
				     0) > 0);
		/* what is the same for all jobs has the form alone */
		assert_true(str_find(buf_view(&prompt.system),
				     STR_OF("\"text\":{\"type\":\"string\"}"), 0) > 0);
		p->model[ROLE_GENERATOR].wire->request(&p->model[ROLE_GENERATOR], &prompt, 64,
						       &body);
		struct str sent = arena_printf(a, "%s%s", wires[i].place, prompt.schema.p);
		if (str_find(buf_view(&body), sent, 0) < 0)
			fail_msg("%.*s is not in %s", STR_ARG(sent), body.p);
		buf_release(&body);
		prompt_release(&prompt);
	}
}

static void whose_schema_says_it_is_told_by_profile_and_row(void **state)
{
	struct profile p = {.model[ROLE_REFINER].schema_says = SCHEMA_SAYS_ALL};

	assert_int_equal(form_want(&p, ROLE_REFINER), WANT_TEXT);
	p.draft_schema = DRAFT_SCHEMA_ALWAYS;
	assert_int_equal(form_want(&p, ROLE_REFINER), WANT_DRAFT);
	assert_int_equal(form_want(&p, ROLE_GENERATOR), WANT_TEXT);
	p.model[ROLE_GENERATOR].schema_says = SCHEMA_SAYS_VALUES;
	assert_int_equal(form_want(&p, ROLE_GENERATOR), WANT_DRAFT);
	p.draft_schema = DRAFT_SCHEMA_REFINE;
	assert_int_equal(form_want(&p, ROLE_GENERATOR), WANT_TEXT);
	assert_int_equal(form_want(&p, ROLE_REFINER), WANT_DRAFT);
}

static int new_arena(void **state)
{
	*state = arena_new();
	return 0;
}

static int free_arena(void **state)
{
	arena_free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_is_told_what_it_allows),
		cmocka_unit_test(a_pattern_may_be_of_the_json_as_it_is_written),
		cmocka_unit_test(values_may_stand_in_any_order),
		cmocka_unit_test(what_cannot_be_said_is_left_out),
		cmocka_unit_test(a_part_is_told_its_own_checks),
		cmocka_unit_test(each_wire_sends_it),
		cmocka_unit_test(whose_schema_says_it_is_told_by_profile_and_row),
	};

	return cmocka_run_group_tests(tests, new_arena, free_arena);
}
