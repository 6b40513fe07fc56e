/*
 * app/limit.h - slots for calls: requests per minute and concurrency per model, and a simple breaker. A fleet's share of the rate is 1/n
 * of its live workers. Waiting is a queue in order of arrival.
 *
 * The breaker: after 5 failures in a row (unsent, server_error, credentials) of a model no slot is given for a second, doubling to 60 s;
 * then one call at a time probes until one is answered.
 */
#ifndef APP_LIMIT_H
#define APP_LIMIT_H

#include "core/wire.h"
#include "io/reactor.h"

struct limit;	   /* of one model, by its id and provider */
struct limit_wait; /* a place in the queue */

typedef void slot_fn(void *owner); /* its slot has come and is taken */

struct limit *limit_new(struct reactor *, const char *name, int64_t requests_per_minute,
			int64_t concurrency);
void limit_free(struct limit *);
/* Other numbers from now on; what is out stays out, who waits keeps its place. */
void limit_set(struct limit *, int64_t requests_per_minute, int64_t concurrency);
void limit_set_fleet(struct limit *, int n_workers);

/* True: taken now. */
bool limit_take(struct limit *);
/* Queues; one callback, from the loop. */
struct limit_wait *limit_wait(struct limit *, slot_fn *, void *owner);
void limit_cancel(struct limit_wait *); /* before its callback; NULL is fine */

/* Gives the slot back; @class is how the attempt ended. A retry takes a new one. */
void limit_give(struct limit *, enum reply_class);
/* Gives a slot back that was not used. */
void limit_return(struct limit *);

/* Requests of the model that were answered so far (complete, truncated, refused): for retry's @others_succeed. */
int64_t limit_n_answered(const struct limit *);
int64_t limit_n_out(const struct limit *); /* slots that are taken */
enum breaker { BREAKER_CLOSED, BREAKER_PROBING, BREAKER_OPEN };
enum breaker limit_breaker(const struct limit *);
bool limit_is_open(const struct limit *); /* the breaker lets nothing through */

#endif
