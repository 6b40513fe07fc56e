#include "base/str.h"

int64_t str_find(struct str s, struct str needle, size_t from)
{
	if (needle.n == 0 || from >= s.n)
		return -1;
	const char *hit = memmem(s.p + from, s.n - from, needle.p, needle.n);
	return hit ? hit - s.p : -1;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
	while (s.n && is_space(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && is_space(s.p[s.n - 1]))
		s.n--;
	return s;
}

struct str str_sub(struct str s, size_t at, size_t n)
{
	if (!s.p)
		return s;
	if (at > s.n)
		at = s.n;
	if (n > s.n - at)
		n = s.n - at;
	return (struct str){s.p + at, n};
}

struct str str_cut(struct str s, size_t max)
{
	if (s.n <= max)
		return s;
	while (max > 0 && (s.p[max] & 0xC0) == 0x80) /* its first byte would be left without it */
		max--;
	return str_sub(s, 0, max);
}

bool str_only(struct str s, const char *set)
{
	for (size_t i = 0; i < s.n; i++) {
		if (!memchr(set, s.p[i], strlen(set)))
			return false;
	}
	return true;
}

int str_among(struct str s, const char *const *names)
{
	for (int i = 0; names[i]; i++) {
		if (str_is(s, names[i]))
			return i;
	}
	return -1;
}

int str_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int order = n ? memcmp(a.p, b.p, n) : 0;

	return order ? order : (a.n > b.n) - (a.n < b.n);
}

bool str_to_int(struct str s, int64_t min, int64_t max, int64_t *out)
{
	bool negative = s.n && s.p[0] == '-';
	size_t first = negative ? 1 : 0;
	int64_t value = 0;

	if (first == s.n || (s.p[first] == '0' && s.n > 1))
		return false;
	/* Summed below zero, where the larger half of the range is. */
	for (size_t i = first; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_sub_overflow(value, s.p[i] - '0', &value))
			return false;
	}
	if (!negative && __builtin_sub_overflow(0, value, &value))
		return false;
	if (value < min || value > max)
		return false;
	*out = value;
	return true;
}

void hex_text(const uint8_t *p, size_t n, char *out)
{
	static const char digit[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		*out++ = digit[p[i] >> 4];
		*out++ = digit[p[i] & 15];
	}
	*out = '\0';
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool hex_read(struct str hex, uint8_t *out, size_t n)
{
	if (hex.n / 2 != n || hex.n % 2 != 0)
		return false;
	for (size_t i = 0; i < hex.n; i++) {
		if (hex_value(hex.p[i]) < 0)
			return false;
	}
	for (size_t i = 0; i < n; i++)
		out[i] = (uint8_t)(hex_value(hex.p[2 * i]) << 4 | hex_value(hex.p[2 * i + 1]));
	return true;
}
