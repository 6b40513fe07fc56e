/*
 * base/yaml.h - the part of YAML that configuration needs, over libyaml: maps, lists, scalars. Anchors, aliases, tags,
 * several documents, duplicate keys, keys that are not scalars and NUL characters are refused by name and line. A scalar is text here;
 * the table that reads it gives the type. No value (`key:`) is an empty, unquoted scalar.
 */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml {
	enum yaml_kind kind;
	int line;	 /* from 1 */
	struct str key;	 /* of a map's member; absent otherwise. NUL-terminated */
	struct str text; /* of a scalar. NUL-terminated */
	bool quoted;	 /* not a plain one ('..' ".." | >): never a number, a boolean or nothing */
	const struct yaml *child; /* first item or member */
	const struct yaml *next;  /* next item or member of the same parent */
};

/* Lives in @a. @name stands before the line in errors ("draftmill.yaml:12: ..."). An empty text is an empty map. */
enum status yaml_read(struct arena *a, const char *name, struct str text, const struct yaml **out,
		      struct err *err) MUST_CHECK;

const struct yaml *yaml_get(const struct yaml *map, const char *key); /* NULL: absent, or no map */

/* @over put over @base, both maps: its members take the place of those of the same key, where both are maps by the same rule, and
 * new ones come last. Lines stay those of their file. Lives in @a and shares what did not change. */
const struct yaml *yaml_over(struct arena *a, const struct yaml *base, const struct yaml *over);

/* The map without the members of these keys; NULL ends them. Likewise. */
const struct yaml *yaml_without(struct arena *a, const struct yaml *map, const char *const *keys);

/* libyaml's name and version, for `draftmill --version`. */
void yaml_library(struct buf *out);

#endif
