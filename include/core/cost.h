/*
 * core/cost.h - tokens and money of calls. Integers; money in micro-USD, rounded up a call. What is more is COST_MAX: over every
 * cap, and a thousand of it can be added up.
 */
#ifndef CORE_COST_H
#define CORE_COST_H

#include "core/wire.h"

#define COST_MAX (INT64_C(1) << 53)

/* A call's usage priced by the row in force at @at_ms (the first row before any is). Both its counts are known, or it is a bug: a
 * call whose usage the reply does not tell is charged at its reserve. */
int64_t cost_micro_usd(const struct model *, struct usage, int64_t at_ms);

/* The worst case of a call with @prompt_bytes: all input fresh or written to the cache, the whole output cap. */
int64_t reserve_tokens(const struct model *, int64_t prompt_bytes, int64_t max_output_tokens);
int64_t reserve_micro_usd(const struct model *, int64_t prompt_bytes, int64_t max_output_tokens,
			  int64_t at_ms);

#endif
