#include "base/text.h"
#include "utf8.h"

#include <stdlib.h>
#include <utf8proc.h>

enum { REPLACEMENT = 0xFFFD };
enum { MARKS_MAX = 64 };
enum { EXPANSION_MAX = 33 }; /* bytes for one: 11 by NFKC, 3 by folding (UAX #15, section 12) */

bool text_is_utf8(struct str s)
{
	return utf8_valid_prefix(s) == s.n;
}

struct str text_to_utf8(struct arena *a, struct str s)
{
	static const char replacement[] = "\xEF\xBF\xBD";
	size_t valid = utf8_valid_prefix(s);

	if (valid == s.n)
		return s;
	char *p = arena_alloc(a, 3 * s.n + 1), *end = p; /* at worst each byte becomes three */
	for (;;) {
		memcpy(end, s.p, valid);
		end += valid;
		s = str_sub(s, valid, s.n);
		if (s.n == 0)
			break;
		memcpy(end, replacement, 3);
		end += 3;
		s = str_sub(s, 1, s.n);
		valid = utf8_valid_prefix(s);
	}
	return (struct str){p, (size_t)(end - p)};
}

int32_t text_next(struct str s, size_t *at)
{
	int32_t c;

	if (*at >= s.n)
		return -1;
	size_t n = utf8_decode(str_sub(s, *at, 4), &c);
	if (n == 0) {
		n = 1;
		c = REPLACEMENT;
	}
	*at += n;
	return c;
}

int32_t text_before(struct str s, size_t *at)
{
	if (*at == 0)
		return -1;
	while (--*at > 0 && (s.p[*at] & 0xC0) == 0x80) /* a continuation byte */
		;
	size_t end = *at;
	return text_next(s, &end);
}

size_t text_grapheme_end(struct str s, size_t at)
{
	int32_t before, c, state = 0; /* state: utf8proc's */

	if (s.p[at] != '\r' && at + 1 < s.n && (unsigned char)(s.p[at] | s.p[at + 1]) < 0x80)
		return at + 1; /* ASCII before ASCII: nothing can join them but CRLF */
	before = text_next(s, &at);
	for (size_t end = at; (c = text_next(s, &end)) >= 0; at = end, before = c) {
		if (utf8proc_grapheme_break_stateful(before, c, &state))
			break;
	}
	return at;
}

int64_t text_graphemes(struct str s)
{
	int64_t n = 0;

	for (size_t at = 0; at < s.n; n++)
		at = text_grapheme_end(s, at);
	return n;
}

struct range {
	int32_t first, last;
};

static bool in_ranges(int32_t c, const struct range *range, size_t n)
{
	for (size_t i = 0; i < n && c >= range[i].first; i++) {
		if (c <= range[i].last)
			return true;
	}
	return false;
}

/* Blocks of the scripts written without spaces between words (Unicode 15, Blocks.txt), in order. */
static bool is_unspaced(int32_t c)
{
	static const struct range block[] = {
		{0x0E00, 0x0EFF},   /* Thai, Lao */
		{0x1000, 0x109F},   /* Myanmar */
		{0x1780, 0x17FF},   /* Khmer */
		{0x2E80, 0x2FDF},   /* CJK and Kangxi radicals */
		{0x3005, 0x3007},   /* ideographic iteration mark, closing mark, zero */
		{0x3021, 0x3029},   /* Hangzhou numerals */
		{0x3031, 0x303C},   /* kana repeat marks, more numerals, masu mark */
		{0x3041, 0x30FF},   /* Hiragana, Katakana */
		{0x31F0, 0x31FF},   /* Katakana extensions */
		{0x3400, 0x4DBF},   /* Han, extension A */
		{0x4E00, 0x9FFF},   /* Han */
		{0xA9E0, 0xA9FF},   /* Myanmar extended B */
		{0xAA60, 0xAA7F},   /* Myanmar extended A */
		{0xF900, 0xFAFF},   /* Han, compatibility */
		{0xFF66, 0xFF9F},   /* Katakana, half width */
		{0x1AFF0, 0x1B16F}, /* kana supplements and extensions */
		{0x20000, 0x3FFFF}, /* Han, further extensions */
	};

	return in_ranges(c, block, sizeof(block) / sizeof(block[0]));
}

enum part { PART_OTHER, PART_RUN, PART_ALONE, PART_JOINER };

/* What a code point is to the words around it. */
static enum part part_of(int32_t c)
{
	if (c == '\'' || c == '-' || c == 0x2019 || c == 0x2010 || c == 0x2011)
		return PART_JOINER;
	utf8proc_category_t category = utf8proc_category(c);
	if (category == UTF8PROC_CATEGORY_ND)
		return PART_RUN;
	bool word = (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_ME) ||
		    category == UTF8PROC_CATEGORY_NL;
	if (!word)
		return PART_OTHER;
	return is_unspaced(c) ? PART_ALONE : PART_RUN;
}

int64_t text_words(struct str s)
{
	enum part before = PART_OTHER; /* PART_JOINER: a joiner right behind a run */
	int64_t n = 0;

	for (size_t at = 0; at < s.n; at = text_grapheme_end(s, at)) {
		size_t unused = at;
		enum part part = part_of(text_next(s, &unused));
		if (part == PART_ALONE ||
		    (part == PART_RUN && before != PART_RUN && before != PART_JOINER))
			n++;
		if (part == PART_JOINER && before != PART_RUN)
			part = PART_OTHER;
		before = part;
	}
	return n;
}

/* White_Space of the Unicode Character Database (PropList.txt). */
static bool is_space(int32_t c)
{
	static const struct range space[] = {
		{0x09, 0x0D},	  {0x20, 0x20},	    {0x85, 0x85},     {0xA0, 0xA0},
		{0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
		{0x205F, 0x205F}, {0x3000, 0x3000},
	};

	return in_ranges(c, space, sizeof(space) / sizeof(space[0]));
}

struct str text_trim(struct str s)
{
	size_t from = 0, to = s.n, at;

	while (at = from, is_space(text_next(s, &at)))
		from = at;
	while (at = to, at > from && is_space(text_before(s, &at)))
		to = at;
	return str_sub(s, from, to - from);
}

static utf8proc_int32_t wave_dash_to_tilde(utf8proc_int32_t c, void *unused)
{
	return c == 0x301C ? '~' : c;
}

/* Marks and modifiers: all that can be, or come apart into, what normalisation sorts. */
static bool is_mark(int32_t c)
{
	utf8proc_category_t category = utf8proc_category(c);

	return category == UTF8PROC_CATEGORY_LM ||
	       (category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME);
}

/* utf8proc sorts a run of marks in time by the square of its length, so a heap of them is mapped in parts. What people write has
 * at most 30 in a row (UAX #15, section 13). */
static size_t part_end(struct str s, size_t at)
{
	int32_t c;

	for (int n_mark = 0; n_mark < MARKS_MAX && (c = text_next(s, &at)) >= 0;)
		n_mark = is_mark(c) ? n_mark + 1 : 0;
	return at;
}

static bool is_ascii(struct str s)
{
	unsigned char all = 0;

	for (size_t i = 0; i < s.n; i++)
		all |= (unsigned char)s.p[i];
	return all < 0x80;
}

/* What map() makes of ASCII, which is its own normal form: in English a quarter of a job's CPU time. */
static struct str map_ascii(struct arena *a, struct str s, bool fold)
{
	char *p = arena_alloc(a, s.n + 1);

	for (size_t i = 0; i < s.n; i++)
		p[i] = fold && s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] + ('a' - 'A'))
							      : s.p[i];
	return (struct str){p, s.n};
}

/* utf8proc_map_custom() into the arena; the copy may be written to. */
static struct str map(struct arena *a, struct str s, int options, utf8proc_custom_func custom)
{
	struct buf all = BUF(EXPANSION_MAX * s.n + 1);
	utf8proc_uint8_t *p;

	if (!s.p)
		return s;
	if (is_ascii(s))
		return map_ascii(a, s, options & UTF8PROC_CASEFOLD);
	for (size_t at = 0, end; at < s.n; at = end) {
		end = part_end(s, at);
		utf8proc_ssize_t n = utf8proc_map_custom((const utf8proc_uint8_t *)s.p + at,
							 (utf8proc_ssize_t)(end - at), &p,
							 (utf8proc_option_t)options, custom, NULL);
		if (n < 0)
			BUG("utf8proc: %s", utf8proc_errmsg(n));
		buf_put(&all, p, (size_t)n);
		free(p);
	}
	if (all.full)
		BUG("%zu bytes grew by more than %d times", s.n, EXPANSION_MAX);
	struct str copy = arena_str(a, buf_view(&all));
	buf_release(&all);
	return copy;
}

/* Each run of white space becomes @space (one byte at most), none at the ends. Writes over @s,
 * which is a copy of map()'s. */
static struct str replace_space(struct str s, const char *space)
{
	char *begin = (char *)(uintptr_t)s.p, *end = begin;
	size_t at = 0, from, n_space = strlen(space);
	bool pending = false;
	int32_t c;

	while (from = at, (c = text_next(s, &at)) >= 0) {
		if (is_space(c)) {
			pending = true;
			continue;
		}
		if (pending && end > begin) {
			memcpy(end, space, n_space);
			end += n_space;
		}
		pending = false;
		memmove(end, s.p + from, at - from);
		end += at - from;
	}
	return (struct str){s.p, (size_t)(end - begin)};
}

struct str text_fold(struct arena *a, struct str s)
{
	return map(a, s,
		   UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD |
			   UTF8PROC_IGNORE,
		   wave_dash_to_tilde);
}

struct str text_squeeze(struct arena *a, struct str s)
{
	return replace_space(map(a, s, UTF8PROC_STABLE | UTF8PROC_COMPOSE, NULL), " ");
}

struct str text_bare(struct arena *a, struct str s)
{
	return replace_space(text_fold(a, s), "");
}

void text_library(struct buf *out)
{
	buf_printf(out, "utf8proc %s, Unicode %s", utf8proc_version(), utf8proc_unicode_version());
}
