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

	/* The first: options for the other kind of client; the settings are for both. The second: the error callback
	 * has it too. */
	if (!strcmp(facility, "CONFWARN") || !strcmp(facility, "FAIL"))
		ours = LOG_DEBUG;
	LOG_AT(ours, "kafka_client", L_STR("client", rk ? rd_kafka_name(rk) : ""),
	       L_STR("facility", facility), L_STR("text", text));
}

static enum status set(rd_kafka_conf_t *conf, const char *key, const char *value, struct err *err)
{
	char why[256];

	if (rd_kafka_conf_set(conf, key, value, why, sizeof(why)) != RD_KAFKA_CONF_OK)
		return err_set(err, ST_INVALID, "kafka.%s: %s", key, why);
	return ST_OK;
}

static enum status set_all(rd_kafka_conf_t *conf, const struct kafka_rule *rule, int n_rule,
			   const struct kafka_option *option, int n_option, struct err *err)
{
	enum status status = ST_OK;

	for (int i = 0; i < n_rule && status == ST_OK; i++)
		status = set(conf, rule[i].key, rule[i].value, err);
	for (int i = 0; i < n_option && status == ST_OK; i++) {
		for (int k = 0; k < n_rule; k++) {
			if (rule[k].fixed && !strcmp(rule[k].key, option[i].key))
				return err_set(err, ST_INVALID,
					       "kafka.%s: draftmill sets it itself; leave it out",
					       option[i].key);
		}
		status = set(conf, option[i].key, option[i].value, err);
	}
	return status;
}

rd_kafka_conf_t *kafka_conf(const struct kafka_rule *rule, int n_rule,
			    const struct kafka_option *option, int n_option, struct err *err)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();

	if (set_all(conf, rule, n_rule, option, n_option, err) != ST_OK) {
		rd_kafka_conf_destroy(conf);
		return NULL;
	}
	rd_kafka_conf_set_log_cb(conf, on_log);
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
		 L_STR("code", rd_kafka_err2name(code)), L_STR("text", text));
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
