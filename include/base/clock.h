/*
 * base/clock.h - reading clocks, and times as text. Core code gets its time with the fact and reads no clock.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/buf.h"

int64_t clock_unix_ms(void);
/* Never falls and goes on while the machine or the process sleeps (CLOCK_BOOTTIME). */
int64_t clock_mono_ms(void);

/* RFC 3339 with an offset or Z, to the millisecond (more digits are cut). Years 1970..9999. */
bool time_read(struct str, int64_t *unix_ms);
/* "2026-11-30T12:00:00.123Z"; 24 characters. */
void time_write(struct buf *, int64_t unix_ms);

#endif
