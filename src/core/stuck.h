/*
 * stuck.h - whether the loop gets nowhere: what a refined draft and its critique say about that. Each gives the reason to stop, or
 * STOP_NONE; of several the one that core/outcome.h lists first.
 */
#ifndef STUCK_H
#define STUCK_H

#include "core/history.h"

/* no_progress: after NFC and without white space the refined draft equals the one that it came from. loop_detected: an earlier one. */
enum stop_reason stuck_draft(const struct history *, const struct draft *refined);

/* What a critique says that was said already, of the drafts that its own came from:
 *
 *	contradiction      it wants back what was cut for an earlier one: span_wanted_back()
 *	repeated_critique  it says what the one before it said: critique_repeats(), or span_flagged_again()
 *	oscillation        it says what one two or more rounds before it said: critique_repeats()
 *	always_new         it and the one before it, each after a fix, block their drafts by nothing but issues of the critic at exactly
 *	                   severity_threshold, none of which the critique before had (issue_repeats()), and it has no fewer of them. So a
 *	                   loop that converges goes on: one that still mends graver issues or red checks, or that finds fewer each round */
enum stop_reason stuck_critique(const struct history *, struct arena *, const struct profile *,
				const struct critique *now);

#endif
