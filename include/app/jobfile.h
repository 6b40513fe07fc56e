/*
 * app/jobfile.h - a file of jobs, JSON lines or CSV with a header, as the JSON text of one job after the other.
 *
 *	JSON lines: a line that is not empty is a job, without white space at its ends and the file's byte order mark.
 *	CSV: a row is a job. A column that is named as a text member of a job (or revision) fills that, all others are variables; every
 *	value is a string as written. An empty value of a member other than id says nothing. Names come from the header, or from
 *	`map`.
 *
 * A CSV file is read twice. What makes it doubtful where rows begin or what its bytes mean is found the first time, so that such a file gives
 * no job at all; what is not a file but a pipe is copied to an unnamed temporary file for it.
 */
#ifndef APP_JOBFILE_H
#define APP_JOBFILE_H

#include "base/err.h"

#include <stdio.h>

struct jobfile;

struct jobfile_form {	    /* as the command line says it; all zero: by the file's name */
	const char *format; /* "csv" or "jsonl"; NULL: csv for .csv and .tsv, else jsonl */
	const char
		*delimiter; /* one ASCII character, or "tab"; NULL: a tab for .tsv, else a comma */
	const char *encoding; /* NULL: UTF-8 */
	const char *const *
		map; /* "NAME=COLUMN": the column's name is another one. A column may get several. */
	int n_map;
};

/* ST_INVALID: the form itself is wrong, or says things of CSV and none of the files is. */
enum status jobfile_check(const struct jobfile_form *, const char *const *name, int n_name,
			  struct err *err) MUST_CHECK;

enum jobfile_got {
	JOBFILE_JOB,
	JOBFILE_FAULTY, /* a line, a row, or all the rest of the file */
	JOBFILE_UNREAD, /* the file cannot be read on */
	JOBFILE_END
};

struct jobfile_line {
	int64_t line_no;   /* where it begins, from 1 */
	struct str text;   /* JOBFILE_JOB: until the next */
	const char *fault; /* JOBFILE_FAULTY: in one word.. */
	struct err why;	   /* ..and in a sentence; also of JOBFILE_UNREAD */
};

/* @name tells the format; file and form (a checked one) are borrowed. */
struct jobfile *jobfile_open(FILE *, const char *name, const struct jobfile_form *);
void jobfile_close(struct jobfile *);
enum jobfile_got jobfile_next(struct jobfile *, struct jobfile_line *out);

/* What became of the columns of a CSV file, for a person; empty for JSON lines. Lives as long as the jobfile. */
struct str jobfile_columns(const struct jobfile *);
int64_t jobfile_bytes(const struct jobfile *); /* of the file, read so far */

#endif
