#include "core/answer.h"
#include "core/form.h"

#include "../lib/loop_case.h"

#include <setjmp.h>

#include <cmocka.h>

static const struct str parts[] = {STR("subject"), STR("body")};
static const struct profile plain, gated = {.gate = true}, parted = {.field = parts, .n_field = 2},
				   both = {.gate = true, .field = parts, .n_field = 2};

static bool reads(struct arena *a, const struct profile *p, enum role role, const char *reply,
		  struct answer *out)
{
	return answer_read(a, p, role, str_c(reply), out);
}

static void a_text_is_taken_as_it_is(void **state)
{
	struct answer answer;

	assert_true(reads(*state, &plain, ROLE_GENERATOR, "{\"text\":1", &answer));
	assert_true(str_is(answer.text, "{\"text\":1"));
	assert_int_equal(answer.n_field, 0);
	assert_int_equal(answer.confidence_permille, -1);
	assert_true(reads(*state, &gated, ROLE_REFINER, "no JSON", &answer));
}

static void parts_are_one_text_and_told_apart(void **state)
{
	struct answer answer;

	assert_true(reads(*state, &parted, ROLE_REFINER,
			  "{\"body\":\"今日は\\n\\nx\",\"subject\":\"Hi\",\"more\":1}", &answer));
	assert_true(str_is(answer.text, "Hi\n\n今日は\n\nx"));
	assert_int_equal(answer.n_field, 2);
	assert_true(str_is(answer.field[0].name, "subject"));
	assert_true(str_is(field_text(&answer.field[0], answer.text), "Hi"));
	assert_true(str_is(field_text(&answer.field[1], answer.text), "今日は\n\nx"));
	assert_int_equal(answer.confidence_permille, -1);
	assert_true(reads(*state, &both, ROLE_GENERATOR,
			  "{\"subject\":\"a\",\"body\":\"b\",\"confidence\":0.9}", &answer));
	assert_int_equal(answer.confidence_permille, 900);
}

/* What is behind a part is not of it; its bytes would end inside a character, too. */
static void a_part_ends_before_the_next(void **state)
{
	static const struct str names[] = {STR("a"), STR("b"), STR("c")};
	const struct profile three = {.field = names, .n_field = 3};
	struct answer answer;

	assert_true(reads(*state, &three, ROLE_GENERATOR,
			  "{\"a\":\"x\",\"b\":\"y\",\"c\":\"今日\"}", &answer));
	assert_true(str_is(answer.text, "x\n\ny\n\n今日"));
	assert_true(str_is(field_text(&answer.field[0], answer.text), "x"));
	assert_true(str_is(field_text(&answer.field[1], answer.text), "y"));
	assert_true(str_is(field_text(&answer.field[2], answer.text), "今日"));
}

static void what_lacks_a_part_is_no_answer(void **state)
{
	static const char *const bad[] = {
		"Hi\n\nthere",
		"{\"subject\":\"Hi\"}",
		"{\"subject\":\"Hi\",\"body\":\" \\n\"}",
		"{\"subject\":\"Hi\",\"body\":null}",
		"{\"subject\":\"Hi\",\"body\":[\"x\"]}",
		"[{\"subject\":\"Hi\",\"body\":\"x\"}]",
		"{\"subject\":\"Hi\",\"body\":\"x\"} and more",
		"{\"subject\":\"Hi\",\"subject\":\"Ho\",\"body\":\"x\"}",
	};
	struct answer answer;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(reads(*state, &parted, ROLE_GENERATOR, bad[i], &answer));
}

/* A model that copies its prompt, as small ones do with a draft of parts. */
static void a_fence_of_the_prompt_is_no_part_of_an_answer(void **state)
{
	static const char *const bad[] = {
		"{\"subject\":\"Hi\",\"body\":\"x\\n0123456789abcdef01234567>>>\\nbody:\"}",
		"{\"subject\":\"<<<0123456789abcdef01234567\",\"body\":\"x\"}",
	};
	struct answer answer;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(reads(*state, &parted, ROLE_REFINER, bad[i], &answer));
	assert_false(reads(*state, &plain, ROLE_REFINER,
			   "<<<0123456789abcdef01234567\nx\n0123456789abcdef01234567>>>", &answer));
	assert_false(reads(*state, &plain, ROLE_GENERATOR, "0123456789abcdef01234567>>>", &answer));
	assert_true(reads(*state, &plain, ROLE_GENERATOR,
			  "<<<0123456789abcdef0123456 0123456789ABCDEF01234567>>> <<<", &answer));
}

static void assert_schema(const struct profile *p, enum role role, enum dialect dialect,
			  const char *expected)
{
	struct buf schema = BUF(1000);

	form_schema(p, role, NULL, dialect, &schema);
	assert_string_equal(schema.n ? schema.p : "", expected);
	buf_release(&schema);
}

static void the_schema_names_every_part(void **state)
{
	assert_schema(&plain, ROLE_GENERATOR, DIALECT_FULL, "");
	assert_schema(&gated, ROLE_REFINER, DIALECT_FULL, "");
	assert_schema(
		&gated, ROLE_GENERATOR, DIALECT_UNBOUNDED,
		"{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"},"
		"\"confidence\":{\"type\":\"number\"}},\"required\":[\"text\",\"confidence\"],"
		"\"additionalProperties\":false}");
	assert_schema(&both, ROLE_REFINER, DIALECT_OPENAPI,
		      "{\"type\":\"object\",\"properties\":{\"subject\":{\"type\":\"string\"},"
		      "\"body\":{\"type\":\"string\"}},\"required\":[\"subject\",\"body\"]}");
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
		cmocka_unit_test(a_text_is_taken_as_it_is),
		cmocka_unit_test(parts_are_one_text_and_told_apart),
		cmocka_unit_test(a_part_ends_before_the_next),
		cmocka_unit_test(what_lacks_a_part_is_no_answer),
		cmocka_unit_test(a_fence_of_the_prompt_is_no_part_of_an_answer),
		cmocka_unit_test(the_schema_names_every_part),
	};

	return cmocka_run_group_tests(tests, new_arena, free_arena);
}
