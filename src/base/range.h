/*
 * range.h - sets of code points. Private to base.
 */
#ifndef RANGE_H
#define RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
	int32_t first, last;
};

/* @range: in order. */
static inline bool range_holds(int32_t c, const struct range *range, size_t n)
{
	for (size_t i = 0; i < n && c >= range[i].first; i++) {
		if (c <= range[i].last)
			return true;
	}
	return false;
}

#endif
