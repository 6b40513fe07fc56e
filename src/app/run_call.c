/*
 * app/run_call.c - one open call: slot, send, reply, and again by the class of its failure. The loop sees the answer, or the
 * end of trying.
 */
#include "run_private.h"

#include "app/failpoint.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "core/tool.h"

#include <stdio.h>

enum {
	ASK_AGAIN_MS = 500, /* until lease, database and credential let it be sent */
	LISTEN_MS = 60000,  /* in a long pause: whether the model is heard again */
	TELL_AGAIN_MS = 60000
};

/* ---- send ---- */

static void on_wire(struct run *r, int change)
{
	const int64_t now = clock_mono_ms();

	if (r->n_on_wire)
		r->active_ms += now - r->active_since_mono_ms;
	r->active_since_mono_ms = now;
	r->n_on_wire += change;
}

static void post(struct run_call *c, int64_t timeout_ms)
{
	struct run *r = c->run;
	struct prompt p = PROMPT;
	struct buf body = BUF(REQUEST_BYTES_MAX);

	loop_prompt(r->loop, &c->call, &p);
	c->call.model->wire->request(c->call.model, &p, c->call.max_output_tokens, &body);
	prompt_release(&p);
	c->key_no = credential_put(c->service->credential, &c->service->endpoint);
	c->transfer = model_post(r->runs->c.models, &c->service->endpoint, &body, timeout_ms,
				 call_replied, c);
}

static void begin_attempt(struct run_call *c)
{
	struct run *r = c->run;
	int64_t timeout_ms = c->call.end_ms - run_active_ms(r);

	if (timeout_ms > c->call.timeout_ms)
		timeout_ms = c->call.timeout_ms;
	if (timeout_ms < 1)
		timeout_ms = 1;
	c->in_flight = true;
	on_wire(r, 1);
	if (!c->retry.n_failed)
		c->n_answered = limit_n_answered(c->service->limit);
	if (model_is_tool(c->call.model))
		tool_run(c, timeout_ms);
	else
		post(c, timeout_ms);
}

static void ring(struct run_call *c, reactor_fn *fn, int64_t delay_ms)
{
	timer_close(c->timer);
	c->timer = timer_new(c->run->runs->c.reactor, fn, c);
	timer_start(c->timer, delay_ms, 0);
}

/* Never buy what could not be stored, nor without a lease. */
static void send_call(void *owner)
{
	struct run_call *c = owner;
	const struct runs_config *cfg = &c->run->runs->c;

	if (c->run->runs->stopping)
		return;
	if (trail_is_up(cfg->trail) && cfg->hooks->may_act(cfg->owner) &&
	    (model_is_tool(c->call.model) || credential_ready(c->service->credential)))
		begin_attempt(c);
	else
		ring(c, send_call, ASK_AGAIN_MS);
}

/* ---- an intent of its own: for a call that waited, and for each retry ---- */

static void store_attempt(void *owner)
{
	struct run_call *c = owner;
	struct run *r = c->run;

	c->wait = NULL;
	c->has_slot = true;
	metrics_observe(r->runs->c.metrics, stage_seconds, clock_mono_ms() - c->asked_mono_ms,
			STAGE_slot);
	if (r->runs->stopping)
		return;
	if (r->storing)
		BUG("a write while another is unanswered: the loop opens one call at a time");
	c->attempt_no++;
	c->attempt.job_no = r->job_no;
	c->attempt.call_no = c->call.no;
	c->attempt.attempt_no = c->attempt_no;
	c->attempt.worker_id = trail_worker_id(r->runs->c.trail);
	c->attempt.at_ms = clock_unix_ms();
	r->storing = true;
	trail_attempt(r->runs->c.trail, &c->attempt, call_stored, c);
}

static void take_slot(void *owner)
{
	struct run_call *c = owner;

	if (c->run->runs->stopping)
		return;
	c->asked_mono_ms = clock_mono_ms();
	if (limit_take(c->service->limit, c->call.reserve_tokens))
		store_attempt(c);
	else
		c->wait = limit_wait(c->service->limit, c->call.reserve_tokens, store_attempt, c);
}

void call_stored(void *owner, enum stored how, const struct stored_why *why)
{
	struct run_call *c = owner;
	struct run *r = c->run;

	r->storing = false;
	if (how == STORED_REFUSED) {
		log_error("attempt_refused", L_INT("job_no", r->job_no),
			  L_STR("sqlstate", why->sqlstate), L_STR("text", why->text));
		r->stop = STOP_poison;
	}
	if (run_is_stopped(r))
		run_heed_stop(r);
	else
		send_call(c);
}

void call_begin(struct run *r, const struct call *call, bool has_slot, int attempt_no)
{
	struct run_call *c = arena_alloc(r->arena, sizeof(*c));

	r->call[r->n_call++] = c;
	*c = (struct run_call){.run = r,
			       .call = *call,
			       .attempt_no = attempt_no,
			       .service = service_of(r->runs, call->model),
			       .has_slot = has_slot};
	c->attempt = (struct attempt_row){
		.http_status = ROW_NULL, .latency_ms = ROW_NULL, .why = STR_OF("waited")};
	if (has_slot) {
		metrics_observe(r->runs->c.metrics, stage_seconds, 0, STAGE_slot);
		send_call(c);
	} else {
		take_slot(c);
	}
}

void call_drop(struct run_call *c)
{
	limit_cancel(c->wait);
	timer_close(c->timer);
	model_drop(c->transfer);
	child_cancel(c->child);
	if (c->transfer || c->child)
		on_wire(c->run, -1);
	if (c->has_slot)
		limit_return(c->service->limit, c->in_flight ? 0 : c->call.reserve_tokens);
	*c = (struct run_call){.run = c->run};
}

/* ---- reply ---- */

static void close_call(struct run *r, struct run_call *c)
{
	int i = 0;

	call_drop(c);
	while (r->call[i] != c)
		i++;
	memmove(&r->call[i], &r->call[i + 1], sizeof(c) * (size_t)(--r->n_call - i));
}

/* The answer, or the end of trying: a fact. The bytes are kept until its step is stored. */
static void feed(struct run_call *c, const struct http_reply *http, const struct reply *reply,
		 int64_t at_ms, int64_t latency_ms, bool answered)
{
	struct run *r = c->run;
	struct fact f = {.type = answered ? FACT_replied : FACT_call_failed,
			 .at_ms = at_ms,
			 .active_ms = r->active_ms,
			 .call_no = c->call.no,
			 .reply = *reply,
			 .latency_ms = latency_ms,
			 .n_maybe_billed = c->retry.n_maybe_billed};

	if (http->status || http->body.p) {
		buf_clear(&r->reply);
		buf_str(&r->reply, http->body);
		f.http = (struct http_reply){http->status, arena_str(r->arena, http->headers),
					     buf_view(&r->reply), http->whole};
	}
	close_call(r, c);
	run_feed(r, &f);
}

static uint32_t jitter(struct runs *rs)
{
	rs->random ^= rs->random << 13;
	rs->random ^= rs->random >> 17;
	rs->random ^= rs->random << 5;
	return rs->random;
}

static bool is_down(const struct service *s)
{
	return limit_breaker(s->limit) != BREAKER_CLOSED;
}

/* The model answered nobody else; and if the call's own time was up, it had at least the time that answers take. */
static bool seems_in_vain(const struct run_call *c, enum reply_class class, int64_t latency_ms)
{
	const struct limit *l = c->service->limit;

	return class != REPLY_rejected && limit_n_answered(l) == c->n_answered &&
	       (c->run->active_ms < c->call.end_ms || latency_ms > limit_slowest_ms(l));
}

/* A pause for the sake of money is over when others are answered. */
static void pause_call(void *owner)
{
	struct run_call *c = owner;
	const int64_t left_ms = c->again_mono_ms - clock_mono_ms();

	if (left_ms <= 0 || (c->listens && limit_n_answered(c->service->limit) > c->n_answered))
		take_slot(c);
	else
		ring(c, pause_call, left_ms < LISTEN_MS ? left_ms : LISTEN_MS);
}

/* True: it will be tried again after a while, or its job ends because the provider lets it wait past its not_after. */
static bool retry(struct run_call *c, const struct http_reply *http, const struct reply *reply,
		  bool in_vain, int64_t latency_ms)
{
	struct run *r = c->run;
	const int64_t wait_ms = retry_after_ms(&c->retry, reply->class, reply->retry_after_ms,
					       in_vain, jitter(r->runs));

	c->n_answered = limit_n_answered(c->service->limit);
	if (wait_ms < 0 ||
	    loop_may_retry(r->loop, c->call.no, c->retry.n_maybe_billed, r->active_ms) != STOP_NONE)
		return false;
	if (r->stop == STOP_NONE && run_has_expired(r, clock_unix_ms() + reply->retry_after_ms)) {
		r->stop = STOP_expired;
		run_heed_stop(r);
		return true;
	}
	c->attempt.why = str_c(reply_class_name(reply->class));
	c->attempt.http_status = http->status ? http->status : ROW_NULL;
	c->attempt.latency_ms = in_vain ? ROW_NULL : latency_ms;
	snprintf(c->detail, sizeof(c->detail), "%.*s", STR_ARG(reply->detail));
	c->attempt.detail = str_c(reply->detail.p ? c->detail : NULL);
	c->again_mono_ms = clock_mono_ms() + wait_ms;
	c->listens = reply_maybe_billed(reply->class) && reply->retry_after_ms < 0;
	pause_call(c);
	return true;
}

static void classify(struct arena *a, const struct run_call *c, enum sent sent,
		     const struct http_reply *http, int64_t at_ms, const char *why,
		     struct reply *out)
{
	*out = (struct reply){.usage = {.in = -1, .out = -1}, .retry_after_ms = -1};
	if (sent == SENT_WHOLE) {
		c->call.model->wire->reply(http, at_ms, a, out);
		if (out->detail.p && credential_is_quoted(c->service->credential, out->detail))
			out->detail = STR_OF("(it quotes the key)");
		return;
	}
	out->class = sent == SENT_NOTHING   ? REPLY_unsent
		     : sent == SENT_REFUSED ? REPLY_credentials
					    : REPLY_broken_off;
	out->detail = text_to_utf8(a, arena_str(a, str_c(why)));
}

/* The provider's words only where they cannot quote a text or a key. */
static void log_failure(const struct run_call *c, const struct reply *reply, int status)
{
	const struct str detail = status == 0 || status == 404 ? reply->detail : str_c(NULL);

	log_warn("call_failed", L_INT("job_no", c->run->job_no), L_INT("call_no", c->call.no),
		 L_STRN("model", c->call.model->id), L_STR("class", reply_class_name(reply->class)),
		 L_INT("http_status", status), L_STRN("detail", detail));
}

/* Each minute, as long as it is so: nothing goes on until a person has mended it. */
static void tell_credentials(struct service *s, const struct reply *reply, int status)
{
	const int64_t now = clock_mono_ms();

	if (reply->class != REPLY_credentials ||
	    (s->told_credentials_mono_ms && now - s->told_credentials_mono_ms < TELL_AGAIN_MS))
		return;
	s->told_credentials_mono_ms = now;
	log_error("credentials_refused", L_STRN("provider", s->model->provider),
		  L_STRN("model", s->model->id), L_INT("http_status", status),
		  L_STR("mend",
			"the key, the account's money or rights, or the model's id; its jobs "
			"wait, none is taken in"));
}

/* Said once: an alias would say it with each reply. */
static void tell_other_model(struct service *s, const struct reply *reply)
{
	if (s->told_other || !reply->model.n || model_is(s->model, reply->model))
		return;
	s->told_other = true;
	log_warn("other_model", L_STRN("asked", s->model->id), L_STRN("answered", reply->model));
}

_Static_assert(STAGE_critic - STAGE_generator == ROLE_CRITIC - ROLE_GENERATOR &&
		       STAGE_refiner - STAGE_generator == ROLE_REFINER - ROLE_GENERATOR &&
		       STAGE_tool - STAGE_generator == ROLE_TOOL - ROLE_GENERATOR,
	       "the roles' stages are in their order");

static void count_attempt(const struct run_call *c, enum reply_class class, int64_t latency_ms)
{
	struct metrics *m = c->run->runs->c.metrics;

	metrics_add(m, calls_total, 1, metrics_model(m, c->call.model), c->call.role, class);
	metrics_observe(m, stage_seconds, latency_ms, STAGE_generator + (int)c->call.role);
}

/* What an answer used; all that may have been, where that is not told. */
static int64_t unused_tokens(const struct run_call *c, const struct reply *reply)
{
	const int64_t reserve = c->call.reserve_tokens;
	int64_t used = reply_maybe_billed(reply->class) ? reserve : 0;

	if (reply->usage.in >= 0 && reply->usage.out >= 0)
		used = reply->usage.in + reply->usage.out;
	return used < reserve ? reserve - used : 0;
}

void call_replied(void *owner, enum sent sent, const struct http_reply *http, int64_t latency_ms,
		  const char *why)
{
	static const struct http_reply none;
	struct run_call *c = owner;
	const struct runs_config *cfg = &c->run->runs->c;
	const int64_t at_ms = clock_unix_ms();
	struct run *r = c->run;
	const int64_t active_before_ms = r->active_ms;
	struct arena *scratch; /* of failures: an outage of hours must not grow the job */
	struct reply reply;
	bool answered, renews, in_vain;

	c->transfer = NULL;
	on_wire(r, -1);
	if (sent != SENT_WHOLE)
		http = &none;
	scratch = http->status == 200 ? NULL : arena_new();
	cfg->hooks->in_hand(cfg->owner, NULL, r->job_no);
	failpoint("reply", r->job->id);
	classify(scratch ? scratch : r->arena, c, sent, http, at_ms, why, &reply);
	cfg->hooks->in_hand(cfg->owner, NULL, 0);
	c->has_slot = c->in_flight = false;
	renews = http->status == 401 && credential_refused(c->service->credential, c->key_no);
	in_vain = seems_in_vain(c, reply.class, latency_ms);
	if (renews) /* the model is not at fault, and no alarm is due */
		limit_return(c->service->limit, unused_tokens(c, &reply));
	else
		limit_give(c->service->limit,
			   &(struct attempt_end){reply.class, in_vain, latency_ms,
						 unused_tokens(c, &reply)});
	count_attempt(c, reply.class, latency_ms);
	answered = reply_is_answer(reply.class);
	if (answered)
		tell_other_model(c->service, &reply);
	else
		log_failure(c, &reply, http->status);
	if (!renews)
		tell_credentials(c->service, &reply, http->status);
	in_vain = !answered && (in_vain || is_down(c->service));
	if (in_vain)
		r->active_ms = active_before_ms; /* the time of an outage is not the job's */
	if (!answered && !renews && cfg->hooks->attempt_failed)
		cfg->hooks->attempt_failed(cfg->owner, c->call.model, &reply, http->status);
	if (answered || !retry(c, http, &reply, in_vain, latency_ms)) {
		if (scratch)
			classify(r->arena, c, sent, http, at_ms, why, &reply);
		feed(c, http, &reply, at_ms, latency_ms, answered);
	}
	arena_free(scratch);
}
