#include "io/producer.h"
#include "base/log.h"
#include "kafka.h"

#include <pthread.h>
#include <stdlib.h>

struct producer {
	rd_kafka_conf_t *conf; /* each client gets a copy */
	rd_kafka_t *rk;
	rd_kafka_queue_t *queue; /* of the reports */
	struct bell bell;
	producer_done *done; /* NULL: nobody is told any more */
	void *owner;
	int n_queued;
	bool failed;	  /* fatally; made anew once all its reports are in */
	pthread_t ending; /* the one before is being destroyed there */
	bool has_ending;
	struct kafka_trouble trouble;
};

static enum status report_status(rd_kafka_resp_err_t code)
{
	switch (code) {
	case RD_KAFKA_RESP_ERR_NO_ERROR:
		return ST_OK;
	case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
	case RD_KAFKA_RESP_ERR_INVALID_RECORD:
		return ST_INVALID;
	default:
		return ST_DOWN;
	}
}

static void on_report(rd_kafka_t *rk, const rd_kafka_message_t *m, void *owner)
{
	struct producer *p = owner;

	p->n_queued--;
	if (m->err)
		kafka_warn(&p->trouble, rk, m->err, rd_kafka_err2str(m->err));
	if (p->done)
		p->done(p->owner, m->_private, report_status(m->err), rd_kafka_err2str(m->err),
			m->partition, m->offset);
}

static void on_error(rd_kafka_t *rk, int code, const char *text, void *owner)
{
	struct producer *p = owner;
	kafka_warn(&p->trouble, rk, (rd_kafka_resp_err_t)code, text);
}

static enum status start(struct producer *p, struct err *err)
{
	char why[256];
	rd_kafka_conf_t *conf = rd_kafka_conf_dup(p->conf);

	p->rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof(why));
	if (!p->rk) {
		rd_kafka_conf_destroy(conf);
		return err_set(err, ST_INVALID, "kafka.options: %s", why);
	}
	p->queue = rd_kafka_queue_get_main(p->rk);
	bell_tie(&p->bell, p->queue);
	return ST_OK;
}

static void *destroy(void *rk)
{
	rd_kafka_destroy(rk);
	return NULL;
}

static void await_ending(struct producer *p)
{
	if (p->has_ending)
		pthread_join(p->ending, NULL);
	p->has_ending = false;
}

/* On a thread of its own: destroying waits for librdkafka's threads, and these perhaps for a name server. */
static void end(struct producer *p)
{
	if (!p->rk)
		return;
	bell_untie(p->queue);
	rd_kafka_queue_destroy(p->queue);
	await_ending(p);
	if (pthread_create(&p->ending, NULL, destroy, p->rk))
		BUG("no thread can be made: %m");
	p->has_ending = true;
}

/* After a fatal error librdkafka sends nothing more. What was queued or on its way is reported as failed, now, by its own
 * threads. */
static void renew_if_fatal(struct producer *p)
{
	char why[256];
	struct err err;

	if (!p->failed && rd_kafka_fatal_error(p->rk, why, sizeof(why))) {
		log_error("producer_renewed", L_STR("why", why), L_INT("n_failed", p->n_queued));
		rd_kafka_purge(p->rk, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT |
					      RD_KAFKA_PURGE_F_NON_BLOCKING);
		p->failed = true;
	}
	if (!p->failed || p->n_queued)
		return;
	end(p);
	if (start(p, &err) != ST_OK)
		BUG("a second producer cannot start: %s", err.text);
	p->failed = false;
}

static void serve(void *owner)
{
	struct producer *p = owner;

	while (rd_kafka_poll(p->rk, 0) > 0)
		;
	renew_if_fatal(p);
}

enum status producer_open(struct reactor *r, const char *brokers, const struct kafka_option *option,
			  int n_option, producer_done *done, void *owner, struct producer **out,
			  struct err *err)
{
	const struct kafka_option own[] = {
		{"acks", "all"},
		{"enable.idempotence", "true"},
		{"linger.ms", "5"},
		{"message.max.bytes", "10485760"}, /* the broker's limit is to decide */
	};
	rd_kafka_conf_t *conf =
		kafka_conf(brokers, own, sizeof(own) / sizeof(*own), option, n_option, err);

	if (!conf)
		return ST_INVALID;
	struct producer *p = calloc(1, sizeof(*p));
	if (!p)
		BUG("out of memory: a producer");
	p->conf = conf;
	p->done = done;
	p->owner = owner;
	rd_kafka_conf_set_opaque(conf, p);
	rd_kafka_conf_set_dr_msg_cb(conf, on_report);
	rd_kafka_conf_set_error_cb(conf, on_error);
	bell_open(&p->bell, r, serve, p);
	enum status status = start(p, err);
	if (status != ST_OK) {
		producer_free(p);
		return status;
	}
	*out = p;
	return ST_OK;
}

static rd_kafka_headers_t *copy_headers(const struct header *header, int n_header)
{
	rd_kafka_headers_t *all = rd_kafka_headers_new((size_t)n_header);

	for (int i = 0; i < n_header; i++)
		rd_kafka_header_add(all, header[i].key.p, (ssize_t)header[i].key.n,
				    header[i].value.p, (ssize_t)header[i].value.n);
	return all;
}

enum status producer_send(struct producer *p, struct str topic, struct str key, struct str value,
			  const struct header *header, int n_header, void *cookie, struct err *err)
{
	char name[TOPIC_NAME_BYTES];

	if (!kafka_topic(topic, name))
		return err_set(err, ST_INVALID, "kafka: a topic name of %zu bytes", topic.n);
	rd_kafka_headers_t *all = copy_headers(header, n_header);
	rd_kafka_resp_err_t code =
		rd_kafka_producev(p->rk, RD_KAFKA_V_TOPIC(name), RD_KAFKA_V_KEY(key.p, key.n),
				  RD_KAFKA_V_VALUE((void *)(uintptr_t)value.p, value.n),
				  RD_KAFKA_V_HEADERS(all), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
				  RD_KAFKA_V_OPAQUE(cookie), RD_KAFKA_V_END);
	if (!code) {
		p->n_queued++;
		return ST_OK;
	}
	rd_kafka_headers_destroy(all);
	if (code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
		return err_set(err, ST_INVALID,
			       "kafka: a record of %zu bytes for %s is over message.max.bytes",
			       key.n + value.n, name);
	return err_set(err, ST_AGAIN, "kafka: %s: %s", name, rd_kafka_err2str(code));
}

int producer_queued(const struct producer *p)
{
	return p->n_queued;
}

enum status producer_flush(struct producer *p, int timeout_ms)
{
	renew_if_fatal(p);
	rd_kafka_flush(p->rk, timeout_ms);
	renew_if_fatal(p);
	return p->n_queued == 0 ? ST_OK : ST_DOWN;
}

void producer_free(struct producer *p)
{
	if (!p)
		return;
	p->done = NULL;
	end(p);
	await_ending(p);
	bell_close(&p->bell);
	rd_kafka_conf_destroy(p->conf);
	free(p);
}
