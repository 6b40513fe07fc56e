#include "schema_tree.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

_Static_assert(LDBL_MANT_DIG >= 63, "long double must hold every int64_t");

/* How much of a pointer, and of each key in it, a message shows. */
enum { POINTER_BYTES = 200, KEY_BYTES = 64 };

struct checker {
	const char *given; /* a member of the outermost object that may be missing; NULL: none */
	struct err *err;
};

static void put_place(const struct place *at, struct buf *out)
{
	if (!at->up) {
		buf_putc(out, '#');
		return;
	}
	put_place(at->up, out);
	if (!at->key.p) {
		buf_printf(out, "/%zu", at->i);
		return;
	}
	struct str key = str_cut(at->key, KEY_BYTES);
	buf_putc(out, '/');
	for (size_t i = 0; i < key.n; i++)
		if (key.p[i] == '~' || key.p[i] == '/')
			buf_puts(out, key.p[i] == '~' ? "~0" : "~1");
		else
			buf_putc(out, key.p[i]);
	if (key.n < at->key.n)
		buf_puts(out, "..");
}

void place_show(const struct place *at, struct err *err)
{
	struct buf pointer = BUF(16 << 10);

	put_place(at, &pointer);
	struct str shown = str_cut(buf_view(&pointer), POINTER_BYTES);
	err_at(err, "%.*s%s: ", STR_ARG(shown), shown.n < pointer.n ? ".." : "");
	buf_release(&pointer);
}

struct literal literal_of(const struct json *value)
{
	struct literal out = {.kind = json_kind(value)};

	switch (out.kind) {
	case JSON_BOOL:
		out.number = json_bool(value);
		break;
	case JSON_INT:
		out.number = json_int(value);
		break;
	case JSON_DOUBLE:
		out.kind = JSON_INT;
		out.number = json_double(value);
		break;
	case JSON_STRING:
		out.text = json_str(value);
		break;
	default:
		break;
	}
	return out;
}

static bool is_among(const struct literals *literals, const struct json *value)
{
	struct literal l = literal_of(value);

	for (size_t i = 0; i < literals->n; i++) {
		const struct literal *m = &literals->literal[i];
		if (l.kind == m->kind && l.number == m->number && str_eq(l.text, m->text))
			return true;
	}
	return literals->n == 0;
}

static enum schema_fault literal_fault(const struct literals *literals, struct err *err)
{
	struct buf list = BUF(300);

	for (size_t i = 0; i < literals->n; i++) {
		const struct literal *l = &literals->literal[i];
		buf_puts(&list, i ? ", " : "");
		if (l->kind == JSON_STRING)
			buf_printf(&list, "\"%.*s\"", STR_ARG(l->text));
		else if (l->kind == JSON_INT)
			buf_printf(&list, "%.17Lg", l->number);
		else
			buf_puts(&list, l->kind == JSON_NULL ? "null"
					: l->number != 0     ? "true"
							     : "false");
	}
	(void)err_set(err, ST_INVALID, "must be %s%.*s", literals->n > 1 ? "one of " : "",
		      STR_ARG(buf_view(&list)));
	buf_release(&list);
	return SCHEMA_RANGE;
}

static bool has_type(unsigned types, const struct json *value)
{
	enum json_kind kind = json_kind(value);

	if (types & 1U << kind)
		return true;
	return kind == JSON_DOUBLE && types & 1U << JSON_INT &&
	       trunc(json_double(value)) == json_double(value);
}

static enum schema_fault type_fault(unsigned types, const struct json *value, struct err *err)
{
	struct buf list = BUF(100);

	for (enum json_kind kind = JSON_NULL; kind <= JSON_OBJECT; kind++) {
		bool in_number = kind == JSON_INT && types & 1U << JSON_DOUBLE;
		if (types & 1U << kind && !in_number)
			buf_printf(&list, "%s%s", list.n ? " or " : "", json_kind_name(kind));
	}
	(void)err_set(err, ST_INVALID, "is %s, must be %.*s", json_kind_name(json_kind(value)),
		      STR_ARG(buf_view(&list)));
	buf_release(&list);
	return SCHEMA_TYPE;
}

static enum schema_fault count_fault(size_t count, int64_t min, int64_t max, const char *what,
				     struct err *err)
{
	int64_t n = (int64_t)count;

	if (n < min)
		return ERR_SET(err, SCHEMA_RANGE, "has %" PRId64 " %s, must have at least %" PRId64,
			       n, what, min);
	if (n > max)
		return ERR_SET(err, SCHEMA_RANGE, "has %" PRId64 " %s, must have at most %" PRId64,
			       n, what, max);
	return SCHEMA_FITS;
}

static enum schema_fault number_fault(const struct schema *schema, const struct json *value,
				      struct err *err)
{
	long double number = literal_of(value).number;

	if (number < schema->minimum)
		return ERR_SET(err, SCHEMA_RANGE, "must be at least %.17Lg", schema->minimum);
	if (number > schema->maximum)
		return ERR_SET(err, SCHEMA_RANGE, "must be at most %.17Lg", schema->maximum);
	return SCHEMA_FITS;
}

static size_t code_points(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
	return n;
}

/* The value itself, without what is in it. */
static enum schema_fault check_alone(const struct schema *schema, const struct json *value,
				     struct err *err)
{
	if (!has_type(schema->types, value))
		return type_fault(schema->types, value, err);
	if (!is_among(&schema->choice, value))
		return literal_fault(&schema->choice, err);
	if (!is_among(&schema->constant, value))
		return literal_fault(&schema->constant, err);
	switch (json_kind(value)) {
	case JSON_STRING:
		return count_fault(code_points(json_str(value)), schema->min_length,
				   schema->max_length, "characters", err);
	case JSON_INT:
	case JSON_DOUBLE:
		return number_fault(schema, value, err);
	case JSON_ARRAY:
		return count_fault(json_size(value), schema->min_items, schema->max_items, "items",
				   err);
	case JSON_OBJECT:
		return count_fault(json_size(value), 0, schema->max_properties, "members", err);
	default:
		return SCHEMA_FITS;
	}
}

static enum schema_fault check(const struct checker *, const struct place *, const struct schema *,
			       const struct json *);

static enum schema_fault check_items(const struct checker *c, const struct place *at,
				     const struct schema *schema, const struct json *array)
{
	struct place in = {.up = at};
	enum schema_fault fault = SCHEMA_FITS;

	if (schema->items)
		for (; in.i < json_size(array) && fault == SCHEMA_FITS; in.i++)
			fault = check(c, &in, schema->items, json_item(array, in.i));
	return fault;
}

static enum schema_fault unknown_fault(const struct checker *c, const struct place *at,
				       const struct properties *known)
{
	struct buf list = BUF(300);

	for (size_t i = 0; i < known->n; i++)
		buf_printf(&list, "%s%.*s", i ? ", " : "", STR_ARG(known->property[i].name));
	(void)err_set(c->err, ST_INVALID, "is not known, must be one of %.*s",
		      STR_ARG(buf_view(&list)));
	buf_release(&list);
	place_show(at, c->err);
	return SCHEMA_UNKNOWN;
}

static enum schema_fault check_member(const struct checker *c, const struct place *at,
				      const struct schema *schema, const struct json *value)
{
	for (size_t i = 0; i < schema->properties.n; i++)
		if (str_eq(schema->properties.property[i].name, at->key))
			return check(c, at, schema->properties.property[i].schema, value);
	if (schema->rest.refused)
		return unknown_fault(c, at, &schema->properties);
	return schema->rest.schema ? check(c, at, schema->rest.schema, value) : SCHEMA_FITS;
}

static enum schema_fault check_members(const struct checker *c, const struct place *at,
				       const struct schema *schema, const struct json *object)
{
	struct place in = {.up = at};
	const struct json *value;

	for (size_t i = 0; json_member(object, i, &in.key, &value); i++) {
		enum schema_fault fault = check_member(c, &in, schema, value);
		if (fault != SCHEMA_FITS)
			return fault;
	}
	for (size_t i = 0; i < schema->required.n; i++) {
		in.key = schema->required.name[i];
		bool given = !at->up && c->given && str_is(in.key, c->given);
		if (!given && !json_get(object, in.key.p)) {
			(void)err_set(c->err, ST_INVALID, "is missing");
			place_show(&in, c->err);
			return SCHEMA_MISSING;
		}
	}
	return SCHEMA_FITS;
}

static enum schema_fault check(const struct checker *c, const struct place *at,
			       const struct schema *schema, const struct json *value)
{
	enum schema_fault fault = schema->ref ? check(c, at, schema->ref, value) : SCHEMA_FITS;

	if (fault != SCHEMA_FITS)
		return fault;
	fault = check_alone(schema, value, c->err);
	if (fault != SCHEMA_FITS)
		place_show(at, c->err);
	else if (json_kind(value) == JSON_ARRAY)
		fault = check_items(c, at, schema, value);
	else if (json_kind(value) == JSON_OBJECT)
		fault = check_members(c, at, schema, value);
	return fault;
}

enum schema_fault schema_check(const struct schema *schema, const struct json *value,
			       const char *given, struct err *err)
{
	const struct checker c = {given, err};
	const struct place at = {0};

	return check(&c, &at, schema, value);
}
