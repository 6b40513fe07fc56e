/*
 * core/loop.c - the critic-refiner loop. Read from the bottom: loop_step() takes a fact; a reply goes to generated(),
 * critiqued() or refined(); each ends in ask(), which passes the guards, or in finish().
 */
#include "core/loop.h"

#include "core/anchor.h"
#include "core/copied.h"
#include "core/cost.h"
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
	int64_t tokens = h->tokens_in + h->tokens_out + n * c->reserve_tokens;
	int64_t micro_usd = h->cost_micro_usd + n * c->reserve_micro_usd;

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

/* INT64_MAX: over the ceiling of a prompt; no cap allows it. */
static int64_t prompt_bytes(const struct loop *l, const struct call *c)
{
	struct prompt p = PROMPT;
	int64_t n;

	loop_prompt(l, c, &p);
	n = p.system.full || p.user.full || p.schema.full
		    ? INT64_MAX
		    : (int64_t)(p.system.n + p.user.n + p.schema.n);
	prompt_release(&p);
	return n;
}

/* Opens @c, or ends the job where a guard says no. */
static void open_call(struct loop *l, struct loop_output *out, struct call *c)
{
	const enum stop_reason why = guard(l, c, 1, l->history.active_ms);
	const int64_t left_ms = c->end_ms - l->history.active_ms;

	if (why != STOP_NONE) {
		give_up(l, out, why);
		return;
	}
	c->timeout_ms = c->model->timeout_ms < left_ms ? c->model->timeout_ms : left_ms;
	out->call[out->n_call++] = *c;
}

static void ask(struct loop *l, const struct fact *f, struct loop_output *out, struct call c)
{
	c.no = l->history.n_calls;
	if (!c.model)
		c.model = &l->profile->model[c.role];
	if (!c.max_output_tokens && c.role != ROLE_TOOL)
		c.max_output_tokens = l->profile->output_tokens[c.role];
	c.end_ms = role_time_end_ms(l->profile, &l->job->limits, c.role, l->history.active_ms);
	const int64_t bytes = prompt_bytes(l, &c);
	c.reserve_tokens = reserve_tokens(c.model, bytes, c.max_output_tokens);
	c.reserve_micro_usd = reserve_micro_usd(c.model, bytes, c.max_output_tokens, f->at_ms);
	open_call(l, out, &c);
	if (out->finished)
		return;
	l->history.n_calls++;
	l->open[l->n_open++] = out->call[out->n_call - 1];
}

/* Each call may be asked once more, for whatever defect; the second reply's own defect names the reason. */
static void ask_again(struct loop *l, const struct fact *f, struct loop_output *out,
		      const struct call *c, int64_t max_output_tokens, enum stop_reason else_why)
{
	if (c->again)
		give_up(l, out, else_why);
	else
		ask(l, f, out,
		    (struct call){.role = c->role,
				  .draft_no = c->draft_no,
				  .again = true,
				  .max_output_tokens = max_output_tokens});
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

/* Whether a valid critique is nothing but a part of its own prompt. */
static bool is_copied(const struct loop *l, const struct call *c, const struct critique *now)
{
	struct prompt p = PROMPT;
	bool copied;

	if (!now->valid)
		return false;
	loop_prompt(l, c, &p);
	copied = copied_from(l->profile, now, &p);
	prompt_release(&p);
	return copied;
}

static void critiqued(struct loop *l, const struct fact *f, const struct call *c,
		      struct loop_output *out)
{
	struct draft *d = &l->history.draft[c->draft_no];
	struct critique *now = history_add_critique(&l->history);

	critique_read(l->arena, l->profile, l->job, f->reply.text, d->text, now);
	if (is_copied(l, c, now))
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

/* ---- facts ---- */

static void charge_reserve(struct loop *l, const struct call *c, struct loop_output *out)
{
	l->history.tokens_in += c->reserve_tokens;
	out->cost_micro_usd += c->reserve_micro_usd;
}

/* By the model that answered, where the profile has its prices. */
static void charge_reply(struct loop *l, const struct fact *f, const struct call *c,
			 struct loop_output *out)
{
	const struct model *answered = c->model;

	if (f->reply.usage.in < 0 || f->reply.usage.out < 0) {
		charge_reserve(l, c, out);
		return;
	}
	for (int i = 0; i < N_ROLES && !model_is(answered, f->reply.model); i++)
		if (model_is(&l->profile->model[i], f->reply.model))
			answered = &l->profile->model[i];
	l->history.tokens_in += f->reply.usage.in;
	l->history.tokens_cached += f->reply.usage.cached;
	l->history.tokens_out += f->reply.usage.out;
	out->cost_micro_usd += cost_micro_usd(answered, f->reply.usage, f->at_ms);
}

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
			give_up(l, out, STOP_truncated);
		return;
	case REPLY_complete:
		if (c->role == ROLE_GENERATOR)
			generated(l, f, c, out);
		else if (c->role == ROLE_CRITIC)
			critiqued(l, f, c, out);
		else if (c->role == ROLE_REFINER)
			refined(l, f, c, out);
		else
			tool_ended(l, f, c, out);
		return;
	default:
		give_up(l, out, STOP_refused);
	}
}

/* The driver stopped trying: because a cap forbids one more attempt, or for the request itself. */
static void failed(struct loop *l, const struct fact *f, const struct call *c,
		   struct loop_output *out)
{
	const enum stop_reason why = guard(l, c, 1, l->history.active_ms);

	if (c->role == ROLE_TOOL)
		out->critique = ground_take(l->arena, l->profile, &l->history, c, &f->reply);
	give_up(l, out, why != STOP_NONE ? why : STOP_request_failed);
}

static void charge_lost(struct loop *l, const struct fact *f, struct loop_output *out)
{
	for (int i = 0; i < l->n_open; i++)
		for (int n = 0; n < f->lost[i]; n++)
			charge_reserve(l, &l->open[i], out);
	l->history.cost_micro_usd += out->cost_micro_usd;
}

/* What the last worker's attempts may have cost is charged; every open call is opened again. */
static void resumed(struct loop *l, const struct fact *f, struct loop_output *out)
{
	charge_lost(l, f, out);
	for (int i = 0; i < l->n_open; i++) /* a finish closes them all */
		open_call(l, out, &l->open[i]);
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

static bool answered(struct loop *l, const struct fact *f, struct loop_output *out)
{
	struct call c;

	if (!close_call(l, f->call_no, &c))
		return false;
	out->role = c.role;
	out->model = c.model;
	for (int i = 0; i < f->n_maybe_billed; i++)
		charge_reserve(l, &c, out);
	if (f->type == FACT_replied)
		charge_reply(l, f, &c, out);
	l->history.cost_micro_usd += out->cost_micro_usd;
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
		charge_lost(l, f, out);
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
	struct prompt_parts parts = {.again = c->again};

	if (c->role == ROLE_TOOL)
		return;
	if (c->draft_no >= 0) {
		const struct draft *d = &l->history.draft[c->draft_no];
		parts.draft = d->text;
		parts.field = d->field;
		parts.n_field = d->n_field;
		parts.result = d->result;
		parts.n_result = d->n_result;
		parts.examination = l->history.examination;
		parts.n_examination = l->history.n_examination;
		parts.draft_no = c->draft_no;
	}
	if (c->role == ROLE_REFINER)
		parts.issue = history_actionable(&l->history, l->arena, l->profile, c->draft_no,
						 &parts.n_issue);
	prompt_write(l->profile, l->job, c->role, c->no, &parts, out);
}

const struct history *loop_history(const struct loop *l)
{
	return &l->history;
}
