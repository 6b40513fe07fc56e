/*
 * fake_time.h - the clock and timers of a test that lives through hours in a moment: stands for base/clock.h's clocks and for the
 * timers of io/reactor.h.
 */
#ifndef FAKE_TIME_H
#define FAKE_TIME_H

#include "io/reactor.h"

/* Runs the timers in their order until @mono_ms of a clock that starts at 1. */
void fake_time_run(int64_t until_mono_ms);

#endif
