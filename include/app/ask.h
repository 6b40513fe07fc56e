/*
 * app/ask.h - a question to PostgreSQL whose answer is one JSON value: what reading commands print, and make their text from.
 */
#ifndef APP_ASK_H
#define APP_ASK_H

#include "base/json.h"
#include "io/pg.h"

/* @sql gives one row of one column; NULL is JSON null. Times are in UTC. json_free(*out). */
enum status ask(struct pg *, const char *sql, const char *const *param, int n_param,
		struct json **out, struct err *err) MUST_CHECK;

/* Members of the answer: absent, ROW_NULL or false where there is none of that type. */
struct str ask_text(const struct json *object, const char *key);
int64_t ask_number(const struct json *object, const char *key);
bool ask_true(const struct json *object, const char *key);

#endif
