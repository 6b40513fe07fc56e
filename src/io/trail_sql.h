/*
 * trail_sql.h - the statements of a batch. Rows are collected for each; sent, all rows of one statement go as arrays in one
 * execution, and the statements go in the order below. All workers take their locks in this order, and within a statement in
 * the order of the rows, so they cannot deadlock.
 */
#ifndef TRAIL_SQL_H
#define TRAIL_SQL_H

#include "core/row.h"
#include "io/pg.h"

enum statement {
	FENCE, /* no rows */
	KEY,   /* struct key_row; one that is known is passed over */
	KEY_TOLD, /* the same rows; answer: row's number from 1, job_no and sha of the job that has the key */
	PROFILE, /* struct profile_row */
	LETTER,	 /* struct dead_letter_row */
	LETTER_TOLD, /* the same rows; answer: row's number from 1, if it was this letter_no that went in */
	NEW_JOB, /* the NEW_ rows go in only where their job_no has the key */
	NEW_STEP,
	NEW_OUTCOME,
	NEW_OUTBOX,
	NEW_TODO,
	LETTER_OUTBOX, /* only where the letter went in */
	LETTER_TODO,
	STEP,
	ATTEMPT,
	DRAFT,
	CRITIQUE,
	ISSUE,
	OUTCOME,
	OUTBOX,
	RUN_GONE, /* struct outcome_row: its todo row `run` is deleted */
	EVENT_TODO,
	STEP_SAME, /* the STEP rows of a batch that is sent again; answer: those whose stored hash differs */
	SENT,
	SENT_GONE, /* the same rows: their todo rows are deleted */
	MARK,	   /* struct mark_row; a lower one changes nothing */
	N_STATEMENTS
};

struct key_row {
	uint8_t key[UUID_BYTES], sha[SHA_BYTES];
	int64_t job_no;
};

struct profile_row {
	uint8_t profile_sha[SHA_BYTES];
	struct str name, body;
};

struct todo_row {
	int64_t job_no;
	struct str what;
	int64_t worker_id;
};

struct mark_row {
	struct str cluster, topic;
	int64_t part, next_offset;
};

struct trail_sql;

struct trail_sql *trail_sql_new(void);
void trail_sql_free(struct trail_sql *);

void trail_sql_clear(struct trail_sql *);				 /* forgets the rows */
void trail_sql_add(struct trail_sql *, enum statement, const void *row); /* borrowed until sent */

/* One transaction: the fence and all statements that have rows. @again: the batch may be stored already, in whole; then every
 * row that is there is passed over. */
void trail_sql_send(struct trail_sql *, struct pg *, int64_t worker_id, bool again);

/* Which statement the next answer is of. */
enum statement trail_sql_answered(struct trail_sql *);

#endif
