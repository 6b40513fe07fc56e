#include "check_world.h"

struct arena *arena;

static const struct variable variables[] = {
	{STR("name"), STR("山田花子")},
	{STR("plan"), STR("Gold")},
	{STR("number"), STR("00042")},
	{STR("empty"), STR("")},
};
const struct job job = {.variable = variables, .n_variable = 4};

int new_arena(void **state)
{
	arena = arena_new();
	return 0;
}

int free_arena(void **state)
{
	arena_free(arena);
	return 0;
}

enum status read_spec(const char *spec, struct check *out, struct err *err)
{
	struct json *json;

	assert_int_equal(json_read(str_c(spec), &json, err), JSON_FINE);
	enum status status = check_read(arena, json, out, err);
	json_free(json); /* a check keeps nothing of it */
	return status;
}

void assert_refused(const char *spec, const char *said)
{
	struct check check;
	struct err err = {""};

	assert_int_equal(read_spec(spec, &check, &err), ST_INVALID);
	assert_string_equal(err.text, said);
}

struct check check_of(const char *arguments)
{
	struct check check;
	struct err err = {""};
	struct str spec = arena_printf(arena, "{\"name\": \"c\", %s}", arguments);

	if (read_spec(spec.p, &check, &err) != ST_OK)
		fail_msg("%s", err.text);
	return check;
}

struct check_result result_of(const char *arguments, const char *text)
{
	struct check *check = arena_alloc(arena, sizeof(*check));
	struct checked checked = {.scratch = arena, .text = str_c(text)};
	struct check_result result;

	*check = check_of(arguments);
	check_run(arena, check, &job, &checked, &result);
	assert_ptr_equal(result.check, check);
	return result;
}

void assert_green(const char *arguments, const char *text)
{
	struct check_result r = result_of(arguments, text);

	if (!r.ok)
		fail_msg("\"%s\" is red: %.*s", text, STR_ARG(r.detail));
	assert_null(r.detail.p);
	assert_int_equal(r.at, -1);
	assert_int_equal(r.n, 0);
}

void assert_red(const char *arguments, const char *text, const char *detail, const char *place)
{
	struct check_result r = result_of(arguments, text);

	if (r.ok)
		fail_msg("\"%s\" is green", text);
	assert_string_equal(r.detail.p, detail);
	assert_int_equal(r.at, place ? str_find(str_c(text), str_c(place), 0) : -1);
	assert_int_equal(r.n, place ? strlen(place) : 0);
}

void assert_phrase(const char *arguments, const char *english, const char *japanese)
{
	struct check check = check_of(arguments);
	const char *expected[] = {english, japanese};

	for (int i = 0; i < 2; i++) {
		struct buf said = BUF(1000);
		check.type->phrase(check.args, &job, i == 1, &said);
		assert_string_equal(said.p, expected[i]);
		buf_release(&said);
	}
}
