/*
 * utf8.h - decoding UTF-8 that nobody vouches for. Private to base; others ask base/text.h.
 */
#ifndef UTF8_H
#define UTF8_H

#include "base/str.h"

/* Length of the well-formed sequence at the front of @s (1 to 4) and its code point; 0 if there is none.
 * Well-formed is what Unicode 15, table 3-7 lists. */
size_t utf8_decode(struct str s, int32_t *code_point);

/* Bytes that can stand as they are before the first ill-formed one; @s.n if there is none. */
size_t utf8_valid_prefix(struct str s);

#endif
