/*
 * app/profiles.h - the profiles a process knows: files of profiles_dir, resolved with prompt files and model rows of the settings;
 * and by hash those that jobs of the trail have pinned.
 */
#ifndef APP_PROFILES_H
#define APP_PROFILES_H

#include "app/settings.h"
#include "core/schema.h"

struct profiles;

/* Loads every *.yaml of profiles_dir and the job schema of schema_dir. NULL: there are faults. */
struct profiles *profiles_open(const struct settings *, struct faults *) MUST_CHECK;
void profiles_free(struct profiles *);

/* NULL: there is none, and *err says so, with a suggestion. */
const struct profile *profiles_named(const struct profiles *, struct str name, struct err *err);
const struct profile *profiles_at(const struct profiles *, int i); /* NULL past the end */

/* The profile of a stored job: one that is loaded, or read from its stored text and kept. ST_INVALID: this program cannot read it. */
enum status profiles_pinned(struct profiles *, const uint8_t sha[SHA_BYTES], struct str json,
			    const struct profile **out, struct err *err) MUST_CHECK;

const struct schema *profiles_job_schema(const struct profiles *);

#endif
