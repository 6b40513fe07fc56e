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
		bool is_model = str_is(prefix, "models");
		if ((is_model || str_is(prefix, "providers")) &&
		    !settings_instance(r, is_model ? IN_MODEL : IN_PROVIDER, y->key,
				       settings_line(r, y)))
			continue;
		bool is_section = setting_is_section(key);
		if (is_section && y->kind == YAML_MAP)
			read_map(r, y, key);
		else if (!is_section || y->kind == YAML_LIST || y->text.n > 0)
			settings_set(r, key, y, settings_line(r, y));
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

/* @key if @variable is the one that sets it; else absent, and it was offered. */
static struct str fits(struct settings_reader *r, struct str variable, struct str key,
		       struct suggest *s)
{
	struct str known = variable_of(r->a, key);

	suggest_offer(s, known);
	return str_eq(variable, known) ? key : (struct str){NULL, 0};
}

/* The key that a variable sets; absent: none, and each variable that there is was offered. */
static struct str key_of(struct settings_reader *r, struct str variable, struct suggest *s)
{
	struct str key = {NULL, 0};
	const struct setting *setting;

	for (int i = 0; !key.p && (setting = setting_at(i)); i++) {
		if (setting->section == IN_SETTINGS)
			key = fits(r, variable, str_c(setting->doc.key), s);
		for (int k = 0; !key.p && k < r->n_instance; k++) {
			if (setting->section == r->instance[k].section)
				key = fits(r, variable,
					   setting_key(r->a, setting, r->instance[k].name), s);
		}
	}
	return key;
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
		settings_set(r, key, &scalar, origin);
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

	settings_set(r, key, &scalar, origin);
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
		.instance = arena_array(a, struct instance, 2 * INSTANCES_MAX),
		.provider = arena_array(a, struct provider, INSTANCES_MAX),
		.model = arena_array(a, struct model, INSTANCES_MAX),
		.option = arena_array(a, struct kafka_option, OPTIONS_MAX),
	};

	*out = (struct settings){
		.arena = a, .path = find_file(path), .flag = flag, .n_flag = n_flag};
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

void settings_compare(const struct settings *a, const struct settings *b, setting_fn *different,
		      void *owner)
{
	const struct setting *setting;

	for (int i = 0; (setting = setting_at(i)); i++)
		if (setting->section == IN_SETTINGS && !setting_same(setting, a, b))
			different(owner, setting->doc.key);
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
