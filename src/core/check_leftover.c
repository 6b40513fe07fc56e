#include "check_family.h"
#include "check_parts.h"

#include "base/text.h"

#include <ctype.h>

enum { BYTE_WORK = 4, SIGN_WORK = 300, INSIDE_BYTES_MAX = 80, NAMED_MAX = 5 };

struct leftovers {
	const struct str *allow; /* as they stand in the text */
	int n_allow;
};

static bool is_word_sign(int32_t c)
{
	return c < 0x80 && c > 0 && (isalnum(c) || c == '_');
}

static bool has(struct str s, const char *part)
{
	return str_find(s, str_c(part), 0) >= 0;
}

/* What stands between @open at the front of @s and @close: in one line, short, not empty, without another @open. Absent: no such. */
static struct str inside(struct str s, const char *open, const char *close)
{
	if (!str_starts(s, open))
		return (struct str){0};
	struct str all = str_sub(s, strlen(open), INSIDE_BYTES_MAX + strlen(close));
	int64_t end = str_find(all, str_c(close), 0);
	struct str found = str_sub(all, 0, end > 0 ? (size_t)end : 0);

	return end <= 0 || has(found, "\n") || has(found, open) ? (struct str){0} : found;
}

enum { UPPER = 1, BLANKS = 2 }; /* no small letters; blanks may be inside */

/* A letter, then letters, digits and "_.-". */
static bool is_name(struct str s, int options)
{
	for (size_t i = 0; i < s.n; i++) {
		int c = (unsigned char)s.p[i];
		if (!isalnum(c) && !(c && strchr("_.-", c)) && !(c == ' ' && (options & BLANKS)))
			return false;
		if (islower(c) && (options & UPPER))
			return false;
	}
	return s.n >= 2 && isalpha((unsigned char)s.p[0]);
}

static bool is_word_of(struct str word, const char *const *words)
{
	for (; *words; words++) {
		if (word.n == strlen(*words) && strncasecmp(word.p, *words, word.n) == 0)
			return true;
	}
	return false;
}

/* What a form asks for: "Your Name", "COMPANY", "insert the new date". "see page 3" and "PDF" are none. */
static bool is_request(struct str s)
{
	static const char *const orders[] = {"your", "insert",	    "enter",
					     "fill", "recipient's", NULL};
	static const char *const fillers[] = {"my",   "the",  "a",     "of",   "and", "or",
					      "here", "full", "first", "last", "new", NULL};
	static const char *const asked[] = {
		"name",	       "company",      "address", "date",      "time",	    "phone",
		"email",       "e-mail",       "number",  "title",     "position",  "department",
		"product",     "service",      "order",	  "amount",    "price",	    "customer",
		"client",      "recipient",    "sender",  "signature", "city",	    "country",
		"url",	       "link",	       "contact", "plan",      "reference", "id",
		"placeholder", "organization", NULL};
	bool all = true, some = false;

	for (size_t at = 0, end; at < s.n; at = end + 1) {
		for (end = at; end < s.n && !strchr(" _/", s.p[end]); end++)
			;
		struct str word = str_sub(s, at, end - at);
		if (at == 0 && end < s.n && is_word_of(word, orders))
			return true;
		some = some || is_word_of(word, asked);
		all = all && (is_word_of(word, asked) || is_word_of(word, fillers));
	}
	return all && some;
}

static bool is_constant(struct str s)
{
	return is_name(s, UPPER) && has(s, "_");
}

/* The kinds of placeholder: each gives the bytes at the front of @s that are one, 0: none. @before is the character before it. */

/* {{name}}, {% if %}, <%= name %>, ${name}, {name}, {お客様名} */
static size_t template_bytes(struct str s, int32_t before)
{
	static const char *const pairs[][2] = {
		{"{{", "}}"}, {"{%", "%}"}, {"<%", "%>"}, {"${", "}"}};
	const struct str near = str_sub(s, 0, INSIDE_BYTES_MAX + 4);
	struct str found;

	if (!memchr(near.p, '}', near.n) && !memchr(near.p, '>', near.n))
		return 0; /* soon said of a heap of braces */
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (sign_at(s, 1) == pairs[i][0][1] &&
		    (found = inside(s, pairs[i][0], pairs[i][1])).p)
			return found.n + strlen(pairs[i][0]) + strlen(pairs[i][1]);
	}
	found = inside(s, "{", "}");
	if (!found.p || is_word_sign(before) || before == '\\' || before == '}')
		return 0;
	bool japanese = (unsigned char)found.p[0] >= 0x80 && !has(found, "、") && !has(found, "。");
	return japanese || is_name(found, 0) || is_request(found) ? found.n + strlen("{}") : 0;
}

/* %NAME%; not "5%OFF%" */
static size_t percent_bytes(struct str s, int32_t before)
{
	struct str found = inside(s, "%", "%");

	return found.p && is_name(found, UPPER) && !is_word_sign(before) ? found.n + strlen("%%")
									 : 0;
}

/* <NAME>, <CUSTOMER_ID>, <your name>; <b>, <BR> and <title> are tags. */
static size_t angle_bytes(struct str s, int32_t before)
{
	struct str found = inside(s, "<", ">");
	bool is_tag = found.p && !has(found, " ") && !is_name(found, UPPER);

	if (found.p && (is_constant(found) || (is_request(found) && !is_tag)))
		return found.n + strlen("<>");
	return template_bytes(s, before);
}

/* [NAME], [Your Name], 【会社名を入力】, [お名前]様; neither a link nor 【重要】. */
static size_t bracket_bytes(struct str s, int32_t before)
{
	static const char *const pairs[][2] = {
		{"[", "]"}, {"［", "］"}, {"【", "】"}, {"〔", "〕"}, {"〈", "〉"}};
	static const char *const links[] = {"(", "[", ":", NULL};
	static const char *const honorifics[] = {"様", "さま", "さん", "殿", "御中", "先生", NULL};
	struct str found = {0}, after;
	size_t n = 0;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]) && !found.p; i++) {
		found = inside(s, pairs[i][0], pairs[i][1]);
		n = found.n + strlen(pairs[i][0]) + strlen(pairs[i][1]);
	}
	after = str_sub(s, n, s.n);
	if (!found.p || is_word_sign(before) || begins_with(after, links))
		return 0;
	return is_constant(found) || is_request(found) || has(found, "入力") ||
			       has(found, "記入") || has(found, "挿入") ||
			       begins_with(after, honorifics)
		       ? n
		       : 0;
}

/* How often @sign stands at the front of @s. */
static size_t count_of(struct str s, const char *sign)
{
	size_t n = 0;

	while (str_starts(str_sub(s, n * strlen(sign), s.n), sign))
		n++;
	return n;
}

/* 〇〇, ○○, ◯◯, △△, ●●: two or more; not the zeros of 二〇〇〇. */
static size_t circle_bytes(struct str s, int32_t before)
{
	static const char *const signs[] = {"〇", "○", "◯", "△", "●", NULL};
	static const char numerals[] = "〇一二三四五六七八九十百千";
	size_t n = 0, front = 0;

	if (text_next(s, &front) == before)
		return 0;
	for (const char *const *sign = signs; *sign && n < 2; sign++)
		n = count_of(s, *sign);
	size_t end = n * strlen("〇"), behind = end;
	bool is_number = str_starts(s, "〇") &&
			 (is_among(before, numerals) || is_among(text_next(s, &behind), numerals));
	return n >= 2 && !is_number ? end : 0;
}

/* Three X or more alone; XX円, XX月. In full width too. */
static size_t cross_bytes(struct str s, int32_t before)
{
	static const char *const units[] = {"円", "年", "月", "日", "時", "分", "様",
					    "名", "人", "件", "個", "%",  "％", NULL};
	const char *sign = str_starts(s, "X") ? "X" : "Ｘ";

	if (is_word_sign(before) || is_among(before, "Ｘ"))
		return 0;
	size_t n = count_of(s, sign), end = n * strlen(sign);
	struct str after = str_sub(s, end, s.n);
	if (is_word_sign(sign_at(after, 0)))
		return 0;
	return n >= 3 || (n == 2 && begins_with(after, units)) ? end : 0;
}

static size_t word_bytes(struct str s, int32_t before)
{
	static const char *const words[] = {"TBD",
					    "TBA",
					    "TBC",
					    ("TO"
					     "DO"),
					    ("FIX"
					     "ME"),
					    NULL};

	if (is_word_sign(before))
		return 0;
	if (s.n >= 11 && strncasecmp(s.p, "lorem ipsum", 11) == 0)
		return 11;
	for (const char *const *word = words; *word; word++) {
		if (str_starts(s, *word) && !is_word_sign(sign_at(s, strlen(*word))))
			return strlen(*word);
	}
	return 0;
}

/* Of @s, whose first character is @c. */
static size_t placeholder_bytes(struct str s, int32_t c, int32_t before)
{
	switch (c) {
	case '{':
	case '$':
		return template_bytes(s, before);
	case '%':
		return percent_bytes(s, before);
	case '<':
		return angle_bytes(s, before);
	case '[':
	case 0x3008: /* 〈 */
	case 0x3010: /* 【 */
	case 0x3014: /* 〔 */
	case 0xFF3B: /* ［ */
		return bracket_bytes(s, before);
	case 0x25B3: /* △ */
	case 0x25CB: /* ○ */
	case 0x25CF: /* ● */
	case 0x25EF: /* ◯ */
	case 0x3007: /* 〇 */
		return circle_bytes(s, before);
	case 'X':
	case 0xFF38:
		return cross_bytes(s, before);
	case 'F':
	case 'L':
	case 'T':
	case 'l':
		return word_bytes(s, before);
	default:
		return 0;
	}
}

static bool is_allowed(const struct leftovers *leftovers, struct str found)
{
	for (int i = 0; i < leftovers->n_allow; i++) {
		if (str_eq(leftovers->allow[i], found))
			return true;
	}
	return false;
}

/* What is looked behind for up to INSIDE_BYTES_MAX. */
static bool is_opening(int32_t c)
{
	return c < 0x80 ? strchr("{$%<[", c) && c
			: c == 0x3008 || c == 0x3010 || c == 0x3014 || c == 0xFF3B;
}

static void run_leftover(struct arena *scratch, const void *args, const struct job *job,
			 struct checked *checked, struct check_result *out)
{
	const struct leftovers *leftovers = args;
	struct str text = checked->text;
	struct buf detail = BUF(4 * CHECK_DETAIL_BYTES_MAX);
	int32_t c, before = -1;
	int n_found = 0;

	if (!check_afford(checked, BYTE_WORK * (int64_t)text.n, out))
		return;
	for (size_t from = 0, at = 0; (c = text_next(text, &at)) >= 0; from = at, before = c) {
		if (is_opening(c) && !check_afford(checked, SIGN_WORK, out))
			break;
		size_t n = placeholder_bytes(str_sub(text, from, text.n), c, before);
		struct str found = str_sub(text, from, n);
		at = n > 0 ? from + n : at;
		if (n == 0 || is_allowed(leftovers, found) || n_found++ >= NAMED_MAX)
			continue;
		if (n_found == 1) {
			buf_puts(&detail, "left over: ");
			out->at = (int64_t)from;
			out->local = true;
			out->n = (int64_t)n;
		}
		put_quoted(&detail, found, n_found == 1 ? "" : ", ");
	}
	if (n_found > NAMED_MAX)
		buf_puts(&detail, ", and more");
	set_detail(scratch, &detail, out);
}

static enum status read_leftover(struct arena *a, const struct json *spec, const void **args,
				 struct err *err)
{
	struct leftovers *leftovers = arena_alloc(a, sizeof(*leftovers));

	*args = leftovers;
	return arg_strings(a, spec, "allow", &leftovers->allow, &leftovers->n_allow, err);
}

static void phrase_leftover(const void *args, const struct job *job, bool japanese, struct buf *out)
{
	buf_puts(out, japanese ? "{{name}}、[NAME]、〇〇様、TBDのような未記入の箇所を残さないこと。"
			       : "No placeholder is left over, such as {{name}}, [NAME] or TBD.");
}

static const char *const keys[] = {"allow", NULL};

const struct check_type check_leftover_types[] = {
	{"leftover", read_leftover, run_leftover, phrase_leftover, keys},
	{0},
};
