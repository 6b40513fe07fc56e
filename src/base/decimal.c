#include "base/decimal.h"

#include <inttypes.h>

enum { EXPONENT_DIGITS_MAX = 9 };
/* A unit is under 2^60, so it has at most 60 factors 2 and 5: more zeros make nothing a multiple of it that was none. */
enum { ZEROS_MAX = 60 };

/* @text: behind the `e`. */
static bool read_exponent(struct str text, int64_t *out)
{
	size_t i = text.n && (text.p[0] == '-' || text.p[0] == '+');

	while (i < text.n && text.p[i] == '0')
		i++;
	if (text.n - i > EXPONENT_DIGITS_MAX)
		return false;
	for (*out = 0; i < text.n; i++)
		*out = *out * 10 + (text.p[i] - '0');
	if (text.n && text.p[0] == '-')
		*out = -*out;
	return true;
}

bool decimal_read(struct str number, struct decimal *out)
{
	size_t from = number.n && number.p[0] == '-', end = from, to;

	*out = (struct decimal){.digits = STR("")};
	while (end < number.n && number.p[end] != 'e' && number.p[end] != 'E')
		end++;
	if (!read_exponent(str_sub(number, end + 1, number.n), &out->exponent))
		return false;
	int64_t point = str_find(str_sub(number, 0, end), STR_OF("."), 0);
	if (point < 0)
		point = (int64_t)end;
	for (to = end; to > from && (number.p[to - 1] == '0' || number.p[to - 1] == '.');)
		to--;
	while (from < to && (number.p[from] == '0' || number.p[from] == '.'))
		from++;
	if (from == to) {
		out->exponent = 0;
		return true;
	}
	int64_t last = (int64_t)to - 1;
	out->negative = number.p[0] == '-';
	out->digits = str_sub(number, from, to - from);
	out->n_digit = (int64_t)(to - from) - ((int64_t)from < point && point < last);
	out->exponent += last < point ? point - 1 - last : point - last;
	return true;
}

/* The digit at *at, or one behind the point there; 0 past the end. */
static char next_digit(const struct decimal *d, size_t *at)
{
	if (*at < d->digits.n && d->digits.p[*at] == '.')
		++*at;
	return *at < d->digits.n ? d->digits.p[(*at)++] : '\0';
}

static int cmp_size(const struct decimal *a, const struct decimal *b)
{
	int64_t top_a = a->exponent + a->n_digit, top_b = b->exponent + b->n_digit;
	size_t i = 0, j = 0;
	char x, y;

	if (top_a != top_b)
		return top_a < top_b ? -1 : 1;
	do {
		x = next_digit(a, &i);
		y = next_digit(b, &j);
	} while (x == y && x);
	return (x > y) - (x < y);
}

static int sign(const struct decimal *d)
{
	return d->negative ? -1 : d->n_digit > 0;
}

int decimal_cmp(const struct decimal *a, const struct decimal *b)
{
	if (sign(a) != sign(b) || sign(a) == 0)
		return (sign(a) > sign(b)) - (sign(a) < sign(b));
	return sign(a) * cmp_size(a, b);
}

bool decimal_is_multiple(const struct decimal *d, const struct decimal *unit)
{
	uint64_t divisor = 0, rest = 0;
	int64_t zeros = d->exponent - unit->exponent;
	size_t at = 0;
	char c;

	if (d->n_digit == 0)
		return true;
	if (zeros < 0) /* a multiple would end in a 0, and the last digit is none */
		return false;
	while ((c = next_digit(unit, &at)))
		divisor = divisor * 10 + (uint64_t)(c - '0');
	for (at = 0; (c = next_digit(d, &at));)
		rest = (rest * 10 + (uint64_t)(c - '0')) % divisor;
	for (int i = 0; i < zeros && i < ZEROS_MAX; i++)
		rest = rest * 10 % divisor;
	return rest == 0;
}

void decimal_put(const struct decimal *d, struct buf *out)
{
	size_t point = (size_t)str_find(d->digits, STR_OF("."), 0); /* -1: past the end */

	buf_puts(out, d->negative ? "-" : "");
	buf_str(out, str_sub(d->digits, 0, point));
	if (point < d->digits.n)
		buf_str(out, str_sub(d->digits, point + 1, d->digits.n));
	buf_printf(out, "%se%" PRId64, d->n_digit ? "" : "0", d->exponent);
}
