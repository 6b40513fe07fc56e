#include "app/ask.h"

enum status ask(struct pg *pg, const char *sql, const char *const *param, int n_param,
		struct json **out, struct err *err)
{
	struct pg_rows *rows;
	enum status status = pg_query(pg, sql, param, n_param, &rows, err);

	if (status != ST_OK)
		return status;
	struct str text = pg_text(rows, 0, 0);
	if (json_read(text.p ? text : STR_OF("null"), out, err) != JSON_FINE)
		status = ST_INVALID;
	pg_rows_free(rows);
	return status;
}
