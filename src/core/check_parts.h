/*
 * check_parts.h - what the families of checks share: reading arguments, folding, and saying what is wrong and where.
 */
#ifndef CHECK_PARTS_H
#define CHECK_PARTS_H

#include "core/check.h"

enum { COUNT_MAX = 1000000 };

/* Arguments that may be absent: *out stays as it is. ST_INVALID: *err names the key and the mend. */

enum status arg_int(const struct json *spec, const char *key, int64_t min, int64_t max,
		    int64_t *out, struct err *err) MUST_CHECK;
enum status arg_bool(const struct json *spec, const char *key, bool *out,
		     struct err *err) MUST_CHECK;
/* 1 to @max_bytes; the copy is in @a. */
enum status arg_text(struct arena *a, const struct json *spec, const char *key, size_t max_bytes,
		     struct str *out, struct err *err) MUST_CHECK;
/* A list of strings that is not empty, copied. Absent: *n is 0. */
enum status arg_strings(struct arena *a, const struct json *spec, const char *key,
			const struct str **out, int *n, struct err *err) MUST_CHECK;
/* *out becomes the place of the value among @names, NULL at their end. */
enum status arg_choice(const struct json *spec, const char *key, const char *const *names, int *out,
		       struct err *err) MUST_CHECK;

/* Arguments that must be there. */

/* From @min to COUNT_MAX. */
enum status arg_count(const struct json *spec, const char *key, int64_t min, int64_t *out,
		      struct err *err) MUST_CHECK;
/* Copied without white space at its ends; it must have more than that. */
enum status arg_phrase(struct arena *a, const struct json *spec, const char *key, struct str *out,
		       struct err *err) MUST_CHECK;

/* Of a type without arguments. */
enum status arg_none(struct arena *a, const struct json *spec, const void **args, struct err *err);

/* Red, with a detail that stays. */
void check_fail(struct check_result *out, const char *detail);

/* For the types with IFEval's names: pays @byte_work a byte. False, and the check is red: too much, or nothing but white space, which fails
 * every one of them. */
bool check_begins(struct checked *, int64_t byte_work, struct check_result *out) MUST_CHECK;

/* text_fold() at its price. False, and the check is red: too much work. */
bool check_fold(struct arena *a, struct checked *, struct str text, struct str *folded,
		struct check_result *out) MUST_CHECK;
/* The same of the text under check, into its `folded`, once for all checks. */
bool check_folded(struct checked *, struct check_result *out) MUST_CHECK;

/* @before"item" */
void put_quoted(struct buf *out, struct str item, const char *before);
/* An item of a list in a phrase: "a", "b"; in Japanese 「a」、「b」. */
void put_item(struct buf *out, struct str item, bool japanese, bool first);
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

/* line 3 "what stands there", cut to 60 bytes. */
void put_place(struct buf *out, const struct text_place *, struct str there);

/* Whether @c is one of @set, a text. */
bool is_among(int32_t c, const char *set);

/* The byte at @at; ' ' behind the end. */
int sign_at(struct str, size_t at);
/* Whether @s begins with one of @begins, NULL at their end. */
bool begins_with(struct str s, const char *const *begins);
/* Bytes of the first of @ends that @s ends in; 0: in none. */
size_t ending_bytes(struct str s, const char *const *ends);

/* Bytes of white space and of what marks an item of a list at the front of @line ("-", "1.", "・", "■"); 0: it is none. */
size_t item_mark(struct str line);

/* Sets the result's place to the graphemes of the text whose folded forms hold bytes [at, at + n) of its `folded`. It stays "the whole
 * text" should folding piece by piece not give what folding at once gives, or if it is too far. */
void set_span(struct arena *scratch, struct checked *, size_t at, size_t n, struct check_result *);

/* @detail becomes the result's and is released; nothing in it = the check is met, unless it could not be decided. */
void set_detail(struct arena *scratch, struct buf *detail, struct check_result *out);

#endif
