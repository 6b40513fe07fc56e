/*
 * base/decimal.h - a number of JSON as it is written, of any length, compared exactly: no rounding, no overflow.
 */
#ifndef BASE_DECIMAL_H
#define BASE_DECIMAL_H

#include "base/buf.h"

struct decimal {
	bool negative; /* never of zero */
	struct str
		digits; /* from the first that is not 0 to the last; a point may be among them; none: zero. Borrowed */
	int64_t n_digit;
	int64_t exponent; /* the last digit counts 10^exponent; 0 of zero */
};

/* @number by RFC 8259's grammar. False: its exponent has more than nine digits. */
bool decimal_read(struct str number, struct decimal *out) MUST_CHECK;

int decimal_cmp(const struct decimal *, const struct decimal *); /* -1, 0, 1 */

static inline bool decimal_is_integer(const struct decimal *d)
{
	return d->exponent >= 0;
}

/* Whether @d is an integer times @unit, which is over 0 and has at most DECIMAL_UNIT_DIGITS digits. */
enum { DECIMAL_UNIT_DIGITS = 18 };
bool decimal_is_multiple(const struct decimal *d, const struct decimal *unit);

/* Digits and exponent: equal numbers become equal texts. 1, 1.0 and 10e-1 are 1e0. */
void decimal_put(const struct decimal *, struct buf *out);

#endif
