/*
 * regex.h - regular expressions (PCRE2, UTF, Unicode properties) over texts and patterns that nobody has vouched for.
 *
 * Limits on match, depth, heap and on the work: PCRE2's match limit starts anew at each place of the text and does not see long
 * runs, so /[^x]*+[xy]/ takes time by the square of the text's length. In the units of core/check.h a call costs 400, a step through
 * the pattern 64, a byte passed 1.
 */
#ifndef REGEX_H
#define REGEX_H

#include "core/check.h"

enum { REGEX_PATTERN_BYTES_MAX = 4096, REGEX_GROUPS_MAX = 1 };

struct regex {
	struct str pattern;
	struct str describe; /* what it means, for prompt and refiner; or absent */
	int n_group;	     /* capturing ones in the pattern */
	const void *code;    /* PCRE2's, in the arena too */
};

/* Bytes [at, at + n) of the text; at -1: a group that took no part. [0] is all of the match, [1] the first group. */
struct regex_match {
	int64_t at[1 + REGEX_GROUPS_MAX], n[1 + REGEX_GROUPS_MAX];
};

enum regex_result { REGEX_NOT_FOUND, REGEX_FOUND, REGEX_UNDECIDED };

/* ST_INVALID: *err tells what is wrong with the pattern, and at which byte. */
enum status regex_compile(struct arena *a, struct str pattern, struct regex *out,
			  struct err *err) MUST_CHECK;

/* The same from the keys "pattern" and "describe" of a check; *err names the key. */
enum status regex_read(struct arena *a, const struct json *spec, struct regex *out,
		       struct err *err) MUST_CHECK;

/* The first match at or after byte @from of @text, which is valid UTF-8. *work grows by what it took; REGEX_UNDECIDED: it would pass
 * @work_max, or another limit was met; *why says which. */
enum regex_result regex_find(const struct regex *, struct str text, size_t from, int64_t *work,
			     int64_t work_max, struct regex_match *, struct err *why) MUST_CHECK;

/* The same for a check. REGEX_UNDECIDED: the check is red and says why. */
enum regex_result regex_check(struct arena *scratch, const struct regex *, struct checked *,
			      size_t from, struct regex_match *, struct check_result *) MUST_CHECK;

/* Makes a check red: "the pattern /x/ is not found", with its description before it. @what: "is not found". */
void regex_fail(struct arena *scratch, const struct regex *, const char *what,
		struct check_result *);

/* PCRE2's name and version. */
void regex_library(struct buf *out);

#endif
