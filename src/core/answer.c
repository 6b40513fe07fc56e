#include "core/answer.h"

#include "base/json.h"
#include "core/form.h"

static const struct str FIELD_GAP = STR("\n\n");

struct str field_text(const struct field *f, struct str whole)
{
	return str_sub(whole, (size_t)f->at, (size_t)f->n);
}

static int64_t permille(const struct json *number)
{
	const enum json_kind kind = json_kind(number);
	const double x = kind == JSON_INT || kind == JSON_DOUBLE ? json_double(number) : -1;

	return x >= 0 && x <= 1 ? (int64_t)(x * 1000 + 1e-6) : -1;
}

static bool get_text(const struct json *doc, const char *key, struct str *text)
{
	return json_get_str(doc, key, text) && str_trim(*text).n > 0;
}

void answer_join(struct arena *a, const struct profile *p, const struct str *text,
		 struct answer *out)
{
	struct field *field = arena_array(a, struct field, p->n_field);
	size_t n = 1;

	for (int i = 0; i < p->n_field; i++)
		n += text[i].n + FIELD_GAP.n;
	struct buf all = BUF(n);
	for (int i = 0; i < p->n_field; i++) {
		buf_str(&all, i ? FIELD_GAP : STR_OF(""));
		field[i] = (struct field){p->field[i], (int64_t)all.n, (int64_t)text[i].n};
		buf_str(&all, text[i]);
	}
	*out = (struct answer){arena_str(a, buf_view(&all)), field, p->n_field, -1};
	buf_release(&all);
}

static bool read_fields(struct arena *a, const struct profile *p, const struct json *doc,
			struct answer *out)
{
	struct str text[FIELDS_MAX];

	for (int i = 0; i < p->n_field; i++)
		if (!get_text(doc, p->field[i].p, &text[i]))
			return false;
	answer_join(a, p, text, out);
	return true;
}

static bool is_fence_key(struct str s)
{
	return s.n == FENCE_KEY_DIGITS && str_only(s, "0123456789abcdef");
}

static bool has_fence(struct str s)
{
	for (int64_t at = -1; (at = str_find(s, STR_OF("<<<"), (size_t)(at + 1))) >= 0;)
		if (is_fence_key(str_sub(s, (size_t)at + 3, FENCE_KEY_DIGITS)))
			return true;
	for (int64_t at = -1; (at = str_find(s, STR_OF(">>>"), (size_t)(at + 1))) >= 0;)
		if (at >= FENCE_KEY_DIGITS &&
		    is_fence_key(str_sub(s, (size_t)at - FENCE_KEY_DIGITS, FENCE_KEY_DIGITS)))
			return true;
	return false;
}

static bool read_form(struct arena *a, const struct profile *p, enum role role, struct str reply,
		      struct answer *out)
{
	struct json *doc;
	struct str text;
	struct err err;
	bool ok;

	*out = (struct answer){.text = reply, .confidence_permille = -1};
	if (form_want(p, role) == WANT_TEXT)
		return true;
	if (json_read_sent(reply, &doc, &err) != JSON_FINE)
		return false;
	ok = p->n_field ? read_fields(a, p, doc, out) : get_text(doc, "text", &text);
	if (ok && !p->n_field)
		out->text = arena_str(a, text);
	if (p->gate && role == ROLE_GENERATOR)
		out->confidence_permille = permille(json_get(doc, "confidence"));
	json_free(doc);
	return ok;
}

bool answer_read(struct arena *a, const struct profile *p, enum role role, struct str reply,
		 struct answer *out)
{
	return read_form(a, p, role, reply, out) && !has_fence(out->text);
}
