/*
 * app/profile_test.h - `draftmill profile test`: plays the sample jobs of profiles (app/sample.h), under each arm of those that have arms, and tells what went otherwise than expected.
 */
#ifndef APP_PROFILE_TEST_H
#define APP_PROFILE_TEST_H

#include "app/profiles.h"

struct profile_test {
	const struct profiles *profiles;
	struct str name;   /* absent: all */
	struct buf *junit; /* gets the report as JUnit's XML; NULL: none */
};

/* Prints to stdout a line for each profile, and each difference. Returns an exit status: 0 all as expected, 1 one was not, 65 samples cannot be
 * read, or a profile that was named has none. */
int profile_test_run(const struct profile_test *);

#endif
