/*
 * app/submit.h - job messages from JSON lines to the job topic.
 *
 *	line --> a valid job? --> new to this input? --> new to the database? --> sent --> delivered --> (wait) ended
 *
 * A line is checked by the worker's own functions. It is sent as it stands, without white space at its ends; profile, batch and
 * source are put in front where it names none (a CloudEvent is never changed). So the same file makes the same messages again.
 */
#ifndef APP_SUBMIT_H
#define APP_SUBMIT_H

#include <stdio.h>

#include "app/profiles.h"
#include "core/outcome.h"

struct submit_defaults { /* for lines that do not say; absent = none */
	struct str profile, batch, source;
};

struct submit_line { /* a valid one, as it is sent; in the arena */
	struct str id, value;
	uint8_t key[UUID_BYTES]; /* job_key() */
	uint8_t sha[SHA_BYTES];	 /* of the value */
};

/* The next line, trimmed and without the file's byte order mark, in @room (room->full: it was longer than a job can be). False: no
 * more, or ferror(). *line_no counts them, from 1. */
bool submit_next_line(FILE *, struct buf *room, int64_t *line_no, struct str *line);
#define SUBMIT_ROOM BUF(MESSAGE_BYTES_MAX + 16)

/* DEAD_NONE, or why the worker would not take it. */
enum dead_reason submit_read_line(struct arena *a, const struct profiles *,
				  const struct submit_defaults *, struct str line,
				  struct submit_line *out, struct err *err) MUST_CHECK;

struct submit_config {
	const struct settings *settings;
	const struct profiles *profiles;
	struct submit_defaults defaults;
	struct str topic;	 /* absent: the first job topic of the settings */
	const char *const *file; /* "-": standard input */
	int n_file;
	bool wait; /* until everything that was sent, or was known already, has its outcome or dead letter */
	int64_t timeout_ms; /* of the waiting; 0: none */
};

struct submit_counts {	/* n_read = n_sent + n_duplicate + n_invalid + n_undelivered */
	int64_t n_read; /* lines that are not empty */
	int64_t n_sent; /* delivered; with wait, without those that were known to the workers */
	int64_t n_duplicate; /* the same identity and bytes: in the input, or in the database */
	int64_t n_invalid;
	int64_t n_undelivered;
	int64_t n_unread;		       /* files that could not be read to their end */
	int64_t n_open;			       /* wait: neither outcome nor dead letter yet */
	int64_t n_dead, n_outcome[N_OUTCOMES]; /* wait */
};

/* ST_INVALID: the profile or a file that the command line names is not there. */
enum status submit_check(const struct submit_config *, struct err *err) MUST_CHECK;

/* Tells stderr which lines are invalid or were not delivered and why, and how far it is. ST_INVALID: a setting is wrong; ST_DOWN: no database
 * to wait at; in both cases nothing was sent. Else the counts say how it went. */
enum status submit_run(const struct submit_config *, struct submit_counts *out,
		       struct err *err) MUST_CHECK;

#endif
