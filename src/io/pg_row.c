#include "io/pg_row.h"

void row_columns(struct buf *out, const struct table *t)
{
	for (int i = 0; i < t->n_column; i++) {
		const char *before = "\"", *after = "\"";
		if (t->column[i].type == COL_TIME) {
			before = "(extract(epoch from \"";
			after = "\") * 1000)::bigint";
		} else if (t->column[i].type == COL_UUID) {
			before = "uuid_send(\"";
			after = "\")";
		}
		buf_printf(out, "%s%s%s%s", i ? ", " : "", before, t->column[i].name, after);
	}
}

static void read_fixed(const struct pg_rows *rows, int i, int k, struct arena *a, char *field,
		       size_t n)
{
	struct str bytes = pg_bytes(rows, a, i, k);
	memset(field, 0, n);
	if (bytes.p && bytes.n == n)
		memcpy(field, bytes.p, n);
}

static void read_field(enum column_type type, const struct pg_rows *rows, int i, int k,
		       struct arena *a, char *field)
{
	switch (type) {
	case COL_BIGINT:
	case COL_INTEGER:
	case COL_SMALLINT:
	case COL_TIME:
		*(int64_t *)(void *)field = pg_int(rows, i, k);
		return;
	case COL_BOOLEAN:
		*(bool *)field = str_is(pg_text(rows, i, k), "t");
		return;
	case COL_TEXT:
		*(struct str *)(void *)field = arena_str(a, pg_text(rows, i, k));
		return;
	case COL_BYTES:
		*(struct str *)(void *)field = pg_bytes(rows, a, i, k);
		return;
	case COL_SHA:
		read_fixed(rows, i, k, a, field, SHA_BYTES);
		return;
	case COL_SALT:
		read_fixed(rows, i, k, a, field, SALT_BYTES);
		return;
	case COL_UUID:
		read_fixed(rows, i, k, a, field, UUID_BYTES);
	}
}

void row_read(const struct table *t, const struct pg_rows *rows, int i, struct arena *a, void *out)
{
	for (int k = 0; k < t->n_column; k++) {
		const struct column *c = &t->column[k];
		read_field(c->type, rows, i, k, a, (char *)out + c->offset);
	}
}
