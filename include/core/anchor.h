/*
 * core/anchor.h - where the snippet of an issue stands in the draft.
 *
 * Snippets are quoted by models. The place of one is
 *	1. the first that has its very bytes
 *	2. else the first that is equal in NFC without white space (line ends too), each quotation mark or apostrophe taken for ' and one at
 *	   each end of the snippet for the critic's own; not over 4,000 bytes
 * An issue whose snippet is empty or white space is about the whole text. One whose snippet is nowhere is unanchored: it blocks a pass,
 * but the refiner does not hear of it, for what it quotes is not what was judged.
 */
#ifndef CORE_ANCHOR_H
#define CORE_ANCHOR_H

#include "core/critique.h"

/* Sets `at` and `n` of each issue; at -1: whole text, or unanchored. At the caps (CRITIQUE_ISSUES_MAX, 256 KiB each) in 20 ms. */
void anchor_issues(struct str draft, struct issue *issue, int n);

bool issue_is_unanchored(const struct issue *);

/* The sentence that a place is in, or sentences, without white space at the ends; of 500 bytes before and behind the place at most. What a
 * check finds is a word; the mend is about the sentence. */
struct span anchor_sentence(struct str text, struct span place);

/* How many issues of @severity or more are unanchored. */
int anchor_missing(const struct critique *, int64_t severity);

#endif
