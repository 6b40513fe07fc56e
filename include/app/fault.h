/*
 * app/fault.h - where those who read configuration tell what is wrong with it: all faults, not the first alone, each as
 * "place: what is wrong; the mend".
 */
#ifndef APP_FAULT_H
#define APP_FAULT_H

#include "base/err.h"

struct faults {
	void (*tell)(void *owner, const struct err *); /* NULL: they are only counted */
	void *owner;
	int n;
};

/* @place NULL: the text has it. */
void faults_add(struct faults *, const char *place, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
