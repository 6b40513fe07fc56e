#include "core/answer.h"

#include "base/json.h"

static int64_t permille(const struct json *number)
{
	const enum json_kind kind = json_kind(number);
	const double x = kind == JSON_INT || kind == JSON_DOUBLE ? json_double(number) : -1;

	return x >= 0 && x <= 1 ? (int64_t)(x * 1000 + 1e-6) : -1;
}

bool answer_read(struct arena *a, struct str reply, struct answer *out)
{
	struct json *doc;
	struct str text;
	struct err err;
	bool ok;

	if (json_read_sent(reply, &doc, &err) != JSON_FINE)
		return false;
	ok = json_get_str(doc, "text", &text) && str_trim(text).n > 0;
	if (ok)
		*out = (struct answer){arena_str(a, text), permille(json_get(doc, "confidence"))};
	json_free(doc);
	return ok;
}
