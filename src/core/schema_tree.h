/*
 * schema_tree.h - a compiled schema, and where in a JSON text one is. Between schema.c and schema_value.c, which check, and schema_read.c
 * and schema_link.c, which compile.
 */
#ifndef CORE_SCHEMA_TREE_H
#define CORE_SCHEMA_TREE_H

#include "base/decimal.h"
#include "core/schema.h"
#include "regex.h"

enum { NORMAL_BYTES_MAX = 8 << 20 }; /* far over what json_normal() makes of a job or a draft */

struct schemas {
	struct schema **schema;
	size_t n;
};

struct properties {
	struct schemas schemas;
	struct str *name; /* of each; NUL-terminated */
};

struct names {
	const struct str *name; /* NUL-terminated */
	size_t n;
};

struct dependents { /* where there is a member @name, there are those of @wants */
	const struct dependent {
		struct str name;
		struct names wants;
	} * dependent;
	size_t n;
};

struct rule {
	struct str text;    /* as the schema has it; absent: no rule */
	struct regex regex; /* the same, rewritten for PCRE2 */
};

struct matching { /* members whose name the rule fits */
	const struct matched {
		struct rule rule;
		struct schema *schema;
	} * matched;
	size_t n;
};

struct bound {
	struct str text; /* absent: no bound */
	struct decimal value;
};

/* Into the order in which a value is looked up. */
void schema_sort(struct str *normal, size_t n);

struct choice {
	const struct str *normal; /* json_normal() of each, by schema_sort() */
	size_t n;		  /* 0: any value */
	struct str shown;	  /* for a person, cut */
};

struct schema {
	bool refuses_all; /* `false` */
	unsigned
		types; /* bit mask by json_kind; "number" sets JSON_INT and JSON_DOUBLE, "integer" JSON_INT only */
	struct choice choice, constant;
	struct bound minimum, maximum, over, under,
		unit; /* over, under: exclusive; unit: multipleOf */
	int64_t min_length, max_length;
	struct rule rule;
	struct schemas prefix;
	struct schema *items, *contains; /* the next ones too: NULL = any */
	int64_t min_items, max_items, min_contains, max_contains;
	bool unique;
	struct properties properties;
	struct matching matching;
	struct schema *rest, *names;
	struct names required;
	struct dependents dependents;
	int64_t min_properties, max_properties;
	/* Of the same value, besides what is above. */
	struct schema *ref, *negated, *condition, *consequence, *alternative;
	struct schemas all_of, any_of, one_of;
	struct properties dependent_schemas;
	int height; /* while compiling: how many schemas of one value can stand in one another here */
};

struct place {			/* a JSON pointer, from the inside out */
	const struct place *up; /* NULL: the whole text */
	struct str key;		/* absent: item @i of an array */
	size_t i;
};

/* Puts the pointer before the text of @err: @root and then "/tags/3". */
void place_show(const struct place *, const char *root, struct err *err);

/* --- compiling --- */

/* Every schema compiled, by the JSON that it was made of. */
struct schema_node {
	const struct json *json;
	struct schema *schema;
	struct schema_node *next;
};

struct schema_ref {
	struct str target; /* borrowed of the JSON */
	struct schema **to;
	struct str place; /* of the keyword, for a person */
	struct schema_ref *next;
};

/* Lets each $ref lead where it points. ST_INVALID, too, if a value could be sent round in a circle. */
enum status schema_link(struct arena *a, const struct json *doc, const struct schema_node *node,
			const struct schema_ref *ref, struct err *err) MUST_CHECK;

/* --- checking --- */

/* What all checkers of one text share. */
struct schema_run {
	int64_t work, work_max; /* in the units of core/check.h */
	struct err undecided;	/* why no verdict counts any more; "" = they do */
};

struct checker {
	struct schema_run *run;
	const char *given; /* a member of the outermost object that may be missing; NULL: none */
	const char *root;  /* what a place begins with */
	int n_left;	   /* faults that are still to be told */
	enum schema_fault fault; /* the first */
	struct buf *told;	 /* NULL: nobody asks why */
};

/* Tells of a fault; formats as err_set() does. */
void schema_tell(struct checker *, const struct place *, enum schema_fault, const char *format, ...)
	PRINTF_LIKE(4, 5);

/* Nothing more is to be found out. */
static inline bool schema_done(const struct checker *c)
{
	return c->n_left <= 0 || c->run->undecided.text[0];
}

/* False: so much is not left, and the run is undecided. */
bool schema_afford(struct checker *, int64_t work) MUST_CHECK;

/* Whether @rule fits; an undecided one does not. */
bool schema_matches(struct checker *, const struct rule *, struct str text);

/* json_normal() of @value, behind what is in @out. False: not afforded. */
bool schema_normal(struct checker *, const struct json *value, struct buf *out) MUST_CHECK;

/* What a schema says of the value itself, without what is in it. False: of another type, or none of the values; the rest does not
 * matter then. */
bool schema_check_alone(struct checker *, const struct place *, const struct schema *,
			const struct json *value);

#endif
