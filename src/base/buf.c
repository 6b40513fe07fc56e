#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_BYTES = 64 };

void buf_init(struct buf *b, size_t max_bytes)
{
	*b = (struct buf)BUF(max_bytes);
}

void buf_release(struct buf *b)
{
	free(b->p);
	buf_init(b, b->max);
}

void buf_clear(struct buf *b)
{
	b->n = 0;
	b->full = false;
	if (b->p)
		b->p[0] = '\0';
}

/* Makes room for @n more bytes and a NUL; false: they would pass the ceiling. */
static bool reserve(struct buf *b, size_t n)
{
	if (b->max == 0)
		BUG("buf without a ceiling");
	if (n > b->max - b->n) {
		b->full = true;
		return false;
	}
	if (b->n + n < b->cap)
		return true;
	size_t cap = b->cap ? b->cap : FIRST_BYTES;
	while (cap <= b->n + n)
		cap *= 2;
	if (cap > b->max)
		cap = b->max + 1;
	b->p = realloc(b->p, cap);
	if (!b->p)
		BUG("out of memory: %zu bytes", cap);
	b->cap = cap;
	return true;
}

void buf_put(struct buf *b, const void *p, size_t n)
{
	if (!reserve(b, n))
		return;
	if (n)
		memcpy(b->p + b->n, p, n);
	b->n += n;
	b->p[b->n] = '\0';
}

void buf_str(struct buf *b, struct str s)
{
	buf_put(b, s.p, s.n);
}

void buf_puts(struct buf *b, const char *c)
{
	buf_put(b, c, strlen(c));
}

void buf_putc(struct buf *b, char c)
{
	buf_put(b, &c, 1);
}

void buf_printf(struct buf *b, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int n = vsnprintf(b->p ? b->p + b->n : NULL, b->p ? b->cap - b->n : 0, format, args);
	va_end(args);
	if (n < 0)
		BUG("buf_printf: bad format '%s'", format);
	if (b->n + (size_t)n < b->cap && b->n + (size_t)n <= b->max) { /* it had room */
		b->n += (size_t)n;
		return;
	}
	if (b->p)
		b->p[b->n] = '\0'; /* what did not fit was begun there */
	if (!reserve(b, (size_t)n))
		return;
	va_start(args, format);
	vsnprintf(b->p + b->n, (size_t)n + 1, format, args);
	va_end(args);
	b->n += (size_t)n;
}

void buf_decimal(struct buf *b, int64_t value, int64_t scale)
{
	int64_t rest = value % scale;

	buf_printf(b, "%lld", (long long)(value / scale));
	if (rest)
		buf_putc(b, '.');
	for (; rest; rest = rest * 10 % scale)
		buf_printf(b, "%lld", (long long)(rest * 10 / scale));
}

void buf_number(struct buf *b, int64_t n)
{
	if (n < 1000) {
		buf_printf(b, "%d", (int)n);
		return;
	}
	buf_number(b, n / 1000);
	buf_printf(b, ",%03d", (int)(n % 1000));
}

void buf_hex(struct buf *b, const void *p, size_t n)
{
	if (n > SIZE_MAX / 2 || !reserve(b, 2 * n))
		return;
	hex_text(p, n, b->p + b->n);
	b->n += 2 * n;
}

struct str buf_view(const struct buf *b)
{
	return b->p ? (struct str){b->p, b->n} : STR_OF("");
}
