#include "base/decimal.h"
#include "base/json.h"

#include <stdlib.h>

/* json_canonical(), json_print() and json_normal() differ in two things. */
struct style {
	bool sort_keys;
	enum { INTEGERS_ONLY, AS_READ, NORMAL } numbers;
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

static bool put_number(struct json_out *o, const char *key, const struct json *j,
		       const struct style *style)
{
	char room[JSON_INT_ROOM];
	struct str text = json_number(j, room);
	struct decimal decimal;

	if (style->numbers == NORMAL && decimal_read(text, &decimal)) {
		json_put_raw(o, key, STR_OF(""));
		decimal_put(&decimal, o->buf);
		return true;
	}
	json_put_raw(o, key, text);
	return style->numbers != INTEGERS_ONLY || json_kind(j) == JSON_INT;
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
	case JSON_DOUBLE:
		return put_number(o, key, j, style);
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
	static const struct style canonical = {.sort_keys = true, .numbers = INTEGERS_ONLY};
	struct json_out o = {.buf = out};

	return put_value(&o, NULL, j, &canonical) ? ST_OK : ST_INVALID;
}

void json_print(const struct json *j, struct buf *out)
{
	static const struct style plain = {.sort_keys = false, .numbers = AS_READ};
	struct json_out o = {.buf = out};

	(void)put_value(&o, NULL, j, &plain);
}

void json_normal(const struct json *j, struct buf *out)
{
	static const struct style normal = {.sort_keys = true, .numbers = NORMAL};
	struct json_out o = {.buf = out};

	(void)put_value(&o, NULL, j, &normal);
}
