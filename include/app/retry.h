/*
 * app/retry.h - what to do with an attempt that brought no answer: the one retry function.
 *
 * rate_limited, overloaded, server_error, credentials, unsent: again without end (backoff 0.5 s doubling to 60 s, its upper half jitter, Retry-After as
 * a floor), the job's active time stopped meanwhile; but the sixth server_error of a request that others to the same model
 * do not meet ends it. unreadable, broken_off (maybe billed): twice more. rejected: never. What reply_is_answer() is no failure.
 */
#ifndef APP_RETRY_H
#define APP_RETRY_H

#include "core/wire.h"

struct retry_state {  /* of one call; zero at first */
	int n_failed; /* attempts without an answer */
	int n_server_error, n_maybe_billed;
};

/* Counts the failure in; returns milliseconds to wait, or -1: stop trying. @others_succeed: another request to this model was answered since the call's first
 * failure. @random: 32 random bits. */
int64_t retry_after_ms(struct retry_state *, enum reply_class, int64_t retry_after_floor_ms,
		       bool others_succeed, uint32_t random);

#endif
