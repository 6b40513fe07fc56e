#include "jobfile_private.h"

#include "core/message.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

struct jobfile {
	FILE *f;
	FILE *copy;	 /* of what can be read only once; NULL: none */
	struct buf text; /* of the line, or the job made of a row */
	int64_t line_no; /* JSON lines */
	/* CSV: */
	const char *encoding; /* NULL: it is JSON lines */
	char delimiter;
	struct csv *csv;
	struct arena *a; /* for columns */
	struct columns columns;
	struct buf told;
	enum status status;	   /* once it is not ST_OK.. */
	struct jobfile_line fault; /* ..this was where and why.. */
	bool is_over;		   /* ..and was told */
};

/* ---- the form ---- */

static bool ends_with(const char *name, const char *ending)
{
	size_t n = strlen(name), n_ending = strlen(ending);

	return n >= n_ending && strcasecmp(name + n - n_ending, ending) == 0;
}

static bool is_csv(const struct jobfile_form *form, const char *name)
{
	if (form->format)
		return strcmp(form->format, "csv") == 0;
	return ends_with(name, ".csv") || ends_with(name, ".tsv");
}

static char delimiter_of(const struct jobfile_form *form, const char *name)
{
	if (!form->delimiter)
		return ends_with(name, ".tsv") ? '\t' : ',';
	return strcmp(form->delimiter, "tab") == 0 ? '\t' : form->delimiter[0];
}

static bool is_delimiter(const char *text)
{
	return strcmp(text, "tab") == 0 ||
	       (text[0] && !text[1] && (unsigned char)text[0] < 0x80 && !strchr("\"\r\n", text[0]));
}

static const char *fault_of(const struct jobfile_form *form)
{
	if (form->format && strcmp(form->format, "csv") != 0 && strcmp(form->format, "jsonl") != 0)
		return "--format: takes csv or jsonl";
	if (form->delimiter && !is_delimiter(form->delimiter))
		return "--delimiter: takes one ASCII character that is no quote, or the word tab";
	if (form->encoding && !decode_knows(form->encoding))
		return "--encoding: this system's iconv knows none of that name; `iconv -l` lists them";
	for (int i = 0; i < form->n_map; i++) {
		const char *equals = strchr(form->map[i], '=');
		if (!equals || equals == form->map[i] || !equals[1])
			return "--map: takes NAME=COLUMN";
	}
	return NULL;
}

enum status jobfile_check(const struct jobfile_form *form, const char *const *name, int n_name,
			  struct err *err)
{
	const char *fault = fault_of(form);
	int n_csv = 0;

	for (int i = 0; i < n_name; i++)
		n_csv += is_csv(form, name[i]);
	if (!fault && n_csv == 0 && (form->delimiter || form->encoding || form->n_map))
		fault = "--delimiter, --encoding and --map are for CSV, and no file is: say --format csv";
	return fault ? err_set(err, ST_INVALID, "%s", fault) : ST_OK;
}

/* ---- what is got ---- */

static enum jobfile_got faulty(struct jobfile_line *line, const char *fault, const char *why)
{
	line->fault = fault;
	(void)err_set(&line->why, ST_INVALID, "%s", why);
	return JOBFILE_FAULTY;
}

static enum jobfile_got too_large(struct jobfile_line *line)
{
	return faulty(line, dead_name(DEAD_too_large), "over 1 MiB");
}

static enum jobfile_got job_in(const struct jobfile *j, struct str text, struct jobfile_line *line)
{
	if (j->text.full)
		return too_large(line);
	line->text = text;
	return JOBFILE_JOB;
}

/* ---- JSON lines ---- */

static enum jobfile_got next_line(struct jobfile *j, struct jobfile_line *line)
{
	struct str text;
	int c;

	do {
		buf_clear(&j->text);
		while ((c = getc_unlocked(j->f)) != EOF && c != '\n')
			buf_putc(&j->text, (char)c);
		text = buf_view(&j->text);
		if (++j->line_no == 1 && str_starts(text, "\xEF\xBB\xBF"))
			text = str_sub(text, 3, text.n);
		text = str_trim(text);
	} while (c != EOF && text.n == 0 && !j->text.full);
	line->line_no = j->line_no;
	if (ferror(j->f)) {
		(void)err_set(&line->why, ST_DOWN, "%s", strerror(errno));
		return JOBFILE_UNREAD;
	}
	return text.n || j->text.full ? job_in(j, text, line) : JOBFILE_END;
}

/* ---- CSV ---- */

/* The same bytes again, from where @f is now; NULL: errno says why not. */
static FILE *copy_of(FILE *f)
{
	FILE *copy = tmpfile();
	char piece[65536];
	size_t n;

	while (copy && (n = fread(piece, 1, sizeof(piece), f)) > 0)
		if (fwrite(piece, 1, n, copy) != n)
			break;
	if (copy && (ferror(f) || ferror(copy) || fflush(copy) != 0)) {
		(void)fclose(copy);
		return NULL;
	}
	if (copy)
		rewind(copy);
	return copy;
}

static enum status begin(struct jobfile *j, struct csv_row *header)
{
	csv_free(j->csv);
	j->csv = csv_new(j->f, j->encoding, j->delimiter, MESSAGE_BYTES_MAX);
	return csv_next(j->csv, header, &j->fault.why);
}

/* The header, and whether the file can be read to its end; faults of single rows are left to the second reading. */
static enum status read_over(struct jobfile *j, const struct jobfile_form *form)
{
	struct csv_row row;
	enum status status = begin(j, &row);

	if (status == ST_OK)
		status = columns_read(j->a, &row, form, &j->columns, &j->fault.why);
	if (status == ST_OK)
		columns_tell(&j->columns, &j->told);
	while (status == ST_OK && row.n_field)
		status = csv_next(j->csv, &row, &j->fault.why);
	j->fault.line_no = row.line_no;
	if (status == ST_INVALID)
		err_at(&j->fault.why, "nothing of this file is sent: ");
	return status;
}

static enum status read_twice(struct jobfile *j, const struct jobfile_form *form)
{
	off_t start = ftello(j->f);
	struct csv_row header;

	if (start < 0) {
		start = 0;
		j->copy = copy_of(j->f);
		if (!j->copy)
			return err_set(&j->fault.why, ST_DOWN, "no temporary copy of it: %s",
				       strerror(errno));
		j->f = j->copy;
	}
	enum status status = read_over(j, form);
	if (status != ST_OK)
		return status;
	if (fseeko(j->f, start, SEEK_SET) != 0)
		return err_set(&j->fault.why, ST_DOWN, "%s", strerror(errno));
	return begin(j, &header);
}

static enum jobfile_got next_row(struct jobfile *j, struct jobfile_line *line)
{
	struct csv_row row = {.line_no = j->fault.line_no};

	if (j->status == ST_OK)
		j->status = csv_next(j->csv, &row, &j->fault.why);
	line->line_no = row.line_no;
	if (j->status != ST_OK) {
		j->is_over = true;
		line->why = j->fault.why;
		line->fault = "refused";
		return j->status == ST_DOWN ? JOBFILE_UNREAD : JOBFILE_FAULTY;
	}
	if (row.n_field == 0)
		return JOBFILE_END;
	if (row.has_stray_quote)
		return faulty(
			line, "stray_quote",
			"a quote in a field that does not begin with one; quote the field and double the quotes in it");
	if (row.is_too_long)
		return too_large(line);
	buf_clear(&j->text);
	if (columns_job(&j->columns, &row, &j->text, &line->why) != ST_OK)
		return faulty(line, "ragged", line->why.text);
	return job_in(j, buf_view(&j->text), line);
}

/* ---- both ---- */

struct jobfile *jobfile_open(FILE *f, const char *name, const struct jobfile_form *form)
{
	struct jobfile *j = calloc(1, sizeof(*j));

	if (!j)
		BUG("out of memory");
	j->f = f;
	j->a = arena_new();
	buf_init(&j->text, 2 * MESSAGE_BYTES_MAX);
	buf_init(&j->told, MESSAGE_BYTES_MAX);
	if (is_csv(form, name)) {
		j->encoding = form->encoding ? form->encoding : "UTF-8";
		j->delimiter = delimiter_of(form, name);
		j->status = read_twice(j, form);
	}
	return j;
}

void jobfile_close(struct jobfile *j)
{
	csv_free(j->csv);
	if (j->copy)
		(void)fclose(j->copy);
	arena_free(j->a);
	buf_release(&j->text);
	buf_release(&j->told);
	free(j);
}

enum jobfile_got jobfile_next(struct jobfile *j, struct jobfile_line *out)
{
	*out = (struct jobfile_line){0};
	if (j->is_over)
		return JOBFILE_END;
	return j->encoding ? next_row(j, out) : next_line(j, out);
}

struct str jobfile_columns(const struct jobfile *j)
{
	return buf_view(&j->told);
}

int64_t jobfile_bytes(const struct jobfile *j)
{
	return j->csv ? csv_bytes(j->csv) : ftello(j->f);
}
