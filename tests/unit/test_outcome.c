#include "core/outcome.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void every_reason_has_a_name_that_reads_back(void **state)
{
	for (int i = 0; i < N_STOP_REASONS; i++) {
		assert_int_equal(stop_read(str_c(stop_name(i))), i);
		assert_true(strlen(stop_sentence(i, false)) > 10);
		assert_true(strlen(stop_sentence(i, true)) > 10);
		assert_string_not_equal(stop_sentence(i, false), stop_sentence(i, true));
	}
}

static void no_other_word_reads_as_a_reason(void **state)
{
	assert_int_equal(stop_read(STR_OF("")), STOP_NONE);
	assert_int_equal(stop_read(STR_OF("Budget")), STOP_NONE);
	assert_int_equal(stop_read(STR_OF("budget ")), STOP_NONE);
	assert_int_equal(stop_read((struct str){0}), STOP_NONE);
}

static void only_verified_work_passes(void **state)
{
	for (int i = 0; i < N_STOP_REASONS; i++)
		assert_int_equal(outcome_of(i) == OUTCOME_passed, i == STOP_no_issues);
	assert_int_equal(outcome_of(STOP_confidence_gate), OUTCOME_direct);
	assert_int_equal(outcome_of(STOP_oneshot), OUTCOME_direct);
	assert_int_equal(outcome_of(STOP_high_stakes), OUTCOME_escalated);
	assert_int_equal(outcome_of(STOP_diverged), OUTCOME_escalated);
	assert_int_equal(outcome_of(STOP_cancelled), OUTCOME_failed);
	assert_int_equal(outcome_of(STOP_poison), OUTCOME_failed);
}

/* The orders that the design states. */
static void reasons_stand_in_order_of_precedence(void **state)
{
	assert_true(STOP_critique_invalid < STOP_unactionable);
	assert_true(STOP_unactionable < STOP_repeated_critique);
	assert_true(STOP_repeated_critique < STOP_max_iterations);
	assert_true(STOP_max_iterations < STOP_budget);
	assert_true(STOP_budget < STOP_timeout);
	assert_true(STOP_no_progress < STOP_loop_detected);
}

static void outcomes_have_names(void **state)
{
	assert_string_equal(outcome_name(OUTCOME_passed), "passed");
	assert_string_equal(outcome_name(OUTCOME_direct), "direct");
	assert_string_equal(outcome_name(OUTCOME_escalated), "escalated");
	assert_string_equal(outcome_name(OUTCOME_failed), "failed");
	assert_int_equal(N_OUTCOMES, 4);
}

/* Read from the root of the work tree. */
static void the_schema_lists_every_reason(void **state)
{
	static char text[1 << 16];
	FILE *file = fopen("config/schema/outcome.schema.json", "r");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	for (int i = 0; i < N_STOP_REASONS; i++) {
		char quoted[64];
		snprintf(quoted, sizeof(quoted), "\"%s\"", stop_name(i));
		const char *in_list = strstr(text, quoted);
		if (!in_list ||
		    !strstr(in_list + 1, quoted)) /* in the list, and with its outcome */
			fail_msg("outcome.schema.json lacks %s", quoted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reason_has_a_name_that_reads_back),
		cmocka_unit_test(no_other_word_reads_as_a_reason),
		cmocka_unit_test(only_verified_work_passes),
		cmocka_unit_test(reasons_stand_in_order_of_precedence),
		cmocka_unit_test(outcomes_have_names),
		cmocka_unit_test(the_schema_lists_every_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
