/*
 * profile_rules.h - what of a profile no single key can tell: what must fit together. Each fault is added with its place and its mend.
 */
#ifndef PROFILE_RULES_H
#define PROFILE_RULES_H

#include "core/profile.h"
#include "member.h"

/* The named fields of a draft, and who names them: checks and prompts. Nothing to say of a profile of one text. */
void profile_check_fields(const struct reader *r, const struct profile *p);

/* All the rest; @o is the profile's object. */
void profile_check_rules(const struct reader *r, const struct json *o, const struct profile *p);

#endif
