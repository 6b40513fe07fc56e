/*
 * base/str.h - borrowed bytes with a length. Not NUL-terminated unless its maker says so; never owned by the str.
 * {NULL, 0} is the absent string; an empty one has a non-NULL p.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char *p;
	size_t n; /* bytes */
};

/* A str of a string literal; usable in static initialisers. */
#define STR(literal)                                                                               \
	{                                                                                          \
		(literal), sizeof(literal) - 1                                                     \
	}
#define STR_OF(literal) ((struct str)STR(literal))
/* printf: "%.*s", STR_ARG(s) */
#define STR_ARG(s) (int)(s).n, (s).p ? (s).p : ""

/* A str of a C string; NULL gives the absent string. */
static inline struct str str_c(const char *c)
{
	return (struct str){c, c ? strlen(c) : 0};
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_is(struct str a, const char *c)
{
	return str_eq(a, str_c(c));
}

static inline bool str_starts(struct str s, const char *prefix)
{
	size_t n = strlen(prefix);
	return s.n >= n && memcmp(s.p, prefix, n) == 0;
}

/* Offset of the first @needle in @s at or after @from, or -1. An empty needle is found nowhere. */
int64_t str_find(struct str s, struct str needle, size_t from);

/* Without ASCII white space (space, \t, \r, \n) at both ends. */
struct str str_trim(struct str s);

/* bytes [at, at + n) of @s, clipped to it */
struct str str_sub(struct str s, size_t at, size_t n);

/* The first @max bytes of @s at most, not ending inside a UTF-8 sequence. */
struct str str_cut(struct str s, size_t max);

/* Whether each byte of @s is one of @set; of an empty @s it is. */
bool str_only(struct str s, const char *set);

/* The place of @s among @names, NULL at their end; -1: it is none of them. */
int str_among(struct str s, const char *const *names);

/* Byte order; for qsort and for canonical key order. */
int str_cmp(struct str a, struct str b);

/* Whole of @s is a decimal integer in [min, max], no sign but '-', no spaces, no leading zero. */
bool str_to_int(struct str s, int64_t min, int64_t max, int64_t *out);

/* 2 * n lower-case digits and a NUL into @out. */
void hex_text(const uint8_t *p, size_t n, char *out);
bool hex_read(struct str hex, uint8_t *out, size_t n); /* exactly 2 * n digits, in any case */

#endif
