/*
 * schema_tree.h - a compiled schema, and where in a JSON text one is. Between schema.c, which checks, and schema_read.c,
 * which compiles.
 */
#ifndef CORE_SCHEMA_TREE_H
#define CORE_SCHEMA_TREE_H

#include "core/schema.h"

/* A scalar as `enum` and `const` compare it: 1 equals 1.0. */
struct literal {
	enum json_kind kind; /* never JSON_DOUBLE: all numbers are JSON_INT here */
	struct str text;     /* of a string, else absent */
	long double number;  /* of a number or boolean, else 0 */
};

struct property {
	struct str name;
	const struct schema *schema;
};

struct properties {
	const struct property *property;
	size_t n;
};

struct names {
	const struct str *name; /* NUL-terminated */
	size_t n;
};

struct literals {
	const struct literal *literal;
	size_t n; /* 0: any value */
};

struct rest { /* members without a property of their own */
	bool refused;
	const struct schema *schema; /* NULL: any */
};

struct schema {
	unsigned
		types; /* bit mask by json_kind; "number" sets JSON_INT and JSON_DOUBLE, "integer" JSON_INT only */
	const struct schema *ref; /* holds besides what else is here */
	struct properties properties;
	struct names required;
	struct rest rest;
	const struct schema *items;
	int64_t min_items, max_items, max_properties;
	int64_t min_length, max_length;
	long double minimum, maximum; /* long double holds every int64_t and every double */
	struct literals choice, constant;
};

struct place {			/* a JSON pointer, from the inside out */
	const struct place *up; /* NULL: the whole text */
	struct str key;		/* absent: item @i of an array */
	size_t i;
};

/* Puts the pointer, in its form as a URI fragment ("#/tags/3"), before the text of @err. */
void place_show(const struct place *, struct err *err);

struct literal literal_of(const struct json *);

#endif
