#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_CHUNK_BYTES = 4 << 10, LAST_CHUNK_BYTES = 64 << 10 };

struct chunk {
	struct chunk *next;
	size_t used, size; /* bytes of data */
	_Alignas(max_align_t) char data[];
};

struct arena {
	struct chunk *chunk; /* the one being filled, then all others */
	size_t next_bytes;   /* size of the next chunk, its head included */
	size_t bytes;
};

static void *zeroed(struct arena *a, size_t bytes)
{
	void *p = calloc(1, bytes);

	if (!p)
		BUG("out of memory: %zu bytes", bytes);
	a->bytes += bytes;
	return p;
}

struct arena *arena_new(void)
{
	struct arena none = {0};
	struct arena *a = zeroed(&none, sizeof(*a));

	a->bytes = sizeof(*a);
	a->next_bytes = FIRST_CHUNK_BYTES;
	return a;
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	while (a->chunk) {
		struct chunk *c = a->chunk;
		a->chunk = c->next;
		free(c);
	}
	free(a);
}

/* What does not fit an ordinary chunk gets one of its own behind the one being filled. */
static struct chunk *add_chunk(struct arena *a, size_t size)
{
	bool own = size > a->next_bytes - sizeof(struct chunk);
	size_t bytes = own ? sizeof(struct chunk) + size : a->next_bytes;
	struct chunk *c = zeroed(a, bytes);

	c->size = bytes - sizeof(*c);
	if (own && a->chunk) {
		c->next = a->chunk->next;
		a->chunk->next = c;
		return c;
	}
	c->next = a->chunk;
	a->chunk = c;
	if (!own && a->next_bytes < LAST_CHUNK_BYTES)
		a->next_bytes *= 2;
	return c;
}

void *arena_alloc(struct arena *a, size_t size)
{
	size_t align = _Alignof(max_align_t);
	struct chunk *c = a->chunk;

	if (size > PTRDIFF_MAX / 2)
		BUG("arena_alloc of %zu bytes", size);
	size = ((size ? size : 1) + align - 1) / align * align;
	if (!c || size > c->size - c->used)
		c = add_chunk(a, size);
	void *p = c->data + c->used;
	c->used += size;
	return p;
}

struct str arena_str(struct arena *a, struct str s)
{
	if (!s.p)
		return s;
	char *p = arena_alloc(a, s.n + 1);
	memcpy(p, s.p, s.n);
	return (struct str){p, s.n};
}

struct str arena_printf(struct arena *a, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n < 0)
		BUG("arena_printf: bad format '%s'", format);
	char *p = arena_alloc(a, (size_t)n + 1);
	va_start(args, format);
	vsnprintf(p, (size_t)n + 1, format, args);
	va_end(args);
	return (struct str){p, (size_t)n};
}

size_t arena_bytes(const struct arena *a)
{
	return a->bytes;
}
