#include "schema_tree.h"

#include <math.h>

struct reader {
	struct arena *a;
	struct err *err;
	const struct schema *root;
	const struct json *defs; /* members of the root's $defs.. */
	struct schema *def;	 /* ..compiled, in the same order */
};

/* Reads one keyword's value into the field of a struct schema that @field points to. */
typedef bool keyword_read(struct reader *, const struct place *, const struct json *value,
			  void *field);

static bool compile(struct reader *, const struct place *, const struct json *, struct schema *);

static bool refuse(struct reader *r, const struct place *at, const char *fits)
{
	(void)err_set(r->err, ST_INVALID, "must be %s", fits);
	place_show(at, r->err);
	return false;
}

static bool read_note(struct reader *r, const struct place *at, const struct json *value,
		      void *field)
{
	return true;
}

/* Deeper in, these would change what a $ref means. */
static bool read_root_note(struct reader *r, const struct place *at, const struct json *value,
			   void *field)
{
	return at->up->up ? refuse(r, at, "in the outermost schema only") : true;
}

static bool read_dialect(struct reader *r, const struct place *at, const struct json *value,
			 void *field)
{
	if (json_kind(value) != JSON_STRING ||
	    !str_is(json_str(value), "https://json-schema.org/draft/2020-12/schema"))
		return refuse(r, at, "\"https://json-schema.org/draft/2020-12/schema\"");
	return read_root_note(r, at, value, field);
}

static bool read_defs(struct reader *r, const struct place *at, const struct json *value,
		      void *field)
{
	struct place in = {.up = at};
	const struct json *schema;

	if (at->up->up)
		return read_root_note(r, at, value, field);
	if (json_kind(value) != JSON_OBJECT)
		return refuse(r, at, "an object of schemas");
	for (size_t i = 0; json_member(value, i, &in.key, &schema); i++) {
		if (!compile(r, &in, schema, &r->def[i]))
			return false;
	}
	return true;
}

static bool read_ref(struct reader *r, const struct place *at, const struct json *value,
		     void *field)
{
	static const char defs[] = "#/$defs/";
	const struct schema **ref = field;
	struct str target = json_kind(value) == JSON_STRING ? json_str(value) : STR_OF("");
	const struct json *unused;
	struct str name;

	if (str_is(target, "#")) {
		*ref = r->root;
		return true;
	}
	if (str_starts(target, defs) && r->defs)
		for (size_t i = 0; json_member(r->defs, i, &name, &unused); i++)
			if (str_eq(name, str_sub(target, sizeof(defs) - 1, target.n))) {
				*ref = &r->def[i];
				return true;
			}
	return refuse(r, at, "\"#\" or \"#/$defs/NAME\", a name that is there");
}

static unsigned types_named(const struct json *name)
{
	if (json_kind(name) != JSON_STRING)
		return 0;
	for (enum json_kind kind = JSON_NULL; kind <= JSON_OBJECT; kind++)
		if (str_is(json_str(name), json_kind_name(kind)))
			return 1U << kind | (kind == JSON_DOUBLE ? 1U << JSON_INT : 0);
	return 0;
}

static bool read_types(struct reader *r, const struct place *at, const struct json *value,
		       void *field)
{
	bool several = json_kind(value) == JSON_ARRAY && json_size(value) > 0;
	unsigned *types = field;

	*types = 0;
	for (size_t i = 0; i < (several ? json_size(value) : 1); i++) {
		unsigned some = types_named(several ? json_item(value, i) : value);
		if (!some)
			return refuse(r, at, "the name of a JSON type, or an array of such names");
		*types |= some;
	}
	return true;
}

static bool read_schema(struct reader *r, const struct place *at, const struct json *value,
			void *field)
{
	const struct schema **out = field;
	struct schema *schema = arena_alloc(r->a, sizeof(*schema));

	*out = schema;
	return compile(r, at, value, schema);
}

static bool read_properties(struct reader *r, const struct place *at, const struct json *value,
			    void *field)
{
	struct properties *properties = field;
	struct place in = {.up = at};
	const struct json *schema;

	if (json_kind(value) != JSON_OBJECT)
		return refuse(r, at, "an object of schemas");
	struct property *property = arena_array(r->a, struct property, json_size(value));
	for (size_t i = 0; json_member(value, i, &in.key, &schema); i++) {
		property[i].name = arena_str(r->a, in.key);
		if (!read_schema(r, &in, schema, &property[i].schema))
			return false;
	}
	*properties = (struct properties){property, json_size(value)};
	return true;
}

static bool read_required(struct reader *r, const struct place *at, const struct json *value,
			  void *field)
{
	struct names *names = field;

	if (json_kind(value) != JSON_ARRAY)
		return refuse(r, at, "an array of strings");
	struct str *name = arena_array(r->a, struct str, json_size(value));
	for (size_t i = 0; i < json_size(value); i++) {
		if (json_kind(json_item(value, i)) != JSON_STRING)
			return refuse(r, at, "an array of strings");
		name[i] = arena_str(r->a, json_str(json_item(value, i)));
	}
	*names = (struct names){name, json_size(value)};
	return true;
}

static bool read_rest(struct reader *r, const struct place *at, const struct json *value,
		      void *field)
{
	struct rest *rest = field;

	if (json_kind(value) == JSON_BOOL && !json_bool(value)) {
		rest->refused = true;
		return true;
	}
	if (json_kind(value) != JSON_OBJECT)
		return refuse(r, at, "false or a schema");
	return read_schema(r, at, value, &rest->schema);
}

static bool read_count(struct reader *r, const struct place *at, const struct json *value,
		       void *field)
{
	int64_t *count = field;

	if (json_kind(value) != JSON_INT || json_int(value) < 0)
		return refuse(r, at, "an integer of 0 or more");
	*count = json_int(value);
	return true;
}

static bool read_bound(struct reader *r, const struct place *at, const struct json *value,
		       void *field)
{
	long double *bound = field;

	if (json_kind(value) != JSON_INT && json_kind(value) != JSON_DOUBLE)
		return refuse(r, at, "a number");
	*bound = literal_of(value).number;
	return true;
}

static bool read_literals(struct reader *r, const struct place *at, const struct json *const *value,
			  size_t n, struct literals *out)
{
	struct literal *literal = arena_array(r->a, struct literal, n);

	for (size_t i = 0; i < n; i++) {
		if (json_kind(value[i]) == JSON_ARRAY || json_kind(value[i]) == JSON_OBJECT)
			return refuse(r, at, "made of strings, numbers, booleans and null only");
		literal[i] = literal_of(value[i]);
		literal[i].text = arena_str(r->a, literal[i].text);
	}
	*out = (struct literals){literal, n};
	return true;
}

static bool read_const(struct reader *r, const struct place *at, const struct json *value,
		       void *field)
{
	return read_literals(r, at, &value, 1, field);
}

static bool read_enum(struct reader *r, const struct place *at, const struct json *value,
		      void *field)
{
	size_t n = json_kind(value) == JSON_ARRAY ? json_size(value) : 0;
	const struct json **item = arena_array(r->a, const struct json *, n);

	if (n == 0)
		return refuse(r, at, "an array of at least one value");
	for (size_t i = 0; i < n; i++)
		item[i] = json_item(value, i);
	return read_literals(r, at, item, n, field);
}

static const struct keyword {
	const char *name;
	keyword_read *read;
	size_t field;
} keywords[] = {
	{"$schema", read_dialect, 0},
	{"$id", read_root_note, 0},
	{"$defs", read_defs, 0},
	{"$comment", read_note, 0},
	{"title", read_note, 0},
	{"description", read_note, 0},
	{"default", read_note, 0},
	{"examples", read_note, 0},
	{"format", read_note, 0},
	{"$ref", read_ref, offsetof(struct schema, ref)},
	{"type", read_types, offsetof(struct schema, types)},
	{"properties", read_properties, offsetof(struct schema, properties)},
	{"required", read_required, offsetof(struct schema, required)},
	{"additionalProperties", read_rest, offsetof(struct schema, rest)},
	{"maxProperties", read_count, offsetof(struct schema, max_properties)},
	{"items", read_schema, offsetof(struct schema, items)},
	{"minItems", read_count, offsetof(struct schema, min_items)},
	{"maxItems", read_count, offsetof(struct schema, max_items)},
	{"minLength", read_count, offsetof(struct schema, min_length)},
	{"maxLength", read_count, offsetof(struct schema, max_length)},
	{"minimum", read_bound, offsetof(struct schema, minimum)},
	{"maximum", read_bound, offsetof(struct schema, maximum)},
	{"enum", read_enum, offsetof(struct schema, choice)},
	{"const", read_const, offsetof(struct schema, constant)},
};

static const struct keyword *keyword_named(struct str name)
{
	for (size_t i = 0; i < sizeof(keywords) / sizeof(*keywords); i++)
		if (str_is(name, keywords[i].name))
			return &keywords[i];
	return NULL;
}

static bool compile(struct reader *r, const struct place *at, const struct json *value,
		    struct schema *out)
{
	struct place in = {.up = at};
	const struct json *argument;

	*out = (struct schema){
		.types = ~0U,
		.max_items = INT64_MAX,
		.max_properties = INT64_MAX,
		.max_length = INT64_MAX,
		.minimum = -INFINITY,
		.maximum = INFINITY,
	};
	if (json_kind(value) != JSON_OBJECT)
		return refuse(r, at, "a schema: an object of keywords");
	for (size_t i = 0; json_member(value, i, &in.key, &argument); i++) {
		const struct keyword *keyword = keyword_named(in.key);
		if (!keyword)
			return refuse(r, &in,
				      "a keyword that is supported: core/schema.h lists them");
		if (!keyword->read(r, &in, argument, (char *)out + keyword->field))
			return false;
	}
	return true;
}

/* Only a chain of $ref can send a check round in a circle: all other steps go deeper into the value. */
static bool ref_ends(const struct schema *schema, size_t n_def)
{
	for (size_t i = 0; schema && i <= n_def + 1; i++)
		schema = schema->ref;
	return !schema;
}

static bool compile_all(struct reader *r, const struct json *doc, struct schema *root)
{
	const struct place at = {0};

	r->root = root;
	if (json_kind(json_get(doc, "$defs")) == JSON_OBJECT)
		r->defs = json_get(doc, "$defs");
	r->def = arena_array(r->a, struct schema, json_size(r->defs));
	if (!compile(r, &at, doc, root))
		return false;
	bool ends = ref_ends(root, json_size(r->defs));
	for (size_t i = 0; i < json_size(r->defs); i++)
		ends = ends && ref_ends(&r->def[i], json_size(r->defs));
	return ends ? true : refuse(r, &at, "free of a $ref that leads back to itself");
}

enum status schema_read(struct arena *a, struct str json, const struct schema **out,
			struct err *err)
{
	struct reader r = {.a = a, .err = err};
	struct schema *root = arena_alloc(a, sizeof(*root));
	struct json *doc;

	if (json_read(json, &doc, err) != JSON_FINE)
		return ST_INVALID;
	const bool fine = compile_all(&r, doc, root);
	json_free(doc);
	if (!fine)
		return ST_INVALID;
	*out = root;
	return ST_OK;
}
