/*
 * core/check.h - deterministic checks of a text, run on every draft before and after refinement.
 *
 * A check is {"name", "type", arguments, "severity" 1..5, "hard"}; `hard` is true unless said otherwise, `severity` 4. A type is one row of
 * the table in its check_FAMILY.c; check.c lists the families. Types of today:
 *
 *	graphemes     min, max            length in grapheme clusters (UAX #29), of the text without white space at its ends
 *	words         min, max            length in words, see base/text.h
 *	must_include  values, variables   each value, and each named job variable's value, occurs (text_fold()); a digit more before or behind
 *	                                  makes another number. Red, too, if the job gives a variable no value
 *	forbidden     terms               none of the terms occurs (text_fold()); a term that begins or ends in a Latin, Greek or Cyrillic
 *	                                  letter or a digit does not match inside a longer word
 *	regex         pattern, match,     PCRE2, UTF; match true: must be found, false: must not. Limits on match, depth, heap and on the
 *	              describe            work: a pattern that meets one is a red check that says so. `describe` stands for the
 *	                                  pattern in prompts
 *	json                              the whole text, trimmed, is one JSON value (base/json.h)
 *
 * All checks of a text share CHECK_WORK_MAX, so that no draft holds up other jobs: to fold it, once for all terms, costs 24 for each
 * byte and 100 more for one that is slow (base/text.h), so does the value of a variable; a term 1 for each byte of the text, 8 if it
 * stands in longer words; a length 24 a byte of the text, `json` 8; a regex 64 a step and 1 a byte passed. A check that does not get by
 * with what is left is red and says so. At 5 kB that is 3,000 terms, or 130 lengths.
 */
#ifndef CORE_CHECK_H
#define CORE_CHECK_H

#include "base/json.h"

struct job;
struct check_type;

enum {
	CHECKS_MAX = 100,	       /* of a profile; of a job as well (job.schema.json) */
	CHECK_DETAIL_BYTES_MAX = 1000, /* what is over it ends in "..." */
	CHECK_WORK_MAX = 16000000,     /* of all checks of one text: about 8 ms */
};

struct check {
	struct str name; /* [a-z0-9_-]{1,40}, one of its kind in a profile */
	const struct check_type *type;
	const void *args; /* compiled by the type; in the arena */
	int64_t severity;
	bool hard;
};

struct check_result {
	const struct check *check;
	bool ok;
	struct str detail; /* for a person and for the refiner: what is wrong; absent when ok */
	int64_t at, n;	   /* bytes of the text concerned; at -1 = the whole text */
};

/* A text under all its checks, one after another. */
struct checked {
	struct arena *scratch; /* of what the checks share; freed by the caller */
	struct str text;
	struct str folded; /* text_fold(), made for the first check that asks */
	int64_t work;	   /* done so far, up to CHECK_WORK_MAX */
	int64_t n_walked;  /* bytes passed to tell where what was found stands */
};

struct check_type {
	const char *name;
	/* Reads the arguments of @spec into *args (arena). ST_INVALID: *err names the key and the mend; unknown keys are refused by check_read(). */
	enum status (*read)(struct arena *a, const struct json *spec, const void **args,
			    struct err *err);
	/* Sets ok, detail, at, n. What is in @scratch, the detail too, is gone after check_run(), which copies it. */
	void (*run)(struct arena *scratch, const void *args, const struct job *, struct checked *,
		    struct check_result *out);
	/* The constraint as one sentence for a prompt, without a final line end. */
	void (*phrase)(const void *args, const struct job *, bool japanese, struct buf *out);
	const char *const *keys; /* argument names, NULL at the end */
};

/* One check from JSON; lives in @a. */
enum status check_read(struct arena *a, const struct json *spec, struct check *out,
		       struct err *err) MUST_CHECK;

void check_run(struct arena *a, const struct check *, const struct job *, struct checked *,
	       struct check_result *out);

/* A variable that must_include wants the value of and that the job gives none; absent: there is no such. */
struct str check_lacks(const struct check *, const struct job *);

/* For the types: takes @work from what is left. False, and the check is red: so much is not left. */
bool check_afford(struct checked *, int64_t work, struct check_result *out) MUST_CHECK;

/* Writes what the trail and the events tell of a result into an open object. */
void check_put(const struct check_result *, bool with_detail, struct json_out *);

/* The table of types, for documentation and for suggestions; NULL past the end. */
const struct check_type *check_type_at(size_t i);

/* PCRE2's name and version, for `draftmill --version`. */
void check_library(struct buf *out);

#endif
