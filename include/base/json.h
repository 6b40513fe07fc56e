/*
 * base/json.h - strict JSON (RFC 8259) into values of json-c, and a writer.
 *
 * json-c's own parser lets duplicate keys, NaN, single quotes, trailing bytes, NUL bytes and overlong UTF-8 pass, also in its
 * strict mode, and takes three times as long. So the reader is ours: it refuses all of these, \u0000, lone surrogates and
 * more than 64 levels. A UTF-8 byte order mark in front is skipped (RFC 8259, 8.1).
 *
 * A value belongs to its document; borrowed strings live until json_free(). Numbers are integers of 64 bits or finite
 * doubles; the exact getters never convert between types.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

struct json; /* a value; the root frees all */

enum json_fault { JSON_FINE, JSON_EMPTY, JSON_NOT_UTF8, JSON_NOT_JSON, JSON_DUPLICATE_KEY };
enum json_kind {
	JSON_NULL,
	JSON_BOOL,
	JSON_INT,
	JSON_DOUBLE,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT
};

/* Exactly one value in @text, white space around it allowed. JSON_EMPTY: nothing but white space. *err names the byte. */
enum json_fault json_read(struct str text, struct json **out, struct err *err) MUST_CHECK;
/* The same for what comes while jobs run: at most JSON_VALUES_MAX values, an array or object counting as one besides what is in it.
 * A value may cost a microsecond, so without a limit a megabyte of "{}," would hold up all other jobs. */
enum { JSON_VALUES_MAX = 10000 };
enum json_fault json_read_sent(struct str text, struct json **out, struct err *err) MUST_CHECK;
/* The same for a text that only begins with a value: *n is how many bytes it takes, the white space behind it included. */
enum json_fault json_read_first(struct str text, struct json **out, size_t *n,
				struct err *err) MUST_CHECK;
/* As json_read_sent(), for who takes numbers by json_number() alone: one too large for 64 bits or a double is fine, too, as JSON_DOUBLE. */
enum json_fault json_read_exact(struct str text, struct json **out, struct err *err) MUST_CHECK;
void json_free(struct json *root); /* NULL is fine */

/* NULL = JSON_NULL; but a null in the text is a value of that kind, not NULL. */
enum json_kind json_kind(const struct json *);
const char *json_kind_name(
	enum json_kind); /* "null" "boolean" "integer" "number" "string" "array" "object" */

bool json_bool(const struct json *); /* the next four: the kind must match, else BUG */
int64_t json_int(const struct json *);
double json_double(const struct json *); /* JSON_INT is fine too */
/* A number's text as it was read, for decimal_read(), which takes it; of JSON_INT it is written into @room. */
enum { JSON_INT_ROOM = 21 };
struct str json_number(const struct json *, char room[static JSON_INT_ROOM]);
struct str json_str(const struct json *);

size_t json_size(const struct json *); /* items of an array, members of an object, else 0 */
const struct json *json_item(const struct json *array, size_t i); /* i < json_size() */
/* Member i in the order of the text; false past the end. */
bool json_member(const struct json *object, size_t i, struct str *key, const struct json **value);
const struct json *json_get(const struct json *object,
			    const char *key); /* NULL: absent, or @object is no object */

/* Exact type or false; *out untouched then. */
bool json_get_str(const struct json *object, const char *key, struct str *out);
bool json_get_int(const struct json *object, const char *key, int64_t min, int64_t max,
		  int64_t *out);
bool json_get_bool(const struct json *object, const char *key, bool *out);

/* Canonical text: members in byte order of their keys, no white space, integers in decimal, strings escaped as
 * json_put_str() does. A double is ST_INVALID: what is hashed holds integers only. */
enum status json_canonical(const struct json *, struct buf *out) MUST_CHECK;
/* The same without the ban: doubles as they were read, members in the order of the text. */
void json_print(const struct json *, struct buf *out);
/* Equal values, and only those, give equal bytes: canonical, but with each number as decimal_put() does. 1 equals 1.0. */
void json_normal(const struct json *, struct buf *out);

/* Writer: commas and quotes are its business, nesting is the caller's.
 *	struct json_out o = {.buf = &buf};  json_open(&o, NULL, '{');  json_put_int(&o, "n", 3);  json_close(&o, '}');
 * @key is NULL inside an array and for the outermost value. Strings must be UTF-8; what is not becomes U+FFFD. Only '"', '\\' and bytes
 * under 0x20 are escaped: \b \t \n \f \r, else \u00xx in lower case. */
struct json_out {
	struct buf *buf;
	bool comma; /* the next value needs one before it */
};
void json_open(struct json_out *, const char *key, char bracket);  /* '{' or '[' */
void json_close(struct json_out *, char bracket);		   /* '}' or ']' */
void json_put_str(struct json_out *, const char *key, struct str); /* absent = null */
void json_put_int(struct json_out *, const char *key, int64_t);
void json_put_bool(struct json_out *, const char *key, bool);
void json_put_null(struct json_out *, const char *key);
void json_put_raw(struct json_out *, const char *key,
		  struct str json); /* a whole JSON value, as is */
/* As json_put_str(), the key too is data. */
void json_put_pair(struct json_out *, struct str key, struct str value);

/* json-c's name and version, for `draftmill --version`. */
void json_library(struct buf *out);

#endif
