/* tests/unit/test_marks.c - a mark passes only what is settled. */
#include "app/marks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct world {
	struct marks *marks;
	char told[256]; /* "TOPIC/PARTITION:OFFSET " for each mark raised */
};

static const struct str jobs = STR("jobs"), urgent = STR("urgent");

static void on_raised(void *owner, struct str topic, int32_t partition, int64_t next_offset)
{
	struct world *w = owner;
	const size_t n = strlen(w->told);

	snprintf(w->told + n, sizeof(w->told) - n, "%.*s/%d:%lld ", STR_ARG(topic), (int)partition,
		 (long long)next_offset);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->marks = marks_new(on_raised, w);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	marks_free(w->marks);
	free(w);
	return 0;
}

static void begin(struct world *w, int64_t first, int64_t last)
{
	for (int64_t offset = first; offset <= last; offset++)
		marks_begin(w->marks, jobs, 0, offset);
}

static void settle(struct world *w, int64_t offset)
{
	marks_settle(w->marks, jobs, 0, offset);
}

static void in_order_each_settled_record_raises_it(void **state)
{
	struct world *w = *state;

	begin(w, 7, 9);
	settle(w, 7);
	settle(w, 8);
	settle(w, 9);
	assert_string_equal(w->told, "jobs/0:8 jobs/0:9 jobs/0:10 ");
}

static void out_of_order_the_oldest_open_one_holds_it(void **state)
{
	struct world *w = *state;

	begin(w, 0, 3);
	settle(w, 2);
	settle(w, 3);
	assert_string_equal(w->told, "");
	settle(w, 0);
	assert_string_equal(w->told, "jobs/0:1 ");
	settle(w, 1);
	assert_string_equal(w->told, "jobs/0:1 jobs/0:4 ");
}

static void offsets_without_a_record_are_passed_with_what_is_before_them(void **state)
{
	struct world *w = *state;

	begin(w, 5, 5);
	marks_pass(w->marks, jobs, 0, 9);
	assert_string_equal(w->told, "");
	settle(w, 5);
	assert_string_equal(w->told, "jobs/0:9 ");
	marks_pass(w->marks, jobs, 0, 9);
	assert_string_equal(w->told, "jobs/0:9 ");
}

static void the_end_of_a_topic_made_anew_is_lower(void **state)
{
	struct world *w = *state;

	begin(w, 5, 8);
	settle(w, 5);
	marks_pass(w->marks, jobs, 0, 8);
	assert_string_equal(w->told, "jobs/0:6 jobs/0:6 "); /* 6 and 7 are open still */
	settle(w, 6);
	settle(w, 8); /* of the old one */
	settle(w, 7);
	assert_string_equal(w->told, "jobs/0:6 jobs/0:6 jobs/0:7 jobs/0:8 ");
	marks_pass(w->marks, jobs, 0, 0);
	assert_string_equal(w->told, "jobs/0:6 jobs/0:6 jobs/0:7 jobs/0:8 jobs/0:0 ");
}

static void each_is_told_again_as_it_was(void **state)
{
	struct world *w = *state;

	marks_begin(w->marks, urgent, 2, 4); /* where it begins is told with them */
	begin(w, 0, 1);
	settle(w, 0);
	w->told[0] = '\0';
	marks_tell_again(w->marks);
	assert_string_equal(w->told, "jobs/0:1 urgent/2:4 ");
}

static void a_gap_between_records_is_no_hole(void **state)
{
	struct world *w = *state;

	begin(w, 3, 3);
	begin(w, 8, 8);
	settle(w, 3);
	settle(w, 8);
	assert_string_equal(w->told, "jobs/0:8 jobs/0:9 ");
}

static void an_empty_partition_has_its_end_as_mark(void **state)
{
	struct world *w = *state;

	marks_pass(w->marks, jobs, 0, 0);
	assert_string_equal(w->told, "jobs/0:0 ");
}

static void partitions_and_topics_are_apart(void **state)
{
	struct world *w = *state;

	marks_begin(w->marks, jobs, 0, 1);
	marks_begin(w->marks, jobs, 1, 1);
	marks_begin(w->marks, urgent, 0, 1);
	marks_settle(w->marks, jobs, 1, 1);
	marks_settle(w->marks, urgent, 0, 1);
	assert_string_equal(w->told, "jobs/1:2 urgent/0:2 ");
}

static void what_is_not_open_is_ignored(void **state)
{
	struct world *w = *state;

	settle(w, 4); /* no such partition */
	begin(w, 5, 6);
	settle(w, 4);
	settle(w, 7);
	settle(w, 5);
	settle(w, 5);
	assert_string_equal(w->told, "jobs/0:6 ");
}

static void a_partition_that_went_away_raises_nothing(void **state)
{
	struct world *w = *state;

	begin(w, 0, 1);
	marks_begin(w->marks, jobs, 1, 0);
	marks_drop(w->marks, jobs, 0);
	marks_drop(w->marks, jobs, 7);
	settle(w, 0);
	assert_string_equal(w->told, "");
	marks_settle(w->marks, jobs, 1, 0);
	assert_string_equal(w->told, "jobs/1:1 ");
}

static void it_comes_back_and_is_read_again_from_before(void **state)
{
	struct world *w = *state;

	begin(w, 0, 2);
	settle(w, 0);
	begin(w, 1, 3); /* the rest is given again */
	settle(w, 1);
	settle(w, 3);
	settle(w, 2);
	assert_string_equal(w->told, "jobs/0:1 jobs/0:2 jobs/0:4 ");
}

static void thousands_may_be_open(void **state)
{
	struct world *w = *state;

	begin(w, 0, 4999);
	for (int64_t offset = 4999; offset > 0; offset--)
		settle(w, offset);
	assert_string_equal(w->told, "");
	settle(w, 0);
	assert_string_equal(w->told, "jobs/0:5000 ");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(in_order_each_settled_record_raises_it),
		TEST(out_of_order_the_oldest_open_one_holds_it),
		TEST(offsets_without_a_record_are_passed_with_what_is_before_them),
		TEST(a_gap_between_records_is_no_hole),
		TEST(an_empty_partition_has_its_end_as_mark),
		TEST(partitions_and_topics_are_apart),
		TEST(what_is_not_open_is_ignored),
		TEST(a_partition_that_went_away_raises_nothing),
		TEST(it_comes_back_and_is_read_again_from_before),
		TEST(thousands_may_be_open),
		TEST(the_end_of_a_topic_made_anew_is_lower),
		TEST(each_is_told_again_as_it_was),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
