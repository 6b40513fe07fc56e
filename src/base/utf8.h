/*
 * utf8.h - decoding UTF-8 that nobody vouches for. Private to base; others ask base/text.h.
 */
#ifndef UTF8_H
#define UTF8_H

#include "base/str.h"

/* Length of the well-formed sequence at the front of @s (1 to 4) and its code point; 0 if there is none.
 * Well-formed is what Unicode 15, table 3-7 lists. Inline: most passes over a text spend their time here. */
static inline size_t utf8_decode(struct str s, int32_t *code_point)
{
	const unsigned char *p = (const unsigned char *)s.p;

	if (s.n >= 1 && p[0] < 0x80) {
		*code_point = p[0];
		return 1;
	}
	if (s.n < 2 || p[0] < 0xC2 || (p[1] & 0xC0) != 0x80)
		return 0;
	if (p[0] < 0xE0) {
		*code_point = (p[0] & 0x1F) << 6 | (p[1] & 0x3F);
		return 2;
	}
	if (s.n < 3 || (p[2] & 0xC0) != 0x80)
		return 0;
	int32_t c = (p[0] & 0x0F) << 12 | (p[1] & 0x3F) << 6 | (p[2] & 0x3F);
	if (p[0] < 0xF0) {
		*code_point = c;
		return c >= 0x800 && (c < 0xD800 || c > 0xDFFF) ? 3 : 0;
	}
	if (s.n < 4 || p[0] > 0xF4 || (p[3] & 0xC0) != 0x80)
		return 0;
	*code_point = c = c << 6 | (p[3] & 0x3F);
	return c >= 0x10000 && c <= 0x10FFFF ? 4 : 0;
}

/* Bytes that can stand as they are before the first ill-formed one; @s.n if there is none. */
size_t utf8_valid_prefix(struct str s);

#endif
