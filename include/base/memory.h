/*
 * base/memory.h - memory from malloc that is there, or the process ends: a restart replays.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include "base/status.h"

#include <stdlib.h>

static inline void *mem_must(void *memory)
{
	if (!memory)
		BUG("out of memory");
	return memory;
}

/* One of @type, zeroed; free() it. */
#define mem_new(type) ((type *)mem_must(calloc(1, sizeof(type))))

/* Room for one more item in @array, which has @n of @cap. */
#define mem_room(array, n, cap)                                                                    \
	do {                                                                                       \
		if ((n) == (cap)) {                                                                \
			(cap) = (cap) ? (cap)*2 : 16;                                              \
			(array) = mem_must(realloc((array), (size_t)(cap) * sizeof(*(array))));    \
		}                                                                                  \
	} while (0)

#endif
