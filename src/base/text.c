#include "range.h"
#include "utf8.h"

#include "base/text.h"

#include <stdlib.h>
#include <utf8proc.h>

enum { REPLACEMENT = 0xFFFD, ZERO_WIDTH_SPACE = 0x200B };
enum { MARKS_MAX = 32, PART_CODE_POINTS = 1000 };
enum { EXPANSION_MAX = 33 }; /* bytes for one: 11 by NFKC, 3 by folding (UAX #15, section 12) */
enum { KNOWN = 1024, KNOWN_FROM_BYTES = 14, KNOWN_TO_BYTES = 40, KNOWN_TEXT_BYTES = 2000 };
enum { SQUEEZE_SLOW_BYTES = 64 << 10 };

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
	if ((unsigned char)s.p[*at] < 0x80)
		return s.p[(*at)++];
	size_t n = utf8_decode((struct str){s.p + *at, s.n - *at}, &c);
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

/* What most texts are made of: code points that neither folding nor normalisation changes (but for the case of ASCII), that join
 * nothing before them, and that are graphemes of their own side by side. Not all there are; a test asks utf8proc about each. */
static bool is_plain(int32_t c)
{
	static const struct range other[] = {
		{' ', '~'},	  {0xE0, 0xFF},	    {0x430, 0x45F},   {0xE01, 0xE30},
		{0x2018, 0x2023}, {0x3001, 0x301B}, {0x301D, 0x3029},
	};

	if (c >= 0x3041) /* kana, Han and Yi, Hangul syllables */
		return (c >= 0x3400 && c <= 0xA48C) || c <= 0x3096 ||
		       (c >= 0x30A0 && c <= 0x30FE) || (c >= 0xAC00 && c <= 0xD7A3);
	return range_holds(c, other, sizeof(other) / sizeof(other[0]));
}

bool text_apart(int32_t before, int32_t c)
{
	if ((before | c) < 0x80)
		return before != '\r';
	return is_plain(before) && is_plain(c);
}

size_t text_grapheme_end(struct str s, size_t at)
{
	int32_t before, c, state = 0; /* state: utf8proc's */

	before = text_next(s, &at);
	for (size_t end = at; (c = text_next(s, &end)) >= 0; at = end, before = c) {
		if (text_apart(before, c) || utf8proc_grapheme_break_stateful(before, c, &state))
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

	return range_holds(c, block, sizeof(block) / sizeof(block[0]));
}

enum part { PART_OTHER, PART_RUN, PART_ALONE, PART_JOINER };

/* What a code point is to the words around it. */
static enum part part_of(int32_t c)
{
	if (c == '\'' || c == '-' || c == 0x2019 || c == 0x2010 || c == 0x2011)
		return PART_JOINER;
	if (c < 0x80)
		return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
			       ? PART_RUN
			       : PART_OTHER;
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

struct str text_trim(struct str s)
{
	size_t from = 0, to = s.n, at;

	while (at = from, text_is_space(text_next(s, &at)))
		from = at;
	while (at = to, at > from && text_is_space(text_before(s, &at)))
		to = at;
	return str_sub(s, from, to - from);
}

/* What looks like a wave dash: the tilde operator, itself, the wavy dash. Marks of interlinear notes are not to be seen, though not
 * Default_Ignorable. */
static utf8proc_int32_t fold_custom(utf8proc_int32_t c, void *unused)
{
	if (c == 0x223C || c == 0x301C || c == 0x3030)
		return '~';
	return c >= 0xFFF9 && c <= 0xFFFB ? ZERO_WIDTH_SPACE : c;
}

/* Marks and modifiers: all that can be, or come apart into, what normalisation sorts. */
static bool is_mark(const utf8proc_property_t *p)
{
	return p->category == UTF8PROC_CATEGORY_LM ||
	       (p->category >= UTF8PROC_CATEGORY_MN && p->category <= UTF8PROC_CATEGORY_ME);
}

/* Whether @c may become one with what is before it, or lets what is behind it do so: marks, what folding drops, and the vowels and finals
 * of Hangul, in all their forms. A test asks utf8proc about each code point. */
static bool joins(int32_t c, const utf8proc_property_t *p)
{
	static const struct range range[] = {
		{0x1160, 0x11FF}, {0x3131, 0x318E}, {0xFFA0, 0xFFDC}, {0xFFF9, 0xFFFB}};

	return is_mark(p) || p->ignorable ||
	       range_holds(c, range, sizeof(range) / sizeof(range[0]));
}

/* Whether a mapping changes nothing but the case of ASCII. */
static bool stays(int32_t c, int options)
{
	return c < 0x80 || is_plain(c) || (c < 0x300 && !(options & UTF8PROC_COMPAT));
}

/* End of what stays, but for the last before something that does not: a mark may join it. */
static size_t plain_end(struct str s, size_t at, int options)
{
	size_t last = at, end = at;
	int32_t c;

	while ((c = text_next(s, &end)) >= 0 && stays(c, options)) {
		last = at;
		at = end;
	}
	return c < 0 ? at : last;
}

/* End of the part to be mapped that begins at @at: a code point and what joins it. utf8proc sorts a run of marks in time by the square of
 * its length, so a heap of them is mapped in parts. What people write has at most 30 in a row (UAX #15, section 13). */
static size_t part_end(struct str s, size_t at)
{
	size_t end = at;
	int32_t c = text_next(s, &end);
	int n_mark = is_mark(utf8proc_get_property(c));

	while (n_mark < MARKS_MAX) {
		at = end;
		c = text_next(s, &end);
		if (c < 0x80)
			return at;
		const utf8proc_property_t *p = utf8proc_get_property(c);
		if (!joins(c, p))
			return at;
		n_mark += is_mark(p);
	}
	return end;
}

struct known { /* a part met before, and what became of it; a text is made of few of them */
	uint8_t n_from, n_to;
	char from[KNOWN_FROM_BYTES], to[KNOWN_TO_BYTES];
};

struct mapping {
	int options; /* utf8proc's */
	utf8proc_custom_func custom;
	int64_t *slow_bytes; /* that may still be given to utf8proc; NULL: all */
	struct known *known; /* by hash; NULL in a short text */
	int32_t *code_point; /* room for those of one part */
	utf8proc_ssize_t cap;
	struct buf all;
};

static void map_plain(struct mapping *m, struct str s)
{
	buf_str(&m->all, s);
	if (!(m->options & UTF8PROC_CASEFOLD))
		return;
	for (char *p = m->all.p + m->all.n - s.n; p < m->all.p + m->all.n; p++)
		*p = *p >= 'A' && *p <= 'Z' ? (char)(*p + ('a' - 'A')) : *p;
}

static void map_slowly(struct mapping *m, struct str s)
{
	const utf8proc_option_t options = (utf8proc_option_t)m->options;
	utf8proc_ssize_t n;

	while ((n = utf8proc_decompose_custom((const utf8proc_uint8_t *)s.p, (utf8proc_ssize_t)s.n,
					      m->code_point, m->cap, options, m->custom, NULL)) >
		       m->cap ||
	       !m->code_point) {
		m->cap = n + PART_CODE_POINTS;
		m->code_point =
			realloc(m->code_point, (size_t)(m->cap + 1) * sizeof(*m->code_point));
		if (!m->code_point)
			BUG("out of memory");
	}
	if (n >= 0)
		n = utf8proc_reencode(m->code_point, n, options);
	if (n < 0)
		BUG("utf8proc: %s", utf8proc_errmsg(n));
	buf_put(&m->all, m->code_point, (size_t)n);
}

static struct known *place_of(const struct mapping *m, struct str part)
{
	uint32_t hash = 0;

	if (!m->known || part.n > KNOWN_FROM_BYTES)
		return NULL;
	for (size_t i = 0; i < part.n; i++)
		hash = (hash ^ (unsigned char)part.p[i]) * 16777619u;
	return &m->known[(hash ^ hash >> 16) % KNOWN];
}

/* False: the ceiling is reached. */
static bool map_part(struct mapping *m, struct str part)
{
	struct known *k = place_of(m, part);
	const size_t before = m->all.n;

	if (k && k->n_from == part.n && memcmp(k->from, part.p, part.n) == 0) {
		buf_put(&m->all, k->to, k->n_to);
		return true;
	}
	if (m->slow_bytes && (*m->slow_bytes -= (int64_t)part.n) < 0)
		return false;
	map_slowly(m, part);
	const size_t n = m->all.n - before;
	if (k && n <= KNOWN_TO_BYTES) {
		k->n_from = (uint8_t)part.n;
		k->n_to = (uint8_t)n;
		memcpy(k->from, part.p, part.n);
		memcpy(k->to, m->all.p + before, n);
	}
	return true;
}

/* Into the arena; the copy may be written to. Absent: @slow_bytes were too few. */
static struct str map(struct arena *a, struct str s, int options, utf8proc_custom_func custom,
		      int64_t *slow_bytes)
{
	struct mapping m = {.options = options,
			    .custom = custom,
			    .slow_bytes = slow_bytes,
			    .all = BUF(EXPANSION_MAX * s.n + 1)};
	struct str copy = {NULL, 0};
	bool fine = true;

	if (!s.p)
		return s;
	if (s.n >= KNOWN_TEXT_BYTES && !(m.known = calloc(KNOWN, sizeof(*m.known))))
		BUG("out of memory");
	for (size_t at = 0, end; at < s.n && fine; at = end) {
		end = plain_end(s, at, options);
		if (end > at) {
			map_plain(&m, str_sub(s, at, end - at));
		} else {
			end = part_end(s, at);
			fine = map_part(&m, str_sub(s, at, end - at));
		}
	}
	if (m.all.full)
		BUG("%zu bytes grew by more than %d times", s.n, EXPANSION_MAX);
	if (fine)
		copy = arena_str(a, buf_view(&m.all));
	buf_release(&m.all);
	free(m.code_point);
	free(m.known);
	return copy;
}

/* Each run of white space becomes @space (one byte at most), none at the ends. Writes over @s,
 * which is a copy of map()'s. */
static struct str replace_space(struct str s, const char *space)
{
	char *begin = (char *)(uintptr_t)s.p, *end = begin;
	size_t n_space = strlen(space);
	int32_t c;

	for (size_t at = 0; at < s.n;) {
		size_t from = at, to;
		do
			to = at;
		while ((c = text_next(s, &at)) >= 0 && !text_is_space(c));
		if (to == from)
			continue;
		if (end > begin) {
			memcpy(end, space, n_space);
			end += n_space;
		}
		memmove(end, s.p + from, to - from);
		end += to - from;
	}
	return (struct str){begin, (size_t)(end - begin)};
}

struct str text_fold_within(struct arena *a, struct str s, int64_t *slow_bytes)
{
	return map(a, s,
		   UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD |
			   UTF8PROC_IGNORE,
		   fold_custom, slow_bytes);
}

struct str text_fold(struct arena *a, struct str s)
{
	return text_fold_within(a, s, NULL);
}

struct str text_squeeze(struct arena *a, struct str s)
{
	int64_t slow_bytes = SQUEEZE_SLOW_BYTES;
	struct str composed = map(a, s, UTF8PROC_STABLE | UTF8PROC_COMPOSE, NULL, &slow_bytes);

	return replace_space(composed.p ? composed : arena_str(a, s), " ");
}

struct str text_close(struct arena *a, struct str s)
{
	return replace_space(arena_str(a, s), "");
}

struct str text_bare(struct arena *a, struct str s)
{
	return replace_space(text_fold(a, s), "");
}

/* Of Han and kana. */
static bool is_cjk(int32_t c)
{
	return c >= 0x2E80 && !(c >= 0xA9E0 && c <= 0xAA7F) && is_unspaced(c);
}

struct str text_close_cjk(struct arena *a, struct str s)
{
	struct buf closed = BUF(s.n + 1);
	int32_t before = -1;

	for (size_t at = 0, from = 0; from < s.n; from = at) {
		int32_t c;
		while ((c = text_next(s, &at)) >= 0 && text_is_space(c))
			;
		size_t begin = at;
		text_before(s, &begin);
		if (c >= 0 && is_cjk(before) && is_cjk(c))
			from = begin;
		buf_str(&closed, str_sub(s, from, at - from));
		before = c;
	}
	struct str copy = arena_str(a, buf_view(&closed));
	buf_release(&closed);
	return copy;
}

struct str text_katakana(struct arena *a, struct str s)
{
	struct str copy = arena_str(a, s);
	unsigned char *p = (unsigned char *)(uintptr_t)copy.p;

	/* U+3041..3096, 309D, 309E are E3 81 81 to E3 82 9E, of three bytes as what they become, 0x60 higher. */
	for (size_t i = 0; i + 2 < copy.n; i++) {
		if (p[i] != 0xE3 || p[i + 1] < 0x81 || p[i + 1] > 0x82)
			continue;
		int c = (p[i + 1] & 0x3F) << 6 | (p[i + 2] & 0x3F);
		if ((c >= 0x41 && c <= 0x96) || c == 0x9D || c == 0x9E) {
			p[i + 1] = (unsigned char)(0x80 | (c + 0x60) >> 6);
			p[i + 2] = (unsigned char)(0x80 | ((c + 0x60) & 0x3F));
		}
	}
	return copy;
}

void text_library(struct buf *out)
{
	buf_printf(out, "utf8proc %s, Unicode %s", utf8proc_version(), utf8proc_unicode_version());
}
