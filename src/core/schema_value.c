#include "schema_tree.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

/* How much of a pointer, of each key in it, and of a bound or a pattern a message shows. */
enum { POINTER_BYTES = 200, KEY_BYTES = 64, QUOTED_BYTES = 100 };
enum { BYTE_WORK = 2, NUMBER_WORK = 10, NORMAL_WORK = 32 /* a byte of each */ };
enum { TELL_WORK = 2000, SEARCH_WORK = 1000, CHOICE_WORK = 400 };

static void put_place(const struct place *at, struct buf *out)
{
	if (!at->up)
		return;
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

void place_show(const struct place *at, const char *root, struct err *err)
{
	struct buf pointer = BUF(16 << 10);

	buf_puts(&pointer, root);
	put_place(at, &pointer);
	struct str shown = str_cut(buf_view(&pointer), POINTER_BYTES);
	if (shown.n > 0)
		err_at(err, "%.*s%s: ", STR_ARG(shown), shown.n < pointer.n ? ".." : "");
	buf_release(&pointer);
}

void schema_tell(struct checker *c, const struct place *at, enum schema_fault fault,
		 const char *format, ...)
{
	struct err err;
	va_list args;

	if (!schema_afford(c, c->told ? TELL_WORK : 0))
		return;
	if (c->fault == SCHEMA_FITS)
		c->fault = fault;
	c->n_left--;
	if (!c->told)
		return;
	va_start(args, format);
	err_setv(&err, format, args);
	va_end(args);
	place_show(at, c->root, &err);
	buf_puts(c->told, c->told->n ? "; " : "");
	buf_puts(c->told, err.text);
}

bool schema_afford(struct checker *c, int64_t work)
{
	if (schema_done(c))
		return false;
	if (work <= c->run->work_max - c->run->work) {
		c->run->work += work;
		return true;
	}
	return ERR_SET(&c->run->undecided, false, "too much work for schema and text together");
}

bool schema_matches(struct checker *c, const struct rule *rule, struct str text)
{
	struct regex_match match;
	struct err why;

	if (!schema_afford(c, SEARCH_WORK + BYTE_WORK * (int64_t)text.n))
		return false;
	enum regex_result result =
		regex_find(&rule->regex, text, 0, &c->run->work, c->run->work_max, &match, &why);
	if (result == REGEX_UNDECIDED)
		(void)err_set(&c->run->undecided, ST_INVALID, "the pattern /%.*s/: %s",
			      STR_ARG(str_cut(rule->text, QUOTED_BYTES)), why.text);
	return result == REGEX_FOUND;
}

bool schema_normal(struct checker *c, const struct json *value, struct buf *out)
{
	size_t before = out->n;

	json_normal(value, out);
	return schema_afford(c, NORMAL_WORK * (int64_t)(out->n - before));
}

static int by_text(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

void schema_sort(struct str *normal, size_t n)
{
	qsort(normal, n, sizeof(*normal), by_text);
}

static bool is_among(struct checker *c, const struct choice *choice, const struct json *value)
{
	struct buf normal = BUF(NORMAL_BYTES_MAX);
	bool paid = schema_normal(c, value, &normal) && schema_afford(c, CHOICE_WORK);
	const struct str key = buf_view(&normal);
	bool found = paid && bsearch(&key, choice->normal, choice->n, sizeof(key), by_text);

	buf_release(&normal);
	return found;
}

static bool check_choice(struct checker *c, const struct place *at, const struct choice *choice,
			 const struct json *value)
{
	if (choice->n == 0 || is_among(c, choice, value))
		return true;
	schema_tell(c, at, SCHEMA_RANGE, "must be %s%.*s", choice->n > 1 ? "one of " : "",
		    STR_ARG(choice->shown));
	return false;
}

/* False: not afforded. The digits may lie in @room. */
static bool number_of(struct checker *c, const struct json *value, char room[static JSON_INT_ROOM],
		      struct decimal *out)
{
	struct str text = json_number(value, room);

	if (!schema_afford(c, NUMBER_WORK * (int64_t)text.n))
		return false;
	if (!decimal_read(text, out))
		BUG("a number was read that is out of range");
	return true;
}

static bool has_type(struct checker *c, unsigned types, const struct json *value)
{
	enum json_kind kind = json_kind(value);
	char room[JSON_INT_ROOM];
	struct decimal number;

	if (types & 1U << kind)
		return true;
	return kind == JSON_DOUBLE && types & 1U << JSON_INT &&
	       number_of(c, value, room, &number) && decimal_is_integer(&number);
}

static bool check_type(struct checker *c, const struct place *at, unsigned types,
		       const struct json *value)
{
	struct buf list = BUF(100);

	if (has_type(c, types, value))
		return true;
	for (enum json_kind kind = JSON_NULL; kind <= JSON_OBJECT; kind++) {
		bool in_number = kind == JSON_INT && types & 1U << JSON_DOUBLE;
		if (types & 1U << kind && !in_number)
			buf_printf(&list, "%s%s", list.n ? " or " : "", json_kind_name(kind));
	}
	schema_tell(c, at, SCHEMA_TYPE, "is %s, must be %.*s", json_kind_name(json_kind(value)),
		    STR_ARG(buf_view(&list)));
	buf_release(&list);
	return false;
}

static void check_count(struct checker *c, const struct place *at, size_t count, int64_t min,
			int64_t max, const char *what)
{
	int64_t n = (int64_t)count;

	if (n < min || n > max)
		schema_tell(c, at, SCHEMA_RANGE, "has %" PRId64 " %s, must have at %s %" PRId64, n,
			    what, n < min ? "least" : "most", n < min ? min : max);
}

/* Holds if @number compared with the bound gives -1, 0 or 1, and that is among @fine (1 << result + 1). */
static void check_bound(struct checker *c, const struct place *at, const struct bound *bound,
			const struct decimal *number, unsigned fine, const char *mend)
{
	if (bound->text.p && !(1U << (decimal_cmp(number, &bound->value) + 1) & fine))
		schema_tell(c, at, SCHEMA_RANGE, "must be %s %.*s", mend,
			    STR_ARG(str_cut(bound->text, QUOTED_BYTES)));
}

static void check_number(struct checker *c, const struct place *at, const struct schema *schema,
			 const struct json *value)
{
	enum { LESS = 1, EQUAL = 2, MORE = 4 };
	char room[JSON_INT_ROOM];
	struct decimal number;

	if (!number_of(c, value, room, &number))
		return;
	check_bound(c, at, &schema->minimum, &number, EQUAL | MORE, "at least");
	check_bound(c, at, &schema->maximum, &number, EQUAL | LESS, "at most");
	check_bound(c, at, &schema->over, &number, MORE, "more than");
	check_bound(c, at, &schema->under, &number, LESS, "less than");
	if (schema->unit.text.p && !decimal_is_multiple(&number, &schema->unit.value))
		schema_tell(c, at, SCHEMA_RANGE, "must be a multiple of %.*s",
			    STR_ARG(schema->unit.text));
}

static size_t code_points(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
	return n;
}

static void check_string(struct checker *c, const struct place *at, const struct schema *schema,
			 struct str text)
{
	if (!schema_afford(c, BYTE_WORK * (int64_t)text.n))
		return;
	check_count(c, at, code_points(text), schema->min_length, schema->max_length, "characters");
	if (schema->rule.text.p && !schema_matches(c, &schema->rule, text))
		schema_tell(c, at, SCHEMA_RANGE, "must match the pattern /%.*s/",
			    STR_ARG(str_cut(schema->rule.text, QUOTED_BYTES)));
}

bool schema_check_alone(struct checker *c, const struct place *at, const struct schema *schema,
			const struct json *value)
{
	if (!check_type(c, at, schema->types, value) ||
	    !check_choice(c, at, &schema->choice, value) ||
	    !check_choice(c, at, &schema->constant, value))
		return false;
	switch (json_kind(value)) {
	case JSON_STRING:
		check_string(c, at, schema, json_str(value));
		break;
	case JSON_INT:
	case JSON_DOUBLE:
		check_number(c, at, schema, value);
		break;
	case JSON_ARRAY:
		check_count(c, at, json_size(value), schema->min_items, schema->max_items, "items");
		break;
	case JSON_OBJECT:
		check_count(c, at, json_size(value), schema->min_properties, schema->max_properties,
			    "members");
		break;
	default:
		break;
	}
	return true;
}
