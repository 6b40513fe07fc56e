/*
 * base/arena.h - memory that ends together: a job's, a profile's, a parse's. Nothing in it is freed alone.
 * Out of memory aborts; a restart replays.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/status.h"
#include "base/str.h"

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *); /* NULL is fine */

/* Zeroed, aligned for any type; @size 0 gives a valid pointer. */
void *arena_alloc(struct arena *, size_t size);
#define arena_array(arena, type, count)                                                            \
	((type *)arena_alloc((arena), sizeof(type) * (size_t)(count)))

/* A copy, NUL-terminated after its n bytes. The absent string stays absent. */
struct str arena_str(struct arena *, struct str);
struct str arena_printf(struct arena *, const char *format, ...) PRINTF_LIKE(2, 3);

/* Bytes taken from malloc so far. */
size_t arena_bytes(const struct arena *);

#endif
