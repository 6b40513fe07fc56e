/*
 * app/profile_new.h - `draftmill profile new`: a profile to begin with, which is a copy of another one under a name of its own, with its samples.
 */
#ifndef APP_PROFILE_NEW_H
#define APP_PROFILE_NEW_H

#include "app/settings.h"

/* Makes NAME.yaml and the folder NAME in profiles.dir, after @from, a name there. Overwrites nothing. @name: 1 to 40 of a-z 0-9 - _.
 * ST_INVALID: nothing was made; ST_DOWN: a file cannot be written. */
enum status profile_new(const struct settings *, struct str name, struct str from,
			struct err *err) MUST_CHECK;

#endif
