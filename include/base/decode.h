/*
 * base/decode.h - a file in any encoding, read as UTF-8, over iconv (POSIX; glibc's, which knows the encodings).
 *
 * Strict: the first byte that is not part of a character of the encoding ends the reading. A byte order mark at the front belongs
 * to the file; U+FEFF anywhere else is text.
 */
#ifndef BASE_DECODE_H
#define BASE_DECODE_H

#include "base/err.h"

#include <stdio.h>

struct decode;

bool decode_knows(const char *encoding);
/* @encoding is one that it knows; both arguments are borrowed until decode_free(). */
struct decode *decode_new(FILE *, const char *encoding);
void decode_free(struct decode *); /* NULL is fine */

/* The next piece, whole characters, valid until the next call; empty: the file has ended. ST_INVALID: @err says which byte of the file
 * (from 0) does not fit; all before it was given. ST_DOWN: the file cannot be read on. */
enum status decode_next(struct decode *, struct str *out, struct err *err) MUST_CHECK;

int64_t decode_bytes(const struct decode *); /* of the file, read so far */

#endif
