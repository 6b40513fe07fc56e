/*
 * kafka.h - what the consumer and the producer share: configuration, the logs of librdkafka, and its wake-ups.
 */
#ifndef IO_KAFKA_H
#define IO_KAFKA_H

#include "base/err.h"
#include "io/consumer.h"
#include "io/reactor.h"

#include <librdkafka/rdkafka.h>

enum { TOPIC_NAME_BYTES = 250 }; /* Kafka's limit is 249 */

/* What every client has, the @own of its kind, and the options of the settings over both. NULL: an option is wrong, *err names it. */
rd_kafka_conf_t *kafka_conf(const char *brokers, const struct kafka_option *own, int n_own,
			    const struct kafka_option *option, int n_option, struct err *err);

/* @topic with a NUL; false: it is too long to be one. */
bool kafka_topic(struct str topic, char text[TOPIC_NAME_BYTES]);

/* Trouble comes in storms: of each code one line in 10 s. */
struct kafka_trouble {
	struct {
		rd_kafka_resp_err_t code;
		int64_t logged_ms;
	} last[16];
};
void kafka_warn(struct kafka_trouble *, const rd_kafka_t *, rd_kafka_resp_err_t, const char *text);

/* Rings when a tied queue has something, and twice a second: librdkafka tells a queue's first element only, and its
 * group wants to be served also when there is none. Whoever hears it polls until the queue is empty. */
struct bell {
	int fd;
	struct watch *watch;
	struct timer *timer;
	reactor_fn *fn;
	void *owner;
};
void bell_open(struct bell *, struct reactor *, reactor_fn *, void *owner);
void bell_tie(struct bell *, rd_kafka_queue_t *);
void bell_untie(rd_kafka_queue_t *);
void bell_close(struct bell *); /* after the client is gone */

#endif
