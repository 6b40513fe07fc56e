#include "settings_reader.h"

#include "app/suggest.h"
#include "settings_value.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME_BYTES_MAX = 40 };

void settings_fault(struct settings_reader *r, struct origin origin, const char *format, ...)
{
	struct err err;
	va_list args;

	va_start(args, format);
	vsnprintf(err.text, sizeof(err.text), format, args);
	va_end(args);
	err_at(&err, "%s: ", origin.place);
	r->n_fault++;
	r->fault(r->owner, &err);
}

static bool store(struct settings_reader *r, const struct setting *setting, struct str key,
		  const struct yaml *value, struct origin origin, void *base)
{
	struct err err;

	if (setting_store(r->a, setting, value, origin.folder, base, &err) == ST_OK)
		return true;
	settings_fault(r, origin, "%.*s: %s", STR_ARG(key), err.text);
	return false;
}

static void set_defaults(struct settings_reader *r, enum setting_section section, void *base)
{
	struct origin origin = {"the table of settings", r->out->directory};
	const struct setting *setting;

	for (int i = 0; (setting = setting_at(i)); i++) {
		const char *fallback = setting->doc.fallback;
		struct yaml value = {.text = str_c(fallback), .quoted = true};
		if (setting->section == section && fallback && *fallback &&
		    !store(r, setting, str_c(setting->doc.key), &value, origin, base))
			BUG("the default of %s", setting->doc.key);
	}
}

void settings_defaults(struct settings_reader *r)
{
	set_defaults(r, IN_SETTINGS, r->out);
}

/* --- providers and models: they come to be when a key of theirs is set --- */

static bool may_add(struct settings_reader *r, struct str name, int n, int most,
		    struct origin origin)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	bool fine = name.n <= NAME_BYTES_MAX;

	for (size_t i = 0; i < name.n; i++)
		fine = fine && memchr(allowed, name.p[i], sizeof(allowed) - 1);
	if (!fine)
		settings_fault(r, origin, "name \"%.*s\": give 1 to %d characters of a-z 0-9 -",
			       STR_ARG(name), NAME_BYTES_MAX);
	else if (n == most)
		settings_fault(r, origin, "more than %d of a kind; leave some out", most);
	return fine && n < most;
}

static struct provider_entry *add_provider(struct settings_reader *r, struct str name,
					   struct origin origin)
{
	struct provider_entry *entry = &r->provider[r->out->n_provider++];
	struct str key = STR("providers.openai.base_url");
	const char *url = getenv("OPENAI_BASE_URL");

	entry->row.name = arena_str(r->a, name);
	entry->place = origin.place;
	set_defaults(r, IN_PROVIDER, entry);
	if (str_is(name, "openai") && url && *url) {
		struct yaml value = {.text = str_c(url), .quoted = true};
		struct origin variable = {"environment variable OPENAI_BASE_URL", NULL};
		(void)store(r, setting_at(setting_index(key)), key, &value, variable, entry);
	}
	return entry;
}

static struct provider_entry *provider_of(struct settings_reader *r, struct str name,
					  struct origin origin)
{
	int n = r->out->n_provider;

	for (int i = 0; i < n; i++) {
		if (str_eq(r->provider[i].row.name, name))
			return &r->provider[i];
	}
	return may_add(r, name, n, PROVIDERS_MAX, origin) ? add_provider(r, name, origin) : NULL;
}

static struct model_entry *model_of(struct settings_reader *r, struct str name,
				    struct origin origin)
{
	int n = r->out->n_model;

	for (int i = 0; i < n; i++) {
		if (str_eq(r->model[i].row.name, name))
			return &r->model[i];
	}
	if (!may_add(r, name, n, MODELS_MAX, origin))
		return NULL;
	struct model_entry *entry = &r->model[r->out->n_model++];
	entry->row.name = arena_str(r->a, name);
	entry->place = origin.place;
	set_defaults(r, IN_MODEL, entry);
	return entry;
}

/* --- kafka.options --- */

static void set_option(struct settings_reader *r, struct str property, const struct yaml *value,
		       struct origin origin)
{
	int i = 0;

	if (value->kind != YAML_SCALAR) {
		settings_fault(r, origin, "kafka.options.%.*s: give one word or text",
			       STR_ARG(property));
		return;
	}
	while (i < r->out->n_kafka_option && !str_is(property, r->option[i].key))
		i++;
	if (i == OPTIONS_MAX) {
		settings_fault(r, origin, "kafka.options: more than %d", OPTIONS_MAX);
		return;
	}
	if (i == r->out->n_kafka_option)
		r->out->n_kafka_option++;
	r->option[i] = (struct kafka_option){arena_str(r->a, property).p, value->text.p};
}

static void set_options(struct settings_reader *r, struct str key, const struct yaml *value,
			struct origin origin)
{
	const size_t n_prefix = strlen("kafka.options.");

	if (key.n > n_prefix)
		set_option(r, str_sub(key, n_prefix, key.n), value, origin);
	else if (value->kind == YAML_MAP)
		for (const struct yaml *y = value->child; y; y = y->next)
			set_option(r, y->key, y, origin);
	else if (value->text.n > 0 || value->kind == YAML_LIST)
		settings_fault(r, origin, "kafka.options: give properties as keys under it");
}

/* --- prices --- */

static void set_price_key(struct settings_reader *r, struct str prices, const struct yaml *value,
			  struct origin origin, struct price *price, uint64_t *given)
{
	struct str key = arena_printf(r->a, "%.*s.%s", STR_ARG(prices), value->key.p);
	int i = setting_index(key);

	if (i >= 0) {
		*given |= UINT64_C(1) << i;
		(void)store(r, setting_at(i), key, value, origin, price);
		return;
	}
	const struct setting *setting;
	struct suggest s = {.wanted = key};
	for (i = 0; (setting = setting_at(i)); i++) {
		if (setting->section == IN_PRICE)
			suggest_offer(&s, setting_key(r->a, setting, setting_instance(prices)));
	}
	settings_fault(r, origin, "%.*s: unknown%s%.*s", STR_ARG(key),
		       s.best.p ? "; did you mean " : "; leave it out", STR_ARG(s.best));
}

/* Names every key of @section that must be given and is not; what stands for NAME is @name's. */
static void demand(struct settings_reader *r, enum setting_section section, struct str name,
		   uint64_t given, struct origin origin)
{
	const struct setting *setting;

	for (int i = 0; (setting = setting_at(i)); i++) {
		if (setting->section != section || setting->doc.fallback ||
		    (given >> i & 1))
			continue;
		settings_fault(r, origin, "%.*s: missing; give this %s: %s",
			       STR_ARG(setting_key(r->a, setting, name)), setting->doc.type,
			       setting->doc.text);
	}
}
