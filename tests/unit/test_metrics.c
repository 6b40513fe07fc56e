/* tests/unit/test_metrics.c - the text for Prometheus: values, labels, buckets, worked out by hand. */
#include "app/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/outcome.h"

struct world {
	struct metrics *metrics;
	struct buf text;
};

static const struct model models[] = {{.name = STR("drafting")}, {.name = STR("say \"hi\" \\o/")}};
static const char *const topics[] = {"p.jobs", "p.urgent"};
static const struct settings settings = {
	.model = models, .n_model = 2, .job_topic = topics, .n_job_topic = 2};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->metrics = metrics_new(&settings);
	for (int i = 0; i < 2; i++)
		assert_int_equal(metrics_model(w->metrics, &models[i]), 1 + i);
	buf_init(&w->text, 1 << 20);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	metrics_free(w->metrics);
	buf_release(&w->text);
	free(w);
	return 0;
}

/* The lines of one metric, without its head. */
static const char *lines_of(struct world *w, const char *name)
{
	static char found[32768];
	char prefix[64];
	size_t n = 0;

	buf_clear(&w->text);
	metrics_render(w->metrics, &w->text);
	assert_false(w->text.full);
	snprintf(prefix, sizeof(prefix), "draftmill_%s", name);
	for (const char *line = w->text.p, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		assert_non_null(end);
		if (strncmp(line, prefix, strlen(prefix)) == 0 &&
		    strchr("{ ", line[strlen(prefix)])) {
			memcpy(found + n, line, (size_t)(end + 1 - line));
			n += (size_t)(end + 1 - line);
			assert_true(n < sizeof(found) - 1000);
		}
	}
	found[n] = '\0';
	return found;
}

static void a_plain_number_has_a_head_and_a_line(void **state)
{
	struct world *w = *state;

	metrics_set(w->metrics, jobs_in_flight, 12, 0);
	assert_string_equal(lines_of(w, "jobs_in_flight"), "draftmill_jobs_in_flight 12\n");
	assert_non_null(strstr(w->text.p, "\n# HELP draftmill_jobs_in_flight jobs and messages in "
					  "memory\n# TYPE draftmill_jobs_in_flight gauge\n"
					  "draftmill_jobs_in_flight 12\n"));
	metrics_set(w->metrics, jobs_in_flight, 3, 0);
	assert_string_equal(lines_of(w, "jobs_in_flight"), "draftmill_jobs_in_flight 3\n");
}

static void every_value_of_one_label_is_told_from_the_start(void **state)
{
	struct world *w = *state;

	metrics_set(w->metrics, queue_lag_records, 7, 1);
	assert_string_equal(lines_of(w, "queue_lag_records"),
			    "draftmill_queue_lag_records{topic=\"p.jobs\"} 0\n"
			    "draftmill_queue_lag_records{topic=\"p.urgent\"} 7\n");
	metrics_add(w->metrics, messages_total, 1, 2);
	metrics_add(w->metrics, messages_total, 2, 2);
	assert_string_equal(lines_of(w, "messages_total"),
			    "draftmill_messages_total{result=\"job\"} 0\n"
			    "draftmill_messages_total{result=\"duplicate\"} 0\n"
			    "draftmill_messages_total{result=\"dead_letter\"} 3\n");
}

static void a_stop_reason_brings_its_outcome(void **state)
{
	struct world *w = *state;

	metrics_add(w->metrics, jobs_ended_total, 5, STOP_budget);
	assert_non_null(strstr(lines_of(w, "jobs_ended_total"),
			       "draftmill_jobs_ended_total{outcome=\"escalated\","
			       "stop_reason=\"budget\"} 5\n"));
	assert_non_null(strstr(lines_of(w, "jobs_ended_total"),
			       "draftmill_jobs_ended_total{outcome=\"passed\","
			       "stop_reason=\"no_issues\"} 0\n"));
}

static void of_several_labels_only_what_was_counted_is_told(void **state)
{
	struct world *w = *state;

	assert_string_equal(lines_of(w, "calls_total"), "");
	metrics_add(w->metrics, calls_total, 1, 1, ROLE_GENERATOR, REPLY_complete);
	metrics_add(w->metrics, calls_total, 4, 2, ROLE_REFINER, REPLY_truncated);
	metrics_add(w->metrics, calls_total, 2, 1, ROLE_CRITIC, REPLY_rate_limited);
	assert_string_equal(
		lines_of(w, "calls_total"),
		"draftmill_calls_total{model=\"drafting\",role=\"generator\",class=\"complete\"} 1\n"
		"draftmill_calls_total{model=\"drafting\",role=\"critic\",class=\"rate_limited\"} 2\n"
		"draftmill_calls_total{model=\"say \\\"hi\\\" \\\\o/\",role=\"refiner\","
		"class=\"truncated\"} 4\n");
}

static void money_is_exact_to_the_micro_dollar(void **state)
{
	struct world *w = *state;

	metrics_add(w->metrics, cost_usd_total, 1234567, metrics_model(w->metrics, &models[0]));
	metrics_add(w->metrics, cost_usd_total, 2000000, metrics_model(w->metrics, &models[1]));
	metrics_add(w->metrics, cost_usd_total, 1, metrics_model(w->metrics, NULL));
	assert_string_equal(lines_of(w, "cost_usd_total"),
			    "draftmill_cost_usd_total{model=\"\"} 0.000001\n"
			    "draftmill_cost_usd_total{model=\"drafting\"} 1.234567\n"
			    "draftmill_cost_usd_total{model=\"say \\\"hi\\\" \\\\o/\"} 2\n");
}

static void a_model_has_its_name_when_it_is_met_and_the_201st_the_empty_one(void **state)
{
	struct world *w = *state;
	char name[16];

	for (int i = 2; i < 202; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		const struct model m = {.name = str_c(name)};
		assert_int_equal(metrics_model(w->metrics, &m), i < 200 ? i + 1 : 0);
		metrics_add(w->metrics, calls_total, 1, metrics_model(w->metrics, &m), ROLE_CRITIC,
			    REPLY_complete);
	}
	assert_int_equal(metrics_model(w->metrics, NULL), 0);
	assert_non_null(strstr(lines_of(w, "calls_total"), "model=\"\",role=\"critic\",class="
							   "\"complete\"} 2\n"));
}

/* 1 and 2 are at their bounds, 3 is over 2, 501 over 500, 100000 at the last and 100001 over it: 200,508 in all. */
static void buckets_count_what_is_at_most_their_bound(void **state)
{
	static const int64_t writes[] = {1, 2, 3, 501, 100000, 100001};
	struct world *w = *state;

	for (int i = 0; i < 6; i++)
		metrics_observe(w->metrics, commit_writes, writes[i], 0);
	assert_string_equal(lines_of(w, "commit_writes_bucket"),
			    "draftmill_commit_writes_bucket{le=\"1\"} 1\n"
			    "draftmill_commit_writes_bucket{le=\"2\"} 2\n"
			    "draftmill_commit_writes_bucket{le=\"5\"} 3\n"
			    "draftmill_commit_writes_bucket{le=\"10\"} 3\n"
			    "draftmill_commit_writes_bucket{le=\"20\"} 3\n"
			    "draftmill_commit_writes_bucket{le=\"50\"} 3\n"
			    "draftmill_commit_writes_bucket{le=\"100\"} 3\n"
			    "draftmill_commit_writes_bucket{le=\"200\"} 3\n"
			    "draftmill_commit_writes_bucket{le=\"500\"} 3\n"
			    "draftmill_commit_writes_bucket{le=\"1000\"} 4\n"
			    "draftmill_commit_writes_bucket{le=\"2000\"} 4\n"
			    "draftmill_commit_writes_bucket{le=\"5000\"} 4\n"
			    "draftmill_commit_writes_bucket{le=\"10000\"} 4\n"
			    "draftmill_commit_writes_bucket{le=\"20000\"} 4\n"
			    "draftmill_commit_writes_bucket{le=\"50000\"} 4\n"
			    "draftmill_commit_writes_bucket{le=\"100000\"} 5\n"
			    "draftmill_commit_writes_bucket{le=\"+Inf\"} 6\n");
	assert_string_equal(lines_of(w, "commit_writes_sum"),
			    "draftmill_commit_writes_sum 200508\n");
	assert_string_equal(lines_of(w, "commit_writes_count"),
			    "draftmill_commit_writes_count 6\n");
}

static void times_are_told_in_seconds(void **state)
{
	struct world *w = *state;

	metrics_observe(w->metrics, stage_seconds, 0, STAGE_slot);
	metrics_observe(w->metrics, stage_seconds, 1500, STAGE_critic);
	metrics_observe(w->metrics, stage_seconds, 20, STAGE_critic);
	const char *text = lines_of(w, "stage_seconds_bucket");
	assert_non_null(strstr(text, "{stage=\"slot\",le=\"0.001\"} 1\n"));
	assert_non_null(strstr(text, "{stage=\"critic\",le=\"0.01\"} 0\n"));
	assert_non_null(strstr(text, "{stage=\"critic\",le=\"0.02\"} 1\n"));
	assert_non_null(strstr(text, "{stage=\"critic\",le=\"1\"} 1\n"));
	assert_non_null(strstr(text, "{stage=\"critic\",le=\"2\"} 2\n"));
	assert_non_null(strstr(lines_of(w, "stage_seconds_sum"),
			       "draftmill_stage_seconds_sum{stage=\"critic\"} 1.52\n"));
	assert_non_null(strstr(lines_of(w, "stage_seconds_count"),
			       "draftmill_stage_seconds_count{stage=\"slot\"} 1\n"));
}

static void nobody_need_count(void **state)
{
	metrics_add(NULL, messages_total, 1, 0);
	metrics_observe(NULL, commit_writes, 1, 0);
	assert_int_equal(metrics_model(NULL, &models[1]), 0);
	metrics_free(NULL);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_plain_number_has_a_head_and_a_line),
		TEST(every_value_of_one_label_is_told_from_the_start),
		TEST(a_stop_reason_brings_its_outcome),
		TEST(of_several_labels_only_what_was_counted_is_told),
		TEST(money_is_exact_to_the_micro_dollar),
		TEST(a_model_has_its_name_when_it_is_met_and_the_201st_the_empty_one),
		TEST(buckets_count_what_is_at_most_their_bound),
		TEST(times_are_told_in_seconds),
		TEST(nobody_need_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
