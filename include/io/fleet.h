/*
 * io/fleet.h - rows that change: who works, who is alive, what is to be done, where intake stands, what crashed. On a connection
 * of its own, so that a heartbeat never waits for a commit of the trail.
 *
 * A worker incarnation has a row and a lease in database time. A worker whose lease has run out is ended by the others in three
 * statements: its connections are terminated, it is marked dead, and (a later snapshot) its todo rows are orphaned. Who lost its own
 * lease, as in an outage of the database, spares the others for a lease's time after.
 */
#ifndef IO_FLEET_H
#define IO_FLEET_H

#include "base/arena.h"
#include "base/err.h"
#include "core/row.h"
#include "io/cluster.h"
#include "io/reactor.h"

struct fleet;

struct fleet_config {
	const char *conninfo, *host, *version;
	int64_t lease_ms; /* beats come every third of it, at most 1 s apart */
};

struct strike {		  /* a message or a job that was in hand at a crash */
	struct str topic; /* absent: a job */
	int32_t partition;
	int64_t offset; /* or the job's number */
};

/* An orphan taken over, loaded whole; borrowed for the call. */
struct orphan_job {
	struct fleet *fleet;
	struct arena *arena; /* of all this */
	const struct job_row *job;
	struct str profile_json;
	const struct step_row *step; /* by number */
	int n_step;
	const struct attempt_row *attempt; /* by call, then number */
	int n_attempt;
	const struct draft_row *draft; /* by number */
	int n_draft;
	int n_strike; /* crashes with this job in hand */
};
struct orphan_event {
	const struct outbox_row *event;	      /* payload of a dead letter filled from its row */
	const struct dead_letter_row *letter; /* NULL: not a dead letter */
};

struct fleet_events {
	/* Registered, numbers drawn, marks and strikes read: work may begin. Once. */
	void (*ready)(void *owner, int64_t worker_id);
	/* Marked dead, or the server is on another timeline. Once; the connection is not used any more. */
	void (*fenced)(void *owner, const char *why);
	/* The receiver's, who frees it: orphan_free(). */
	void (*job)(void *owner, struct orphan_job *);
	void (*event)(void *owner, const struct orphan_event *);
};

/* Only then the next is loaded: memory holds one more trail than jobs, not all. */
void orphan_free(struct orphan_job *);

/* Connects and registers, and makes the months ahead, by itself; the strings of the configuration are copied. A registration
 * whose answer was lost is made again; the row of the first is ended by the others when its lease runs out. */
struct fleet *fleet_open(struct reactor *, const struct fleet_config *, const struct fleet_events *,
			 void *owner);
int64_t fleet_worker_id(const struct fleet *); /* 0: not registered yet */
int fleet_n_alive(const struct fleet *); /* workers with a lease, this one included; at least 1 */

/* Workers whose lease had run out and that this one has ended. */
int64_t fleet_n_ended(const struct fleet *);
/* The partitions of the month after that of @unix_ms are there, as far as they were made ahead. */
bool fleet_has_next_month(const struct fleet *, int64_t unix_ms);

/* The last answered heartbeat is younger than the lease, by CLOCK_BOOTTIME since the beat was sent. False: send nothing. */
bool fleet_may_act(const struct fleet *);
/* Until when, clock_mono_ms(); for a SIGCONT handler. 0: no heartbeat was answered yet. */
int64_t fleet_lease_until_mono_ms(const struct fleet *);

/* A number from the blocks drawn ahead, rising; 0: none left just now. */
int64_t fleet_number(struct fleet *);
int64_t fleet_n_numbers(const struct fleet *); /* how many are left just now */

/* Takes over up to @n_jobs orphaned jobs and up to 256 orphaned events, if the last heartbeat saw any: ->job and ->event follow,
 * from the loop, one by one. A call while that goes on is ignored. */
void fleet_adopt(struct fleet *, int n_jobs);
/* Is this todo row in memory? Asked after each reconnect and twice a minute about all that is ours in the database. What is unknown
 * twice, 5 s apart, was lost with an answer: it comes by ->job or ->event like an orphan. */
typedef bool fleet_known_fn(void *owner, int64_t job_no, struct str what);
void fleet_knows(struct fleet *, fleet_known_fn *, void *owner);
/* Jobs, by the last heartbeat and what was taken over since, and all that is still being loaded; intake leaves room for them. */
int64_t fleet_n_orphans(const struct fleet *);

/* The mark of a partition as last read from the database, -1: none. Read at ready and every heartbeat. */
int64_t fleet_mark(const struct fleet *, const char *cluster, struct str topic, int32_t partition);
/* How often the message was in hand at a crash; as of the last heartbeat. */
int fleet_strikes(const struct fleet *, struct str topic, int32_t partition, int64_t offset);
/* Counts one; @done runs when it is committed, or was already (the same @incident, a unique text, counts once). */
void fleet_strike(struct fleet *, const struct strike *, const char *incident, reactor_fn *done,
		  void *owner);

/* Whether all records under the ends are settled and none of their jobs or events is left in todo. Answered later. */
typedef void drained_fn(void *owner, bool drained, int64_t n_left);
void fleet_drained(struct fleet *, const char *cluster, const struct partition_end *, int n,
		   drained_fn *, void *owner);

/* Orderly end: marks itself dead ("stopped") and orphans what it still has. @done runs once, from the loop; without a database
 * after 2 s. No other callback follows but those of fleet_strike() and fleet_drained(). */
void fleet_leave(struct fleet *, reactor_fn *done, void *owner);
void fleet_free(struct fleet *); /* not from within one of its callbacks; NULL is fine */

#endif
