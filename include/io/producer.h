/*
 * io/producer.h - records to Kafka, over librdkafka: acks=all, idempotent. A fatal producer is made anew, without waiting; its unsent records
 * are reported as failed, and the caller sends them again (consumers tell copies by event_id).
 */
#ifndef IO_PRODUCER_H
#define IO_PRODUCER_H

#include "io/consumer.h"

struct producer;

/* Delivery report, from the loop: where the record is, or @why it is not, in the broker's words. ST_INVALID: over the broker's size limit; ST_DOWN:
 * send it again. */
typedef void producer_done(void *owner, void *cookie, enum status, const char *why,
			   int32_t partition, int64_t offset);

enum status producer_open(struct reactor *, const char *brokers, const struct kafka_option *option,
			  int n_option, producer_done *, void *owner, struct producer **out,
			  struct err *err) MUST_CHECK;

/* Copies everything. ST_OK: one report follows, from the loop or from within producer_flush(). No report follows after: ST_AGAIN, the
 * queue is full or the topic is not there (yet); ST_INVALID, the record is over the size limit (*err says which). An absent value is null. */
enum status producer_send(struct producer *, struct str topic, struct str key, struct str value,
			  const struct header *header, int n_header, void *cookie,
			  struct err *err) MUST_CHECK;

int producer_queued(const struct producer *); /* sent, not reported */

/* Blocks up to @timeout_ms, giving reports: for commands and for the last moment of a worker. ST_DOWN: some are still out. */
enum status producer_flush(struct producer *, int timeout_ms) MUST_CHECK;
/* Drops what is queued; waits for librdkafka's threads, which may be at a name server: for the end. NULL is fine. */
void producer_free(struct producer *);

#endif
