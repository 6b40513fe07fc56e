#include "schema_tree.h"

#include <inttypes.h>
#include <stdlib.h>

enum { TOLD_BYTES_MAX = 4 << 10, FAULTS_MAX = 5, BRANCH_BYTES_MAX = 200, BRANCHES_TOLD = 3 };
enum { VISIT_WORK = 300, LOOK_WORK = 2, FIND_WORK = 50 /* for each name of a schema */ };
enum { NAMES_BYTES_MAX = 300 };

static void check(struct checker *, const struct place *, const struct schema *,
		  const struct json *);

/* Whether @value fits; why not is told to @told, if not NULL. Undecided: false, and the run knows. */
static bool fits(struct checker *c, const struct place *at, const struct schema *schema,
		 const struct json *value, struct buf *told)
{
	struct checker in = *c;

	in.n_left = 1;
	in.fault = SCHEMA_FITS;
	in.told = told;
	check(&in, at, schema, value);
	return in.fault == SCHEMA_FITS && !schema_done(&in);
}

/* --- arrays --- */

struct normal_item {
	struct str normal;
	size_t i;
};

static int by_normal(const void *a, const void *b)
{
	const struct normal_item *x = a, *y = b;
	int order = str_cmp(x->normal, y->normal);

	return order ? order : (x->i > y->i) - (x->i < y->i);
}

static void check_unique(struct checker *c, const struct place *at, const struct json *array)
{
	struct arena *a = arena_new();
	size_t n = json_size(array), n_item = 0;
	struct normal_item *item = arena_array(a, struct normal_item, n);
	struct buf normal = BUF(NORMAL_BYTES_MAX);

	while (n_item < n && schema_normal(c, json_item(array, n_item), &normal)) {
		item[n_item] = (struct normal_item){arena_str(a, buf_view(&normal)), n_item};
		n_item++;
		buf_clear(&normal);
	}
	qsort(item, n_item, sizeof(*item), by_normal);
	for (size_t i = 1; i < n_item; i++)
		if (str_eq(item[i - 1].normal, item[i].normal)) {
			schema_tell(c, at, SCHEMA_RANGE,
				    "items %zu and %zu are equal, all must differ", item[i - 1].i,
				    item[i].i);
			break;
		}
	buf_release(&normal);
	arena_free(a);
}

static void check_contains(struct checker *c, const struct place *at, const struct schema *schema,
			   const struct json *array)
{
	struct place in = {.up = at};
	int64_t n = 0;

	for (; in.i < json_size(array) && !schema_done(c); in.i++)
		n += fits(c, &in, schema->contains, json_item(array, in.i), NULL);
	if (n < schema->min_contains || n > schema->max_contains)
		schema_tell(c, at, SCHEMA_RANGE,
			    "has %" PRId64 " items of the kind wanted by `contains`, must have at "
			    "%s %" PRId64,
			    n, n < schema->min_contains ? "least" : "most",
			    n < schema->min_contains ? schema->min_contains : schema->max_contains);
}

static void check_items(struct checker *c, const struct place *at, const struct schema *schema,
			const struct json *array)
{
	struct place in = {.up = at};

	for (; in.i < json_size(array) && !schema_done(c); in.i++) {
		const struct schema *item =
			in.i < schema->prefix.n ? schema->prefix.schema[in.i] : schema->items;
		if (!item)
			break;
		check(c, &in, item, json_item(array, in.i));
	}
	if (schema->contains)
		check_contains(c, at, schema, array);
	if (schema->unique)
		check_unique(c, at, array);
}

/* --- objects --- */

static void tell_unknown(struct checker *c, const struct place *at, const struct properties *known)
{
	struct buf list = BUF(NAMES_BYTES_MAX);

	for (size_t i = 0; i < known->schemas.n; i++)
		buf_printf(&list, "%s%.*s", i ? ", " : "", STR_ARG(known->name[i]));
	schema_tell(c, at, SCHEMA_UNKNOWN, "is not known%s%.*s",
		    known->schemas.n ? ", must be one of " : "", STR_ARG(buf_view(&list)));
	buf_release(&list);
}

static const struct schema *property_named(const struct properties *properties, struct str name)
{
	for (size_t i = 0; i < properties->schemas.n; i++)
		if (str_eq(properties->name[i], name))
			return properties->schemas.schema[i];
	return NULL;
}

/* A name is a value, too: as such it is a text in quotes. */
static void check_name(struct checker *c, const struct place *at, const struct schema *schema)
{
	struct buf quoted = BUF(NORMAL_BYTES_MAX), why = BUF(BRANCH_BYTES_MAX);
	struct json_out out = {.buf = &quoted};
	struct json *name;

	json_put_str(&out, NULL, at->key);
	if (json_read(buf_view(&quoted), &name, NULL) != JSON_FINE)
		BUG("a key is no string");
	if (!fits(c, at, schema, name, &why))
		schema_tell(c, at, SCHEMA_RANGE, "has a name that does not fit (%.*s)",
			    STR_ARG(buf_view(&why)));
	json_free(name);
	buf_release(&quoted);
	buf_release(&why);
}

static void check_member(struct checker *c, const struct place *at, const struct schema *schema,
			 const struct json *value)
{
	const struct schema *own = property_named(&schema->properties, at->key);
	bool known = own;

	if (own)
		check(c, at, own, value);
	for (size_t i = 0; i < schema->matching.n && !schema_done(c); i++)
		if (schema_matches(c, &schema->matching.matched[i].rule, at->key)) {
			known = true;
			check(c, at, schema->matching.matched[i].schema, value);
		}
	if (!known && schema->rest && schema->rest->refuses_all)
		tell_unknown(c, at, &schema->properties);
	else if (!known && schema->rest)
		check(c, at, schema->rest, value);
}

static void check_wanted(struct checker *c, const struct place *at, const struct names *wanted,
			 const struct json *object, struct str because)
{
	struct place in = {.up = at};

	if (!schema_afford(c, FIND_WORK * (int64_t)wanted->n))
		return;
	for (size_t i = 0; i < wanted->n; i++) {
		in.key = wanted->name[i];
		bool given = !at->up && c->given && str_is(in.key, c->given);
		if (given || json_get(object, in.key.p))
			continue;
		if (because.p)
			schema_tell(c, &in, SCHEMA_MISSING, "is missing, where \"%.*s\" is given",
				    STR_ARG(because));
		else
			schema_tell(c, &in, SCHEMA_MISSING, "is missing");
	}
}

static void check_members(struct checker *c, const struct place *at, const struct schema *schema,
			  const struct json *object)
{
	struct place in = {.up = at};
	const struct json *value;

	for (size_t i = 0; !schema_done(c) && json_member(object, i, &in.key, &value); i++) {
		if (!schema_afford(c, LOOK_WORK * (int64_t)schema->properties.schemas.n))
			return;
		if (schema->names)
			check_name(c, &in, schema->names);
		check_member(c, &in, schema, value);
	}
	check_wanted(c, at, &schema->required, object, (struct str){NULL, 0});
	if (!schema_afford(c, FIND_WORK * (int64_t)schema->dependents.n))
		return;
	for (size_t i = 0; i < schema->dependents.n; i++) {
		const struct dependent *d = &schema->dependents.dependent[i];
		if (json_get(object, d->name.p))
			check_wanted(c, at, &d->wants, object, d->name);
	}
}

/* --- the same value again --- */

/* anyOf and oneOf. */
static void check_branches(struct checker *c, const struct place *at,
			   const struct schemas *branches, bool only_one, const struct json *value)
{
	struct buf why = BUF(TOLD_BYTES_MAX);
	size_t n = 0;

	for (size_t i = 0; i < branches->n && n < (only_one ? 2 : 1) && !schema_done(c); i++) {
		struct buf told = BUF(BRANCH_BYTES_MAX);
		if (fits(c, at, branches->schema[i], value, &told))
			n++;
		else if (i < BRANCHES_TOLD)
			buf_printf(&why, "%s%.*s", i ? " | " : "", STR_ARG(buf_view(&told)));
		buf_release(&told);
	}
	if (n == 0)
		schema_tell(c, at, SCHEMA_RANGE, "fits none of the %zu schemas of `%s` (%.*s)",
			    branches->n, only_one ? "oneOf" : "anyOf", STR_ARG(buf_view(&why)));
	else if (n == 2)
		schema_tell(c, at, SCHEMA_RANGE, "fits more than one schema of `oneOf`");
	buf_release(&why);
}

static void check_again(struct checker *c, const struct place *at, const struct schema *schema,
			const struct json *value)
{
	for (size_t i = 0; i < schema->all_of.n; i++)
		check(c, at, schema->all_of.schema[i], value);
	if (schema->any_of.n)
		check_branches(c, at, &schema->any_of, false, value);
	if (schema->one_of.n)
		check_branches(c, at, &schema->one_of, true, value);
	if (schema->negated && fits(c, at, schema->negated, value, NULL))
		schema_tell(c, at, SCHEMA_RANGE, "fits the schema of `not`");
	if (schema->condition) {
		const struct schema *then = fits(c, at, schema->condition, value, NULL)
						    ? schema->consequence
						    : schema->alternative;
		if (then)
			check(c, at, then, value);
	}
	const struct properties *dependent = &schema->dependent_schemas;
	if (!schema_afford(c, FIND_WORK * (int64_t)dependent->schemas.n))
		return;
	for (size_t i = 0; i < dependent->schemas.n; i++)
		if (json_get(value, dependent->name[i].p))
			check(c, at, dependent->schemas.schema[i], value);
}

static void check(struct checker *c, const struct place *at, const struct schema *schema,
		  const struct json *value)
{
	if (!schema_afford(c, VISIT_WORK))
		return;
	if (schema->refuses_all) {
		schema_tell(c, at, SCHEMA_RANGE, "must not be there");
		return;
	}
	if (schema->ref)
		check(c, at, schema->ref, value);
	if (schema_done(c) || !schema_check_alone(c, at, schema, value))
		return;
	if (json_kind(value) == JSON_ARRAY)
		check_items(c, at, schema, value);
	else if (json_kind(value) == JSON_OBJECT)
		check_members(c, at, schema, value);
	check_again(c, at, schema, value);
}

static enum schema_fault run(struct checker *c, const struct schema *schema,
			     const struct json *value)
{
	const struct place at = {0};

	check(c, &at, schema, value);
	if (!c->run->undecided.text[0])
		return c->fault;
	buf_clear(c->told);
	buf_printf(c->told, "could not be decided: %s", c->run->undecided.text);
	return SCHEMA_UNDECIDED;
}

enum schema_fault schema_check(const struct schema *schema, const struct json *value,
			       const char *given, struct err *err)
{
	struct schema_run unlimited = {.work_max = INT64_MAX};
	struct buf told = BUF(TOLD_BYTES_MAX);
	struct checker c = {&unlimited, given, "#", 1, SCHEMA_FITS, &told};
	enum schema_fault fault = run(&c, schema, value);

	if (fault != SCHEMA_FITS)
		(void)err_set(err, ST_INVALID, "%.*s", STR_ARG(buf_view(&told)));
	buf_release(&told);
	return fault;
}

enum schema_fault schema_check_all(const struct schema *schema, const struct json *value,
				   int64_t *work, int64_t work_max, struct buf *told)
{
	struct schema_run limited = {.work = *work, .work_max = work_max};
	struct checker c = {&limited, NULL, "", FAULTS_MAX, SCHEMA_FITS, told};
	enum schema_fault fault = run(&c, schema, value);

	*work = limited.work;
	return fault;
}
