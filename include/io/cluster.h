/*
 * io/cluster.h - what a Kafka cluster has: its id, its topics, and making some. Every call waits, up to the time the cluster was opened with: for
 * start-up and commands, never on the loop.
 *
 * ST_DOWN: no answer, also not to asking again for what passes (a new topic without a leader, a group that is loading), and *err says why as far as librdkafka does: the login, TLS or the address is wrong. ST_INVALID: the answer is no.
 */
#ifndef IO_CLUSTER_H
#define IO_CLUSTER_H

#include "base/arena.h"
#include "io/kafka_option.h"

struct cluster;

/* Connects in the background. ST_INVALID: an option is wrong (named). */
enum status cluster_open(const char *brokers, const struct kafka_option *, int n_option,
			 int timeout_ms, struct cluster **out, struct err *err) MUST_CHECK;
void cluster_close(struct cluster *); /* NULL is fine */

/* For the mark's and the dead letter's key. Lives until cluster_close(). */
enum status cluster_id(struct cluster *, const char **id, struct err *err) MUST_CHECK;

enum topic_state { TOPIC_MISSING, TOPIC_DENIED, TOPIC_THERE }; /* denied: by the user's rights */
enum { TOPIC_UNKNOWN = -2, TOPIC_FOREVER = -1 };
struct topic {
	enum topic_state state;
	int n_partitions, n_replicas;
	int64_t retention_ms; /* or one of the above */
};
/* Asking makes no topic. ST_OK also for one that is not there. */
enum status cluster_topic(struct cluster *, const char *name, struct topic *out,
			  struct err *err) MUST_CHECK;
/* cluster_topic() leaves it unknown: it is a question of its own, and a right. */
int64_t cluster_retention_ms(struct cluster *, const char *name);

/* Whether the user may read the offsets of a consumer group, which who may join it may. ST_INVALID: no. */
enum status cluster_group(struct cluster *, const char *group, struct err *err) MUST_CHECK;

/* With its partitions and retention; 0 replicas: three, or as many as there are brokers, which is set. ST_INVALID: the broker says no (*err). */
enum status cluster_create(struct cluster *, const char *name, struct topic *,
			   struct err *err) MUST_CHECK;

struct partition_end { /* high watermark */
	struct str topic;
	int32_t partition;
	int64_t low, end;  /* offsets; end = next to be written */
	int64_t committed; /* by cluster_committed(); -1: nothing is */
};
/* Of every partition of the topics, in @a. ST_DOWN also for a missing topic, named. */
enum status cluster_ends(struct cluster *, const char *const *name, int n_name, struct arena *a,
			 struct partition_end **end, int *n, struct err *err) MUST_CHECK;
/* Fills in what the group has committed there. ST_INVALID: the user may not ask. */
enum status cluster_committed(struct cluster *, const char *group, struct partition_end *, int n,
			      struct err *err) MUST_CHECK;

#endif
