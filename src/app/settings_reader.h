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
	struct faults *faults;
	bool may_hold_secrets; /* what is read now is neither a file for all eyes nor a command line */
	struct provider *provider; /* out->n_provider of them, and so on */
	struct model_entry *model;
	struct kafka_option *option;
};

struct origin {
	const char *place;  /* "draftmill.yaml:12", "environment variable X", "flag --x" */
	const char *folder; /* where relative paths start; NULL: the working directory */
};

struct origin settings_line(struct settings_reader *,
			    const struct yaml *); /* of the file being read */

void settings_unknown(struct settings_reader *, struct origin,
		      struct str key); /* the fault, with a suggestion */

/* The default of each key that is no provider's and no model's; theirs are set when they are named first. */
void settings_defaults(struct settings_reader *);

/* A provider or a model comes to be, with its defaults; false: the name will not do, which was told. */
bool settings_add(struct settings_reader *, bool is_model, struct str name, struct origin);

/* Sets a key that setting_index() knows, as row @i; a value of the key set before gives way. */
void settings_set(struct settings_reader *, int i, struct str key, const struct yaml *value,
		  struct origin);

/* After all sources: what is missing, and whole settings. */
void settings_finish(struct settings_reader *);

#endif
