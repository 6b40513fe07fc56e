/*
 * check_family.h - the families of checks, one a file: check_FAMILY.c has their table check_FAMILY_types, which ends with a row without
 * a name.
 */
#ifndef CHECK_FAMILY_H
#define CHECK_FAMILY_H

#include "core/check.h"

/* Those with IFEval's names come last. */
#define CHECK_FAMILIES(X)                                                                          \
	X(length)   /* graphemes, words */                                                         \
	X(terms)    /* must_include, forbidden */                                                  \
	X(regex)    /* regex */                                                                    \
	X(value)    /* number */                                                                   \
	X(json)	    /* json, json_schema, IFEval's */                                              \
	X(register) /* register */                                                                 \
	X(glyphs)   /* glyphs */                                                                   \
	X(commas)   /* commas */                                                                   \
	X(markdown) /* markdown */                                                                 \
	X(likeness) /* unlike */                                                                   \
	X(url)	    /* urls */                                                                     \
	X(leftover) /* leftover */                                                                 \
	X(keywords) /* words that are in it, or not */                                             \
	X(count)    /* what is counted and compared */                                             \
	X(form)	    /* how it is built */                                                          \
	X(ends)	    /* what it begins and ends with */                                             \
	X(language) /* what language it looks like */

#define DECLARE(family) extern const struct check_type check_##family##_types[];
CHECK_FAMILIES(DECLARE)
#undef DECLARE

/* cmark's name and version. */
void markdown_library(struct buf *out);

#endif
