/*
 * base/csv.h - CSV as RFC 4180 has it, row by row, from a file in any encoding.
 *
 * Own code: libcsv knows neither the line where an open quote began nor how to go on behind a fault, trims fields and has no
 * ceiling for a row. The rules where the RFC is silent or readers differ:
 *
 *   a row ends with CRLF, with LF, or with the file; empty lines are no rows
 *   fields are kept byte by byte; inside quotes also CR, LF and the delimiter, and "" is a quote
 *   a quote inside a field that does not begin with one: the row is marked
 *   an open quote, anything but a delimiter behind a closing one, a CR alone, a NUL: nobody can say where rows begin; reading ends
 */
#ifndef BASE_CSV_H
#define BASE_CSV_H

#include "base/buf.h"
#include "base/decode.h"

struct csv;

struct csv_row {	  /* valid until the next */
	int64_t line_no;  /* where it begins, from 1; of a fault: where that is */
	struct str text;  /* the fields in order, a NUL behind each */
	int n_field;	  /* 0: there are no more rows */
	bool is_too_long; /* over the ceiling: text is cut */
	bool has_stray_quote;
};

/* Borrows the file. @row_bytes_max: ceiling of a row's text. */
struct csv *csv_new(FILE *, const char *encoding, char delimiter, size_t row_bytes_max);
void csv_free(struct csv *); /* NULL is fine */

/* ST_INVALID, ST_DOWN: nothing more can be read; why is in @err, where in row->line_no. */
enum status csv_next(struct csv *, struct csv_row *row, struct err *err) MUST_CHECK;

/* The first of the fields in *rest, which moves behind it. */
struct str csv_field(struct str *rest);

int64_t csv_bytes(const struct csv *); /* of the file, read so far */

#endif
