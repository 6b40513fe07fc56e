/*
 * app/casefile.h - everything that the trail knows about one job, for a person who asks: why was this sent?
 *
 * A case file is one JSON object, made by one query, so of one moment. Members: job, request (what was asked for), drafts,
 * critiques, calls, takeovers, outcome (null: still running), waits (null: not in the queue), events, conflicts. A name that fits no job
 * or several gives what it fits: {"jobs", "dead_letters"}; one dead letter alone is shown as such.
 */
#ifndef APP_CASEFILE_H
#define APP_CASEFILE_H

#include "app/page.h"
#include "base/json.h"
#include "io/pg.h"

enum casefile { CASEFILE_JOB, CASEFILE_LETTER, CASEFILE_NONE, CASEFILE_SEVERAL };

/* @name is a job's or dead letter's number, or an id; @source NULL: of any source. ST_INVALID, ST_DOWN: the database. */
enum status casefile_load(struct pg *, const char *name, const char *source, struct json **out,
			  struct err *err) MUST_CHECK;

enum casefile casefile_kind(const struct json *);
void casefile_text(const struct json *, struct page *);

#endif
