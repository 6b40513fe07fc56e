/*
 * settings_value.h - from the text of a setting to what the program works with.
 */
#ifndef SETTINGS_VALUE_H
#define SETTINGS_VALUE_H

#include "settings_table.h"

/* Stores @value in the field of @base that the row names; strings in @a. A relative path starts at @folder; NULL: it is taken as it is.
 * ST_INVALID: *err is "what is wrong; the mend", without the place. Not for SETTING_OPTIONS and SETTING_PRICES. */
enum status setting_store(struct arena *a, const struct setting *, const struct yaml *value,
			  const char *folder, void *base, struct err *err) MUST_CHECK;

/* What the keys of a model say together. ST_INVALID: *err is "key: what is wrong; the mend". */
enum status setting_check_model(const struct model_entry *, struct err *err) MUST_CHECK;

#endif
