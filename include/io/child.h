/*
 * io/child.h - runs a command, without a shell, for what it prints: a password, a token.
 *
 * Its standard input is empty, it inherits the environment and no open file. It is killed, with its process group, at the time limit.
 * The output is a secret: it is wiped when the callback returns. The first line of its standard error tells why it failed.
 */
#ifndef IO_CHILD_H
#define IO_CHILD_H

#include "base/buf.h"
#include "base/err.h"
#include "io/reactor.h"

enum { CHILD_OUTPUT_MAX = 64 << 10 }; /* bytes; more is a failure */

struct child;

/* @output: all of standard output, valid for the call; absent when the command could not be run, did not end with 0, or passed a limit:
 * @why names the command and tells. Once, always later. The child is gone then. */
typedef void child_fn(void *owner, struct str output, const struct err *why);

/* @argv ends with NULL; a name without a slash is looked for in PATH. It is borrowed until the callback. */
struct child *child_start(struct reactor *, const char *const *argv, int64_t limit_ms, child_fn *,
			  void *owner);
void child_cancel(struct child *); /* kills it; no callback follows. NULL is fine */

/* The same, waiting for it: @out is added to. ST_DOWN: it failed. */
enum status child_run(const char *const *argv, int64_t limit_ms, struct buf *out,
		      struct err *err) MUST_CHECK;

#endif
