#include "base/err.h"

#include <stdio.h>

/* One byte more than fits, to see whether the cut would split a UTF-8 sequence. */
struct draft {
	char text[sizeof(((struct err *)0)->text) + 1];
};

static void set_cut(struct err *err, const struct draft *d)
{
	struct str text = str_cut(str_c(d->text), sizeof(err->text) - 1);

	memcpy(err->text, text.p, text.n);
	err->text[text.n] = '\0';
}

void err_setv(struct err *err, const char *format, va_list args)
{
	struct draft d;

	if (!err)
		return;
	vsnprintf(d.text, sizeof(d.text), format, args);
	set_cut(err, &d);
}

enum status err_set(struct err *err, enum status status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	err_setv(err, format, args);
	va_end(args);
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
