/* tests/unit/test_cluster.c - what is asked of a cluster at the start, on librdkafka's mock, which can neither make topics nor describe them. */
#include "fake_kafka.h"
#include "io/cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TIMEOUT_MS = 2000, GROUP_AUTHORIZATION_FAILED = 30 };
enum { UNKNOWN_TOPIC_OR_PART = 3, TOPIC_AUTHORIZATION_FAILED = 29 };
enum { NOT_LEADER_FOR_PARTITION = 6, COORDINATOR_LOAD_IN_PROGRESS = 14 };

struct world {
	struct fake_kafka *kafka;
	struct cluster *cluster;
	struct arena *arena;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct err err;

	w->kafka = fake_kafka_new();
	fake_kafka_topic(w->kafka, "jobs", 4);
	w->arena = arena_new();
	assert_int_equal(
		cluster_open(fake_kafka_brokers(w->kafka), NULL, 0, TIMEOUT_MS, &w->cluster, &err),
		ST_OK);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	cluster_close(w->cluster);
	fake_kafka_free(w->kafka);
	arena_free(w->arena);
	free(w);
	return 0;
}

static void it_has_an_id(void **state)
{
	struct world *w = *state;
	const char *id = NULL;
	struct err err;

	assert_int_equal(cluster_id(w->cluster, &id, &err), ST_OK);
	assert_true(strlen(id) > 0);
}

static void a_topic_is_there_or_missing_or_denied(void **state)
{
	struct world *w = *state;
	struct topic topic;
	struct err err;

	assert_int_equal(cluster_topic(w->cluster, "jobs", &topic, &err), ST_OK);
	assert_int_equal(topic.state, TOPIC_THERE);
	assert_int_equal(topic.n_partitions, 4);
	assert_int_equal(topic.n_replicas, 1);
	fake_kafka_topic_fails(w->kafka, "jobs", UNKNOWN_TOPIC_OR_PART);
	assert_int_equal(cluster_topic(w->cluster, "jobs", &topic, &err), ST_OK);
	assert_int_equal(topic.state, TOPIC_MISSING);
	fake_kafka_topic_fails(w->kafka, "jobs", TOPIC_AUTHORIZATION_FAILED);
	assert_int_equal(cluster_topic(w->cluster, "jobs", &topic, &err), ST_OK);
	assert_int_equal(topic.state, TOPIC_DENIED);
}

static void the_ends_are_those_of_all_partitions(void **state)
{
	static const char *const name[] = {"jobs"};
	struct world *w = *state;
	struct partition_end *end;
	struct err err = {""};
	int n;

	fake_kafka_put(w->kafka, "jobs", 2, "v", 1, NULL, 3);
	assert_int_equal(cluster_ends(w->cluster, name, 1, w->arena, &end, &n, &err), ST_OK);
	assert_int_equal(n, 4);
	for (int i = 0; i < n; i++) {
		assert_true(str_is(end[i].topic, "jobs"));
		assert_int_equal(end[i].partition, i);
		assert_int_equal(end[i].low, 0);
		assert_int_equal(end[i].end, i == 2 ? 3 : 0);
	}
	fake_kafka_topic_fails(w->kafka, "jobs", UNKNOWN_TOPIC_OR_PART);
	assert_int_equal(cluster_ends(w->cluster, name, 1, w->arena, &end, &n, &err), ST_DOWN);
	assert_non_null(strstr(err.text, "jobs"));
}

static void a_group_may_be_denied(void **state)
{
	struct world *w = *state;
	struct err err;

	assert_int_equal(cluster_group(w->cluster, "g", &err), ST_OK);
	fake_kafka_fail(w->kafka, OFFSET_FETCH, 1, GROUP_AUTHORIZATION_FAILED, 0);
	assert_int_equal(cluster_group(w->cluster, "g", &err), ST_INVALID);
}

static void what_passes_is_asked_again(void **state)
{
	static const char *const name[] = {"jobs"};
	struct world *w = *state;
	struct partition_end *end;
	struct err err = {""};
	int n;

	fake_kafka_fail(w->kafka, LIST_OFFSETS, 2, NOT_LEADER_FOR_PARTITION, 0);
	assert_int_equal(cluster_ends(w->cluster, name, 1, w->arena, &end, &n, &err), ST_OK);
	fake_kafka_fail(w->kafka, OFFSET_FETCH, 2, COORDINATOR_LOAD_IN_PROGRESS, 0);
	assert_int_equal(cluster_group(w->cluster, "g", &err), ST_OK);
	fake_kafka_fail(w->kafka, LIST_OFFSETS, 1000, NOT_LEADER_FOR_PARTITION, 0);
	assert_int_equal(cluster_ends(w->cluster, name, 1, w->arena, &end, &n, &err), ST_DOWN);
	assert_non_null(strstr(err.text, "end of jobs/0"));
}

static void a_group_that_has_committed_nothing_is_told_from_one_that_has(void **state)
{
	static const char *const name[] = {"jobs"};
	struct world *w = *state;
	struct partition_end *end;
	struct err err = {""};
	int n;

	assert_int_equal(cluster_ends(w->cluster, name, 1, w->arena, &end, &n, &err), ST_OK);
	fake_kafka_commit(w->kafka, "g", "jobs", 2, 7);
	assert_int_equal(cluster_committed(w->cluster, "g", end, n, &err), ST_OK);
	for (int i = 0; i < n; i++)
		assert_int_equal(end[i].committed, i == 2 ? 7 : -1);
	fake_kafka_fail(w->kafka, OFFSET_FETCH, 1, GROUP_AUTHORIZATION_FAILED, 0);
	assert_int_equal(cluster_committed(w->cluster, "g", end, n, &err), ST_INVALID);
}

static void what_the_broker_cannot_do_is_told(void **state)
{
	struct topic wanted = {.n_partitions = 1, .retention_ms = 1000};
	struct world *w = *state;
	struct err err = {""};

	assert_int_equal(cluster_retention_ms(w->cluster, "jobs"), TOPIC_UNKNOWN);
	assert_int_not_equal(cluster_create(w->cluster, "new", &wanted, &err), ST_OK);
	assert_true(strlen(err.text) > 0);
}

static void without_an_answer_the_reason_is_told(void **state)
{
	struct world *w = *state;
	const char *id;
	struct err err = {""};

	cluster_close(w->cluster);
	assert_int_equal(cluster_open("127.0.0.1:1", NULL, 0, 500, &w->cluster, &err), ST_OK);
	assert_int_equal(cluster_id(w->cluster, &id, &err), ST_DOWN);
	assert_non_null(strstr(err.text, "Connection refused"));
	assert_non_null(strstr(err.text, "start the broker"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(it_has_an_id),
		TEST(a_topic_is_there_or_missing_or_denied),
		TEST(the_ends_are_those_of_all_partitions),
		TEST(a_group_may_be_denied),
		TEST(what_passes_is_asked_again),
		TEST(a_group_that_has_committed_nothing_is_told_from_one_that_has),
		TEST(what_the_broker_cannot_do_is_told),
		TEST(without_an_answer_the_reason_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
