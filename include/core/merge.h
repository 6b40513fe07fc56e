/*
 * core/merge.h - a revision, cut down to what was flagged: every byte of the draft outside flagged spans stays as it is.
 */
#ifndef CORE_MERGE_H
#define CORE_MERGE_H

#include "core/check.h"
#include "core/similarity.h"

struct merge {
	struct str text; /* in the arena, or the draft itself */
	struct diff *
		run; /* from the draft to it, as diff_words() gives them; borrowed from draft and revision */
	int n_run;
	int n_kept, n_reverted;
	/* hunks: runs of cut and put bytes of diff_words(), less what both have at their ends */
};

/* A @revision that has all of the draft outside of the @n spans, in order, is taken as it is. (The spans are in any order, may overlap, and are
 * one where they touch.) Of any other, the hunks are taken that touch a span:
 *	what only puts		in a span or at its edge; where the same text could be put at several places, at one of them
 *	what only cuts		in a span, by one of its readings too; beside it there may be white space, which stays
 *	what cuts and puts	in a span; or it cuts in one span and beside it, and there no words, or what it puts is rather as long as
 *				the part in the span than as the whole: then it replaces the part in the span
 * Work: that of diff_words(), else linear in the texts. */
void merge_flagged(struct arena *a, struct str draft, struct str revision,
		   const struct span *flagged, int n, struct merge *out);

#endif
