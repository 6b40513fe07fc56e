#include "run_private.h"

#include "app/failpoint.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

#include <search.h>

enum {
	TURN_MS = 1
}; /* so long the turns that are due are taken one after another, however small they are */

/* ---- turns ---- */

static void take_turns(void *owner)
{
	struct runs *rs = owner;
	const int64_t begin_ms = clock_mono_ms();
	struct run *r;

	while ((r = TAILQ_FIRST(&rs->due)) && clock_mono_ms() - begin_ms < TURN_MS) {
		run_fn *fn = r->turn;
		TAILQ_REMOVE(&rs->due, r, due);
		r->turn = NULL;
		fn(r);
	}
	if (r)
		timer_start(rs->turns, 0, 0);
}

void run_next_turn(struct run *r, run_fn *fn)
{
	r->turn = fn;
	TAILQ_INSERT_TAIL(&r->runs->due, r, due);
	timer_start(r->runs->turns, 0, 0);
}

/* ---- one job's life ---- */

struct run *run_new(struct runs *rs)
{
	struct arena *a = arena_new();
	struct run *r = arena_alloc(a, sizeof(*r));

	r->runs = rs;
	r->arena = a;
	r->profiles = profiles_hold(rs->c.profiles);
	r->stop = STOP_NONE;
	buf_init(&r->reply, REPLY_BYTES_MAX);
	LIST_INSERT_HEAD(&rs->all, r, link);
	rs->n++;
	return r;
}

static int by_number(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return (x->job_no > y->job_no) - (x->job_no < y->job_no);
}

void run_set_number(struct run *r, int64_t job_no)
{
	r->job_no = job_no;
	mem_must(tsearch(r, &r->runs->by_number, by_number));
}

static void drop_calls(struct run *r)
{
	for (int i = 0; i < r->n_call; i++)
		call_drop(r->call[i]);
	r->n_call = 0;
}

void run_free(struct run *r)
{
	drop_calls(r);
	if (r->turn)
		TAILQ_REMOVE(&r->runs->due, r, due);
	LIST_REMOVE(r, link);
	if (r->job_no)
		tdelete(r, &r->runs->by_number, by_number);
	r->runs->n--;
	buf_release(&r->reply);
	replay_free(r->replay);
	profiles_free(r->profiles);
	arena_free(r->arena);
}

int64_t run_active_ms(const struct run *r)
{
	return r->active_ms + (r->n_on_wire ? clock_mono_ms() - r->active_since_mono_ms : 0);
}

/* ---- step, store ---- */

/* A slot that is free now lets the step carry the call's intent; else the call waits and stores one of its own. */
static int64_t take_slots(struct run *r)
{
	int64_t intents = 0;

	for (int i = 0; i < r->out.n_call && !r->runs->stopping; i++) {
		const struct call *c = &r->out.call[i];
		if (limit_take(service_of(r->runs, c->model)->limit, c->reserve_tokens))
			intents |= (int64_t)1 << i;
	}
	return intents;
}

void run_make_events(struct run *r)
{
	const int draft_no = r->out.finish.draft_no;
	const struct history *h = r->history;
	const struct ending ending = {.job = r->job,
				      .profile = r->profile,
				      .arm = r->arm,
				      .history = h,
				      .outcome = r->rows.outcome,
				      .best = draft_no >= 0 ? &h->draft[draft_no] : NULL};

	r->rows.event =
		event_rows(r->arena, &ending, str_c(r->runs->c.settings->kafka_topic_prefix),
			   &r->rows.n_event);
}

static void make_rows(struct run *r, const struct history *h)
{
	const int64_t intents = r->out.finished ? 0 : take_slots(r);

	r->history = h;
	step_rows(r->arena, r->job, r->profile, h, &r->fact, &r->out, r->job_no,
		  trail_worker_id(r->runs->c.trail), intents, r->head, &r->rows);
	if (r->out.finished)
		drop_calls(r);
}

void run_step(struct run *r)
{
	if (loop_step(r->loop, &r->fact, &r->out) != ST_OK)
		BUG("job %lld: a fact that answers no open call", (long long)r->job_no);
	make_rows(r, loop_history(r->loop));
}

static void store(struct run *r)
{
	trail_step(r->runs->c.trail, &r->rows, run_stored, r);
}

static void take_in_hand(const struct run *r, int64_t job_no)
{
	r->runs->c.hooks->in_hand(r->runs->c.owner, NULL, job_no);
}

static void end_turn(struct run *r)
{
	take_in_hand(r, r->job_no);
	run_make_events(r);
	take_in_hand(r, 0);
	store(r);
}

static void step_turn(struct run *r)
{
	take_in_hand(r, r->job_no);
	failpoint("step", r->job->id);
	run_step(r);
	take_in_hand(r, 0);
	if (r->out.finished)
		run_next_turn(r, end_turn);
	else
		store(r);
}

void run_feed(struct run *r, const struct fact *f)
{
	if (r->storing)
		BUG("a fact while a step is unstored");
	r->fact = *f;
	r->storing = true;
	run_next_turn(r, step_turn);
}

void run_end_outside(struct run *r, const struct loop_output *end, const struct history *h)
{
	r->fact = (struct fact){.type = FACT_stopped,
				.at_ms = clock_unix_ms(),
				.call_no = -1,
				.active_ms = h->active_ms,
				.stop = end->finish.why};
	r->out = *end;
	r->out.role = ROLE_NONE;
	r->out.finished = true;
	r->out.action = step_action(r->arena, &r->out);
	make_rows(r, h);
	r->storing = true;
	run_next_turn(r, end_turn);
}

/* ---- stored: now, and only now, act ---- */

/* Attempts of an open call that may have been billed. */
static int lost_attempts(const struct run *r, int call_no)
{
	for (int i = 0; i < r->n_call; i++)
		if (r->call[i]->call.no == call_no)
			return r->call[i]->retry.n_maybe_billed + r->call[i]->in_flight;
	return 0;
}

/* What ends it from outside is a level: it holds until the loop has heard it. Its calls end before that, for it comes later: an answer
 * or a slot in the meantime would be one that nobody waits for. */
void run_heed_stop(struct run *r)
{
	struct fact f = {.type = FACT_stopped,
			 .at_ms = clock_unix_ms(),
			 .call_no = -1,
			 .active_ms = run_active_ms(r),
			 .stop = r->stop};
	const struct call *open[LOOP_CALLS];
	int n;

	if (r->stop == STOP_NONE || r->storing)
		return;
	n = loop_open(r->loop, open);
	for (int i = 0; i < n; i++)
		f.lost[i] = lost_attempts(r, open[i]->no);
	drop_calls(r);
	run_feed(r, &f);
}

void run_return_slots(struct run *r)
{
	for (int i = 0; i < r->out.n_call; i++) {
		const struct call *c = &r->out.call[i];
		if (r->rows.step.intents >> i & 1)
			limit_return(service_of(r->runs, c->model)->limit, c->reserve_tokens);
	}
}

bool run_has_expired(const struct run *r, int64_t unix_ms)
{
	return r->job->not_after_ms && unix_ms >= r->job->not_after_ms;
}

bool run_is_stopped(struct run *r)
{
	if (r->stop == STOP_NONE && run_has_expired(r, clock_unix_ms()))
		r->stop = STOP_expired; /* before anything is bought, not only at the next sweep */
	return r->stop != STOP_NONE;
}

static void act(struct run *r)
{
	if (run_is_stopped(r)) {
		run_return_slots(r);
		run_heed_stop(r);
		return;
	}
	for (int i = 0; i < r->out.n_call; i++)
		call_begin(r, &r->out.call[i], r->rows.step.intents >> i & 1, r->last_attempt[i]);
	memset(r->last_attempt, 0, sizeof(r->last_attempt));
}

/* PostgreSQL will not have this step's data: the job ends in its place, naming no draft. What the step cost was spent. */
static void refused(struct run *r, const struct stored_why *why)
{
	log_error("job_refused", L_INT("job_no", r->job_no), L_STR("sqlstate", why->sqlstate),
		  L_STR("text", why->text));
	if (!r->loop || (r->fact.type == FACT_stopped && r->fact.stop == STOP_poison)) {
		run_free(r); /* not even its end can be stored: its todo row stays for a person */
		return;
	}
	run_return_slots(r);
	run_end_outside(r,
			&(struct loop_output){.step_no = r->out.step_no,
					      .cost_micro_usd = r->out.cost_micro_usd,
					      .finish = {STOP_poison, -1}},
			loop_history(r->loop));
}

static void count_stored(const struct run *r)
{
	struct metrics *m = r->runs->c.metrics;
	const struct step_row *s = &r->rows.step;
	const int64_t n[] = {s->tokens_in, s->tokens_cached, s->tokens_out}; /* enum token_kind */
	const int model = metrics_model(m, r->out.model);

	metrics_add(m, cost_usd_total, s->cost_micro_usd, model);
	for (int i = 0; i < 3; i++)
		metrics_add(m, tokens_total, n[i] == ROW_NULL ? 0 : n[i], model, i);
	if (r->out.finished) {
		metrics_add(m, jobs_ended_total, 1, (int)r->out.finish.why);
		metrics_observe(m, stage_seconds, r->rows.outcome->active_ms, STAGE_job);
	}
}

void run_stored(void *owner, enum stored how, const struct stored_why *why)
{
	struct run *r = owner;
	const struct run_hooks *hooks = r->runs->c.hooks;

	r->storing = false;
	if (how == STORED_REFUSED) {
		refused(r, why);
		return;
	}
	memcpy(r->head, r->rows.step.hash, SHA_BYTES);
	buf_release(&r->reply);
	count_stored(r);
	if (hooks->stepped)
		hooks->stepped(r->runs->c.owner, &r->rows, &r->out,
			       r->loop ? loop_history(r->loop) : NULL);
	if (!r->out.finished) {
		act(r);
		return;
	}
	hooks->ended(r->runs->c.owner, &r->rows);
	run_free(r);
}

/* ---- all jobs ---- */

void runs_stop(struct runs *rs)
{
	rs->stopping = true;
}

int runs_busy(const struct runs *rs)
{
	int n = 0;

	const struct run *r;

	LIST_FOREACH(r, &rs->all, link)
	n += r->storing || r->n_on_wire > 0 || !r->loop; /* no loop: a dead letter being stored */
	return n;
}

int runs_count(const struct runs *rs)
{
	return rs->n;
}

bool runs_has(const struct runs *rs, int64_t job_no)
{
	return tfind(&(struct run){.job_no = job_no}, &rs->by_number, by_number);
}

static bool is_down(struct runs *rs, const struct profile *p)
{
	for (int role = 0; role < N_ROLES; role++) {
		const struct model *m = &p->model[role];
		if (m->name.p && limit_breaker(service_of(rs, m)->limit) != BREAKER_CLOSED)
			return true;
	}
	return false;
}

/* Somebody must probe; where calls hang, one more, for the request of a single job may be at fault itself. */
static int n_witness(const struct runs *rs)
{
	const struct service *s;

	TAILQ_FOREACH(s, &rs->services, link)
	if (limit_hangs(s->limit))
		return 2;
	return 1;
}

int runs_may_begin(struct runs *rs, int n)
{
	const struct profile *p;

	for (int i = 0; n > 0 && (p = profiles_at(rs->c.profiles, i)); i++)
		if (!is_down(rs, p))
			return n;
	return n > 0 && rs->n < n_witness(rs);
}

void runs_sweep(struct runs *rs, int64_t unix_ms)
{
	for (struct run *r = LIST_FIRST(&rs->all), *next; r; r = next) {
		next = LIST_NEXT(r, link);
		if (!r->loop || !run_has_expired(r, unix_ms) || r->stop != STOP_NONE)
			continue;
		r->stop = STOP_expired;
		run_heed_stop(r);
	}
}

enum status runs_new(const struct runs_config *c, struct runs **out, struct err *err)
{
	struct arena *a = arena_new();
	struct runs *rs = arena_alloc(a, sizeof(*rs));

	*rs = (struct runs){.c = *c, .arena = a};
	services_open(rs);
	TAILQ_INIT(&rs->due);
	rs->turns = timer_new(c->reactor, take_turns, rs);
	rs->c.profiles = NULL;
	rs->random = (uint32_t)clock_mono_ms() * 2654435761u | 1;
	*out = rs;
	if (runs_use(rs, c->profiles, err) == ST_OK)
		return ST_OK;
	runs_free(rs);
	*out = NULL;
	return ST_INVALID;
}

void runs_free(struct runs *rs)
{
	if (!rs)
		return;
	while (!LIST_EMPTY(&rs->all))
		run_free(LIST_FIRST(&rs->all));
	timer_close(rs->turns);
	services_free(rs);
	profiles_free(rs->c.profiles);
	arena_free(rs->arena);
}
