/*
 * app/migrate.h - the database's schema: numbered files of SQL (sql/0001_NAME.sql, 0002_..), each run once, in its own
 * transaction, and then never changed. Several may run them at the same moment: one does the work, the others find it done.
 */
#ifndef APP_MIGRATE_H
#define APP_MIGRATE_H

#include "base/buf.h"
#include "base/digest.h"
#include "base/err.h"
#include "io/pg.h"

struct migration {
	int version;	  /* from 1, without gaps */
	const char *name; /* of the file */
	struct str sql;
	uint8_t sha[SHA_BYTES]; /* of the file as it is; the database keeps it */
};

/* The files of @sql_dir whose names begin with a digit; in @a. ST_INVALID: a number is missing or used twice, or no files. */
enum status migrations_read(struct arena *a, const char *sql_dir, const struct migration **out,
			    int *n, struct err *err) MUST_CHECK;

/* Runs what the database does not have yet, and writes the program's stop reasons there. @done hears of each that was run. ST_INVALID: the
 * server's error, a file that was changed after it was run, a user without the right, or a database of a newer program; *pg may then
 * be in a failed transaction and is to be freed. */
typedef void migrated_fn(void *owner, const struct migration *);
enum status migrate_run(struct pg *, const struct migration *, int n, migrated_fn *done,
			void *owner, struct err *err) MUST_CHECK;

/* The same for an empty database, as a script for psql. */
void migrate_print(const struct migration *, int n, struct buf *out);

/* That the database has exactly these; a reader's right is enough. *err says what is to be done. */
enum status migrate_check(struct pg *, const struct migration *, int n, struct err *err) MUST_CHECK;

#endif
