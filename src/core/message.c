#include "core/message.h"

#include "base/text.h"

#include <stdlib.h>

const char *dead_name(enum dead_reason reason)
{
#define X(name) #name,
	static const char *const names[] = {DEAD_REASONS(X)};
#undef X

	return names[reason];
}

struct attribute {
	struct str key, value;
};

struct envelope {
	struct arena *a;
	struct message *m;
	struct attribute attribute[ATTRIBUTES_MAX];
	int n_attribute;
	struct err *err;
};

struct str traceparent_read(struct str s)
{
	static const char form[] = "00-tttttttttttttttttttttttttttttttt-pppppppppppppppp-ff";
	bool trace = false, parent = false; /* all zero is no id */

	if (s.n != sizeof(form) - 1)
		return (struct str){0};
	for (size_t i = 0; i < s.n; i++) {
		bool digit = (s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f');
		bool fixed = form[i] == '0' || form[i] == '-';
		if (fixed ? s.p[i] != form[i] : !digit)
			return (struct str){0};
		trace = trace || (form[i] == 't' && s.p[i] != '0');
		parent = parent || (form[i] == 'p' && s.p[i] != '0');
	}
	return trace && parent ? s : (struct str){0};
}

/* A header sent twice counts as it was sent last. */
static enum dead_reason keep_attribute(struct envelope *e, struct str key, struct str value)
{
	int i = 0;

	while (i < e->n_attribute && !str_eq(e->attribute[i].key, key))
		i++;
	if (i == ATTRIBUTES_MAX)
		return ERR_SET(e->err, DEAD_out_of_range, "more than %d CloudEvents attributes",
			       ATTRIBUTES_MAX);
	if (i == e->n_attribute)
		e->n_attribute++;
	e->attribute[i] = (struct attribute){key, value};
	return DEAD_NONE;
}

static enum dead_reason read_attribute(struct envelope *e, struct str key, struct str value)
{
	if (str_is(key, "specversion") && !str_is(value, "1.0"))
		return ERR_SET(e->err, DEAD_out_of_range,
			       "CloudEvents specversion: must be \"1.0\"");
	if (str_is(key, "id"))
		e->m->id = value;
	else if (str_is(key, "source"))
		e->m->source = value;
	else if (!str_is(key, "traceparent"))
		return keep_attribute(e, key, value);
	else if (!e->m->traceparent.p)
		e->m->traceparent = traceparent_read(value);
	return DEAD_NONE;
}

static enum dead_reason read_headers(struct envelope *e, const struct record *record)
{
	enum dead_reason reason = DEAD_NONE;

	for (int i = 0; i < record->n_header && reason == DEAD_NONE; i++) {
		const struct header *h = &record->header[i];
		if (!str_starts(h->key, "ce_") || !h->value.p)
			continue;
		struct str key = text_to_utf8(e->a, str_sub(h->key, 3, h->key.n));
		if (h->value.n > 0 && memchr(h->value.p, 0, h->value.n))
			return ERR_SET(e->err, DEAD_out_of_range, "a NUL byte in header ce_%.*s",
				       STR_ARG(key));
		reason = read_attribute(e, key, text_to_utf8(e->a, h->value));
	}
	return reason;
}

static enum dead_reason read_member(struct envelope *e, struct str key, const struct json *value)
{
	enum json_kind kind = json_kind(value);
	bool text_only = str_is(key, "id") || str_is(key, "source") || str_is(key, "type");
	bool printable = kind == JSON_BOOL || kind == JSON_INT || kind == JSON_DOUBLE;

	if (kind == JSON_NULL) /* says that there is none */
		return DEAD_NONE;
	if (kind == JSON_STRING)
		return read_attribute(e, key, json_str(value));
	if (text_only || !printable)
		return ERR_SET(e->err, DEAD_wrong_type,
			       "is %s, must be string: CloudEvents attribute %.*s",
			       json_kind_name(kind), STR_ARG(key));
	struct buf text = BUF(64);
	json_print(value, &text);
	enum dead_reason reason = read_attribute(e, key, arena_str(e->a, buf_view(&text)));
	buf_release(&text);
	return reason;
}

/* All members of a structured event but the body are attributes. */
static enum dead_reason read_structured(struct envelope *e, const struct json *event)
{
	enum dead_reason reason = DEAD_NONE;
	const struct json *value;
	struct str key;

	if (json_kind(json_get(event, "specversion")) != JSON_STRING)
		return ERR_SET(e->err, DEAD_wrong_type,
			       "#/specversion: must be the string \"1.0\"");
	for (size_t i = 0; json_member(event, i, &key, &value) && reason == DEAD_NONE; i++)
		if (str_is(key, "data_base64"))
			reason = ERR_SET(
				e->err, DEAD_unknown_field,
				"#/data_base64: is not read; give the job as an object in \"data\"");
		else if (!str_is(key, "data"))
			reason = read_member(e, key, value);
	if (reason != DEAD_NONE)
		return reason;
	e->m->body = json_get(event, "data");
	return e->m->body ? DEAD_NONE : ERR_SET(e->err, DEAD_missing_field, "#/data: is missing");
}

static int by_key(const void *a, const void *b)
{
	return str_cmp(((const struct attribute *)a)->key, ((const struct attribute *)b)->key);
}

static enum dead_reason write_attributes(struct envelope *e)
{
	struct buf text = BUF(ATTRIBUTES_BYTES_MAX);
	struct json_out out = {.buf = &text};
	bool full;

	if (e->n_attribute == 0)
		return DEAD_NONE;
	qsort(e->attribute, (size_t)e->n_attribute, sizeof(*e->attribute), by_key);
	json_open(&out, NULL, '{');
	for (int i = 0; i < e->n_attribute; i++)
		json_put_pair(&out, e->attribute[i].key, e->attribute[i].value);
	json_close(&out, '}');
	e->m->attributes = arena_str(e->a, buf_view(&text));
	full = text.full;
	buf_release(&text);
	if (full)
		return ERR_SET(e->err, DEAD_out_of_range,
			       "CloudEvents attributes of more than %d bytes",
			       ATTRIBUTES_BYTES_MAX);
	return DEAD_NONE;
}

static enum dead_reason read_envelope(struct arena *a, const struct record *record,
				      struct message *m, struct err *err)
{
	struct envelope e = {.a = a, .m = m, .err = err};
	enum dead_reason reason;

	for (int i = 0; i < record->n_header && !m->traceparent.p; i++)
		if (str_is(record->header[i].key, "traceparent"))
			m->traceparent = traceparent_read(record->header[i].value);
	m->body = m->doc;
	reason = json_get(m->doc, "specversion") ? read_structured(&e, m->doc)
						 : read_headers(&e, record);
	if (reason == DEAD_NONE)
		reason = write_attributes(&e);
	if (reason != DEAD_NONE || json_kind(m->body) == JSON_OBJECT)
		return reason;
	return ERR_SET(err, DEAD_wrong_type, "%s is %s, must be an object",
		       m->body == m->doc ? "the message" : "#/data",
		       json_kind_name(json_kind(m->body)));
}

/* The record's value as JSON, in the order of the reasons. */
static enum dead_reason read_value(struct str value, struct json **doc, struct err *err)
{
	static const enum dead_reason reasons[] = {
		[JSON_FINE] = DEAD_NONE,
		[JSON_EMPTY] = DEAD_empty,
		[JSON_NOT_UTF8] = DEAD_not_utf8,
		[JSON_NOT_JSON] = DEAD_not_json,
		[JSON_DUPLICATE_KEY] = DEAD_duplicate_key,
	};

	if (!value.p)
		return ERR_SET(err, DEAD_null, "no value: a tombstone");
	if (str_trim(value).n == 0)
		return ERR_SET(err, DEAD_empty, "nothing but white space");
	if (value.n > MESSAGE_BYTES_MAX)
		return ERR_SET(err, DEAD_too_large, "%zu bytes, at most %d", value.n,
			       MESSAGE_BYTES_MAX);
	return reasons[json_read_sent(value, doc, err)];
}

enum dead_reason message_read(struct arena *a, const struct record *record, struct message *out,
			      struct err *err)
{
	enum dead_reason reason;

	*out = (struct message){0};
	reason = read_value(record->value, &out->doc, err);
	if (reason == DEAD_NONE)
		reason = read_envelope(a, record, out, err);
	if (reason == DEAD_NONE)
		return reason;
	json_free(out->doc);
	*out = (struct message){0};
	return reason;
}
