#include "base/csv.h"

#include <stdlib.h>

enum { END = -1 }; /* of the file, or of what can be read */

struct csv {
	struct decode *decode;
	struct str ahead; /* decoded, not looked at yet */
	char delimiter;
	int64_t line_no;    /* of what comes next */
	enum status status; /* once it is not ST_OK, nothing more is read */
	int64_t fault_line_no;
	struct err why;
	struct buf text; /* of the row */
	bool has_stray_quote;
};

struct csv *csv_new(FILE *f, const char *encoding, char delimiter, size_t row_bytes_max)
{
	struct csv *c = calloc(1, sizeof(*c));

	if (!c)
		BUG("out of memory");
	c->decode = decode_new(f, encoding);
	c->delimiter = delimiter;
	c->line_no = 1;
	buf_init(&c->text, row_bytes_max);
	return c;
}

void csv_free(struct csv *c)
{
	if (!c)
		return;
	decode_free(c->decode);
	buf_release(&c->text);
	free(c);
}

/* ---- bytes ---- */

static void give_up(struct csv *c, enum status status, int64_t line_no, const char *format, ...)
{
	va_list args;

	if (c->status != ST_OK)
		return;
	c->status = status;
	c->fault_line_no = line_no;
	va_start(args, format);
	err_setv(&c->why, format, args);
	va_end(args);
}

static int peek(struct csv *c)
{
	struct err err;

	if (c->status == ST_OK && c->ahead.n == 0) {
		enum status status = decode_next(c->decode, &c->ahead, &err);
		if (status != ST_OK)
			give_up(c, status, c->line_no, "%s", err.text);
	}
	return c->status != ST_OK || c->ahead.n == 0 ? END : (unsigned char)c->ahead.p[0];
}

static int take(struct csv *c)
{
	int byte = peek(c);

	if (byte == END)
		return END;
	c->ahead = str_sub(c->ahead, 1, c->ahead.n);
	c->line_no += byte == '\n';
	if (byte == '\0') {
		give_up(c, ST_INVALID, c->line_no,
			"a NUL; if the file is UTF-16, name that encoding");
		return END;
	}
	return byte;
}

static bool take_if(struct csv *c, char byte)
{
	return peek(c) == (unsigned char)byte && take(c) != END;
}

static bool take_line_end(struct csv *c)
{
	int64_t line_no = c->line_no;

	if (take_if(c, '\n'))
		return true;
	if (!take_if(c, '\r'))
		return false;
	if (!take_if(c, '\n'))
		give_up(c, ST_INVALID, line_no,
			"a carriage return without line feed outside of quotes");
	return true;
}

/* ---- fields ---- */

/* Behind the opening quote. */
static void read_quoted(struct csv *c)
{
	int64_t opened = c->line_no;
	int byte;

	while ((byte = take(c)) != END && (byte != '"' || take_if(c, '"')))
		buf_putc(&c->text, (char)byte);
	if (byte == END)
		give_up(c, ST_INVALID, opened, "the quote that opens here is never closed");
}

static bool is_field_end(const struct csv *c, int byte)
{
	return byte == END || byte == '\r' || byte == '\n' || byte == (unsigned char)c->delimiter;
}

static void read_field(struct csv *c)
{
	int64_t line_no = c->line_no;

	if (take_if(c, '"')) {
		read_quoted(c);
		if (!is_field_end(c, peek(c)))
			give_up(c, ST_INVALID, line_no,
				"the quote that opens here is closed in line %lld before a character that is no delimiter",
				(long long)c->line_no);
	} else {
		while (!is_field_end(c, peek(c))) {
			int byte = take(c);
			c->has_stray_quote |= byte == '"';
			buf_putc(&c->text, (char)byte);
		}
	}
	buf_putc(&c->text, '\0');
}

enum status csv_next(struct csv *c, struct csv_row *row, struct err *err)
{
	while (take_line_end(c))
		;
	*row = (struct csv_row){.line_no = c->line_no};
	buf_clear(&c->text);
	c->has_stray_quote = false;
	if (peek(c) != END) {
		do {
			read_field(c);
			row->n_field++;
		} while (take_if(c, c->delimiter));
		(void)take_line_end(c);
	}
	row->text = buf_view(&c->text);
	row->is_too_long = c->text.full;
	row->has_stray_quote = c->has_stray_quote;
	if (c->status == ST_OK)
		return ST_OK;
	row->line_no = c->fault_line_no;
	return err_set(err, c->status, "%s", c->why.text);
}

struct str csv_field(struct str *rest)
{
	size_t n = strnlen(rest->p, rest->n);
	struct str field = str_sub(*rest, 0, n);

	*rest = str_sub(*rest, n + 1, rest->n);
	return field;
}

int64_t csv_bytes(const struct csv *c)
{
	return decode_bytes(c->decode);
}
