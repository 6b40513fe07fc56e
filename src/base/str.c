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
