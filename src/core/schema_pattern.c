#include "schema_pattern.h"
#include "base/text.h"

#include <inttypes.h>

enum { GROUPS_MAX = 64, REPEAT_MAX = 65535 /* PCRE2's own */, CODE_POINT_MAX = 0x10FFFF };

/* Inside brackets. White space is what ECMA-262 calls so: unlike Perl's it has U+FEFF and lacks U+0085. */
#define WORD "0-9A-Z_a-z"
#define NO_WORD "\\x{0}-\\x{2f}\\x{3a}-\\x{40}\\x{5b}-\\x{5e}\\x{60}\\x{7b}-\\x{10ffff}"
#define LINE_ENDS "\\x{a}\\x{d}\\x{2028}\\x{2029}"

static const char *set_named(char name)
{
	switch (name) {
	case 'd':
		return "0-9";
	case 'D':
		return "\\x{0}-\\x{2f}\\x{3a}-\\x{10ffff}";
	case 'w':
		return WORD;
	case 'W':
		return NO_WORD;
	case 's':
		return "\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}"
		       "\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
	case 'S':
		return "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}"
		       "\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}"
		       "\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}"
		       "\\x{ff00}-\\x{10ffff}";
	default:
		return NULL;
	}
}

struct writer {
	struct str text;
	size_t at;
	struct buf *out;
	bool look
		[GROUPS_MAX]; /* of the groups that are open: it looks ahead or behind, and cannot be repeated */
	int n_group;
	struct err *err;
};

static bool refuse(struct writer *w, size_t at, const char *why)
{
	struct str there = str_cut(str_sub(w->text, at, w->text.n), 8);

	return ERR_SET(w->err, false, "at byte %zu, \"%.*s\": %s", at, STR_ARG(there), why);
}

static char peek(const struct writer *w)
{
	return w->at < w->text.n ? w->text.p[w->at] : '\0';
}

static bool take(struct writer *w, const char *word)
{
	if (!str_starts(str_sub(w->text, w->at, w->text.n), word))
		return false;
	w->at += strlen(word);
	return true;
}

static bool take_number(struct writer *w, int base, size_t min_digits, size_t max_digits,
			int32_t *out)
{
	const char *digits = base == 16 ? "0123456789abcdef" : "0123456789";
	size_t n = 0;

	for (*out = 0; n < max_digits && w->at < w->text.n; n++, w->at++) {
		char c = peek(w);
		const char *digit = strchr(digits, c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c);
		if (!digit)
			break;
		*out = *out * base + (int32_t)(digit - digits);
	}
	return n >= min_digits;
}

static bool is_letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool is_surrogate(int32_t c)
{
	return c >= 0xD800 && c <= 0xDFFF;
}

/* What follows \u; the two halves of a pair are one character. */
static bool take_unicode(struct writer *w, int32_t *out)
{
	int32_t low;

	if (take(w, "{"))
		return take_number(w, 16, 1, 6, out) && take(w, "}") && *out <= CODE_POINT_MAX &&
		       !is_surrogate(*out);
	if (!take_number(w, 16, 4, 4, out))
		return false;
	if (*out >= 0xD800 && *out <= 0xDBFF && take(w, "\\u") && take_number(w, 16, 4, 4, &low) &&
	    low >= 0xDC00 && low <= 0xDFFF)
		*out = 0x10000 + ((*out - 0xD800) << 10) + (low - 0xDC00);
	return !is_surrogate(*out);
}

/* The character that a backslash and what follows stand for. */
static bool take_escaped(struct writer *w, size_t from, int32_t *out)
{
	static const char letter[] = "tnvfr", meant[] = "\t\n\v\f\r";
	char c = peek(w);

	w->at++;
	if (c && strchr(letter, c)) {
		*out = meant[strchr(letter, c) - letter];
		return true;
	}
	switch (c) {
	case 'x':
		return take_number(w, 16, 2, 2, out) || refuse(w, from, "\\x takes two digits");
	case 'u':
		return take_unicode(w, out) || refuse(w, from, "\\u without a character");
	case 'c':
		c = peek(w);
		w->at++;
		*out = c & 0x1F;
		return is_letter(c) || refuse(w, from, "\\c takes a letter");
	case '0':
		*out = 0;
		return !(peek(w) >= '0' && peek(w) <= '9') || refuse(w, from, "write \\xHH");
	default:
		*out = c;
		return (c > ' ' && c < 0x7F && !is_letter(c) && !(c >= '0' && c <= '9')) ||
		       refuse(w, from, "not supported");
	}
}

/* \p{Lu}, \P{sc=Greek}: PCRE2 knows which names there are. */
static bool take_property(struct writer *w, size_t from)
{
	char kind = w->text.p[w->at++];
	bool whole = take(w, "{"), script = take(w, "sc=") || take(w, "Script=");
	bool extended = !script && (take(w, "scx=") || take(w, "Script_Extensions="));
	size_t begin = w->at;

	while (is_letter(peek(w)))
		w->at++;
	struct str name = str_sub(w->text, begin, w->at - begin);
	bool is_category = name.n > 0 && name.n <= 2 && strchr("CLMNPSZ", name.p[0]) &&
			   (name.n < 2 || name.p[1] >= 'a');
	if (!whole || !take(w, "}") || !(script || extended ? name.n > 2 : is_category))
		return refuse(w, from,
			      "not supported; give a general category by its short name, as "
			      "\\p{Lu}, or a script, as \\p{sc=Greek}");
	buf_printf(w->out, "\\%c{%s%.*s}", kind,
		   script     ? "sc:"
		   : extended ? "scx:"
			      : "",
		   STR_ARG(name));
	return true;
}

static void put_char(struct writer *w, int32_t c)
{
	buf_printf(w->out, "\\x{%" PRIx32 "}", (uint32_t)c);
}

/* Part of a class: a set, which is written (*c: -1), or one character, which is not yet. */
static bool take_member(struct writer *w, int32_t *c)
{
	size_t from = w->at;

	*c = -1;
	if (!take(w, "\\")) {
		*c = text_next(w->text, &w->at);
		return *c >= 0 || refuse(w, from, "a class without its ]");
	}
	const char *set = set_named(peek(w));
	if (set) {
		w->at++;
		buf_puts(w->out, set);
		return true;
	}
	if (peek(w) == 'p' || peek(w) == 'P')
		return take_property(w, from);
	if (take(w, "b")) {
		*c = '\b';
		return true;
	}
	return take_escaped(w, from, c);
}

static bool take_class(struct writer *w)
{
	int32_t low, high;

	if (take(w, "^]") || take(w, "]")) {
		buf_puts(w->out, w->text.p[w->at - 2] == '^' ? "[\\x{0}-\\x{10ffff}]" : "(?!)");
		return true;
	}
	buf_puts(w->out, take(w, "^") ? "[^" : "[");
	while (!take(w, "]")) {
		size_t from = w->at;
		if (!take_member(w, &low))
			return false;
		if (low >= 0)
			put_char(w, low);
		if (peek(w) != '-' || str_starts(str_sub(w->text, w->at, w->text.n), "-]"))
			continue;
		w->at++;
		if (low < 0 || !take_member(w, &high) || high < low)
			return refuse(w, from, "no range from one character to a later one");
		buf_putc(w->out, '-');
		put_char(w, high);
	}
	buf_putc(w->out, ']');
	return true;
}

/* Behind a part of the pattern. @repeatable: one that may be repeated. */
static bool take_quantifier(struct writer *w, bool repeatable)
{
	size_t from = w->at;
	int32_t least = 0, most = -1;

	if (take(w, "{")) {
		bool fine = take_number(w, 10, 1, 5, &least);
		bool range = fine && take(w, ",");
		if (!range || !take_number(w, 10, 1, 5, &most))
			most = range ? -1 : least;
		if (!fine || !take(w, "}") || least > REPEAT_MAX || most > REPEAT_MAX ||
		    (most >= 0 && most < least))
			return refuse(w, from,
				      "no quantifier; write \\{ for a brace, and at most 65535");
	} else if (!take(w, "*") && !take(w, "+") && !take(w, "?")) {
		return true;
	}
	if (!repeatable)
		return refuse(w, from, "nothing before it that can be repeated");
	take(w, "?");
	buf_str(w->out, str_sub(w->text, from, w->at - from));
	return !peek(w) || !strchr("*+?{", peek(w)) || refuse(w, w->at, "a second quantifier");
}

static bool open_group(struct writer *w, size_t from)
{
	static const char *const look[] = {"?=", "?!", "?<=", "?<!"};
	bool looks = false;

	if (w->n_group == GROUPS_MAX)
		return refuse(w, from, "more than 64 groups in one another");
	for (size_t i = 0; i < sizeof(look) / sizeof(look[0]) && !looks; i++)
		looks = take(w, look[i]);
	if (!looks && peek(w) == '?' && !take(w, "?:"))
		return refuse(w, from,
			      "not supported; groups are ( ) (?: ) (?= ) (?! ) (?<= ) (?<! )");
	w->look[w->n_group++] = looks;
	buf_str(w->out, str_sub(w->text, from, w->at - from));
	return true;
}

/* What a backslash outside of a class begins. */
static bool write_escape(struct writer *w, size_t from, bool *repeatable)
{
	const char *set = set_named(peek(w));
	int32_t c;

	if (set) {
		w->at++;
		buf_printf(w->out, "[%s]", set);
		return true;
	}
	if (peek(w) == 'p' || peek(w) == 'P')
		return take_property(w, from);
	if (take(w, "b") || take(w, "B")) {
		*repeatable = false;
		buf_puts(w->out, w->text.p[w->at - 1] == 'b' ? "(?:(?<=[" WORD "])(?![" WORD
							       "])|(?<![" WORD "])(?=[" WORD "]))"
							     : "(?:(?<=[" WORD "])(?=[" WORD
							       "])|(?<![" WORD "])(?![" WORD "]))");
		return true;
	}
	if (!take_escaped(w, from, &c))
		return false;
	put_char(w, c);
	return true;
}

/* One part and its quantifier. */
static bool write_part(struct writer *w)
{
	size_t from = w->at;
	int32_t c = text_next(w->text, &w->at);
	bool repeatable = true, fine = true;

	switch (c) {
	case '(':
		return open_group(w, from) && take_quantifier(w, false);
	case '|':
		buf_putc(w->out, '|');
		return take_quantifier(w, false);
	case ')':
		if (w->n_group == 0)
			return refuse(w, from, "a ) without its (");
		repeatable = !w->look[--w->n_group];
		buf_putc(w->out, ')');
		break;
	case '^':
		repeatable = false;
		buf_puts(w->out, "\\A");
		break;
	case '$':
		repeatable = false;
		buf_puts(w->out, "\\z");
		break;
	case '.':
		buf_puts(w->out, "[^" LINE_ENDS "]");
		break;
	case '[':
		fine = take_class(w);
		break;
	case '\\':
		fine = write_escape(w, from, &repeatable);
		break;
	case ']':
	case '}':
		return refuse(w, from, "alone; put a backslash before it");
	default:
		put_char(w, c);
	}
	return fine && take_quantifier(w, repeatable);
}

enum status schema_pattern_write(struct str ecma, struct buf *out, struct err *err)
{
	struct writer w = {.text = ecma, .out = out, .err = err};

	if (!take_quantifier(&w, false))
		return ST_INVALID;
	while (w.at < ecma.n) {
		if (!write_part(&w))
			return ST_INVALID;
	}
	if (w.n_group > 0)
		return err_set(err, ST_INVALID, "a ( without its )");
	return out->full ? err_set(err, ST_INVALID, "too long") : ST_OK;
}
