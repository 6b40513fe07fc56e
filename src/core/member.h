/*
 * member.h - the members of a JSON object and where their values go, as a table: one row a key, with its kind and range. What does
 * not fit is refused with its full path and what to give instead. What is not in the table is refused as unknown.
 */
#ifndef MEMBER_H
#define MEMBER_H

#include "base/arena.h"
#include "base/fault.h"
#include "base/json.h"
#include "base/str.h"

#include <stddef.h>

enum member_kind {
	INTEGER, /* int64_t */
	TEXT,	 /* struct str */
	WORD,	 /* enum: the place among `words` */
	WIRE,	 /* const struct wire * */
	OTHER,	 /* read and written by itself */
};

struct member {
	const char *key; /* NULL ends the list */
	enum member_kind kind;
	size_t offset;
	int64_t min, max;
	const char *const *words; /* also of a text that is one of few */
	bool nullable, optional;
};

/* clang-format off */
#define FIELD(k, name, ...) {.key = (name), .kind = k, __VA_ARGS__}
#define AT(s, field) .offset = offsetof(struct s, field)
#define OF(role, type) .offset = ROLE_##role * sizeof(type)
#define RANGE(least, most) .min = (least), .max = (most)
#define INT(s, field, least, most) FIELD(INTEGER, #field, AT(s, field), RANGE(least, most))
#define STRING(s, field) FIELD(TEXT, #field, AT(s, field))
#define ENUM(s, field, list) FIELD(WORD, #field, AT(s, field), .words = (list))
#define ALONE(name) FIELD(OTHER, name, .offset = 0)
/* clang-format on */

struct reader {
	struct arena *a;
	struct faults *faults;
	const char *path; /* of the object, as "models.critic." */
};

#define REFUSE(r, format, ...) faults_add((r)->faults, NULL, "%s" format, (r)->path, __VA_ARGS__)
#define PART(r, format, ...)                                                                       \
	((struct reader){(r)->a, (r)->faults,                                                      \
			 arena_printf((r)->a, "%s" format, (r)->path, __VA_ARGS__).p})

/* Refuses the member @key of @o, that is missing or of another kind; @mend: what to give. */
void member_unfit(const struct reader *r, const struct json *o, const char *key, const char *mend);

/* One member into its place in @base; OTHER: nothing. */
void member_read(const struct reader *r, const struct json *o, const struct member *f, void *base);

/* All members of the @list, and no others. */
void members_read(const struct reader *r, const struct json *o, const struct member *list,
		  void *base);

/* The member @key, an object with these members; NULL: it is none. */
const struct json *member_object(const struct reader *r, const struct json *o, const char *key,
				 const struct member *list, void *base);

/* The member @key, an array of at least @min items, their number in @n; 0 of one that does not fit. */
const struct json *member_array(const struct reader *r, const struct json *o, const char *key,
				size_t min, int *n);

/* The member @key, an array of at least @min texts, none empty. */
const struct str *member_texts(const struct reader *r, const struct json *o, const char *key,
			       size_t min, int *n);

/* Writes what the table can read, but not OTHER, nor an optional word that is the first of its kind: absent means that. */
void members_put(struct json_out *o, const struct member *list, const void *base);

#endif
