#include "core/schema.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct fixture {
	struct arena *a;
	struct err err;
};

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){.a = arena_new()};
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	arena_free(f->a);
	return 0;
}

static enum schema_fault fault_given(struct fixture *f, const char *schema, const char *value,
				     const char *given)
{
	const struct schema *s;
	struct json *doc;

	if (schema_read(f->a, str_c(schema), &s, &f->err) != ST_OK)
		fail_msg("%s: %s", schema, f->err.text);
	assert_int_equal(json_read(str_c(value), &doc, &f->err), JSON_FINE);
	enum schema_fault fault = schema_check(s, doc, given, &f->err);
	json_free(doc);
	return fault;
}

static enum schema_fault fault_of(struct fixture *f, const char *schema, const char *value)
{
	return fault_given(f, schema, value, NULL);
}

static void types_are_exact(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(fault_of(f, "{\"type\":\"string\"}", "\"\""), SCHEMA_FITS);
	assert_int_equal(fault_of(f, "{\"type\":\"string\"}", "1"), SCHEMA_TYPE);
	assert_string_equal(f->err.text, "#: is integer, must be string");
	assert_int_equal(fault_of(f, "{\"type\":\"null\"}", "null"), SCHEMA_FITS);
	assert_int_equal(fault_of(f, "{\"type\":\"boolean\"}", "null"), SCHEMA_TYPE);
	assert_int_equal(fault_of(f, "{\"type\":[\"null\",\"number\"]}", "null"), SCHEMA_FITS);
	assert_int_equal(fault_of(f, "{\"type\":[\"null\",\"number\"]}", "[]"), SCHEMA_TYPE);
	assert_string_equal(f->err.text, "#: is array, must be null or number");
	assert_int_equal(fault_of(f, "{}", "[1,{}]"), SCHEMA_FITS);
}

static void a_whole_number_is_an_integer_however_it_is_written(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(fault_of(f, "{\"type\":\"integer\"}", "1"), SCHEMA_FITS);
	assert_int_equal(fault_of(f, "{\"type\":\"integer\"}", "1.0"), SCHEMA_FITS);
	assert_int_equal(fault_of(f, "{\"type\":\"integer\"}", "1e2"), SCHEMA_FITS);
	assert_int_equal(fault_of(f, "{\"type\":\"integer\"}", "1.5"), SCHEMA_TYPE);
	assert_int_equal(fault_of(f, "{\"type\":\"number\"}", "1"), SCHEMA_FITS);
	assert_int_equal(fault_of(f, "{\"type\":\"number\"}", "1.5"), SCHEMA_FITS);
}

static void numbers_have_bounds(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(fault_of(f, "{\"minimum\":1,\"maximum\":2.5}", "1"), SCHEMA_FITS);
	assert_int_equal(fault_of(f, "{\"minimum\":1,\"maximum\":2.5}", "2.5"), SCHEMA_FITS);
	assert_int_equal(fault_of(f, "{\"minimum\":1}", "0"), SCHEMA_RANGE);
	assert_string_equal(f->err.text, "#: must be at least 1");
	assert_int_equal(fault_of(f, "{\"maximum\":2.5}", "3"), SCHEMA_RANGE);
	assert_string_equal(f->err.text, "#: must be at most 2.5");
	assert_int_equal(fault_of(f, "{\"minimum\":1}", "\"0\""), SCHEMA_FITS);
	/* 2^53 and 2^53 + 1 are one double, and so are these two */
	assert_int_equal(fault_of(f, "{\"maximum\":9007199254740992}", "9007199254740993"),
			 SCHEMA_RANGE);
	assert_int_equal(fault_of(f, "{\"exclusiveMinimum\":0.1}", "0.1000000000000000001"),
			 SCHEMA_FITS);
	assert_int_equal(fault_of(f, "{\"const\":0.1}", "0.1000000000000000001"), SCHEMA_RANGE);
	assert_int_equal(fault_of(f, "{\"multipleOf\":0.01}", "0.07"), SCHEMA_FITS);
	assert_int_equal(fault_of(f, "{\"multipleOf\":0.3}", "0.9000000000000000000000000001"),
			 SCHEMA_RANGE);
}

static void length_counts_code_points(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(fault_of(f, "{\"maxLength\":2}", "\"日本\""), SCHEMA_FITS);
	assert_int_equal(fault_of(f, "{\"maxLength\":2}", "\"日本語\""), SCHEMA_RANGE);
	assert_string_equal(f->err.text, "#: has 3 characters, must have at most 2");
	assert_int_equal(fault_of(f, "{\"minLength\":1}", "\"\""), SCHEMA_RANGE);
	assert_string_equal(f->err.text, "#: has 0 characters, must have at least 1");
	assert_int_equal(fault_of(f, "{\"minLength\":2,\"maxLength\":2}",
				  "\"\xF0\x9F\x98\x80\xF0\x9F\x98\x80\""),
			 SCHEMA_FITS);
}

static void arrays_have_sizes_and_items(void **state)
{
	struct fixture *f = *state;
	const char *schema = "{\"minItems\":1,\"maxItems\":2,\"items\":{\"type\":\"string\"}}";

	assert_int_equal(fault_of(f, schema, "[\"a\"]"), SCHEMA_FITS);
	assert_int_equal(fault_of(f, schema, "[]"), SCHEMA_RANGE);
	assert_int_equal(fault_of(f, schema, "[1,2,3]"), SCHEMA_RANGE);
	assert_string_equal(f->err.text, "#: has 3 items, must have at most 2");
	assert_int_equal(fault_of(f, schema, "[\"a\",2]"), SCHEMA_TYPE);
	assert_string_equal(f->err.text, "#/1: is integer, must be string");
}

static void objects_have_members(void **state)
{
	struct fixture *f = *state;
	const char *schema =
		"{\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{}},\"required\":[\"a\"],"
		"\"additionalProperties\":false}";

	assert_int_equal(fault_of(f, schema, "{\"b\":null,\"a\":\"\"}"), SCHEMA_FITS);
	assert_int_equal(fault_of(f, schema, "{\"b\":1}"), SCHEMA_MISSING);
	assert_string_equal(f->err.text, "#/a: is missing");
	assert_int_equal(fault_of(f, schema, "{\"a\":\"\",\"c\":1}"), SCHEMA_UNKNOWN);
	assert_string_equal(f->err.text, "#/c: is not known, must be one of a, b");
	assert_int_equal(fault_of(f, schema, "{\"a\":null}"), SCHEMA_TYPE);
	assert_int_equal(fault_of(f, schema, "7"), SCHEMA_FITS);
}

static void other_members_may_have_a_schema(void **state)
{
	struct fixture *f = *state;
	const char *schema = "{\"maxProperties\":2,\"additionalProperties\":{\"type\":\"string\"}}";

	assert_int_equal(fault_of(f, schema, "{\"x\":\"1\",\"y\":\"2\"}"), SCHEMA_FITS);
	assert_int_equal(fault_of(f, schema, "{\"x\":1}"), SCHEMA_TYPE);
	assert_string_equal(f->err.text, "#/x: is integer, must be string");
	assert_int_equal(fault_of(f, schema, "{\"x\":\"\",\"y\":\"\",\"z\":\"\"}"), SCHEMA_RANGE);
	assert_string_equal(f->err.text, "#: has 3 members, must have at most 2");
}

static void enum_and_const_compare_values(void **state)
{
	struct fixture *f = *state;
	const char *schema = "{\"enum\":[\"low\",1,true,null]}";

	assert_int_equal(fault_of(f, schema, "\"low\""), SCHEMA_FITS);
	assert_int_equal(fault_of(f, schema, "1.0"), SCHEMA_FITS);
	assert_int_equal(fault_of(f, schema, "true"), SCHEMA_FITS);
	assert_int_equal(fault_of(f, schema, "null"), SCHEMA_FITS);
	assert_int_equal(fault_of(f, schema, "false"), SCHEMA_RANGE);
	assert_string_equal(f->err.text, "#: must be one of \"low\", 1, true, null");
	assert_int_equal(fault_of(f, schema, "\"1\""), SCHEMA_RANGE);
	assert_int_equal(fault_of(f, "{\"const\":1}", "true"), SCHEMA_RANGE);
	assert_string_equal(f->err.text, "#: must be 1");
	assert_int_equal(fault_of(f, "{\"const\":0}", "[]"), SCHEMA_RANGE);
}

static void refs_lead_to_definitions_and_to_the_root(void **state)
{
	struct fixture *f = *state;
	const char *tree =
		"{\"properties\":{\"kids\":{\"items\":{\"$ref\":\"#\"}},\"n\":{\"$ref\":\"#/$defs/n\",\"maximum\":9}},"
		"\"$defs\":{\"n\":{\"type\":\"integer\"}}}";

	assert_int_equal(fault_of(f, tree, "{\"kids\":[{\"n\":1},{\"kids\":[{\"n\":2}]}]}"),
			 SCHEMA_FITS);
	assert_int_equal(fault_of(f, tree, "{\"kids\":[{},{\"kids\":[{\"n\":\"2\"}]}]}"),
			 SCHEMA_TYPE);
	assert_string_equal(f->err.text, "#/kids/1/kids/0/n: is string, must be integer");
	assert_int_equal(fault_of(f, tree, "{\"n\":10}"), SCHEMA_RANGE);
}

static void the_first_fault_in_the_text_is_told(void **state)
{
	struct fixture *f = *state;
	const char *schema =
		"{\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"maximum\":1}},\"required\":[\"c\"],"
		"\"additionalProperties\":false}";

	assert_int_equal(fault_of(f, schema, "{\"b\":2,\"a\":1,\"x\":0}"), SCHEMA_RANGE);
	assert_int_equal(fault_of(f, schema, "{\"a\":1,\"b\":2,\"x\":0}"), SCHEMA_TYPE);
	assert_int_equal(fault_of(f, schema, "{\"x\":0,\"a\":1,\"b\":2}"), SCHEMA_UNKNOWN);
	assert_int_equal(fault_of(f, schema, "{\"a\":\"\"}"), SCHEMA_MISSING);
}

static void an_envelope_may_give_a_member_of_the_outermost_object_only(void **state)
{
	struct fixture *f = *state;
	const char *schema =
		"{\"required\":[\"id\",\"p\"],\"properties\":{\"in\":{\"required\":[\"id\"]}}}";

	assert_int_equal(fault_given(f, schema, "{\"p\":1}", NULL), SCHEMA_MISSING);
	assert_int_equal(fault_given(f, schema, "{\"p\":1}", "id"), SCHEMA_FITS);
	assert_int_equal(fault_given(f, schema, "{}", "id"), SCHEMA_MISSING);
	assert_string_equal(f->err.text, "#/p: is missing");
	assert_int_equal(fault_given(f, schema, "{\"p\":1,\"in\":{}}", "id"), SCHEMA_MISSING);
	assert_string_equal(f->err.text, "#/in/id: is missing");
}

static void pointers_are_escaped_and_cut_between_characters(void **state)
{
	struct fixture *f = *state;
	/* 63 bytes, then a character of 3 bytes across the cut at 64 */
	const char *long_key =
		"{\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx日\":1}";

	assert_int_equal(fault_of(f, "{\"additionalProperties\":false}", "{\"a/b~c\":1}"),
			 SCHEMA_UNKNOWN);
	assert_true(str_starts(str_c(f->err.text), "#/a~1b~0c: "));
	assert_int_equal(fault_of(f, "{\"additionalProperties\":false}", long_key), SCHEMA_UNKNOWN);
	assert_true(str_starts(str_c(f->err.text), "#/xxx"));
	assert_non_null(strstr(f->err.text, "xxx..: is not known"));
}

static void assert_refused(struct fixture *f, const char *schema, const char *text)
{
	const struct schema *s;

	assert_int_equal(schema_read(f->a, str_c(schema), &s, &f->err), ST_INVALID);
	if (!strstr(f->err.text, text))
		fail_msg("%s: %s", schema, f->err.text);
}

static void what_is_not_supported_is_refused_by_name(void **state)
{
	struct fixture *f = *state;

	assert_refused(f, "{\"properties\":{\"a\":{\"format\":\"uri\"}}}",
		       "#/properties/a/format: this keyword is not supported");
	assert_refused(f, "{\"unevaluatedItems\":false}", "#/unevaluatedItems: ");
	assert_refused(f, "{\"$defs\":{\"unused\":{\"$anchor\":\"a\"}}}",
		       "#/$defs/unused/$anchor: ");
	assert_refused(f, "{\"definitions\":{}}", "#/definitions: ");
	assert_refused(f, "{\"$schema\":\"http://json-schema.org/draft-07/schema#\"}",
		       "#/$schema: ");
	assert_refused(f, "{\"items\":{\"$id\":\"x\"}}", "#/items/$id: ");
	assert_refused(f, "{\"items\":{\"$ref\":\"other#\"}}", "#/items/$ref: ");
}

static void a_malformed_schema_is_refused(void **state)
{
	struct fixture *f = *state;

	assert_refused(f, "{", "");
	assert_refused(f, "[]", "#: must be a schema");
	assert_refused(f, "{\"type\":\"str\"}", "#/type: ");
	assert_refused(f, "{\"type\":[]}", "#/type: ");
	assert_refused(f, "{\"required\":[1]}", "#/required: ");
	assert_refused(f, "{\"maxLength\":-1}", "#/maxLength: ");
	assert_refused(f, "{\"minimum\":\"1\"}", "#/minimum: ");
	assert_refused(f, "{\"enum\":[]}", "#/enum: ");
	assert_refused(f, "{\"properties\":[]}", "#/properties: ");
	assert_refused(f, "{\"additionalProperties\":1}", "#/additionalProperties: ");
	assert_refused(f, "{\"maxItems\":1.5}", "#/maxItems: ");
	assert_refused(f, "{\"maxItems\":1e20}", "#/maxItems: ");
	assert_refused(f, "{\"multipleOf\":0}", "#/multipleOf: ");
	assert_refused(f, "{\"multipleOf\":1234567890123456789}", "#/multipleOf: ");
	assert_refused(f, "{\"allOf\":[]}", "#/allOf: ");
	assert_refused(f, "{\"anyOf\":[true,1]}", "#/anyOf/1: ");
	assert_refused(f, "{\"pattern\":\"[\"}", "#/pattern: ");
	assert_refused(f, "{\"patternProperties\":{\"(\":true}}", "#/patternProperties/(: ");
	assert_refused(f, "{\"dependentRequired\":{\"a\":\"b\"}}", "#/dependentRequired/a: ");
	assert_refused(f, "{\"uniqueItems\":1}", "#/uniqueItems: ");
	assert_refused(f, "{\"$ref\":\"#/$defs/none\"}", "#/$ref: ");
	assert_refused(f, "{\"$ref\":\"#/$defs/a/const\",\"$defs\":{\"a\":{\"const\":{}}}}",
		       "#/$ref: ");
	assert_refused(f, "{\"$ref\":\"#/$defs/a~\",\"$defs\":{\"a~\":{}}}", "#/$ref: ");
	assert_refused(f, "{\"$ref\":\"other.json\"}", "#/$ref: ");
}

static void a_ref_in_a_circle_is_refused(void **state)
{
	struct fixture *f = *state;

	assert_refused(f, "{\"$ref\":\"#\"}", "leads back to itself");
	assert_refused(
		f, "{\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"$ref\":\"#/$defs/a\"}}}",
		"leads back to itself");
	assert_int_equal(
		fault_of(
			f,
			"{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{}}}",
			"1"),
		SCHEMA_FITS);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(types_are_exact),
		TEST(a_whole_number_is_an_integer_however_it_is_written),
		TEST(numbers_have_bounds),
		TEST(length_counts_code_points),
		TEST(arrays_have_sizes_and_items),
		TEST(objects_have_members),
		TEST(other_members_may_have_a_schema),
		TEST(enum_and_const_compare_values),
		TEST(refs_lead_to_definitions_and_to_the_root),
		TEST(the_first_fault_in_the_text_is_told),
		TEST(an_envelope_may_give_a_member_of_the_outermost_object_only),
		TEST(pointers_are_escaped_and_cut_between_characters),
		TEST(what_is_not_supported_is_refused_by_name),
		TEST(a_malformed_schema_is_refused),
		TEST(a_ref_in_a_circle_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
