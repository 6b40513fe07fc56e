/* The cases of the JSON Schema Test Suite in tests/data/json_schema, all of them: either the right verdict or a refusal that names the
 * keyword. */
#include "../lib/loop_case.h"
#include "core/schema.h"

#include <dirent.h>
#include <setjmp.h>

#include <cmocka.h>

enum { KEYWORDS_MAX = 64 };

struct count {
	struct str keyword;
	int n_case;
};

struct tally {
	struct arena *a;
	int n_right;
	struct count refused[KEYWORDS_MAX]; /* in the order of their first case */
	int n_refused;
};

/* The last key of the pointer that a message begins with, "#/properties/a/format: ...". */
static struct str keyword_of(struct str message)
{
	struct str place = str_sub(message, 0, (size_t)str_find(message, STR_OF(": "), 0));
	size_t from = place.n;

	while (from > 0 && place.p[from - 1] != '/')
		from--;
	return str_sub(place, from, place.n);
}

static void add_refused(struct tally *t, struct str message, int n_case)
{
	struct str keyword = keyword_of(message);
	int i = 0;

	while (i < t->n_refused && !str_eq(t->refused[i].keyword, keyword))
		i++;
	assert_true(i < KEYWORDS_MAX);
	if (i == t->n_refused)
		t->refused[t->n_refused++] = (struct count){arena_str(t->a, keyword), 0};
	t->refused[i].n_case += n_case;
}

static void check_group(struct tally *t, const char *path, const struct json *group)
{
	const struct json *tests = json_get(group, "tests");
	const struct schema *schema;
	struct err err;

	if (schema_compile(t->a, json_get(group, "schema"), &schema, &err) != ST_OK) {
		add_refused(t, str_c(err.text), (int)json_size(tests));
		return;
	}
	for (size_t i = 0; i < json_size(tests); i++) {
		const struct json *test = json_item(tests, i);
		struct buf told = BUF(CASE_BYTES_MAX);
		int64_t work = 0;
		bool valid;
		assert_true(json_get_bool(test, "valid", &valid));
		enum schema_fault fault = schema_check_all(schema, json_get(test, "data"), &work,
							   INT64_C(1000000), &told);
		if (fault == SCHEMA_UNDECIDED || valid != (fault == SCHEMA_FITS))
			fail_msg("%s: %s: %s: valid %d: %s", path,
				 json_str(json_get(group, "description")).p,
				 json_str(json_get(test, "description")).p, valid,
				 buf_view(&told).p);
		buf_release(&told);
		t->n_right++;
	}
}

static void check_file(struct tally *t, const char *path)
{
	struct json *doc;
	struct err err;

	if (json_read_exact(case_file(t->a, path), &doc, &err) != JSON_FINE)
		fail_msg("%s: %s", path, err.text);
	for (size_t i = 0; i < json_size(doc); i++)
		check_group(t, path, json_item(doc, i));
	json_free(doc);
}

static void check_folder(struct tally *t, const char *folder)
{
	struct dirent **entry;
	int n = scandir(folder, &entry, NULL, alphasort);

	assert_true(n > 2);
	for (int i = 0; i < n; i++) {
		if (strstr(entry[i]->d_name, ".json"))
			check_file(t, arena_printf(t->a, "%s/%s", folder, entry[i]->d_name).p);
		free(entry[i]);
	}
	free(entry);
}

static void assert_counts(const struct tally *t, int n_right, const struct count *refused, int n)
{
	assert_int_equal(t->n_right, n_right);
	assert_int_equal(t->n_refused, n);
	for (int i = 0; i < n; i++) {
		assert_string_equal(t->refused[i].keyword.p, refused[i].keyword.p);
		assert_int_equal(t->refused[i].n_case, refused[i].n_case);
	}
}

static void what_every_validator_must_know_is_right_or_refused_by_name(void **state)
{
	static const struct count refused[] = {
		{STR("$anchor"), 4},
		{STR("$ref"), 82}, /* to another document, to an $id or to an anchor */
		{STR("$id"), 17},
		{STR("contentMediaType"), 15},
		{STR("contentEncoding"), 3},
		{STR("$dynamicRef"), 6},
		{STR("$dynamicAnchor"), 10},
		{STR("format"), 133},
		{STR("unevaluatedProperties"), 125},
		{STR("unevaluatedItems"), 64},
		{STR("$schema"), 5}, /* another dialect */
	};
	struct tally t = {.a = arena_new()};

	check_folder(&t, "tests/data/json_schema");
	assert_counts(&t, 789, refused, sizeof(refused) / sizeof(refused[0]));
	arena_free(t.a);
}

static void what_a_validator_may_know_too(void **state)
{
	static const struct count refused[] = {
		{STR("$anchor"), 4},	     {STR("$ref"), 5},
		{STR("dependencies"), 36},   {STR("pattern"), 7}, /* \\p{Letter}, \\a */
		{STR("\\p{Letter}cole"), 4}, {STR("^\\p{digit}+$"), 3},
		{STR("$schema"), 4},	     {STR("$id"), 3},
		{STR("unknown-keyword"), 4}, {STR("array_of_schemas"), 3},
	};
	struct tally t = {.a = arena_new()};

	check_folder(&t, "tests/data/json_schema/optional");
	assert_counts(&t, 85, refused, sizeof(refused) / sizeof(refused[0]));
	arena_free(t.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_every_validator_must_know_is_right_or_refused_by_name),
		cmocka_unit_test(what_a_validator_may_know_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
