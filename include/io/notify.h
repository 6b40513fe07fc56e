/*
 * io/notify.h - tells the service manager how the process is, by the protocol of sd_notify(3): a datagram of NAME=VALUE lines to the
 * socket that NOTIFY_SOCKET names. Without one nothing is told. Own code: it is a datagram, and libsystemd would bring more than it saves.
 *
 * Never waits: what the manager's socket does not take is lost, and the log says so.
 */
#ifndef IO_NOTIFY_H
#define IO_NOTIFY_H

#include "io/reactor.h"

/* @state: "READY=1", "RELOADING=1", "STOPPING=1". */
void notify(const char *state);

/* Tells WATCHDOG=1 from the loop, twice in the time that WATCHDOG_USEC allows for one. NULL: the manager watches nobody, or not this
 * process (WATCHDOG_PID). To be closed. */
struct timer *notify_watchdog(struct reactor *);

#endif
