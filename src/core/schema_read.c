#include "schema_pattern.h"
#include "schema_tree.h"

enum { RULE_BYTES_MAX = 64 << 10, SHOWN_BYTES_MAX = 300 };
#define COUNT_MAX 9007199254740992.0 /* 2^53: a double counts so far */

struct reader {
	struct arena *a;
	struct err *err;
	struct schema_node *node; /* the latest */
	struct schema_ref *ref;	  /* the latest */
};

/* Reads one keyword's value into the field of a struct schema that @field points to. */
typedef bool keyword_read(struct reader *, const struct place *, const struct json *value,
			  void *field);

static bool compile(struct reader *, const struct place *, const struct json *, struct schema *);

static bool refuse(struct reader *r, const struct place *at, const char *fits)
{
	(void)err_set(r->err, ST_INVALID, "must be %s", fits);
	place_show(at, "#", r->err);
	return false;
}

static bool read_note(struct reader *r, const struct place *at, const struct json *value,
		      void *field)
{
	return true;
}

/* Deeper in, it would change what a $ref means. */
static bool read_id(struct reader *r, const struct place *at, const struct json *value, void *field)
{
	return at->up->up ? refuse(r, at, "in the outermost schema only") : true;
}

static bool read_dialect(struct reader *r, const struct place *at, const struct json *value,
			 void *field)
{
	if (json_kind(value) != JSON_STRING ||
	    !str_is(json_str(value), "https://json-schema.org/draft/2020-12/schema"))
		return refuse(r, at, "\"https://json-schema.org/draft/2020-12/schema\"");
	return read_id(r, at, value, field);
}

static bool read_ref(struct reader *r, const struct place *at, const struct json *value,
		     void *field)
{
	struct schema_ref *ref = arena_alloc(r->a, sizeof(*ref));
	struct err place = {""};

	if (json_kind(value) != JSON_STRING || !str_starts(json_str(value), "#"))
		return refuse(r, at, "a place in this schema: \"#\" or \"#/$defs/NAME\"");
	place_show(at, "#", &place);
	*ref = (struct schema_ref){json_str(value), field, arena_str(r->a, str_c(place.text)),
				   r->ref};
	r->ref = ref;
	return true;
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
	struct schema **out = field;
	struct schema_node *node = arena_alloc(r->a, sizeof(*node));

	*out = arena_alloc(r->a, sizeof(**out));
	*node = (struct schema_node){value, *out, r->node};
	r->node = node;
	return compile(r, at, value, *out);
}

static bool read_schemas(struct reader *r, const struct place *at, const struct json *value,
			 void *field)
{
	struct schemas *schemas = field;
	struct place in = {.up = at};

	if (json_kind(value) != JSON_ARRAY || json_size(value) == 0)
		return refuse(r, at, "an array of at least one schema");
	*schemas = (struct schemas){arena_array(r->a, struct schema *, json_size(value)),
				    json_size(value)};
	for (; in.i < schemas->n; in.i++) {
		if (!read_schema(r, &in, json_item(value, in.i), &schemas->schema[in.i]))
			return false;
	}
	return true;
}

static bool read_properties(struct reader *r, const struct place *at, const struct json *value,
			    void *field)
{
	struct properties *properties = field;
	struct place in = {.up = at};
	const struct json *schema;
	size_t n = json_size(value);

	if (json_kind(value) != JSON_OBJECT)
		return refuse(r, at, "an object of schemas");
	*properties = (struct properties){{arena_array(r->a, struct schema *, n), n},
					  arena_array(r->a, struct str, n)};
	for (size_t i = 0; json_member(value, i, &in.key, &schema); i++) {
		properties->name[i] = arena_str(r->a, in.key);
		if (!read_schema(r, &in, schema, &properties->schemas.schema[i]))
			return false;
	}
	return true;
}

static bool read_defs(struct reader *r, const struct place *at, const struct json *value,
		      void *field)
{
	struct properties unused;

	return read_properties(r, at, value, &unused);
}

static bool compile_rule(struct reader *r, const struct place *at, struct str text,
			 struct rule *out)
{
	struct buf written = BUF(RULE_BYTES_MAX);

	out->text = arena_str(r->a, text);
	bool fine = schema_pattern_write(text, &written, r->err) == ST_OK &&
		    regex_compile(r->a, buf_view(&written), &out->regex, r->err) == ST_OK;
	buf_release(&written);
	if (!fine)
		place_show(at, "#", r->err);
	return fine;
}

static bool read_rule(struct reader *r, const struct place *at, const struct json *value,
		      void *field)
{
	if (json_kind(value) != JSON_STRING || json_str(value).n > REGEX_PATTERN_BYTES_MAX)
		return refuse(r, at, "a string of at most 4096 bytes");
	return compile_rule(r, at, json_str(value), field);
}

static bool read_matching(struct reader *r, const struct place *at, const struct json *value,
			  void *field)
{
	struct matching *matching = field;
	struct place in = {.up = at};
	const struct json *schema;

	if (json_kind(value) != JSON_OBJECT)
		return refuse(r, at, "an object of schemas");
	struct matched *matched = arena_array(r->a, struct matched, json_size(value));
	for (size_t i = 0; json_member(value, i, &in.key, &schema); i++) {
		if (!compile_rule(r, &in, in.key, &matched[i].rule) ||
		    !read_schema(r, &in, schema, &matched[i].schema))
			return false;
	}
	*matching = (struct matching){matched, json_size(value)};
	return true;
}

static bool read_names(struct reader *r, const struct place *at, const struct json *value,
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

static bool read_dependents(struct reader *r, const struct place *at, const struct json *value,
			    void *field)
{
	struct dependents *dependents = field;
	struct place in = {.up = at};
	const struct json *names;

	if (json_kind(value) != JSON_OBJECT)
		return refuse(r, at, "an object of arrays of strings");
	struct dependent *dependent = arena_array(r->a, struct dependent, json_size(value));
	for (size_t i = 0; json_member(value, i, &in.key, &names); i++) {
		dependent[i].name = arena_str(r->a, in.key);
		if (!read_names(r, &in, names, &dependent[i].wants))
			return false;
	}
	*dependents = (struct dependents){dependent, json_size(value)};
	return true;
}

static bool read_flag(struct reader *r, const struct place *at, const struct json *value,
		      void *field)
{
	if (json_kind(value) != JSON_BOOL)
		return refuse(r, at, "true or false");
	*(bool *)field = json_bool(value);
	return true;
}

static bool is_number(const struct json *value)
{
	return json_kind(value) == JSON_INT || json_kind(value) == JSON_DOUBLE;
}

/* 2.0 is 2. */
static bool read_count(struct reader *r, const struct place *at, const struct json *value,
		       void *field)
{
	double count = is_number(value) ? json_double(value) : -1;

	if (!(count >= 0 && count <= COUNT_MAX) || (double)(int64_t)count != count)
		return refuse(r, at, "an integer of 0 or more, at most 2^53");
	*(int64_t *)field = (int64_t)count;
	return true;
}

static bool read_bound(struct reader *r, const struct place *at, const struct json *value,
		       void *field)
{
	struct bound *bound = field;
	char room[JSON_INT_ROOM];

	if (!is_number(value))
		return refuse(r, at, "a number");
	bound->text = arena_str(r->a, json_number(value, room));
	return decimal_read(bound->text, &bound->value) ||
	       refuse(r, at, "a number with an exponent of at most 9 digits");
}

static bool read_unit(struct reader *r, const struct place *at, const struct json *value,
		      void *field)
{
	const struct decimal *unit = &((struct bound *)field)->value;

	if (!read_bound(r, at, value, field))
		return false;
	return (unit->n_digit > 0 && unit->n_digit <= DECIMAL_UNIT_DIGITS && !unit->negative) ||
	       refuse(r, at, "a number over 0 of at most 18 digits");
}

static void add_choice(struct reader *r, const struct json *value, struct choice *out,
		       struct str *normal, struct buf *shown)
{
	struct buf text = BUF(NORMAL_BYTES_MAX);

	json_normal(value, &text);
	normal[out->n++] = arena_str(r->a, buf_view(&text));
	buf_puts(shown, out->n > 1 ? ", " : "");
	json_print(value, shown);
	buf_release(&text);
}

static bool read_enum(struct reader *r, const struct place *at, const struct json *value,
		      void *field)
{
	struct buf shown = BUF(SHOWN_BYTES_MAX);
	struct choice *choice = field;

	if (json_kind(value) != JSON_ARRAY || json_size(value) == 0)
		return refuse(r, at, "an array of at least one value");
	struct str *normal = arena_array(r->a, struct str, json_size(value));
	choice->normal = normal;
	for (size_t i = 0; i < json_size(value); i++)
		add_choice(r, json_item(value, i), choice, normal, &shown);
	schema_sort(normal, choice->n);
	choice->shown = arena_str(r->a, buf_view(&shown));
	buf_release(&shown);
	return true;
}

static bool read_const(struct reader *r, const struct place *at, const struct json *value,
		       void *field)
{
	struct buf shown = BUF(SHOWN_BYTES_MAX);
	struct choice *choice = field;
	struct str *normal = arena_array(r->a, struct str, 1);

	choice->normal = normal;
	add_choice(r, value, choice, normal, &shown);
	choice->shown = arena_str(r->a, buf_view(&shown));
	buf_release(&shown);
	return true;
}

static const struct keyword {
	const char *name;
	keyword_read *read;
	size_t field;
} keywords[] = {
	{"$schema", read_dialect, 0},
	{"$id", read_id, 0},
	{"$defs", read_defs, 0},
	{"$comment", read_note, 0},
	{"title", read_note, 0},
	{"description", read_note, 0},
	{"default", read_note, 0},
	{"examples", read_note, 0},
	{"deprecated", read_note, 0},
	{"readOnly", read_note, 0},
	{"writeOnly", read_note, 0},
#define FIELD(name, read, field)                                                                   \
	{                                                                                          \
		name, read, offsetof(struct schema, field)                                         \
	}
	FIELD("$ref", read_ref, ref),
	FIELD("type", read_types, types),
	FIELD("enum", read_enum, choice),
	FIELD("const", read_const, constant),
	FIELD("minimum", read_bound, minimum),
	FIELD("maximum", read_bound, maximum),
	FIELD("exclusiveMinimum", read_bound, over),
	FIELD("exclusiveMaximum", read_bound, under),
	FIELD("multipleOf", read_unit, unit),
	FIELD("minLength", read_count, min_length),
	FIELD("maxLength", read_count, max_length),
	FIELD("pattern", read_rule, rule),
	FIELD("prefixItems", read_schemas, prefix),
	FIELD("items", read_schema, items),
	FIELD("contains", read_schema, contains),
	FIELD("minItems", read_count, min_items),
	FIELD("maxItems", read_count, max_items),
	FIELD("minContains", read_count, min_contains),
	FIELD("maxContains", read_count, max_contains),
	FIELD("uniqueItems", read_flag, unique),
	FIELD("properties", read_properties, properties),
	FIELD("patternProperties", read_matching, matching),
	FIELD("additionalProperties", read_schema, rest),
	FIELD("propertyNames", read_schema, names),
	FIELD("required", read_names, required),
	FIELD("dependentRequired", read_dependents, dependents),
	FIELD("dependentSchemas", read_properties, dependent_schemas),
	FIELD("minProperties", read_count, min_properties),
	FIELD("maxProperties", read_count, max_properties),
	FIELD("not", read_schema, negated),
	FIELD("if", read_schema, condition),
	FIELD("then", read_schema, consequence),
	FIELD("else", read_schema, alternative),
	FIELD("allOf", read_schemas, all_of),
	FIELD("anyOf", read_schemas, any_of),
	FIELD("oneOf", read_schemas, one_of),
};

static const struct keyword *keyword_named(struct str name)
{
	for (size_t i = 0; i < sizeof(keywords) / sizeof(*keywords); i++)
		if (str_is(name, keywords[i].name))
			return &keywords[i];
	return NULL;
}

static bool read_keyword(struct reader *r, const struct place *at, const struct json *argument,
			 struct schema *out)
{
	const struct keyword *keyword = keyword_named(at->key);

	if (keyword)
		return keyword->read(r, at, argument, (char *)out + keyword->field);
	(void)err_set(r->err, ST_INVALID, "this keyword is not supported; leave it out");
	place_show(at, "#", r->err);
	return false;
}

static bool compile(struct reader *r, const struct place *at, const struct json *value,
		    struct schema *out)
{
	struct place in = {.up = at};
	const struct json *argument;

	*out = (struct schema){
		.refuses_all = json_kind(value) == JSON_BOOL && !json_bool(value),
		.types = ~0U,
		.max_length = INT64_MAX,
		.max_items = INT64_MAX,
		.min_contains = 1,
		.max_contains = INT64_MAX,
		.max_properties = INT64_MAX,
	};
	if (json_kind(value) == JSON_BOOL)
		return true;
	if (json_kind(value) != JSON_OBJECT)
		return refuse(r, at, "a schema: an object of keywords, true or false");
	for (size_t i = 0; json_member(value, i, &in.key, &argument); i++) {
		if (!read_keyword(r, &in, argument, out))
			return false;
	}
	return true;
}

enum status schema_compile(struct arena *a, const struct json *doc, const struct schema **out,
			   struct err *err)
{
	struct reader r = {.a = a, .err = err};
	const struct place at = {0};
	struct schema *root;

	if (!read_schema(&r, &at, doc, &root))
		return ST_INVALID;
	*out = root;
	return schema_link(a, doc, r.node, r.ref, err);
}

enum status schema_read(struct arena *a, struct str json, const struct schema **out,
			struct err *err)
{
	struct json *doc;

	if (json_read_exact(json, &doc, err) != JSON_FINE)
		return ST_INVALID;
	enum status status = schema_compile(a, doc, out, err);
	json_free(doc);
	return status;
}
