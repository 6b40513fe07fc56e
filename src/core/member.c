#include "member.h"

#include "core/wire.h"

#include <inttypes.h>

void member_unfit(const struct reader *r, const struct json *o, const char *key, const char *mend)
{
	const struct json *value = json_get(o, key);

	if (value)
		REFUSE(r, "%s: this %s does not fit; give %s", key,
		       json_kind_name(json_kind(value)), mend);
	else
		REFUSE(r, "%s: missing; give %s", key, mend);
}

static void unfit_field(const struct reader *r, const struct json *o, const struct member *f)
{
	struct buf mend = BUF(200);

	if (f->kind == INTEGER)
		buf_printf(&mend, "an integer from %" PRId64 " to %" PRId64, f->min, f->max);
	for (int i = 0; f->words && f->words[i]; i++)
		buf_printf(&mend, "%s%s", i ? " or " : "", f->words[i]);
	member_unfit(r, o, f->key, mend.n ? mend.p : "a text that is not empty");
	buf_release(&mend);
}

void member_read(const struct reader *r, const struct json *o, const struct member *f, void *base)
{
	const struct json *value = json_get(o, f->key);
	struct str text = {NULL, 0};
	int place = 0;

	if (f->kind == OTHER || (f->optional && !value) ||
	    (f->nullable && value && json_kind(value) == JSON_NULL))
		return;
	void *const to = (char *)base + f->offset; /* of OTHER there may be no base */
	if (f->kind == INTEGER) {
		if (!json_get_int(o, f->key, f->min, f->max, to))
			unfit_field(r, o, f);
		return;
	}
	(void)json_get_str(o, f->key, &text);
	if (f->words)
		place = str_among(text, f->words);
	if (text.n == 0 || place < 0)
		unfit_field(r, o, f);
	else if (f->kind == WORD)
		*(int *)to = place;
	else if (f->kind == TEXT)
		*(struct str *)to = arena_str(r->a, text);
	else if (!(*(const struct wire **)to = wire_named(text)))
		REFUSE(r,
		       "%s: there is no format \"%.*s\"; give one that wire.c lists, as \"openai\"",
		       f->key, STR_ARG(text));
}

void members_read(const struct reader *r, const struct json *o, const struct member *list,
		  void *base)
{
	const struct json *value;
	const struct member *f;
	struct str name;

	for (size_t i = 0; json_member(o, i, &name, &value); i++) {
		for (f = list; f->key && !str_is(name, f->key);)
			f++;
		if (!f->key)
			REFUSE(r, "%.*s: unknown; leave it out", STR_ARG(name));
	}
	for (f = list; f->key; f++)
		member_read(r, o, f, base);
}

const struct json *member_object(const struct reader *r, const struct json *o, const char *key,
				 const struct member *list, void *base)
{
	const struct json *object = json_get(o, key);

	if (json_kind(object) != JSON_OBJECT) {
		member_unfit(r, o, key, "an object");
		return NULL;
	}
	members_read(&PART(r, "%s.", key), object, list, base);
	return object;
}

const struct json *member_array(const struct reader *r, const struct json *o, const char *key,
				size_t min, int *n)
{
	const struct json *array = json_get(o, key);
	bool fine = json_kind(array) == JSON_ARRAY && json_size(array) >= min;

	if (!fine)
		member_unfit(r, o, key, min ? "an array of one item or more" : "an array");
	*n = fine ? (int)json_size(array) : 0;
	return array;
}

const struct str *member_texts(const struct reader *r, const struct json *o, const char *key,
			       size_t min, int *n)
{
	const struct json *array = member_array(r, o, key, min, n);
	struct str *text = arena_array(r->a, struct str, *n);

	for (int i = 0; i < *n; i++) {
		const struct json *item = json_item(array, (size_t)i);
		if (json_kind(item) == JSON_STRING && json_str(item).n)
			text[i] = arena_str(r->a, json_str(item));
		else
			REFUSE(r, "%s[%d]: give a text that is not empty", key, i);
	}
	return text;
}

void members_put(struct json_out *o, const struct member *f, const void *base)
{
	for (; f->key; f++) {
		const void *from = (const char *)base + f->offset;
		if (f->kind == INTEGER)
			json_put_int(o, f->key, *(const int64_t *)from);
		else if (f->kind == TEXT)
			json_put_str(o, f->key, *(const struct str *)from);
		else if (f->kind == WORD && !(f->optional && *(const int *)from == 0))
			json_put_str(o, f->key, str_c(f->words[*(const int *)from]));
		else if (f->kind == WIRE)
			json_put_str(o, f->key, str_c((*(const struct wire *const *)from)->name));
	}
}
