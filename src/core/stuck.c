#include "stuck.h"

#include "core/span.h"

enum stop_reason stuck_draft(const struct history *h, const struct draft *refined)
{
	for (int i = refined->from; i >= 0; i--) {
		if (memcmp(h->draft[i].squeezed_sha, refined->squeezed_sha, SHA_BYTES) == 0)
			return i == refined->from ? STOP_no_progress : STOP_loop_detected;
	}
	return STOP_NONE;
}

enum stop_reason stuck_critique(const struct history *h, struct arena *a, const struct profile *p,
				const struct critique *now)
{
	const struct draft *draft = &h->draft[now->draft_no];
	const struct critique *before =
		draft->from < 0 ? NULL : history_critique_of(h, draft->from);

	if (before &&
	    (critique_repeats(a, before, now) ||
	     span_flagged_again(draft->diff, draft->n_diff, p->severity_threshold, before, now)))
		return STOP_repeated_critique;
	return STOP_NONE;
}
