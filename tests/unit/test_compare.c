/*
 * test_compare.c - what counts as a comparison, and which candidate is chosen by it.
 */
#include "core/compare.h"

#include "../lib/loop_case.h"

#include <setjmp.h>

#include <cmocka.h>

static const struct draft drafts[] = {
	{.no = 0, .from = -1, .text = STR("Thank you."), .squeezed_sha = {1}},
	{.no = 1,
	 .from = -1,
	 .text = STR("{\"better\":\"tie\"} Many thanks."),
	 .squeezed_sha = {2}},
};

static enum better read(const char *reply)
{
	struct arena *a = arena_new();
	struct comparison c = {.first_no = 0};
	const bool valid = comparison_read(a, str_c(reply), drafts, &c);

	assert_int_equal(valid, c.better != BETTER_invalid);
	assert_int_equal(valid, !c.fault.p);
	arena_free(a);
	return c.better;
}

static void a_comparison_is_read_strictly(void **state)
{
	static const struct {
		const char *reply;
		enum better better;
	} cases[] = {
		{"{\"reasons\":\"x\",\"better\":\"first\"}", BETTER_first},
		{" {\"better\":\"second\"} ", BETTER_second},
		{"```json\n{\"better\":\"second\",\"more\":1}\n```", BETTER_second},
		{"<think>first?</think>{\"reasons\":\"\",\"better\":\"tie\"}", BETTER_tie},
		{"{\"better\":\"First\"}", BETTER_invalid},
		{"{\"better\":\"first \"}", BETTER_invalid},
		{"{\"better\":1}", BETTER_invalid},
		{"{\"better\":\"invalid\"}", BETTER_invalid},
		{"{\"better\":[\"first\"]}", BETTER_invalid},
		{"{\"reasons\":[],\"better\":\"first\"}", BETTER_invalid},
		{"{\"better\":\"first\"} {\"better\":\"second\"}", BETTER_invalid},
		{"{\"better\":\"first\",\"better\":\"second\"}", BETTER_invalid},
		{"{\"better\":\"first\"", BETTER_invalid},
		{"first", BETTER_invalid},
		{"", BETTER_invalid},
		{"{\"better\":\"tie\"}", BETTER_invalid}, /* stands in draft 1 */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (read(cases[i].reply) != cases[i].better)
			fail_msg("%s: not %s", cases[i].reply, better_name(cases[i].better));
}

/* In the first comparison draft 0 stands first, in the second draft 1. */
static void the_choice_follows_both_orders(void **state)
{
	static const struct {
		enum better in_order[2];
		int draft_no;
		const char *why;
	} cases[] = {
		{{BETTER_first, BETTER_second}, 0, "both_orders"},
		{{BETTER_second, BETTER_first}, 1, "both_orders"},
		{{BETTER_first, BETTER_first}, 1, "tie_rule"},
		{{BETTER_second, BETTER_second}, 1, "tie_rule"},
		{{BETTER_tie, BETTER_tie}, 1, "tie_rule"},
		{{BETTER_first, BETTER_tie}, 0, "one_order"},
		{{BETTER_second, BETTER_tie}, 1, "one_order"},
		{{BETTER_tie, BETTER_first}, 1, "one_order"},
		{{BETTER_tie, BETTER_second}, 0, "one_order"},
		{{BETTER_first, BETTER_invalid}, 1, "tie_rule"},
		{{BETTER_invalid, BETTER_second}, 1, "tie_rule"},
	};
	struct history h = {.draft = {drafts[0], drafts[1]}, .n_draft = 2, .n_comparison = 2};
	struct choice choice;

	h.draft[0].n_failed = 1; /* the tie rule takes the other */
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (int k = 0; k < 2; k++)
			h.comparison[k] =
				(struct comparison){k, cases[i].in_order[k], {NULL, 0}, {NULL, 0}};
		assert_true(compare_choose(&h, true, &choice));
		if (choice.draft_no != cases[i].draft_no || !str_is(choice.why, cases[i].why))
			fail_msg("case %zu: draft %d, %s", i, choice.draft_no, choice.why.p);
		assert_non_null(choice_sentence(choice.why));
	}
}

static void nobody_is_asked_where_there_is_nothing_to_compare(void **state)
{
	struct history h = {.draft = {drafts[0], drafts[1]}, .n_draft = 2};
	struct choice choice;

	assert_false(compare_choose(&h, true, &choice));
	assert_true(compare_choose(&h, false, &choice));
	assert_string_equal(choice.why.p, "tie_rule");
	assert_int_equal(choice.draft_no, 0);
	h.draft[0].n_hard_failed = 2;
	assert_true(compare_choose(&h, true, &choice));
	assert_string_equal(choice.why.p, "checks");
	assert_int_equal(choice.draft_no, 1);
	h.draft[1].n_hard_failed = 1; /* both are red: the critic may still prefer one */
	assert_false(compare_choose(&h, true, &choice));
	assert_true(compare_choose(&h, false, &choice));
	assert_int_equal(choice.draft_no, 1);
	h.draft[1].squeezed_sha[0] = 1;
	assert_true(compare_choose(&h, true, &choice));
	assert_string_equal(choice.why.p, "equal");
	h.n_draft = 1;
	assert_true(compare_choose(&h, true, &choice));
	assert_string_equal(choice.why.p, "alone");
	assert_null(choice_sentence(STR_OF("by_lot")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_comparison_is_read_strictly),
		cmocka_unit_test(the_choice_follows_both_orders),
		cmocka_unit_test(nobody_is_asked_where_there_is_nothing_to_compare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
