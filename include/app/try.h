/*
 * app/try.h - `draftmill try`: jobs against the configured models, one after the other, without Kafka and without a database. The same driver
 * and the same loop as in the worker; the trail acknowledges every step and keeps nothing.
 */
#ifndef APP_TRY_H
#define APP_TRY_H

#include "app/jobfile.h"
#include "app/profiles.h"

struct try_config {
	const struct settings *settings;
	struct profiles *profiles;
	struct str profile; /* of jobs that name none; may be absent */
	const char *name;   /* of the file, for messages and its format */
	bool rows; /* a file of jobs, as app/jobfile.h reads it; else the whole file is one job of at most 1 MiB */
	struct jobfile_form form; /* a checked one */
	int n_job_max;		  /* of rows */
};

/* Prints each step to stdout as it happens, then the outcome and the text. Returns an exit status: 0 all passed or direct, 1 one was
 * escalated or failed, 65 one was no valid job; what ends it: 75 a provider that gives no answer, 78 configuration. */
int try_file(const struct try_config *, FILE *);

#endif
