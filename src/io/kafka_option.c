#include "io/kafka_option.h"
#include "kafka.h"

#include <strings.h>

/* What a setting may not say. */
static const struct {
	const char *key, *why;
} owned[] = {
	{"bootstrap.servers", "kafka.brokers says it"},
	{"metadata.broker.list", "kafka.brokers says it"},
	{"group.id", "kafka.group says it"},
	{"group.protocol", "partitions start where the trail says, in a classic group"},
	{"enable.auto.commit", "offsets are committed once PostgreSQL has their records"},
	{"enable.auto.offset.store", "offsets are committed once PostgreSQL has their records"},
	{"auto.offset.reset",
	 "without an offset a partition starts at its beginning, or jobs are lost"},
	{"enable.partition.eof", "`work --drain` ends by it"},
	{"acks", "an event is sent when all replicas have it"},
	{"request.required.acks", "an event is sent when all replicas have it"},
	{"enable.idempotence", "events of a partition keep their order"},
	{"transactional.id", "correctness lives in PostgreSQL's transactions"},
	{"delivery.report.only.error", "an event leaves the outbox by its report"},
	{"enabled_events", "what librdkafka tells is read otherwise"},
	{"allow.auto.create.topics",
	 "a misspelt topic would come to be; `draftmill topics --create` makes them"},
};

enum { COOPERATIVE_MENDED = 0x020a0000, SCRAM_MENDED = 0x020601ff };
#define SCRAM_TEXT "SCRAM cannot log in to Kafka 4, which says that the password is wrong"
#define SCRAM_MEND "build a newer one by scripts/build-librdkafka, or use PLAIN over TLS"

static const struct kafka_fault faults[] = {
	{"partition.assignment.strategy", "cooperative", COOPERATIVE_MENDED, true,
	 "cooperative-sticky loses all partitions when a member joins",
	 "write range or roundrobin"},
	{"sasl.mechanisms", "SCRAM-", SCRAM_MENDED, false, SCRAM_TEXT, SCRAM_MEND},
	{"sasl.mechanism", "SCRAM-", SCRAM_MENDED, false, SCRAM_TEXT, SCRAM_MEND},
};

const struct kafka_fault *kafka_fault_of(const struct kafka_option *option, int version)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		if (version < faults[i].mended_in && !strcmp(faults[i].key, option->key) &&
		    strcasestr(option->value, faults[i].part))
			return &faults[i];
	}
	return NULL;
}

bool kafka_option_fault(const struct kafka_option *option, struct err *out)
{
	const struct kafka_fault *f = kafka_fault_of(option, rd_kafka_version());

	if (f)
		(void)err_set(out, ST_INVALID,
			      "kafka.options.%s: before librdkafka %d.%d.%d (this is %s) %s; %s",
			      f->key, f->mended_in >> 24, f->mended_in >> 16 & 0xff,
			      f->mended_in >> 8 & 0xff, rd_kafka_version_str(), f->text, f->mend);
	return f != NULL;
}

enum status kafka_option_check(const struct kafka_option *option, struct err *err)
{
	const struct kafka_fault *f = kafka_fault_of(option, rd_kafka_version());
	rd_kafka_conf_t *conf;
	char why[256];

	for (size_t i = 0; i < sizeof(owned) / sizeof(*owned); i++) {
		if (!strcmp(owned[i].key, option->key))
			return err_set(
				err, ST_INVALID,
				"kafka.options.%s: draftmill sets it itself (%s); leave it out",
				option->key, owned[i].why);
	}
	if (f && f->is_fatal) {
		kafka_option_fault(option, err);
		return ST_INVALID;
	}
	conf = rd_kafka_conf_new();
	rd_kafka_conf_res_t result =
		rd_kafka_conf_set(conf, option->key, option->value, why, sizeof(why));
	rd_kafka_conf_destroy(conf);
	if (result == RD_KAFKA_CONF_OK)
		return ST_OK;
	return err_set(err, ST_INVALID, "kafka.options.%s: %s; see the manual of librdkafka %s",
		       option->key, why, rd_kafka_version_str());
}

static int put_names(struct arena *a, const char **dump, size_t n, const char **out)
{
	for (size_t i = 0; i < n; i += 2) /* name, value */
		out[i / 2] = arena_str(a, str_c(dump[i])).p;
	rd_kafka_conf_dump_free(dump, n);
	return (int)(n / 2);
}

const char *const *kafka_option_names(struct arena *a, int *n)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_topic_conf_t *topic = rd_kafka_topic_conf_new();
	size_t n_conf, n_topic;
	const char **of_conf = rd_kafka_conf_dump(conf, &n_conf),
		   **of_topic = rd_kafka_topic_conf_dump(topic, &n_topic),
		   **out = arena_array(a, const char *, (n_conf + n_topic) / 2);

	*n = put_names(a, of_conf, n_conf, out);
	*n += put_names(a, of_topic, n_topic, out + *n);
	rd_kafka_conf_destroy(conf);
	rd_kafka_topic_conf_destroy(topic);
	return out;
}

#define LOGIN "mend kafka.options.sasl.username or sasl.password"
#define WAY "mend kafka.options.security.protocol, or the port in kafka.brokers"

/* librdkafka has few codes for these, and texts that its versions share. The first that fits. */
static const struct {
	const char *part;
	int before; /* version; 0: any */
	const char *mend;
} mends[] = {
	{"SASL mechanism SCRAM", SCRAM_MENDED,
	 LOGIN "; if both are right, this librdkafka is too old for SCRAM to Kafka 4: " SCRAM_MEND},
	{"SASL authentication error", 0, LOGIN},
	{"mechanism handshake failed", 0,
	 "the broker has another login; mend kafka.options.sasl.mechanisms"},
	{"require SASL", 0, "the broker wants a login; mend kafka.options.security.protocol"},
	{"certificate verify failed", 0,
	 "mend kafka.options.ssl.ca.location, or name the host as its certificate does"},
	{"SSL handshake failed", 0, "no TLS is spoken there; " WAY},
	{"SSL_HANDSHAKE", 0, "no TLS is spoken there; " WAY},
	{"SSL listener", 0, "TLS is spoken there; " WAY},
	{"Failed to resolve", 0,
	 "mend the host in kafka.brokers, or the broker's advertised.listeners"},
	{"Topic authorization failed", 0,
	 "let this user read or write the topic by kafka-acls (README, \"Your broker\")"},
	{"Message size too large", 0,
	 "raise the topic's max.message.bytes; if the record is smaller, keep kafka.options.batch.size under it"},
	{"Connection refused", 0, "start the broker, or mend the port in kafka.brokers"},
};

const char *kafka_mend(const char *text)
{
	for (size_t i = 0; i < sizeof(mends) / sizeof(*mends); i++) {
		if (strstr(text, mends[i].part) &&
		    (!mends[i].before || rd_kafka_version() < mends[i].before))
			return mends[i].mend;
	}
	return "";
}
