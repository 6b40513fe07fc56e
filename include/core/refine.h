/*
 * core/refine.h - what becomes of a refiner's reply: the next draft, with the draft's own bytes outside of what was flagged; or nothing.
 *
 * An actionable issue flags its place; of a red check the sentence of each place where it is red (check_places()); without a place the whole text. Of the
 * reply, out of its wrapping (core/revision.h), the hunks survive that core/merge.h lets. What comes out is rejected, and the draft stays, if
 * one of REJECTIONS holds; those from `fragment` on only where the whole text is flagged, for else nothing can be lost.
 * A rejected reply is asked for once more; then the job ends as no_progress.
 */
#ifndef CORE_REFINE_H
#define CORE_REFINE_H

#include "core/history.h"

/* clang-format off */
#define REJECTIONS(X) \
	X(unflagged, "it changed only what nobody had flagged") /* all was reverted, and it was more than white space */ \
	X(check, "it broke a hard check that the draft met") /* check:NAME */ \
	X(fragment, "it was less than half of the text") /* in bytes; unless a red check without a place is green by it */ \
	X(number, "it lost a number") /* these by core/particulars.h */ \
	X(name, "it lost a name") \
	X(address, "it lost an address of web or mail") \
	X(quotation, "it lost a quotation") \
	X(uncounted, "it has more numbers, names and addresses than can be compared")
/* clang-format on */

/* @made: the reply as it was read; after that, what came out. Adds the draft and gives it, or NULL: rejected, for the reason in *out. */
const struct draft *refine(struct history *, struct arena *, const struct profile *,
			   const struct job *, struct answer *made, int draft_no,
			   struct refinement *out);

/* The words for a reason, as it is stored; NULL: it is none. */
const char *rejection_sentence(struct str rejected);

#endif
