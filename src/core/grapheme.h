/*
 * grapheme.h - walking a text by grapheme clusters. Private to core.
 */
#ifndef GRAPHEME_H
#define GRAPHEME_H

#include "base/text.h"

enum {
	GRAPHEME_CODE_POINTS_MAX = 16
}; /* a longer heap of marks is cut: its cost grows with the square */

/* End of the cluster that begins at byte @at of @s; @at < s.n. */
static inline size_t grapheme_end(struct str s, size_t at)
{
	size_t end = at, next;

	if (s.p[at] != '\r' && at + 1 < s.n && (unsigned char)(s.p[at] | s.p[at + 1]) < 0x80)
		return at + 1; /* ASCII before ASCII: nothing can join them but CRLF */
	(void)text_next(s, &end);
	for (int i = 1; i < GRAPHEME_CODE_POINTS_MAX; i++) {
		next = end;
		if (text_next(s, &next) < 0 || text_graphemes(str_sub(s, at, next - at)) > 1)
			break;
		end = next;
	}
	return end;
}

#endif
