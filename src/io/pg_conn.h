/*
 * pg_conn.h - what pg.c (blocking) and pg_loop.c (on the loop) share.
 */
#ifndef PG_CONN_H
#define PG_CONN_H

#include <libpq-fe.h>

#include "io/pg.h"

enum pg_state {
	PG_WAITING,   /* for the next try to connect */
	PG_RESOLVING, /* the host's name */
	PG_ASKING,    /* a command for the password */
	PG_CONNECTING,
	PG_UP,
	PG_BROKEN, /* a send failed; down() follows from the loop */
};

struct expected { /* an answer that the server owes */
	enum { EXPECT_ANSWER, EXPECT_PREPARED, EXPECT_SYNC } what;
	const char *name; /* of the statement prepared */
};

struct prepared {
	const char *name;
	int64_t batch; /* that prepares it */
	bool sure;     /* the server said so */
};

struct pg {
	PGconn *conn; /* NULL: none */

	/* on the loop only */
	struct reactor *reactor; /* NULL: blocking */
	struct pg_events events;
	void *owner;
	char *conninfo, *application_name;
	enum pg_state state;
	struct timer *timer; /* next try, or the limit of this one */
	struct watch *watch;
	struct resolving *resolving;
	char hostaddr
		[64]; /* of the host, as just resolved; "": libpq needs none, or was given it */
	struct child *child;	   /* asked for the password */
	int64_t delay_ms;	   /* before the next try */
	struct expected *expected; /* [first, end) of cap */
	size_t first, end, cap;
	struct prepared *prepared;
	size_t n_prepared, cap_prepared;
	int64_t batch;	       /* being sent; counts from 0 */
	struct pg_error error; /* first of the batch whose answers come in; text "" = none */
};

/* What libpq is told: the conninfo's options, then our defaults for those that it leaves open. */
struct pg_params {
	PQconninfoOption *option;
	const char *key[64], *value[64];
	int n;
};
/* false: @conninfo cannot be read. Strings given are borrowed until params_release(). */
bool params_init(struct pg_params *, const char *conninfo, const char *application_name);
void params_put(struct pg_params *, const char *key, const char *value); /* the last one counts */
void params_default(struct pg_params *, const char *key, const char *value);
const char *params_get(const struct pg_params *, const char *key); /* NULL: not given */
void params_release(struct pg_params *);

/* The command of pg_password_command(), NULL: none; and the password in what it printed, NUL-terminated: wipe it. */
enum { PASSWORD_MS = 10000, PASSWORD_MAX = 16 << 10 };
const char *const *password_command(void);
enum status password_read(struct str output, char password[PASSWORD_MAX],
			  struct err *err) MUST_CHECK;

/* libpq's words on one line, without those after @max. */
void pg_say(char *out, size_t max, const char *message);

#endif
