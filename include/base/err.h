/*
 * base/err.h - one sentence for a person: what is wrong, where, and the mend. Filled by the function that fails,
 * given by its caller; cut at its size. No secrets, prompts or drafts in it.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/status.h"
#include "base/str.h"

#include <stdarg.h>

struct err {
	char text[512]; /* NUL-terminated; "" = none */
};

/* Sets the text and returns @status, so that a caller can write `return err_set(err, ST_INVALID, ...)`. @err may be NULL. */
enum status err_set(struct err *err, enum status status, const char *format, ...) PRINTF_LIKE(3, 4);

/* The same for what returns no status: return ERR_SET(err, DEAD_null, "no value"). */
#define ERR_SET(err, result, ...) ((void)err_set((err), ST_INVALID, __VA_ARGS__), (result))
void err_setv(struct err *err, const char *format, va_list args);

/* Puts the place before the text: err_at(err, "profiles/%s.yaml: ", name). */
void err_at(struct err *err, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
