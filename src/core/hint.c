#include "check_hint.h"

#include "base/text.h"
#include "core/wire.h"

#include <inttypes.h>

enum { PATTERN_BYTES_MAX = 32 << 10 };

/* --- what the checks say --- */

static bool has_control(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7F)
			return true;
	return false;
}

/* Whether the end of @a is the beginning of @b. */
static bool runs_into(struct str a, struct str b)
{
	for (size_t n = 1; n < a.n && n < b.n; n++)
		if (str_eq(str_sub(a, a.n - n, n), str_sub(b, 0, n)))
			return true;
	return false;
}

/* Whether one place of a text may serve both, or a part of both. */
static bool may_share(struct str a, struct str b)
{
	return str_find(a, b, 0) >= 0 || str_find(b, a, 0) >= 0 || runs_into(a, b) ||
	       runs_into(b, a);
}

void hint_add_value(struct hint *hint, struct str value)
{
	int n = 0;

	value = text_trim(value);
	if (value.n == 0 || value.n > HINT_VALUE_BYTES_MAX || has_control(value))
		return;
	for (int i = 0; i < hint->n_value; i++)
		if (may_share(hint->value[i], value) && hint->value[i].n >= value.n)
			return;
	for (int i = 0; i < hint->n_value; i++)
		if (!may_share(hint->value[i], value))
			hint->value[n++] = hint->value[i];
	if (n < HINT_VALUES_MAX)
		hint->value[n++] = value;
	hint->n_value = n;
}

static void add_checks(struct arena *a, const struct check *check, int n, const struct job *job,
		       struct str field, struct hint *out)
{
	for (int i = 0; i < n; i++) {
		if (!str_eq(check[i].field, field))
			continue;
		length_hint(&check[i], out);
		terms_hint(&check[i], job, out);
		regex_hint(a, &check[i], out);
	}
}

void hint_of(struct arena *a, const struct profile *p, const struct job *job, struct str field,
	     struct hint *out)
{
	*out = (struct hint){.max = INT64_MAX};
	add_checks(a, p->check, p->n_check, job, field, out);
	add_checks(a, job->check, job->n_check, job, field, out);
	if (out->min > out->max) { /* no text will do; the checks say so */
		out->min = 0;
		out->max = INT64_MAX;
	}
}

/* --- in the words of a schema --- */

struct pattern {
	const struct hint *hint;
	bool written;	 /* against the JSON as it is written */
	int64_t gap_max; /* characters before, between and behind values; INT64_MAX: any number */
	struct buf *out;
};

/* What the values leave of the maximum. */
static int64_t gap_max(const struct hint *h)
{
	int64_t left = h->max;

	for (int i = 0; i < h->n_value && h->max < INT64_MAX; i++)
		for (size_t at = 0; text_next(h->value[i], &at) >= 0;)
			left--;
	return left > 0 ? left : 0;
}

static void put_gap(const struct pattern *p)
{
	buf_puts(p->out, p->written
				 ? "([^\"\\\\\\x00-\\x1f]|\\\\[\"\\\\/bfnrt]|\\\\u[0-9a-fA-F]{4})"
				 : "[\\s\\S]");
	if (p->gap_max < INT64_MAX)
		buf_printf(p->out, "{0,%" PRId64 "}", p->gap_max);
	else
		buf_puts(p->out, "*");
}

static void put_literal(const struct pattern *p, struct str value)
{
	struct buf json = BUF(6 * HINT_VALUE_BYTES_MAX + 2);
	struct json_out o = {.buf = &json};

	json_put_str(&o, NULL, value);
	if (p->written)
		value = str_sub(buf_view(&json), 1, json.n - 2);
	for (size_t i = 0; i < value.n; i++)
		buf_printf(p->out, strchr("^$\\.*+?()[]{}|", value.p[i]) ? "\\%c" : "%c",
			   value.p[i]);
	buf_release(&json);
}

/* In which order so many values may stand. */
static const struct {
	int n;
	int order[6][HINT_VALUES_MAX];
} orders[HINT_VALUES_MAX + 1] = {
	[1] = {1, {{0}}},
	[2] = {2, {{0, 1}, {1, 0}}},
	[3] = {6, {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}}};

/* A pattern holds from end to end, for there are servers that read it so in any case. */
static void put_pattern(const struct pattern *p)
{
	const struct hint *h = p->hint;

	buf_puts(p->out, "^(");
	for (int i = 0; i < orders[h->n_value].n; i++) {
		buf_puts(p->out, i ? "|" : "");
		put_gap(p);
		for (int k = 0; k < h->n_value; k++) {
			put_literal(p, h->value[orders[h->n_value].order[i][k]]);
			put_gap(p);
		}
	}
	buf_puts(p->out, ")$");
}

static void put_values(const struct hint *h, bool written, struct json_out *o)
{
	struct buf text = BUF(PATTERN_BYTES_MAX);

	put_pattern(&(struct pattern){h, written, written ? gap_max(h) : INT64_MAX, &text});
	json_put_str(o, "pattern", buf_view(&text));
	buf_release(&text);
}

static void put_lengths(const struct hint *h, struct json_out *o)
{
	if (h->min > 0)
		json_put_int(o, "minLength", h->min);
	if (h->max < INT64_MAX)
		json_put_int(o, "maxLength", h->max);
}

void hint_put(const struct hint *h, const struct model *model, struct json_out *o)
{
	const enum schema_says says = model->schema_says;
	const bool written = says == SCHEMA_SAYS_ALL_WRITTEN;
	const int64_t n_gap = (int64_t)orders[h->n_value].n * (h->n_value + 1);
	const bool is_free = h->min == 0 && h->max == INT64_MAX;
	const bool has_pattern = h->n_value > 0 && (!written || is_free ||
						    gap_max(h) <= HINT_WRITTEN_GAPS_MAX / n_gap);

	if (says == SCHEMA_SAYS_FORM)
		return;
	if (h->n_choice) {
		json_open(o, "enum", '[');
		for (int i = 0; i < h->n_choice; i++)
			json_put_str(o, NULL, h->choice[i]);
		json_close(o, ']');
		return;
	}
	if (!wire_bounds_texts(model))
		return;
	if (has_pattern)
		put_values(h, written, o);
	if (says == SCHEMA_SAYS_ALL || (written && !has_pattern))
		put_lengths(h, o);
}
