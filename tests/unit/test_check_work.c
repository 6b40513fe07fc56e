/*
 * test_check_work.c - what checks of a text may take together, and what becomes of those that get too little.
 */
#include "core/check.h"
#include "core/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static struct arena *arena;
static struct variable variable[1];
static struct job job = {.variable = variable, .n_variable = 1};

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

/* @arguments: the members of a check besides its name. */
static struct check check_of(const char *arguments)
{
	struct json *spec;
	struct check check;
	struct err err = {""};

	assert_int_equal(
		json_read(arena_printf(arena, "{\"name\": \"c\", %s}", arguments), &spec, &err),
		JSON_FINE);
	assert_int_equal(check_read(arena, spec, &check, &err), ST_OK);
	json_free(spec);
	return check;
}

static bool is_undecided(const struct check_result *r)
{
	return !r->ok &&
	       str_is(r->detail, "could not be decided: too many checks for so long a text");
}

/* Each alone would be met; the last ones are red for what the first ones took. */
static void checks_of_a_text_share_their_work(void **state)
{
	static char text[200001];
	static const struct {
		const char *arguments;
		int n_met;
	} cases[] = {
		{"\"type\": \"words\", \"max\": 1", 3}, /* 24 * 200,000 = 4.8 million each */
		/* 4.8 million to fold it, then 0.2 million each */
		{"\"type\": \"forbidden\", \"terms\": [\"x\"]", 56},
		/* 3.2 million more to leave out what stands between Japanese letters */
		{"\"type\": \"must_include\", \"values\": [\"a\"]", 40},
	};

	memset(text, 'a', sizeof(text) - 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct checked checked = {.scratch = arena, .text = str_c(text)};
		struct check check = check_of(cases[i].arguments);
		struct check_result result;
		for (int n = 0; n < cases[i].n_met; n++) {
			check_run(arena, &check, &job, &checked, &result);
			assert_true(result.ok);
		}
		check_run(arena, &check, &job, &checked, &result);
		assert_true(is_undecided(&result));
	}
}

/* 200,000 bytes of marks in heaps that differ are slow to fold; the same few letters with marks, and no heap, are not. */
static void a_text_too_slow_to_fold_meets_no_check_of_terms(void **state)
{
	static const char *const mark[] = {"\u0301", "\u0323", "\u0308", "\u0331", "\u0302"};
	struct check absent = check_of("\"type\": \"forbidden\", \"terms\": [\"x\"]");
	struct buf heap = BUF(1 << 20), letters = BUF(1 << 20);
	struct check_result result;

	for (unsigned i = 0, random = 1; i < 100000; i++, random = random * 69069 + 1)
		buf_puts(&heap, mark[(random >> 16) % 5]);
	for (int i = 0; i < 66000; i++)
		buf_printf(&letters, "%c%s", 'a' + i % 20, mark[i % 5]);
	struct checked slow = {.scratch = arena, .text = buf_view(&heap)},
		       quick = {.scratch = arena, .text = buf_view(&letters)},
		       brief = {.scratch = arena, .text = STR_OF("a")};
	for (int i = 0; i < 2; i++) {
		check_run(arena, &absent, &job, &slow, &result);
		assert_true(is_undecided(&result));
	}
	check_run(arena, &absent, &job, &quick, &result);
	assert_true(result.ok);
	variable[0] =
		(struct variable){STR("heap"), buf_view(&heap)}; /* the job's, not the draft's */
	struct check present = check_of("\"type\": \"must_include\", \"variables\": [\"heap\"]");
	check_run(arena, &present, &job, &brief, &result);
	assert_true(is_undecided(&result));
	variable[0] = (struct variable){0};
	buf_release(&heap);
	buf_release(&letters);
}

/* The way to a place is walked, and all ways together have an end; that the term is there is known without it. */
static void a_place_far_away_is_the_whole_text(void **state)
{
	static char text[40001];
	struct check promise = check_of("\"type\": \"forbidden\", \"terms\": [\"x\"]");
	struct check_result result;

	memset(text, ' ', sizeof(text) - 1);
	text[39999] = 'x';
	struct checked checked = {.scratch = arena, .text = str_c(text)};
	check_run(arena, &promise, &job, &checked, &result);
	assert_int_equal(result.at, 39999);
	check_run(arena, &promise, &job, &checked, &result);
	assert_false(result.ok);
	assert_int_equal(result.at, -1);
	assert_true(str_is(result.detail, "found: \"x\""));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, new_arena, free_arena)
	const struct CMUnitTest tests[] = {
		T(checks_of_a_text_share_their_work),
		T(a_text_too_slow_to_fold_meets_no_check_of_terms),
		T(a_place_far_away_is_the_whole_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
