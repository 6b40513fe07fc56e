#include "core/check.h"
#include "check_family.h"
#include "core/similarity.h"
#include "regex.h"

enum { SEVERITY_MIN = 1, SEVERITY_MAX = 5, SEVERITY_DEFAULT = 4, NAME_BYTES_MAX = 40 };
enum { ALIKE_PERMILLE = 400 }; /* "jsn" is alike "json", "length" is like no type */
enum { LIST_BYTES_MAX = 400, FOLD_WORK = 24 /* a byte */ };

static const struct check_type *const family[] = {
#define TYPES(family) check_##family##_types,
	CHECK_FAMILIES(TYPES)
#undef TYPES
};

static const char *const common_keys[] = {"name", "type", "severity", "hard", "field", NULL};

const struct check_type *check_type_at(size_t i)
{
	for (size_t f = 0; f < sizeof(family) / sizeof(family[0]); f++) {
		for (const struct check_type *t = family[f]; t->name; t++) {
			if (i-- == 0)
				return t;
		}
	}
	return NULL;
}

static const struct check_type *type_named(struct str name)
{
	const struct check_type *t;

	for (size_t i = 0; (t = check_type_at(i)); i++) {
		if (str_is(name, t->name))
			return t;
	}
	return NULL;
}

static void list(struct buf *out, const char *name)
{
	buf_puts(out, out->n ? ", " : "");
	buf_puts(out, name);
}

static enum status unknown_type(struct str name, struct err *err)
{
	const struct check_type *t, *nearest = NULL;
	int64_t best = ALIKE_PERMILLE - 1;

	for (size_t i = 0; (t = check_type_at(i)); i++) {
		int64_t alike = similarity_permille(name, str_c(t->name), 2);
		if (alike > best) {
			best = alike;
			nearest = t;
		}
	}
	return err_set(err, ST_INVALID, "unknown type \"%.*s\"%s%s%s; README.md lists the types",
		       STR_ARG(str_cut(name, NAME_BYTES_MAX)), nearest ? "; did you mean \"" : "",
		       nearest ? nearest->name : "", nearest ? "\"?" : "");
}

static enum status unknown_key(const struct check_type *type, struct str key, struct err *err)
{
	struct buf all = BUF(LIST_BYTES_MAX);

	for (const char *const *k = common_keys; *k; k++)
		list(&all, *k);
	for (const char *const *k = type->keys; *k; k++)
		list(&all, *k);
	enum status status =
		err_set(err, ST_INVALID, "unknown key \"%.*s\"; the keys of type %s are: %s",
			STR_ARG(str_cut(key, NAME_BYTES_MAX)), type->name, all.p);
	buf_release(&all);
	return status;
}

static bool is_name(struct str s)
{
	return s.n > 0 && s.n <= NAME_BYTES_MAX &&
	       str_only(s, "abcdefghijklmnopqrstuvwxyz0123456789_-");
}

/* All but the name: whatever is wrong here can be told with it. */
static enum status read_named(struct arena *a, const struct json *spec, struct check *out,
			      struct err *err)
{
	struct str type, key;
	const struct json *value;

	if (!json_get_str(spec, "type", &type))
		return err_set(err, ST_INVALID, "key \"type\": must be a string, the type's name");
	out->type = type_named(type);
	if (!out->type)
		return unknown_type(type, err);
	for (size_t i = 0; json_member(spec, i, &key, &value); i++) {
		if (str_among(key, common_keys) < 0 && str_among(key, out->type->keys) < 0)
			return unknown_key(out->type, key, err);
	}
	if (json_get(spec, "severity") &&
	    !json_get_int(spec, "severity", SEVERITY_MIN, SEVERITY_MAX, &out->severity))
		return err_set(err, ST_INVALID, "key \"severity\": must be an integer, %d to %d",
			       SEVERITY_MIN, SEVERITY_MAX);
	if (json_get(spec, "hard") && !json_get_bool(spec, "hard", &out->hard))
		return err_set(err, ST_INVALID, "key \"hard\": must be true or false");
	if (json_get(spec, "field")) {
		if (!json_get_str(spec, "field", &out->field))
			return err_set(err, ST_INVALID, "key \"field\": must be a field's name");
		out->field = arena_str(a, out->field);
	}
	return out->type->read(a, spec, &out->args, err);
}

enum status check_read(struct arena *a, const struct json *spec, struct check *out, struct err *err)
{
	struct str name;

	*out = (struct check){.severity = SEVERITY_DEFAULT, .hard = true};
	if (json_kind(spec) != JSON_OBJECT)
		return err_set(err, ST_INVALID, "a check must be an object, not %s",
			       json_kind_name(json_kind(spec)));
	if (!json_get_str(spec, "name", &name) || !is_name(name))
		return err_set(err, ST_INVALID,
			       "a check needs a \"name\" of 1 to %d characters out of a-z 0-9 _ -",
			       NAME_BYTES_MAX);
	out->name = arena_str(a, name);
	enum status status = read_named(a, spec, out, err);
	if (status != ST_OK)
		err_at(err, "check \"%.*s\": ", STR_ARG(name));
	return status;
}

const struct check *check_named(const struct check *check, int n, struct str name)
{
	for (int i = 0; i < n; i++)
		if (str_eq(check[i].name, name))
			return &check[i];
	return NULL;
}

enum status check_read_list(struct arena *a, const struct json *array, const struct check **out,
			    int *n, struct err *err)
{
	struct check *check = arena_array(a, struct check, json_size(array));

	*out = check;
	for (*n = 0; *n < (int)json_size(array); ++*n) {
		if (check_read(a, json_item(array, (size_t)*n), &check[*n], err) != ST_OK) {
			err_at(err, "/%d: ", *n);
			return ST_INVALID;
		}
		if (check_named(check, *n, check[*n].name))
			return err_set(err, ST_INVALID, "/%d/name: stands there twice", *n);
	}
	return ST_OK;
}

void check_run(struct arena *a, const struct check *check, const struct job *job,
	       struct checked *checked, struct check_result *out)
{
	struct arena *scratch = arena_new();

	*out = (struct check_result){.check = check, .ok = true, .at = -1};
	check->type->run(scratch, check->args, job, checked, out);
	if (out->detail.n > CHECK_DETAIL_BYTES_MAX)
		out->detail = arena_printf(
			a, "%.*s...", STR_ARG(str_cut(out->detail, CHECK_DETAIL_BYTES_MAX - 3)));
	else
		out->detail = arena_str(a, out->detail);
	arena_free(scratch);
}

int check_places(const struct check_result *red, const struct job *job, struct str text,
		 int64_t *work, struct span *place, int max)
{
	struct checked checked = {.scratch = arena_new(), .work = *work};
	struct check_result r = *red;
	size_t from = 0;
	int n = 0;

	while (!r.ok && r.at >= 0) {
		place[n++] = (struct span){(int64_t)from + r.at, r.n};
		from += (size_t)(r.at + r.n);
		checked.text = str_sub(text, from, text.n);
		checked.folded = str_c(NULL);
		if (n == max || !r.local || r.n == 0 ||
		    !check_afford(&checked, FOLD_WORK * (int64_t)checked.text.n, &r))
			break;
		check_run(checked.scratch, red->check, job, &checked, &r);
	}
	*work = checked.work;
	arena_free(checked.scratch);
	return n;
}

int64_t check_work_max(const struct checked *checked)
{
	return CHECK_WORK_MAX + checked->extra_work;
}

int64_t check_work_left(const struct checked *checked)
{
	return check_work_max(checked) - checked->work;
}

bool check_afford(struct checked *checked, int64_t work, struct check_result *out)
{
	if (work <= check_work_left(checked)) {
		checked->work += work;
		return true;
	}
	out->ok = false;
	out->detail = STR_OF("could not be decided: too many checks for so long a text");
	return false;
}

void check_put(const struct check_result *r, bool with_detail, struct json_out *o)
{
	json_put_str(o, "name", r->check->name);
	json_put_str(o, "type", str_c(r->check->type->name));
	if (r->check->field.p)
		json_put_str(o, "field", r->check->field);
	json_put_bool(o, "hard", r->check->hard);
	json_put_int(o, "severity", r->check->severity);
	json_put_bool(o, "ok", r->ok);
	if (with_detail && r->detail.p)
		json_put_str(o, "detail", r->detail);
}

void check_library(struct buf *out)
{
	regex_library(out);
	buf_puts(out, ", ");
	markdown_library(out);
}
