/*
 * trace.h - a golden trace: one job told as text, read from tests/trace/NAME.trace.
 *
 *	# what it shows
 *	profile {"limits":{"iterations":1}}        what differs from tests/data/profile.json; may stand several times
 *	job {"stakes":"high"}                      what differs from {"id":"a","profile":"letter"}
 *
 *	started                                 => call generator 0
 *	replied 0 "Dear Ms Sato, .."            => call critic 1
 *	replied 1 {"issues":[],"score":92,"verdict":"pass"} => finish passed no_issues
 *	best 0
 *
 * One line a step: the fact, `=>`, the action as step_action() writes it. Facts:
 *
 *	started | resumed | stopped REASON
 *	replied CALL TEXT         the model's text, or what a tool answered: a JSON string, or a JSON object or array as it stands
 *	call_failed CALL CLASS    a class of core/wire.h; of a tool: rejected (it did not end well) or unsent
 *
 * and behind them any of:
 *
 *	active MS                 active time of the job by now; else as before
 *	lost N                    resumed, stopped: attempts of the open call that were lost, see core/step.h
 *	maybe_billed N            replied, call_failed: attempts that may have been billed, see core/step.h
 *	truncated | finish_reason WORD | refused    how the reply ended; refused: the text is the refusal
 *	tokens IN OUT | cached N | untold           what it used (100 and 50); untold: it does not say
 *	from MODEL                                  which model answered, if another than was asked
 *
 * Lines behind a step tell of the call that it opens:
 *
 *	asks TEXT | asks_not TEXT     its prompt has this in it, or has not
 *	output_cap TOKENS             its max_output_tokens
 *	time_left MS                  its timeout
 *
 * and of what it made, after two candidates:
 *
 *	chosen DRAFT WHY              see core/compare.h
 *
 * and behind the last step, which must be a finish: `best DRAFT` or `best none`, and if it matters `iterations N`, `calls N`,
 * `used TOKENS`, `cost MICRO_USD`.
 */
#ifndef TRACE_H
#define TRACE_H

#include "../lib/loop_case.h"
#include "core/step.h"

enum { TRACE_STEPS_MAX = 40, TRACE_TEXTS_MAX = 8 };

struct trace_step {
	int line;
	enum fact_type type;
	int call_no;
	struct completion reply;
	enum reply_class class; /* call_failed */
	int64_t active_ms;	/* -1: as before */
	int n_maybe_billed;
	int n_lost;
	enum stop_reason stop;
	struct str action;
	struct str has[TRACE_TEXTS_MAX], has_not[TRACE_TEXTS_MAX];
	int n_has, n_has_not;
	int64_t chosen_no; /* -1: not told */
	struct str chosen_by;
	int64_t output_cap, time_left_ms; /* -1: not told */
};

struct trace {
	const char *path;
	struct str profile, job; /* JSON, patched */
	struct trace_step step[TRACE_STEPS_MAX];
	int n_step;
	int64_t best_draft_no;					    /* -1: none */
	int64_t n_iterations, n_calls, used_tokens, cost_micro_usd; /* -1: not told */
};

/* Lives in @a. A line that cannot be read ends the program. */
void trace_read(struct arena *a, const char *path, struct trace *out);

#endif
