/*
 * jobfile_private.h - rows of a CSV file as jobs.
 */
#ifndef JOBFILE_PRIVATE_H
#define JOBFILE_PRIVATE_H

#include "app/jobfile.h"
#include "base/arena.h"
#include "base/csv.h"

struct target { /* what a column becomes */
	struct str name;
	int field;
	bool is_member; /* of the job, else a variable */
};

struct columns {
	int n_field; /* of the header */
	int n_target;
	struct target *target;
	struct str *field; /* room for a row's */
};

/* ST_INVALID: names are empty, twice there, or cannot be a column. */
enum status columns_read(struct arena *, const struct csv_row *header, const struct jobfile_form *,
			 struct columns *out, struct err *err) MUST_CHECK;
void columns_tell(const struct columns *, struct buf *out);

/* The row as a job into @job (full: too long). ST_INVALID: it has not the header's number of fields. */
enum status columns_job(const struct columns *, const struct csv_row *, struct buf *job,
			struct err *err) MUST_CHECK;

#endif
