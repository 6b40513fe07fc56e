/*
 * check_family.h - the families of checks, one a file: check_FAMILY.c. Each table ends with a row without a name.
 */
#ifndef CHECK_FAMILY_H
#define CHECK_FAMILY_H

#include "core/check.h"

extern const struct check_type check_length_types[];
extern const struct check_type check_terms_types[];
extern const struct check_type check_regex_types[];
extern const struct check_type check_value_types[];
extern const struct check_type check_json_types[];
extern const struct check_type check_register_types[];
extern const struct check_type check_glyphs_types[];
extern const struct check_type check_commas_types[];
extern const struct check_type check_markdown_types[];
extern const struct check_type check_likeness_types[];
extern const struct check_type check_url_types[];
extern const struct check_type check_leftover_types[];

/* cmark's name and version. */
void markdown_library(struct buf *out);

#endif
