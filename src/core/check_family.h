/*
 * check_family.h - the families of checks, one a file: check_FAMILY.c. Each table ends with a row without a name.
 */
#ifndef CHECK_FAMILY_H
#define CHECK_FAMILY_H

#include "core/check.h"

extern const struct check_type check_length_types[], check_terms_types[], check_regex_types[],
	check_value_types[], check_register_types[], check_glyphs_types[], check_commas_types[],
	check_json_types[];

#endif
