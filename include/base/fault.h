/*
 * base/fault.h - where those who read what people wrote tell what is wrong with it: all faults, not the first alone, each as
 * "place: what is wrong; the mend".
 */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include "base/err.h"

struct faults {
	void (*tell)(void *owner, const struct err *); /* NULL: nobody hears */
	void *owner;
	int n;
	struct err first;
};

/* @place NULL: the text has it. */
void faults_add(struct faults *, const char *place, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
