#include "base/json.h"
#include "utf8.h"

#include <inttypes.h>

static void put_escaped(struct buf *b, unsigned char c)
{
	static const char name[256] = {['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\t'] = 't',
				       ['\n'] = 'n', ['\f'] = 'f',  ['\r'] = 'r'};
	static const char hex[] = "0123456789abcdef";

	if (name[c])
		buf_put(b, (const char[]){'\\', name[c]}, 2);
	else
		buf_put(b, (const char[]){'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, 6);
}

static bool is_plain_ascii(char c)
{
	return c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

static void put_quoted(struct buf *b, struct str s)
{
	size_t from = 0, at = 0; /* [from, at) waits to be put as it is */
	int32_t c;

	buf_putc(b, '"');
	while (at < s.n && !b->full) {
		if (is_plain_ascii(s.p[at])) {
			at++;
			continue;
		}
		size_t n = utf8_decode((struct str){s.p + at, s.n - at}, &c);
		if (n > 1) {
			at += n;
			continue;
		}
		buf_put(b, s.p + from, at - from);
		if (n == 0)
			buf_puts(b, "\xEF\xBF\xBD"); /* U+FFFD */
		else
			put_escaped(b, (unsigned char)c);
		from = ++at;
	}
	buf_put(b, s.p + from, at - from);
	buf_putc(b, '"');
}

static void begin_value(struct json_out *o, struct str key)
{
	if (o->comma)
		buf_putc(o->buf, ',');
	o->comma = true;
	if (key.p) {
		put_quoted(o->buf, key);
		buf_putc(o->buf, ':');
	}
}

void json_open(struct json_out *o, const char *key, char bracket)
{
	begin_value(o, str_c(key));
	buf_putc(o->buf, bracket);
	o->comma = false;
}

void json_close(struct json_out *o, char bracket)
{
	buf_putc(o->buf, bracket);
	o->comma = true;
}

void json_put_pair(struct json_out *o, struct str key, struct str value)
{
	begin_value(o, key);
	if (value.p)
		put_quoted(o->buf, value);
	else
		buf_puts(o->buf, "null");
}

void json_put_str(struct json_out *o, const char *key, struct str value)
{
	json_put_pair(o, str_c(key), value);
}

void json_put_int(struct json_out *o, const char *key, int64_t value)
{
	begin_value(o, str_c(key));
	buf_printf(o->buf, "%" PRId64, value);
}

void json_put_bool(struct json_out *o, const char *key, bool value)
{
	json_put_raw(o, key, value ? STR_OF("true") : STR_OF("false"));
}

void json_put_null(struct json_out *o, const char *key)
{
	json_put_raw(o, key, STR_OF("null"));
}

void json_put_raw(struct json_out *o, const char *key, struct str json)
{
	begin_value(o, str_c(key));
	buf_str(o->buf, json);
}
