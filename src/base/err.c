#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

/* One byte more than fits, to see whether the cut would split a UTF-8 sequence. */
struct draft {
	char text[sizeof(((struct err *)0)->text) + 1];
};

static void set_cut(struct err *err, struct draft *d)
{
	size_t n = strlen(d->text);

	if (n >= sizeof(err->text)) {
		n = sizeof(err->text) - 1;
		while (n > 0 && (d->text[n] & 0xC0) == 0x80)
			n--;
	}
	memcpy(err->text, d->text, n);
	err->text[n] = '\0';
}

enum status err_set(struct err *err, enum status status, const char *format, ...)
{
	struct draft d;
	va_list args;

	if (!err)
		return status;
	va_start(args, format);
	vsnprintf(d.text, sizeof(d.text), format, args);
	va_end(args);
	set_cut(err, &d);
	return status;
}

void err_at(struct err *err, const char *format, ...)
{
	struct draft d;
	va_list args;

	if (!err)
		return;
	va_start(args, format);
	vsnprintf(d.text, sizeof(d.text), format, args);
	va_end(args);
	size_t n = strlen(d.text);
	snprintf(d.text + n, sizeof(d.text) - n, "%s", err->text);
	set_cut(err, &d);
}
