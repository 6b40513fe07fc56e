/* tests/unit/test_topics.c - which topics there must be, with which rights, and the command that mends what lacks. */
#include "app/topics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char *const job_topic[] = {"t.urgent", "t.jobs"};
static const struct kafka_option login = {"sasl.username", "mill"};

static struct settings with(struct arena *a)
{
	return (struct settings){.arena = a,
				 .kafka_brokers = "b:1",
				 .kafka_group = "g",
				 .kafka_topic_prefix = "t.",
				 .job_topic = job_topic,
				 .n_job_topic = 2,
				 .kafka_option = &login};
}

static void each_topic_is_needed_with_one_right(void **state)
{
	static const struct {
		const char *name, *operation;
		int n_partitions, days;
	} wanted[] = {
		{"t.urgent", "Read", 12, 14},	{"t.jobs", "Read", 12, 14},
		{"t.results", "Write", 6, 14},	{"t.review", "Write", 3, 30},
		{"t.jobs.dlq", "Write", 1, 30},
	};
	struct arena *a = arena_new();
	struct settings s = with(a);
	int n;
	const struct topic_need *need = topics_needed(&s, &n);

	assert_int_equal(n, 5);
	for (int i = 0; i < n; i++) {
		assert_string_equal(need[i].name, wanted[i].name);
		assert_string_equal(need[i].operation, wanted[i].operation);
		assert_int_equal(need[i].recommended.n_partitions, wanted[i].n_partitions);
		assert_int_equal(need[i].recommended.retention_ms, wanted[i].days * 86400000LL);
	}
	arena_free(a);
}

static void what_lacks_comes_with_its_command(void **state)
{
	struct arena *a = arena_new();
	struct settings s = with(a);
	struct err err = {""};
	int n;
	const struct topic_need *need = topics_needed(&s, &n);

	assert_false(topic_fault(&s, need, TOPIC_THERE, &err));
	assert_true(topic_fault(&s, need, TOPIC_MISSING, &err));
	assert_string_equal(err.text,
			    "topic t.urgent is not there; run `draftmill topics --create`");
	assert_true(topic_fault(&s, &need[2], TOPIC_DENIED, &err));
	assert_non_null(strstr(
		err.text, "`kafka-acls --bootstrap-server b:1 --add --allow-principal User:NAME "
			  "--operation Write --topic t.results`"));
	s.n_kafka_option = 1;
	topics_group_fault(&s, &err);
	assert_non_null(strstr(err.text, "User:mill --operation Read --group g`"));
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_topic_is_needed_with_one_right),
		cmocka_unit_test(what_lacks_comes_with_its_command),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
