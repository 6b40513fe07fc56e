/*
 * role_time.h - how much of a job's active time a call may take, so that a late one is given up while what must follow it still fits.
 *
 * A draft must be followed by its critique and, where the job has a second iteration, by a refinement and that one's critique; a
 * refinement by its critique; a comparison of two drafts by all that must follow a draft; a critique by nothing, for it may pass; a tool takes what is left of the job's time or of its own. For each of these calls the time of its role is held back: the
 * profile's `role_ms`, in proportion if the job has less active time than the profile; where it names none, half of an equal share of all
 * 2 * iterations calls: active_ms / (4 * iterations). A call may take what is left, and no more than its own role's `role_ms`.
 */
#ifndef ROLE_TIME_H
#define ROLE_TIME_H

#include "core/profile.h"

/* The active time of the job, in ms, at which a call that is opened at @now_ms is too late; at most @now_ms: there is no time for it. @job:
 * the job's limits. */
int64_t role_time_end_ms(const struct profile *, const struct limits *job, enum role, bool compares,
			 int64_t now_ms);

#endif
