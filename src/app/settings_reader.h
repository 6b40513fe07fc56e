/*
 * settings_reader.h - settings being read: whatever the source, a value is set by its whole key, and a fault is told with its place.
 */
#ifndef SETTINGS_READER_H
#define SETTINGS_READER_H

#include "settings_table.h"

enum { PROVIDERS_MAX = 50, MODELS_MAX = 200, OPTIONS_MAX = 200 };

struct settings_reader {
	struct arena *a;
	struct settings *out;
	fault_fn *fault;
	void *owner;
	int n_fault;
	struct provider_entry *provider; /* out->n_provider of them, and so on */
	struct model_entry *model;
	struct kafka_option *option;
};

struct origin {
	const char *place;  /* "draftmill.yaml:12", "environment variable X", "flag --x" */
	const char *folder; /* where relative paths start; NULL: the working directory */
};

void settings_fault(struct settings_reader *, struct origin, const char *format, ...) PRINTF_LIKE(3, 4);

/* The default of each key that is no provider's and no model's; theirs are set as they are named. */
void settings_defaults(struct settings_reader *);

/* Sets a key that setting_index() knows, as row @i; a value of the key set before gives way. */
void settings_set(struct settings_reader *, int i, struct str key, const struct yaml *value, struct origin);

#endif
