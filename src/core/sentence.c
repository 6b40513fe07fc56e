#include "core/sentence.h"

#include "base/text.h"

#include <stdlib.h>

/* ---- what Punkt has learnt of English ---- */

/* All in byte order. */
static const char abbreviation[][8] = {
	". . ",	   "a.a",   "a.c",     "a.d",	"a.g",	"a.h",	  "a.m",   "a.m.e", "a.s",  "a.t",
	"adm",	   "ala",   "ariz",    "aug",	"ave",	"b.f",	  "b.v",   "bros",  "c",    "c.i.t",
	"c.o.m.b", "c.v",   "calif",   "chg",	"cie",	"co",	  "col",   "colo",  "conn", "corp",
	"cos",	   "ct",    "d",       "d.c",	"d.h",	"d.w",	  "dec",   "dr",    "e",    "e.f",
	"e.h",	   "e.l",   "e.m",     "f",	"f.g",	"f.j",	  "feb",   "fla",   "fri",  "ft",
	"g",	   "g.d",   "g.f",     "g.k",	"ga",	"gen",	  "h",	   "h.c",   "h.f",  "h.m",
	"i.m.s",   "ill",   "inc",     "j.b",	"j.c",	"j.j",	  "j.k",   "j.p",   "j.r",  "jan",
	"jr",	   "k",	    "kan",     "ky",	"l",	"l.a",	  "l.f",   "l.p",   "lt",   "ltd",
	"m",	   "m.b.a", "m.d.c",   "m.j",	"maj",	"messrs", "mg",	   "mich",  "minn", "mr",
	"mrs",	   "ms",    "n",       "n.c",	"n.d",	"n.h",	  "n.j",   "n.m",   "n.v",  "n.y",
	"nev",	   "nov",   "oct",     "ok",	"okla", "ore",	  "p",	   "p.a.m", "p.m",  "pa",
	"ph.d",	   "prof",  "r",       "r.a",	"r.h",	"r.i",	  "r.j",   "r.k",   "r.t",  "rep",
	"reps",	   "s",	    "s.a",     "s.a.y", "s.c",	"s.g",	  "s.p.a", "s.s",   "sen",  "sep",
	"sept",	   "sr",    "st",      "sw",	"t",	"t.j",	  "tenn",  "tues",  "u.k",  "u.n",
	"u.s",	   "u.s.a", "u.s.s.r", "v",	"va",	"vs",	  "vt",	   "w",	    "w.c",  "w.r",
	"w.va",	   "w.w",   "wash",    "wed",	"wis",	"yr",
};

static const char starter[][16] = {
	"according", "although", "among",      "both",	    "but",   "despite",	     "even",
	"he",	     "however",	 "i",	       "if",	    "in",    "indeed",	     "instead",
	"it",	     "many",	 "meanwhile",  "moreover",  "most",  "nevertheless", "nonetheless",
	"nor",	     "sales",	 "separately", "similarly", "since", "so",	     "some",
	"the",	     "there",	 "these",      "they",	    "this",  "though",	     "thus",
	"under",     "when",	 "while",      "yet",
};

/* What a number with a stop does not end before, from the headings of a newspaper. */
static const char after_number[][16] = {
	"abreast",  "aes",	   "business",	    "cbot",	"colgate",   "commodities",
	"cooper",   "corrections", "credit",	    "dividend", "financing", "genentech",
	"henley",   "insider",	   "international", "leisure",	"letters",   "notable",
	"pay-fone", "pegasus",	   "pepper",	    "review",	"rj",	     "wedgestone",
	"who",	    "zimmer",
};

enum { WORD_BYTES_MAX = sizeof(starter[0]) };

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Whether @word is one of @n words of @size bytes each, in any case. */
static bool is_among(struct str word, const void *words, size_t n, size_t size)
{
	char lower[WORD_BYTES_MAX] = "";

	if (word.n >= WORD_BYTES_MAX)
		return false;
	for (size_t i = 0; i < word.n; i++)
		lower[i] =
			(char)(word.p[i] >= 'A' && word.p[i] <= 'Z' ? word.p[i] | 0x20 : word.p[i]);
	return bsearch(lower, words, n, size, compare) != NULL;
}

#define IS_AMONG(word, list)                                                                       \
	is_among((word), (list), sizeof(list) / sizeof((list)[0]), sizeof((list)[0]))

static bool is_abbreviation(struct str word)
{
	const char *dash = word.n ? memrchr(word.p, '-', word.n) : NULL;
	size_t from = dash ? (size_t)(dash + 1 - word.p) : 0;

	return IS_AMONG(str_sub(word, from, word.n), abbreviation);
}

/* ---- tokens ---- */

enum kind { STOP = 1, MARK = 2, NO_BEGIN = 4, SPACE = 8, CLOSING = 16, INNER = 32 };

/* What ASCII is: what might end a sentence; no part of a word; a token of its own where a word might begin; white space; what closes
 * quotations and brackets; no begin of a sentence. */
static const unsigned char kinds[256] = {
	['.'] = STOP | INNER,
	['?'] = STOP | MARK | INNER,
	['!'] = STOP | MARK | INNER,
	[')'] = MARK | NO_BEGIN | CLOSING,
	['"'] = MARK | NO_BEGIN | CLOSING,
	[';'] = MARK | NO_BEGIN | INNER,
	['}'] = MARK | NO_BEGIN | CLOSING,
	[']'] = MARK | NO_BEGIN | CLOSING,
	['*'] = MARK | NO_BEGIN,
	[':'] = MARK | NO_BEGIN | INNER,
	['@'] = MARK | NO_BEGIN,
	['\''] = MARK | CLOSING,
	['('] = MARK | NO_BEGIN,
	['{'] = MARK | NO_BEGIN,
	['['] = MARK | NO_BEGIN,
	['`'] = NO_BEGIN,
	['&'] = NO_BEGIN,
	['#'] = NO_BEGIN,
	['-'] = NO_BEGIN,
	[','] = NO_BEGIN | INNER,
	[' '] = SPACE,
	['\t'] = SPACE,
	['\n'] = SPACE,
	['\r'] = SPACE,
	['\v'] = SPACE,
	['\f'] = SPACE,
};

static bool is(char c, enum kind kind)
{
	return kinds[(unsigned char)c] & kind;
}

static bool space_at(struct str s, size_t at)
{
	return (unsigned char)s.p[at] < 0x80 ? is(s.p[at], SPACE)
					     : text_is_space(text_next(s, &at));
}

static size_t skip_space(struct str s, size_t at)
{
	while (at < s.n && space_at(s, at))
		(void)text_next(s, &at);
	return at;
}

/* Two or more dots, or dashes, are a token. */
static bool is_run(struct str s, size_t at)
{
	return (s.p[at] == '.' || s.p[at] == '-') && at + 1 < s.n && s.p[at + 1] == s.p[at];
}

static bool word_ends(struct str s, size_t at)
{
	return at >= s.n || is(s.p[at], MARK) || is_run(s, at) || space_at(s, at);
}

static bool token_next(struct str s, size_t *at, struct str *out)
{
	size_t from = skip_space(s, *at), to = from;

	if (from >= s.n)
		return false;
	if (is_run(s, from)) {
		while (to < s.n && s.p[to] == s.p[from])
			to++;
	} else {
		const bool is_word = !is(s.p[from], NO_BEGIN);
		do
			(void)text_next(s, &to);
		while (is_word && !word_ends(s, to) && !(s.p[to] == ',' && word_ends(s, to + 1)));
	}
	*out = str_sub(s, from, to - from);
	*at = to;
	return true;
}

struct token {
	struct str s, word; /* word: without the stop that ends it */
	bool ends;	    /* a sentence, by itself */
	bool has_stop, is_short, is_dots, is_initial, is_number; /* the last four: with a stop */
};

/* -1,234.5 with or without a stop */
static bool is_number(struct str s)
{
	size_t at = s.n && s.p[0] == '-' ? 1 : 0;
	int32_t c;

	at += at < s.n && (s.p[at] == '.' || s.p[at] == ',');
	if (!text_is_digit(text_next(s, &at)))
		return false;
	while ((c = text_next(s, &at)) >= 0) {
		if (!text_is_digit(c) && c != ',' && c != '.' && c != '-')
			return false;
	}
	return true;
}

static bool is_initial(struct str word)
{
	size_t at = 0;
	int32_t c = text_next(word, &at);

	return at == word.n && text_is_word(c) && !text_is_digit(c);
}

static struct token token_of(struct str s)
{
	struct token t = {.s = s, .word = s, .has_stop = s.p[s.n - 1] == '.'};

	if (s.n == 1) {
		t.ends = is(s.p[0], STOP);
	} else if (t.has_stop && s.p[s.n - 2] == '.') {
		t.is_dots = true;
	} else if (t.has_stop) {
		t.word = str_sub(s, 0, s.n - 1);
		t.is_short = is_abbreviation(t.word);
		t.is_initial = is_initial(t.word);
		t.is_number = is_number(s);
		t.ends = !t.is_short;
	}
	return t;
}

/* Whether a sentence ends with @t, which @next follows. */
static bool ends_before(const struct token *t, const struct token *next)
{
	size_t at = 0;
	const int32_t first = text_next(next->s, &at);
	const struct str word = next->ends ? next->word : next->s;
	const bool goes_on = text_is_lower(first) || (next->s.n == 1 && is(next->s.p[0], INNER));

	if (t->is_initial)
		return t->ends && !goes_on && (!text_is_upper(first) || IS_AMONG(word, starter));
	if (t->is_short || t->is_dots)
		return text_is_upper(first) && IS_AMONG(word, starter);
	if (t->is_number)
		return !goes_on && !IS_AMONG(word, after_number);
	return t->ends;
}

static bool any_ends(struct str s)
{
	struct token before = {.ends = false}, t;
	struct str token;

	for (size_t at = 0; token_next(s, &at, &token); before = t) {
		t = token_of(token);
		if (ends_before(&before, &t))
			return true;
	}
	return false;
}

/* ---- sentences ---- */

/* Whether a sentence might end with the character at @at: then *next is where the one behind it would begin, and *to the end of what
 * tells whether it does. */
static bool may_end(struct str s, size_t at, size_t *next, size_t *to)
{
	if (!is(s.p[at], STOP) || ++at >= s.n)
		return false;
	*next = at;
	*to = at + 1;
	if (is(s.p[at], MARK))
		return true;
	*next = *to = skip_space(s, at);
	if (*next == at || *next >= s.n)
		return false;
	while (*to < s.n && !space_at(s, *to))
		(void)text_next(s, to);
	return true;
}

static bool begins_chunk(const struct sentences *s)
{
	return s->at == 0 || is(s->text.p[s->at - 1], SPACE);
}

static bool ends_here(const struct sentences *s, size_t to)
{
	return any_ends(str_sub(s->text, s->chunk, to - s->chunk));
}

/* The piece from @from to the next end. Of each chunk between white space only the last place where one might be is asked about, and
 * its first character. */
static struct piece next_piece(struct sentences *s, size_t from)
{
	size_t end = 0, to_end = 0, next, to;

	for (; s->at < s->text.n; s->at++) {
		bool begins = begins_chunk(s);
		if (begins && end && ends_here(s, to_end))
			return (struct piece){from, end};
		if (begins) {
			s->chunk = s->at;
			end = 0;
		}
		if (!may_end(s->text, s->at, &next, &to))
			continue;
		s->behind = next;
		end = s->at + 1;
		to_end = to;
		if (begins && ends_here(s, to)) {
			s->at++;
			return (struct piece){from, end};
		}
	}
	if (end && ends_here(s, to_end))
		return (struct piece){from, end};
	s->is_last = true;
	return (struct piece){from, s->text.n};
}

/* How much at the beginning of @s closes what is before it: quotation marks and brackets, then white space, a dash or the end. */
static size_t closing(struct str s)
{
	size_t n = 0;

	while (n < s.n && is(s.p[n], CLOSING))
		n++;
	return n == s.n || space_at(s, n) || (s.p[n] == '-' && is_run(s, n)) ? n : 0;
}

struct sentences sentences_of(struct str text)
{
	struct sentences s = {.text = text};

	while (s.text.n && text_is_space(text_before(text, &(size_t){s.text.n})))
		(void)text_before(text, &s.text.n);
	s.ahead = next_piece(&s, 0);
	return s;
}

bool sentence_next(struct sentences *s, struct str *out)
{
	struct piece now = s->ahead;

	while (!s->is_last) {
		s->ahead = next_piece(s, s->behind);
		struct str ahead = str_sub(s->text, s->ahead.from, s->ahead.to - s->ahead.from);
		size_t n = closing(ahead);
		if (n) {
			now.to = s->ahead.from + n;
			s->ahead.from += skip_space(ahead, n);
		}
		*out = str_sub(s->text, now.from, now.to - now.from);
		if (n || out->n)
			return true;
		now = s->ahead;
	}
	*out = str_sub(s->text, now.from, s->over ? 0 : now.to - now.from);
	s->over = true;
	return out->n > 0;
}
