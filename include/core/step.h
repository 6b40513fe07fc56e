/*
 * core/step.h - a step of a job: one fact, what it meant, what was decided. The unit of storage, replay and the chain.
 */
#ifndef CORE_STEP_H
#define CORE_STEP_H

#include "core/answer.h"
#include "core/critique.h"
#include "core/job.h"
#include "core/outcome.h"
#include "core/row.h"
#include "core/similarity.h"
#include "core/wire.h"

#define FACTS(X)                                                                                   \
	X(started)     /* the job and its pinned profile */                                        \
	X(replied)     /* a call's one stored reply */                                             \
	X(call_failed) /* the driver has stopped trying a call */                                  \
	X(resumed)     /* a worker took the job over and has replayed its steps */                 \
	X(stopped)     /* ended from outside, with its reason */
#define X(name) FACT_##name,
enum fact_type { FACTS(X) N_FACT_TYPES };
#undef X
const char *fact_name(enum fact_type);
enum fact_type fact_read(struct str name); /* N_FACT_TYPES: none of that name */

enum { LOOP_CALLS = 2 }; /* open at once */

struct fact {
	enum fact_type type;
	int64_t at_ms;	   /* Unix time; read for prices only */
	int64_t active_ms; /* how long the job has had a call open, all workers together; never falls */
	int call_no;	   /* replied, call_failed; else -1 */
	struct http_reply
		http; /* replied, call_failed: as received; borrowed until the step is stored. Neither status nor body: none; a tool's has no status */
	struct reply
		reply; /* replied, call_failed: as read by the wire format; in the job's arena */
	int64_t latency_ms; /* replied, call_failed: of the last attempt */
	int n_maybe_billed; /* replied, call_failed: earlier attempts of this call that may have been billed, for replied without the last */
	int lost[LOOP_CALLS]; /* resumed, stopped: attempts that may have been billed and that no step tells of: what was
				 under way and what broke off before; by open call, lowest number first */
	enum stop_reason stop; /* stopped */
};

struct draft {
	int no, from; /* from -1: written, not refined */
	struct str text;
	const struct field *field; /* of the text, see core/answer.h */
	int n_field;
	const struct check_result *result;
	int n_result, n_hard_failed, n_failed;
	int64_t score;		 /* of its latest valid critique; -1: none yet */
	const struct diff *diff; /* from draft `from`; n_diff 0 for a written one */
	int n_diff;
	int64_t changed_permille;	 /* of that diff; 0 for a written one */
	int n_kept, n_reverted;		 /* hunks of the refiner's reply; 0 for a written one */
	int64_t confidence_permille;	 /* -1: none given */
	uint8_t squeezed_sha[SHA_BYTES]; /* of its text_squeeze(): to find it again */
};

/* What became of a refiner's reply, see core/refine.h. */
struct refinement {
	int n_kept, n_reverted; /* hunks */
	struct str rejected;	/* why it is no draft; absent: it is one */
};

/* What the critic prefers of two drafts, one shown first. */
enum better { BETTER_invalid, BETTER_first, BETTER_second, BETTER_tie };
const char *better_name(enum better);

struct comparison {
	int first_no; /* the draft shown first, 0 or 1; the other is the other */
	enum better better;
	struct str reasons; /* absent if none */
	struct str fault;   /* why invalid; else absent */
};

/* The candidate that the loop goes on with, see core/compare.h. */
struct choice {
	int draft_no;
	struct str why; /* of CHOICES */
};

struct call {	/* a wish to spend: its intent is stored before it is sent */
	int no; /* 0,1,2.. in the job; at most one stored reply ever: the pay-once key */
	enum role role;
	int draft_no; /* what it judges, refines or examines; -1. Of two compared: the first shown */
	bool compares;		   /* a critic's: drafts 0 and 1 */
	int candidate;		   /* a generator's: which one, 0 or 1 */
	bool again;		   /* asked once more */
	const struct model *model; /* a tool's own, for a tool */
	int64_t max_output_tokens;
	int64_t end_ms;	    /* of the job's active time: then it is too late, see role_time.h */
	int64_t timeout_ms; /* what is left until then, at most the model's */
	int64_t reserve_tokens, reserve_micro_usd;
	int64_t ahead_tokens,
		ahead_micro_usd; /* to be left for what must follow, where the job can do without this call; else 0 */
};

struct finish {
	enum stop_reason why;
	int draft_no; /* the best; -1: none */
};

/* What loop_step() gives: one step, and calls or a finish. Lives in the job's arena until the next step. */
struct loop_output {
	int step_no;
	const struct draft *draft;	 /* made by this step, or NULL */
	const struct critique *critique; /* read by this step, also a tool's findings; or NULL */
	const struct refinement *refinement; /* of a refiner's reply, or NULL */
	const struct comparison *comparison; /* read by this step, or NULL */
	const struct choice *choice;	     /* made by this step, or NULL */
	enum role role;			     /* of the call that the fact is about, or ROLE_NONE */
	const struct model *model;	     /* asked by it, or NULL */
	int64_t cost_micro_usd;		     /* charged by this step */
	struct call call[LOOP_CALLS];	     /* to be sent once stored */
	int n_call;
	bool finished;
	struct finish finish;
	struct str
		action; /* `call ROLE CALLNO[, ROLE CALLNO]` | `wait` | `finish OUTCOME REASON` */
};

/* Everything of one step as it is stored. Made in the job's arena; outcome only with a finish. */
struct step_rows {
	struct step_row step;
	const struct draft_row *draft;
	const struct critique_row *critique;
	const struct issue_row *issue;
	int n_issue;
	const struct outcome_row *outcome;
	const struct outbox_row *event; /* of a finish: core/event.h makes them */
	int n_event;
};

struct history;

/* The action of @out as one line, in @a. */
struct str step_action(struct arena *a, const struct loop_output *out);

/* Fills *rows from fact and output: the profile's hash, digest, salted hashes, hash over @previous, and with a finish the outcome and its head.
 * @job_no, @worker_id: whose. @intents: bit mask over out->call. */
void step_rows(struct arena *, const struct job *, const struct profile *, const struct history *,
	       const struct fact *, const struct loop_output *, int64_t job_no, int64_t worker_id,
	       int64_t intents, const uint8_t previous[SHA_BYTES], struct step_rows *rows);

/* Replay: whether the stored row has the action and the digest that @out and its fact give today. ST_DIVERGED: *err says which. */
enum status step_compare(struct arena *, const struct job *, const struct loop_output *,
			 const struct step_row *stored, struct err *err) MUST_CHECK;

/* A stored row as the fact it came from; the wire format reads the reply anew. @model: that was asked, NULL if the fact is
 * about no call. ST_DIVERGED: a word in the row is not ours. */
enum status step_fact(struct arena *, const struct step_row *, const struct model *,
		      struct fact *out, struct err *) MUST_CHECK;

/* The chain's first link: row_digest() of the job's row. */
void step_first_hash(const struct job_row *, uint8_t out[SHA_BYTES]);

#endif
