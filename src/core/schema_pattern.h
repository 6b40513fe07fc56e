/*
 * schema_pattern.h - a regular expression of ECMA-262 with flag u, as JSON Schema has them, written for regex.h.
 *
 * Taken: literals, . ^ $ | ( ) (?: ) (?= ) (?! ) (?<= ) (?<! ), quantifiers greedy and lazy, classes, \d \D \w \W \s \S \b \B,
 * \t \n \v \f \r \0 \cX \xHH \uHHHH \u{H..}, \p \P with the short name of a general category (Lu) or with sc= and scx=, a backslash before
 * any punctuation. What means the same in both dialects only by luck is written out: the classes, ".", "$" and \b.
 * Refused by name: back references, named groups, flags, and all that ECMA-262 does not have.
 */
#ifndef CORE_SCHEMA_PATTERN_H
#define CORE_SCHEMA_PATTERN_H

#include "base/buf.h"
#include "base/err.h"

/* ST_INVALID: *err names the byte and what stands there. */
enum status schema_pattern_write(struct str ecma, struct buf *out, struct err *err) MUST_CHECK;

#endif
