#include "kafka.h"
#include "base/clock.h"
#include "base/log.h"

#include <sys/eventfd.h>
#include <unistd.h>

enum { WARN_AGAIN_MS = 10000, RING_MS = 500 };
enum { SYSLOG_NOTICE = 5, SYSLOG_INFO = 6 };

/* Called on threads of librdkafka. */
static void on_log(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
	enum log_level ours = level <= SYSLOG_NOTICE ? LOG_WARN
			      : level == SYSLOG_INFO ? LOG_INFO
						     : LOG_DEBUG;

	/* The first: options for the other kind of client; the settings are for both. The next two: the error callback
	 * has it too. The last: a broker from before 0.11 (or the mock), again with each refresh of the metadata. */
	if (!strcmp(facility, "CONFWARN") || !strcmp(facility, "FAIL") ||
	    !strcmp(facility, "SSLCERTVRFY") || !strcmp(facility, "AUTOCREATE"))
		ours = LOG_DEBUG;
	LOG_AT(ours, "kafka_client", L_STR("client", rk ? rd_kafka_name(rk) : ""),
	       L_STR("facility", facility), L_STR("text", text));
}

static void set_all(rd_kafka_conf_t *conf, const struct kafka_option *option, int n)
{
	char why[256];

	for (int i = 0; i < n; i++)
		if (rd_kafka_conf_set(conf, option[i].key, option[i].value, why, sizeof(why)) !=
		    RD_KAFKA_CONF_OK)
			BUG("kafka: %s", why);
}

rd_kafka_conf_t *kafka_conf(const char *brokers, const struct kafka_option *own, int n_own,
			    const struct kafka_option *option, int n_option, struct err *err)
{
	const struct kafka_option common[] = {
		{"bootstrap.servers", brokers},	       {"client.id", "draftmill"},
		{"allow.auto.create.topics", "false"}, {"socket.nagle.disable", "true"},
		{"reconnect.backoff.max.ms", "500"},
	};
	rd_kafka_conf_t *conf;

	for (int i = 0; i < n_option; i++)
		if (kafka_option_check(&option[i], err) != ST_OK)
			return NULL;
	conf = rd_kafka_conf_new();
	rd_kafka_conf_set_log_cb(conf, on_log);
	set_all(conf, common, sizeof(common) / sizeof(*common));
	set_all(conf, own, n_own);
	set_all(conf, option, n_option);
	return conf;
}

bool kafka_topic(struct str topic, char text[TOPIC_NAME_BYTES])
{
	if (topic.n >= TOPIC_NAME_BYTES)
		return false;
	memcpy(text, topic.p, topic.n);
	text[topic.n] = '\0';
	return true;
}

void kafka_warn(struct kafka_trouble *t, const rd_kafka_t *rk, rd_kafka_resp_err_t code,
		const char *text)
{
	int64_t now_ms = clock_mono_ms();
	size_t i = (unsigned)code % (sizeof(t->last) / sizeof(t->last[0]));

	if (t->last[i].code == code && now_ms - t->last[i].logged_ms < WARN_AGAIN_MS)
		return;
	t->last[i].code = code;
	t->last[i].logged_ms = now_ms;
	log_warn("kafka_trouble", L_STR("client", rd_kafka_name(rk)),
		 L_STR("code", rd_kafka_err2name(code)), L_STR("text", text),
		 L_STR("mend", kafka_mend(text)));
}

static void on_ring(void *owner, int events)
{
	struct bell *b = owner;
	uint64_t n;

	if (read(b->fd, &n, sizeof(n)) == sizeof(n))
		b->fn(b->owner);
}

static void on_time(void *owner)
{
	struct bell *b = owner;
	b->fn(b->owner);
}

void bell_open(struct bell *b, struct reactor *r, reactor_fn *fn, void *owner)
{
	b->fn = fn;
	b->owner = owner;
	b->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (b->fd < 0)
		BUG("eventfd: %m");
	b->watch = watch_new(r, b->fd, on_ring, b);
	watch_set(b->watch, WATCH_READ);
	b->timer = timer_new(r, on_time, b);
	timer_start(b->timer, 1,
		    RING_MS); /* the first at once: what came before the tie made no sound */
}

void bell_tie(struct bell *b, rd_kafka_queue_t *queue)
{
	static const uint64_t one = 1;
	rd_kafka_queue_io_event_enable(queue, b->fd, &one, sizeof(one));
}

void bell_untie(rd_kafka_queue_t *queue)
{
	rd_kafka_queue_io_event_enable(queue, -1, NULL, 0);
}

void bell_close(struct bell *b)
{
	watch_close(b->watch);
	timer_close(b->timer);
	close(b->fd);
}

void consumer_library(struct buf *out)
{
	buf_printf(out, "librdkafka %s", rd_kafka_version_str());
}
