#include "check_family.h"
#include "check_parts.h"
#include "core/schema.h"

#include "base/text.h"

enum { BYTE_WORK = 8, DETAIL_BYTES_MAX = 4 << 10 };

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
		out->ok = schema_check_all(shape->schema, value, &checked->work,
					   check_work_max(checked), &told) == SCHEMA_FITS;
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

/* ---- IFEval's: what Python's reader takes, in a code fence or not ---- */

enum { DEPTH_MAX = 900, INTEGER_DIGITS_MAX = 4300 };

struct reader {
	struct str text;
	size_t at;
	int depth;
	char open[DEPTH_MAX]; /* brackets */
};

static bool take(struct reader *r, const char *what)
{
	if (!str_starts(str_sub(r->text, r->at, r->text.n), what))
		return false;
	r->at += strlen(what);
	return true;
}

/* As many of @set as come, @max of them at most. */
static size_t take_all(struct reader *r, const char *set, size_t max)
{
	size_t from = r->at;

	while (r->at < r->text.n && r->at - from < max && r->text.p[r->at] &&
	       strchr(set, r->text.p[r->at]))
		r->at++;
	return r->at - from;
}

static void skip_space(struct reader *r)
{
	take_all(r, " \t\n\r", SIZE_MAX);
}

static bool take_string(struct reader *r)
{
	if (!take(r, "\""))
		return false;
	while (r->at < r->text.n && (unsigned char)r->text.p[r->at] >= ' ') {
		if (take(r, "\""))
			return true;
		if (take(r, "\\u")) {
			if (take_all(r, "0123456789abcdefABCDEF", 4) < 4)
				return false;
		} else if (take(r, "\\")) {
			if (take_all(r, "\"\\/bfnrt", 1) == 0)
				return false;
		} else {
			r->at++;
		}
	}
	return false;
}

static bool take_number(struct reader *r)
{
	static const char digits[] = "0123456789";
	size_t n;

	(void)take(r, "-");
	n = take(r, "0") ? 1 : take_all(r, digits, SIZE_MAX);
	if (n == 0)
		return false;
	const size_t end = r->at;
	if (take(r, ".") && take_all(r, digits, SIZE_MAX) == 0)
		return false;
	if (take_all(r, "eE", 1)) {
		take_all(r, "+-", 1);
		if (take_all(r, digits, SIZE_MAX) == 0)
			return false;
	}
	return r->at > end || n <= INTEGER_DIGITS_MAX;
}

static bool take_scalar(struct reader *r)
{
	return take(r, "null") || take(r, "true") || take(r, "false") || take(r, "NaN") ||
	       take(r, "Infinity") || take(r, "-Infinity") || take_string(r) || take_number(r);
}

/* In an object, a key comes before a value. */
static bool take_key(struct reader *r)
{
	if (r->depth == 0 || r->open[r->depth - 1] == '[')
		return true;
	skip_space(r);
	if (!take_string(r))
		return false;
	skip_space(r);
	return take(r, ":");
}

static bool take_close(struct reader *r)
{
	skip_space(r);
	if (r->depth == 0 || !take(r, r->open[r->depth - 1] == '[' ? "]" : "}"))
		return false;
	r->depth--;
	return true;
}

/* Into brackets, down to a scalar or to brackets with nothing in them. */
static bool take_down(struct reader *r)
{
	for (;;) {
		skip_space(r);
		char c = r->at < r->text.n ? r->text.p[r->at] : ' ';
		if (c != '[' && c != '{')
			return take_scalar(r);
		if (r->depth == DEPTH_MAX)
			return false;
		r->open[r->depth++] = c;
		r->at++;
		if (take_close(r))
			return true;
		if (!take_key(r))
			return false;
	}
}

/* False: r->at is where it cannot go on. */
static bool is_json(struct reader *r)
{
	do {
		if (!take_down(r))
			return false;
		while (take_close(r))
			;
	} while (r->depth > 0 && take(r, ",") && take_key(r));
	return r->depth == 0 && r->at == r->text.n;
}

static struct str unfenced(struct str s)
{
	static const char *const fences[] = {"```json", "```Json", "```JSON", "```", NULL};

	s = text_trim(s);
	for (const char *const *fence = fences; *fence; fence++) {
		if (str_starts(s, *fence))
			s = str_sub(s, strlen(*fence), s.n);
	}
	if (s.n >= 3 && str_is(str_sub(s, s.n - 3, 3), "```"))
		s = str_sub(s, 0, s.n - 3);
	return text_trim(s);
}

static void run_json_format(struct arena *a, const void *args, const struct job *job,
			    struct checked *checked, struct check_result *out)
{
	struct reader r = {.text = unfenced(checked->text)};

	if (!check_begins(checked, BYTE_WORK, out))
		return;
	out->ok = is_json(&r);
	if (out->ok)
		return;
	out->detail = STR_OF("not JSON");
	if (r.at < r.text.n) {
		out->at = r.text.p + r.at - checked->text.p;
		out->n = 1;
	}
}

static void phrase_json_format(const void *args, const struct job *job, bool japanese,
			       struct buf *out)
{
	buf_puts(out, japanese
			      ? "全文をJSONにすること(```json のコードフェンスは可)。"
			      : "The whole text must be JSON; a ```json fence around it may stay.");
}

static const char *const no_keys[] = {NULL}, *const shape_keys[] = {"schema", NULL};

const struct check_type check_json_types[] = {
	{"json", arg_none, run_json, phrase_json, no_keys},
	{"json_schema", read_shape, run_shape, phrase_shape, shape_keys},
	{"detectable_format:json_format", arg_none, run_json_format, phrase_json_format, no_keys},
	{0},
};
