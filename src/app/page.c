#include "app/page.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"

void page_printf(struct page *p, const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	int n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(line))
		BUG("page_printf: a line too long for '%s'; give texts to page_line()", format);
	buf_put(&p->text, line, (size_t)n);
}

void page_ink(struct page *p, enum ink ink)
{
	static const char *const code[] = {
		[INK_PLAIN] = "\033[0m",
		[INK_BOLD] = "\033[1m",
		[INK_RED] = "\033[31m",
		[INK_GREEN] = "\033[32m",
	};

	if (p->colour)
		buf_puts(&p->text, code[ink]);
}

void page_title(struct page *p, const char *format, ...)
{
	char line[256];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (p->text.n)
		buf_putc(&p->text, '\n');
	page_ink(p, INK_BOLD);
	buf_puts(&p->text, line);
	page_ink(p, INK_PLAIN);
	buf_putc(&p->text, '\n');
}

/* Control characters (C0, DEL, C1), line and paragraph separators, and those that embed, override or isolate a direction. */
static bool is_hidden(int32_t c)
{
	return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x2028 && c <= 0x202E) ||
	       (c >= 0x2066 && c <= 0x2069) || c == 0x061C || c == 0x200E || c == 0x200F;
}

static void put_code_point(struct page *p, struct str bytes, int32_t c)
{
	if (is_hidden(c))
		buf_printf(&p->text, "\\u%04x", (unsigned)c);
	else if (c == 0xFFFD)
		buf_puts(&p->text, "\xEF\xBF\xBD"); /* may stand for bytes that are no UTF-8 */
	else
		buf_str(&p->text, bytes);
}

void page_line(struct page *p, struct str s)
{
	size_t at = 0, from = 0;
	int32_t c;

	if (!s.p)
		buf_putc(&p->text, '-');
	for (; (c = text_next(s, &at)) >= 0; from = at)
		put_code_point(p, str_sub(s, from, at - from), c);
}

void page_text(struct page *p, struct str s)
{
	size_t at = 0, from = 0;
	int32_t c;

	for (; (c = text_next(s, &at)) >= 0; from = at) {
		if (!p->inside)
			buf_puts(&p->text, "  | ");
		p->inside = c != '\n';
		if (c == '\n' || c == '\t')
			buf_putc(&p->text, (char)c);
		else
			put_code_point(p, str_sub(s, from, at - from), c);
	}
}

void page_text_end(struct page *p)
{
	if (p->inside)
		buf_putc(&p->text, '\n');
	p->inside = false;
}

void page_json(struct page *p, const struct json *value)
{
	json_print(value, &p->text);
	buf_putc(&p->text, '\n');
}

bool page_wants_colour(int fd)
{
	const char *off = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(off && *off) && !(term && strcmp(term, "dumb") == 0);
}

enum status page_write(int fd, const struct buf *text, struct err *err)
{
	struct str rest = buf_view(text);

	if (text->full)
		return err_set(err, ST_DOWN, "the output is over %zu bytes", text->max);
	while (rest.n) {
		ssize_t n = write(fd, rest.p, rest.n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EPIPE)
			return ST_OK;
		if (n < 0)
			return err_set(err, ST_DOWN, "the output cannot be written: %s",
				       strerror(errno));
		rest = str_sub(rest, (size_t)n, rest.n);
	}
	return ST_OK;
}
