/* tests/unit/test_producer.c - records arrive as given, each with one report, whatever the cluster does. */
#include "beat.h"
#include "fake_kafka.h"
#include "fake_resolver.h"
#include "io/producer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NOT_ENOUGH_REPLICAS = 19, MSG_SIZE_TOO_LARGE = 10, OUT_OF_ORDER_SEQUENCE = 45 };

struct world {
	struct fake_kafka *kafka;
	struct reactor *reactor;
	struct producer *producer;
	struct timer *limit;
	int n_reports, stop_at;
	enum status status; /* of the last report */
	int64_t offset;
	void *cookie;
	bool send_again;
};

static void out_of_time(void *owner)
{
	fail_msg("no report in 10 s");
}

static void reported(void *owner, void *cookie, enum status status, const char *why,
		     int32_t partition, int64_t offset)
{
	struct world *w = owner;
	struct err err;

	w->n_reports++;
	w->status = status;
	w->offset = offset;
	w->cookie = cookie;
	if (status != ST_OK && w->send_again)
		assert_int_equal(producer_send(w->producer, STR_OF("t"), STR_OF("again"),
					       STR_OF("v"), NULL, 0, cookie, &err),
				 ST_AGAIN);
	if (w->n_reports == w->stop_at)
		reactor_stop(w->reactor);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct err err;

	w->kafka = fake_kafka_new();
	fake_kafka_topic(w->kafka, "t", 1);
	w->reactor = reactor_new();
	w->limit = timer_new(w->reactor, out_of_time, w);
	timer_start(w->limit, 10000, 0);
	w->stop_at = 1;
	assert_int_equal(producer_open(w->reactor, fake_kafka_brokers(w->kafka), NULL, 0, reported,
				       w, &w->producer, &err),
			 ST_OK);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	producer_free(w->producer);
	timer_close(w->limit);
	reactor_free(w->reactor);
	fake_kafka_free(w->kafka);
	free(w);
	return 0;
}

static void send(struct world *w, const char *key, struct str value, const struct header *header,
		 int n_header)
{
	struct err err;

	assert_int_equal(producer_send(w->producer, STR_OF("t"), str_c(key), value, header,
				       n_header, w, &err),
			 ST_OK);
}

static void a_record_arrives_as_given(void **state)
{
	static const struct header header[] = {{STR("h"), STR("v1")}, {STR("ce_id"), STR("e1")}};
	struct world *w = *state;
	struct fake_record r;

	send(w, "k1", STR_OF("{\"a\":1}"), header, 2);
	assert_int_equal(producer_queued(w->producer), 1);
	reactor_run(w->reactor);
	assert_int_equal(w->status, ST_OK);
	assert_int_equal(w->offset, 0);
	assert_ptr_equal(w->cookie, w);
	assert_int_equal(producer_queued(w->producer), 0);
	fake_kafka_get(w->kafka, "t", 0, 0, &r);
	assert_string_equal(r.key, "k1");
	assert_string_equal(r.value, "{\"a\":1}");
	assert_string_equal(r.header, "v1");
	assert_int_equal(r.n_header, 2);
}

static void null_stays_null_and_empty_stays_empty(void **state)
{
	static const struct header header[] = {{STR("h"), {NULL, 0}}};
	struct world *w = *state;
	struct fake_record r;

	w->stop_at = 2;
	send(w, NULL, (struct str){NULL, 0}, header, 1);
	send(w, "", STR_OF(""), NULL, 0);
	reactor_run(w->reactor);
	fake_kafka_get(w->kafka, "t", 0, 0, &r);
	assert_string_equal(r.key, "-");
	assert_string_equal(r.value, "-");
	assert_string_equal(r.header, "-");
	fake_kafka_get(w->kafka, "t", 0, 1, &r);
	assert_string_equal(r.key, "");
	assert_string_equal(r.value, "");
	assert_int_equal(r.n_header, 0);
}

static void records_of_a_partition_keep_their_order(void **state)
{
	struct world *w = *state;
	struct fake_record r;
	char key[8] = "k000";

	w->stop_at = 200;
	for (int i = 0; i < 200; i++) {
		key[1] = (char)('0' + i / 100);
		key[2] = (char)('0' + i / 10 % 10);
		key[3] = (char)('0' + i % 10);
		send(w, key, STR_OF("v"), NULL, 0);
	}
	reactor_run(w->reactor);
	assert_int_equal(w->n_reports, 200);
	assert_int_equal(w->offset, 199);
	fake_kafka_get(w->kafka, "t", 0, 123, &r);
	assert_string_equal(r.key, "k123");
}

static void a_flush_gives_the_reports_without_the_loop(void **state)
{
	struct world *w = *state;

	send(w, "k", STR_OF("v"), NULL, 0);
	assert_int_equal(producer_flush(w->producer, 5000), ST_OK);
	assert_int_equal(w->n_reports, 1);
	assert_int_equal(w->status, ST_OK);
}

static void a_record_over_the_limit_is_refused_at_once(void **state)
{
	enum { BYTES = 11 << 20 };
	struct world *w = *state;
	struct err err = {""};
	char *big = calloc(1, BYTES);

	assert_int_equal(producer_send(w->producer, STR_OF("t"), STR_OF("k"),
				       (struct str){big, BYTES}, NULL, 0, NULL, &err),
			 ST_INVALID);
	assert_non_null(strstr(err.text, "message.max.bytes"));
	assert_int_equal(producer_queued(w->producer), 0);
	free(big);
}

static void a_record_of_2_MiB_passes(void **state)
{
	enum { BYTES = 2 << 20 };
	struct world *w = *state;
	struct fake_record r;
	char *big = malloc(BYTES);

	memset(big, 'x', BYTES);
	send(w, "k", (struct str){big, BYTES}, NULL, 0);
	free(big);
	reactor_run(w->reactor);
	assert_int_equal(w->status, ST_OK);
	fake_kafka_get(w->kafka, "t", 0, 0, &r);
	assert_int_equal(r.n_value, BYTES);
}

static void a_record_that_the_broker_finds_too_large_is_invalid(void **state)
{
	struct world *w = *state;

	fake_kafka_fail(w->kafka, PRODUCE, 1, MSG_SIZE_TOO_LARGE, 0);
	send(w, "k", STR_OF("v"), NULL, 0);
	reactor_run(w->reactor);
	assert_int_equal(w->status, ST_INVALID);
	/* The next one is not held back by it. */
	w->stop_at = 2;
	send(w, "k", STR_OF("v"), NULL, 0);
	reactor_run(w->reactor);
	assert_int_equal(w->status, ST_OK);
}

static void what_passes_by_itself_is_not_reported(void **state)
{
	struct world *w = *state;

	fake_kafka_fail(w->kafka, PRODUCE, 2, NOT_ENOUGH_REPLICAS, 0);
	send(w, "k", STR_OF("v"), NULL, 0);
	reactor_run(w->reactor);
	assert_int_equal(w->n_reports, 1);
	assert_int_equal(w->status, ST_OK);
}

static void after_a_fatal_error_all_is_reported_and_a_new_producer_goes_on(void **state)
{
	struct world *w = *state;

	/* Sequence numbers that the broker does not follow: librdkafka gives up for good. */
	fake_kafka_fail(w->kafka, PRODUCE, 1, OUT_OF_ORDER_SEQUENCE, 0);
	w->send_again = true;
	w->stop_at = 3;
	for (int i = 0; i < 3; i++)
		send(w, "k", STR_OF("v"), NULL, 0);
	reactor_run(w->reactor);
	assert_int_equal(w->status, ST_DOWN);
	assert_int_equal(producer_queued(w->producer), 0);
	w->stop_at = 4;
	assert_int_equal(producer_flush(w->producer, 1000), ST_OK);
	send(w, "k", STR_OF("v"), NULL, 0);
	reactor_run(w->reactor);
	assert_int_equal(w->status, ST_OK);
}

/* A thread of librdkafka waits for a name server, and a request is on its way whose answer never comes. */
static void a_fatal_error_does_not_hold_up_the_loop(void **state)
{
	static const struct kafka_option option[] = {{"enable.sparse.connections", "false"},
						     {"linger.ms", "0"}};
	struct world *w = *state;
	struct beat beat;
	struct err err;
	char brokers[100];

	snprintf(brokers, sizeof(brokers), "%s,%s:9092", fake_kafka_brokers(w->kafka), SILENT_HOST);
	producer_free(w->producer);
	assert_int_equal(
		producer_open(w->reactor, brokers, option, 2, reported, w, &w->producer, &err),
		ST_OK);
	send(w, "k", STR_OF("v"), NULL, 0);
	reactor_run(w->reactor);
	fake_kafka_fail(w->kafka, PRODUCE, 1, OUT_OF_ORDER_SEQUENCE, 300);
	fake_kafka_fail(w->kafka, PRODUCE, 1, 0, 60000);
	send(w, "k", STR_OF("v"), NULL, 0);
	assert_int_equal(producer_flush(w->producer, 100), ST_DOWN);
	send(w, "k", STR_OF("v"), NULL, 0);
	w->stop_at = 3;
	beat_start(&beat, w->reactor);
	reactor_run(w->reactor);
	assert_int_equal(w->status, ST_DOWN);
	assert_int_equal(producer_queued(w->producer), 0);
	w->stop_at = 4;
	while (producer_send(w->producer, STR_OF("t"), STR_OF("k"), STR_OF("v"), NULL, 0, w,
			     &err) != ST_OK)
		assert_int_equal(producer_flush(w->producer, 0), ST_OK);
	reactor_run(w->reactor);
	assert_int_equal(w->status, ST_OK);
	beat_end(&beat);
}

static void without_a_broker_a_record_is_down_after_its_time(void **state)
{
	static const struct kafka_option option[] = {{"message.timeout.ms", "300"}};
	struct world *w = *state;
	struct err err;

	producer_free(w->producer);
	assert_int_equal(producer_open(w->reactor, "127.0.0.1:1", option, 1, reported, w,
				       &w->producer, &err),
			 ST_OK);
	send(w, "k", STR_OF("v"), NULL, 0);
	assert_int_equal(producer_flush(w->producer, 1), ST_DOWN);
	reactor_run(w->reactor);
	assert_int_equal(w->status, ST_DOWN);
}

static void nothing_is_reported_after_the_end(void **state)
{
	struct world *w = *state;

	send(w, "k", STR_OF("v"), NULL, 0);
	producer_free(w->producer);
	w->producer = NULL;
	assert_int_equal(w->n_reports, 0);
}

static void wrong_options_are_named(void **state)
{
	static const struct kafka_option unknown[] = {{"linger.mss", "1"}};
	static const struct kafka_option fixed[] = {{"acks", "1"}};
	struct world *w = *state;
	struct producer *p;
	struct err err;

	assert_int_equal(producer_open(w->reactor, "b:1", unknown, 1, reported, w, &p, &err),
			 ST_INVALID);
	assert_non_null(strstr(err.text, "linger.mss"));
	assert_int_equal(producer_open(w->reactor, "b:1", fixed, 1, reported, w, &p, &err),
			 ST_INVALID);
	assert_non_null(strstr(err.text, "kafka.options.acks"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_record_arrives_as_given),
		TEST(null_stays_null_and_empty_stays_empty),
		TEST(records_of_a_partition_keep_their_order),
		TEST(a_flush_gives_the_reports_without_the_loop),
		TEST(a_record_over_the_limit_is_refused_at_once),
		TEST(a_record_of_2_MiB_passes),
		TEST(a_record_that_the_broker_finds_too_large_is_invalid),
		TEST(what_passes_by_itself_is_not_reported),
		TEST(after_a_fatal_error_all_is_reported_and_a_new_producer_goes_on),
		TEST(a_fatal_error_does_not_hold_up_the_loop),
		TEST(without_a_broker_a_record_is_down_after_its_time),
		TEST(nothing_is_reported_after_the_end),
		TEST(wrong_options_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
