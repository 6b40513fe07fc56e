/* tests/unit/beat.h - whether a loop was ever held up: a timer on it, and the longest wait between two of its beats. */
#ifndef TESTS_BEAT_H
#define TESTS_BEAT_H

#include "io/reactor.h"

enum { BEAT_MS = 20, HELD_UP_MS = 1000 }; /* a loaded machine may take half a second off */

struct beat {
	struct timer *timer;
	int64_t last_ms, longest_ms;
};

void beat_start(struct beat *, struct reactor *);
/* Fails the test if the loop was held up since the start. */
void beat_end(struct beat *);

#endif
