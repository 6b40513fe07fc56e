#include "wire_parts.h"

#include "base/clock.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>

/* The formats, one a line: wire_NAME.c defines wire_NAME. */
#define FORMATS(X) X(openai) X(gemini) X(anthropic)

#define X(name) extern const struct wire wire_##name;
FORMATS(X)
#undef X

const struct wire *wire_named(struct str name)
{
#define X(name) &wire_##name,
	static const struct wire *const format[] = {FORMATS(X)};
#undef X

	for (size_t i = 0; i < sizeof(format) / sizeof(*format); i++) {
		if (str_is(name, format[i]->name))
			return format[i];
	}
	return NULL;
}

/* --- what a model's row may say --- */

static enum status check_thinking(const struct model *m, struct err *err)
{
	const struct wire *w = m->wire;
	const int64_t tokens = model_thinking_tokens(m), least = w->budget_min_tokens;
	char words[100] = "", number[80] = "";

	if (!m->thinking.p || str_among(m->thinking, w->level) >= 0 ||
	    (least >= 0 && tokens >= least && tokens < m->max_output_tokens))
		return ST_OK;
	for (int i = 0; w->level[i]; i++)
		snprintf(words + strlen(words), sizeof(words) - strlen(words), "%s%s",
			 i ? ", " : "", w->level[i]);
	if (least >= 0)
		snprintf(number, sizeof(number),
			 ", or tokens from %" PRId64 " to under max_output_tokens", least);
	return err_set(err, ST_INVALID,
		       "thinking: wire %s does not know \"%.*s\"; give one of %s%s", w->name,
		       STR_ARG(str_cut(m->thinking, 60)), words, number);
}

/* What a schema shall say, one must be able to say. */
static enum status check_says(const struct model *m, struct err *err)
{
	const bool sends =
		m->schema_mode == SCHEMA_MODE_JSON_SCHEMA || m->schema_mode == SCHEMA_MODE_OPENAPI;

	if (m->schema_says != SCHEMA_SAYS_FORM && !sends)
		return err_set(err, ST_INVALID,
			       "schema_says: by schema_mode %s no schema is sent; give form",
			       schema_mode_names[m->schema_mode]);
	if (m->schema_says > SCHEMA_SAYS_VALUES && !wire_bounds_texts(m))
		return err_set(err, ST_INVALID,
			       "schema_says: wire %s takes no lengths of texts by schema_mode %s; "
			       "give values",
			       m->wire->name, schema_mode_names[m->schema_mode]);
	return ST_OK;
}

enum status wire_check(const struct model *m, struct err *err)
{
	const struct wire *w = m->wire;
	const bool thinks = m->thinking.p && !str_is(m->thinking, "none");

	if (check_thinking(m, err) != ST_OK)
		return ST_INVALID;
	if (!(w->schema_modes >> m->schema_mode & 1))
		return err_set(err, ST_INVALID,
			       "schema_mode: wire %s has no such mode; give json_schema or none",
			       w->name);
	if (check_says(m, err) != ST_OK)
		return ST_INVALID;
	if (m->sampling != SAMPLING_SEND)
		return ST_OK;
	if (m->temperature_milli > w->temperature_max_milli)
		return err_set(err, ST_INVALID,
			       "temperature: wire %s takes at most %" PRId64 "; lower it", w->name,
			       w->temperature_max_milli / 1000);
	if (thinks && w->thinking_bars_temperature)
		return err_set(
			err, ST_INVALID,
			"sampling: wire %s takes no temperature from a model that thinks; give omit",
			w->name);
	return ST_OK;
}

static struct str without_folders(struct str id)
{
	for (const char *slash; id.n > 0 && (slash = memchr(id.p, '/', id.n));)
		id = str_sub(id, (size_t)(slash - id.p) + 1, id.n);
	return id;
}

bool model_is(const struct model *m, struct str answered)
{
	const struct str asked = without_folders(m->id), id = without_folders(answered);

	if (asked.n == 0 || id.n < asked.n || memcmp(id.p, asked.p, asked.n) != 0)
		return false;
	if (id.n == asked.n)
		return true;
	/* A date or a build: three digits at least, for 4-5 is no version of 4. */
	struct str version = str_sub(id, asked.n + 1, id.n);
	return (id.p[asked.n] == '-' || id.p[asked.n] == '@') && version.n >= 3 &&
	       str_only(str_sub(version, 0, 3), "0123456789") && str_only(version, "0123456789-");
}

bool model_same(const struct model *a, const struct model *b)
{
	struct arena *scratch = arena_new();
	const struct model x = {.id = text_fold(scratch, a->id)},
			   y = {.id = text_fold(scratch, b->id)};
	const bool same = model_is(&x, y.id) || model_is(&y, x.id);

	arena_free(scratch);
	return same;
}

/* --- classes --- */

static const struct {
	const char *name;
	bool maybe_billed;
} classes[] = {
#define X(name, maybe_billed) {#name, maybe_billed},
	REPLY_CLASSES(X)
#undef X
};

const char *reply_class_name(enum reply_class class)
{
	return classes[class].name;
}

enum reply_class reply_class_read(struct str name)
{
	enum reply_class class = 0;

	while (class < N_REPLY_CLASSES && !str_is(name, classes[class].name))
		class ++;
	return class;
}

bool reply_maybe_billed(enum reply_class class)
{
	return classes[class].maybe_billed;
}

bool reply_is_answer(enum reply_class class)
{
	return class <= REPLY_blocked;
}

/* --- headers --- */

struct str http_header(struct str headers, const char *name)
{
	size_t n_name = strlen(name);

	while (headers.n > 0) {
		int64_t end = str_find(headers, STR_OF("\n"), 0);
		struct str line = str_sub(headers, 0, end < 0 ? headers.n : (size_t)end);
		if (str_starts(line, name) && line.n > n_name && line.p[n_name] == ':')
			return str_trim(str_sub(line, n_name + 1, line.n));
		headers = str_sub(headers, line.n + 1, headers.n);
	}
	return (struct str){NULL, 0};
}

/* Over a week is nonsense: nobody would wait that long. */
static const int64_t RETRY_AFTER_MAX_MS = 7 * 24 * 3600 * INT64_C(1000);

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int64_t wait_read_ms(struct str s, int64_t unit_ms)
{
	int64_t whole = 0, fraction = 0, weight = 100;
	size_t i = 0;

	for (; i < s.n && is_digit(s.p[i]) && whole <= RETRY_AFTER_MAX_MS; i++)
		whole = whole * 10 + (s.p[i] - '0');
	if (i == 0 || (i < s.n && (s.p[i] != '.' || i + 1 == s.n)))
		return -1;
	for (i++; i < s.n; i++, weight /= 10) {
		if (!is_digit(s.p[i]))
			return -1;
		fraction += (s.p[i] - '0') * weight;
	}
	if (whole > RETRY_AFTER_MAX_MS / unit_ms)
		return -1;
	int64_t ms = whole * unit_ms + fraction * unit_ms / 1000;
	return ms > 0 && ms <= RETRY_AFTER_MAX_MS ? ms : -1;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" (IMF-fixdate of RFC 9110, 5.6.7; its two obsolete forms are not read). */
static bool read_http_date(struct str s, int64_t *unix_ms)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	char shape[32], iso[32];

	if (s.n != strlen("Sun, 06 Nov 1994 08:49:37 GMT"))
		return false;
	const char *day = s.p + 5, *month = s.p + 8, *year = s.p + 12, *time = s.p + 17;
	snprintf(shape, sizeof(shape), "%.3s, %.2s %.3s %.4s %.8s GMT", s.p, day, month, year,
		 time);
	int64_t at = str_find(STR_OF(months), (struct str){month, 3}, 0);
	if (!str_is(s, shape) || at < 0 || at % 3 != 0)
		return false;
	snprintf(iso, sizeof(iso), "%.4s-%02d-%.2sT%.8sZ", year, (int)at / 3 + 1, day, time);
	return time_read(str_c(iso), unix_ms);
}

int64_t http_retry_after_ms(struct str headers, int64_t received_ms)
{
	int64_t ms = wait_read_ms(http_header(headers, "retry-after-ms"), 1), date_ms;
	struct str value = http_header(headers, "retry-after");

	if (ms > 0)
		return ms;
	if (!read_http_date(value, &date_ms))
		return wait_read_ms(value, 1000);
	ms = date_ms - received_ms;
	return ms > 0 && ms <= RETRY_AFTER_MAX_MS ? ms : -1;
}

/* --- requests --- */

bool wire_bounds_texts(const struct model *model)
{
	return model->wire->text_bounds >> model->schema_mode & 1;
}

enum dialect wire_dialect(const struct model *model)
{
	if (model->schema_mode == SCHEMA_MODE_OPENAPI)
		return DIALECT_OPENAPI;
	return model->wire->schema_bounds ? DIALECT_FULL : DIALECT_UNBOUNDED;
}

/* 700 is 0.7, without a detour through a double. */
void put_temperature(struct json_out *o, const struct model *model)
{
	const int64_t milli = model->temperature_milli;
	char text[48];

	if (model->sampling != SAMPLING_SEND)
		return;
	int n = snprintf(text, sizeof(text), "%" PRId64 ".%03" PRId64, milli / 1000, milli % 1000);
	while (text[n - 1] == '0' && text[n - 2] != '.')
		n--;
	json_put_raw(o, "temperature", (struct str){text, (size_t)n});
}
