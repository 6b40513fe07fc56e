/* The words of a sentence that are all capitals: as many as NLTK's word_tokenize() makes of it. */
#include "core/sentence.h"

#include "base/text.h"

static bool is_one_of(int32_t c, const char *set)
{
	return c > 0 && c < 0x80 && strchr(set, c) != NULL;
}

static bool is_ascii_letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static int32_t code_point(struct str s, size_t at)
{
	return text_next(s, &at);
}

static bool is_quote(int32_t c)
{
	return c == 0xAB || c == 0xBB || (c >= 0x2018 && c <= 0x201E && c != 0x201A && c != 0x201B);
}

static struct str without_last_stop(struct str s)
{
	size_t at = s.n;
	int32_t c;

	do
		c = text_before(s, &at);
	while (text_is_space(c) || is_quote(c) || is_one_of(c, "])}>\"'"));
	return c == '.' && !(at > 0 && s.p[at - 1] == '.') ? str_sub(s, 0, at) : str_sub(s, 0, s.n);
}

/* 'x, with nothing behind the letter, is two tokens, unless the letter is one of m, t, s, d and n. */
static bool is_lone_letter(struct str s, size_t at)
{
	int32_t c = text_next(s, &at);

	return text_is_word(c) && !is_one_of(c, "mtsdnMTSDN") && !text_is_word(code_point(s, at));
}

/* The bytes at @at that part tokens: white space, and marks that are tokens of their own; 0: they belong to a word. */
static size_t gap(struct str s, size_t at)
{
	size_t end = at;
	const int32_t c = text_next(s, &end), next = code_point(s, end);

	switch (c) {
	case ':':
	case ',':
		return !text_is_digit(next);
	case '.':
	case '-':
		return next == c ? 2 : 0;
	case '\'':
		return next == c ? 2 : is_lone_letter(s, end);
	default:
		return text_is_space(c) || is_quote(c) || is_one_of(c, "\"`;@#$%&?!*()[]{}<>")
			       ? end - at
			       : 0;
	}
}

/* 1 or 0 */
static int64_t is_capital(struct str s)
{
	int64_t any = 0;
	int32_t c;

	for (size_t at = 0; (c = text_next(s, &at)) >= 0;) {
		if (text_is_lower(c))
			return 0;
		any |= text_is_upper(c);
	}
	return any;
}

static bool is_in_any_case(struct str s, const char *word)
{
	size_t i = 0;

	while (i < s.n && word[i] && (s.p[i] | 0x20) == word[i])
		i++;
	return i == s.n && !word[i];
}

/* Bytes of the first of the two tokens that the word at [at, at + n) of @token is; 0: it is one. */
static size_t first_half(struct str token, size_t at, size_t n)
{
	static const struct {
		const char *word;
		size_t n;
		bool after_quote; /* 'tis */
	} pair[] = {
		{"cannot", 3, false}, {"gimme", 3, false}, {"gonna", 3, false}, {"gotta", 3, false},
		{"lemme", 3, false},  {"wanna", 3, false}, {"tis", 1, true},	{"twas", 1, true},
	};

	for (size_t i = 0; i < sizeof(pair) / sizeof(pair[0]); i++) {
		if (is_in_any_case(str_sub(token, at, n), pair[i].word))
			return !pair[i].after_quote || (at == 1 && token.p[0] == '\'') ? pair[i].n
										       : 0;
	}
	return 0;
}

/* Takes the first of @tail that @s ends with, behind something other than a ', off it. Returns 1 if that is all capitals. */
static int64_t take_tail(struct str *s, const char *const *tail)
{
	for (; *tail; tail++) {
		struct str end = str_c(*tail);
		if (s->n <= end.n || !str_eq(str_sub(*s, s->n - end.n, end.n), end))
			continue;
		if (s->p[s->n - end.n - 1] == '\'')
			return 0;
		*s = str_sub(*s, 0, s->n - end.n);
		return is_capital(end);
	}
	return 0;
}

static int64_t capitals_of(struct str token)
{
	static const char *const short_tail[] = {"'s", "'S", "'m", "'M", "'d", "'D", NULL};
	static const char *const long_tail[] = {"'ll", "'LL", "'re", "'RE", "'ve",
						"'VE", "n't", "N'T", NULL};
	int64_t n = 0;
	size_t from = 0;

	if (token.n > 1 && token.p[token.n - 1] == '\'' && token.p[token.n - 2] != '\'')
		token.n--;
	n += take_tail(&token, short_tail);
	n += take_tail(&token, long_tail);
	for (size_t at = 0, end; at < token.n; at = end) {
		for (end = at; text_is_word(code_point(token, end));)
			(void)text_next(token, &end);
		size_t half = first_half(token, at, end - at);
		if (half) {
			n += is_capital(str_sub(token, from, at - from));
			n += is_capital(str_sub(token, at, half));
			n += is_capital(str_sub(token, at + half, end - at - half));
			from = end;
		}
		if (end == at)
			(void)text_next(token, &end);
	}
	return n + is_capital(str_sub(token, from, token.n));
}

int64_t sentence_capitals(struct str sentence)
{
	struct str s = without_last_stop(sentence);
	int64_t n = 0;

	for (size_t at = 0, len = 0; at < s.n; at += len) {
		const size_t from = at;
		bool any = false; /* else it counts for nothing */
		for (; at < s.n && (is_ascii_letter(s.p[at]) || (len = gap(s, at)) == 0);) {
			any |= text_is_upper(text_next(s, &at));
		}
		if (any)
			n += capitals_of(str_sub(s, from, at - from));
	}
	return n;
}
