/* tests/unit/test_kafka_option.c - which options are refused and why, and which advice follows librdkafka's words. */
#include "io/kafka_option.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum {
	V2_0_2 = 0x020002ff,
	V2_6_0 = 0x020600ff,
	V2_6_1 = 0x020601ff,
	V2_9_0 = 0x020900ff,
	V2_10_0 = 0x020a00ff
};

static void assert_refused(const char *key, const char *value, const char *why)
{
	struct err err = {""};

	assert_int_equal(kafka_option_check(&(struct kafka_option){key, value}, &err), ST_INVALID);
	if (!strstr(err.text, key) || !strstr(err.text, why))
		fail_msg("%s: %s", key, err.text);
}

static void what_draftmill_must_set_is_refused_with_the_reason(void **state)
{
	assert_refused("group.id", "other", "kafka.group");
	assert_refused("bootstrap.servers", "b:1", "kafka.brokers");
	assert_refused("enable.auto.offset.store", "true", "PostgreSQL");
	assert_refused("auto.offset.reset", "latest", "jobs are lost");
	assert_refused("acks", "1", "all replicas");
	assert_refused("transactional.id", "t", "PostgreSQL");
	assert_refused("allow.auto.create.topics", "true", "draftmill topics --create");
}

static void an_unknown_property_and_a_bad_value_are_refused(void **state)
{
	assert_refused("no.such.option", "1", "No such configuration property");
	assert_refused("session.timeout.ms", "soon", "Invalid value");
}

static void any_other_property_may_be_set(void **state)
{
	static const struct kafka_option fine[] = {
		{"session.timeout.ms", "4000"},
		{"sasl.password", "secret"},
		{"security.protocol", "SASL_SSL"},
		{"compression.type", "zstd"},
		{"isolation.level", "read_uncommitted"},
		{"partition.assignment.strategy", "roundrobin"},
	};
	struct err err;

	for (size_t i = 0; i < sizeof(fine) / sizeof(*fine); i++)
		if (kafka_option_check(&fine[i], &err) != ST_OK)
			fail_msg("%s", err.text);
}

static void the_names_are_librdkafkas(void **state)
{
	struct arena *a = arena_new();
	bool has_global = false, has_topic = false;
	int n;
	const char *const *name = kafka_option_names(a, &n);

	for (int i = 0; i < n; i++) {
		has_global |= !strcmp(name[i], "session.timeout.ms");
		has_topic |= !strcmp(name[i], "message.timeout.ms");
	}
	assert_true(has_global && has_topic);
	arena_free(a);
}

static void a_fault_is_known_by_version_and_value(void **state)
{
	static const struct kafka_option scram = {"sasl.mechanisms", "SCRAM-SHA-512"},
					 alias = {"sasl.mechanism", "scram-sha-256"},
					 plain = {"sasl.mechanisms", "PLAIN"},
					 sticky = {"partition.assignment.strategy",
						   "range,cooperative-sticky"};

	assert_non_null(kafka_fault_of(&scram, V2_0_2));
	assert_non_null(kafka_fault_of(&alias, V2_6_0));
	assert_null(kafka_fault_of(&scram, V2_6_1));
	assert_null(kafka_fault_of(&plain, V2_0_2));
	assert_false(kafka_fault_of(&scram, V2_0_2)->is_fatal); /* all is well with Kafka 3 */
	assert_non_null(strstr(kafka_fault_of(&scram, V2_0_2)->mend, "PLAIN over TLS"));
	assert_true(kafka_fault_of(&sticky, V2_9_0)->is_fatal);
	assert_null(kafka_fault_of(&sticky, V2_10_0));
}

/* As librdkafka 2.0.2 said them of Kafka 4.4.0. */
static void its_words_lead_to_the_mend(void **state)
{
	static const struct {
		const char *text, *mend;
	} said[] = {
		{"SASL authentication error: Authentication failed: Invalid username or password",
		 "sasl.password"},
		{"SASL SCRAM-SHA-512 mechanism handshake failed: Broker: Unsupported SASL mechanism: broker's supported "
		 "mechanisms: PLAIN,SCRAM-SHA-256",
		 "sasl.mechanisms"},
		{"Disconnected: verify that security.protocol is correctly configured, broker might require SASL "
		 "authentication",
		 "wants a login"},
		{"error:0A000086:SSL routines::certificate verify failed (after 27ms in state SSL_HANDSHAKE)",
		 "ssl.ca.location"},
		{"error:0A000126:SSL routines::unexpected eof while reading (after 2ms in state SSL_HANDSHAKE)",
		 "no TLS is spoken there"},
		{"Disconnected while requesting ApiVersion: might be caused by incorrect security.protocol configuration "
		 "(connecting to a SSL listener?) or broker version is < 0.10",
		 "TLS is spoken there; mend kafka.options.security.protocol"},
		{"Failed to resolve 'b:9092': Name or service not known", "advertised.listeners"},
		{"Broker: Topic authorization failed", "kafka-acls"},
		{"Broker: Message size too large", "max.message.bytes"},
		{"Connect to ipv4#127.0.0.1:1 failed: Connection refused", "start the broker"},
	};

	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++)
		if (!strstr(kafka_mend(said[i].text), said[i].mend))
			fail_msg("%s: %s", said[i].text, kafka_mend(said[i].text));
	assert_string_equal(kafka_mend("1/1 brokers are down"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_draftmill_must_set_is_refused_with_the_reason),
		cmocka_unit_test(an_unknown_property_and_a_bad_value_are_refused),
		cmocka_unit_test(any_other_property_may_be_set),
		cmocka_unit_test(the_names_are_librdkafkas),
		cmocka_unit_test(a_fault_is_known_by_version_and_value),
		cmocka_unit_test(its_words_lead_to_the_mend),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
