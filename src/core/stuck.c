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

/* @rev: the @n_rev revisions that lie between the two. */
static enum stop_reason said_before(struct arena *a, int64_t severity, const struct revision *rev,
				    int n_rev, const struct critique *before,
				    const struct critique *now)
{
	if (span_wanted_back(a, rev, n_rev, severity, before, now))
		return STOP_contradiction;
	if (critique_repeats(a, before, now))
		return n_rev == 1 ? STOP_repeated_critique : STOP_oscillation;
	if (n_rev == 1 && span_flagged_again(rev->run, rev->n_run, severity, before, now))
		return STOP_repeated_critique;
	return STOP_NONE;
}

/* The critique that a draft was refined for; NULL: there is none. */
static const struct critique *critique_before(const struct history *h, const struct critique *c)
{
	const int from = h->draft[c->draft_no].from;

	return from < 0 ? NULL : history_critique_of(h, from);
}

/* How many issues block @c's draft, if they are all new and the critic's, and as light as may be; else 0. */
static int light_and_new(const struct history *h, struct arena *a, const struct profile *p,
			 const struct critique *c)
{
	const struct critique *before = critique_before(h, c);
	int n_blocking, n = 0;

	for (int i = 0; before && i < c->n_issue; i++) {
		if (c->issue[i].severity < p->severity_threshold)
			continue;
		if (c->issue[i].severity > p->severity_threshold)
			return 0;
		for (int k = 0; k < before->n_issue; k++)
			if (issue_repeats(a, &before->issue[k], &c->issue[i]))
				return 0;
		n++;
	}
	history_actionable(h, a, p, c->draft_no, &n_blocking);
	return n == n_blocking ? n : 0;
}

static bool is_always_new(const struct history *h, struct arena *a, const struct profile *p,
			  const struct critique *now)
{
	const int n_now = light_and_new(h, a, p, now);
	const int n_before = n_now ? light_and_new(h, a, p, critique_before(h, now)) : 0;

	return n_before > 0 && n_now >= n_before;
}

enum stop_reason stuck_critique(const struct history *h, struct arena *a, const struct profile *p,
				const struct critique *now)
{
	struct revision rev[LOOP_DRAFTS]; /* the latest last */
	const struct draft *d = &h->draft[now->draft_no];
	enum stop_reason why = STOP_NONE;

	for (int i = LOOP_DRAFTS - 1; d->from >= 0; i--, d = &h->draft[d->from]) {
		const struct critique *before = history_critique_of(h, d->from);
		rev[i] = (struct revision){h->draft[d->from].text, d->text, d->diff, d->n_diff};
		if (!before)
			continue;
		const enum stop_reason said = said_before(a, p->severity_threshold, &rev[i],
							  LOOP_DRAFTS - i, before, now);
		why = said < why ? said : why;
	}
	return why == STOP_NONE && is_always_new(h, a, p, now) ? STOP_always_new : why;
}
