/*
 * tests/lib/merge_rules.h - what must hold of every merge, whatever the draft, the flagged places and the revision.
 */
#ifndef TESTS_LIB_MERGE_RULES_H
#define TESTS_LIB_MERGE_RULES_H

#include "base/text.h"
#include "core/merge.h"

static inline bool merge_flags(const struct span *span, int n, int64_t at)
{
	for (int i = 0; i < n; i++)
		if (at >= span[i].at && at < span[i].at + span[i].n)
			return true;
	return false;
}

/* The merge is the draft's unflagged parts, in order, with anything in the places of the flagged ones. */
static inline bool merge_keeps(struct str draft, const struct span *span, int n, struct str text)
{
	size_t done = 0;
	int64_t at = 0, n_draft = (int64_t)draft.n;

	while (at < n_draft) {
		int64_t end = at;
		while (end < n_draft && merge_flags(span, n, end) == merge_flags(span, n, at))
			end++;
		const struct str part = str_sub(draft, (size_t)at, (size_t)(end - at));
		if (!merge_flags(span, n, at)) {
			int64_t found = str_find(text, part, done);
			if (end == n_draft && found >= 0 && text.n >= part.n)
				found = str_eq(str_sub(text, text.n - part.n, part.n), part) &&
							text.n - part.n >= done
						? (int64_t)(text.n - part.n)
						: -1;
			if (found < 0 || (at == 0 && found != 0))
				return false;
			done = (size_t)found + part.n;
		}
		at = end;
	}
	return true;
}

/* The rule that is broken; NULL: none. */
static inline const char *merge_fault(struct arena *a, struct str draft, struct str revision,
				      const struct span *span, int n, struct merge *out)
{
	const struct span all = {0, (int64_t)draft.n};
	struct merge other;

	merge_flagged(a, draft, revision, span, n, out);
	if (!merge_keeps(draft, span, n, out->text))
		return "it changes what nobody flagged";
	if (!text_is_utf8(out->text))
		return "it cuts a character";
	if (n == 0 && !str_eq(out->text, draft))
		return "nothing is flagged, and it changes";
	merge_flagged(a, draft, out->text, span, n, &other);
	if (!str_eq(other.text, out->text))
		return "merged again it is another text";
	merge_flagged(a, draft, draft, span, n, &other);
	if (!str_eq(other.text, draft) || other.n_kept + other.n_reverted > 0)
		return "the draft itself is no revision";
	merge_flagged(a, draft, revision, &all, 1, &other);
	if (!str_eq(other.text, revision) || other.n_reverted > 0)
		return "all is flagged, and not all is taken";
	return NULL;
}

#endif
