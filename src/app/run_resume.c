/*
 * app/run_resume.c - a job that another worker left: its stored steps are fed in again, a turn each, and acted on by nobody, then
 * RESUMED, a step like any other, opens what is unanswered.
 */
#include "run_private.h"

#include "app/failpoint.h"
#include "base/clock.h"
#include "base/log.h"
#include "core/stakes.h"

struct replay {
	struct run *run;
	struct orphan_job *orphan;		       /* owned */
	int n_fed;				       /* of its steps */
	const struct step_row *opened[LOOP_CALLS_MAX]; /* by call: the latest step that opened it */
	bool intent[LOOP_CALLS_MAX]; /* ... and whether that step carries its intent */
};

/* ---- without the loop ---- */

/* The job as its row alone tells it: enough to say how it ended. */
static void job_of_row(struct run *r, const struct job_row *row)
{
	struct profile *p = arena_alloc(r->arena, sizeof(*p));
	struct job *job = arena_alloc(r->arena, sizeof(*job));

	p->name = arena_str(r->arena, row->profile);
	memcpy(p->sha, row->profile_sha, SHA_BYTES);
	job->source = arena_str(r->arena, row->source);
	job->id = arena_str(r->arena, row->id);
	job->revision = row->revision;
	job->batch = arena_str(r->arena, row->batch);
	job->tenant = arena_str(r->arena, row->tenant);
	job->subject = arena_str(r->arena, row->subject);
	job->traceparent = arena_str(r->arena, row->traceparent);
	memcpy(job->salt, row->salt, SALT_BYTES);
	stakes_stored(r->arena, job, row);
	r->profile = p;
	r->arm = arena_str(r->arena, row->arm);
	r->job = job;
}

static int64_t known(int64_t n)
{
	return n == ROW_NULL ? 0 : n;
}

/* What was stored, as far as an event tells it. */
static void history_of_rows(struct arena *a, const struct orphan_job *o, struct history *h)
{
	for (int i = 0; i < o->n_step; i++) {
		const struct step_row *s = &o->step[i];

		h->cost_micro_usd += s->cost_micro_usd;
		h->tokens_in += known(s->tokens_in);
		h->tokens_cached += known(s->tokens_cached);
		h->tokens_out += known(s->tokens_out);
		h->active_ms = s->active_ms;
		if (s->call_no != ROW_NULL && s->call_no >= h->n_calls)
			h->n_calls = (int)s->call_no + 1;
		h->n_iterations += str_is(s->class, reply_class_name(REPLY_complete)) &&
				   str_is(s->role, role_name(ROLE_CRITIC));
	}
	for (; h->n_draft < o->n_draft && h->n_draft < LOOP_DRAFTS; h->n_draft++) {
		const struct draft_row *d = &o->draft[h->n_draft];

		h->draft[h->n_draft] = (struct draft){
			.no = h->n_draft,
			.from = d->from_draft_no == ROW_NULL ? -1 : (int)d->from_draft_no,
			.text = arena_str(a, d->body),
			.score = -1,
			.changed_permille = d->changed_permille};
	}
}

static void end_outside(struct run *r, const struct orphan_job *o, enum stop_reason why)
{
	struct history *h = arena_alloc(r->arena, sizeof(*h));

	history_of_rows(r->arena, o, h);
	run_end_outside(
		r,
		&(struct loop_output){.step_no = o->n_step,
				      .finish = {why, why == STOP_poison ? -1 : h->n_draft - 1}},
		h);
}

/* ---- with the loop ---- */

/* The profile is of its time, the settings are of today. */
static enum status find_models(struct run *r, struct err *err)
{
	for (int i = 0; i < N_ROLES; i++) {
		const struct model *m = &r->profile->model[i];

		if (m->name.p && !service_of(r->runs, m))
			return err_set(err, ST_DIVERGED,
				       "its %s \"%.*s\" is no model of the settings", role_name(i),
				       STR_ARG(m->name));
	}
	return ST_OK;
}

static enum status read_job(struct run *r, const struct orphan_job *o, struct err *err)
{
	const struct job_row *row = o->job;
	struct profiles *profiles = r->runs->c.profiles;
	struct job *job = arena_alloc(r->arena, sizeof(*job));
	const struct profile *profile;

	if (profiles_pinned(profiles, row->profile_sha, o->profile_json, &profile, err) != ST_OK)
		return ST_DIVERGED;
	r->profile = profile;
	if (job_read_stored(r->arena, row, profiles_job_schema(profiles), job, err) != DEAD_NONE ||
	    job_bind(job, profile, err) != DEAD_NONE)
		return ST_DIVERGED;
	stakes_stored(r->arena, job, row);
	r->job = job;
	return find_models(r, err);
}

static const struct model *model_asked(const struct loop *l, const struct step_row *s)
{
	const struct call *open[LOOP_CALLS];
	const int n = loop_open(l, open);

	for (int i = 0; i < n; i++)
		if (open[i]->no == s->call_no)
			return open[i]->model;
	return NULL;
}

static enum status replay_step(struct replay *p, const struct step_row *s, struct err *err)
{
	struct run *r = p->run;
	struct fact f;

	if (step_fact(r->arena, s, model_asked(r->loop, s), &f, err) != ST_OK)
		return ST_DIVERGED;
	if (loop_step(r->loop, &f, &r->out) != ST_OK)
		return err_set(err, ST_DIVERGED, "step %d answers no open call", (int)s->step_no);
	if (step_compare(r->arena, r->job, &r->out, s, err) != ST_OK)
		return ST_DIVERGED;
	for (int i = 0; i < r->out.n_call; i++) {
		p->opened[r->out.call[i].no] = s;
		p->intent[r->out.call[i].no] = s->intents >> i & 1;
	}
	return ST_OK;
}

/* What the last worker left of an open call: its attempts that may have been billed. A row of an attempt tells how the one before
 * it ended; how the last one did is unknown. @active_ms: what the others took is added. */
static int lost_attempts(const struct replay *p, int call_no, int *last_attempt, int64_t *active_ms)
{
	const struct step_row *opened = p->opened[call_no];
	bool last = p->intent[call_no];
	int n_maybe_billed = 0;

	*last_attempt = 0;
	for (int i = 0; i < p->orphan->n_attempt; i++) {
		const struct attempt_row *t = &p->orphan->attempt[i];
		const enum reply_class class = reply_class_read(t->why);

		if (t->call_no != call_no)
			continue;
		*last_attempt = (int)t->attempt_no;
		if (t->worker_id != opened->worker_id)
			continue;
		last = true;
		*active_ms += known(t->latency_ms);
		n_maybe_billed += class < N_REPLY_CLASSES && reply_maybe_billed(class);
	}
	return n_maybe_billed + last;
}

/* ---- turn by turn ---- */

void replay_free(struct replay *p)
{
	if (p)
		orphan_free(p->orphan);
}

/* The orphan's rows are not read any more. */
static void leave_replay(struct run *r)
{
	replay_free(r->replay);
	r->replay = NULL;
	r->storing = false;
}

static enum status resume(struct replay *p, struct fact *resumed, struct err *err)
{
	const struct orphan_job *o = p->orphan;
	struct run *r = p->run;
	const struct call *open[LOOP_CALLS];
	const int n = loop_open(r->loop, open);

	if (!n)
		return err_set(err, ST_DIVERGED, "no call is open after %d steps", o->n_step);
	r->active_ms = o->step[o->n_step - 1].active_ms;
	*resumed = (struct fact){.type = FACT_resumed, .at_ms = clock_unix_ms(), .call_no = -1};
	for (int i = 0; i < n; i++)
		resumed->lost[i] =
			lost_attempts(p, open[i]->no, &r->last_attempt[i], &r->active_ms);
	resumed->active_ms = r->active_ms;
	return ST_OK;
}

static void diverge(struct run *r, const struct err *err)
{
	log_error("job_diverged", L_INT("job_no", r->job_no), L_STR("why", err->text));
	r->loop = NULL;
	end_outside(r, r->replay->orphan, STOP_diverged);
	replay_free(r->replay);
	r->replay = NULL;
}

/* The job, then each of its steps, then RESUMED. */
static void replay_turn(struct run *r)
{
	const struct run_hooks *hooks = r->runs->c.hooks;
	struct replay *p = r->replay;
	const struct orphan_job *o = p->orphan;
	struct fact resumed;
	struct err err = {""};
	enum status status = ST_OK;

	hooks->in_hand(r->runs->c.owner, NULL, r->job_no);
	if (!r->loop) {
		status = read_job(r, o, &err);
		if (status == ST_OK)
			r->loop = loop_new(r->arena, r->job, r->profile);
	} else if (p->n_fed < o->n_step) {
		failpoint("replay", o->job->id);
		status = replay_step(p, &o->step[p->n_fed++], &err);
	}
	hooks->in_hand(r->runs->c.owner, NULL, 0);
	if (status == ST_OK && p->n_fed < o->n_step) {
		run_next_turn(r, replay_turn);
		return;
	}
	if (status == ST_OK)
		status = resume(p, &resumed, &err);
	if (status != ST_OK) {
		diverge(r, &err);
		return;
	}
	leave_replay(r);
	run_feed(r, &resumed);
}

void runs_orphan(struct runs *rs, struct orphan_job *o)
{
	struct run *r = run_new(rs);

	metrics_add(rs->c.metrics, jobs_taken_over_total, 1, 0);
	run_set_number(r, o->job->job_no);
	r->replay = arena_alloc(r->arena, sizeof(*r->replay));
	*r->replay = (struct replay){.run = r, .orphan = o};
	job_of_row(r, o->job);
	if (o->n_step)
		memcpy(r->head, o->step[o->n_step - 1].hash, SHA_BYTES);
	if (o->n_strike >= STRIKES_MAX) {
		end_outside(r, o, STOP_poison);
		replay_free(r->replay);
		r->replay = NULL;
		return;
	}
	r->storing = true; /* nothing else is fed meanwhile */
	run_next_turn(r, replay_turn);
}
