#include "settings_table.h"

#define DAY_MS (24 * 3600 * INT64_C(1000))
#define MICRO INT64_C(1000000)

static const char *const log_levels[] = {"debug", "info", "warn", "error", NULL};

/* KEY, FALLBACK (NULL: it must be given; "": there is none), what it is for, then where it goes. */
#define ROW(type, unit, k, key, fallback, text, ...)                                               \
	{                                                                                          \
		{key, type, fallback, unit, text}, .kind = SETTING_##k, __VA_ARGS__                \
	}
#define TO(section_, structure, field)                                                             \
	.section = IN_##section_, .offset = offsetof(struct structure, field)
#define SETTINGS(field) TO(SETTINGS, settings, field)
#define PROVIDER(field) TO(PROVIDER, provider, field)
#define MODEL(field) TO(MODEL, model, field)
#define PRICE(field) TO(PRICE, price, field)

#define TEXT(...) ROW("text", "", TEXT, __VA_ARGS__)
#define STRING(...) ROW("text", "", STR, __VA_ARGS__)
#define PATH(...) ROW("path", "", PATH, __VA_ARGS__)
#define INTEGER(unit, least, most, ...)                                                            \
	ROW("integer", unit, INTEGER, __VA_ARGS__, .min = (least), .max = (most))
#define MS(least, most, ...)                                                                       \
	ROW("duration", "ms", INTEGER, __VA_ARGS__, .min = (least), .max = (most))
#define USD(...)                                                                                   \
	ROW("decimal", "USD per million tokens", DECIMAL, __VA_ARGS__, .scale = MICRO,             \
	    .min = MICRO / 1000, .max = 10000 * MICRO)

/* clang-format off */
static const struct setting table[] = {
	TEXT("kafka.brokers", "localhost:9092", "host:port of the first brokers to ask, commas between", SETTINGS(kafka_brokers)),
	TEXT("kafka.group", "draftmill", "consumer group that the workers share", SETTINGS(kafka_group)),
	TEXT("kafka.topic_prefix", "draftmill.", "stands before the name of every topic", SETTINGS(kafka_topic_prefix)),
	ROW("list", "", LIST, "kafka.job_topics", "jobs", "topics with jobs, without the prefix", SETTINGS(job_topic)),
	ROW("map", "", OPTIONS, "kafka.options", "", "properties of librdkafka, as its manual names them; passwords belong in the environment", SETTINGS(kafka_option)),

	ROW("text", "", CONNINFO, "database.conninfo", "dbname=draftmill user=draftmill_worker", "PostgreSQL connection string without a password; what it leaves out comes from PGHOST, PGPASSFILE and so on", SETTINGS(database_conninfo)),
	ROW("list", "", LIST, "database.password_command", "", "program and arguments, without a shell: the first line it prints is the password; run before each connection", SETTINGS(password_command)),
	PATH("database.sql_dir", "../sql", "folder of the migrations", SETTINGS(sql_dir)),

	INTEGER("jobs", 1, 8000, "worker.in_flight", "2000", "most jobs in memory at once", SETTINGS(in_flight)),
	MS(1000, 600000, "worker.lease_ms", "10000", "a worker silent for so long is taken for dead", SETTINGS(lease_ms)),
	MS(0, DAY_MS, "worker.drain_ms", "30000", "after SIGTERM, time for the calls that are open", SETTINGS(drain_ms)),
	PATH("worker.state_dir", "/var/tmp/draftmill", "folder for notes on what was in hand at a crash", SETTINGS(state_dir)),

	ROW("address", "", LISTEN, "web.listen", "127.0.0.1:9464", "IP:PORT of /metrics, /healthz and /readyz, open to whoever reaches it; \"\" is off", SETTINGS(web_listen)),

	TEXT("log.level", "info", "debug, info, warn or error", SETTINGS(log_level), .choice = log_levels),

	PATH("profiles.dir", "profiles", "folder of the profiles", SETTINGS(profiles_dir)),
	PATH("prompts.dir", "prompts", "folder of the prompts, with en/ and ja/ in it", SETTINGS(prompts_dir)),
	PATH("schema.dir", "schema", "folder of the JSON Schemas", SETTINGS(schema_dir)),
	PATH("tools.dir", "tools", "folder of the tools; {tools} at the beginning of a word of their commands", SETTINGS(tools_dir)),
	ROW("list", "", LIST, "tools.sandbox", "", "program and arguments before the command of every tool, without a shell; without it bubblewrap, as the README tells; [env] is none", SETTINGS(sandbox)),

	ROW("url", "", URL, "providers.NAME.base_url", "", "https, or http to this machine; without it the address of the wire's maker, for the provider openai OPENAI_BASE_URL before it", PROVIDER(base_url)),
	TEXT("providers.NAME.auth_header", "", "header that carries the credential; without it the one of the wire, with its prefix", PROVIDER(auth_header)),
	TEXT("providers.NAME.auth_prefix", "", "what stands before the credential in an auth_header, as \"Bearer \"", PROVIDER(auth_prefix)),
	TEXT("providers.NAME.key_env", "", "environment variable that holds the credential", PROVIDER(key_env)),
	PATH("providers.NAME.key_file", "", "or the file that holds it, read again when it changes", PROVIDER(key_file)),
	ROW("list", "", LIST, "providers.NAME.key_command", "", "or program and arguments, without a shell, that print it and when it expires; run again before that", PROVIDER(key_command)),
	TEXT("providers.NAME.path", "", "behind base_url instead of the wire's, {model} is the model's id: /openai/deployments/{model}/chat/completions", PROVIDER(path)),
	TEXT("providers.NAME.query", "", "behind the path, as api-version=2024-10-21", PROVIDER(query)),
	ROW("list", "", LIST, "providers.NAME.headers", "", "more headers, each as \"Name: value\"; they are no place for secrets", PROVIDER(header)),
	PATH("providers.NAME.ca_file", "", "certificates to trust instead of the system's", PROVIDER(ca_file)),
	PATH("providers.NAME.client_cert", "", "certificate and key of our own, both in one PEM file", PROVIDER(client_cert)),
	TEXT("providers.NAME.proxy", "", "http://HOST:PORT to go through; without it https_proxy and no_proxy of the environment count; never for this machine", PROVIDER(proxy)),
	TEXT("providers.NAME.proxy_key_env", "", "environment variable that holds its USER:PASSWORD", PROVIDER(proxy_key_env)),
	PATH("providers.NAME.proxy_key_file", "", "or the file that holds it, read again when it changes", PROVIDER(proxy_key_file)),
	TEXT("providers.NAME.no_proxy", "", "hosts that are reached without it, commas between", PROVIDER(no_proxy)),

	STRING("models.NAME.id", NULL, "the model as its provider calls it", MODEL(id)),
	STRING("models.NAME.provider", NULL, "one of the providers above", MODEL(provider)),
	ROW("text", "", WIRE, "models.NAME.wire", "openai", "wire format: openai, gemini or anthropic", MODEL(wire)),
	INTEGER("tokens", 1, 100000, "models.NAME.tokens_per_kb", "600", "upper estimate of the input tokens in 1,000 bytes; caps are reserved by it", MODEL(tokens_per_kb)),
	INTEGER("tokens", 1, 1000000000, "models.NAME.max_output_tokens", "16384", "most the model writes in one reply", MODEL(max_output_tokens)),
	MS(1, DAY_MS, "models.NAME.timeout_ms", "60000", "longest time of one call", MODEL(timeout_ms)),
	ROW("text", "", CHOICE, "models.NAME.sampling", "omit", "send the temperature, omit it where the model heeds none, or reject a row that gives one", MODEL(sampling), .choice = sampling_names),
	ROW("decimal", "", DECIMAL, "models.NAME.temperature", "0.7", "0 to 2, with sampling: send", MODEL(temperature_milli), .scale = 1000, .max = 2000),
	ROW("text", "", CHOICE, "models.NAME.schema_mode", "json_schema", "how JSON is asked for: json_schema, json_object, openapi (older Gemini) or none", MODEL(schema_mode), .choice = schema_mode_names),
	ROW("text", "", CHOICE, "models.NAME.schema_says", "form", "what the schema of a draft may say, once you have tried it: form, values, all, or all_written (llama.cpp); for draft_schema of a profile", MODEL(schema_says), .choice = schema_says_names),
	STRING("models.NAME.max_tokens_field", "max_completion_tokens", "of wire openai: max_completion_tokens, or max_tokens for older models and imitators", MODEL(max_tokens_field), .choice = max_tokens_names),
	STRING("models.NAME.thinking", "", "a level such as low, or a number of tokens, as the wire has it; without it the model decides", MODEL(thinking)),
	ROW("date", "", DATE, "models.NAME.sunset", "", "day, UTC, from which on the maker does not serve it: refused then, warned of 30 days before", MODEL(sunset_ms)),
	INTEGER("requests", 0, 1000000000, "models.NAME.requests_per_minute", "0", "limit of all workers together; 0 is none", MODEL(requests_per_minute)),
	INTEGER("tokens", 0, 1000000000, "models.NAME.tokens_per_minute", "0", "the same of tokens, input and output: reserved at their worst case, corrected by the reply; 0 is none", MODEL(tokens_per_minute)),
	INTEGER("calls", 0, 100000, "models.NAME.concurrency", "128", "calls open at once in one worker; 0 is no limit", MODEL(concurrency)),
	ROW("list", "", PRICES, "models.NAME.prices", NULL, "list prices, a row for each day from which they hold", MODEL(price)),
	ROW("date", "", DATE, "models.NAME.prices.valid_from", NULL, "first day, UTC; the rows stand in this order", PRICE(valid_from_ms)),
	USD("models.NAME.prices.in_usd_per_mtok", NULL, "input", PRICE(in)),
	USD("models.NAME.prices.cached_usd_per_mtok", "", "input read from the provider's cache; without it the price of input", PRICE(cached)),
	USD("models.NAME.prices.cache_write_usd_per_mtok", "", "input written to the provider's cache; without it a quarter over the price of input", PRICE(cache_write)),
	USD("models.NAME.prices.out_usd_per_mtok", NULL, "output, all that is billed as such", PRICE(out)),
};
/* clang-format on */

enum { N_TABLE = sizeof(table) / sizeof(table[0]) };
_Static_assert(N_TABLE < 64, "bits of `given`");

const struct setting *setting_at(int i)
{
	return i >= 0 && i < N_TABLE ? &table[i] : NULL;
}

const struct setting_doc *setting_doc_at(int i)
{
	return i < N_TABLE ? &table[i].doc : NULL;
}
