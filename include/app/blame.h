/*
 * app/blame.h - who was in hand when a worker crashed. Before a message is parsed or a job is stepped, its name is written into a mapped file,
 * and cleared after; so a crash in between leaves the name, and a kill during a slow call leaves nothing.
 *
 * One file a worker, "blame.PID.BIRTH" in the state directory, locked while its worker lives: a file that can be locked belongs to the dead.
 */
#ifndef APP_BLAME_H
#define APP_BLAME_H

#include "base/err.h"
#include "core/message.h"
#include "io/fleet.h"

struct blame;

/* Creates the directory if it is missing. ST_INVALID: it cannot be written, named. */
enum status blame_open(const char *state_dir, struct blame **out, struct err *err) MUST_CHECK;
void blame_close(struct blame *); /* removes the file; NULL is fine */

/* NULL record and job_no 0: nothing in hand. */
void blame_set(struct blame *, const struct record *, int64_t job_no);

/* Files of dead workers with a name in them: for each @found; @incident is unique to the crash. blame_forget() once it is counted. Files without a name are removed.
 * Reads the directory and small files: local ones, so the loop does it itself. The strike's topic is borrowed for the call. */
typedef void blame_found_fn(void *owner, const struct strike *, const char *incident);
void blame_collect(struct blame *, blame_found_fn *, void *owner);
void blame_forget(struct blame *, const char *incident);

#endif
