#include "io/pg.h"

#include <stdlib.h>

#include "base/digest.h"
#include "base/log.h"
#include "base/memory.h"
#include "core/row.h"
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
	if (params_get(p, key))
		return;
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
	*out = NULL;
	if (!params_init(&params, conninfo, application_name))
		return err_set(err, ST_INVALID,
			       "database.conninfo is no libpq connection string; write it as "
			       "`host=.. dbname=.. user=..` or as postgresql://..");
	PGconn *conn = PQconnectdbParams(params.key, params.value, 0);
	params_release(&params);
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

void pg_library(struct buf *out)
{
	int version = PQlibVersion(); /* 150004 is 15.4 */

	buf_printf(out, "libpq %d.%d", version / 10000, version % 10000);
}
