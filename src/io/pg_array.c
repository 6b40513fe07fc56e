#include "io/pg_array.h"

#include <endian.h>

/* PostgreSQL counts microseconds from 2000-01-01. */
static const int64_t PG_EPOCH_MS = 946684800000;

static const struct {
	const char *name;
	uint32_t oid;
	size_t n; /* bytes of a value; 0: any number */
} type[] = {
	[COL_BIGINT] = {"bigint", 20, 8},	[COL_INTEGER] = {"integer", 23, 4},
	[COL_SMALLINT] = {"smallint", 21, 2},	[COL_TIME] = {"timestamptz", 1184, 8},
	[COL_BOOLEAN] = {"boolean", 16, 1},	[COL_TEXT] = {"text", 25, 0},
	[COL_BYTES] = {"bytea", 17, 0},		[COL_SHA] = {"bytea", 17, SHA_BYTES},
	[COL_SALT] = {"bytea", 17, SALT_BYTES}, [COL_UUID] = {"uuid", 2950, UUID_BYTES},
};

const char *array_type(enum column_type t)
{
	return type[t].name;
}

static void put_int32(struct buf *out, int64_t value)
{
	uint32_t be = htobe32((uint32_t)value);
	buf_put(out, &be, sizeof be);
}

static void put_value(struct buf *out, const void *p, size_t n)
{
	put_int32(out, (int64_t)n);
	buf_put(out, p, n);
}

static void put_integer(struct buf *out, int64_t value, size_t n)
{
	uint64_t be = htobe64((uint64_t)value);
	int64_t limit = n < 8 ? INT64_C(1) << (8 * n - 1) : 0;
	if (limit && (value < -limit || value >= limit))
		n = 8;
	put_value(out, (const char *)&be + 8 - n, n);
}

static void put_field(struct buf *out, enum column_type t, const char *field)
{
	switch (t) {
	case COL_BIGINT:
	case COL_INTEGER:
	case COL_SMALLINT:
	case COL_TIME: {
		int64_t value = *(const int64_t *)(const void *)field;
		if (value == ROW_NULL)
			put_int32(out, -1);
		else
			put_integer(out, t == COL_TIME ? (value - PG_EPOCH_MS) * 1000 : value,
				    type[t].n);
		return;
	}
	case COL_BOOLEAN:
		put_value(out, *(const bool *)field ? "\1" : "\0", 1);
		return;
	case COL_TEXT:
	case COL_BYTES: {
		const struct str *s = (const struct str *)(const void *)field;
		if (s->p)
			put_value(out, s->p, s->n);
		else
			put_int32(out, -1);
		return;
	}
	case COL_SHA:
	case COL_SALT:
	case COL_UUID:
		put_value(out, field, type[t].n);
	}
}

void array_column(struct buf *out, const struct column *c, const void *const *row, int n)
{
	put_int32(out, 1); /* dimensions */
	put_int32(out, 1); /* there may be NULLs */
	put_int32(out, type[c->type].oid);
	put_int32(out, n);
	put_int32(out, 1); /* lower bound */
	for (int i = 0; i < n; i++)
		put_field(out, c->type, (const char *)row[i] + c->offset);
}

struct pg_param param_int8(uint8_t room[8], int64_t value)
{
	uint64_t be = htobe64((uint64_t)value);
	memcpy(room, &be, sizeof be);
	return (struct pg_param){20, {(const char *)room, sizeof be}};
}

struct pg_param param_text(struct str s)
{
	return (struct pg_param){25, s};
}
