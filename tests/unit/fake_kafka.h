/*
 * tests/unit/fake_kafka.h - a Kafka of the test's own: librdkafka's mock cluster in this process, and hands to put records in and to
 * take them out that share no code with src/.
 */
#ifndef FAKE_KAFKA_H
#define FAKE_KAFKA_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fake_kafka;

struct fake_kafka *fake_kafka_new(void);
void fake_kafka_free(struct fake_kafka *);
const char *fake_kafka_brokers(const struct fake_kafka *);
void fake_kafka_topic(struct fake_kafka *, const char *topic, int n_partitions);

/* From now on the broker says @code (of the Kafka protocol) when it is asked about the topic. */
void fake_kafka_topic_fails(struct fake_kafka *, const char *topic, int code);

/* @n_times a record with the key "k". A @value of NULL is null; @header_value NULL: no header, else one named "h". Returns when
 * the broker has them. */
void fake_kafka_put(struct fake_kafka *, const char *topic, int32_t partition, const void *value,
		    size_t n_value, const char *header_value, int n_times);

/* A member of the group commits. */
void fake_kafka_commit(struct fake_kafka *, const char *group, const char *topic, int32_t partition,
		       int64_t next_offset);

struct fake_record { /* texts are cut; "-" = null */
	char key[64], value[64];
	char header[64];	   /* value of the header "h"; "" if there is none */
	ssize_t n_value, n_header; /* bytes, headers */
};
/* The record at @offset, at the latest after 5 s (else the test fails). */
void fake_kafka_get(struct fake_kafka *, const char *topic, int32_t partition, int64_t offset,
		    struct fake_record *out);

/* The next @n requests of the kind are answered with @code (of the Kafka protocol; 0: none) and after @after_ms. */
enum fake_request {
	PRODUCE = 0,
	LIST_OFFSETS = 2,
	OFFSET_FETCH = 9
}; /* by the protocol's numbers */
void fake_kafka_fail(struct fake_kafka *, enum fake_request, int n, int code, int after_ms);

#endif
