#include "settings_reader.h"

#include "app/suggest.h"
#include "io/pg.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_BYTES_MAX = 40 };

struct origin settings_line(struct settings_reader *r, const struct yaml *y)
{
	return (struct origin){arena_printf(r->a, "%s:%d", r->out->path, y->line).p,
			       r->out->directory};
}

static void refuse_unknown(struct settings_reader *r, struct str key, struct origin origin)
{
	struct suggest s = {.wanted = key};
	struct str name = setting_name(key);
	const struct setting *setting;

	if (setting_is_section(key)) {
		faults_add(r->faults, origin.place, "%.*s: give keys under it", STR_ARG(key));
		return;
	}
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

/* --- providers and models --- */

static struct instance *add_instance(struct settings_reader *r, enum setting_section section,
				     struct str name, struct origin origin)
{
	bool is_model = section == IN_MODEL;
	int *n = is_model ? &r->out->n_model : &r->out->n_provider;

	if (name.n == 0 || name.n > NAME_BYTES_MAX ||
	    !str_only(name, "abcdefghijklmnopqrstuvwxyz0123456789-"))
		faults_add(r->faults, origin.place,
			   "\"%.*s\" is no name here; give 1 to %d characters of a-z 0-9 -",
			   STR_ARG(name), NAME_BYTES_MAX);
	else if (*n == INSTANCES_MAX)
		faults_add(r->faults, origin.place, "more than %d of a kind; leave some out",
			   INSTANCES_MAX);
	else {
		struct instance *added = &r->instance[r->n_instance++];
		*added = (struct instance){
			.section = section, .name = arena_str(r->a, name), .place = origin.place};
		added->row = is_model ? (void *)&r->model[*n] : (void *)&r->provider[*n];
		*(struct str *)added->row = added->name; /* first in both */
		(*n)++;
		set_defaults(r, section, added->row);
		return added;
	}
	return NULL;
}

static void set_openai_url(struct settings_reader *r, struct provider *provider)
{
	struct str key = STR("providers.openai.base_url");
	struct origin variable = {"environment variable OPENAI_BASE_URL", NULL};
	struct yaml url = {.text = str_c(getenv("OPENAI_BASE_URL")), .quoted = true};

	if (str_is(provider->name, "openai") && url.text.n)
		(void)store(r, setting_at(setting_index(key)), key, &url, variable, provider);
}

struct instance *settings_instance(struct settings_reader *r, enum setting_section section,
				   struct str name, struct origin origin)
{
	for (int i = 0; i < r->n_instance; i++) {
		if (r->instance[i].section == section && str_eq(r->instance[i].name, name))
			return &r->instance[i];
	}
	struct instance *added = add_instance(r, section, name, origin);
	if (added && section == IN_PROVIDER)
		set_openai_url(r, added->row);
	return added;
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

static void set_option(struct settings_reader *r, struct str key, const struct yaml *value,
		       struct origin origin)
{
	struct kafka_option option = {key.p + strlen("kafka.options."), value->text.p};
	int i = 0;

	if (value->kind != YAML_SCALAR) {
		faults_add(r->faults, origin.place, "%s: give one word or text", key.p);
		return;
	}
	if (!option_is_fine(r, &option, origin))
		return;
	while (i < r->out->n_kafka_option && strcmp(option.key, r->option[i].key) != 0)
		i++;
	if (i == OPTIONS_MAX) {
		faults_add(r->faults, origin.place, "kafka.options: more than %d", OPTIONS_MAX);
		return;
	}
	if (i == r->out->n_kafka_option)
		r->out->n_kafka_option++;
	r->option[i] = option;
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
			refuse_unknown(r, key, settings_line(r, y));
			continue;
		}
		given |= UINT64_C(1) << i;
		(void)store(r, setting_at(i), key, y, settings_line(r, y), out);
	}
	demand(r, IN_PRICE, setting_name(prices), given, settings_line(r, row));
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

void settings_set(struct settings_reader *r, struct str key, const struct yaml *value,
		  struct origin origin)
{
	const int i = setting_index(key);
	const struct setting *setting = setting_at(i);
	struct instance *instance = NULL;

	if (!setting) {
		refuse_unknown(r, key, origin);
	} else if (setting->kind == SETTING_OPTIONS) {
		set_option(r, key, value, origin);
	} else if (setting->section == IN_PRICE) {
		faults_add(r->faults, origin.place,
			   "%.*s: prices stand in the file, as a list of rows", STR_ARG(key));
	} else if (setting->section == IN_SETTINGS) {
		(void)store(r, setting, key, value, origin, r->out);
	} else if ((instance = settings_instance(r, setting->section, setting_name(key), origin))) {
		instance->given |= UINT64_C(1) << i;
		if (setting->kind == SETTING_PRICES)
			set_prices(r, key, value, origin, instance->row);
		else
			(void)store(r, setting, key, value, origin, instance->row);
	}
}

/* --- what only all sources together can tell --- */

static void check_model(struct settings_reader *r, const struct instance *instance)
{
	const struct model *model = instance->row;
	struct origin origin = {instance->place, NULL};
	struct suggest s = {.wanted = model->provider};
	struct err err;

	demand(r, IN_MODEL, model->name, instance->given, origin);
	if (setting_check_model(model, instance->given, &err) != ST_OK)
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
	const char **topic = arena_array(r->a, const char *, out->n_job_topic);

	for (int i = 0; i < r->n_instance; i++) {
		if (r->instance[i].section == IN_MODEL)
			check_model(r, &r->instance[i]);
	}
	for (int i = 0; i < out->n_job_topic; i++)
		topic[i] = arena_printf(r->a, "%s%s", out->kafka_topic_prefix, out->job_topic[i]).p;
	out->provider = r->provider;
	out->model = r->model;
	out->job_topic = topic;
	out->kafka_option = r->option;
}
