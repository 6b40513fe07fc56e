#include "app/limit.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdlib.h>

enum {
	BREAK_AFTER = 5, /* failures in a row */
	BREAK_FIRST_MS = 1000,
	BREAK_LAST_MS = 60000,
};

struct limit_wait {
	struct limit *limit;
	struct limit_wait *next, **link;
	slot_fn *slot;
	void *owner;
};

struct limit {
	struct timer *timer;
	char *name;
	int64_t per_minute, concurrency; /* 0 = none */
	int n_workers;

	int64_t n_out;	      /* slots taken */
	int64_t tokens_micro; /* of the bucket: a millionth of a request */
	int64_t filled_mono_ms;

	struct limit_wait *first, **last;

	int64_t n_answered;
	int n_failed;			      /* in a row */
	int64_t break_ms, open_until_mono_ms; /* of the breaker; break_ms 0: closed */
};

/* ---- rate: a bucket that holds one second's worth, at least one request ---- */

static int64_t rate_micro_per_s(const struct limit *l)
{
	return l->per_minute * 1000000 / 60 / l->n_workers;
}

static int64_t bucket_micro(const struct limit *l)
{
	const int64_t rate = rate_micro_per_s(l);

	return rate > 1000000 ? rate : 1000000;
}

static void fill(struct limit *l, int64_t now)
{
	int64_t passed_ms = now - l->filled_mono_ms;

	if (passed_ms > 60000)
		passed_ms = 60000;
	l->tokens_micro += rate_micro_per_s(l) * passed_ms / 1000;
	if (l->tokens_micro > bucket_micro(l))
		l->tokens_micro = bucket_micro(l);
	l->filled_mono_ms = now;
}

/* ---- one slot ---- */

/* 0: there is one; else milliseconds until asking again is worth it, -1: until a slot is given back. */
static int64_t wait_ms(struct limit *l)
{
	const int64_t now = clock_mono_ms();

	if (l->break_ms && now < l->open_until_mono_ms)
		return l->open_until_mono_ms - now;
	if (l->break_ms && l->n_out)
		return -1; /* one probe at a time */
	if (l->concurrency && l->n_out >= l->concurrency)
		return -1;
	if (!l->per_minute)
		return 0;
	fill(l, now);
	if (l->tokens_micro >= 1000000)
		return 0;
	return 1 + (1000000 - l->tokens_micro) * 1000 / (rate_micro_per_s(l) + 1);
}

static void take(struct limit *l)
{
	l->n_out++;
	if (l->per_minute)
		l->tokens_micro -= 1000000;
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

	while (l->first && (ms = wait_ms(l)) == 0) {
		struct limit_wait *w = l->first;
		slot_fn *slot = w->slot;
		void *whose = w->owner;

		take(l);
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

bool limit_take(struct limit *l)
{
	if (l->first || wait_ms(l) != 0)
		return false;
	take(l);
	return true;
}

struct limit_wait *limit_wait(struct limit *l, slot_fn *slot, void *owner)
{
	struct limit_wait *w = calloc(1, sizeof(*w));

	if (!w)
		BUG("out of memory");
	*w = (struct limit_wait){.limit = l, .link = l->last, .slot = slot, .owner = owner};
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

void limit_return(struct limit *l)
{
	l->n_out--;
	serve_soon(l);
}

/* ---- the breaker ---- */

bool limit_is_open(const struct limit *l)
{
	return l->break_ms && clock_mono_ms() < l->open_until_mono_ms;
}

enum breaker limit_breaker(const struct limit *l)
{
	if (!l->break_ms)
		return BREAKER_CLOSED;
	return limit_is_open(l) ? BREAKER_OPEN : BREAKER_PROBING;
}

/* Calls that were under way when it opened fail as well: they are of the same outage. */
static void count_failure(struct limit *l)
{
	if (++l->n_failed < BREAK_AFTER || limit_is_open(l))
		return;
	l->break_ms = !l->break_ms			? BREAK_FIRST_MS
		      : 2 * l->break_ms > BREAK_LAST_MS ? BREAK_LAST_MS
							: 2 * l->break_ms;
	l->open_until_mono_ms = clock_mono_ms() + l->break_ms;
	log_warn("breaker_open", L_STR("model", l->name), L_INT("for_ms", l->break_ms));
}

static void count_answer(struct limit *l, enum reply_class class)
{
	l->n_answered += reply_is_answer(class);
	l->n_failed = 0;
	if (l->break_ms)
		log_info("breaker_closed", L_STR("model", l->name));
	l->break_ms = 0;
}

void limit_give(struct limit *l, enum reply_class class)
{
	switch (class) {
	case REPLY_unsent:
	case REPLY_overloaded:
	case REPLY_server_error:
	case REPLY_credentials:
		count_failure(l);
		break;
	case REPLY_broken_off: /* of a slow model or a bad line: neither proof of life nor of death */
		break;
	default:
		count_answer(l, class);
	}
	limit_return(l);
}

int64_t limit_n_out(const struct limit *l)
{
	return l->n_out;
}

int64_t limit_n_answered(const struct limit *l)
{
	return l->n_answered;
}

void limit_set_fleet(struct limit *l, int n_workers)
{
	l->n_workers = n_workers > 0 ? n_workers : 1;
}

void limit_set(struct limit *l, int64_t per_minute, int64_t concurrency)
{
	l->per_minute = per_minute;
	l->concurrency = concurrency;
	serve_soon(l);
}

struct limit *limit_new(struct reactor *reactor, const char *name, int64_t per_minute,
			int64_t concurrency)
{
	struct limit *l = calloc(1, sizeof(*l));

	if (!l || !(l->name = strdup(name)))
		BUG("out of memory");
	l->timer = timer_new(reactor, serve, l);
	l->per_minute = per_minute;
	l->concurrency = concurrency;
	l->n_workers = 1;
	l->last = &l->first;
	l->filled_mono_ms = clock_mono_ms();
	l->tokens_micro = bucket_micro(l);
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
