/* Code points one by one: what they are, and in which case. */
#include "range.h"

#include "base/text.h"

#include <utf8proc.h>

enum { CAPITAL_I_WITH_DOT = 0x130, COMBINING_DOT_ABOVE = 0x307 };
enum { EXPANSION_MAX = 2 }; /* bytes for one: U+2C62 is longer in lower case, U+0130 as two */

bool text_is_space(int32_t c)
{
	/* PropList.txt */
	static const struct range space[] = {
		{0x09, 0x0D},	  {0x20, 0x20},	    {0x85, 0x85},     {0xA0, 0xA0},
		{0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
		{0x205F, 0x205F}, {0x3000, 0x3000},
	};

	return c <= 0x3000 && range_holds(c, space, sizeof(space) / sizeof(space[0]));
}

static bool is_ascii_letter(int32_t c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool is_ascii_digit(int32_t c)
{
	return c >= '0' && c <= '9';
}

bool text_is_word(int32_t c)
{
	if (c < 0x80)
		return c >= 0 && (is_ascii_letter(c) || is_ascii_digit(c) || c == '_');
	utf8proc_category_t category = utf8proc_category(c);
	return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) ||
	       (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO);
}

bool text_is_digit(int32_t c)
{
	return c < 0x80 ? is_ascii_digit(c) : utf8proc_category(c) == UTF8PROC_CATEGORY_ND;
}

bool text_is_upper(int32_t c)
{
	/* Other_Uppercase (PropList.txt) */
	static const struct range other[] = {
		{0x2160, 0x216F},   {0x24B6, 0x24CF},	{0x1F130, 0x1F149},
		{0x1F150, 0x1F169}, {0x1F170, 0x1F189},
	};

	if (c < 0x80)
		return c >= 'A' && c <= 'Z';
	return utf8proc_category(c) == UTF8PROC_CATEGORY_LU ||
	       range_holds(c, other, sizeof(other) / sizeof(other[0]));
}

bool text_is_lower(int32_t c)
{
	/* Other_Lowercase (PropList.txt), without what Unicode 15 added to it */
	static const struct range other[] = {
		{0xAA, 0xAA},	  {0xBA, 0xBA},	    {0x2B0, 0x2B8},   {0x2C0, 0x2C1},
		{0x2E0, 0x2E4},	  {0x345, 0x345},   {0x37A, 0x37A},   {0x1D2C, 0x1D6A},
		{0x1D78, 0x1D78}, {0x1D9B, 0x1DBF}, {0x2071, 0x2071}, {0x207F, 0x207F},
		{0x2090, 0x209C}, {0x2170, 0x217F}, {0x24D0, 0x24E9}, {0x2C7C, 0x2C7D},
		{0xA69C, 0xA69D}, {0xA770, 0xA770}, {0xA7F8, 0xA7F9}, {0xAB5C, 0xAB5F},
	};

	if (c < 0x80)
		return c >= 'a' && c <= 'z';
	return utf8proc_category(c) == UTF8PROC_CATEGORY_LL ||
	       range_holds(c, other, sizeof(other) / sizeof(other[0]));
}

static int32_t any_case(int32_t c)
{
	return utf8proc_tolower(utf8proc_toupper(c));
}

/* As UTF-8, behind @end; returns the new end. */
static char *put(char *end, int32_t c)
{
	return end + utf8proc_encode_char(c, (utf8proc_uint8_t *)end);
}

static struct str map_each(struct arena *a, struct str s, int32_t (*map)(int32_t), bool dot_stays)
{
	char *begin = arena_alloc(a, EXPANSION_MAX * s.n + 1), *end = begin;

	for (size_t at = 0; at < s.n;) {
		const char byte = s.p[at];
		if ((unsigned char)byte < 0x80) {
			*end++ = (char)(byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte);
			at++;
			continue;
		}
		int32_t c = text_next(s, &at);
		end = put(end, map(c));
		if (dot_stays && c == CAPITAL_I_WITH_DOT)
			end = put(end, COMBINING_DOT_ABOVE);
	}
	return (struct str){begin, (size_t)(end - begin)};
}

struct str text_lower(struct arena *a, struct str s)
{
	return map_each(a, s, utf8proc_tolower, true);
}

struct str text_ignore_case(struct arena *a, struct str s)
{
	return map_each(a, s, any_case, false);
}
