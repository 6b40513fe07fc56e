/*
 * app/profiles.h - the profiles a process knows: files of profiles_dir, resolved with prompt files and model rows of the settings;
 * and by hash those that jobs of the trail have pinned.
 *
 * They live as long as somebody holds them: who opened them, the driver, and each job that began under them.
 */
#ifndef APP_PROFILES_H
#define APP_PROFILES_H

#include "app/settings.h"
#include "core/schema.h"

struct profiles;

/* Loads every *.yaml of profiles_dir and the job schema of schema_dir. NULL: there are faults. */
struct profiles *profiles_open(const struct settings *, struct faults *) MUST_CHECK;
/* The same anew: the settings are read again from where these came from, and the profiles with them, both in one memory. */
struct profiles *profiles_again(const struct settings *, struct faults *) MUST_CHECK;
struct profiles *profiles_hold(struct profiles *); /* one holder more; returns them */
void profiles_free(struct profiles *);		   /* one less, the last one frees; NULL is fine */

/* Without its arms. NULL: there is none, and *err says so, with a suggestion. */
const struct profile *profiles_named(const struct profiles *, struct str name, struct err *err);
/* The one that a job of this id runs under: of a profile with arms its arm by core/arm.h, whose name goes to *arm; absent: it has none. */
const struct profile *profiles_of_job(const struct profiles *, struct str name, struct str job_id,
				      struct str *arm, struct err *err);
/* All that jobs may run under, one after the other: each profile, or in its place its arms. NULL past the end. */
const struct profile *profiles_at(const struct profiles *, int i);
/* Its name, "customer-letter", or with that of the arm, "customer-letter/strict". Lives as long as they do. */
struct str profiles_name_at(const struct profiles *, int i);
/* From now on all jobs run under the arm of this name, where their profile has it. ST_INVALID: none has. */
enum status profiles_take_arm(struct profiles *, struct str arm, struct err *err) MUST_CHECK;

/* The profile of a stored job: one that is loaded, or read from its stored text and kept. ST_INVALID: this program cannot read it. */
enum status profiles_pinned(struct profiles *, const uint8_t sha[SHA_BYTES], struct str json,
			    const struct profile **out, struct err *err) MUST_CHECK;

const struct schema *profiles_job_schema(const struct profiles *);
const struct settings *profiles_settings(const struct profiles *); /* that they were made with */

#endif
