#include "base/yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

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

static const struct yaml *read_fine(struct arena *a, const char *text)
{
	const struct yaml *root = NULL;
	struct err err = {""};

	if (yaml_read(a, "f.yaml", str_c(text), &root, &err) != ST_OK)
		fail_msg("%s", err.text);
	return root;
}

static void check_refused(struct arena *a, const char *text, const char *want)
{
	const struct yaml *root = NULL;
	struct err err = {""};

	assert_int_equal(yaml_read(a, "f.yaml", str_c(text), &root, &err), ST_INVALID);
	if (!strstr(err.text, want))
		fail_msg("'%s' does not say '%s'", err.text, want);
	assert_null(root);
}

static void maps_lists_and_scalars_are_read_with_their_lines(void **state)
{
	const struct yaml *root = read_fine(*state, "# a comment\n"
						    "name: customer-email\n"
						    "limits:\n"
						    "  tokens: 50000\n"
						    "list:\n"
						    "  - one\n"
						    "  - {a: 1, b: [x, y]}\n");
	const struct yaml *tokens = yaml_get(yaml_get(root, "limits"), "tokens");
	const struct yaml *list = yaml_get(root, "list"), *second = list->child->next;

	assert_int_equal(root->kind, YAML_MAP);
	assert_null(root->key.p);
	assert_string_equal(root->child->key.p, "name");
	assert_string_equal(root->child->text.p, "customer-email");
	assert_int_equal(root->child->line, 2);
	assert_int_equal(tokens->kind, YAML_SCALAR);
	assert_string_equal(tokens->text.p, "50000");
	assert_int_equal(tokens->line, 4);
	assert_null(tokens->next);
	assert_int_equal(list->kind, YAML_LIST);
	assert_int_equal(list->line, 5);
	assert_int_equal(list->child->line, 6);
	assert_null(list->child->key.p);
	assert_int_equal(second->kind, YAML_MAP);
	assert_int_equal(second->line, 7);
	assert_string_equal(yaml_get(second, "b")->child->next->text.p, "y");
	assert_null(second->next);
}

static void a_key_that_is_not_there_gives_nothing(void **state)
{
	const struct yaml *root = read_fine(*state, "a: b");

	assert_null(yaml_get(root, "b"));
	assert_null(yaml_get(yaml_get(root, "a"), "b"));
	assert_null(yaml_get(NULL, "b"));
}

static void only_a_plain_scalar_can_be_a_number_or_nothing(void **state)
{
	const struct yaml *root = read_fine(*state, "plain: 7\nsingle: '7'\ndouble: \"7\\n\"\n"
						    "block: |\n  7\n  8\nfolded: >\n  7\n  8\n"
						    "none:\nempty: ''\n");

	assert_false(yaml_get(root, "plain")->quoted);
	assert_true(yaml_get(root, "single")->quoted);
	assert_true(yaml_get(root, "double")->quoted);
	assert_string_equal(yaml_get(root, "double")->text.p, "7\n");
	assert_true(yaml_get(root, "block")->quoted);
	assert_string_equal(yaml_get(root, "block")->text.p, "7\n8\n");
	assert_string_equal(yaml_get(root, "folded")->text.p, "7 8\n");
	assert_false(yaml_get(root, "none")->quoted);
	assert_string_equal(yaml_get(root, "none")->text.p, "");
	assert_true(yaml_get(root, "empty")->quoted);
}

static void text_is_utf8(void **state)
{
	const struct yaml *root = read_fine(*state, "\xEF\xBB\xBF宛名: 様\n");

	assert_string_equal(yaml_get(root, "宛名")->text.p, "様");
	check_refused(*state, "# 日本\na:\n\tb: 1\n",
		      "f.yaml:3: a tab stands before the first word");
	check_refused(*state, "a: 1\nb: \xFF\n", "f.yaml:2: ");
	check_refused(*state, "a: 1\n\nb: \x01\n", "f.yaml:3: ");
}

static void an_empty_text_is_an_empty_map(void **state)
{
	static const char *const empty[] = {"", "\n# nothing\n", "---\n", "--- \n...\n"};

	for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
		const struct yaml *root = read_fine(*state, empty[i]);
		assert_int_equal(root->kind, YAML_MAP);
		assert_null(root->child);
		assert_null(root->text.p);
	}
	assert_int_equal(read_fine(*state, NULL)->kind, YAML_MAP);
	assert_int_equal(read_fine(*state, "''")->kind, YAML_SCALAR);
}

static void what_configuration_does_not_need_is_refused_by_line(void **state)
{
	check_refused(*state, "a: 1\nb: &x 2\n", "f.yaml:2: anchors");
	check_refused(*state, "a: &x {b: 1}\n", "f.yaml:1: anchors");
	check_refused(*state, "a: &x\n  - 1\n", "f.yaml:1: anchors");
	check_refused(*state, "&x a: 1\n", "f.yaml:1: anchors");
	check_refused(*state, "a: 1\n\nb: *x\n", "f.yaml:3: aliases");
	check_refused(*state, "*x : 1\n", "f.yaml:1: aliases");
	check_refused(*state, "a: !!str 1\n", "f.yaml:1: tags");
	check_refused(*state, "a: !thing {}\n", "f.yaml:1: tags");
	check_refused(*state, "a: ! 1\n", "f.yaml:1: tags");
	check_refused(*state, "a: 1\n---\nb: 2\n", "f.yaml:2: a second document");
	check_refused(*state, "? [a, b]\n: 1\n", "f.yaml:1: a key");
	check_refused(*state, "{? {a: b} : 1}\n", "f.yaml:1: a key");
	check_refused(*state, "a: 1\nb: \"x\\0y\"\n", "f.yaml:2: a NUL");
	check_refused(*state, "\"a\\0b\": 1\n", "f.yaml:1: a NUL");
}

static void a_key_stands_once_in_a_map(void **state)
{
	check_refused(*state, "a:\n  b: 1\n  c: 2\n  b: 3\n",
		      "f.yaml:4: key 'b' is on line 2 already");
	check_refused(*state, "a: 1\n'a': 2\n", "f.yaml:2: key 'a' is on line 1 already");
	read_fine(*state, "a: {b: 1}\nc: {b: 1}\n");
}

static void what_is_no_yaml_is_refused_by_line(void **state)
{
	check_refused(*state, "a: 1\n b: 2\n", "f.yaml:2: ");
	check_refused(*state, "a: [1, 2\n", "f.yaml:2: ");
	check_refused(*state, "a: 'x\n", "f.yaml:2: ");
	check_refused(*state, "a:\n\t- 1\n", "f.yaml:2: ");
}

static void nesting_has_an_end(void **state)
{
	char text[200];

	memset(text, '[', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	check_refused(*state, text, "f.yaml:1: more than 32 levels");
	memset(text + 31, ']', 31);
	text[62] = '\0';
	read_fine(*state, text);
}

#define YAML_TEST(f) cmocka_unit_test_setup_teardown(f, new_arena, free_arena)

static void one_map_is_put_over_another(void **state)
{
	static const char *const keys[] = {"e", "a", NULL};
	const struct yaml *base = read_fine(*state, "a: 1\nb: {c: 2, d: 3}\ne: [1, 2]\n");
	const struct yaml *over = read_fine(*state, "\n\nf: 4\nb: {d: 5, g: 6}\ne: [7]\n");
	const struct yaml *map = yaml_over(*state, base, over), *b = yaml_get(map, "b");

	assert_true(str_is(yaml_get(map, "a")->text, "1"));
	assert_true(str_is(yaml_get(b, "c")->text, "2"));
	assert_true(str_is(yaml_get(b, "d")->text, "5"));
	assert_int_equal(yaml_get(b, "d")->line, 4);
	assert_true(str_is(yaml_get(b, "g")->text, "6"));
	assert_true(str_is(yaml_get(map, "e")->child->text, "7"));
	assert_null(yaml_get(map, "e")->child->next);
	assert_true(str_is(yaml_get(map, "f")->text, "4"));
	assert_null(yaml_get(map, "f")->next);
	assert_true(str_is(yaml_get(yaml_get(base, "b"), "d")->text, "3")); /* untouched */

	const struct yaml *rest = yaml_without(*state, map, keys);
	assert_null(yaml_get(rest, "a"));
	assert_null(yaml_get(rest, "e"));
	assert_ptr_equal(rest->child->child, b->child);
	assert_true(str_is(rest->child->next->text, "4"));
	assert_non_null(yaml_get(map, "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		YAML_TEST(maps_lists_and_scalars_are_read_with_their_lines),
		YAML_TEST(a_key_that_is_not_there_gives_nothing),
		YAML_TEST(only_a_plain_scalar_can_be_a_number_or_nothing),
		YAML_TEST(text_is_utf8),
		YAML_TEST(an_empty_text_is_an_empty_map),
		YAML_TEST(what_configuration_does_not_need_is_refused_by_line),
		YAML_TEST(a_key_stands_once_in_a_map),
		YAML_TEST(what_is_no_yaml_is_refused_by_line),
		YAML_TEST(nesting_has_an_end),
		YAML_TEST(one_map_is_put_over_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
