/*
 * io/pg.h - one connection to PostgreSQL, over libpq; no foreign type shows. Two ways of use:
 *
 *   blocking, for commands:      pg_connect(), pg_query()
 *   on the loop, for the worker: pg_open(), pg_send() .. pg_sync()
 *
 * Parameters are binary; io/pg_array.h makes them. On the loop the host's name is resolved off it (a list of hosts is not) and the
 * connection is non-blocking.
 */
#ifndef IO_PG_H
#define IO_PG_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "io/reactor.h"

struct pg;
struct pg_rows; /* a result */

struct pg_param {
	uint32_t oid;	  /* 0: let the server tell */
	struct str value; /* binary; absent = NULL */
};

/* What the server said no to. class "22", "23": the data is at fault; DM001: fenced. */
struct pg_error {
	char sqlstate[6]; /* "" : the connection itself, or none */
	char text[400];
};

/* ---- results: text format for both ways of use; pg_rows_free() them ---- */
int pg_n(const struct pg_rows *);
struct str pg_text(const struct pg_rows *, int row, int column); /* absent = NULL */
int64_t pg_int(const struct pg_rows *, int row, int column);	 /* ROW_NULL for NULL */
struct str pg_bytes(const struct pg_rows *, struct arena *, int row,
		    int column);     /* bytea, decoded into the arena */
void pg_rows_free(struct pg_rows *); /* NULL is fine, and has no rows */

/* Whether libpq can read it. @may_hold_secret false: also whether it holds no password, which then is refused. */
enum status pg_conninfo_check(const char *conninfo, bool may_hold_secret,
			      struct err *err) MUST_CHECK;
/* Run before each connection of this process, of either way: the first line of its output is the password. @argv as io/child.h has it,
 * borrowed for good; NULL, as at the start: none. It has 10 s; on the loop nothing waits for it. */
void pg_password_command(const char *const *argv);

/* ---- blocking ---- */
enum status pg_connect(const char *conninfo, const char *application_name, struct pg **out,
		       struct err *err) MUST_CHECK;
/* @sql with $1.. as text parameters; NULL entries are NULL. ST_INVALID: the server's error; ST_DOWN: the connection is gone. */
enum status pg_query(struct pg *, const char *sql, const char *const *param, int n_param,
		     struct pg_rows **out, struct err *err) MUST_CHECK;
/* ST_INVALID: not PostgreSQL itself is at the other end but a pooler, which gives a session to whoever asks next. */
enum status pg_refuse_pooler(struct pg *, struct err *err) MUST_CHECK;
/* Several statements, no result: for migrations. */
enum status pg_script(struct pg *, const char *sql, struct err *err) MUST_CHECK;
void pg_free(struct pg *); /* of either way; not from one of its callbacks. NULL is fine */

/* ---- on the loop ---- */
struct pg_events {
	void (*up)(void *owner); /* connected; nothing is prepared */
	void (*down)(
		void *owner,
		const char *
			why); /* gone, or could not connect; reconnects by itself (backoff to 5 s) */
	/* One statement's answer, in order of sending; not committed before synced(). @rows are the owner's now; NULL with an
	 * error, or when the batch was already aborted. */
	void (*answer)(void *owner, struct pg_rows *rows);
	/* The batch's end: committed, or rolled back with the first error. */
	void (*synced)(void *owner, const struct pg_error *first_error /* NULL: committed */);
};
struct pg *pg_open(struct reactor *, const char *conninfo, const char *application_name,
		   const struct pg_events *, void *owner);
bool pg_is_up(const struct pg *);
/* Queues; one implicit transaction until pg_sync(). An unnamed or a prepared statement: with @name (which lives as long as @pg) the
 * text is prepared once a connection. Values are copied. Both do nothing while the connection is down. */
void pg_send(struct pg *, const char *name, const char *sql, const struct pg_param *, int n_param);
void pg_sync(struct pg *);

/* libpq's name and version, for `draftmill --version`. */
void pg_library(struct buf *out);

#endif
