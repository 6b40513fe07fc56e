/*
 * json_scan.h - the grammar of RFC 8259, into values of json-c. Private to base/json.c.
 */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include "base/json.h"

/* A type of json-c's has the name of a function of ours. */
#define json_bool json_c_bool
#include <json-c/json.h>
#undef json_bool

enum { JSON_MAX_DEPTH = 64 };

/* JSON_FINE: *out is the one value in @text, NULL standing for null; or with @n the first one, and *n the bytes up to its
 * end and the white space behind it. Else *err names the byte, from 0. */
enum json_fault json_scan(struct str text, int max_values, bool any_number,
			  struct json_object **out, size_t *n, struct err *err) MUST_CHECK;

#endif
