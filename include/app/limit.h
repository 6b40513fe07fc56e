/*
 * app/limit.h - slots for calls: requests and tokens per minute and concurrency of a provider's model, and a breaker. A fleet's share of
 * the rates is 1/n of its live workers. Waiting is a queue in order of arrival.
 *
 * The breaker opens at the fifth failure in a row (unsent, overloaded, server_error, unreadable, broken_off), at the first of class
 * credentials, and at the first unreadable or broken_off that shows silence: of the only call that is out, if it was in vain; of one of
 * several, if none was answered for 10 s, or for longer where answers of late took longer. No slot is given for a second, doubling to
 * 60 s, or to 5 minutes while what fails may be billed. Then one call at a time probes until one is heard. From there on two calls are let
 * out at once, and with each answer one more.
 */
#ifndef APP_LIMIT_H
#define APP_LIMIT_H

#include "core/wire.h"
#include "io/reactor.h"

struct limit;	   /* of one model, by its id and provider */
struct limit_wait; /* a place in the queue */

typedef void slot_fn(void *owner); /* its slot has come and is taken */

struct rates { /* of one model; 0: no limit */
	int64_t requests_per_minute, tokens_per_minute, concurrency;
};

struct limit *limit_new(struct reactor *, const char *name, const struct rates *);
void limit_free(struct limit *);
/* Other numbers from now on; what is out stays out, who waits keeps its place. */
void limit_set(struct limit *, const struct rates *);
void limit_set_fleet(struct limit *, int n_workers);

/* @tokens: what the call may use, its reserve. True: taken now. */
bool limit_take(struct limit *, int64_t tokens);
/* Queues; one callback, from the loop. */
struct limit_wait *limit_wait(struct limit *, int64_t tokens, slot_fn *, void *owner);
void limit_cancel(struct limit_wait *); /* before its callback; NULL is fine */

struct attempt_end { /* how it ended */
	enum reply_class class;
	/* A failure that seems the model's: it had its time, and nobody else was answered since the call was first sent, or last failed. */
	bool in_vain;
	int64_t latency_ms;
	int64_t unused_tokens; /* of those of its slot */
};

/* Gives the slot back. A retry takes a new one. */
void limit_give(struct limit *, const struct attempt_end *);
/* Gives a slot back that was not used, or of a call that is dropped. */
void limit_return(struct limit *, int64_t unused_tokens);

/* Requests of the model that were answered so far (complete, truncated, refused, blocked). */
int64_t limit_n_answered(const struct limit *);
/* How long an answer may well take: the longest of late; 0: none yet. */
int64_t limit_slowest_ms(const struct limit *);
int64_t limit_n_out(const struct limit *); /* slots that are taken */
enum breaker { BREAKER_CLOSED, BREAKER_PROBING, BREAKER_OPEN };
enum breaker limit_breaker(const struct limit *);
/* It is not closed, and what failed last got no answer rather than a refusal: that may be the fault of the one request which probes. */
bool limit_hangs(const struct limit *);

#endif
