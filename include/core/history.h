/*
 * core/history.h - what the loop has made of a job so far: drafts with their checks, critiques, and what was spent. For decisions, events,
 * case files and prompts. Only the loop changes it; all of it lives in the job's arena.
 */
#ifndef CORE_HISTORY_H
#define CORE_HISTORY_H

#include "core/step.h"
#include "core/tool.h"

/* Drafts: the first, a second candidate, and a refinement for each further iteration. Critiques: each once more. Examinations: each tool, each
 * draft. Calls: a model's may be asked once more; a second candidate and two comparisons are three besides. */
enum {
	LOOP_DRAFTS = ITERATIONS_MAX + CANDIDATES_MAX - 1,
	LOOP_CRITIQUES = 2 * ITERATIONS_MAX,
	LOOP_EXAMINATIONS = TOOLS_MAX * LOOP_DRAFTS,
	LOOP_COMPARISONS = 2,
	LOOP_CALLS_MAX = 4 * ITERATIONS_MAX + 6 + LOOP_EXAMINATIONS
};

struct history {
	struct draft draft[LOOP_DRAFTS];
	int n_draft;
	struct critique critique[LOOP_CRITIQUES];
	int n_critique;
	struct critique
		*examination; /* by tools, see core/ground.h; made when the first has ended */
	int n_examination;
	struct comparison comparison[LOOP_COMPARISONS];
	int n_comparison;
	const struct choice
		*choice;  /* among the candidates; NULL: not made, or there is one alone */
	int n_iterations; /* critiques that counted: valid and final for their draft */
	int n_calls;	  /* opened, asked-again ones included */
	int64_t tokens_in, tokens_cached,
		tokens_out; /* as billed; maybe-billed attempts at their reserve, in tokens_in */
	int64_t cost_micro_usd;
	int64_t active_ms;
};

/* A draft more, under all checks of profile and job. @from: the draft that it refines; -1: written anew. @diff: from that one, if it is
 * known, else NULL. */
struct draft *history_add_draft(struct history *, struct arena *, const struct profile *,
				const struct job *, const struct answer *, int from,
				const struct diff *diff, int n_diff);

/* One more, to be filled. */
struct critique *history_add_critique(struct history *);

/* The one that counts for a draft: its latest valid one; NULL: none. */
const struct critique *history_critique_of(const struct history *, int draft_no);

/* The best draft's number, which every exit names that did not pass one: fewest failed hard checks, then score, then latest; not a candidate
 * that another was chosen over. -1: none. */
int history_best_draft(const struct history *);

/* The issues of a draft that the refiner is told: at or over the threshold, red checks first, then what tools found. They block a pass, and so
 * do such as are left out here: unanchored ones of the critic, see core/anchor.h. */
const struct issue *history_actionable(const struct history *, struct arena *,
				       const struct profile *, int draft_no, int *n);

#endif
