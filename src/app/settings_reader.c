#include "settings_reader.h"

#include "app/suggest.h"
#include "io/pg.h"
#include "settings_value.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_BYTES_MAX = 40 };

struct origin settings_line(struct settings_reader *r, const struct yaml *y)
{
	return (struct origin){arena_printf(r->a, "%s:%d", r->out->path, y->line).p,
			       r->out->directory};
}

void settings_unknown(struct settings_reader *r, struct origin origin, struct str key)
{
	struct suggest s = {.wanted = key};
	struct str name = setting_instance(key);
	const struct setting *setting;

	for (int i = 0; (setting = setting_at(i)); i++)
		suggest_offer(&s, setting_key(r->a, setting, name.n ? name : STR_OF("NAME")));
	faults_add(r->faults, origin.place, "%.*s: unknown; %s%.*s", STR_ARG(key),
		   s.best.p ? "did you mean " : "`draftmill check config --help` lists the keys",
		   STR_ARG(s.best));
}

static bool store(struct settings_reader *r, const struct setting *setting, struct str key,
		  const struct yaml *value, struct origin origin, void *base)
{
	struct err err;

	if (setting_store(r->a, setting, value, origin.folder, base, &err) == ST_OK &&
	    (setting->kind != SETTING_CONNINFO ||
	     pg_conninfo_check(value->text.p, r->may_hold_secrets, &err) == ST_OK))
		return true;
	faults_add(r->faults, origin.place, "%.*s: %s", STR_ARG(key), err.text);
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
	bool fine = name.n > 0 && name.n <= NAME_BYTES_MAX &&
		    str_only(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

	if (!fine)
		faults_add(r->faults, origin.place,
			   "\"%.*s\" is no name here; give 1 to %d characters of a-z 0-9 -",
			   STR_ARG(name), NAME_BYTES_MAX);
	else if (n == most)
		faults_add(r->faults, origin.place, "more than %d of a kind; leave some out", most);
	return fine && n < most;
}

static struct provider *add_provider(struct settings_reader *r, struct str name)
{
	struct provider *provider = &r->provider[r->out->n_provider++];
	struct str key = STR("providers.openai.base_url");
	const char *url = getenv("OPENAI_BASE_URL");

	provider->name = arena_str(r->a, name);
	set_defaults(r, IN_PROVIDER, provider);
	if (str_is(name, "openai") && url && *url) {
		struct yaml value = {.text = str_c(url), .quoted = true};
		struct origin variable = {"environment variable OPENAI_BASE_URL", NULL};
		(void)store(r, setting_at(setting_index(key)), key, &value, variable, provider);
	}
	return provider;
}

static struct provider *provider_of(struct settings_reader *r, struct str name,
				    struct origin origin)
{
	int n = r->out->n_provider;

	for (int i = 0; i < n; i++) {
		if (str_eq(r->provider[i].name, name))
			return &r->provider[i];
	}
	return may_add(r, name, n, PROVIDERS_MAX, origin) ? add_provider(r, name) : NULL;
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

bool settings_add(struct settings_reader *r, bool is_model, struct str name, struct origin origin)
{
	return is_model ? model_of(r, name, origin) != NULL : provider_of(r, name, origin) != NULL;
}

/* --- kafka.options --- */

/* Where it stands, so that the place is told. */
static bool option_is_fine(struct settings_reader *r, const struct kafka_option *option,
			   struct origin origin)
{
	struct suggest s = {.wanted = str_c(option->key)};
	struct err err;
	int n;

	if (kafka_option_check(option, &err) == ST_OK)
		return true;
	const char *const *name = kafka_option_names(r->a, &n);
	for (int i = 0; i < n; i++)
		suggest_offer(&s, str_c(name[i]));
	if (s.best.p && !str_eq(s.best, s.wanted))
		faults_add(r->faults, origin.place, "%s; did you mean %.*s", err.text,
			   STR_ARG(s.best));
	else
		faults_add(r->faults, origin.place, "%s", err.text);
	return false;
}

static void set_option(struct settings_reader *r, struct str property, const struct yaml *value,
		       struct origin origin)
{
	struct kafka_option option = {arena_str(r->a, property).p, value->text.p};
	int i = 0;

	if (value->kind != YAML_SCALAR) {
		faults_add(r->faults, origin.place, "kafka.options.%.*s: give one word or text",
			   STR_ARG(property));
		return;
	}
	if (!option_is_fine(r, &option, origin))
		return;
	while (i < r->out->n_kafka_option && !str_is(property, r->option[i].key))
		i++;
	if (i == OPTIONS_MAX) {
		faults_add(r->faults, origin.place, "kafka.options: more than %d", OPTIONS_MAX);
		return;
	}
	if (i == r->out->n_kafka_option)
		r->out->n_kafka_option++;
	r->option[i] = option;
}

static void set_options(struct settings_reader *r, struct str key, const struct yaml *value,
			struct origin origin)
{
	const size_t n_prefix = strlen("kafka.options.");

	if (key.n > n_prefix)
		set_option(r, str_sub(key, n_prefix, key.n), value, origin);
	else if (value->kind == YAML_MAP)
		for (const struct yaml *y = value->child; y; y = y->next)
			set_option(r, y->key, y, settings_line(r, y));
	else if (value->text.n > 0 || value->kind == YAML_LIST)
		faults_add(r->faults, origin.place,
			   "kafka.options: give properties as keys under it");
}

/* --- prices --- */

/* Names every key of @section that must be given and is not. */
static void demand(struct settings_reader *r, enum setting_section section, struct str name,
		   uint64_t given, struct origin origin)
{
	const struct setting *setting;

	for (int i = 0; (setting = setting_at(i)); i++) {
		if (setting->section == section && !setting->doc.fallback && !(given >> i & 1))
			faults_add(r->faults, origin.place, "%.*s: missing; give it (%s: %s)",
				   STR_ARG(setting_key(r->a, setting, name)), setting->doc.type,
				   setting->doc.text);
	}
}

static void read_price(struct settings_reader *r, struct str prices, const struct yaml *row,
		       struct price *out)
{
	uint64_t given = 0;

	out->cached = out->cache_write = -1;
	for (const struct yaml *y = row->child; y; y = y->next) {
		struct str key = arena_printf(r->a, "%.*s.%s", STR_ARG(prices), y->key.p);
		int i = setting_index(key);
		if (i < 0) {
			settings_unknown(r, settings_line(r, y), key);
			continue;
		}
		given |= UINT64_C(1) << i;
		(void)store(r, setting_at(i), key, y, settings_line(r, y), out);
	}
	demand(r, IN_PRICE, setting_instance(prices), given, settings_line(r, row));
	if (out->cached < 0)
		out->cached = out->in;
	if (out->cache_write < 0)
		out->cache_write = out->in + (out->in + 3) / 4;
}

static void set_prices(struct settings_reader *r, struct str key, const struct yaml *value,
		       struct origin origin, struct model *model)
{
	int n = 0;

	if (value->kind != YAML_LIST || !value->child) {
		faults_add(r->faults, origin.place, "%.*s: give a list of rows, in the file",
			   STR_ARG(key));
		return;
	}
	for (const struct yaml *y = value->child; y; y = y->next)
		n++;
	struct price *price = arena_array(r->a, struct price, n);
	model->price = price;
	model->n_price = n;
	for (const struct yaml *y = value->child; y; y = y->next, price++) {
		read_price(r, key, y, price);
		if (price > model->price && price->valid_from_ms <= price[-1].valid_from_ms)
			faults_add(r->faults, settings_line(r, y).place,
				   "%.*s: not after the row before; order the rows by day",
				   STR_ARG(key));
	}
}

/* --- by key --- */

void settings_set(struct settings_reader *r, int i, struct str key, const struct yaml *value,
		  struct origin origin)
{
	const struct setting *setting = setting_at(i);
	struct str name = setting_instance(key);
	struct provider *provider;
	struct model_entry *model;

	if (setting->kind == SETTING_OPTIONS) {
		set_options(r, key, value, origin);
	} else if (setting->section == IN_SETTINGS) {
		(void)store(r, setting, key, value, origin, r->out);
	} else if (setting->section == IN_PRICE) {
		faults_add(r->faults, origin.place,
			   "%.*s: prices stand in the file, as a list of rows", STR_ARG(key));
	} else if (setting->section == IN_PROVIDER) {
		provider = provider_of(r, name, origin);
		if (provider)
			(void)store(r, setting, key, value, origin, provider);
	} else {
		model = model_of(r, name, origin);
		if (!model)
			return;
		model->given |= UINT64_C(1) << i;
		if (setting->kind == SETTING_PRICES)
			set_prices(r, key, value, origin, &model->row);
		else
			(void)store(r, setting, key, value, origin, model);
	}
}

/* --- what only all sources together can tell --- */

static void check_model(struct settings_reader *r, const struct model_entry *entry)
{
	const struct model *model = &entry->row;
	struct origin origin = {entry->place, NULL};
	struct suggest s = {.wanted = model->provider};
	struct err err;

	demand(r, IN_MODEL, model->name, entry->given, origin);
	if (setting_check_model(entry, &err) != ST_OK)
		faults_add(r->faults, origin.place, "models.%.*s.%s", STR_ARG(model->name),
			   err.text);
	if (!model->provider.p)
		return;
	for (int i = 0; i < r->out->n_provider; i++) {
		if (str_eq(r->provider[i].name, model->provider))
			return;
		suggest_offer(&s, r->provider[i].name);
	}
	faults_add(r->faults, origin.place,
		   "models.%.*s.provider: there is no provider \"%.*s\"%s%.*s",
		   STR_ARG(model->name), STR_ARG(model->provider),
		   s.best.p ? "; did you mean " : "; name one of `providers`", STR_ARG(s.best));
}

void settings_finish(struct settings_reader *r)
{
	struct settings *out = r->out;
	struct model *model = arena_array(r->a, struct model, out->n_model);
	struct model_limits *limits = arena_array(r->a, struct model_limits, out->n_model);
	const char **topic = arena_array(r->a, const char *, out->n_job_topic);

	for (int i = 0; i < out->n_model; i++) {
		check_model(r, &r->model[i]);
		model[i] = r->model[i].row;
		limits[i] = r->model[i].limits;
	}
	for (int i = 0; i < out->n_job_topic; i++)
		topic[i] = arena_printf(r->a, "%s%s", out->kafka_topic_prefix, out->job_topic[i]).p;
	out->provider = r->provider;
	out->model = model;
	out->model_limits = limits;
	out->job_topic = topic;
	out->kafka_option = r->option;
}
