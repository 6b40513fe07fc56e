/* job_form.h - the options by which `submit` and `try` are told how their files are written. */
#ifndef CMD_JOB_FORM_H
#define CMD_JOB_FORM_H

#include "command.h"

#include "app/jobfile.h"

#define JOB_FORM_USAGE "[--format F] [--delimiter C] [--encoding E] [--map NAME=COLUMN]..."

#define JOB_FORM_OPTIONS                                                                           \
	{"delimiter", "CHAR",                                                                      \
	 "of CSV: one character, or the word tab; else a comma, and a tab for .tsv"},              \
		{"encoding", "NAME",                                                               \
		 "of CSV: CP932, EUC-JP, UTF-16 or what else `iconv -l` lists; else UTF-8"},       \
	{                                                                                          \
		"map", "NAME=COLUMN", "use this column of CSV as NAME; may be repeated"            \
	}

#define JOB_FORM_NOTES                                                                                              \
	"CSV: the first row names the columns. Columns named id, source, revision, profile, task, language,\n"      \
	"stakes, not_after, batch, tenant or subject are the job's own; all others become variables. Every value\n" \
	"is text as written. A line or row without id gets one made of its content. README says more."

/* As the line says it; borrows from it. */
struct jobfile_form job_form(const struct command_line *);

#endif
