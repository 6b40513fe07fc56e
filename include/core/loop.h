/*
 * core/loop.h - the critic-refiner loop: one fact in; one step and its calls, or a finish, out.
 *
 * Pure: no I/O, no clock, no random source, nothing kept outside the job's arena. Equal facts give equal steps, so a
 * stored trail can be fed in again: to go on after a crash, to audit, to ask "what if".
 *
 * The caller's side, in this order:
 *   1. one fact at a time; the next only after the last step is stored
 *   2. store the step with the intents of its calls; only then send them
 *   3. on a finish drop every open call
 * Never more than 4 calls of models for each iteration (draft or refinement, critique, each once more), and 6 besides with two candidates (a
 * draft and two comparisons, each once more); and one call for each tool and draft.
 *
 * Bad data is a fact, never an error. A bug aborts: the restart replays.
 */
#ifndef CORE_LOOP_H
#define CORE_LOOP_H

#include "core/history.h"
#include "core/prompt.h"

struct loop; /* in the job's arena: there is no loop_free() */

/* Borrows job and profile for the arena's life; job_bind() has joined them. */
struct loop *loop_new(struct arena *, const struct job *, const struct profile *);

/* *out stays valid until the next step. ST_DIVERGED: the fact answers no open call, or the loop has finished: a bug when
 * live; in replay the trail is not of this program. */
enum status loop_step(struct loop *, const struct fact *, struct loop_output *out) MUST_CHECK;

/* Open calls, lowest number first; at most LOOP_CALLS into @out. */
int loop_open(const struct loop *, const struct call *out[LOOP_CALLS]);

/* Whether one more attempt of an open call fits the job's caps, @n_maybe_billed of its attempts counted at their reserve:
 * STOP_NONE, STOP_budget or STOP_timeout. The driver asks before each retry. */
enum stop_reason loop_may_retry(const struct loop *, int call_no, int n_maybe_billed,
				int64_t active_ms);

/* The prompt of an open or past call. */
void loop_prompt(const struct loop *, const struct call *, struct prompt *out);

const struct history *loop_history(const struct loop *);

#endif
