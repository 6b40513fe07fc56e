/*
 * check_hint.h - what the families of checks have to tell a schema: each adds to the hint what a check of its types says, and nothing
 * for one of another.
 */
#ifndef CHECK_HINT_H
#define CHECK_HINT_H

#include "core/hint.h"

void length_hint(const struct check *, struct hint *);
void terms_hint(const struct check *, const struct job *, struct hint *);
void regex_hint(struct arena *, const struct check *, struct hint *);

/* Leaves it out where core/hint.h says so. */
void hint_add_value(struct hint *, struct str value);

#endif
