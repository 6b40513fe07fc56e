#include "submit_private.h"

#include <stdlib.h>

/* Keys are digests: any bytes of theirs are a hash. */
static size_t home(const struct items *s, const uint8_t key[UUID_BYTES])
{
	uint64_t h;

	memcpy(&h, key, sizeof(h));
	return (size_t)h & (s->n_slot - 1);
}

/* Its slot, or the free one where it belongs. */
static size_t slot_of(const struct items *s, const uint8_t key[UUID_BYTES])
{
	size_t i = home(s, key);

	while (s->slot[i] && memcmp(s->item[s->slot[i] - 1].key, key, UUID_BYTES) != 0)
		i = (i + 1) & (s->n_slot - 1);
	return i;
}

int64_t items_find(const struct items *s, const uint8_t key[UUID_BYTES])
{
	return s->n_slot ? (int64_t)s->slot[slot_of(s, key)] - 1 : -1;
}

static void grow(struct items *s)
{
	s->cap = s->cap ? 2 * s->cap : 512;
	if (s->cap > UINT32_MAX / 4)
		BUG("more than %zu jobs at once: submit them in parts", s->n);
	s->n_slot = 2 * s->cap;
	s->item = realloc(s->item, s->cap * sizeof(*s->item));
	free(s->slot);
	s->slot = calloc(s->n_slot, sizeof(*s->slot));
	if (!s->item || !s->slot)
		BUG("out of memory: %zu jobs", s->cap);
	for (size_t i = 0; i < s->n; i++)
		s->slot[slot_of(s, s->item[i].key)] = (uint32_t)i + 1;
}

size_t items_add(struct items *s, const struct item *item)
{
	if (s->n == s->cap)
		grow(s);
	s->item[s->n] = *item;
	s->slot[slot_of(s, item->key)] = (uint32_t)s->n + 1;
	return s->n++;
}

void items_release(struct items *s)
{
	free(s->item);
	free(s->slot);
	*s = (struct items){0};
}
