/*
 * csv.c - rows of any text, written with and without quotes: they come back as they were, by line and field; and any bytes
 * end in rows or in a fault.
 */
#include "../lib/fuzz.h"

#include "base/csv.h"

static bool needs_quotes(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (strchr("\",\r\n", s.p[i]))
			return true;
	return false;
}

static void put_field(struct fuzz *f, struct buf *b, struct str s, bool alone)
{
	if (!needs_quotes(s) && !(alone && s.n == 0) && fuzz_chance(f, 60)) {
		buf_str(b, s);
		return;
	}
	buf_putc(b, '"');
	for (size_t i = 0; i < s.n; i++)
		buf_puts(b, s.p[i] == '"' ? "\"\"" : (char[]){s.p[i], '\0'});
	buf_putc(b, '"');
}

static struct csv *open_text(struct str text, FILE **out)
{
	*out = fmemopen((void *)(uintptr_t)text.p, text.n, "r");
	return csv_new(*out, "UTF-8", ',', FUZZ_BYTES_MAX);
}

static void rows_come_back(struct fuzz *f)
{
	enum { ROWS = 5, FIELDS = 4 };
	struct str field[ROWS][FIELDS];
	int n_rows = 1 + fuzz_draw(f, ROWS), n_fields = 1 + fuzz_draw(f, FIELDS);
	int64_t line_no[ROWS], line = 1;
	struct buf b = BUF(FUZZ_BYTES_MAX);
	struct csv_row row;
	struct err err = {""};
	FILE *file;

	for (int r = 0; r < n_rows; r++) {
		line_no[r] = line;
		for (int i = 0; i < n_fields; i++) {
			field[r][i] = fuzz_unicode(f, 6);
			if (r == 0 && i == 0) /* no byte order mark */
				field[r][i] = fuzz_splice(f, field[r][i], 0, 0, STR_OF("x"));
			buf_puts(&b, i ? "," : "");
			put_field(f, &b, field[r][i], n_fields == 1);
			for (size_t k = 0; k < field[r][i].n; k++)
				line += field[r][i].p[k] == '\n';
		}
		buf_puts(&b, fuzz_chance(f, 50) ? "\n" : "\r\n");
		line++;
	}
	f->input = fuzz_text_of(f, &b);
	struct csv *csv = open_text(f->input, &file);
	for (int r = 0; r < n_rows; r++) {
		FUZZ_TRUE(f, csv_next(csv, &row, &err) == ST_OK);
		FUZZ_TRUE(f, row.n_field == n_fields && row.line_no == line_no[r]);
		FUZZ_TRUE(f, !row.has_stray_quote && !row.is_too_long);
		for (int i = 0; i < n_fields; i++)
			FUZZ_TRUE(f, str_eq(csv_field(&row.text), field[r][i]));
	}
	FUZZ_TRUE(f, csv_next(csv, &row, &err) == ST_OK && row.n_field == 0);
	csv_free(csv);
	fclose(file);
}

static void any_bytes_end(struct fuzz *f)
{
	static const struct str corpus[] = {
		STR("id,name\r\n1,\"a \"\"b\"\", c\"\r\n2,\"d\ne\"\n"),
		STR("\xEF\xBB\xBFid,x\n1,\xE8\xBF\x94\n"),
	};
	struct csv_row row = {.n_field = 1};
	struct err err = {""};
	enum status status = ST_OK;
	int64_t line_no = 0;
	FILE *file;

	f->input = fuzz_mutate(f, corpus, sizeof(corpus) / sizeof(*corpus));
	if (f->input.n == 0)
		return;
	struct csv *csv = open_text(f->input, &file);
	while (status == ST_OK && row.n_field) {
		status = csv_next(csv, &row, &err);
		FUZZ_TRUE(f, row.line_no > line_no || row.n_field == 0 || status != ST_OK);
		FUZZ_TRUE(f, status != ST_OK || text_is_utf8(row.text));
		line_no = row.line_no;
	}
	FUZZ_TRUE(f, status == ST_OK || (status == ST_INVALID && err.text[0]));
	FUZZ_TRUE(f, text_is_utf8(f->input) || status != ST_OK);
	csv_free(csv);
	fclose(file);
}

int main(int argc, char **argv)
{
	static const struct fuzz_test tests[] = {
		{"rows come back", rows_come_back, 10000},
		{"any bytes end", any_bytes_end, 10000},
	};

	return FUZZ_MAIN(tests);
}
