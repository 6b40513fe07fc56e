/*
 * core/schema.h - JSON Schema, draft 2020-12, a stated subset. A keyword outside the subset refuses the schema: none is ignored.
 *
 * Asserted: type (one name or several), properties, required, additionalProperties (false or a schema), items,
 * minItems, maxItems, maxProperties, minLength, maxLength (code points), minimum, maximum, enum, const,
 * $ref ("#" or "#/$defs/NAME"). Annotations: $schema $id $defs $comment title description default examples format.
 * 1.0 is an integer, as in the specification. enum and const list scalars only; $defs, $id and $schema stand in the outermost
 * schema only. A schema is an object: `true` and `false` are none.
 */
#ifndef CORE_SCHEMA_H
#define CORE_SCHEMA_H

#include "base/json.h"

struct schema;

enum schema_fault { SCHEMA_FITS, SCHEMA_TYPE, SCHEMA_MISSING, SCHEMA_UNKNOWN, SCHEMA_RANGE };

/* Compiles; lives in @a and borrows nothing. ST_INVALID: *err names the pointer and the keyword. */
enum status schema_read(struct arena *a, struct str json, const struct schema **out,
			struct err *err) MUST_CHECK;

/* The first fault in the order of the text; what is missing in an object comes after its members. *err: JSON pointer as a URI
 * fragment ("#/tags/3"), what was found, what fits; never a value of the text. Member @given of the outermost object may be
 * missing: an envelope gives it. NULL: none. */
enum schema_fault schema_check(const struct schema *, const struct json *value, const char *given,
			       struct err *err) MUST_CHECK;

#endif
