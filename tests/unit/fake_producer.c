#include "fake_producer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct fake_broker fake_broker;

struct producer {
	producer_done *done;
	void *owner;
};

enum status producer_open(struct reactor *r, const char *brokers, const struct kafka_option *option,
			  int n_option, producer_done *done, void *owner, struct producer **out,
			  struct err *err)
{
	*out = calloc(1, sizeof(**out));
	**out = (struct producer){done, owner};
	return ST_OK;
}

enum status producer_send(struct producer *p, struct str topic, struct str key, struct str value,
			  const struct header *header, int n_header, void *cookie, struct err *err)
{
	assert_true(fake_broker.n < 16);
	struct fake_record *r = &fake_broker.record[fake_broker.n++];
	snprintf(r->topic, sizeof(r->topic), "%.*s", STR_ARG(topic));
	snprintf(r->key, sizeof(r->key), "%.*s", STR_ARG(key));
	snprintf(r->value, sizeof(r->value), "%.*s", STR_ARG(value));
	r->cookie = cookie;
	return ST_OK;
}

int producer_queued(const struct producer *p)
{
	return fake_broker.n - fake_broker.n_reported;
}

enum status producer_flush(struct producer *p, int timeout_ms)
{
	while (fake_broker.n_reported < fake_broker.n) {
		int i = fake_broker.n_reported++;
		bool refused = i == fake_broker.refuse_offset;
		p->done(p->owner, fake_broker.record[i].cookie, refused ? ST_DOWN : ST_OK,
			refused ? "Broker: Topic authorization failed" : "Success", 3,
			refused ? -1 : i);
	}
	if (fake_broker.reported)
		fake_broker.reported();
	return ST_OK;
}

void producer_free(struct producer *p)
{
	free(p);
}
