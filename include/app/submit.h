/*
 * app/submit.h - job messages from files to the job topic.
 *
 *	line or row (app/jobfile.h) --> a valid job? --> new to this input? --> new to the database? --> sent --> delivered --> (wait) ended
 *
 * A line is checked by the worker's own functions. It is sent as it stands, without white space at its ends; profile, batch and
 * source are put in front where it names none (a CloudEvent is never changed), and for a line without id one that is a digest of the
 * line as it was read. So the same file makes the same messages again.
 */
#ifndef APP_SUBMIT_H
#define APP_SUBMIT_H

#include "app/jobfile.h"
#include "app/profiles.h"
#include "core/outcome.h"

struct submit_defaults { /* for lines that do not say; absent = none */
	struct str profile, batch, source;
};

struct submit_line { /* a valid one, as it is sent; in the arena */
	struct str id, value;
	struct str arm;		 /* that its id gives it; absent: its profile has none */
	bool is_id_made;	 /* of its content */
	uint8_t key[UUID_BYTES]; /* job_key() */
	uint8_t sha[SHA_BYTES];	 /* of the value */
};

/* DEAD_NONE, or why the worker would not take it. */
enum dead_reason submit_read_line(struct arena *a, const struct profiles *,
				  const struct submit_defaults *, struct str line,
				  struct submit_line *out, struct err *err) MUST_CHECK;

struct submit_config {
	const struct settings *settings;
	struct profiles *profiles;
	struct submit_defaults defaults;
	struct str topic; /* absent: the first job topic of the settings */
	struct jobfile_form form;
	const char *const *file; /* "-": standard input */
	int n_file;
	bool wait; /* until everything that was sent, or was known already, has its outcome or dead letter */
	int64_t timeout_ms; /* of the waiting; 0: none */
};

struct submit_counts { /* n_read = n_sent + n_duplicate + n_invalid + n_undelivered */
	int64_t n_read; /* lines that are not empty, rows of CSV; of a CSV file that is refused, the one that is at fault */
	int64_t n_sent; /* delivered; with wait, without those that were known to the workers */
	int64_t n_duplicate; /* the same identity and bytes: in the input, or in the database */
	int64_t n_invalid;
	int64_t n_undelivered;
	int64_t n_unread;		       /* files that could not be read to their end */
	int64_t n_open;			       /* wait: neither outcome nor dead letter yet */
	int64_t n_dead, n_outcome[N_OUTCOMES]; /* wait */
};

/* ST_INVALID: the profile or a file that the command line names is not there, or the form of the files is wrong. */
enum status submit_check(const struct submit_config *, struct err *err) MUST_CHECK;

/* Tells stderr what became of the columns, which lines are invalid, were not delivered or (wait) became dead letters and why, and how
 * far it is. ST_INVALID: a setting is wrong; ST_DOWN: no database
 * to wait at; in both cases nothing was sent. Else the counts say how it went. */
enum status submit_run(const struct submit_config *, struct submit_counts *out,
		       struct err *err) MUST_CHECK;

#endif
