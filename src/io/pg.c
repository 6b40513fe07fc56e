#include "io/pg.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/log.h"
#include "base/memory.h"
#include "core/row.h"
#include "io/child.h"
#include "pg_conn.h"

/* ---- connecting ---- */

bool params_init(struct pg_params *p, const char *conninfo, const char *application_name)
{
	*p = (struct pg_params){.option = PQconninfoParse(conninfo, NULL)};
	if (!p->option)
		return false;
	for (const PQconninfoOption *o = p->option; o->keyword; o++) {
		if (o->val && strcmp(o->keyword, "application_name") != 0)
			params_default(p, o->keyword, o->val);
	}
	params_default(p, "application_name", application_name);
	params_default(p, "client_encoding", "UTF8");
	params_default(p, "connect_timeout", "10");
	/* A silent network is noticed after about 30 s, not after hours. */
	params_default(p, "keepalives_idle", "10");
	params_default(p, "keepalives_interval", "5");
	params_default(p, "keepalives_count", "4");
	params_default(p, "tcp_user_timeout", "30000"); /* ms */
	return true;
}

void params_default(struct pg_params *p, const char *key, const char *value)
{
	if (!params_get(p, key))
		params_put(p, key, value);
}

void params_put(struct pg_params *p, const char *key, const char *value)
{
	if (p->n + 1 == sizeof p->key / sizeof *p->key)
		BUG("more than %d connection options", p->n);
	p->key[p->n] = key;
	p->value[p->n++] = value;
}

const char *params_get(const struct pg_params *p, const char *key)
{
	for (int i = 0; i < p->n; i++) {
		if (strcmp(p->key[i], key) == 0)
			return p->value[i];
	}
	return NULL;
}

void params_release(struct pg_params *p)
{
	PQconninfoFree(p->option);
}

void pg_say(char *out, size_t max, const char *message)
{
	size_t n = 0;
	for (const char *c = message; *c && n + 1 < max; c++)
		out[n++] = *c == '\n' || *c == '\t' ? ' ' : *c;
	while (n && out[n - 1] == ' ')
		n--;
	out[n] = '\0';
}

enum status pg_conninfo_check(const char *conninfo, bool may_hold_secret, struct err *err)
{
	PQconninfoOption *option = PQconninfoParse(conninfo, NULL);
	const char *secret = NULL;
	if (!option)
		return err_set(
			err, ST_INVALID,
			"no libpq connection string; write it as `host=.. dbname=.. user=..` or "
			"as postgresql://..");
	for (const PQconninfoOption *o = option; o->keyword && !may_hold_secret; o++) {
		if (o->val && *o->dispchar == '*') /* libpq's mark of what is not to be shown */
			secret = o->keyword;
	}
	enum status status =
		secret ? err_set(err, ST_INVALID,
				 "a %s does not belong here; put it into a file named by "
				 "passfile=.., or give database.password_command",
				 secret)
		       : ST_OK;
	PQconninfoFree(option);
	return status;
}

/* ---- the password ---- */

static const char *const *command; /* of the process: it has one database */

void pg_password_command(const char *const *argv)
{
	command = argv;
}

const char *const *password_command(void)
{
	return command;
}

enum status password_read(struct str output, char password[PASSWORD_MAX], struct err *err)
{
	size_t n = 0;
	while (n < output.n && output.p[n] != '\n' && output.p[n] != '\r')
		n++;
	if (n == 0 || n >= PASSWORD_MAX || memchr(output.p, '\0', n))
		return err_set(
			err, ST_INVALID,
			"the command %s printed no password: its first line is empty, too long "
			"or not text",
			command[0]);
	memcpy(password, output.p, n);
	password[n] = '\0';
	return ST_OK;
}

/* Adds the password to @params, from the command if there is one. */
static enum status ask_password(struct pg_params *params, char password[PASSWORD_MAX],
				struct err *err)
{
	struct buf output = BUF(CHILD_OUTPUT_MAX);
	if (!command)
		return ST_OK;
	enum status status = child_run(
		&(struct child_how){.argv = command, .limit_ms = PASSWORD_MS}, &output, err);
	if (status == ST_OK)
		status = password_read(buf_view(&output), password, err);
	if (status == ST_OK)
		params_put(params, "password", password);
	else
		err_at(err, "database.password_command: ");
	if (output.n)
		explicit_bzero(output.p, output.n);
	buf_release(&output);
	return status;
}

/* ---- results: a struct pg_rows is libpq's PGresult under another name ---- */

static const PGresult *result(const struct pg_rows *rows)
{
	return (const PGresult *)(const void *)rows;
}

int pg_n(const struct pg_rows *rows)
{
	return PQntuples(result(rows));
}

struct str pg_text(const struct pg_rows *rows, int row, int column)
{
	if (PQgetisnull(result(rows), row, column))
		return (struct str){NULL, 0};
	return (struct str){PQgetvalue(result(rows), row, column),
			    (size_t)PQgetlength(result(rows), row, column)};
}

int64_t pg_int(const struct pg_rows *rows, int row, int column)
{
	struct str text = pg_text(rows, row, column);
	return text.p ? strtoll(text.p, NULL, 10) : ROW_NULL;
}

struct str pg_bytes(const struct pg_rows *rows, struct arena *a, int row, int column)
{
	struct str hex = pg_text(rows, row, column);
	if (!hex.p)
		return hex;
	size_t n = hex.n / 2 - 1;
	uint8_t *p = arena_alloc(a, n + 1);
	if (!str_starts(hex, "\\x") || !hex_read(str_sub(hex, 2, 2 * n), p, n))
		BUG("column %d is no bytea in hex", column);
	return (struct str){(const char *)p, n};
}

void pg_rows_free(struct pg_rows *rows)
{
	PQclear((PGresult *)(void *)rows);
}

/* ---- blocking ---- */

static void log_notice(void *owner, const PGresult *notice)
{
	const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
	if (severity && strcmp(severity, "WARNING") == 0)
		log_warn("database_warning",
			 L_STR("text", PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY)));
}

enum status pg_connect(const char *conninfo, const char *application_name, struct pg **out,
		       struct err *err)
{
	struct pg_params params;
	char password[PASSWORD_MAX];
	*out = NULL;
	if (!params_init(&params, conninfo, application_name))
		return pg_conninfo_check(conninfo, true, err);
	enum status status = ask_password(&params, password, err);
	PGconn *conn = status == ST_OK ? PQconnectdbParams(params.key, params.value, 0) : NULL;
	params_release(&params);
	explicit_bzero(password, sizeof password);
	if (status != ST_OK)
		return ST_DOWN;
	if (PQstatus(conn) != CONNECTION_OK) {
		char why[400];
		pg_say(why, sizeof why, PQerrorMessage(conn));
		PQfinish(conn);
		return err_set(err, ST_DOWN, "no connection to PostgreSQL: %s", why);
	}
	PQsetNoticeReceiver(conn, log_notice, NULL);
	*out = mem_new(struct pg);
	(*out)->conn = conn;
	return ST_OK;
}

/* Keeps @r in *rows, or frees it and tells what went wrong. */
static enum status check(struct pg *pg, PGresult *r, struct pg_rows **rows, struct err *err)
{
	ExecStatusType status = PQresultStatus(r);
	if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ||
	    status == PGRES_EMPTY_QUERY) {
		if (rows)
			*rows = (struct pg_rows *)(void *)r;
		else
			PQclear(r);
		return ST_OK;
	}
	char why[400];
	pg_say(why, sizeof why, r ? PQresultErrorMessage(r) : PQerrorMessage(pg->conn));
	const char *field = r ? PQresultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
	char sqlstate[6] = "";
	if (field)
		pg_say(sqlstate, sizeof sqlstate, field);
	PQclear(r);
	if (PQstatus(pg->conn) != CONNECTION_OK)
		return err_set(err, ST_DOWN, "the connection to PostgreSQL is gone: %s", why);
	bool no_schema = strcmp(sqlstate, "3F000") == 0 || strcmp(sqlstate, "42P01") == 0;
	return err_set(err, ST_INVALID, "PostgreSQL (%s): %s%s", sqlstate, why,
		       no_schema ? "; run `draftmill migrate`" : "");
}

enum status pg_query(struct pg *pg, const char *sql, const char *const *param, int n_param,
		     struct pg_rows **out, struct err *err)
{
	if (out)
		*out = NULL;
	return check(pg, PQexecParams(pg->conn, sql, n_param, NULL, param, NULL, NULL, 0), out,
		     err);
}

enum status pg_script(struct pg *pg, const char *sql, struct err *err)
{
	return check(pg, PQexec(pg->conn, sql), NULL, err);
}

/* A pooler has told us a number of its own in the place of a server process. */
enum status pg_refuse_pooler(struct pg *pg, struct err *err)
{
	struct pg_rows *rows;
	enum status status = pg_query(pg, "select pg_backend_pid()", NULL, 0, &rows, err);
	if (status != ST_OK)
		return status;
	if (pg_int(rows, 0, 0) != PQbackendPID(pg->conn))
		status = err_set(
			err, ST_INVALID,
			"a pooler such as PgBouncer is between us and PostgreSQL; a worker "
			"needs sessions of its own (it ends a dead worker's), so connect to "
			"PostgreSQL's own host and port");
	pg_rows_free(rows);
	return status;
}

void pg_library(struct buf *out)
{
	int version = PQlibVersion(); /* 150004 is 15.4 */

	buf_printf(out, "libpq %d.%d", version / 10000, version % 10000);
}
