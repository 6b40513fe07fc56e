#include "utf8.h"

size_t utf8_decode(struct str s, int32_t *code_point)
{
	/* Smallest code point of a sequence of so many bytes: under it, the form is overlong. */
	static const int32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)s.p;

	if (s.n == 0)
		return 0;
	if (p[0] < 0x80) {
		*code_point = p[0];
		return 1;
	}
	if (p[0] < 0xC2 || p[0] > 0xF4)
		return 0;
	size_t n = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
	if (s.n < n)
		return 0;
	int32_t c = p[0] & (0x7F >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xC0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3F);
	}
	if (c < smallest[n] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
		return 0;
	*code_point = c;
	return n;
}

size_t utf8_valid_prefix(struct str s)
{
	size_t at = 0;

	while (at < s.n) {
		int32_t c;
		uint64_t eight;
		if (s.n - at >= sizeof(eight)) {
			memcpy(&eight, s.p + at, sizeof(eight));
			if ((eight & 0x8080808080808080u) == 0) { /* eight ASCII bytes */
				at += sizeof(eight);
				continue;
			}
		}
		size_t n = utf8_decode(str_sub(s, at, 4), &c);
		if (n == 0)
			break;
		at += n;
	}
	return at;
}
