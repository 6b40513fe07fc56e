#include "count.h"

#include "core/sentence.h"

static void hit(struct count *c, size_t from, size_t to)
{
	if (c->n++ == c->max) {
		c->at = (int64_t)from;
		c->len = (int64_t)(to - from);
	}
}

static void hit_part(struct count *c, struct str part)
{
	size_t from = (size_t)(part.p - c->text.p);
	hit(c, from, from + part.n);
}

static bool is_blank(struct str s)
{
	return text_trim(s).n == 0;
}

static size_t find_char(struct str s, char c, size_t from)
{
	const char *hit = from < s.n ? memchr(s.p + from, c, s.n - from) : NULL;
	return hit ? (size_t)(hit - s.p) : s.n;
}

/* ---- words ---- */

void count_words(struct count *c)
{
	size_t from = 0;
	bool inside = false;

	for (size_t at = 0, before = 0;; before = at) {
		bool is_word = text_is_word(text_next(c->text, &at));
		if (is_word && !inside)
			from = before;
		else if (!is_word && inside)
			hit(c, from, before);
		inside = is_word;
		if (before == c->text.n)
			return;
	}
}

void count_sentences(struct count *c)
{
	struct sentences all = sentences_of(c->text);
	struct str s;

	while (sentence_next(&all, &s))
		hit_part(c, s);
}

void count_capitals(struct count *c)
{
	struct sentences all = sentences_of(c->text);
	struct str s;

	while (sentence_next(&all, &s))
		c->n += sentence_capitals(s);
}

/* Bytes of as many code points of @text as @folded has. */
static size_t as_many(struct str text, struct str folded)
{
	size_t at = 0;

	for (size_t i = 0; i < folded.n; i++) {
		if ((folded.p[i] & 0xC0) != 0x80)
			(void)text_next(text, &at);
	}
	return at;
}

void count_locate(struct str text, struct str folded, size_t at, size_t n, int64_t *out_at,
		  int64_t *out_n)
{
	size_t from = as_many(text, str_sub(folded, 0, at));

	*out_at = (int64_t)from;
	*out_n = (int64_t)as_many(str_sub(text, from, text.n), str_sub(folded, at, n));
}

void count_word(struct count *c)
{
	struct str text = text_ignore_case(c->scratch, c->text);
	struct str word = text_ignore_case(c->scratch, c->word);
	int64_t at = 0;

	while ((at = str_find(text, word, (size_t)at)) >= 0) {
		hit(c, (size_t)at, (size_t)at + word.n);
		at += (int64_t)word.n;
	}
	if (c->at >= 0)
		count_locate(c->text, text, (size_t)c->at, word.n, &c->at, &c->len);
}

/* In lower case U+0130 has an i in it, and U+212A is a k. */
void count_letter(struct count *c)
{
	const char lower = (char)(c->word.p[0] | 0x20), upper = (char)(lower & ~0x20);
	const char *other = lower == 'i' ? "\u0130" : lower == 'k' ? "\u212A" : NULL;

	for (size_t at = 0; at < c->text.n; at++) {
		if (c->text.p[at] == lower || c->text.p[at] == upper)
			hit(c, at, at + 1);
		else if (other && str_starts(str_sub(c->text, at, 3), other))
			hit(c, at, at + strlen(other));
	}
}

/* ---- parts ---- */

void count_paragraphs(struct count *c)
{
	const struct str text = c->text, mark = STR("***");

	for (size_t from = 0;;) {
		int64_t found = str_find(text, mark, from);
		size_t to = found < 0 ? text.n : (size_t)found;
		struct str part = text_trim(str_sub(text, from, to - from));
		if (part.n)
			hit_part(c, part);
		else if (from > 0 && found >= 0)
			c->fault = "an empty paragraph stands between two ***";
		if (found < 0)
			return;
		size_t next = from = to + mark.n;
		if (text_is_space(text_next(text, &next)))
			from = next;
	}
}

void count_placeholders(struct count *c)
{
	const struct str text = c->text;
	size_t line_end = 0;

	for (size_t at = 0; (at = find_char(text, '[', at)) < text.n;) {
		if (line_end <= at)
			line_end = find_char(text, '\n', at);
		size_t close = find_char(str_sub(text, 0, line_end), ']', at);
		if (close < line_end)
			hit(c, at, close + 1);
		at = close < line_end ? close + 1 : line_end;
	}
}

/* A * alone on its line is one with the line behind it. */
void count_bullets(struct count *c)
{
	const struct str text = c->text;

	for (size_t line = 0, end, taken = 0; line < text.n; line = end + 1) {
		size_t first = line, next = line;
		end = find_char(text, '\n', line);
		while (next < end && text_is_space(text_next(text, &next)))
			first = next;
		if (first == end)
			continue;
		bool star = text.p[first] == '*' && first + 1 < text.n &&
			    text.p[first + 1] != '*' && first >= taken;
		if (star && first + 1 == end)
			taken = find_char(text, '\n', end + 1);
		if (star || text.p[first] == '-')
			hit(c, first, end);
	}
}

/* From the @n stars at @at to as many behind them, in one line and without a star between; where it ends, 0: nowhere. */
static size_t highlight_end(struct str text, size_t at, size_t n)
{
	size_t from = at + n, to = from;

	if (!str_starts(str_sub(text, at, n), n == 2 ? "**" : "*"))
		return 0;
	while (to < text.n && text.p[to] != '*' && text.p[to] != '\n')
		to++;
	return str_starts(str_sub(text, to, n), n == 2 ? "**" : "*") ? to + n : 0;
}

static void count_starred(struct count *c, size_t n)
{
	for (size_t at = 0; (at = find_char(c->text, '*', at)) < c->text.n;) {
		size_t end = highlight_end(c->text, at, n);
		if (end && !is_blank(str_sub(c->text, at + n, end - at - 2 * n)))
			hit(c, at, end);
		at = end ? end : at + 1;
	}
}

void count_highlights(struct count *c)
{
	count_starred(c, 1);
	count_starred(c, 2);
}

void count_sections(struct count *c)
{
	int64_t found = 0;

	while ((found = str_find(c->text, c->word, (size_t)found)) >= 0) {
		size_t behind = (size_t)found + c->word.n, at = behind;
		int32_t next = text_next(c->text, &at);
		if (text_is_space(next))
			next = text_next(c->text, &at);
		if (text_is_digit(next))
			hit(c, (size_t)found, at);
		found = text_is_digit(next) ? (int64_t)at : found + 1;
	}
}
