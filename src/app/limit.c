#include "app/limit.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdlib.h>

enum {
	BREAK_AFTER = 5, /* failures in a row */
	BREAK_FIRST_MS = 1000,
	BREAK_LAST_MS = 60000,
	BREAK_BILLED_LAST_MS = 300000, /* where a probe may cost */
	SILENT_MS = 10000,	       /* several wait for so long, and none is answered */
	RAMP_FIRST = 2,		       /* calls at once when it closes */
	RAMP_LAST = 1000,
	MICRO = 1000000,
};

struct limit_wait {
	struct limit *limit;
	struct limit_wait *next, **link;
	int64_t tokens;
	slot_fn *slot;
	void *owner;
};

struct bucket {		     /* of requests or of tokens: a rate and what may be spent now */
	int64_t per_minute;  /* 0 = no limit */
	int64_t level_micro; /* in millionths; negative: more was spent than there was */
	int64_t filled_mono_ms;
};

struct limit {
	struct timer *timer;
	char *name;
	struct bucket requests, tokens;
	int64_t concurrency; /* 0 = none */
	int n_workers;

	int64_t n_out; /* slots taken */

	struct limit_wait *first, **last;

	int64_t n_answered;
	int64_t several_mono_ms; /* since when more than one waits for an answer and none has come */
	int64_t slowest_ms;	 /* of the answers of late: each takes an eighth off an older one */
	int n_failed;		 /* in a row */
	bool hangs;		 /* the last failure may have been billed */
	int64_t break_ms, open_until_mono_ms; /* of the breaker; break_ms 0: closed */
	int64_t ramp; /* since it closed, most calls at once; 0: as many as the limits allow */
};

/* ---- rates: a bucket holds one second's worth, at least one ---- */

static int64_t rate_micro_per_s(const struct bucket *b, int n_workers)
{
	return b->per_minute * MICRO / 60 / n_workers;
}

static int64_t most_micro(const struct bucket *b, int n_workers)
{
	const int64_t rate = rate_micro_per_s(b, n_workers);

	return rate > MICRO ? rate : MICRO;
}

static void bucket_fill(struct bucket *b, int n_workers, int64_t now)
{
	const int64_t most = most_micro(b, n_workers);
	int64_t passed_ms = now - b->filled_mono_ms;

	if (passed_ms > 60000)
		passed_ms = 60000;
	b->level_micro += rate_micro_per_s(b, n_workers) * passed_ms / 1000;
	if (b->level_micro > most)
		b->level_micro = most;
	b->filled_mono_ms = now;
}

/* Milliseconds until @n may be spent. More than the bucket ever holds goes when it is full, and is a debt then. */
static int64_t bucket_wait_ms(struct bucket *b, int64_t n, int n_workers, int64_t now)
{
	int64_t need = most_micro(b, n_workers);

	if (!b->per_minute)
		return 0;
	if (n < need / MICRO)
		need = n * MICRO;
	bucket_fill(b, n_workers, now);
	if (b->level_micro >= need)
		return 0;
	return 1 + (need - b->level_micro) * 1000 / (rate_micro_per_s(b, n_workers) + 1);
}

static void bucket_spend(struct bucket *b, int64_t n)
{
	if (b->per_minute)
		b->level_micro -= n * MICRO;
}

static struct bucket bucket_of(int64_t per_minute)
{
	struct bucket b = {.per_minute = per_minute, .filled_mono_ms = clock_mono_ms()};

	b.level_micro = most_micro(&b, 1);
	return b;
}

/* ---- one slot ---- */

static int64_t most_out(const struct limit *l)
{
	const int64_t most = l->concurrency ? l->concurrency : INT64_MAX;

	if (l->break_ms)
		return 1; /* one probe at a time */
	return l->ramp && l->ramp < most ? l->ramp : most;
}

/* 0: there is one; else milliseconds until asking again is worth it, -1: until a slot is given back. */
static int64_t wait_ms(struct limit *l, int64_t tokens)
{
	const int64_t now = clock_mono_ms();
	int64_t requests_ms, tokens_ms;

	if (l->break_ms && now < l->open_until_mono_ms)
		return l->open_until_mono_ms - now;
	if (l->n_out >= most_out(l))
		return -1;
	requests_ms = bucket_wait_ms(&l->requests, 1, l->n_workers, now);
	tokens_ms = bucket_wait_ms(&l->tokens, tokens, l->n_workers, now);
	return requests_ms > tokens_ms ? requests_ms : tokens_ms;
}

static void take(struct limit *l, int64_t tokens)
{
	if (l->n_out++ == 1)
		l->several_mono_ms = clock_mono_ms();
	bucket_spend(&l->requests, 1);
	bucket_spend(&l->tokens, tokens);
}

static void unlink_wait(struct limit_wait *w)
{
	*w->link = w->next;
	if (w->next)
		w->next->link = w->link;
	else
		w->limit->last = w->link;
}

/* Gives what is free to those who wait, in their order. */
static void serve(void *owner)
{
	struct limit *l = owner;
	int64_t ms = -1;

	while (l->first && (ms = wait_ms(l, l->first->tokens)) == 0) {
		struct limit_wait *w = l->first;
		slot_fn *slot = w->slot;
		void *whose = w->owner;

		take(l, w->tokens);
		unlink_wait(w);
		free(w);
		slot(whose);
	}
	if (l->first && ms > 0)
		timer_start(l->timer, ms, 0);
}

static void serve_soon(struct limit *l)
{
	if (l->first)
		timer_start(l->timer, 0, 0);
}

bool limit_take(struct limit *l, int64_t tokens)
{
	if (l->first || wait_ms(l, tokens) != 0)
		return false;
	take(l, tokens);
	return true;
}

struct limit_wait *limit_wait(struct limit *l, int64_t tokens, slot_fn *slot, void *owner)
{
	struct limit_wait *w = calloc(1, sizeof(*w));

	if (!w)
		BUG("out of memory");
	*w = (struct limit_wait){
		.limit = l, .link = l->last, .tokens = tokens, .slot = slot, .owner = owner};
	*l->last = w;
	l->last = &w->next;
	serve_soon(l);
	return w;
}

void limit_cancel(struct limit_wait *w)
{
	if (!w)
		return;
	unlink_wait(w);
	free(w);
}

void limit_return(struct limit *l, int64_t unused_tokens)
{
	l->n_out--;
	bucket_spend(&l->tokens, -unused_tokens);
	serve_soon(l);
}

/* ---- the breaker ---- */

enum breaker limit_breaker(const struct limit *l)
{
	if (!l->break_ms)
		return BREAKER_CLOSED;
	return clock_mono_ms() < l->open_until_mono_ms ? BREAKER_OPEN : BREAKER_PROBING;
}

bool limit_hangs(const struct limit *l)
{
	return l->break_ms && l->hangs;
}

static bool is_silent(const struct limit *l)
{
	const int64_t ms = clock_mono_ms() - l->several_mono_ms;

	return ms >= SILENT_MS && ms >= l->slowest_ms;
}

/* A key does not become right by asking again. Of several that hang, the first that gives up speaks for all; one alone can tell whether it
 * was in vain. */
static bool is_proof(const struct limit *l, const struct attempt_end *end)
{
	if (!reply_maybe_billed(end->class))
		return end->class == REPLY_credentials;
	return l->n_out > 1 ? is_silent(l) : end->in_vain;
}

/* Calls that were under way when it opened fail as well: they are of the same outage. */
static void count_failure(struct limit *l, const struct attempt_end *end)
{
	const bool hangs = reply_maybe_billed(end->class);
	const int64_t last = hangs ? BREAK_BILLED_LAST_MS : BREAK_LAST_MS;

	l->hangs = hangs;
	l->n_failed = is_proof(l, end) ? BREAK_AFTER : l->n_failed + 1;
	if (l->n_failed < BREAK_AFTER || limit_breaker(l) == BREAKER_OPEN)
		return;
	l->break_ms = !l->break_ms	       ? BREAK_FIRST_MS
		      : 2 * l->break_ms > last ? last
					       : 2 * l->break_ms;
	l->open_until_mono_ms = clock_mono_ms() + l->break_ms;
	log_warn("breaker_open", L_STR("model", l->name), L_INT("for_ms", l->break_ms));
}

/* It is heard; but who asks too much is no reason to let out more. */
static void count_answer(struct limit *l, const struct attempt_end *end)
{
	const bool answer = reply_is_answer(end->class);

	l->n_answered += answer;
	if (answer)
		l->slowest_ms -= l->slowest_ms / 8;
	if (answer && end->latency_ms > l->slowest_ms)
		l->slowest_ms = end->latency_ms;
	l->several_mono_ms = clock_mono_ms();
	l->n_failed = 0;
	if (l->break_ms) {
		log_info("breaker_closed", L_STR("model", l->name));
		l->break_ms = 0;
		l->ramp = RAMP_FIRST;
	} else if (l->ramp && answer && ++l->ramp > RAMP_LAST) {
		l->ramp = 0;
	}
}

void limit_give(struct limit *l, const struct attempt_end *end)
{
	switch (end->class) {
	case REPLY_unsent:
	case REPLY_overloaded:
	case REPLY_server_error:
	case REPLY_credentials:
	case REPLY_unreadable:
	case REPLY_broken_off:
		count_failure(l, end);
		break;
	default:
		count_answer(l, end);
	}
	limit_return(l, end->unused_tokens);
}

int64_t limit_n_out(const struct limit *l)
{
	return l->n_out;
}

int64_t limit_n_answered(const struct limit *l)
{
	return l->n_answered;
}

int64_t limit_slowest_ms(const struct limit *l)
{
	return l->slowest_ms;
}

void limit_set_fleet(struct limit *l, int n_workers)
{
	l->n_workers = n_workers > 0 ? n_workers : 1;
}

void limit_set(struct limit *l, const struct rates *most)
{
	l->requests.per_minute = most->requests_per_minute;
	l->tokens.per_minute = most->tokens_per_minute;
	l->concurrency = most->concurrency;
	serve_soon(l);
}

struct limit *limit_new(struct reactor *reactor, const char *name, const struct rates *most)
{
	struct limit *l = calloc(1, sizeof(*l));

	if (!l || !(l->name = strdup(name)))
		BUG("out of memory");
	l->timer = timer_new(reactor, serve, l);
	l->requests = bucket_of(most->requests_per_minute);
	l->tokens = bucket_of(most->tokens_per_minute);
	l->concurrency = most->concurrency;
	l->n_workers = 1;
	l->last = &l->first;
	return l;
}

void limit_free(struct limit *l)
{
	while (l->first)
		limit_cancel(l->first);
	timer_close(l->timer);
	free(l->name);
	free(l);
}
