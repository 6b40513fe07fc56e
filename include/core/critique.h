/*
 * core/critique.h - a critic's reply, read by exact rules. What does not fit is invalid, never a pass.
 *
 * The reply, trimmed, is exactly one JSON object: issues (array of {category, snippet, suggestion: strings, severity:
 * integer 1..5}), score (number 0..scale), verdict ("pass" or "fail"), reasons (string, may be absent). Further fields are
 * ignored and counted. Order is free.
 */
#ifndef CORE_CRITIQUE_H
#define CORE_CRITIQUE_H

#include "core/check.h"

enum { CRITIQUE_ISSUES_MAX = 50 }; /* more is invalid */

struct issue {
	struct str category, snippet, suggestion;
	int64_t severity; /* 1..5 */
	int64_t at,
		n; /* span of the snippet in the draft, bytes; at -1: not found there, or no snippet */
};

struct critique {
	bool valid;
	struct str fault;   /* why not valid; absent if valid */
	bool pass;	    /* the critic's verdict */
	int64_t score;	    /* 0..100, normalised; -1 if not valid */
	struct str reasons; /* absent if none */
	const struct issue *issue;
	int n_issue;
	int n_ignored; /* fields that the rules do not know */
	int draft_no;  /* the draft it judges */
	struct str
		tool; /* whose findings these are, without score and verdict; absent: the critic's */
};

/* Reads @reply about @draft; all in @a. Always fills *out; look at `valid`. */
void critique_read(struct arena *a, struct str reply, struct str draft, int64_t score_max,
		   struct critique *out);

/* A red check as an issue like the critic's; a hard one is at the threshold or over it. Its category lives in @a. */
struct issue issue_of_check(struct arena *a, const struct check_result *, int64_t threshold);

/* Whether two critiques say the same: cosine over 3-grams of their issue texts (snippet + suggestion; NFKC and case folded, no
 * white space; the first 32 KiB of each) over 900 permille. Integers only. A critique without issues, or whose text is one word or less, is like no other. */
bool critique_repeats(struct arena *a, const struct critique *before, const struct critique *now);

#endif
