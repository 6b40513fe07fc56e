/*
 * io/pg_array.h - parameters in PostgreSQL's binary format: one array a column, so that a statement takes many rows at once
 * (`insert .. select .. from unnest($1::bigint[], $2::text[])`). Binary, because text arrays cost the server half as much again.
 */
#ifndef IO_PG_ARRAY_H
#define IO_PG_ARRAY_H

#include "base/buf.h"
#include "core/row.h"
#include "io/pg.h"

/* The type as SQL says it: "bigint", "timestamptz". */
const char *array_type(enum column_type);

/* The column's values of @n >= 1 rows as one array, after what @out holds already. An integer that does not fit its type
 * is written so that the server refuses it (22P03), like any other fault of the data. */
void array_column(struct buf *out, const struct column *, const void *const *row, int n);

/* Single values. @room holds the bytes until pg_send(). */
struct pg_param param_int8(uint8_t room[8], int64_t value);
struct pg_param param_text(struct str); /* absent = NULL */

#endif
