/*
 * io/reactor.h - the event loop: the one place that sleeps. Over libuv, one thread; every callback runs on it.
 *
 * After each wake, before any other callback, the guard is asked: a worker whose lease ran out while it was stopped
 * must not act on anything that waited for it (the guard ends the process then). After all callbacks of a wake the turn
 * functions run, in the order they were added: what many callbacks queued goes out together there.
 */
#ifndef IO_REACTOR_H
#define IO_REACTOR_H

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

struct reactor;
struct watch; /* a file descriptor */
struct timer;

typedef void reactor_fn(void *owner);

struct reactor *reactor_new(void);
/* All watches and timers must be closed (else BUG). No callback follows, also not of what is still being resolved. */
void reactor_free(struct reactor *);

void reactor_guard(struct reactor *, reactor_fn *, void *owner);
void reactor_turn(struct reactor *, reactor_fn *, void *owner);
void reactor_turn_end(struct reactor *,
		      void *owner); /* no turn function of @owner is called any more */
/* The next turn comes without sleeping: a turn function had more to do than it wanted to do at once, or gave work to one
 * that stands before it. Within a callback it asks for nothing: the turn comes anyway. */
void reactor_again(struct reactor *);

enum { WATCH_READ = 1, WATCH_WRITE = 2 };
typedef void watch_fn(void *owner, int events); /* an error shows as both */
struct watch *watch_new(struct reactor *, int fd, watch_fn *, void *owner);
void watch_set(struct watch *, int events); /* 0 stops; costs nothing when unchanged */
void watch_close(struct watch *); /* before the fd is closed; no callback follows; NULL is fine */

struct timer *timer_new(struct reactor *, reactor_fn *, void *owner);
void timer_start(struct timer *, int64_t delay_ms,
		 int64_t repeat_ms); /* repeat 0: once. Starts anew if running */
void timer_stop(struct timer *);
void timer_close(struct timer *); /* NULL is fine */

/* Resolves @host off the loop; the first address as text, absent on failure. One callback, always later. */
typedef void resolved_fn(void *owner, struct str address);
void reactor_resolve(struct reactor *, const char *host, resolved_fn *, void *owner);

/* The handler runs as a callback. Signals stay handled until reactor_free(). */
typedef void signal_fn(void *owner, int signal_no);
void reactor_signal(struct reactor *, int signal_no, signal_fn *, void *owner);

void reactor_run(struct reactor *);  /* until reactor_stop() */
void reactor_stop(struct reactor *); /* after the current turn */

/* libuv's name and version, for `draftmill --version`. */
void reactor_library(struct buf *out);

#endif
