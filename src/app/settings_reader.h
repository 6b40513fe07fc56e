/*
 * settings_reader.h - settings being read: whatever the source, a value is set by its whole key, and a fault is told with its place.
 */
#ifndef SETTINGS_READER_H
#define SETTINGS_READER_H

#include "settings_table.h"

enum { INSTANCES_MAX = 200, OPTIONS_MAX = 200 };

/* A provider or a model; it comes to be, with its defaults, when it is named first. */
struct instance {
	enum setting_section section;
	struct str name;
	const char *place;
	uint64_t given; /* bit i: row i of the table has a value */
	void *row;
};

struct settings_reader {
	struct arena *a;
	struct settings *out;
	struct faults *faults;
	bool may_hold_secrets; /* what is read now is neither a file for all eyes nor a command line */
	struct instance *instance;
	int n_instance;
	struct provider *provider; /* out->n_provider of them, and so on */
	struct model *model;
	struct kafka_option *option;
};

struct origin {
	const char *place;  /* "draftmill.yaml:12", "environment variable X", "flag --x" */
	const char *folder; /* where relative paths start; NULL: the working directory */
};

struct origin settings_line(struct settings_reader *,
			    const struct yaml *); /* of the file being read */

/* The default of each key that is no provider's and no model's; theirs are set when they are named first. */
void settings_defaults(struct settings_reader *);

/* NULL: the name will not do, which was told. */
struct instance *settings_instance(struct settings_reader *, enum setting_section, struct str name,
				   struct origin);

/* Sets a whole key, or tells that it is unknown; a value of the key set before gives way. @key is NUL-terminated and stays. */
void settings_set(struct settings_reader *, struct str key, const struct yaml *value,
		  struct origin);

/* After all sources: what is missing, and whole settings. */
void settings_finish(struct settings_reader *);

#endif
