#include "app/retry.h"

enum {
	BACKOFF_FIRST_MS = 500,
	BACKOFF_LAST_MS = 60000,
	SERVER_ERRORS_MAX = 6, /* of one request while the model answers others */
	BROKEN_MAX = 3,	       /* likewise: the first and two more */
	BILLED_FIRST_MS = 1000,
	BILLED_LAST_MS = 15 * 60 * 1000,
	RETRY_AFTER_MAX_MS = 24 * 60 * 60 * 1000,
};

/* Half of the step's ceiling, or a longer floor, and jitter of up to the other half: so many attempts in so much time, whatever the jitter.
 * Many calls are told the same floor at the same moment: they are spread over half of it, up to 30 s. */
static int64_t backoff_ms(int n_failed, int64_t floor_ms, uint32_t random)
{
	int64_t ceiling = BACKOFF_FIRST_MS, spread;

	for (int i = 1; i < n_failed && ceiling < BACKOFF_LAST_MS; i++)
		ceiling *= 2;
	if (ceiling > BACKOFF_LAST_MS)
		ceiling = BACKOFF_LAST_MS;
	if (floor_ms > RETRY_AFTER_MAX_MS)
		floor_ms = RETRY_AFTER_MAX_MS;
	spread = floor_ms > ceiling ? floor_ms / 2 : ceiling / 2;
	if (spread > BACKOFF_LAST_MS / 2)
		spread = BACKOFF_LAST_MS / 2;
	if (floor_ms < ceiling / 2)
		floor_ms = ceiling / 2;
	return floor_ms + (int64_t)(random % (uint32_t)spread);
}

/* Before what may be billed again: a second, then four times as long each time, so that an hour of silence takes less than ten of a
 * job's reserves. */
static int64_t billed_floor_ms(int n_maybe_billed)
{
	int64_t ms = BILLED_FIRST_MS;

	while (--n_maybe_billed > 0 && ms < BILLED_LAST_MS)
		ms *= 4;
	return ms < BILLED_LAST_MS ? ms : BILLED_LAST_MS;
}

int64_t retry_after_ms(struct retry_state *s, enum reply_class class, int64_t floor_ms,
		       bool in_vain, uint32_t random)
{
	s->n_failed++;
	s->n_maybe_billed += reply_maybe_billed(class);
	switch (class) {
	case REPLY_rate_limited:
	case REPLY_overloaded:
	case REPLY_credentials:
	case REPLY_unsent:
		break;
	case REPLY_server_error:
		s->n_server_error += !in_vain;
		if (s->n_server_error == SERVER_ERRORS_MAX)
			return -1;
		break;
	case REPLY_unreadable:
	case REPLY_broken_off:
		s->n_broken += !in_vain;
		if (s->n_broken == BROKEN_MAX)
			return -1;
		if (floor_ms < billed_floor_ms(s->n_maybe_billed))
			floor_ms = billed_floor_ms(s->n_maybe_billed);
		break;
	default:
		return -1;
	}
	return backoff_ms(s->n_failed, floor_ms, random);
}
