/*
 * base/status.h - how a fallible function ends.
 *
 * Three kinds of trouble, kept apart: a data fault (a bad critique, a 429) is a fact of the domain and has its own
 * type there; a fault of the environment is one of the statuses below, and the caller tries again or gives up; a bug
 * ends the process (safe: the restart replays the trail).
 */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

enum status {
	ST_OK,
	ST_AGAIN,    /* not now: a buffer is full, a limit is reached; try later */
	ST_DOWN,     /* a dependency does not answer; reconnect, then try again */
	ST_FENCED,   /* this worker incarnation is over; end with EXIT_TEMPORARY */
	ST_DIVERGED, /* a stored step is not what this program would decide */
	ST_INVALID,  /* input or configuration is wrong; struct err says where and how to mend it */
};

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(format_arg, first_arg) __attribute__((format(printf, format_arg, first_arg)))

/* A state that cannot be: prints place and text to stderr and aborts. */
#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void bug_at(const char *file, int line, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
