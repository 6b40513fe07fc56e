/*
 * core/stakes.h - what is at stake with a job: the highest of three. What the job says; what the profile says, which holds when the job
 * names none; and what each of the profile's stakes_rules says that holds for the job's variables. So nothing lowers what another raised.
 *
 * A rule looks at one variable:
 *	variable   its name
 *	equals     a text; compared as text_fold() has both, without white space at the ends
 *	one_of     several such
 *	matches    a pattern as in checks (core/check.h), found anywhere in the value
 *	at_least   a number as JSON writes it, of any length: an integer, or a decimal as a string. Compared exactly, nothing is rounded
 *	at_most    the same
 *	stakes     low, normal or high, for which it holds
 *	absent     the same, of a job without the variable, or with nothing but white space in it; else such a job is none of the rule's
 * One of equals .. at_most, and variable and stakes, are wanted.
 *
 * A rule that cannot be judged holds: a value for a number that is none ("1,200", "12 EUR"), one of over STAKES_VALUE_BYTES_MAX for all but
 * matches, a pattern that meets its limits. A person's look costs less than a `low` that is wrong.
 *
 * Settled when the job comes, and stored with it: job.stakes, and job.stakes_by, which is "job", "profile", or the first rule that set
 * them, as "stakes_rules[0] amount", with ", absent" or ", not judged" behind it where that was so.
 */
#ifndef CORE_STAKES_H
#define CORE_STAKES_H

#include "base/decimal.h"
#include "base/fault.h"
#include "core/job.h"

enum { STAKES_RULES_MAX = 20, STAKES_VALUE_BYTES_MAX = 1000 };

enum stakes_test {
	STAKES_EQUALS,
	STAKES_ONE_OF,
	STAKES_MATCHES,
	STAKES_AT_LEAST,
	STAKES_AT_MOST,
	N_STAKES_TESTS
};

struct regex;

struct stakes_rule {
	struct str variable;
	enum stakes_test test;
	const struct str *value; /* equals, one_of: folded */
	int n_value;
	const struct regex *regex; /* matches */
	struct decimal bound;	   /* at_least, at_most */
	enum stakes stakes, absent;
	bool has_absent;
	struct str by, by_absence, by_doubt; /* what stakes_by says */
};

/* The profile's list; NULL: it has none. Each fault is added as "stakes_rules[0].stakes: what is wrong; the mend". */
const struct stakes_rule *stakes_rules_read(struct arena *, const struct json *array, int *n,
					    struct faults *);

/* Sets stakes and stakes_by of a job just read. All rules together take some 5 ms at the worst. */
void stakes_settle(struct job *, const struct profile *);

/* As they were settled when it came, whatever would be settled today. */
void stakes_stored(struct arena *, struct job *, const struct job_row *);

#endif
