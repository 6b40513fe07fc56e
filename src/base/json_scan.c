#include "json_scan.h"
#include "base/decimal.h"
#include "utf8.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_NUMBER_BYTES = 255, ARRAY_ITEMS = 4 /* room at first */ };

struct key {
	struct str name; /* unescaped */
	size_t at;	 /* byte of its opening quote */
};

_Static_assert(JSON_VALUES_MAX == 10000, "a message says so");

struct scan {
	struct str text;
	size_t at; /* the next byte */
	int depth;
	struct key *key; /* of all objects that are open, the innermost last */
	size_t n_key, cap_key;
	int n_value, max_values;
	bool any_number;       /* also one that neither 64 bits nor a double can hold */
	struct arena *strings; /* keys, and what had to be unescaped */
	enum json_fault fault;
	struct err *err;
};

static bool fail_at(struct scan *s, enum json_fault fault, size_t at, const char *what)
{
	s->fault = fault;
	return ERR_SET(s->err, false, "%s at byte %zu", what, at);
}

static bool fail(struct scan *s, const char *what)
{
	return fail_at(s, JSON_NOT_JSON, s->at,
		       s->at < s->text.n ? what : "the text ends too soon");
}

/* The next byte, or 0 at the end. A NUL byte in the text is no part of the grammar either. */
static char peek(const struct scan *s)
{
	return s->at < s->text.n ? s->text.p[s->at] : '\0';
}

static bool take(struct scan *s, char c)
{
	if (peek(s) != c)
		return false;
	s->at++;
	return true;
}

static void skip_space(struct scan *s)
{
	while (take(s, ' ') || take(s, '\t') || take(s, '\n') || take(s, '\r'))
		;
}

static size_t skip_digits(struct scan *s)
{
	size_t from = s->at;

	while (peek(s) >= '0' && peek(s) <= '9')
		s->at++;
	return s->at - from;
}

/* json-c has only one reason to give nothing. */
static struct json_object *made(struct json_object *o)
{
	if (!o)
		BUG("out of memory");
	return o;
}

static bool scan_word(struct scan *s, const char *word)
{
	if (!str_starts(str_sub(s->text, s->at, s->text.n), word))
		return fail(s, "no JSON value");
	s->at += strlen(word);
	return true;
}

/* Integers must fit 64 bits and the rest be finite, unless any number is fine. What is no integer of 64 bits keeps its text, for
 * json_number(). NULL: out of range. */
static struct json_object *number_of(struct scan *s, struct str number, bool is_int)
{
	struct decimal unused;
	int64_t value = 0;
	double real = INFINITY;

	if (is_int && (str_is(number, "-0") || str_to_int(number, INT64_MIN, INT64_MAX, &value)))
		return made(json_object_new_int64(value));
	if (!decimal_read(number, &unused))
		return NULL;
	struct str text = arena_str(s->strings, number);
	if (!is_int && number.n <= MAX_NUMBER_BYTES)
		real = strtod(text.p, NULL);
	return isfinite(real) || s->any_number ? made(json_object_new_double_s(real, text.p))
					       : NULL;
}

static bool scan_number(struct scan *s, struct json_object **out)
{
	size_t from = s->at;
	bool is_int = true;

	take(s, '-');
	if (!take(s, '0') && skip_digits(s) == 0)
		return fail(s, "no digit");
	if (take(s, '.')) {
		is_int = false;
		if (skip_digits(s) == 0)
			return fail(s, "no digit after the point");
	}
	if (take(s, 'e') || take(s, 'E')) {
		is_int = false;
		if (!take(s, '+'))
			take(s, '-');
		if (skip_digits(s) == 0)
			return fail(s, "no digit in the exponent");
	}
	*out = number_of(s, str_sub(s->text, from, s->at - from), is_int);
	if (!*out)
		return fail_at(s, JSON_NOT_JSON, from, "number out of range");
	return true;
}

/* The four digits after "\u". */
static bool take_hex4(struct scan *s, uint32_t *unit)
{
	uint8_t byte[2];

	if (!hex_read(str_sub(s->text, s->at, 4), byte, sizeof(byte)))
		return fail(s, "no four hexadecimal digits");
	*unit = (uint32_t)byte[0] << 8 | byte[1];
	s->at += 4;
	return true;
}

static size_t encode_utf8(uint32_t c, char out[4])
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};

	for (size_t i = n; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3F));
	out[0] = (char)(lead[n] | c);
	return n;
}

/* What follows "\u", with the second half of a pair of surrogates. */
static bool take_unicode(struct scan *s, char out[4], size_t *n)
{
	size_t from = s->at - 2;
	uint32_t c, low;

	if (!take_hex4(s, &c))
		return false;
	if (c == 0)
		return fail_at(s, JSON_NOT_JSON, from, "\\u0000 is not allowed");
	if (c >= 0xD800 && c <= 0xDBFF) {
		if (!take(s, '\\') || !take(s, 'u'))
			return fail_at(s, JSON_NOT_JSON, from, "lone surrogate");
		if (!take_hex4(s, &low))
			return false;
		if (low < 0xDC00 || low > 0xDFFF)
			return fail_at(s, JSON_NOT_JSON, from, "lone surrogate");
		c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
	} else if (c >= 0xDC00 && c <= 0xDFFF) {
		return fail_at(s, JSON_NOT_JSON, from, "lone surrogate");
	}
	*n = encode_utf8(c, out);
	return true;
}

/* What follows a backslash. */
static bool take_escape(struct scan *s, char out[4], size_t *n)
{
	static const char byte_of[] = {
		['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b', ['f'] = '\f',
		['n'] = '\n', ['r'] = '\r',  ['t'] = '\t', ['u'] = 'u'};
	unsigned char c = (unsigned char)peek(s);
	char byte = c < sizeof(byte_of) ? byte_of[c] : '\0';

	if (!byte)
		return fail(s, "unknown escape");
	s->at++;
	if (c == 'u')
		return take_unicode(s, out, n);
	out[0] = byte;
	*n = 1;
	return true;
}

/* Moves behind the closing quote. @escaped: there was a backslash. */
static bool walk_string(struct scan *s, bool *escaped)
{
	char unused[4];
	size_t n;

	*escaped = false;
	for (s->at++; !take(s, '"');) {
		while (s->at < s->text.n && (unsigned char)s->text.p[s->at] >= 0x20 &&
		       s->text.p[s->at] != '"' && s->text.p[s->at] != '\\')
			s->at++;
		if (take(s, '\\')) {
			*escaped = true;
			if (!take_escape(s, unused, &n))
				return false;
		} else if ((unsigned char)peek(s) < 0x20) {
			return fail(s, "control character in a string");
		}
	}
	return true;
}

/* @inside the quotes, already walked. No longer than what it is made from: six bytes give at most three. */
static struct str unescape(struct scan *s, struct str inside)
{
	struct scan in = {.text = inside};
	char *p = arena_alloc(s->strings, inside.n + 4), *end = p;

	while (in.at < inside.n) {
		size_t n = 1;
		if (!take(&in, '\\'))
			*end = inside.p[in.at++];
		else if (!take_escape(&in, end, &n))
			BUG("an escape was fine and now is not");
		end += n;
	}
	return (struct str){p, (size_t)(end - p)};
}

static bool scan_string(struct scan *s, struct str *out)
{
	size_t from = s->at + 1;
	bool escaped;

	if (!walk_string(s, &escaped))
		return false;
	*out = str_sub(s->text, from, s->at - from - 1);
	if (escaped)
		*out = unescape(s, *out);
	return true;
}

static bool scan_key(struct scan *s, struct str *name)
{
	size_t from = s->at;

	if (peek(s) != '"')
		return fail(s, "no key in quotes");
	if (!scan_string(s, name))
		return false;
	*name = arena_str(s->strings, *name); /* with a NUL behind it */
	if (s->n_key == s->cap_key) {
		s->cap_key = s->cap_key ? 2 * s->cap_key : 32;
		s->key = realloc(s->key, s->cap_key * sizeof(*s->key));
		if (!s->key)
			BUG("out of memory");
	}
	s->key[s->n_key++] = (struct key){*name, from};
	return true;
}

static int by_name(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int order = str_cmp(x->name, y->name);

	return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Of the object whose keys are those from @first on; they are dropped. */
static bool keys_differ(struct scan *s, size_t first)
{
	size_t n = s->n_key - first;

	s->n_key = first;
	if (n < 2)
		return true;
	struct key *key = s->key + first;
	qsort(key, n, sizeof(*key), by_name);
	for (size_t i = 1; i < n; i++) {
		if (!str_eq(key[i - 1].name, key[i].name))
			continue;
		s->fault = JSON_DUPLICATE_KEY;
		return ERR_SET(s->err, false,
			       "at byte %zu a second key of one object has the name '%.*s'",
			       key[i].at, STR_ARG(key[i].name));
	}
	return true;
}

static bool scan_value(struct scan *s, struct json_object **out);

static bool scan_member(struct scan *s, struct json_object *object)
{
	struct json_object *value;
	struct str name;

	skip_space(s);
	if (!scan_key(s, &name))
		return false;
	skip_space(s);
	if (!take(s, ':'))
		return fail(s, "no ':' after a key");
	if (!scan_value(s, &value))
		return false;
	/* New to json-c even if it is not: keys_differ() will tell. */
	if (json_object_object_add_ex(object, name.p, value, JSON_C_OBJECT_ADD_KEY_IS_NEW))
		BUG("out of memory");
	return true;
}

static bool scan_item(struct scan *s, struct json_object *array)
{
	struct json_object *value;

	if (!scan_value(s, &value))
		return false;
	if (json_object_array_add(array, value))
		BUG("out of memory");
	return true;
}

/* An array or an object: the same but for its members and its bracket. */
static bool scan_nest(struct scan *s, char bracket, struct json_object *into)
{
	size_t first_key = s->n_key;

	if (s->depth == JSON_MAX_DEPTH)
		return fail(s, "more than 64 levels");
	s->depth++;
	s->at++;
	skip_space(s);
	if (!take(s, bracket)) {
		do {
			if (!(bracket == '}' ? scan_member : scan_item)(s, into))
				return false;
		} while (take(s, ','));
		if (!take(s, bracket))
			return fail(s, bracket == '}' ? "no ',' or '}'" : "no ',' or ']'");
	}
	s->depth--;
	return keys_differ(s, first_key);
}

/* By its first byte. What is in *out at a failure is the caller's, too. */
static bool scan_kind(struct scan *s, struct json_object **out)
{
	const char c = peek(s);
	struct str string;

	switch (c) {
	case '{':
		*out = made(json_object_new_object());
		return scan_nest(s, '}', *out);
	case '[':
		*out = made(json_object_new_array_ext(ARRAY_ITEMS));
		return scan_nest(s, ']', *out);
	case '"':
		if (!scan_string(s, &string))
			return false;
		*out = made(json_object_new_string_len(string.p, (int)string.n));
		return true;
	case 't':
	case 'f':
		*out = made(json_object_new_boolean(c == 't'));
		return scan_word(s, c == 't' ? "true" : "false");
	case 'n':
		return scan_word(s, "null");
	default:
		return c == '-' || (c >= '0' && c <= '9') ? scan_number(s, out)
							  : fail(s, "no JSON value");
	}
}

/* White space around the value is taken too. */
static bool scan_value(struct scan *s, struct json_object **out)
{
	*out = NULL;
	skip_space(s);
	if (s->n_value++ == s->max_values)
		return fail(s, "more than 10000 values");
	if (!scan_kind(s, out)) {
		json_object_put(*out);
		return false;
	}
	skip_space(s);
	return true;
}

static bool scan_text(struct scan *s, struct json_object **out, size_t *n)
{
	size_t valid = utf8_valid_prefix(s->text);

	if (valid < s->text.n)
		return fail_at(s, JSON_NOT_UTF8, valid, "not UTF-8");
	if (str_starts(s->text, "\xEF\xBB\xBF"))
		s->at = 3;
	skip_space(s);
	if (s->at == s->text.n)
		return fail_at(s, JSON_EMPTY, s->at, "no value");
	if (!scan_value(s, out))
		return false;
	if (n)
		*n = s->at;
	if (n || s->at == s->text.n)
		return true;
	json_object_put(*out);
	return fail(s, "more after the value");
}

enum json_fault json_scan(struct str text, int max_values, bool any_number,
			  struct json_object **out, size_t *n, struct err *err)
{
	struct scan s = {.text = text,
			 .max_values = max_values,
			 .any_number = any_number,
			 .strings = arena_new(),
			 .err = err,
			 .fault = JSON_FINE};

	(void)scan_text(&s, out, n);
	arena_free(s.strings);
	free(s.key);
	return s.fault;
}
