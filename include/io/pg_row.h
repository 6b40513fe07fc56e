/*
 * io/pg_row.h - rows of the trail, read back: the other direction of io/pg_array.h. Columns are named in core/row.c only.
 */
#ifndef IO_PG_ROW_H
#define IO_PG_ROW_H

#include "base/buf.h"
#include "core/row.h"
#include "io/pg.h"

/* What stands between `select` and `from`, so that row_read() can read the answer. */
void row_columns(struct buf *out, const struct table *);

/* Fills *out, the table's struct, from the first n_column columns of the @i-th row; texts are copied into @a.
 * What the struct has no way to say, a NULL (an erased salt) or a digest of another length, becomes zero bytes. */
void row_read(const struct table *, const struct pg_rows *, int i, struct arena *a, void *out);

#endif
