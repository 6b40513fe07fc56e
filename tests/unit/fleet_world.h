/*
 * tests/unit/fleet_world.h - workers on one loop that share the test program's PostgreSQL, and the other side by plain SQL.
 */
#ifndef TESTS_FLEET_WORLD_H
#define TESTS_FLEET_WORLD_H

#include "io/fleet.h"
#include "io/pg.h"

enum { LEASE_MS = 900, WORKERS = 2, TAKEN = 400 };

struct worker { /* and what it was told */
	struct fleet *fleet;
	int n_ready, n_fenced, n_done, n_drained;
	int64_t worker_id, n_left;
	bool drained;
	int n_job, n_event;
	int64_t job_no[TAKEN];
	int n_strike, n_step;
	void (*check_job)(const struct orphan_job *);
	void (*check_event)(const struct orphan_event *);
};

struct world {
	struct reactor *reactor;
	struct timer *poll;
	int64_t give_up_ms;
	bool (*until)(struct world *);
	struct worker worker[WORKERS];
	int64_t n; /* for until() */
};

/* cmocka fixtures of a test; *state is the world. */
int fleet_setup(void **state);
int fleet_teardown(void **state);
#define FLEET_TEST(test) cmocka_unit_test_setup_teardown(test, fleet_setup, fleet_teardown)

void open_worker(struct world *, int i, const char *conninfo);
/* Opens so many and waits until they are ready. */
void start(struct world *, int n_workers);

/* Runs the loop until @what, which may read w->n; false: it did not come about. */
bool happens(struct world *, bool (*what)(struct world *), int64_t within_ms);
bool never(struct world *);
bool both_ready(struct world *);
bool first_ready(struct world *);
bool is_done(struct world *); /* at least w->n times */
void on_done(void *worker);

/* ---- by plain SQL, as superuser ---- */
int64_t sql_int(const char *format, ...) PRINTF_LIKE(1, 2);
/* A worker that is no more than its rows; its lease ran out, or will in an hour. */
int64_t other_worker(bool expired);
bool is_dead(int64_t worker_id);
/* The smallest job there can be, in the hands of @worker_id (0: nobody's). */
int64_t plain_job(int64_t worker_id, int64_t offset);
int64_t n_owned(int64_t worker_id); /* todo rows */
void cut_connections(void);	    /* the fleets' */

#endif
