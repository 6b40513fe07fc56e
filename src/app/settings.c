#include "app/settings.h"

#include "app/file.h"
#include "app/suggest.h"
#include "settings_reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

static const char default_path[] = "config/draftmill.yaml";
static const char installed_path[] = DRAFTMILL_DATADIR "/config/draftmill.yaml";
static const char env_prefix[] = "DRAFTMILL_";

/* --- the file --- */

static const char *find_file(const char *path)
{
	if (!path)
		path = getenv("DRAFTMILL_CONFIG");
	if (!path && access(default_path, F_OK) == 0)
		path = default_path;
	if (!path && access(installed_path, F_OK) == 0)
		path = installed_path;
	return path;
}

/* Of a file; without one, where the defaults find their folders. */
static const char *folder_of(struct arena *a, const char *path)
{
	if (!path)
		path = access("config", F_OK) == 0 ? default_path : installed_path;
	const char *slash = strrchr(path, '/');
	if (!slash)
		return ".";
	return arena_str(a, (struct str){path, (size_t)(slash - path)}).p;
}

static void read_map(struct settings_reader *r, const struct yaml *map, struct str prefix)
{
	for (const struct yaml *y = map->child; y; y = y->next) {
		struct str key =
			prefix.n ? arena_printf(r->a, "%s.%s", prefix.p, y->key.p) : y->key;
		int i = setting_index(key);
		bool is_model = str_is(prefix, "models");
		if ((is_model || str_is(prefix, "providers")) &&
		    !settings_add(r, is_model, y->key, settings_line(r, y)))
			continue;
		if (i >= 0)
			settings_set(r, i, key, y, settings_line(r, y));
		else if (!setting_is_section(key))
			settings_unknown(r, settings_line(r, y), key);
		else if (y->kind == YAML_MAP)
			read_map(r, y, key);
		else if (y->kind == YAML_LIST || y->text.n > 0)
			faults_add(r->faults, settings_line(r, y).place, "%s: give keys under it",
				   key.p);
	}
}

/* False: it is no YAML. */
static bool read_file(struct settings_reader *r)
{
	const struct yaml *root;
	struct str text;
	struct err err;

	if (!r->out->path)
		return true;
	if (file_read(r->a, r->out->path, &text, &err) != ST_OK ||
	    yaml_read(r->a, r->out->path, text, &root, &err) != ST_OK) {
		faults_add(r->faults, NULL, "%s", err.text);
		return false;
	}
	if (root->kind == YAML_MAP)
		read_map(r, root, (struct str){"", 0});
	else
		faults_add(r->faults, settings_line(r, root).place, "give keys, as `kafka:`");
	return true;
}

/* --- the environment --- */

/* kafka.topic_prefix is DRAFTMILL_KAFKA_TOPIC_PREFIX. */
static struct str variable_of(struct arena *a, struct str key)
{
	struct str variable = arena_printf(a, "%s%.*s", env_prefix, STR_ARG(key));
	char *p = arena_alloc(a, variable.n + 1);

	for (size_t i = 0; i < variable.n; i++)
		p[i] = variable.p[i] == '.' || variable.p[i] == '-'
			       ? '_'
			       : (char)toupper((unsigned char)variable.p[i]);
	return (struct str){p, variable.n};
}

/* DRAFTMILL_KAFKA_OPTIONS_SECURITY_PROTOCOL is kafka.options.security.protocol: librdkafka's names have no underscore. */
static struct str option_of(struct arena *a, struct str variable)
{
	static const char options[] = "DRAFTMILL_KAFKA_OPTIONS_";

	if (!str_starts(variable, options))
		return (struct str){NULL, 0};
	struct str property = str_sub(variable, strlen(options), variable.n);
	char *p = arena_alloc(a, property.n + 1);
	for (size_t i = 0; i < property.n; i++)
		p[i] = property.p[i] == '_' ? '.' : (char)tolower((unsigned char)property.p[i]);
	return arena_printf(a, "kafka.options.%s", p);
}

/* What can stand for NAME in a row of the section: the i-th provider or model of now; absent past the end. */
static struct str name_at(const struct settings_reader *r, enum setting_section section, int i)
{
	if (section == IN_SETTINGS && i == 0)
		return STR_OF(""); /* there is no NAME */
	if (section == IN_PROVIDER && i < r->out->n_provider)
		return r->provider[i].name;
	if (section == IN_MODEL && i < r->out->n_model)
		return r->model[i].row.name;
	return (struct str){NULL, 0};
}

/* The key that a variable sets; absent: none, and each variable that there is was offered. */
static struct str key_of(struct settings_reader *r, struct str variable, struct suggest *s)
{
	const struct setting *setting;
	struct str name;

	for (int i = 0; (setting = setting_at(i)); i++) {
		for (int k = 0; (name = name_at(r, setting->section, k)).p; k++) {
			struct str key = setting_key(r->a, setting, name);
			struct str known = variable_of(r->a, key);
			if (str_eq(variable, known))
				return key;
			suggest_offer(s, known);
		}
	}
	return (struct str){NULL, 0};
}

static void read_variable(struct settings_reader *r, struct str variable, const char *value)
{
	struct yaml scalar = {.text = arena_str(r->a, str_c(value)), .quoted = true};
	struct origin origin = {
		arena_printf(r->a, "environment variable %.*s", STR_ARG(variable)).p, NULL};
	struct suggest s = {.wanted = variable};
	struct str key = option_of(r->a, variable);

	if (!key.p)
		key = key_of(r, variable, &s);
	if (key.p)
		settings_set(r, setting_index(key), key, &scalar, origin);
	else
		faults_add(r->faults, origin.place, "unknown; %s%.*s",
			   s.best.p ? "did you mean " : "unset it", STR_ARG(s.best));
}

static void read_environment(struct settings_reader *r)
{
	for (char **entry = environ; *entry; entry++) {
		const char *equals = strchr(*entry, '=');
		if (!equals || !str_starts(str_c(*entry), env_prefix))
			continue;
		struct str variable = {*entry, (size_t)(equals - *entry)};
		if (!str_is(variable, "DRAFTMILL_CONFIG") &&
		    !str_starts(variable, "DRAFTMILL_FAILPOINT"))
			read_variable(r, variable, equals + 1);
	}
}

/* --- the command line --- */

static void read_flag(struct settings_reader *r, const struct flag *flag)
{
	struct yaml scalar = {.text = arena_str(r->a, str_c(flag->value)), .quoted = true};
	struct str key = arena_str(r->a, str_c(flag->key));
	struct origin origin = {arena_printf(r->a, "flag --%s", flag->key).p, NULL};
	int i = setting_index(key);

	if (i >= 0)
		settings_set(r, i, key, &scalar, origin);
	else
		settings_unknown(r, origin, key);
}

/* --- the whole --- */

bool settings_read(struct arena *a, const char *path, const struct flag *flag, int n_flag,
		   struct settings *out, struct faults *faults)
{
	const int n_before = faults->n;
	struct settings_reader r = {
		.a = a,
		.out = out,
		.faults = faults,
		.provider = arena_array(a, struct provider, PROVIDERS_MAX),
		.model = arena_array(a, struct model_entry, MODELS_MAX),
		.option = arena_array(a, struct kafka_option, OPTIONS_MAX),
	};

	*out = (struct settings){.arena = a, .path = find_file(path)};
	out->directory = folder_of(a, out->path);
	settings_defaults(&r);
	if (!read_file(&r)) /* what else sets keys of its providers and models would seem unknown */
		return false;
	r.may_hold_secrets = true;
	read_environment(&r);
	r.may_hold_secrets = false;
	for (int i = 0; i < n_flag; i++)
		read_flag(&r, &flag[i]);
	settings_finish(&r);
	return faults->n == n_before;
}

const struct model *settings_model(const struct settings *s, struct str name)
{
	for (int i = 0; i < s->n_model; i++) {
		if (str_eq(s->model[i].name, name))
			return &s->model[i];
	}
	return NULL;
}

const struct provider *settings_provider(const struct settings *s, struct str name)
{
	for (int i = 0; i < s->n_provider; i++) {
		if (str_eq(s->provider[i].name, name))
			return &s->provider[i];
	}
	return NULL;
}
