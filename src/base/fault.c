#include "base/fault.h"

void faults_add(struct faults *f, const char *place, const char *format, ...)
{
	struct err err;
	va_list args;

	va_start(args, format);
	err_setv(&err, format, args);
	va_end(args);
	if (place)
		err_at(&err, "%s: ", place);
	if (f->n++ == 0)
		f->first = err;
	if (f->tell)
		f->tell(f->owner, &err);
}
