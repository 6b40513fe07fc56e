/*
 * base/buf.h - a growing byte buffer with a ceiling. What would pass the ceiling is dropped whole and `full` stays set
 * until buf_clear(): write on, look once at the end.
 *
 *	struct buf b = BUF(1 << 20);
 *	buf_printf(&b, "%d", n);
 *	if (b.full) ...
 *	buf_release(&b);
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/status.h"
#include "base/str.h"

struct buf {
	char *p;       /* NUL-terminated once anything was put */
	size_t n, cap; /* bytes used, bytes held */
	size_t max;    /* ceiling of n; 0 = none is set: a bug */
	bool full;     /* something was dropped */
};

#define BUF(max_bytes)                                                                             \
	{                                                                                          \
		NULL, 0, 0, (max_bytes), false                                                     \
	}

void buf_init(struct buf *, size_t max_bytes);
void buf_release(struct buf *); /* frees; usable again with the same ceiling */
void buf_clear(struct buf *);	/* keeps the memory */

void buf_put(struct buf *, const void *p, size_t n);
void buf_str(struct buf *, struct str);
void buf_puts(struct buf *, const char *c);
void buf_putc(struct buf *, char c);
void buf_printf(struct buf *, const char *format, ...) PRINTF_LIKE(2, 3);
/* @value / @scale (a power of ten) as the shortest decimal: 1500 / 1000 is 1.5. Both at least 0. */
void buf_decimal(struct buf *, int64_t value, int64_t scale);
void buf_number(struct buf *, int64_t n);	     /* 1,234,567; n at least 0 */
void buf_hex(struct buf *, const void *p, size_t n); /* lower case */

/* What it holds; never absent. Valid until the next put. */
struct str buf_view(const struct buf *);

#endif
