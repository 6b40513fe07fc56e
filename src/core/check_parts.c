#include "check_parts.h"

#include "base/text.h"

enum status args_strings(struct arena *a, const struct json *spec, const char *key,
			 const struct str **out, int *n, struct err *err)
{
	const struct json *array = json_get(spec, key);
	size_t n_item = json_size(array);
	struct str *item = arena_array(a, struct str, n_item);

	*out = item;
	*n = (int)n_item;
	if (!array)
		return ST_OK;
	if (json_kind(array) != JSON_ARRAY || n_item == 0)
		return err_set(err, ST_INVALID, "key \"%s\": must be a list of strings, not empty",
			       key);
	for (size_t i = 0; i < n_item; i++) {
		const struct json *value = json_item(array, i);
		if (json_kind(value) != JSON_STRING)
			return err_set(err, ST_INVALID, "key \"%s\", item %zu: must be a string",
				       key, i + 1);
		item[i] = arena_str(a, json_str(value));
	}
	return ST_OK;
}

enum status args_string(struct arena *a, const struct json *spec, const char *key, struct str *out,
			struct err *err)
{
	struct str value;

	if (!json_get_str(spec, key, &value) || text_trim(value).n == 0)
		return err_set(err, ST_INVALID, "key \"%s\": must be a string, not empty", key);
	*out = arena_str(a, text_trim(value));
	return ST_OK;
}

enum status args_count(const struct json *spec, const char *key, int64_t min, int64_t *out,
		       struct err *err)
{
	if (!json_get_int(spec, key, min, COUNT_MAX, out))
		return err_set(err, ST_INVALID, "key \"%s\": must be an integer, %d to %d", key,
			       (int)min, COUNT_MAX);
	return ST_OK;
}

enum status args_none(struct arena *a, const struct json *spec, const void **args, struct err *err)
{
	return ST_OK;
}

void check_fail(struct check_result *out, const char *detail)
{
	out->ok = false;
	out->detail = str_c(detail);
}

bool check_begins(struct checked *checked, int64_t byte_work, struct check_result *out)
{
	if (!check_afford(checked, byte_work * (int64_t)checked->text.n, out))
		return false;
	if (text_trim(checked->text).n == 0)
		check_fail(out, "the text is empty");
	return out->ok;
}

void put_quoted(struct buf *out, struct str term, const char *before)
{
	buf_puts(out, before);
	buf_putc(out, '"');
	buf_str(out, term);
	buf_putc(out, '"');
}

void put_item(struct buf *out, struct str item, bool japanese, bool first)
{
	if (!first)
		buf_puts(out, japanese ? "、" : ", ");
	buf_puts(out, japanese ? "「" : "\"");
	buf_str(out, item);
	buf_puts(out, japanese ? "」" : "\"");
}

void set_detail(struct arena *a, struct buf *detail, struct check_result *out)
{
	if (detail->n)
		out->detail = arena_str(a, buf_view(detail));
	out->ok = out->ok && detail->n == 0;
	buf_release(detail);
}
