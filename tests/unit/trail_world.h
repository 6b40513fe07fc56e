/*
 * tests/unit/trail_world.h - a trail on a loop, the answers to its writes, and rows to write: small, and right as far as
 * PostgreSQL can tell.
 */
#ifndef TESTS_TRAIL_WORLD_H
#define TESTS_TRAIL_WORLD_H

#include "io/trail.h"

enum { WRITES = 200 };

struct world {
	struct reactor *reactor;
	struct timer *limit, *tick;
	struct trail *trail;
	int64_t worker_id;
	int64_t base; /* job numbers of this test are base, base + 1 .. */
	int n_done, wait_for;
	enum stored stored[WRITES];
	struct stored_why why[WRITES];
	char sqlstate[WRITES][6];
	bool fenced;
	int64_t marked;
};

struct slot { /* owner of the i-th write */
	struct world *w;
	int i;
};
extern struct slot slot[WRITES];
stored_fn stored;
extern const struct trail_events world_events;

void open_world(struct world *, const char *conninfo);
void close_world(struct world *);
int64_t new_worker(void);
/* Runs until @n writes in all are answered, or an event stops it. */
void run(struct world *, int n);

/* Rows of this test's jobs. */
int64_t count(const char *table, const struct world *);
int64_t count_todo(const struct world *, const char *what); /* of its worker */

struct job_rows {
	struct job_row job;
	struct step_rows first;
	struct intake intake;
};
/* @key tells identities of one test apart. */
void make_job(struct job_rows *, const struct world *, int64_t job_no, int key,
	      const char *payload);
void make_step(struct step_rows *, const struct world *, int64_t job_no, int64_t step_no);

struct ending_rows {
	struct step_rows step;
	struct draft_row draft;
	struct critique_row critique;
	struct issue_row issue[2];
	struct outcome_row outcome;
	struct outbox_row event[2];
};
/* A last step with everything that a step can make, and its two events. */
void make_ending(struct ending_rows *, const struct world *, int64_t job_no, int64_t step_no);
struct outbox_row event_row(int64_t job_no, const char *kind);

/* Takes in jobs base .. base + n - 1. */
void take_in(struct world *, struct job_rows *, int n);

#endif
