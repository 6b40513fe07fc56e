#include "check_family.h"

enum { BYTE_WORK = 8 };

static enum status read_nothing(struct arena *a, const struct json *spec, const void **args,
				struct err *err)
{
	return ST_OK;
}

static void run_json(struct arena *a, const void *args, const struct job *job,
		     struct checked *checked, struct check_result *out)
{
	struct json *value = NULL;
	struct err err = {""};

	if (!check_afford(checked, BYTE_WORK * (int64_t)checked->text.n, out))
		return;
	out->ok = json_read_sent(str_trim(checked->text), &value, &err) == JSON_FINE;
	if (!out->ok)
		out->detail = arena_printf(a, "not one JSON value: %s", err.text);
	json_free(value);
}

static void phrase_json(const void *args, const struct job *job, bool japanese, struct buf *out)
{
	buf_puts(out, japanese
			      ? "全文が一つの正しいJSON値であること(コードフェンスや前置きは不可)。"
			      : "The whole text must be one valid JSON value, without a code fence "
				"or other words around it.");
}

static const char *const keys[] = {NULL};

const struct check_type check_json_types[] = {
	{"json", read_nothing, run_json, phrase_json, keys},
	{0},
};
