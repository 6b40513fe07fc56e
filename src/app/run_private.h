/*
 * run_private.h - what the run*.c share: one job in memory and its open calls.
 */
#ifndef APP_RUN_PRIVATE_H
#define APP_RUN_PRIVATE_H

#include "app/credential.h"
#include "app/retry.h"
#include "app/run.h"
#include "io/child.h"

#include <sys/queue.h>

enum {
	STRIKES_MAX = 3, /* crashes with a message or a job in hand; then it is not touched again */
	DETAIL_BYTES = 304 /* of an attempt's failure; core/wire.h cuts at 300 */
};

struct service { /* a model ready to be called: each that the settings have or had */
	TAILQ_ENTRY(service) link;
	const struct model *model; /* name, id, provider and wire, which never change */
	struct profiles *profiles; /* held: the endpoint is in the memory of their settings */
	struct endpoint endpoint;
	struct credential *credential; /* held: its provider's */
	struct limit *limit;	       /* shared by those of one provider and id */
	bool owns_limit;
	bool told_other;		  /* that another model answers in its place */
	int64_t told_credentials_mono_ms; /* when it was told that they are refused; 0: never */
};

struct runs {
	struct runs_config c;
	struct arena *arena;
	TAILQ_HEAD(services, service) services; /* those of the settings of now are the last */
	struct service tools; /* no model of the settings: their limit alone counts */
	LIST_HEAD(, run) all;
	TAILQ_HEAD(, run) due; /* those with a turn, in their order */
	struct timer *turns;
	void *by_number; /* the same that have a number, as a tree of search.h */
	int n, n_workers;
	bool stopping;	 /* no call is begun any more */
	uint32_t random; /* of the back-off's jitter; xorshift32 */
};

struct run_call { /* an open call's driver: its intent is stored */
	struct run *run;
	struct call call;
	struct service *service;
	int attempt_no; /* of the last intent: 0 is the step's, 1.. have rows of their own */
	char detail[DETAIL_BYTES];  /* behind the row's */
	struct attempt_row attempt; /* the row being stored */
	struct retry_state retry;
	int64_t n_answered;	   /* the model's answers until it was first sent, or last failed */
	int64_t asked_mono_ms;	   /* for its slot */
	int64_t again_mono_ms;	   /* end of the pause before its next attempt */
	struct limit_wait *wait;   /* in the queue for a slot */
	struct timer *timer;	   /* backing off, or waiting for leave to send */
	struct transfer *transfer; /* on the wire */
	int key_no;		   /* of the credential, sent last */
	struct child *child;	   /* a tool's */
	struct child_how how;	   /* of it; argv NULL: not made yet */
	int64_t run_mono_ms;	   /* it runs since */
	bool listens;		   /* the pause ends sooner if the model is heard */
	bool has_slot;
	bool in_flight; /* an attempt was begun and its end is not stored */
};

typedef void run_fn(struct run *);

struct run {
	struct runs *runs;
	LIST_ENTRY(run) link;
	TAILQ_ENTRY(run) due;
	run_fn *turn;		   /* what it does in its next turn; NULL: none is due */
	struct arena *arena;	   /* the job, the loop and everything they made */
	struct profiles *profiles; /* held: those that it began under */
	int64_t job_no;
	struct job *job;
	const struct profile *profile;
	struct str arm; /* of that profile; absent: it has none */
	struct loop *loop;
	struct job_row row; /* until intake is stored; likewise its message */
	struct record message;

	struct fact fact; /* behind the step being stored */
	struct loop_output out;
	const struct history *history;
	struct step_rows rows;
	struct buf reply;	 /* the bytes behind fact.http */
	uint8_t head[SHA_BYTES]; /* hash of the last stored step */
	bool storing;		 /* a step is being made or a write is unanswered */
	enum stop_reason stop;	 /* wanted from outside; a level, read again after each store */

	struct run_call *call[LOOP_CALLS]; /* open ones, in the order of their numbers */
	int n_call;
	struct replay *replay; /* of a job taken over, until its steps are fed; else NULL */
	/* After a take-over: last attempt number used, by open call. */
	int last_attempt[LOOP_CALLS];
	int64_t active_ms, active_since_mono_ms; /* since: 0 = no call on the wire */
	int n_on_wire;
};

/* ---- run.c ---- */
struct run *run_new(struct runs *);
void run_set_number(struct run *, int64_t job_no); /* once */
void run_free(struct run *);
/* Once, soon, when others have had theirs: what takes long for a large text has a turn of its own. */
void run_next_turn(struct run *, run_fn *);
/* The one door into the loop: r->fact to r->out and r->rows. Its caller says what is in hand. */
void run_step(struct run *);
/* What is published of the job that r->out ended: into r->rows. Likewise. */
void run_make_events(struct run *);
/* Step, events of an end, store: a turn each. Acting happens when it is stored. */
void run_feed(struct run *, const struct fact *);
int64_t run_active_ms(const struct run *);
stored_fn run_stored;
bool run_has_expired(const struct run *, int64_t unix_ms);
/* Whether its end is wanted from outside, its not_after included. */
bool run_is_stopped(struct run *);
/* Ends it if that is wanted from outside and nothing is being stored. */
void run_heed_stop(struct run *);
/* Gives back the slots of calls that r->rows carries the intents of and that will not be sent. */
void run_return_slots(struct run *);
/* Ends the job without its loop: it crashed workers, cannot be stored, or its trail is not this program's. Of @end: step_no,
 * cost_micro_usd, finish. */
void run_end_outside(struct run *, const struct loop_output *end, const struct history *);

/* ---- run_resume.c ---- */
void replay_free(struct replay *); /* NULL is fine */

/* ---- run_service.c ---- */
/* Of the model as the job has pinned it; else the one that has its name now. NULL: none. */
struct service *service_of(struct runs *, const struct model *);
void services_open(struct runs *);
void services_free(struct runs *);

/* ---- run_tool.c ---- */
/* Runs the tool that the call asks; call_replied() follows. */
void tool_run(struct run_call *, int64_t timeout_ms);

/* ---- run_call.c ---- */
/* Begins the call that a stored step opened; @has_slot: its intent is in that step. */
void call_begin(struct run *, const struct call *, bool has_slot, int attempt_no);
/* How its attempt ended. */
model_done call_replied;
/* Drops whatever it waits for, and gives its slot back. */
void call_drop(struct run_call *);
/* A write about a call of this job (an attempt) is answered. */
stored_fn call_stored;

#endif
