/*
 * io/trail.h - the trail in PostgreSQL: rows that are written once and never changed, and with them, in the same commit,
 * the todo queue and the intake marks.
 *
 * Writes are queued and go out together, one transaction a turn; the next goes when the previous one's answer is back. Each begins with the fence. When
 * the connection is lost the batch's fate is unknown, so it is sent again (every statement is idempotent then). On a data
 * error it is sent again one write a transaction, and the one at fault is STORED_REFUSED.
 *
 * Rows given are borrowed until the write's callback, unless said otherwise. A job has at most one write queued.
 * Opened without a conninfo (`try`) every write is acknowledged on the next turn and nothing is kept.
 */
#ifndef IO_TRAIL_H
#define IO_TRAIL_H

#include "base/err.h"
#include "core/step.h"
#include "io/reactor.h"

struct trail;

enum stored {
	STORED,
	STORED_DUPLICATE, /* intake: identity and value are known; dead letter: known */
	STORED_CONFLICT,  /* intake: the identity is known with another value */
	STORED_REFUSED, /* PostgreSQL refuses the data; *why has the SQLSTATE. Nothing of this write is kept */
};

struct stored_why {
	int64_t first_job_no;	      /* CONFLICT, DUPLICATE: the job that has the identity */
	uint8_t first_sha[SHA_BYTES]; /* CONFLICT: its payload's hash */
	const char *sqlstate;	      /* REFUSED */
	const char *text;
};

/* Runs once for each write, from the loop, never inside the call that queued it. */
typedef void stored_fn(void *owner, enum stored, const struct stored_why *why);

struct trail_events {
	/* This incarnation is over: nothing more will be stored. */
	void (*fenced)(void *owner, const char *why);
	void (*marked)(void *owner, struct str topic, int32_t partition,
		       int64_t next_offset); /* a mark is committed */
	/* A batch of writes is committed, @ms after it was sent. May be NULL. */
	void (*committed)(void *owner, int n_writes, int64_t ms);
};

/* @worker_id comes from the fleet; writing starts with trail_start(). @conninfo NULL: nothing is kept. */
struct trail *trail_open(struct reactor *, const char *conninfo, const struct trail_events *,
			 void *owner);
void trail_start(struct trail *, int64_t worker_id);
int64_t trail_worker_id(const struct trail *);
bool trail_is_up(const struct trail *);	  /* false: start no call, its reply could not be stored */
bool trail_is_idle(const struct trail *); /* nothing queued, nothing unanswered */
size_t trail_bytes(const struct trail *); /* of the writes that wait, about */
void trail_free(struct trail *); /* not from one of its callbacks; those still owed do not come */

struct intake {
	const struct job_row *job;
	uint8_t key[UUID_BYTES];       /* job_key() */
	const struct step_rows *first; /* may end the job at once */
	const struct profile *profile; /* its row is made if it is new to the database */
};
/* Key, job, todo row, first step with its intents: one commit. */
void trail_intake(struct trail *, const struct intake *, stored_fn *, void *owner);

/* A step and what it made; with an outcome also the outbox rows, and the todo row turns into one for each event. */
void trail_step(struct trail *, const struct step_rows *, stored_fn *, void *owner);

/* An intent of its own. */
void trail_attempt(struct trail *, const struct attempt_row *, stored_fn *, void *owner);

/* A message that is no job, with its outbox and todo rows. */
void trail_dead_letter(struct trail *, const struct dead_letter_row *, const struct outbox_row *,
		       stored_fn *, void *owner);

/* An event is on its topic: outbox_sent row, todo row gone. Copied; rides with the next batch, 100 ms at most. */
void trail_sent(struct trail *, const struct sent_row *);

/* All records of the partition under @next_offset are settled. Copied; rides like trail_sent(). The database keeps the higher one. */
void trail_mark(struct trail *, const char *cluster, struct str topic, int32_t partition,
		int64_t next_offset);

#endif
