/*
 * check_parts.h - what several families of checks are made of.
 */
#ifndef CHECK_PARTS_H
#define CHECK_PARTS_H

#include "core/check.h"

enum { COUNT_MAX = 1000000 };

/* Arguments as JSON has them. ST_INVALID: *err names the key and the mend. */

/* The strings at @key, copied; none if it is absent. */
enum status args_strings(struct arena *a, const struct json *spec, const char *key,
			 const struct str **out, int *n, struct err *err) MUST_CHECK;

/* The string at @key, copied, without white space at its ends; it must be there and have more than that. */
enum status args_string(struct arena *a, const struct json *spec, const char *key, struct str *out,
			struct err *err) MUST_CHECK;

/* The integer at @key, which must be there, from @min to COUNT_MAX. */
enum status args_count(const struct json *spec, const char *key, int64_t min, int64_t *out,
		       struct err *err) MUST_CHECK;

/* Of a type without arguments. */
enum status args_none(struct arena *a, const struct json *spec, const void **args, struct err *err);

/* Red, with a detail that stays. */
void check_fail(struct check_result *out, const char *detail);

/* For the types with IFEval's names: pays @byte_work a byte. False, and the check is red: too much, or nothing but white space, which fails
 * every one of them. */
bool check_begins(struct checked *, int64_t byte_work, struct check_result *out) MUST_CHECK;

/* @before"item" */
void put_quoted(struct buf *out, struct str item, const char *before);
/* An item of a list in a phrase. */
void put_item(struct buf *out, struct str item, bool japanese, bool first);
/* @detail becomes the result's and is released; nothing in it = the check is met, unless it could not be decided. */
void set_detail(struct arena *, struct buf *detail, struct check_result *out);

#endif
