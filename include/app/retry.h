/*
 * app/retry.h - what to do with an attempt that brought no answer: the one retry function.
 *
 * rate_limited, overloaded, server_error, credentials, unsent: again without end (backoff 0.5 s doubling to 60 s, its upper half jitter;
 * Retry-After as a floor, with jitter of up to half of it more), the job's active time stopped meanwhile; but the sixth server_error of a
 * request while the model answers others ends it. unreadable, broken_off (maybe billed): twice more while it answers others; in vain for
 * everybody they are not held against the request, and its job's caps end it. The job pays for each: no sooner than after 1 s, then four
 * times as long each time, to 15 minutes. rejected: never. What reply_is_answer() is no failure.
 */
#ifndef APP_RETRY_H
#define APP_RETRY_H

#include "core/wire.h"

struct retry_state {  /* of one call; zero at first */
	int n_failed; /* attempts without an answer */
	int n_maybe_billed;
	int n_server_error, n_broken; /* held against the request: its own fault, it seems */
};

/* Counts the failure in; returns milliseconds to wait, or -1: stop trying. @in_vain: it seems the model's, as app/limit.h has it, or the
 * breaker is not closed. @random: 32 random bits. */
int64_t retry_after_ms(struct retry_state *, enum reply_class, int64_t retry_after_floor_ms,
		       bool in_vain, uint32_t random);

#endif
