/*
 * check_parts.h - what the families of checks share: reading arguments, and saying what is wrong and where.
 */
#ifndef CHECK_PARTS_H
#define CHECK_PARTS_H

#include "core/check.h"

/* Arguments: *out stays as it is if @key is absent. ST_INVALID: *err names the key and the mend. */
enum status arg_int(const struct json *spec, const char *key, int64_t min, int64_t max,
		    int64_t *out, struct err *err) MUST_CHECK;
enum status arg_bool(const struct json *spec, const char *key, bool *out,
		     struct err *err) MUST_CHECK;
/* 1 to @max_bytes; the copy is in @a. */
enum status arg_text(struct arena *a, const struct json *spec, const char *key, size_t max_bytes,
		     struct str *out, struct err *err) MUST_CHECK;
/* A list of strings that is not empty. Absent: *n is 0. */
enum status arg_strings(struct arena *a, const struct json *spec, const char *key,
			const struct str **out, int *n, struct err *err) MUST_CHECK;
/* *out becomes the place of the value among @names, NULL at their end. */
enum status arg_choice(const struct json *spec, const char *key, const char *const *names, int *out,
		       struct err *err) MUST_CHECK;

/* A list for a person: `"a"`, then ", " between; in Japanese 「a」、「b」. */
void put_quoted(struct buf *out, struct str item, bool japanese, bool first);
/* The same by name, for a prompt. */
void put_list(struct buf *out, const struct str *item, int n, bool japanese);

/* Lines and characters (code points) from 1, counted on from the last place asked for: places come in order. */
struct text_place {
	size_t at; /* bytes */
	int64_t line, character;
};
#define PLACE_BEGIN                                                                                \
	{                                                                                          \
		0, 1, 1                                                                            \
	}
void place_move(struct text_place *, struct str text, size_t at);

/* Whether @c is one of @set, a text. */
bool is_among(int32_t c, const char *set);

/* Bytes of white space and of what marks an item of a list at the front of @line ("-", "1.", "・", "■"); 0: it is none. */
size_t item_mark(struct str line);

/* text_fold() of the text, kept for the checks that come. */
struct str checked_folded(struct checked *);

/* Sets the result's place to the graphemes of the text whose folded forms hold bytes [at, at + n) of checked_folded(). It stays "the
 * whole text" should folding piece by piece not give what folding at once gives. */
void set_span(struct arena *scratch, struct checked *, size_t at, size_t n, struct check_result *);

/* @detail becomes the result's (its buffer is released); nothing in it = the check is met, unless it could not be decided. */
void set_detail(struct arena *scratch, struct buf *detail, struct check_result *out);

#endif
