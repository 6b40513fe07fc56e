/*
 * app/profiles.h - the profiles a process knows: files of profiles_dir, resolved with prompt files and model rows of the settings;
 * and by hash those that jobs of the trail have pinned.
 */
#ifndef APP_PROFILES_H
#define APP_PROFILES_H

#include "app/settings.h"
#include "core/schema.h"

struct profiles;

/* Loads every *.yaml of profiles_dir and the job schema of schema_dir. ST_INVALID: *err names file, line and mend of the first fault. */
enum status profiles_open(const struct settings *, struct profiles **out,
			  struct err *err) MUST_CHECK;
void profiles_free(struct profiles *);

/* As profiles_open(), each fault to @fault; returns their number. */
int profiles_faults(const struct settings *, fault_fn *, void *owner);

const struct profile *profiles_named(const struct profiles *, struct str name); /* NULL: none */
const struct profile *profiles_at(const struct profiles *, int i); /* NULL past the end */

/* The profile of a stored job: one that is loaded, or read from its stored text and kept. ST_INVALID: this program cannot read it. */
enum status profiles_pinned(struct profiles *, const uint8_t sha[SHA_BYTES], struct str json,
			    const struct profile **out, struct err *err) MUST_CHECK;

const struct schema *profiles_job_schema(const struct profiles *);

#endif
