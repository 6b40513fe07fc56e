#include "check_family.h"
#include "core/schema.h"

enum { BYTE_WORK = 8, DETAIL_BYTES_MAX = 4 << 10 };

static enum status read_nothing(struct arena *a, const struct json *spec, const void **args,
				struct err *err)
{
	return ST_OK;
}

/* NULL: it is none, or too much work; *out says so. */
static struct json *value_of(struct arena *a, struct checked *checked, struct check_result *out)
{
	struct json *value = NULL;
	struct err err = {""};

	if (!check_afford(checked, BYTE_WORK * (int64_t)checked->text.n, out))
		return NULL;
	out->ok = json_read_exact(str_trim(checked->text), &value, &err) == JSON_FINE;
	if (!out->ok)
		out->detail = arena_printf(a, "not one JSON value: %s", err.text);
	return value;
}

static void run_json(struct arena *a, const void *args, const struct job *job,
		     struct checked *checked, struct check_result *out)
{
	json_free(value_of(a, checked, out));
}

static void phrase_json(const void *args, const struct job *job, bool japanese, struct buf *out)
{
	buf_puts(out, japanese
			      ? "全文が一つの正しいJSON値であること(コードフェンスや前置きは不可)。"
			      : "The whole text must be one valid JSON value, without a code fence "
				"or other words around it.");
}

struct shape {
	struct str text; /* of the schema, for prompts */
	const struct schema *schema;
};

static enum status read_shape(struct arena *a, const struct json *spec, const void **args,
			      struct err *err)
{
	struct shape *shape = arena_alloc(a, sizeof(*shape));
	struct str text;

	if (!json_get_str(spec, "schema", &text) || text.n > SCHEMA_BYTES_MAX)
		return err_set(err, ST_INVALID,
			       "key \"schema\": must be a JSON Schema as a text of JSON (in YAML: "
			       "schema: |), of at most 64 KiB");
	shape->text = arena_str(a, str_trim(text));
	*args = shape;
	if (schema_read(a, shape->text, &shape->schema, err) == ST_OK)
		return ST_OK;
	err_at(err, "key \"schema\": ");
	return ST_INVALID;
}

static void run_shape(struct arena *a, const void *args, const struct job *job,
		      struct checked *checked, struct check_result *out)
{
	const struct shape *shape = args;
	struct json *value = value_of(a, checked, out);
	struct buf told = BUF(DETAIL_BYTES_MAX);

	if (out->ok)
		out->ok = schema_check_all(shape->schema, value, &checked->work, CHECK_WORK_MAX,
					   &told) == SCHEMA_FITS;
	if (told.n > 0)
		out->detail = arena_str(a, buf_view(&told));
	buf_release(&told);
	json_free(value);
}

static void phrase_shape(const void *args, const struct job *job, bool japanese, struct buf *out)
{
	const struct shape *shape = args;

	phrase_json(NULL, job, japanese, out);
	buf_puts(out,
		 japanese ? "次のJSON Schemaに適合すること: " : " It must fit this JSON Schema: ");
	buf_str(out, shape->text);
}

static const char *const no_keys[] = {NULL}, *const shape_keys[] = {"schema", NULL};

const struct check_type check_json_types[] = {
	{"json", read_nothing, run_json, phrase_json, no_keys},
	{"json_schema", read_shape, run_shape, phrase_shape, shape_keys},
	{0},
};
