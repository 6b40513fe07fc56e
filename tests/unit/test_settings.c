#include "settings_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- sources ---- */

static void an_empty_file_gives_the_defaults(void **state)
{
	char prompts[96];

	assert_int_equal(read_text(""), 0);
	assert_string_equal(settings.kafka_brokers, "localhost:9092");
	assert_int_equal(settings.n_job_topic, 1);
	assert_string_equal(settings.job_topic[0], "draftmill.jobs");
	assert_int_equal(settings.n_kafka_option, 0);
	assert_int_equal(settings.in_flight, 2000);
	assert_int_equal(settings.lease_ms, 10000);
	assert_int_equal(settings.n_provider, 0);
	assert_int_equal(settings.n_model, 0);
	snprintf(prompts, sizeof(prompts), "%s/prompts", folder);
	assert_string_equal(settings.prompts_dir, prompts);
}

static void the_sample_file_is_fine(void **state)
{
	faults[0] = '\0';
	assert_true(settings_read(a, "config/draftmill.yaml", NULL, 0, &settings,
				  &(struct faults){.tell = keep_fault}));
	assert_string_equal(faults, "");
	assert_string_equal(settings.sql_dir, "config/../sql");
	const struct model *critic = settings_model(&settings, STR_OF("critiquing"));
	assert_non_null(critic);
	assert_int_equal(critic->price[0].in, 100000); /* 0.10 USD */
	assert_int_equal(critic->price[0].cached, 10000);
	assert_int_equal(critic->price[0].out, 500000);
	assert_int_equal(critic->temperature_milli, 700);
}

static void flag_over_environment_over_file_over_default(void **state)
{
	static const char text[] = "kafka:\n  brokers: of-the-file\n";
	const struct flag flag = {"kafka.brokers", "of-the-flag"};

	read_text(text);
	assert_string_equal(settings.kafka_brokers, "of-the-file");
	setenv("DRAFTMILL_KAFKA_BROKERS", "of-the-environment", 1);
	read_text(text);
	assert_string_equal(settings.kafka_brokers, "of-the-environment");
	read_text_with(text, &flag, 1);
	assert_string_equal(settings.kafka_brokers, "of-the-flag");
	unsetenv("DRAFTMILL_KAFKA_BROKERS");
}

static void DRAFTMILL_CONFIG_names_the_file(void **state)
{
	struct faults f = {.tell = keep_fault};

	faults[0] = '\0';
	write_file("s.yaml", "worker:\n  in_flight: 7\n");
	setenv("DRAFTMILL_CONFIG", path, 1);
	assert_true(settings_read(a, NULL, NULL, 0, &settings, &f));
	assert_int_equal(settings.in_flight, 7);
	assert_false(settings_read(a, "/nowhere.yaml", NULL, 0, &settings, &f));
	assert_string_equal(
		faults,
		"/nowhere.yaml: cannot be opened (No such file or directory); mend its path\n");
	unsetenv("DRAFTMILL_CONFIG");
}

/* What the file would have named is not known, so nothing else can be said to be unknown. */
static void a_broken_file_is_one_fault(void **state)
{
	setenv("DRAFTMILL_PROVIDERS_MINE_BASE_URL", "https://x", 1);
	assert_int_equal(read_text("providers:\n  mine: {\n"), 1);
	assert_null(strstr(faults, "DRAFTMILL_PROVIDERS"));
	unsetenv("DRAFTMILL_PROVIDERS_MINE_BASE_URL");
}

static void the_environment_sets_a_key_of_a_named_provider(void **state)
{
	setenv("DRAFTMILL_PROVIDERS_OPENAI_BASE_URL", "http://127.0.0.1:8080/v1/", 1);
	assert_int_equal(read_text(a_model), 0);
	assert_string_equal(settings.provider[0].base_url, "http://127.0.0.1:8080/v1");
	assert_int_equal(read_text(""), 1);
	assert_string_equal(
		faults,
		"environment variable DRAFTMILL_PROVIDERS_OPENAI_BASE_URL: unknown; unset it\n");
	unsetenv("DRAFTMILL_PROVIDERS_OPENAI_BASE_URL");
}

static void OPENAI_BASE_URL_is_the_default_of_openai(void **state)
{
	read_text(a_model);
	assert_null(settings.provider[0].base_url); /* its wire knows */
	setenv("OPENAI_BASE_URL", "https://gateway.example/v1", 1);
	read_text(a_model);
	assert_string_equal(settings.provider[0].base_url, "https://gateway.example/v1");
	read_text("providers:\n  openai:\n    base_url: https://file.example/v1\n");
	assert_string_equal(settings.provider[0].base_url, "https://file.example/v1");
	read_text("providers:\n  other:\n    key_env: K\n");
	assert_null(settings.provider[0].base_url);
}

static void any_property_of_librdkafka_can_be_given(void **state)
{
	const struct flag flag = {"kafka.options.session.timeout.ms", "4000"};

	setenv("DRAFTMILL_KAFKA_OPTIONS_SASL_PASSWORD", "secret", 1);
	assert_int_equal(
		read_text_with("kafka:\n  options:\n    session.timeout.ms: 3000\n", &flag, 1), 0);
	assert_int_equal(settings.n_kafka_option, 2);
	assert_string_equal(settings.kafka_option[0].key, "session.timeout.ms");
	assert_string_equal(settings.kafka_option[0].value, "4000");
	assert_string_equal(settings.kafka_option[1].key, "sasl.password");
	assert_string_equal(settings.kafka_option[1].value, "secret");

	assert_int_equal(
		read_text("kafka:\n  options:\n    sesion.timeout.ms: 3\n    group.id: g\n"), 2);
	assert_non_null(strstr(faults, "s.yaml:3: kafka.options.sesion.timeout.ms: "));
	assert_non_null(strstr(faults, "; did you mean session.timeout.ms\n"));
	assert_non_null(
		strstr(faults, "s.yaml:4: kafka.options.group.id: draftmill sets it itself"));
	unsetenv("DRAFTMILL_KAFKA_OPTIONS_SASL_PASSWORD");
}

static void paths_start_at_the_file_or_where_one_types(void **state)
{
	const struct flag flag = {"prompts.dir", "mine/prompts"};
	char schema[96];

	snprintf(schema, sizeof(schema), "%s/of/schema", folder);
	read_text_with("profiles:\n  dir: /etc/p\nschema:\n  dir: of/schema\n", &flag, 1);
	assert_string_equal(settings.profiles_dir, "/etc/p");
	assert_string_equal(settings.schema_dir, schema);
	assert_string_equal(settings.prompts_dir, "mine/prompts");
}

static void topics_are_a_list_with_the_prefix_put_before(void **state)
{
	const struct flag flag = {"kafka.job_topics", "urgent, jobs"};

	read_text("kafka:\n  topic_prefix: t.\n  job_topics:\n    - a\n    - b\n");
	assert_int_equal(settings.n_job_topic, 2);
	assert_string_equal(settings.job_topic[1], "t.b");
	read_text_with("", &flag, 1);
	assert_string_equal(settings.job_topic[0], "draftmill.urgent");
	assert_string_equal(settings.job_topic[1], "draftmill.jobs");
}

/* ---- faults ---- */

static void unknown_keys_come_with_place_and_suggestion(void **state)
{
	const struct flag flag = {"worker.in_fligth", "5"};

	assert_fault("log:\n  level: info\nkafka:\n  broker: x\n", 4,
		     "kafka.broker: unknown; did you mean kafka.brokers");
	assert_fault("kafak:\n  x: 1\n", 1,
		     "kafak: unknown; `draftmill check config --help` lists the keys");
	assert_fault("providers:\n  local:\n    base_ulr: https://x\n", 3,
		     "providers.local.base_ulr: unknown; did you mean providers.local.base_url");
	assert_int_equal(read_text_with("", &flag, 1), 1);
	assert_string_equal(
		faults,
		"flag --worker.in_fligth: worker.in_fligth: unknown; did you mean worker.in_flight\n");
	setenv("DRAFTMILL_KAFKA_BROKER", "x", 1);
	assert_int_equal(read_text(""), 1);
	assert_string_equal(faults, "environment variable DRAFTMILL_KAFKA_BROKER: unknown; did you "
				    "mean DRAFTMILL_KAFKA_BROKERS\n");
	unsetenv("DRAFTMILL_KAFKA_BROKER");
}

static void values_of_a_wrong_type_are_shown(void **state)
{
	assert_fault("worker:\n  in_flight: many\n", 2,
		     "worker.in_flight: \"many\" is no integer; give 1 to 8000 jobs");
	assert_fault("worker:\n  in_flight: 0\n", 2,
		     "worker.in_flight: \"0\" is out of range; give 1 to 8000 jobs");
	assert_fault("log:\n  level: loud\n", 2,
		     "log.level: \"loud\" is none of them; give one of: debug, info, warn, error");
	assert_fault("kafka:\n  brokers: [a, b]\n", 2,
		     "kafka.brokers: this is a list; give text: host:port of the first brokers to "
		     "ask, commas between");
	assert_fault("worker:\n  lease_ms:\n", 2,
		     "worker.lease_ms: no value; give one, or leave the key out");
	assert_fault("kafka: here\n", 1, "kafka: give keys under it");
	assert_fault("- a\n", 1, "give keys, as `kafka:`");
	assert_fault("models:\n  gpt-5.4:\n    id: x\n", 2,
		     "\"gpt-5.4\" is no name here; give 1 to 40 characters of a-z 0-9 -");
}

static void the_web_address_is_an_ip_and_a_port_or_off(void **state)
{
	static const char *const bad[] = {":9464",     "localhost:9464",  "::1:9464",
					  "127.0.0.1", "127.0.0.1:65536", "256.0.0.1:1"};
	char text[100];

	assert_int_equal(read_text(""), 0);
	assert_string_equal(settings.web_listen, "127.0.0.1:9464");
	assert_int_equal(read_text("web:\n  listen: \"\"\n"), 0);
	assert_null(settings.web_listen);
	assert_int_equal(read_text("web:\n  listen: \"[::1]:0\"\n"), 0);
	assert_string_equal(settings.web_listen, "[::1]:0");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(text, sizeof(text), "web:\n  listen: \"%s\"\n", bad[i]);
		assert_int_equal(read_text(text), 1);
	}
	assert_fault(
		"web:\n  listen: here\n", 2,
		"web.listen: \"here\" is no address; give IP:PORT, as 127.0.0.1:9464 or [::1]:9464");
}

static void credentials_in_a_url_are_refused_and_not_shown(void **state)
{
	assert_fault(
		"providers:\n  p:\n    base_url: https://me:hunter2@x.example/v1\n", 3,
		"providers.p.base_url: a URL with a user in it is refused; name the credential "
		"by key_env or key_file");
}

static void plain_http_is_for_this_machine(void **state)
{
	assert_int_equal(read_text("providers:\n  p:\n    base_url: http://127.0.0.1:1/v1\n"), 0);
	assert_int_equal(read_text("providers:\n  p:\n    base_url: http://[::1]:1/v1\n"), 0);
	assert_int_equal(read_text("providers:\n  p:\n    base_url: http://x.example/v1\n"), 1);
	assert_int_equal(read_text("providers:\n  p:\n    base_url: ftp://x.example/v1\n"), 1);
}

static void a_url_without_a_host_is_not_taken_for_another(void **state)
{
	static const char *const url[] = {"http:///v1", "https:///v1", "https://", "http://:80/v1"};
	char text[100];

	for (size_t i = 0; i < sizeof(url) / sizeof(*url); i++) {
		snprintf(text, sizeof(text), "providers:\n  p:\n    base_url: %s\n", url[i]);
		assert_fault(text, 3,
			     "providers.p.base_url: base_url is no URL of http or https with a "
			     "host; write https://HOST/PATH");
	}
}

static void a_model_has_a_known_provider_an_id_and_a_price(void **state)
{
	assert_int_equal(
		read_text("providers:\n  openai: {}\nmodels:\n  m:\n    provider: opanai\n"), 3);
	assert_non_null(strstr(faults, ":4: models.m.id: missing; "));
	assert_non_null(strstr(faults, ":4: models.m.prices: missing; "));
	assert_non_null(strstr(faults,
			       ":4: models.m.provider: there is no provider \"opanai\"; did "
			       "you mean openai\n"));
}

static int read_row(const char *keys)
{
	char text[600];

	snprintf(text, sizeof(text), "%s%s", a_model, keys);
	return read_text(text);
}

static void a_row_asks_for_no_more_than_its_model_takes(void **state)
{
	assert_int_equal(read_row("    sampling: reject\n    sunset: 2027-11-17\n"), 0);
	assert_int_equal(settings.model[0].sampling, SAMPLING_REJECT);
	assert_int_equal(settings.model[0].sunset_ms,
			 INT64_C(1826409600000)); /* date -d 2027-11-17Z +%s */
	assert_int_equal(read_row("    sampling: reject\n    temperature: 0.2\n"), 1);
	assert_non_null(strstr(faults, ": models.drafting.temperature: this model takes none "));
	assert_int_equal(read_row("    wire: gemini\n    max_tokens_field: max_tokens\n"), 1);
	assert_non_null(strstr(faults, ": models.drafting.max_tokens_field: wire gemini has "));
	assert_int_equal(read_row("    wire: gemini\n    thinking: 1024\n"), 0);
	assert_true(str_is(settings.model[0].thinking, "1024"));
	assert_int_equal(read_row("    wire: openai\n    thinking: 1024\n"), 1);
	assert_non_null(strstr(faults, ": models.drafting.thinking: wire openai does not know "));
	assert_int_equal(read_row("    schema_says: all\n"), 0);
	assert_int_equal(settings.model[0].schema_says, SCHEMA_SAYS_ALL);
	assert_int_equal(read_row("    schema_says: all\n    schema_mode: none\n"), 1);
	assert_non_null(strstr(faults, ": models.drafting.schema_says: by schema_mode none no "));
	assert_int_equal(read_row("    wire: gemini\n    schema_says: all\n"), 1);
	assert_non_null(strstr(faults, ": models.drafting.schema_says: wire gemini takes no "));
	assert_int_equal(
		read_row("    wire: gemini\n    schema_says: all\n    schema_mode: openapi\n"), 0);
	assert_int_equal(read_row("    wire: anthropic\n    schema_says: values\n"), 0);
	assert_int_equal(read_row("    wire: anthropic\n    schema_says: all_written\n"), 1);
	assert_int_equal(read_row("    wire: vertex\n"), 1);
	assert_non_null(strstr(faults, "give openai, gemini or anthropic"));
}

/* ---- prices ---- */

static int read_prices(const char *rows)
{
	char text[1000];

	snprintf(text, sizeof(text),
		 "providers:\n  p: {}\nmodels:\n  m:\n    id: i\n    provider: p\n    prices:\n%s",
		 rows);
	return read_text(text);
}

static void prices_are_exact_and_hold_from_their_day(void **state)
{
	assert_int_equal(
		read_prices(
			"    - {valid_from: 1970-01-02, in_usd_per_mtok: 0.001, out_usd_per_mtok: 10000}\n"
			"    - {valid_from: 2026-12-01, in_usd_per_mtok: 0.123456, "
			"cached_usd_per_mtok: 0.0028, out_usd_per_mtok: 3.75}\n"),
		0);
	const struct price *price = settings.model[0].price;
	assert_int_equal(settings.model[0].n_price, 2);
	assert_int_equal(price[0].valid_from_ms, INT64_C(86400000));
	assert_int_equal(price[0].in, 1000);
	assert_int_equal(price[0].cached, 1000); /* not told: as input */
	assert_int_equal(price[0].out, INT64_C(10000000000));
	assert_int_equal(price[1].valid_from_ms,
			 INT64_C(1796083200000)); /* date -d 2026-12-01Z +%s */
	assert_int_equal(price[1].in, 123456);
	assert_int_equal(price[1].cached, 2800);
	assert_int_equal(price[1].out, 3750000);
	assert_int_equal(price[0].cache_write, 1250); /* not told: a quarter over input */
	assert_int_equal(price[1].cache_write, 123456 + 30864);
	assert_int_equal(read_prices("    - {valid_from: 1970-01-02, in_usd_per_mtok: 2, "
				     "cache_write_usd_per_mtok: 4, out_usd_per_mtok: 10}\n"),
			 0);
	assert_int_equal(settings.model[0].price[0].cache_write, 4000000);
}

static void implausible_prices_are_refused_with_their_unit(void **state)
{
	assert_int_equal(
		read_prices(
			"    - {valid_from: 2026-12-01, in_usd_per_mtok: 0.0000025, out_usd_per_mtok: 1}\n"),
		1);
	assert_non_null(strstr(
		faults, "models.m.prices.in_usd_per_mtok: \"0.0000025\" is no plain decimal"));
	assert_int_equal(
		read_prices(
			"    - {valid_from: 2026-12-01, in_usd_per_mtok: 0.000025, out_usd_per_mtok: 10001}\n"),
		2);
	assert_non_null(strstr(faults,
			       "models.m.prices.in_usd_per_mtok: \"0.000025\" is out of range; "
			       "give 0.001 to 10000 USD per million tokens\n"));
	assert_non_null(strstr(faults,
			       "models.m.prices.out_usd_per_mtok: \"10001\" is out of range; "
			       "give 0.001 to 10000 USD per million tokens\n"));
	assert_int_equal(
		read_prices(
			"    - {valid_from: 2026-12-01, in_usd_per_mtok: 1e3, out_usd_per_mtok: -1}\n"),
		2);
}

static void price_rows_are_whole_and_in_order(void **state)
{
	assert_int_equal(read_prices("    - {valid_from: 2026-12-01, in_usd_per_mtok: 1}\n"), 1);
	assert_non_null(strstr(faults, ":8: models.m.prices.out_usd_per_mtok: missing; "));
	assert_int_equal(
		read_prices(
			"    - {valid_from: 2026-12-01, in_usd_per_mtok: 1, out_usd_per_mtok: 1}\n"
			"    - {valid_from: 2026-11-30, in_usd_per_mtok: 1, out_usd_per_mtok: 1}\n"),
		1);
	assert_non_null(strstr(faults, ":9: models.m.prices: not after the row before"));
	assert_int_equal(
		read_prices("    - {valid_from: soon, in_usd_per_mtok: 1, out_usd_per_mtok: 1}\n"),
		1);
	assert_non_null(strstr(faults, "\"soon\" is no date; give one as 2026-12-01"));
	assert_int_equal(
		read_prices(
			"    - {valid_from: 2026-12-01, in_usd_per_mtokens: 1, out_usd_per_mtok: 1}\n"),
		2);
	assert_non_null(strstr(faults, "did you mean models.m.prices.in_usd_per_mtok"));
	assert_int_equal(read_prices("    - 3\n"), 3);
}

/* ---- two of them ---- */

static void add_key(void *owner, const char *key)
{
	strcat(owner, key);
	strcat(owner, " ");
}

/* The keys that differ between what @before and @after say. */
static const char *differing(const char *before, const char *after)
{
	static char keys[256];
	struct settings old;

	assert_int_equal(read_text(before), 0);
	old = settings;
	assert_int_equal(read_text(after), 0);
	keys[0] = '\0';
	settings_compare(&old, &settings, add_key, keys);
	return keys;
}

static void what_differs_is_told_by_key(void **state)
{
	const char *all =
		"kafka:\n  brokers: a:1\n  job_topics: [x, y]\n  options: {linger.ms: 5}\n"
		"worker: {lease_ms: 9000}\nweb: {listen: \"\"}\n";

	assert_string_equal(differing("", ""), "");
	assert_string_equal(differing("", "kafka: {brokers: \"localhost:9092\"}"), "");
	assert_string_equal(differing("web: {listen: \"\"}", "web: {listen: \"\"}"), "");
	assert_string_equal(differing(a_model, ""), ""); /* not of models */
	assert_string_equal(differing("kafka: {job_topics: [x]}", "kafka: {job_topics: [y]}"),
			    "kafka.job_topics ");
	assert_string_equal(
		differing("kafka: {options: {linger.ms: 5}}", "kafka: {options: {linger.ms: 6}}"),
		"kafka.options ");
	assert_string_equal(
		differing(a_model, all),
		"kafka.brokers kafka.job_topics kafka.options worker.lease_ms web.listen ");
}

/* ---- the table ---- */

static void every_setting_says_what_it_is_for(void **state)
{
	const struct setting_doc *d;
	int n_outside_kafka = 0;

	for (int i = 0; (d = setting_doc_at(i)); i++) {
		n_outside_kafka += strncmp(d->key, "kafka.", 6) != 0;
		assert_true(strlen(d->text) > 0 && strlen(d->type) > 0);
	}
	assert_true(n_outside_kafka <= 51); /* more, and nobody reads them all */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_empty_file_gives_the_defaults),
		TEST(the_sample_file_is_fine),
		TEST(flag_over_environment_over_file_over_default),
		TEST(DRAFTMILL_CONFIG_names_the_file),
		TEST(the_environment_sets_a_key_of_a_named_provider),
		TEST(a_broken_file_is_one_fault),
		TEST(OPENAI_BASE_URL_is_the_default_of_openai),
		TEST(any_property_of_librdkafka_can_be_given),
		TEST(paths_start_at_the_file_or_where_one_types),
		TEST(topics_are_a_list_with_the_prefix_put_before),
		TEST(unknown_keys_come_with_place_and_suggestion),
		TEST(values_of_a_wrong_type_are_shown),
		TEST(the_web_address_is_an_ip_and_a_port_or_off),
		TEST(credentials_in_a_url_are_refused_and_not_shown),
		TEST(plain_http_is_for_this_machine),
		TEST(a_url_without_a_host_is_not_taken_for_another),
		TEST(a_model_has_a_known_provider_an_id_and_a_price),
		TEST(a_row_asks_for_no_more_than_its_model_takes),
		TEST(prices_are_exact_and_hold_from_their_day),
		TEST(implausible_prices_are_refused_with_their_unit),
		TEST(price_rows_are_whole_and_in_order),
		TEST(what_differs_is_told_by_key),
		TEST(every_setting_says_what_it_is_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
