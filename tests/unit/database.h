/*
 * tests/unit/database.h - a PostgreSQL of the test program's own: a private cluster that ends with the process, however that
 * ends, or the server that TEST_CONNINFO names; in it a fresh database with draftmill's schema.
 */
#ifndef TESTS_DATABASE_H
#define TESTS_DATABASE_H

#include <stdint.h>

/* cmocka group fixtures. */
int database_start(void **state);
int database_stop(void **state);

const char *database_conninfo(void);	    /* as superuser */
const char *database_conninfo_worker(void); /* as draftmill_worker */

/* As superuser, on a connection of its own; an error fails the test. */
void database_run(const char *sql);
int64_t database_int(const char *sql); /* of its one value; INT64_MIN for NULL */

#endif
