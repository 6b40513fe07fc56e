/*
 * app/publish.h - events on their way to Kafka: committed rows of the outbox, sent until the broker has them. At least once on the wire, once
 * by event_id: after a crash whoever takes the row over sends it again.
 */
#ifndef APP_PUBLISH_H
#define APP_PUBLISH_H

#include "app/metrics.h"
#include "core/row.h"
#include "io/producer.h"
#include "io/trail.h"

struct publisher;

typedef bool publish_may_fn(void *owner); /* false: the lease is gone, send nothing now */

struct publisher *publisher_new(struct reactor *, struct trail *, struct metrics *,
				publish_may_fn *, void *owner);
/* The producer is opened after, since it needs the report's owner. */
void publisher_use(struct publisher *, struct producer *);
producer_done publisher_delivered; /* producer_open()'s callback, @owner: the publisher */
void publisher_free(struct publisher *);

/* Copies. @letter: the dead letter whose bytes the event carries; NULL for other kinds. */
void publish(struct publisher *, const struct outbox_row *, const struct dead_letter_row *letter);

int publisher_count(const struct publisher *); /* not yet on their topics */
bool publisher_has(const struct publisher *, int64_t job_no, struct str kind);

#endif
