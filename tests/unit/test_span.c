#include "core/span.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static int set_up(void **state)
{
	*state = arena_new();
	return 0;
}

static int tear_down(void **state)
{
	arena_free(*state);
	return 0;
}

/* Where @span of @before lies in @after; both begin at their first occurrence. */
static void assert_maps(struct arena *a, const char *before, const char *span, const char *after,
			const char *expected)
{
	int64_t at = str_find(str_c(before), str_c(span), 0), n = (int64_t)strlen(span);
	int n_run;
	const struct diff *run = diff_words(a, str_c(before), str_c(after), &n_run);

	assert_true(at >= 0);
	span_map(run, n_run, &at, &n);
	struct str found = arena_str(a, str_sub(str_c(after), (size_t)at, (size_t)n));
	assert_int_equal(n, found.n);
	assert_string_equal(found.p, expected);
	if (found.n)
		assert_int_equal(at, str_find(str_c(after), found, 0));
}

static void a_span_that_stayed_is_found_where_it_moved_to(void **state)
{
	assert_maps(*state, "one two three", "two", "one two three", "two");
	assert_maps(*state, "one two three", "two", "zero one two three", "two");
	assert_maps(*state, "one two three", "two", "two three", "two");
	assert_maps(*state, "one two three", "one two three", "one two three", "one two three");
}

static void what_stands_in_its_place_came_of_it(void **state)
{
	assert_maps(*state, "one two three", "two", "one four three", "four");
	assert_maps(*state, "one two three", "one", "four two three", "four");
	assert_maps(*state, "one two three", "three", "one two four", "four");
	assert_maps(*state, "one two three", "two", "one four and five three", "four and five");
	assert_maps(*state, "one two three four", "two three", "one two five four", "two five");
}

/* The cut begins before the span or ends behind it: what is put came of both. */
static void a_cut_over_an_end_of_the_span(void **state)
{
	assert_maps(*state, "甲乙丙丁", "乙", "甲戊丁", "戊");
	assert_maps(*state, "甲乙丙丁", "丙", "甲戊丁", "戊");
}

static void what_is_put_inside_is_part_of_it(void **state)
{
	assert_maps(*state, "one two three", "one two", "one or two three", "one or two");
}

static void what_is_put_beside_is_not(void **state)
{
	assert_maps(*state, "one two three", "two", "one two and a half three", "two");
	assert_maps(*state, "one two three", "two", "one and a half two three", "two");
	assert_maps(*state, "one two", "two", "one two and a half", "two");
	assert_maps(*state, "one two", "one", "zero one two", "one");
}

static void a_span_cut_away_leaves_its_place(void **state)
{
	struct str before = STR("one two three"), after = STR("one three");
	int64_t at = 4, n = 4; /* "two " */
	int n_run;
	const struct diff *run = diff_words(*state, before, after, &n_run);

	span_map(run, n_run, &at, &n);
	assert_int_equal(n, 0);
	assert_int_equal(at, 4);
}

/* ---- flagged again ---- */

/* The critique of one issue with @snippet in @text. */
static struct critique flags(struct arena *a, const char *text, const char *category,
			     const char *snippet, int64_t severity)
{
	struct issue *issue = arena_alloc(a, sizeof(*issue));

	*issue = (struct issue){.category = str_c(category),
				.snippet = str_c(snippet),
				.severity = severity,
				.at = str_find(str_c(text), str_c(snippet), 0),
				.n = (int64_t)strlen(snippet)};
	return (struct critique){.valid = true, .issue = issue, .n_issue = 1};
}

static const char before[] = "Thanks. It comes on Monday.", after[] = "Thanks. It comes on Friday.";

static bool again(struct arena *a, struct critique then, struct critique now)
{
	int n_run;
	const struct diff *run = diff_words(a, str_c(before), str_c(after), &n_run);

	return span_flagged_again(run, n_run, 3, &then, &now);
}

static void the_same_category_at_the_place_of_the_fix(void **state)
{
	struct arena *a = *state;
	struct critique then = flags(a, before, "fact", "on Monday", 4);

	assert_true(again(a, then, flags(a, after, "fact", "Friday", 4)));
	assert_true(again(a, then, flags(a, after, "fact", "It comes on", 4)));
	assert_false(again(a, then, flags(a, after, "tone", "Friday", 4)));
	assert_false(again(a, then, flags(a, after, "fact", "It comes", 4)));
	assert_false(again(a, then, flags(a, after, "fact", "Thanks", 4)));
}

/* The refiner hears of issues at the threshold or over it. */
static void what_was_not_to_be_mended_does_not_count(void **state)
{
	struct arena *a = *state;

	assert_true(again(a, flags(a, before, "fact", "Monday", 3),
			  flags(a, after, "fact", "Friday", 3)));
	assert_false(again(a, flags(a, before, "fact", "Monday", 2),
			   flags(a, after, "fact", "Friday", 3)));
	assert_false(again(a, flags(a, before, "fact", "Monday", 3),
			   flags(a, after, "fact", "Friday", 2)));
}

static void an_issue_without_a_place_is_never_the_same(void **state)
{
	struct arena *a = *state;

	assert_false(again(a, flags(a, before, "fact", "", 4), flags(a, after, "fact", "", 4)));
	assert_false(
		again(a, flags(a, before, "fact", before, 4), flags(a, after, "fact", after, 4)));
	assert_false(again(a, flags(a, before, "fact", "Monday", 4),
			   flags(a, after, "fact", "Sunday", 4)));
}

/* ---- wanted back ---- */

/* @category flags @was in the text before and @is in the text after. */
static bool wanted_back(struct arena *a, const char *text[2], const char *was, const char *wish,
			const char *is, const char *wish_now)
{
	struct revision rev = {.before = str_c(text[0]), .after = str_c(text[1])};
	struct critique then = flags(a, text[0], "fact", was, 4),
			now = flags(a, text[1], "tone", is, 4);
	struct issue then_issue = *then.issue, now_issue = *now.issue;

	rev.run = diff_words(a, rev.before, rev.after, &rev.n_run);
	then_issue.suggestion = str_c(wish);
	now_issue.suggestion = str_c(wish_now);
	then.issue = &then_issue;
	now.issue = &now_issue;
	return span_wanted_back(a, &rev, 1, 3, &then, &now);
}

static void the_words_cut_at_a_place_are_wanted_there_again(void **state)
{
	const char *text[] = {before, after};
	struct arena *a = *state;

	assert_true(wanted_back(a, text, "Monday", "Say Friday", "Friday", "Say Monday"));
	assert_true(
		wanted_back(a, text, "on Monday", "Friday!", "comes on Friday", "MONDAY it is"));
	assert_true(wanted_back(a, text, "Monday", "Replace Monday by Friday", "Friday",
				"Replace Friday by Monday"));
	assert_false(wanted_back(a, text, "Monday", "Say Friday", "Friday", "Say Sunday"));
	assert_false(wanted_back(a, text, "Monday", "Say Friday", "Thanks", "Say Monday"));
	assert_false(wanted_back(a, text, "Thanks", "Many thanks", "Friday", "Say Monday"));
	/* at whole words alone */
	assert_false(wanted_back(a, text, "Monday", "Say Friday", "Friday", "Mondays are busy"));
}

/* The critic says again what it said; the refiner did something else. */
static void a_wish_that_was_not_met_is_not_wanted_back(void **state)
{
	const char *text[] = {before, after};
	struct arena *a = *state;

	assert_false(wanted_back(a, text, "Monday", "Sunday, not Monday", "Friday",
				 "Neither Monday nor Friday: Sunday"));
	assert_false(wanted_back(a, text, "Monday", "Friday, not Monday", "Friday",
				 "Friday, not Monday"));
}

static void what_was_cut_out_altogether_is_wanted_back(void **state)
{
	const char *text[] = {"Thanks, dear friend. It comes.", "Thanks. It comes."};
	struct arena *a = *state;

	assert_true(wanted_back(a, text, ", dear friend", "Leave it out", "Thanks",
				"Be warm: say \"Thanks, dear friend\""));
	assert_false(wanted_back(a, text, ", dear friend", "Leave it out", "It comes",
				 "Thanks, dear friend"));
}

/* One sign is a word of many a suggestion: 月 of 月曜 counts with 曜, the last of its text with what is before it. */
static void one_sign_counts_with_its_neighbour(void **state)
{
	const char *day[] = {"月曜に届く", "火曜に届く"}, *end[] = {"届くのは今日", "届くのは今週"};
	struct arena *a = *state;

	assert_true(wanted_back(a, day, "月曜", "火曜です", "火曜", "月曜にしてください"));
	assert_false(wanted_back(a, day, "月曜", "火曜です", "火曜", "来月と書いてください"));
	assert_true(wanted_back(a, end, "今日", "今週です", "今週", "今日が正しい"));
	assert_false(wanted_back(a, end, "今日", "今週です", "今週", "日を書いてください"));
}

static void a_long_suggestion_is_not_looked_into(void **state)
{
	const char *text[] = {before, after};
	struct arena *a = *state;

	assert_true(wanted_back(a, text, "Monday", "Say Friday", "Friday",
				arena_printf(a, "%1018s", "Monday").p));
	assert_false(wanted_back(a, text, "Monday", "Say Friday", "Friday",
				 arena_printf(a, "%1025s", "Monday").p));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_span_that_stayed_is_found_where_it_moved_to),
		TEST(what_stands_in_its_place_came_of_it),
		TEST(a_cut_over_an_end_of_the_span),
		TEST(what_is_put_inside_is_part_of_it),
		TEST(what_is_put_beside_is_not),
		TEST(a_span_cut_away_leaves_its_place),
		TEST(the_same_category_at_the_place_of_the_fix),
		TEST(what_was_not_to_be_mended_does_not_count),
		TEST(an_issue_without_a_place_is_never_the_same),
		TEST(the_words_cut_at_a_place_are_wanted_there_again),
		TEST(a_wish_that_was_not_met_is_not_wanted_back),
		TEST(what_was_cut_out_altogether_is_wanted_back),
		TEST(one_sign_counts_with_its_neighbour),
		TEST(a_long_suggestion_is_not_looked_into),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
