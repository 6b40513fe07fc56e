/*
 * app/lease.h - a worker that slept past its lease is taken for dead: others go on with its jobs, and it must not act again. A stop by signal shows
 * when the process is continued, before any other code of ours runs; a machine that was paused shows as a wake that comes late.
 */
#ifndef APP_LEASE_H
#define APP_LEASE_H

#include <stdint.h>

/* From now on a SIGCONT after the lease ends the process. Once a process. */
void lease_watch(void);
/* The lease as it was last confirmed, monotonic milliseconds. */
void lease_extend(int64_t until_mono_ms);

/* Logs why and ends the process with 75, in no order: all that counts is in the trail, and others have it. */
_Noreturn void lease_lost(int64_t worker_id, const char *why);

#endif
