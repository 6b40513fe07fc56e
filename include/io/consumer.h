/*
 * io/consumer.h - job messages from Kafka, over librdkafka: a plain consumer group with an eager assignor.
 *
 * Offsets are stored by consumer_store() only after PostgreSQL has the record, and committed by librdkafka once a second. On
 * assignment a partition's start is min(committed, mark): the caller is asked for the mark, and may only lower the start. With
 * no mark or nothing committed a partition starts at its beginning. The broker is asked for what is committed without waiting:
 * until it answers, nothing comes.
 *
 * Nothing here waits for a broker but what says so. Some calls wait for librdkafka's main thread, which waits for nobody.
 */
#ifndef IO_CONSUMER_H
#define IO_CONSUMER_H

#include "base/buf.h"
#include "base/err.h"
#include "core/message.h"
#include "io/kafka_option.h"
#include "io/reactor.h"

struct consumer;

struct consumer_config {
	const char *brokers, *group;
	const char *const *topic;
	int n_topic;
	const struct kafka_option *option;
	int n_option;
};

struct consumer_events {
	/* A record; borrowed for the call. */
	void (*record)(void *owner, const struct record *);
	/* @topic/@partition has come: return the mark (next offset to be taken in by the trail's knowledge) or -1 for none. */
	int64_t (*assigned)(void *owner, struct str topic, int32_t partition);
	/* Gone; nothing may be stored for it until it comes again. */
	void (*revoked)(void *owner, struct str topic, int32_t partition);
	/* The position has reached the end: all records under @next_offset were given or do not exist (control records, gaps). */
	void (*at_end)(void *owner, struct str topic, int32_t partition, int64_t next_offset);
};

/* It joins the group with the first consumer_poll(), not before. ST_INVALID: an option is wrong (named). */
enum status consumer_open(struct reactor *, const struct consumer_config *,
			  const struct consumer_events *, void *owner, struct consumer **out,
			  struct err *err) MUST_CHECK;

/* Gives up to @n_want records, one at a time; returns how many it gave. To be called each turn; with @n_want 0 it pauses
 * fetching (with hysteresis: after a second of wanting none) and still serves the group. It has turns of its own twice a second. */
int consumer_poll(struct consumer *, int n_want);
/* More may be waiting than the last poll gave; false when it wanted none. */
bool consumer_ready(const struct consumer *);

/* The next offset to read after a restart. Ignored for a partition that is not assigned. */
void consumer_store(struct consumer *, struct str topic, int32_t partition, int64_t next_offset);

/* The group has said what this member reads, which may be nothing where there are more members than partitions. */
bool consumer_is_assigned(const struct consumer *);
/* How many partitions of the topic it reads; *n_behind: their records that were not given yet, by the last fetch. Does not ask the
 * broker. */
int consumer_lag(struct consumer *, const char *topic, int64_t *n_behind);

/* Commits what is stored and leaves the group without blocking the loop; @done runs once. Then consumer_free(). */
void consumer_close(struct consumer *, reactor_fn *done, void *owner);
void consumer_free(struct consumer *); /* at once, also without consumer_close(); NULL is fine */

/* librdkafka's name and version, for `draftmill --version`. */
void consumer_library(struct buf *out);

#endif
