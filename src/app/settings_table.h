/*
 * settings_table.h - the table of settings, and what a row says to the reader: where its value goes and what it may be.
 */
#ifndef SETTINGS_TABLE_H
#define SETTINGS_TABLE_H

#include "app/settings.h"

enum setting_kind {		  /* what the text becomes */
		    SETTING_TEXT, /* const char * */
		    SETTING_PATH, /* const char *; in the file and by default from the file's folder on */
		    SETTING_URL,     /* const char *: https, or http to this machine */
		    SETTING_LISTEN,  /* const char *: IP:PORT; NULL: off */
		    SETTING_STR,     /* struct str */
		    SETTING_INTEGER, /* int64_t */
		    SETTING_DECIMAL, /* int64_t, in units of 1/scale */
		    SETTING_DATE,    /* int64_t, Unix ms */
		    SETTING_CHOICE,  /* enum: the place among `choice` */
		    SETTING_WIRE,    /* const struct wire * */
		    SETTING_LIST,    /* const char *const *, the number right behind it as an int */
		    SETTING_OPTIONS, /* kafka.options: all keys under it are one row */
		    SETTING_PRICES,  /* a list of maps, whose keys are rows of their own */
		    SETTING_CONNINFO /* const char *; a password in it only from the environment */
};

enum setting_section { IN_SETTINGS, IN_PROVIDER, IN_MODEL, IN_PRICE };

struct setting {
	struct setting_doc doc;
	enum setting_kind kind;
	enum setting_section section;
	size_t offset;	  /* in the section's struct */
	int64_t min, max; /* of the number as stored */
	int64_t scale;
	const char *const *choice; /* NULL at the end; also of a text that is one of few */
};

const struct setting *setting_at(int i); /* NULL below 0 and past the end; less than 64 */

/* The row of a whole key: "models.drafting.id" is that of "models.NAME.id"; -1: none. */
int setting_index(struct str key);
/* Some row's key begins with this one and a dot. */
bool setting_is_section(struct str key);

/* What stands for NAME in a key, absent if its row has none. */
struct str setting_name(struct str key);
/* The row's key with @name for NAME. */
struct str setting_key(struct arena *, const struct setting *, struct str name);

/* Stores @value in the field of @base that the row names; strings in @a. A relative path starts at @folder; NULL: it is taken as it is.
 * ST_INVALID: *err is "what is wrong; the mend", without the place. Not for SETTING_OPTIONS and SETTING_PRICES. */
enum status setting_store(struct arena *a, const struct setting *, const struct yaml *value,
			  const char *folder, void *base, struct err *err) MUST_CHECK;

/* Whether two structs have the same in the field of a row of IN_SETTINGS. */
bool setting_same(const struct setting *, const void *base, const void *other);

/* What the keys of a model say together. ST_INVALID: *err is "key: what is wrong; the mend". */
enum status setting_check_model(const struct model *, uint64_t given, struct err *err) MUST_CHECK;

#endif
