/*
 * io/child.h - runs a command, without a shell, for what it prints: a password, a tool's findings.
 *
 * It inherits no open file. It is killed, with its process group, at the time limit. The output may be a secret: it is wiped when
 * the callback returns. The first line of its standard error tells why it failed.
 */
#ifndef IO_CHILD_H
#define IO_CHILD_H

#include "base/buf.h"
#include "base/err.h"
#include "io/reactor.h"

enum { CHILD_OUTPUT_MAX = 64 << 10 }; /* bytes; more is a failure */

struct child;

struct child_how {
	const char *const *argv; /* ends with NULL; a name without a slash is looked for in PATH.
				    Borrowed until the callback */
	const char *const *environment; /* "NAME=value", ends with NULL; NULL: this process's */
	struct str input;		/* all of its standard input; not kept */
	int64_t limit_ms;
};

/* ST_OK: @output is all of its standard output, valid for the call. Else it is absent and @why names the command and tells. ST_DOWN: it
 * could not be started, now; ST_INVALID: it did not end with 0, or passed a limit. Once, always later. The child is gone then. */
typedef void child_fn(void *owner, enum status, struct str output, const struct err *why);

struct child *child_start(struct reactor *, const struct child_how *, child_fn *, void *owner);
void child_cancel(struct child *); /* kills it; no callback follows. NULL is fine */

/* The same, waiting for it: @out is added to. ST_DOWN: it failed. */
enum status child_run(const struct child_how *, struct buf *out, struct err *err) MUST_CHECK;

#endif
