/*
 * app/settings.h - the configuration of a process. One table (settings_table.c) gives every key its type, default, unit and text; the sample
 * file, the README and --help are checked against it. Sources, strongest first: flag --a.b=V, environment DRAFTMILL_A_B, file, default.
 *
 * Besides the table's scalar keys there are three open sections: `providers.NAME`, `models.NAME` (capability and price rows) and
 * `kafka.options` (any librdkafka property). Secrets never stand in the file: a provider names an environment variable or a file.
 */
#ifndef APP_SETTINGS_H
#define APP_SETTINGS_H

#include "base/fault.h"
#include "base/yaml.h"
#include "core/profile.h"
#include "io/consumer.h"
#include "io/model.h"

struct provider {
	struct str name;
	const char *
		base_url; /* without the wire's path: "https://api.openai.com/v1"; NULL: the wire's */
	const char *auth_header; /* "Authorization"; NULL: the wire's */
	const char *auth_prefix; /* "Bearer "; NULL: none, or that of the wire's header */
	const char *
		key_env; /* name of the environment variable that holds the credential; NULL: none */
	const char *key_file; /* or a file that holds it, its last line end is cut; NULL: none */
	const char *const *key_command; /* or what prints it, see app/credential.h; NULL: none */
	int n_key_command;
	const char *path;	   /* behind base_url, with {model} in it; NULL: the wire's */
	const char *query;	   /* behind the path, without its ?; NULL: none */
	const char *const *header; /* more of them, "Name: value"; NULL: none */
	int n_header;
	const char *ca_file;	    /* NULL: the system's */
	const char *client_cert;    /* PEM, the key in it; NULL: none */
	const char *proxy;	    /* NULL: as the environment says (https_proxy, no_proxy) */
	const char *proxy_key_env;  /* the variable that holds its USER:PASSWORD; NULL: none */
	const char *proxy_key_file; /* or the file */
	const char *no_proxy;	    /* hosts to reach without it, commas between; NULL: none */
};

struct settings {
	struct arena *arena;
	const char *path; /* of the file; NULL: defaults alone */
	const char
		*directory; /* of the file: relative paths in it start there, as do the defaults */
	const struct flag *flag; /* of the command line, borrowed: to read them again */
	int n_flag;

	const char *kafka_brokers, *kafka_group, *kafka_topic_prefix;
	const char *const *job_topic; /* full names, prefix put before them */
	int n_job_topic;
	const struct kafka_option *kafka_option;
	int n_kafka_option;

	const char *database_conninfo;
	const char *const *password_command; /* NULL at its end; NULL: none */
	int n_password_command;
	const char *sql_dir; /* of the migrations */

	int64_t in_flight; /* jobs in memory */
	int64_t lease_ms, drain_ms;
	const char *state_dir;	/* for the blame file */
	const char *web_listen; /* IP:PORT; NULL: off */
	const char *log_level;
	const char *profiles_dir, *prompts_dir, *schema_dir, *tools_dir;
	const char *const *sandbox; /* of tools, NULL at its end; NULL: bubblewrap */
	int n_sandbox;

	const struct provider *provider;
	int n_provider;
	const struct model *model;
	int n_model;
};

struct flag { /* of the command line: --a.b=V or --a.b V */
	const char *key, *value;
};

/* Reads file, environment and flags; everything lives in @a. False: there are faults, and *out is good for its path alone; unknown
 * keys come with a suggestion. @path NULL: DRAFTMILL_CONFIG, else config/draftmill.yaml here or as installed, where there is one, else
 * none. The environment sets keys of providers and models that the file or a flag names. */
bool settings_read(struct arena *a, const char *path, const struct flag *flag, int n_flag,
		   struct settings *out, struct faults *) MUST_CHECK;

/* One line of documentation a key: for --help, the README and the sample file. NULL past the end. @fallback NULL: it must be given;
 * "": there is none, it may be left out. @unit "": none. */
struct setting_doc {
	const char *key, *type, *fallback, *unit, *text;
};
const struct setting_doc *setting_doc_at(int i);

/* Each key outside of providers and models whose value differs between the two, to @different. */
typedef void setting_fn(void *owner, const char *key);
void settings_compare(const struct settings *, const struct settings *, setting_fn *different,
		      void *owner);

const struct model *settings_model(const struct settings *, struct str name);	    /* NULL: none */
const struct provider *settings_provider(const struct settings *, struct str name); /* NULL: none */

/* The endpoint of a model, in @a, without what app/credential.h puts in. ST_INVALID: the provider's entry is wrong, named. */
enum status settings_endpoint(const struct settings *, struct arena *a, const struct model *,
			      struct endpoint *out, struct err *err) MUST_CHECK;

#endif
