#include "app/page.h"

#include "base/clock.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

static void put_word(struct buf *out, int64_t n, struct str word)
{
	buf_printf(out, " %.*s%s", STR_ARG(word), n == 1 ? "" : "s");
}

void page_count(struct page *p, int64_t n, const char *word)
{
	buf_printf(&p->text, "%" PRId64, n);
	put_word(&p->text, n, str_c(word));
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

/* --- forms --- */

struct slot {
	const char *end; /* behind its } */
	const struct json *value;
	bool is_time;
	int width, cut, n_decimals;
	struct str word, instead; /* of a count; of what is not there */
};

static struct slot read_slot(const struct json *object, const char *at)
{
	struct slot s = {.value = object, .instead = STR_OF("-")};
	size_t n = strcspn(++at, "|:./#@}");
	char key[64], *end;

	snprintf(key, sizeof(key), "%.*s", (int)n, at);
	if (n)
		s.value = json_get(object, key);
	for (at += n; *at != '}'; at += n) {
		char what = *at++;
		struct str text = {at, strcspn(at, "|:./#@}")};
		int number = (int)strtol(at, &end, 10);
		n = text.n;
		if (what == '@')
			s.is_time = true;
		else if (what == '#')
			s.word = text;
		else if (what == '|')
			s.instead = text;
		else if (!what)
			BUG("a form ends inside {%s", key);
		else
			*(what == ':' ? &s.width : what == '.' ? &s.cut : &s.n_decimals) = number;
	}
	s.end = at + 1;
	return s;
}

static bool is_nothing(const struct json *value)
{
	if (json_kind(value) == JSON_STRING)
		return json_str(value).n == 0;
	return json_kind(value) == JSON_NULL ||
	       (json_kind(value) == JSON_INT && json_int(value) == 0);
}

static void put_integer(struct buf *out, int64_t n, const struct slot *s)
{
	int64_t unit = 1;

	for (int i = 0; i < s->n_decimals; i++)
		unit *= 10;
	buf_printf(out, "%" PRId64, n / unit);
	if (s->n_decimals)
		buf_printf(out, ".%0*" PRId64, s->n_decimals, n % unit);
	if (s->word.p)
		put_word(out, n, s->word);
}

static void put_slot(struct page *p, const struct slot *s)
{
	struct page in = PAGE(false);
	int64_t unix_ms;

	if (json_kind(s->value) == JSON_INT)
		put_integer(&in.text, json_int(s->value), s);
	else if (json_kind(s->value) != JSON_STRING)
		buf_str(&in.text, s->instead);
	else if (s->is_time && time_read(json_str(s->value), &unix_ms))
		time_write(&in.text, unix_ms);
	else
		page_line(&in, s->cut ? str_cut(json_str(s->value), (size_t)s->cut)
				      : json_str(s->value));
	buf_printf(&p->text, "%*s", s->width, buf_view(&in.text).p);
	buf_release(&in.text);
}

/* Whether what stands from the [ at @at to its ] is to be left out. */
static bool lacks(const struct json *object, const char *at)
{
	for (; *at != ']'; at++) {
		if (*at == '{' && is_nothing(read_slot(object, at).value))
			return true;
	}
	return false;
}

void page_fill(struct page *p, const struct json *object, const char *form)
{
	bool is_bold = false;

	for (const char *at = form; *at; at++) {
		if (*at == '{') {
			struct slot slot = read_slot(object, at);
			put_slot(p, &slot);
			at = slot.end - 1;
		} else if (*at == '*') {
			is_bold = !is_bold;
			page_ink(p, is_bold ? INK_BOLD : INK_PLAIN);
		} else if (*at == '[' && lacks(object, at)) {
			at = strchr(at, ']');
		} else if (*at != '[' && *at != ']') {
			buf_putc(&p->text, *at);
		}
	}
}

void page_fill_each(struct page *p, const struct json *list, const char *form)
{
	for (size_t i = 0; i < json_size(list); i++)
		page_fill(p, json_item(list, i), form);
}

void page_json(const struct json *value, struct page *p)
{
	json_print(value, &p->text);
	buf_putc(&p->text, '\n');
}

bool page_wants_colour(int fd)
{
	const char *off = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(off && *off) && !(term && strcmp(term, "dumb") == 0);
}

bool page_print(struct page *p)
{
	bool fine = !p->text.full;

	fwrite(buf_view(&p->text).p, 1, p->text.n, stdout);
	buf_clear(&p->text);
	return fine;
}
