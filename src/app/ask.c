#include "app/ask.h"

#include "core/row.h"

enum status ask(struct pg *pg, const char *sql, const char *const *param, int n_param,
		struct json **out, struct err *err)
{
	struct pg_rows *rows;
	enum status status = pg_script(pg, "set timezone to 'UTC'", err);

	if (status == ST_OK)
		status = pg_query(pg, sql, param, n_param, &rows, err);
	if (status != ST_OK)
		return status;
	struct str text = pg_text(rows, 0, 0);
	if (json_read(text.p ? text : STR_OF("null"), out, err) != JSON_FINE)
		status = ST_INVALID;
	pg_rows_free(rows);
	return status;
}

struct str ask_text(const struct json *object, const char *key)
{
	struct str s = {NULL, 0};

	(void)json_get_str(object, key, &s);
	return s;
}

int64_t ask_number(const struct json *object, const char *key)
{
	int64_t n = ROW_NULL;

	(void)json_get_int(object, key, INT64_MIN, INT64_MAX, &n);
	return n;
}

bool ask_true(const struct json *object, const char *key)
{
	bool yes = false;

	return json_get_bool(object, key, &yes) && yes;
}
