/*
 * app/run.h - jobs in memory. The only place that knows the order: step, store, act.
 *
 *	message --> STORING --> WAITING for a slot --> CALLING --> STORING --> ... --> STORING --> gone
 *
 * A job has at most one write unanswered. What a step asks for is done only after PostgreSQL has the step: run_stored(). A reply is
 * parsed, a step is made of it, and the events of an ended job are written each in a turn of the loop of its own, so that none of a job
 * at the caps holds up the others for 20 ms (`make bench`).
 */
#ifndef APP_RUN_H
#define APP_RUN_H

#include "app/limit.h"
#include "app/metrics.h"
#include "app/profiles.h"
#include "app/settings.h"
#include "core/event.h"
#include "io/fleet.h"
#include "io/model.h"
#include "io/trail.h"

struct runs; /* all jobs of the process */
struct run;  /* one */

/* A message has reached its row: which one. */
enum settled { SETTLED_JOB, SETTLED_DUPLICATE, SETTLED_DEAD };

struct run_hooks {
	/* Of a new job or dead letter; > 0. */
	int64_t (*number)(void *owner);
	/* False: nothing may be sent now (lease, database); the job asks again twice a second. */
	bool (*may_act)(void *owner);
	/* What is in hand, for blame after a crash; NULL record and job_no 0: nothing. */
	void (*in_hand)(void *owner, const struct record *, int64_t job_no);
	/* The message's row is committed. */
	void (*settled)(void *owner, struct str topic, int32_t partition, int64_t offset,
			enum settled);
	/* The job has ended and its last rows are committed, borrowed: events to publish. */
	void (*ended)(void *owner, const struct step_rows *last);
	/* A dead letter is committed: publish it. Borrowed. */
	void (*dead)(void *owner, const struct outbox_row *, const struct dead_letter_row *);
	/* A step is committed; for `try`. May be NULL. */
	void (*stepped)(void *owner, const struct step_rows *, const struct loop_output *,
			const struct history *);
	/* An attempt brought no answer; it may be tried again. For `try`. May be NULL. */
	void (*attempt_failed)(void *owner, const struct model *, const struct reply *,
			       int http_status);
};

struct runs_config {
	struct reactor *reactor;
	const struct settings *settings;
	struct profiles *profiles; /* made with these settings; held */
	struct trail *trail;
	struct models *models;
	const char *cluster;
	const struct run_hooks *hooks;
	void *owner;
	struct metrics *metrics; /* NULL: nobody counts */
};

/* ST_INVALID: a model's endpoint or credential is wrong. */
enum status runs_new(const struct runs_config *, struct runs **out, struct err *err) MUST_CHECK;
/* Drops every job at once: what is stored stays, another worker goes on. NULL is fine. */
void runs_free(struct runs *);

int runs_count(const struct runs *);
/* Begins no call any more: those on the wire end and are stored, the rest is left to whoever takes the jobs over. */
void runs_stop(struct runs *);
/* Jobs with a call on the wire or a write unanswered: what is worth waiting for after runs_stop(). */
int runs_busy(const struct runs *);
bool runs_has(const struct runs *, int64_t job_no);
/* Of the i-th model of those that the settings have or had, the latest last; NULL past the end. */
const struct limit *runs_limit(const struct runs *, int i, const struct model **);
void runs_set_fleet(struct runs *, int n_workers); /* shares the models' rates */

/* From now on jobs are taken in under these profiles and all jobs are served by their settings' limits and providers. Jobs in memory keep
 * their profile, and the model that it names, also where the settings do not have it any more. ST_INVALID: nothing has changed. */
enum status runs_use(struct runs *, struct profiles *, struct err *err) MUST_CHECK;
/* How many of @n new jobs may be taken in: none while each profile has a model whose breaker is not closed. What is in memory waits and
 * probes; if that is nothing, one job, and where calls hang, a second. */
int runs_may_begin(struct runs *, int n);

/* A record: a job, or a dead letter. @n_strike: how often it was in hand at a crash. Copies what it keeps. */
void runs_message(struct runs *, const struct record *, int n_strike);

/* A job that another worker left, or that this one lost sight of; it is taken over. Its steps are fed in a turn each. */
void runs_orphan(struct runs *, struct orphan_job *);

/* Ends what has expired; once a second. */
void runs_sweep(struct runs *, int64_t unix_ms);

#endif
