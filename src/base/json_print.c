#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>

/* json_canonical() and json_print() differ in two things. */
struct style {
	bool sort_keys;
	bool allow_doubles;
};

struct member {
	struct str key; /* NUL-terminated, as json-c keeps it */
	const struct json *value;
};

static int by_key(const void *a, const void *b)
{
	return str_cmp(((const struct member *)a)->key, ((const struct member *)b)->key);
}

static bool put_value(struct json_out *o, const char *key, const struct json *j,
		      const struct style *style);

static bool put_object(struct json_out *o, const char *key, const struct json *j,
		       const struct style *style)
{
	size_t n = json_size(j);
	struct member *member = calloc(n + 1, sizeof(*member));
	bool fine = true;

	if (!member)
		BUG("out of memory");
	for (size_t i = 0; i < n; i++)
		json_member(j, i, &member[i].key, &member[i].value);
	if (style->sort_keys)
		qsort(member, n, sizeof(*member), by_key);
	json_open(o, key, '{');
	for (size_t i = 0; i < n && fine; i++)
		fine = put_value(o, member[i].key.p, member[i].value, style);
	json_close(o, '}');
	free(member);
	return fine;
}

static bool put_array(struct json_out *o, const char *key, const struct json *j,
		      const struct style *style)
{
	bool fine = true;

	json_open(o, key, '[');
	for (size_t i = 0; i < json_size(j) && fine; i++)
		fine = put_value(o, NULL, json_item(j, i), style);
	json_close(o, ']');
	return fine;
}

static bool put_double(struct json_out *o, const char *key, double value, const struct style *style)
{
	char text[32];

	if (!style->allow_doubles)
		return false;
	snprintf(text, sizeof(text), "%.17g", value);
	if (!strpbrk(text, ".e")) /* as "-0", which would be read as an integer */
		strcat(text, ".0");
	json_put_raw(o, key, str_c(text));
	return true;
}

static bool put_value(struct json_out *o, const char *key, const struct json *j,
		      const struct style *style)
{
	switch (json_kind(j)) {
	case JSON_NULL:
		json_put_null(o, key);
		return true;
	case JSON_BOOL:
		json_put_bool(o, key, json_bool(j));
		return true;
	case JSON_INT:
		json_put_int(o, key, json_int(j));
		return true;
	case JSON_DOUBLE:
		return put_double(o, key, json_double(j), style);
	case JSON_STRING:
		json_put_str(o, key, json_str(j));
		return true;
	case JSON_ARRAY:
		return put_array(o, key, j, style);
	case JSON_OBJECT:
		return put_object(o, key, j, style);
	}
	BUG("unknown kind of JSON");
}

enum status json_canonical(const struct json *j, struct buf *out)
{
	static const struct style canonical = {.sort_keys = true, .allow_doubles = false};
	struct json_out o = {.buf = out};

	return put_value(&o, NULL, j, &canonical) ? ST_OK : ST_INVALID;
}

void json_print(const struct json *j, struct buf *out)
{
	static const struct style plain = {.sort_keys = false, .allow_doubles = true};
	struct json_out o = {.buf = out};

	(void)put_value(&o, NULL, j, &plain);
}
