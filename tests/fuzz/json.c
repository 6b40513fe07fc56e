/*
 * json.c - JSON texts made wrong, against a second reading of the grammar (RFC 8259) that shares no code with the first.
 */
#include "../lib/fuzz.h"

#include "base/json.h"

static const struct str corpus[] = {
	STR("{\"a\": [1, -2.5e3, \"x\\n\\u00e9\\ud83d\\ude00\", true, null], \"b\": {\"c\": {}}, \"\": \"\"}"),
	STR("[[[[[[]]]], 0, -0, 1E+2, 9223372036854775807, -9223372036854775808, \"\\\\\\/\\\"\"]"),
	STR(" \t\n\"日本語 \xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB\" "),
	STR("{\"id\":\"1\",\"profile\":\"p\",\"limits\":{\"tokens\":5},\"tags\":[\"x\",\"y\"]}"),
	STR("\xEF\xBB\xBF{\"a\":1,\"A\":2}"),
	STR("[1.0,0.1,123456789012345678,1e10,-1.5E-7]"),
	STR("{\"z\":1,\"y\":2,\"x\":3,\"w\":[{\"q\":1},{\"q\":2}]}"),
};

/* ---- the second reading: each takes what it knows from the front of *p, or says no ---- */

struct second {
	const char *p, *end;
	int depth;
};

static int at(const struct second *s)
{
	return s->p < s->end ? (unsigned char)*s->p : -1;
}

static void space(struct second *s)
{
	while (at(s) == ' ' || at(s) == '\t' || at(s) == '\n' || at(s) == '\r')
		s->p++;
}

static bool is_hex(int c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The four digits behind "\u" as a number; -1: they are none. */
static long unit(struct second *s)
{
	char hex[5] = "";

	for (int i = 0; i < 4; i++) {
		if (!is_hex(at(s)))
			return -1;
		hex[i] = *s->p++;
	}
	return strtol(hex, NULL, 16);
}

static bool escape(struct second *s)
{
	int c = at(s);

	s->p++;
	if (c != 'u')
		return c > 0 && strchr("\"\\/bfnrt", c);
	long high = unit(s);
	if (high <= 0 || (high >= 0xDC00 && high < 0xE000))
		return false;
	if (high < 0xD800 || high >= 0xE000)
		return true;
	if (s->end - s->p < 6 || memcmp(s->p, "\\u", 2) != 0)
		return false;
	s->p += 2;
	long low = unit(s);
	return low >= 0xDC00 && low < 0xE000;
}

static bool string(struct second *s)
{
	for (s->p++; at(s) != '"';) {
		if (at(s) < 0x20)
			return false;
		if (*s->p++ == '\\' && !escape(s))
			return false;
	}
	s->p++;
	return true;
}

static bool digits(struct second *s)
{
	const char *first = s->p;

	while (at(s) >= '0' && at(s) <= '9')
		s->p++;
	return s->p > first;
}

static bool number(struct second *s)
{
	s->p += at(s) == '-';
	if (at(s) == '0')
		s->p++;
	else if (!digits(s))
		return false;
	if (at(s) == '.' && (s->p++, !digits(s)))
		return false;
	if (at(s) != 'e' && at(s) != 'E')
		return true;
	s->p++;
	s->p += at(s) == '+' || at(s) == '-';
	return digits(s);
}

static bool word(struct second *s, const char *w)
{
	size_t n = strlen(w);

	if ((size_t)(s->end - s->p) < n || memcmp(s->p, w, n) != 0)
		return false;
	s->p += n;
	return true;
}

static bool value(struct second *s);

static bool list(struct second *s, int close)
{
	s->p++;
	space(s);
	if (++s->depth > 64)
		return false;
	for (bool first = true; at(s) != close; first = false) {
		if (!first && (at(s) != ',' || (s->p++, false)))
			return false;
		space(s);
		if (close == '}') {
			if (at(s) != '"' || !string(s))
				return false;
			space(s);
			if (at(s) != ':')
				return false;
			s->p++;
		}
		if (!value(s))
			return false;
	}
	s->p++;
	s->depth--;
	return true;
}

static bool value(struct second *s)
{
	space(s);
	int c = at(s);
	bool fine = c == '{'   ? list(s, '}')
		    : c == '[' ? list(s, ']')
		    : c == '"' ? string(s)
		    : c == 't' ? word(s, "true")
		    : c == 'f' ? word(s, "false")
		    : c == 'n' ? word(s, "null")
			       : number(s);
	space(s);
	return fine;
}

static bool second_reading(struct str text)
{
	struct second s = {text.p, text.p + text.n, 0};

	(void)word(&s, "\xEF\xBB\xBF");
	return value(&s) && s.p == s.end;
}

/* ---- the tests ---- */

/* Refused by one, refused by both; but the grammar knows of no doubled key and of no number too large. */
static void both_readings_agree(struct fuzz *f)
{
	struct str text = fuzz_mutate(f, corpus, sizeof(corpus) / sizeof(*corpus));
	struct err err = {""};
	struct json *doc;
	enum json_fault fault = json_read(text, &doc, &err);
	bool fine = text_is_utf8(text) && second_reading(text);

	FUZZ_TRUE(f, text_is_utf8(str_c(err.text)));
	if (fault == JSON_FINE) {
		json_free(doc);
		FUZZ_TRUE(f, fine);
		return;
	}
	FUZZ_TRUE(f, err.text[0]);
	FUZZ_TRUE(f, (fault == JSON_NOT_UTF8) == !text_is_utf8(text));
	FUZZ_TRUE(f,
		  !fine || fault == JSON_DUPLICATE_KEY || strstr(err.text, "number out of range"));
}

static bool has_double(const struct json *j)
{
	const struct json *v;
	struct str key;
	bool found = json_kind(j) == JSON_DOUBLE;

	for (size_t i = 0; json_kind(j) == JSON_ARRAY && i < json_size(j); i++)
		found |= has_double(json_item(j, i));
	for (size_t i = 0; json_kind(j) == JSON_OBJECT && json_member(j, i, &key, &v); i++)
		found |= has_double(v);
	return found;
}

static bool is_sorted(const struct json *j)
{
	const struct json *v;
	struct str key, before = {NULL, 0};
	bool sorted = true;

	for (size_t i = 0; json_kind(j) == JSON_ARRAY && i < json_size(j); i++)
		sorted = sorted && is_sorted(json_item(j, i));
	for (size_t i = 0; json_kind(j) == JSON_OBJECT && json_member(j, i, &key, &v); i++) {
		sorted = sorted && is_sorted(v) && (!before.p || str_cmp(before, key) < 0);
		before = key;
	}
	return sorted;
}

static struct str written(struct fuzz *f, struct str text, bool canonical)
{
	struct buf b = BUF(FUZZ_BYTES_MAX);
	struct json *doc;
	struct err err;

	FUZZ_TRUE(f, json_read(text, &doc, &err) == JSON_FINE);
	if (canonical)
		FUZZ_TRUE(f, (json_canonical(doc, &b) == ST_OK) == !has_double(doc));
	else
		json_print(doc, &b);
	bool refused = canonical && has_double(doc);
	json_free(doc);
	struct str out = fuzz_text_of(f, &b);
	return refused ? str_c(NULL) : out;
}

/* What was written is read as the same again. */
static void writing_is_stable(struct fuzz *f)
{
	struct str text = fuzz_mutate(f, corpus, sizeof(corpus) / sizeof(*corpus));
	struct json *doc;
	struct err err;

	if (json_read(text, &doc, &err) != JSON_FINE)
		return;
	json_free(doc);
	struct str print = written(f, text, false), canonical = written(f, text, true);
	FUZZ_TRUE(f, text_is_utf8(print) && second_reading(print));
	FUZZ_TRUE(f, str_eq(written(f, print, false), print));
	FUZZ_TRUE(f,
		  str_eq(written(f, print, true), canonical)); /* a double stays one: both absent */
	if (!canonical.p)
		return;
	FUZZ_TRUE(f, str_eq(written(f, canonical, true), canonical));
	FUZZ_TRUE(f, json_read(canonical, &doc, &err) == JSON_FINE && is_sorted(doc));
	json_free(doc);
	FUZZ_TRUE(f, str_eq(written(f, canonical, false), canonical));
}

/* Any bytes at all, valid UTF-8 or not, come back as the text that they are as UTF-8. */
static void any_string_comes_back(struct fuzz *f)
{
	struct str s = fuzz_chance(f, 50)
			       ? fuzz_unicode(f, 40)
			       : fuzz_mutate(f, corpus, sizeof(corpus) / sizeof(*corpus));
	struct buf b = BUF(FUZZ_BYTES_MAX);
	struct json_out o = {.buf = &b};
	struct json *doc;
	struct err err;

	f->input = s;
	json_open(&o, NULL, '{');
	json_put_pair(&o, s, s);
	json_close(&o, '}');
	enum json_fault fault = json_read(buf_view(&b), &doc, &err);
	buf_release(&b);
	bool nul = memchr(s.p, 0, s.n);
	FUZZ_TRUE(f, (fault == JSON_FINE) == !nul);
	if (nul)
		return;
	const struct json *v;
	struct str key, utf8 = text_to_utf8(f->a, s);
	FUZZ_TRUE(f, json_member(doc, 0, &key, &v) && str_eq(key, utf8));
	FUZZ_TRUE(f, str_eq(json_str(v), utf8));
	json_free(doc);
}

int main(int argc, char **argv)
{
	static const struct fuzz_test tests[] = {
		{"both readings agree", both_readings_agree, 40000},
		{"writing is stable", writing_is_stable, 20000},
		{"any string comes back", any_string_comes_back, 20000},
	};

	return FUZZ_MAIN(tests);
}
