/*
 * core/schema.h - JSON Schema, draft 2020-12, a stated subset. A keyword outside the subset refuses the schema: none is ignored.
 *
 * Asserted: type, enum, const; minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf (up to 18 digits); minLength, maxLength
 * (code points), pattern (schema_pattern.h says which); items, prefixItems, contains, minContains, maxContains, minItems, maxItems,
 * uniqueItems; properties, patternProperties, additionalProperties, propertyNames, required, dependentRequired, dependentSchemas,
 * minProperties, maxProperties; allOf, anyOf, oneOf, not, if, then, else; $ref to a place in the same schema ("#", "#/$defs/NAME"); true and
 * false. Annotations: $schema and $id (outermost only), $defs, $comment, title, description, default, examples, deprecated, readOnly,
 * writeOnly. Refused: all else, so $anchor, $dynamicRef, a $ref to elsewhere, unevaluatedItems, unevaluatedProperties, format, content...
 *
 * Numbers are compared as they are written, whatever their size: 1.0 is an integer, 2^53 + 1 is not 2^53. What base/json.h refuses (\u0000,
 * a key twice) fits no schema. A schema has at most SCHEMA_BYTES_MAX and JSON_VALUES_MAX; at most 32 schemas of one value stand in one another.
 */
#ifndef CORE_SCHEMA_H
#define CORE_SCHEMA_H

#include "base/json.h"

struct schema;

enum { SCHEMA_BYTES_MAX = 64 << 10 };

enum schema_fault {
	SCHEMA_FITS,
	SCHEMA_TYPE,
	SCHEMA_MISSING,
	SCHEMA_UNKNOWN,
	SCHEMA_RANGE,	 /* all that has no word of its own */
	SCHEMA_UNDECIDED /* a limit was met: the value may fit or not */
};

/* Compiles; lives in @a and borrows nothing. ST_INVALID: *err names the pointer and the keyword. */
enum status schema_read(struct arena *a, struct str json, const struct schema **out,
			struct err *err) MUST_CHECK;
/* The same of a value that is read, by json_read_exact() if it has numbers. */
enum status schema_compile(struct arena *a, const struct json *, const struct schema **out,
			   struct err *err) MUST_CHECK;

/* The first fault in the order of the text; what is missing in an object comes after its members. *err: JSON pointer as a URI
 * fragment ("#/tags/3"), what was found, what fits; never a value of the text. Member @given of the outermost object may be
 * missing: an envelope gives it. NULL: none. */
enum schema_fault schema_check(const struct schema *, const struct json *value, const char *given,
			       struct err *err) MUST_CHECK;

/* Up to five faults, for a person and for a model: "/tags/3: must be at least 1; /name: is missing" into @told. @value by
 * json_read_exact(). *work grows by what it costs, in the units of core/check.h; over @work_max it is SCHEMA_UNDECIDED. */
enum schema_fault schema_check_all(const struct schema *, const struct json *value, int64_t *work,
				   int64_t work_max, struct buf *told) MUST_CHECK;

#endif
