#include "role_time.h"

/* 0: the profile names none. */
static int64_t named_ms(const struct profile *p, const struct limits *job, enum role role)
{
	if (role == ROLE_TOOL)
		return 0;
	return p->role_ms[role] * job->active_ms / p->limits.active_ms;
}

static int64_t needed_ms(const struct profile *p, const struct limits *job, enum role role)
{
	const int64_t ms = named_ms(p, job, role);

	return ms ? ms : job->active_ms / (4 * job->iterations);
}

/* For what must follow. */
static int64_t held_back_ms(const struct profile *p, const struct limits *job, enum role role,
			    bool compares)
{
	const bool of_first = role == ROLE_GENERATOR || compares;
	int64_t held = 0;

	if (p->mode == MODE_ONESHOT)
		return 0;
	if (of_first && job->iterations > 1)
		held = needed_ms(p, job, ROLE_REFINER) + needed_ms(p, job, ROLE_CRITIC);
	if (of_first || role == ROLE_REFINER)
		held += needed_ms(p, job, ROLE_CRITIC);
	return held;
}

int64_t role_time_end_ms(const struct profile *p, const struct limits *job, enum role role,
			 bool compares, int64_t now_ms)
{
	const int64_t end_ms = job->active_ms - held_back_ms(p, job, role, compares);
	const int64_t own_ms = named_ms(p, job, role);

	return own_ms && now_ms + own_ms < end_ms ? now_ms + own_ms : end_ms;
}
