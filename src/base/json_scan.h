/*
 * json_scan.h - the grammar of RFC 8259, walked without building anything. Private to base/json.c.
 */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include "base/json.h"

enum { JSON_MAX_DEPTH = 64 };

/* JSON_FINE: *value is the one value in @text, without what stands around it. Else *err names the
 * byte, from 0. */
enum json_fault json_scan(struct str text, struct str *value, struct err *err) MUST_CHECK;

#endif
