/*
 * core/event.h - what is published. One row a kind: its name, its topic's suffix, whether a job's end makes one, its JSON.
 * Shapes: config/schema/outcome.schema.json and review-opened.schema.json.
 */
#ifndef CORE_EVENT_H
#define CORE_EVENT_H

#include "core/loop.h"

/* Over it the texts are left out and "texts_omitted": true says so: a broker refuses records over 1 MB by default. */
enum { EVENT_BYTES_MAX = 900000 };

/* The dead letters' topic, behind the prefix, and their kind in outbox and todo. */
#define DEAD_LETTER_TOPIC "jobs.dlq"
#define DEAD_LETTER_KIND "dead_letter"

struct ending { /* everything an event tells; borrowed */
	const struct job *job;
	const struct profile *profile;
	const struct history *history;
	const struct outcome_row *outcome;
	const struct draft *best; /* of outcome->draft_no; NULL: no draft */
	struct str arm;		  /* of the profile; absent: it has none */
};

struct event_kind {
	const char *name;		    /* "outcome", "opened" */
	const char *topic;		    /* suffix: "results", "review" */
	bool (*due)(const struct ending *); /* NULL: always */
	void (*write)(const struct ending *, const uint8_t event_id[UUID_BYTES], bool with_texts,
		      struct arena *, struct buf *out);
};

const struct event_kind *event_kind_at(int i); /* NULL past the end */

/* UUIDv5 over the canonical fields (source, id, revision, kind, n); the same after a restore. */
void event_id(const struct job *, const char *kind, int n, uint8_t out[UUID_BYTES]);
/* Of a dead letter: over (cluster, topic, partition, offset, SHA-256 of the value). */
void dead_letter_id(const struct dead_letter_row *, uint8_t out[UUID_BYTES]);

/* The rows of all due events of an ended job, in @a; topics are @topic_prefix + suffix. */
const struct outbox_row *event_rows(struct arena *a, const struct ending *, struct str topic_prefix,
				    int *n);

#endif
