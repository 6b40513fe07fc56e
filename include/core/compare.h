/*
 * core/compare.h - two candidates for the first draft, and which of them the loop goes on with.
 *
 * The generator is asked twice, each time with another approach of the profile; the drafts are candidates 0 and 1. They are compared by the
 * critic, who is shown both, once in each order: models favour a place. Decided is, in this order:
 *	1. one that could not be had leaves the other alone
 *	2. equal texts, after NFC and white-space folding, are one; the first is taken
 *	3. if one breaks a hard check and the other none, the other is taken
 *	4. the critic's preference: the same draft in both orders, or in one while the other order is a tie
 *	5. the tie rule, also where a comparison could not be had or read, or no cap leaves room for it: fewest failed hard checks, then fewest
 *	   failed checks, then the first
 * A second candidate and a comparison are asked for only if tokens and money are left for a critique behind them.
 * From 1 to 3 nobody is asked. A comparison that cannot be had is the last.
 *
 * A comparison is one JSON object by the rule of core/unwrap.h, {"reasons": text, "better": "first" | "second" | "tie"}; `reasons` may be
 * absent, further members are ignored. Else, or where the object stands in one of the drafts, it is invalid and asked for once more.
 */
#ifndef CORE_COMPARE_H
#define CORE_COMPARE_H

#include "core/history.h"

#define CHOICES(X)                                                                                 \
	X(alone, "the other one could not be had")                                                 \
	X(equal, "both are the same text")                                                         \
	X(checks, "the other one breaks a hard check")                                             \
	X(both_orders, "the critic preferred it in both orders")                                   \
	X(one_order, "the critic preferred it in one order, and none in the other")                \
	X(tie_rule, "the critic preferred neither, so checks and order decide")

/* False: *out is invalid, and says why. @draft: both, by their numbers. */
bool comparison_read(struct arena *a, struct str reply, const struct draft *draft,
		     struct comparison *out);

/* True: *out is the choice. False: the critic is to be asked, with draft n_comparison shown first; never if not @may_ask. */
bool compare_choose(const struct history *, bool may_ask, struct choice *out);

/* The words for why a candidate was chosen; NULL: it is no such reason. */
const char *choice_sentence(struct str why);

#endif
