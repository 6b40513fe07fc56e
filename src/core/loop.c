/*
 * core/loop.c - the critic-refiner loop. Read from the bottom: loop_step() takes a fact; a reply goes to generated(), compared(),
 * critiqued() or refined(); each ends in ask(), which passes the guards, or in finish().
 */
#include "core/loop.h"

#include "call_prompt.h"
#include "charge.h"
#include "core/anchor.h"
#include "core/compare.h"
#include "core/ground.h"
#include "core/refine.h"
#include "role_time.h"
#include "stuck.h"

struct loop {
	struct arena *arena;
	const struct job *job;
	const struct profile *profile;
	struct history history;
	struct call open[LOOP_CALLS]; /* by number */
	int n_open;
	int n_step;
	bool finished;
};

/* ---- exits and calls ---- */

static void finish(struct loop *l, struct loop_output *out, enum stop_reason why, int draft_no)
{
	l->finished = true;
	l->n_open = 0;
	out->n_call = 0;
	out->finished = true;
	out->finish = (struct finish){why, draft_no};
}

static void give_up(struct loop *l, struct loop_output *out, enum stop_reason why)
{
	finish(l, out, why, history_best_draft(&l->history));
}

/* A draft that may ship, if its stakes allow. */
static void accept(struct loop *l, struct loop_output *out, enum stop_reason why, int draft_no)
{
	finish(l, out, l->job->stakes == STAKES_HIGH ? STOP_high_stakes : why, draft_no);
}

/* STOP_NONE: the call may be sent @n times. Open calls count with their reserves. */
static enum stop_reason guard(const struct loop *l, const struct call *c, int n, int64_t active_ms)
{
	const struct history *h = &l->history;
	const struct limits *max = &l->job->limits;
	int64_t tokens = h->tokens_in + h->tokens_out + n * c->reserve_tokens + c->ahead_tokens;
	int64_t micro_usd = h->cost_micro_usd + n * c->reserve_micro_usd + c->ahead_micro_usd;

	for (int i = 0; i < l->n_open; i++) {
		if (l->open[i].no == c->no)
			continue;
		tokens += l->open[i].reserve_tokens;
		micro_usd += l->open[i].reserve_micro_usd;
	}
	if (tokens > max->tokens || micro_usd > max->micro_usd)
		return STOP_budget;
	return active_ms >= c->end_ms ? STOP_timeout : STOP_NONE;
}

/* Sends @c, if no guard says no. */
static enum stop_reason send(struct loop *l, struct loop_output *out, struct call *c)
{
	const enum stop_reason why = guard(l, c, 1, l->history.active_ms);
	const int64_t left_ms = c->end_ms - l->history.active_ms;

	if (why != STOP_NONE)
		return why;
	c->timeout_ms = c->model->timeout_ms < left_ms ? c->model->timeout_ms : left_ms;
	out->call[out->n_call++] = *c;
	return STOP_NONE;
}

/* Opens a call, if no guard says no. */
static enum stop_reason try_ask(struct loop *l, const struct fact *f, struct loop_output *out,
				struct call c)
{
	c.no = l->history.n_calls;
	c.end_ms = role_time_end_ms(l->profile, &l->job->limits, c.role, c.compares,
				    l->history.active_ms);
	charge_ahead(l->arena, l->profile, l->job, &l->history, f->at_ms, &c);
	const enum stop_reason why = send(l, out, &c);
	if (why != STOP_NONE)
		return why;
	l->history.n_calls++;
	l->open[l->n_open++] = out->call[out->n_call - 1];
	return STOP_NONE;
}

/* Opens a call that the job cannot do without. */
static void ask(struct loop *l, const struct fact *f, struct loop_output *out, struct call c)
{
	const enum stop_reason why = try_ask(l, f, out, c);

	if (why != STOP_NONE)
		give_up(l, out, why);
}

static void in_vain(struct loop *l, const struct fact *f, const struct call *c,
		    struct loop_output *out, enum stop_reason why);

/* Each call may be asked once more, for whatever defect; the second reply's own defect names the reason. */
static void ask_again(struct loop *l, const struct fact *f, struct loop_output *out,
		      const struct call *c, int64_t max_output_tokens, enum stop_reason else_why)
{
	struct call again = *c;

	again.again = true;
	again.max_output_tokens = max_output_tokens;
	const enum stop_reason why = c->again ? else_why : try_ask(l, f, out, again);
	if (why != STOP_NONE)
		in_vain(l, f, c, out, why);
}

/* ---- replies by role ---- */

/* A draft that every tool has examined. */
static void examined(struct loop *l, const struct fact *f, const struct draft *d,
		     struct loop_output *out)
{
	const struct profile *p = l->profile;
	const bool written = d->from < 0, oneshot = written && p->mode == MODE_ONESHOT;

	if (oneshot &&
	    (d->n_hard_failed || ground_findings(&l->history, d->no, p->severity_threshold, NULL)))
		give_up(l, out, STOP_checks_failed);
	else if (oneshot)
		accept(l, out, STOP_oneshot, d->no);
	else if (written && l->job->stakes == STAKES_LOW && !d->n_failed && p->gate &&
		 d->confidence_permille >= p->gate_permille &&
		 !ground_findings(&l->history, d->no, 1, NULL))
		accept(l, out, STOP_confidence_gate, d->no);
	else
		ask(l, f, out, (struct call){.role = ROLE_CRITIC, .draft_no = d->no});
}

static void examine_next(struct loop *l, const struct fact *f, const struct draft *d,
			 struct loop_output *out)
{
	const int i = ground_next(l->profile, &l->history, d->no);

	if (i == l->profile->n_tool)
		examined(l, f, d, out);
	else
		ask(l, f, out,
		    (struct call){.role = ROLE_TOOL,
				  .draft_no = d->no,
				  .model = &l->profile->tool[i].model});
}

/* Its answer, or that it has none: then nothing passes. */
static void tool_ended(struct loop *l, const struct fact *f, const struct call *c,
		       struct loop_output *out)
{
	out->critique = ground_take(l->arena, l->profile, &l->history, c, &f->reply);
	if (out->critique->valid)
		examine_next(l, f, &l->history.draft[c->draft_no], out);
	else
		give_up(l, out, STOP_request_failed);
}

/* The candidates are there: the critic compares them, or one is chosen. */
static void compare(struct loop *l, const struct fact *f, struct loop_output *out)
{
	struct choice *choice = arena_alloc(l->arena, sizeof(*choice));
	const struct call c = {
		.role = ROLE_CRITIC, .draft_no = l->history.n_comparison, .compares = true};

	if (!compare_choose(&l->history, true, choice)) {
		if (try_ask(l, f, out, c) == STOP_NONE)
			return;
		(void)compare_choose(&l->history, false, choice);
	}
	l->history.choice = out->choice = choice;
	examine_next(l, f, &l->history.draft[choice->draft_no], out);
}

static void compared(struct loop *l, const struct fact *f, const struct call *c,
		     struct loop_output *out)
{
	struct comparison *now = &l->history.comparison[l->history.n_comparison];

	*now = (struct comparison){.first_no = c->draft_no};
	out->comparison = now;
	if (!comparison_read(l->arena, f->reply.text, l->history.draft, now)) {
		ask_again(l, f, out, c, c->max_output_tokens, STOP_critique_invalid);
		return;
	}
	l->history.n_comparison++;
	compare(l, f, out);
}

/* One candidate has been written, or could not be for the reason @why: the other one is asked for, or what there is compared. */
static void next_candidate(struct loop *l, const struct fact *f, const struct call *c,
			   struct loop_output *out, enum stop_reason why)
{
	if (c->candidate == 0) {
		const enum stop_reason no = try_ask(
			l, f, out,
			(struct call){.role = ROLE_GENERATOR, .draft_no = -1, .candidate = 1});
		if (no == STOP_NONE)
			return;
		why = why == STOP_NONE ? no : why;
	}
	if (l->history.n_draft)
		compare(l, f, out);
	else
		give_up(l, out, why);
}

static void generated(struct loop *l, const struct fact *f, const struct call *c,
		      struct loop_output *out)
{
	struct answer answer;
	struct draft *d;

	if (!answer_read(l->arena, l->profile, c->role, f->reply.text, &answer)) {
		ask_again(l, f, out, c, c->max_output_tokens, STOP_refused);
		return;
	}
	out->draft = d =
		history_add_draft(&l->history, l->arena, l->profile, l->job, &answer, -1, NULL, 0);
	if (l->profile->candidates > 1)
		next_candidate(l, f, c, out, STOP_NONE);
	else
		examine_next(l, f, d, out);
}

/* A critique that could be read: pass, ask once more, stop, or refine. */
static void judged(struct loop *l, const struct fact *f, const struct call *c,
		   const struct critique *now, struct loop_output *out)
{
	enum stop_reason why;
	int n;

	history_actionable(&l->history, l->arena, l->profile, now->draft_no, &n);
	if (n == 0 && critique_passes(l->profile, now) &&
	    anchor_missing(now, l->profile->severity_threshold) == 0) {
		l->history.n_iterations++;
		accept(l, out, STOP_no_issues, now->draft_no);
		return;
	}
	if (n == 0) {
		l->history.n_iterations += c->again;
		ask_again(l, f, out, c, c->max_output_tokens, STOP_unactionable);
		return;
	}
	l->history.n_iterations++;
	why = stuck_critique(&l->history, l->arena, l->profile, now);
	if (why != STOP_NONE)
		give_up(l, out, why);
	else if (l->history.n_iterations >= l->job->limits.iterations)
		give_up(l, out, STOP_max_iterations);
	else
		ask(l, f, out, (struct call){.role = ROLE_REFINER, .draft_no = now->draft_no});
}

static void critiqued(struct loop *l, const struct fact *f, const struct call *c,
		      struct loop_output *out)
{
	struct draft *d = &l->history.draft[c->draft_no];
	struct critique *now = history_add_critique(&l->history);

	critique_read(l->arena, l->profile, l->job, f->reply.text, d->text, now);
	if (now->valid && call_is_copied(l->arena, l->profile, l->job, &l->history, c, now))
		critique_refuse_copy(now);
	now->draft_no = d->no;
	out->critique = now;
	if (!now->valid) {
		ask_again(l, f, out, c, c->max_output_tokens, STOP_critique_invalid);
		return;
	}
	d->score = now->score;
	judged(l, f, c, now, out);
}

static void refined(struct loop *l, const struct fact *f, const struct call *c,
		    struct loop_output *out)
{
	struct answer answer;
	struct refinement *made;
	const struct draft *d;
	enum stop_reason why;

	if (!answer_read(l->arena, l->profile, c->role, f->reply.text, &answer)) {
		ask_again(l, f, out, c, c->max_output_tokens, STOP_refused);
		return;
	}
	made = arena_alloc(l->arena, sizeof(*made));
	d = refine(&l->history, l->arena, l->profile, l->job, &answer, c->draft_no, made);
	out->refinement = made;
	out->draft = d;
	if (!d) {
		ask_again(l, f, out, c, c->max_output_tokens, STOP_no_progress);
		return;
	}
	why = stuck_draft(&l->history, d);
	if (why != STOP_NONE)
		give_up(l, out, why);
	else
		examine_next(l, f, d, out);
}

/* A call that brings nothing, for the reason @why. There may be another candidate, and a comparison is dispensable; else the job ends. */
static void in_vain(struct loop *l, const struct fact *f, const struct call *c,
		    struct loop_output *out, enum stop_reason why)
{
	if (c->compares) {
		l->history.comparison[l->history.n_comparison++].first_no = c->draft_no;
		compare(l, f, out);
	} else if (l->profile->candidates > 1 && c->role == ROLE_GENERATOR) {
		next_candidate(l, f, c, out, why);
	} else {
		give_up(l, out, why);
	}
}

/* ---- facts ---- */

static void replied(struct loop *l, const struct fact *f, const struct call *c,
		    struct loop_output *out)
{
	int64_t more = 2 * c->max_output_tokens;

	switch (f->reply.class) {
	case REPLY_truncated: /* asked again with the same cap it would end the same */
		if (more > c->model->max_output_tokens)
			more = c->model->max_output_tokens;
		if (more > c->max_output_tokens)
			ask_again(l, f, out, c, more, STOP_truncated);
		else
			in_vain(l, f, c, out, STOP_truncated);
		return;
	case REPLY_complete:
		if (c->role == ROLE_GENERATOR)
			generated(l, f, c, out);
		else if (c->compares)
			compared(l, f, c, out);
		else if (c->role == ROLE_CRITIC)
			critiqued(l, f, c, out);
		else if (c->role == ROLE_REFINER)
			refined(l, f, c, out);
		else
			tool_ended(l, f, c, out);
		return;
	default:
		in_vain(l, f, c, out, STOP_refused);
	}
}

/* The driver stopped trying: because a cap forbids one more attempt, or for the request itself. */
static void failed(struct loop *l, const struct fact *f, const struct call *c,
		   struct loop_output *out)
{
	const enum stop_reason why = guard(l, c, 1, l->history.active_ms);

	if (c->role == ROLE_TOOL)
		out->critique = ground_take(l->arena, l->profile, &l->history, c, &f->reply);
	in_vain(l, f, c, out, why != STOP_NONE ? why : STOP_request_failed);
}

/* Takes the call out of the open ones; false: it is not open. */
static bool close_call(struct loop *l, int call_no, struct call *c)
{
	for (int i = 0; i < l->n_open; i++) {
		if (l->open[i].no != call_no)
			continue;
		*c = l->open[i];
		memmove(&l->open[i], &l->open[i + 1], sizeof(*c) * (size_t)(--l->n_open - i));
		return true;
	}
	return false;
}

/* What the last worker's attempts may have cost is charged; every open call is sent again. */
static void resumed(struct loop *l, const struct fact *f, struct loop_output *out)
{
	charge_lost(&l->history, l->open, l->n_open, f->lost, out);
	for (int i = 0; i < l->n_open; i++) { /* a finish closes them all */
		struct call *c = &l->open[i], closed;
		const enum stop_reason why = send(l, out, c);
		if (why != STOP_NONE && close_call(l, c->no, &closed))
			in_vain(l, f, &closed, out, why);
	}
}

static bool answered(struct loop *l, const struct fact *f, struct loop_output *out)
{
	struct call c;

	if (!close_call(l, f->call_no, &c))
		return false;
	out->role = c.role;
	out->model = c.model;
	charge_reserve(&l->history, &c, f->n_maybe_billed, out);
	if (f->type == FACT_replied)
		charge_reply(&l->history, l->profile, f, &c, out);
	if (f->type == FACT_replied)
		replied(l, f, &c, out);
	else
		failed(l, f, &c, out);
	return true;
}

enum status loop_step(struct loop *l, const struct fact *f, struct loop_output *out)
{
	*out = (struct loop_output){.step_no = l->n_step, .role = ROLE_NONE};
	if (l->finished || (f->type == FACT_started) != (l->n_step == 0))
		return ST_DIVERGED;
	if (f->active_ms > l->history.active_ms)
		l->history.active_ms = f->active_ms;
	switch (f->type) {
	case FACT_started:
		ask(l, f, out, (struct call){.role = ROLE_GENERATOR, .draft_no = -1});
		break;
	case FACT_replied:
	case FACT_call_failed:
		if (!answered(l, f, out))
			return ST_DIVERGED;
		break;
	case FACT_resumed:
		resumed(l, f, out);
		break;
	case FACT_stopped:
		if (f->stop < STOP_expired || f->stop == STOP_NONE) /* the loop's own to give */
			return ST_DIVERGED;
		charge_lost(&l->history, l->open, l->n_open, f->lost, out);
		finish(l, out, f->stop,
		       f->stop == STOP_poison ? -1 : history_best_draft(&l->history));
		break;
	case N_FACT_TYPES:
		return ST_DIVERGED;
	}
	out->action = step_action(l->arena, out);
	l->n_step++;
	return ST_OK;
}

struct loop *loop_new(struct arena *a, const struct job *job, const struct profile *profile)
{
	struct loop *l = arena_alloc(a, sizeof(*l));

	l->arena = a;
	l->job = job;
	l->profile = profile;
	return l;
}

int loop_open(const struct loop *l, const struct call *out[LOOP_CALLS])
{
	for (int i = 0; i < l->n_open; i++)
		out[i] = &l->open[i];
	return l->n_open;
}

enum stop_reason loop_may_retry(const struct loop *l, int call_no, int n_maybe_billed,
				int64_t active_ms)
{
	for (int i = 0; i < l->n_open; i++)
		if (l->open[i].no == call_no)
			return guard(l, &l->open[i], 1 + n_maybe_billed, active_ms);
	BUG("call %d is not open", call_no);
}

void loop_prompt(const struct loop *l, const struct call *c, struct prompt *out)
{
	call_prompt(l->arena, l->profile, l->job, &l->history, c, out);
}

const struct history *loop_history(const struct loop *l)
{
	return &l->history;
}
