/*
 * pattern.h - regular expressions of checks, over PCRE2: UTF-8, Unicode classes, no \C. Each search has bounded work and memory.
 */
#ifndef CORE_PATTERN_H
#define CORE_PATTERN_H

#include "base/arena.h"
#include "base/err.h"

enum { PATTERN_BYTES_MAX = 4096 }; /* of one that a person writes */

struct pattern;

enum pattern_result { PATTERN_FOUND, PATTERN_NOT_FOUND, PATTERN_UNDECIDED };

/* Lives in @a. ST_INVALID: *err names the byte. */
enum status pattern_read(struct arena *a, struct str text, const struct pattern **out,
			 struct err *err) MUST_CHECK;

/* The first place of @text that fits: bytes [*at, *at + *n). What it costs is added to *work: 64 a step through the pattern, 1 a byte
 * passed. PATTERN_UNDECIDED: *work would pass @work_max, or a limit on match, depth or heap is met; *why says which. */
enum pattern_result pattern_search(const struct pattern *, struct str text, int64_t *work,
				   int64_t work_max, int64_t *at, int64_t *n,
				   struct err *why) MUST_CHECK;

#endif
