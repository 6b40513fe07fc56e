/*
 * core/critique.h - a critic's reply, read by exact rules. What does not fit is invalid, never a pass.
 *
 * The reply holds exactly one JSON object, found by the repair rule of core/unwrap.h, which is the critic's own:
 * it neither stands word for word in the draft nor says the same as one in its prompt (core/copied.h). It has issues (array of {category, snippet, suggestion: strings, severity: integer 1..5}), score (number 0..scale),
 * verdict ("pass" or "fail"), reasons (string, may be absent), considered (object of strings, may be absent). Types are exact,
 * numbers out of their range are refused, order is free. Further fields are ignored and counted.
 *
 * Issues stand most severe first; over five, the five most severe count, of equal ones the first, and the rest is counted. A category
 * without its line in `considered` is counted, and no more. Under pass_rule no_actionable_issues score and verdict are further
 * fields, and the critique passes when no issue is at the threshold. There, and under `critique: plain_issues`, an issue may be a
 * string: it is about the whole text, at the threshold.
 *
 * Under `critique: text` the reply is no JSON: NO_DEFECTS alone, trimmed, passes; that word with anything else is invalid; another
 * text is one issue about the whole text, at the threshold.
 *
 * Under cite_sources an issue may have a source (string; absent, null or blank: none), the id of one of the job's sources, exact but for
 * white space at its ends. Any other is miscited: the issue stands, blocks and is mended like one without a source, for what it quotes is
 * in the draft; the citation goes to nobody but people, and counts against the critic (draftmill report).
 */
#ifndef CORE_CRITIQUE_H
#define CORE_CRITIQUE_H

#include "core/form.h"
#include "core/job.h"
#include "core/unwrap.h"

enum { ISSUE_MISCITED_BYTES_MAX = 200 };

struct issue {
	struct str category, snippet, suggestion;
	struct str source;   /* the job's that the critic cites; absent: none, or miscited */
	struct str miscited; /* what it cites and the job has not, its beginning; absent: nothing */
	int64_t severity;    /* 1..5 */
	int64_t at,
		n; /* span of the snippet in the draft, bytes, see core/anchor.h; at -1: not found there, or no snippet */
	const struct check_result
		*red; /* the check that it tells of; NULL: the critic's own issue */
};

struct critique {
	bool valid;
	struct str fault;   /* why not valid; absent if valid */
	bool pass;	    /* the critic's verdict */
	int64_t score;	    /* 0..100, normalised; -1: not valid, or the profile asks for none */
	struct str reasons; /* absent if none */
	enum shape shape;   /* of the reply, if valid, or SHAPE_copied; a text is whole */
	const struct issue *issue;
	int n_issue;
	int n_cut;	    /* issues over five */
	int n_unconsidered; /* categories without a line */
	int n_ignored;	    /* fields that the rules do not know */
	int draft_no;	    /* the draft it judges */
	struct str
		tool; /* whose findings these are, without score and verdict; absent: the critic's */
};

/* Reads @reply about @draft of the job; all in @a. Always fills *out; look at `valid`. */
void critique_read(struct arena *a, const struct profile *, const struct job *, struct str reply,
		   struct str draft, struct critique *out);

/* Makes it one that was only read out: not valid. */
void critique_refuse_copy(struct critique *);

/* Whether verdict and score let the draft pass, where the profile's rule looks at them. */
bool critique_passes(const struct profile *, const struct critique *);

/* A red check as an issue like the critic's; a hard one is at the threshold or over it. Its category lives in @a,
 * its snippet, the sentence of its place, is a part of @draft. */
struct issue issue_of_check(struct arena *a, const struct check_result *, struct str draft,
			    int64_t threshold);

/* Whether two critiques say the same: cosine over 3-grams of their issue texts (snippet + suggestion; NFKC and case folded, no
 * white space; the first 8 KiB of each) over 900 permille. Integers only. A critique without issues, or whose text is one word or less, is like no other. */
bool critique_repeats(struct arena *a, const struct critique *before, const struct critique *now);

/* The same of one issue each; the first 500 bytes. */
bool issue_repeats(struct arena *a, const struct issue *before, const struct issue *now);

#endif
