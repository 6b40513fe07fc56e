#include "settings_table.h"

#include "app/file.h"
#include "base/clock.h"
#include "core/wire.h"
#include "io/web.h"

#include <inttypes.h>
#include <stdio.h>

enum { SHOWN_BYTES = 60 }; /* of a value in a message */

#define SHOWN(s) STR_ARG(str_cut((s), SHOWN_BYTES))

/* Decimal text times @scale (a power of ten), exactly: no sign, no exponent, no digit that @scale does not hold. */
static bool read_decimal(struct str s, int64_t scale, int64_t *out)
{
	const char *dot = memchr(s.p, '.', s.n);
	size_t n_whole = dot ? (size_t)(dot - s.p) : s.n;
	int64_t value;

	if (!str_to_int(str_sub(s, 0, n_whole), 0, INT64_MAX / scale - 1, &value) ||
	    n_whole + 1 == s.n)
		return false;
	for (size_t i = n_whole + 1; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9' || (scale == 1 && s.p[i] != '0'))
			return false;
		if (scale == 1)
			continue;
		value = value * 10 + (s.p[i] - '0');
		scale /= 10;
	}
	*out = value * scale;
	return true;
}

static enum status refuse_number(const struct setting *setting, struct str text, const char *what,
				 struct err *err)
{
	struct buf range = BUF(100);
	int64_t scale = setting->scale ? setting->scale : 1;

	buf_decimal(&range, setting->min, scale);
	buf_puts(&range, " to ");
	buf_decimal(&range, setting->max, scale);
	enum status status =
		err_set(err, ST_INVALID, "\"%.*s\" is %s; give %s%s%s", SHOWN(text), what,
			buf_view(&range).p, setting->doc.unit[0] ? " " : "", setting->doc.unit);
	buf_release(&range);
	return status;
}

static enum status store_number(const struct setting *setting, struct str text, int64_t *field,
				struct err *err)
{
	int64_t value;
	bool fine = setting->kind == SETTING_DECIMAL
			    ? read_decimal(text, setting->scale, &value)
			    : str_to_int(text, INT64_MIN, INT64_MAX, &value);

	if (!fine)
		return refuse_number(
			setting, text,
			setting->kind == SETTING_DECIMAL ? "no plain decimal" : "no integer", err);
	if (value < setting->min || value > setting->max)
		return refuse_number(setting, text, "out of range", err);
	*field = value;
	return ST_OK;
}

static enum status store_date(struct arena *a, struct str text, int64_t *field, struct err *err)
{
	struct str midnight = arena_printf(a, "%.*sT00:00:00Z", STR_ARG(text));

	if (time_read(midnight, field))
		return ST_OK;
	return err_set(err, ST_INVALID, "\"%.*s\" is no date; give one as 2026-12-01", SHOWN(text));
}

static enum status choose(const struct setting *setting, struct str text, int *place,
			  struct err *err)
{
	struct buf all = BUF(200);

	for (int i = 0; setting->choice[i]; i++) {
		if (str_is(text, setting->choice[i])) {
			buf_release(&all);
			*place = i;
			return ST_OK;
		}
		buf_printf(&all, "%s%s", i ? ", " : "", setting->choice[i]);
	}
	enum status status = err_set(err, ST_INVALID, "\"%.*s\" is none of them; give one of: %s",
				     SHOWN(text), buf_view(&all).p);
	buf_release(&all);
	return status;
}

/* A password in a URL would end in logs and process lists: what is refused for it is not shown. */
static enum status store_url(struct arena *a, struct str text, const char **field, struct err *err)
{
	while (text.n > 0 && text.p[text.n - 1] == '/')
		text.n--;
	struct endpoint endpoint = {.url = arena_str(a, text).p};

	if (memchr(text.p, '@', text.n))
		return err_set(
			err, ST_INVALID,
			"a URL with a user in it is refused; name the credential by key_env or key_file");
	if (memchr(text.p, '?', text.n) || memchr(text.p, '#', text.n))
		return err_set(
			err, ST_INVALID,
			"a URL without ? and # is wanted; the path of the API is put behind it");
	*field = endpoint.url;
	return endpoint_check(&endpoint, err);
}

/* "" is off. */
static enum status store_listen(struct str text, const char **field, struct err *err)
{
	*field = text.n ? text.p : NULL;
	return *field ? web_check(*field, err) : ST_OK;
}

static enum status store_wire(struct str text, const struct wire **field, struct err *err)
{
	*field = wire_named(text);
	if (*field)
		return ST_OK;
	return err_set(err, ST_INVALID,
		       "\"%.*s\" is no wire format; give openai, gemini or anthropic", SHOWN(text));
}

/* A scalar is read as words with commas between: so a flag or the environment gives a list. */
static struct str next_item(struct str *rest)
{
	const char *comma = memchr(rest->p, ',', rest->n);
	size_t n = comma ? (size_t)(comma - rest->p) : rest->n;
	struct str item = str_trim(str_sub(*rest, 0, n));

	*rest = str_sub(*rest, n + 1, rest->n);
	return item;
}

struct list { /* as it stands in the struct */
	const char *const *item;
	int n;
};
_Static_assert(offsetof(struct settings, n_job_topic) - offsetof(struct settings, job_topic) ==
		       offsetof(struct list, n),
	       "a list's number stands right behind it");
_Static_assert(offsetof(struct provider, n_header) - offsetof(struct provider, header) ==
		       offsetof(struct list, n),
	       "here too");

static enum status store_list(struct arena *a, const struct yaml *value, struct list *field,
			      struct err *err)
{
	int n = 0, n_max = 2; /* a NULL stands behind the last */

	for (const struct yaml *y = value->child; y; y = y->next)
		n_max++;
	for (size_t i = 0; i < value->text.n; i++)
		n_max += value->text.p[i] == ',';
	const char **item = arena_array(a, const char *, n_max);
	for (struct str rest = value->text; rest.n > 0;)
		item[n++] = arena_str(a, next_item(&rest)).p;
	for (const struct yaml *y = value->child; y; y = y->next)
		item[n++] = y->kind == YAML_SCALAR ? y->text.p : "";
	for (int i = 0; i < n; i++) {
		if (!*item[i])
			return err_set(err, ST_INVALID, "item %d is no text; give a word", i + 1);
	}
	if (n == 0)
		return err_set(err, ST_INVALID, "an empty list; give one word at least");
	*field = (struct list){item, n};
	return ST_OK;
}

static enum status store_scalar(struct arena *a, const struct setting *setting, struct str text,
				const char *folder, void *field, struct err *err)
{
	int place = 0;

	if (setting->choice && choose(setting, text, &place, err) != ST_OK)
		return ST_INVALID;
	switch (setting->kind) {
	case SETTING_TEXT:
	case SETTING_CONNINFO:
		*(const char **)field = text.p;
		return ST_OK;
	case SETTING_PATH:
		*(const char **)field = folder ? file_path(a, folder, text.p) : text.p;
		return ST_OK;
	case SETTING_STR:
		*(struct str *)field = text;
		return ST_OK;
	case SETTING_INTEGER:
	case SETTING_DECIMAL:
		return store_number(setting, text, field, err);
	case SETTING_DATE:
		return store_date(a, text, field, err);
	case SETTING_CHOICE:
		*(int *)field = place;
		return ST_OK;
	case SETTING_URL:
		return store_url(a, text, field, err);
	case SETTING_LISTEN:
		return store_listen(text, field, err);
	case SETTING_WIRE:
		return store_wire(text, field, err);
	default:
		BUG("%s is no scalar", setting->doc.key);
	}
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_list(const struct list *a, const struct list *b)
{
	if (a->n != b->n)
		return false;
	for (int i = 0; i < a->n; i++)
		if (strcmp(a->item[i], b->item[i]) != 0)
			return false;
	return true;
}

static bool same_options(const struct settings *a, const struct settings *b)
{
	if (a->n_kafka_option != b->n_kafka_option)
		return false;
	for (int i = 0; i < a->n_kafka_option; i++)
		if (strcmp(a->kafka_option[i].key, b->kafka_option[i].key) != 0 ||
		    strcmp(a->kafka_option[i].value, b->kafka_option[i].value) != 0)
			return false;
	return true;
}

bool setting_same(const struct setting *setting, const void *base, const void *other)
{
	const void *a = (const char *)base + setting->offset;
	const void *b = (const char *)other + setting->offset;

	switch (setting->kind) {
	case SETTING_INTEGER:
		return *(const int64_t *)a == *(const int64_t *)b;
	case SETTING_LIST:
		return same_list(a, b);
	case SETTING_OPTIONS:
		return same_options(base, other);
	default: /* of the rest the settings have texts alone */
		return same_text(*(const char *const *)a, *(const char *const *)b);
	}
}

enum status setting_store(struct arena *a, const struct setting *setting, const struct yaml *value,
			  const char *folder, void *base, struct err *err)
{
	void *field = (char *)base + setting->offset;

	for (size_t i = 0; i < value->text.n; i++) {
		if ((unsigned char)value->text.p[i] < 0x20 || value->text.p[i] == 0x7F)
			return err_set(err, ST_INVALID,
				       "a control character, as a line end; leave it out");
	}
	if (setting->kind == SETTING_LIST && value->kind != YAML_MAP)
		return store_list(a, value, field, err);
	if (setting->kind == SETTING_LIST || value->kind != YAML_SCALAR)
		return err_set(err, ST_INVALID, "this is a %s; give %s: %s",
			       value->kind == YAML_MAP ? "map" : "list", setting->doc.type,
			       setting->doc.text);
	if (value->text.n == 0 && (!value->quoted || !setting->doc.fallback))
		return err_set(err, ST_INVALID, "no value; give one, or leave the key out");
	if (value->text.n == 0 && !setting->doc.fallback[0])
		return ST_OK; /* as if left out */
	return store_scalar(a, setting, value->text, folder, field, err);
}

enum status setting_check_model(const struct model *m, uint64_t given, struct err *err)
{
	const int temperature = setting_index(STR_OF("models.NAME.temperature"));

	if (!m->wire) /* which was told */
		return ST_OK;
	if (m->sampling == SAMPLING_REJECT && (given >> temperature & 1))
		return err_set(
			err, ST_INVALID,
			"temperature: this model takes none (sampling: reject); leave it out");
	if (!str_is(m->max_tokens_field, "max_completion_tokens") &&
	    strcmp(m->wire->name, "openai") != 0)
		return err_set(err, ST_INVALID,
			       "max_tokens_field: wire %s has but one name for it; leave it out",
			       m->wire->name);
	return wire_check(m, err);
}
