/* The check types json and json_schema; what a schema means is for test_schema.c and test_schema_suite.c. */
#include "core/check.h"
#include "core/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { TEXT_BYTES = 256 << 10 };

static struct arena *arena;
static const struct job job;

static int new_arena(void **state)
{
	arena = arena_new();
	return 0;
}

static int free_arena(void **state)
{
	arena_free(arena);
	return 0;
}

static enum status read_schema(const char *schema, struct check *out, struct err *err)
{
	struct buf text = BUF(1 << 20);
	struct json_out o = {.buf = &text};
	struct json *spec;

	json_open(&o, NULL, '{');
	json_put_str(&o, "name", STR_OF("shape"));
	json_put_str(&o, "type", STR_OF("json_schema"));
	json_put_str(&o, "schema", str_c(schema));
	json_close(&o, '}');
	assert_int_equal(json_read(buf_view(&text), &spec, err), JSON_FINE);
	enum status status = check_read(arena, spec, out, err);
	json_free(spec); /* a check keeps nothing of it */
	buf_release(&text);
	return status;
}

static struct check check_of(const char *schema)
{
	struct check check;
	struct err err;

	if (read_schema(schema, &check, &err) != ST_OK)
		fail_msg("%s: %s", schema, err.text);
	return check;
}

/* What is red about it; NULL: nothing. */
static const char *fault_of(const char *schema, const char *text)
{
	struct checked checked = {.scratch = arena, .text = str_c(text)};
	struct check check = check_of(schema);
	struct check_result result;

	check_run(arena, &check, &job, &checked, &result);
	assert_int_equal(result.at, -1);
	assert_int_equal(result.ok, !result.detail.p);
	return result.detail.p;
}

static void assert_fits(const char *schema, const char *text)
{
	const char *fault = fault_of(schema, text);

	if (fault)
		fail_msg("%s: %s: %s", schema, text, fault);
}

static void assert_red(const char *schema, const char *text, const char *detail)
{
	const char *fault = fault_of(schema, text);

	assert_non_null(fault);
	assert_string_equal(fault, detail);
}

#define ORDER                                                                                       \
	"{\"type\": \"object\", \"required\": [\"items\"], \"additionalProperties\": false, "       \
	"\"properties\": {\"items\": {\"type\": \"array\", \"items\": {\"required\": [\"price\"], " \
	"\"properties\": {\"price\": {\"type\": \"number\", \"multipleOf\": 0.01, "                 \
	"\"exclusiveMinimum\": 0}}}}, \"note\": {\"maxLength\": 3}}}"

static void faults_are_told_with_their_places(void **state)
{
	assert_fits(ORDER, "\n{\"items\": [{\"price\": 19.99}, {\"price\": 1e3}]}\n");
	assert_red(
		ORDER, "{\"items\": [{\"price\": 1}, {\"price\": 0}], \"note\": \"four\"}",
		"/items/1/price: must be more than 0; /note: has 4 characters, must have at most 3");
	assert_red(ORDER, "{\"items\": [{\"price\": 0.005}, {}], \"extra\": 1}",
		   "/items/0/price: must be a multiple of 0.01; /items/1/price: is missing; "
		   "/extra: is not known, must be one of items, note");
	assert_red(ORDER, "[]", "is array, must be object");
	assert_red("{\"items\": {\"minimum\": 1}}", "[0,0,0,0,0,0,0]",
		   "/0: must be at least 1; /1: must be at least 1; /2: must be at least 1; "
		   "/3: must be at least 1; /4: must be at least 1");
}

static void what_is_no_json_fits_nothing(void **state)
{
	assert_red("true", "```json\n{}\n```", "not one JSON value: no JSON value at byte 0");
	assert_red("true", "{\"a\": 1, \"a\": 2}",
		   "not one JSON value: at byte 9 a second key of one object has the name 'a'");
	assert_red("true", "\"\\u0000\"", "not one JSON value: \\u0000 is not allowed at byte 1");
	assert_fits("true", "12345678901234567890123");
}

static void branches_say_why_they_do_not_fit(void **state)
{
	const char *schema =
		"{\"oneOf\": [{\"type\": \"null\"}, {\"required\": [\"id\"]}, {\"minProperties\": 3}]}";

	assert_red(
		schema, "{}",
		"fits none of the 3 schemas of `oneOf` (is object, must be null | /id: is missing | "
		"has 0 members, must have at least 3)");
	assert_red(schema, "{\"id\": 1, \"b\": 2, \"c\": 3}",
		   "fits more than one schema of `oneOf`");
	assert_fits(schema, "{\"id\": 1}");
	assert_red("{\"not\": {\"required\": [\"a\"]}}", "{\"a\": 1}", "fits the schema of `not`");
	assert_red(
		"{\"propertyNames\": {\"pattern\": \"^[a-z]+$\"}}", "{\"A/b\": 1}",
		"/A~1b: has a name that does not fit (/A~1b: must match the pattern /^[a-z]+$/)");
	assert_red("{\"contains\": {\"const\": 1}, \"maxContains\": 2, \"uniqueItems\": true}",
		   "[1, 1.0, 10e-1]",
		   "has 3 items of the kind wanted by `contains`, must have at most 2; "
		   "items 0 and 1 are equal, all must differ");
	assert_red("{\"dependentRequired\": {\"card\": [\"address\"]}}", "{\"card\": 1}",
		   "/address: is missing, where \"card\" is given");
}

static void assert_refused(const char *schema, const char *said)
{
	struct check check;
	struct err err;

	assert_int_equal(read_schema(schema, &check, &err), ST_INVALID);
	assert_string_equal(err.text, said);
}

#define KEY "check \"shape\": key \"schema\": "

static void what_is_not_supported_is_refused_when_the_profile_is_read(void **state)
{
	assert_refused("{\"properties\": {\"at\": {\"format\": \"date-time\"}}}",
		       KEY "#/properties/at/format: this keyword is not supported; leave it out");
	assert_refused("{\"requried\": []}",
		       KEY "#/requried: this keyword is not supported; leave it out");
	assert_refused("{\"$ref\": \"https://example.com/a.json\"}",
		       KEY "#/$ref: must be a place in this schema: \"#\" or \"#/$defs/NAME\"");
	assert_refused("{\"pattern\": \"(a)\\\\1\"}",
		       KEY "#/pattern: at byte 3, \"\\1\": not supported");
	assert_refused("{\"const\": \"\\u0000\"}", KEY "\\u0000 is not allowed at byte 11");
	assert_refused("schema", KEY "no JSON value at byte 0");
}

static void a_schema_has_a_size(void **state)
{
	char *schema = arena_alloc(arena, (64 << 10) + 2);
	struct check check;
	struct err err;

	memset(schema, ' ', 64 << 10);
	memcpy(schema, "{}", 2);
	assert_int_equal(read_schema(schema, &check, &err), ST_OK);
	schema[64 << 10] = ' ';
	assert_int_equal(read_schema(schema, &check, &err), ST_INVALID);
	assert_true(str_starts(str_c(err.text), KEY "must be a JSON Schema as a text of JSON"));
}

static void the_prompt_has_the_schema(void **state)
{
	struct check check = check_of(" {\"type\": \"object\"}\n");
	struct buf said = BUF(1000);

	check.type->phrase(check.args, &job, false, &said);
	assert_string_equal(said.p, "The whole text must be one valid JSON value, without a code "
				    "fence or other words around it. It must fit this JSON Schema: "
				    "{\"type\": \"object\"}");
	buf_clear(&said);
	check.type->phrase(check.args, &job, true, &said);
	assert_string_equal(said.p,
			    "全文が一つの正しいJSON値であること(コードフェンスや前置きは不可)。"
			    "次のJSON Schemaに適合すること: {\"type\": \"object\"}");
	buf_release(&said);
}

/* @unit again and again between @begin and @end, TEXT_BYTES in all. */
static const char *text_of(const char *begin, const char *unit, size_t n_unit, const char *end)
{
	struct buf text = BUF(TEXT_BYTES);

	buf_puts(&text, begin);
	for (size_t i = 0; i < n_unit; i++)
		buf_puts(&text, unit);
	buf_puts(&text, end);
	assert_false(text.full);
	const char *out = arena_str(arena, buf_view(&text)).p;
	buf_release(&text);
	return out;
}

#define TOO_MUCH "could not be decided: too much work for schema and text together"

/* 2^30 visits, were they all made. */
static void schemas_that_double_are_bounded(void **state)
{
	struct buf schema = BUF(TEXT_BYTES);

	buf_puts(&schema, "{\"$ref\": \"#/$defs/0\", \"$defs\": {");
	for (int i = 0; i < 14; i++)
		buf_printf(
			&schema,
			"\"%d\": {\"allOf\": [{\"$ref\": \"#/$defs/%d\"}, {\"$ref\": \"#/$defs/%d\"}, "
			"{\"$ref\": \"#/$defs/%d\"}]}, ",
			i, i + 1, i + 1, i + 1);
	buf_puts(&schema, "\"14\": {\"type\": \"integer\"}}}");
	assert_red(schema.p, "1", TOO_MUCH);
	buf_release(&schema);
}

static void long_texts_are_bounded(void **state)
{
	const char *numbers = text_of("[0", ",1", 9000, "]");
	const char *number = text_of("1", "7", TEXT_BYTES - 10, "");
	struct buf schema = BUF(TEXT_BYTES);

	assert_red("{\"items\": {\"contains\": true}, \"uniqueItems\": true}", numbers,
		   "items 1 and 2 are equal, all must differ");
	assert_red("{\"multipleOf\": 3}", number, "must be a multiple of 3");
	buf_puts(&schema, "{\"allOf\": [{\"multipleOf\": 1}");
	for (int i = 0; i < 100; i++)
		buf_puts(&schema, ", {\"multipleOf\": 1}");
	buf_puts(&schema, "]}");
	assert_red(schema.p, number, TOO_MUCH);
	buf_release(&schema);
}

static void patterns_that_backtrack_are_bounded(void **state)
{
	const char *text = text_of("\"", "a", TEXT_BYTES - 10, "\"");

	assert_red("{\"pattern\": \"(a+)+[bc]$\"}", text,
		   "could not be decided: the pattern /(a+)+[bc]$/: match limit exceeded");
	/* neither is what hides the limit */
	assert_red("{\"not\": {\"pattern\": \"(a+)+[bc]$\"}}", text,
		   "could not be decided: the pattern /(a+)+[bc]$/: match limit exceeded");
	assert_red("{\"anyOf\": [{\"pattern\": \"(a+)+[bc]$\"}, true]}", text,
		   "could not be decided: the pattern /(a+)+[bc]$/: match limit exceeded");
}

static void circles_and_towers_of_schemas_are_refused(void **state)
{
	struct buf schema = BUF(TEXT_BYTES);
	struct check check;
	struct err err;

	assert_refused("{\"anyOf\": [{\"not\": {\"$ref\": \"#\"}}]}", KEY
		       "#: must be free of a $ref that leads back to itself, and of more than 32 "
		       "schemas of one value in one another");
	for (int i = 0; i < 32; i++)
		buf_puts(&schema, "{\"not\": ");
	buf_puts(&schema, "true");
	for (int i = 0; i < 32; i++)
		buf_putc(&schema, '}');
	assert_int_equal(read_schema(schema.p, &check, &err), ST_INVALID);
	schema.p[schema.n - 1] = ' ';
	assert_int_equal(read_schema(schema.p + strlen("{\"not\": "), &check, &err), ST_OK);
	buf_release(&schema);
	/* down into the value there is no end to be feared */
	assert_fits(
		"{\"items\": {\"$ref\": \"#\"}, \"type\": \"array\"}",
		"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, new_arena, free_arena)
	const struct CMUnitTest tests[] = {
		T(faults_are_told_with_their_places),
		T(what_is_no_json_fits_nothing),
		T(branches_say_why_they_do_not_fit),
		T(what_is_not_supported_is_refused_when_the_profile_is_read),
		T(a_schema_has_a_size),
		T(the_prompt_has_the_schema),
		T(schemas_that_double_are_bounded),
		T(long_texts_are_bounded),
		T(patterns_that_backtrack_are_bounded),
		T(circles_and_towers_of_schemas_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
