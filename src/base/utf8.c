#include "utf8.h"

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
		size_t n = utf8_decode((struct str){s.p + at, s.n - at}, &c);
		if (n == 0)
			break;
		at += n;
	}
	return at;
}
