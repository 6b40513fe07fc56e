/*
 * core/unwrap.h - the one JSON object in a model's reply, by a single rule.
 *
 * The repair rule: the reply holds exactly one JSON object, whole and sound (base/json.h), and around it nothing but prose. Prose is
 * anything without a brace: words, a Markdown fence, tags, a byte order mark. A thinking block (`<think>` to `</think>` and
 * their like, see unwrap.c) is no part of the reply: what stands in it is not looked at, and one that does not end spoils the
 * reply. No byte of the object is changed, added or left out; so what was cut, single quotes, a comma too much, NaN or a key
 * twice stay what they are. An object that stands in an array, in another value or in quotes is a part of something else.
 */
#ifndef CORE_UNWRAP_H
#define CORE_UNWRAP_H

#include "base/json.h"

/* What stood around the object, the first that fits. */
#define SHAPES(X)                                                                                                           \
	X(thinking) /* a thinking block, whatever else */                                                                   \
	X(fence)    /* a Markdown fence before it */                                                                        \
	X(prose)    /* anything else */                                                                                     \
	X(copied) /* whatever it was: the object stands in what the critic was given, and is not its own (core/copied.h) */ \
	X(whole) /* white space at most: nothing to repair */
#define X(name) SHAPE_##name,
enum shape { SHAPES(X) N_SHAPES };
#undef X
const char *shape_name(enum shape);

/* False: *err says why there is no such object. Else *object is its root, to be freed, and *text its bytes in @reply. */
bool unwrap_object(struct str reply, struct json **object, struct str *text, enum shape *shape,
		   struct err *err);

#endif
