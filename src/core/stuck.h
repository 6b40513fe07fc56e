/*
 * stuck.h - whether the loop gets nowhere: what a refined draft and its critique say about that. Each gives the reason to stop, or
 * STOP_NONE.
 */
#ifndef STUCK_H
#define STUCK_H

#include "core/history.h"

/* no_progress: after NFC and without white space the refined draft equals the one that it came from. loop_detected: an earlier one. */
enum stop_reason stuck_draft(const struct history *, const struct draft *refined);

/* repeated_critique: it says what the one before it said, of the draft that its own came from. */
enum stop_reason stuck_critique(const struct history *, struct arena *, const struct profile *,
				const struct critique *now);

#endif
