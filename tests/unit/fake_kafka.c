#include "fake_kafka.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

enum { TIMEOUT_MS = 5000, BROKER = 1 };

struct fake_kafka {
	rd_kafka_t *rk; /* carries the cluster, and puts */
	rd_kafka_mock_cluster_t *cluster;
	rd_kafka_t *reader;
};

static rd_kafka_t *client(rd_kafka_type_t type, const char *brokers, const char *group)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char why[256];

	rd_kafka_conf_set(conf, "log_level", "0", NULL, 0);
	if (brokers)
		rd_kafka_conf_set(conf, "bootstrap.servers", brokers, NULL, 0);
	if (group)
		rd_kafka_conf_set(conf, "group.id", group, NULL, 0);
	if (type == RD_KAFKA_PRODUCER) {
		rd_kafka_conf_set(conf, "message.max.bytes", "4000000", NULL, 0);
		rd_kafka_conf_set(conf, "linger.ms", "0", NULL, 0);
	}
	rd_kafka_t *rk = rd_kafka_new(type, conf, why, sizeof(why));
	if (!rk)
		fail_msg("%s", why);
	return rk;
}

struct fake_kafka *fake_kafka_new(void)
{
	struct fake_kafka *k = calloc(1, sizeof(*k));
	rd_kafka_t *host = client(RD_KAFKA_PRODUCER, NULL, NULL);

	k->cluster = rd_kafka_mock_cluster_new(host, 1);
	assert_non_null(k->cluster);
	k->rk = host;
	rd_kafka_brokers_add(host, rd_kafka_mock_cluster_bootstraps(k->cluster));
	k->reader = client(RD_KAFKA_CONSUMER, fake_kafka_brokers(k), NULL);
	return k;
}

void fake_kafka_free(struct fake_kafka *k)
{
	rd_kafka_destroy(k->reader);
	rd_kafka_mock_cluster_destroy(k->cluster);
	rd_kafka_destroy(k->rk);
	free(k);
}

const char *fake_kafka_brokers(const struct fake_kafka *k)
{
	return rd_kafka_mock_cluster_bootstraps(k->cluster);
}

/* The client learns of the topic at once, instead of with its first record, which then would wait a second. */
void fake_kafka_topic(struct fake_kafka *k, const char *topic, int n_partitions)
{
	const struct rd_kafka_metadata *metadata;

	assert_int_equal(rd_kafka_mock_topic_create(k->cluster, topic, n_partitions, 1), 0);
	rd_kafka_topic_t *t = rd_kafka_topic_new(k->rk, topic, NULL);
	assert_int_equal(rd_kafka_metadata(k->rk, 0, t, &metadata, TIMEOUT_MS), 0);
	rd_kafka_metadata_destroy(metadata);
	rd_kafka_topic_destroy(t);
}

static void put(struct fake_kafka *k, const char *topic, int32_t partition, const void *value,
		size_t n_value, const char *header_value)
{
	rd_kafka_headers_t *headers = rd_kafka_headers_new(1);

	if (header_value)
		rd_kafka_header_add(headers, "h", -1, header_value, -1);
	assert_int_equal(rd_kafka_producev(k->rk, RD_KAFKA_V_TOPIC(topic),
					   RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_KEY("k", 1),
					   RD_KAFKA_V_VALUE((void *)(uintptr_t)value, n_value),
					   RD_KAFKA_V_HEADERS(headers),
					   RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
					   RD_KAFKA_V_END),
			 0);
}

void fake_kafka_put(struct fake_kafka *k, const char *topic, int32_t partition, const void *value,
		    size_t n_value, const char *header_value, int n_times)
{
	for (int i = 0; i < n_times; i++)
		put(k, topic, partition, value, n_value, header_value);
	assert_int_equal(rd_kafka_flush(k->rk, TIMEOUT_MS), 0);
}

void fake_kafka_commit(struct fake_kafka *k, const char *group, const char *topic,
		       int32_t partition, int64_t next_offset)
{
	rd_kafka_t *member = client(RD_KAFKA_CONSUMER, fake_kafka_brokers(k), group);
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);

	rd_kafka_topic_partition_list_add(list, topic, partition)->offset = next_offset;
	assert_int_equal(rd_kafka_commit(member, list, 0), 0);
	rd_kafka_topic_partition_list_destroy(list);
	rd_kafka_destroy(member);
}

/* The beginning of @p, or "-" for null. */
static void text(char *out, size_t size, const void *p, size_t n)
{
	snprintf(out, size, "%.*s", p ? (int)n : 1, p ? (const char *)p : "-");
}

static void copy(const rd_kafka_message_t *m, struct fake_record *out)
{
	rd_kafka_headers_t *headers;
	const void *value;
	size_t n;

	memset(out, 0, sizeof(*out));
	text(out->key, sizeof(out->key), m->key, m->key_len);
	text(out->value, sizeof(out->value), m->payload, m->len);
	out->n_value = (ssize_t)m->len;
	if (rd_kafka_message_headers(m, &headers) == 0) {
		out->n_header = (ssize_t)rd_kafka_header_cnt(headers);
		if (rd_kafka_header_get(headers, 0, "h", &value, &n) == 0)
			text(out->header, sizeof(out->header), value, n);
	}
}

void fake_kafka_get(struct fake_kafka *k, const char *topic, int32_t partition, int64_t offset,
		    struct fake_record *out)
{
	rd_kafka_topic_t *t = rd_kafka_topic_new(k->reader, topic, NULL);

	assert_int_equal(rd_kafka_consume_start(t, partition, offset), 0);
	rd_kafka_message_t *m = rd_kafka_consume(t, partition, TIMEOUT_MS);
	if (!m || m->err || m->offset != offset)
		fail_msg("no record at %s/%d/%d", topic, (int)partition, (int)offset);
	copy(m, out);
	rd_kafka_message_destroy(m);
	rd_kafka_consume_stop(t, partition);
	rd_kafka_topic_destroy(t);
}

void fake_kafka_fail(struct fake_kafka *k, enum fake_request request, int n, int code, int after_ms)
{
	for (int i = 0; i < n; i++)
		rd_kafka_mock_broker_push_request_error_rtts(k->cluster, BROKER, request, 1, code,
							     after_ms);
}

void fake_kafka_topic_fails(struct fake_kafka *k, const char *topic, int code)
{
	rd_kafka_mock_topic_set_error(k->cluster, topic, (rd_kafka_resp_err_t)code);
}
