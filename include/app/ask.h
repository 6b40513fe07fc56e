/*
 * app/ask.h - a question to PostgreSQL whose answer is one JSON value: what reading commands print, and read their text from.
 */
#ifndef APP_ASK_H
#define APP_ASK_H

#include "base/json.h"
#include "io/pg.h"

/* In SQL: a time as base/clock.h writes it. */
#define ASK_TIME(column) "to_char(" column " at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"

/* @sql gives one row of one column; NULL is JSON null. json_free(*out). */
enum status ask(struct pg *, const char *sql, const char *const *param, int n_param, struct json **out,
		struct err *err) MUST_CHECK;

#endif
