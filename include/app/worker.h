/*
 * app/worker.h - `draftmill work`: consumer, fleet, trail, models, jobs and publisher joined on one event loop.
 *
 *	STARTING --registered--> WORKING --SIGTERM or drained--> STOPPING --all stored and published, or the limit--> LEAVING --> end
 *
 * Fenced at any time: the process ends at once with EXIT_TEMPORARY; whoever took the jobs over goes on. SIGHUP, before STOPPING: app/reload.h.
 * A service manager is told of WORKING, a reload, STOPPING and, by the loop itself, of being alive: io/notify.h.
 */
#ifndef APP_WORKER_H
#define APP_WORKER_H

#include "app/profiles.h"

/* @drain: ends when everything that stood on the job topics at the start has its outcome, whichever worker makes it.
 * Returns the exit status: 0 orderly end, 75 a dependency is down at the start or this incarnation is over, 78 configuration. */
int worker_run(const struct settings *, struct profiles *, bool drain);

#endif
