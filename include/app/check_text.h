/*
 * app/check_text.h - `draftmill check text`: checks on texts, without a model, a database or a broker.
 */
#ifndef APP_CHECK_TEXT_H
#define APP_CHECK_TEXT_H

#include "app/profiles.h"
#include "core/job.h"

enum { CHECK_TEXT_BYTES_MAX = 64 << 20 };

struct check_text {
	const struct check **check; /* the profile's, the job's, those of a file */
	int n_check;
	const struct profile *
		profile; /* whose fields a text has, as JSON; NULL or without fields: texts are what they are */
	struct job job; /* what checks want variables of; may be all zero */
	bool as_json;
};

/* What is to be run: of @profile, of the job in the file @job_path, of the JSON array in the file @checks_path, each NULL if there is none.
 * A job that names no profile gets @profile. Lives in @a. ST_INVALID: *err names the file and the mend. */
enum status check_text_read(struct arena *a, const struct profiles *, const char *profile,
			    const char *job_path, const char *checks_path, struct check_text *out,
			    struct err *err) MUST_CHECK;

/* Runs them on the file @name, "-": standard input, and prints each with its place as line:column, in characters from 1; or one line of
 * JSON. ST_INVALID: it cannot be read, is over CHECK_TEXT_BYTES_MAX, is not UTF-8, or
 * is no JSON object of the profile's fields. A place in a field is one of that field. Else *green: no hard check is red. */
enum status check_text_run(const struct check_text *, const char *name, bool *green,
			   struct err *err) MUST_CHECK;

#endif
