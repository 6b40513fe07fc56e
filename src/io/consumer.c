#include "base/clock.h"
#include "base/log.h"
#include "kafka.h"

#include <stdlib.h>

/* Pausing throws away what was fetched ahead, so it is done only after the caller wanted nothing for a while. */
enum { PAUSE_AFTER_MS = 1000 };
enum { ASK_AGAIN_MS = 1000 };

struct consumer {
	rd_kafka_t *rk;
	rd_kafka_queue_t *queue;   /* of group and records */
	rd_kafka_queue_t *answers; /* of committed offsets */
	rd_kafka_queue_t *closing; /* in place of the first while the group is left, else NULL */
	rd_kafka_topic_partition_list_t *topics;
	rd_kafka_topic_partition_list_t *coming; /* assigned, starts not known yet, or NULL */
	struct timer *ask_again;
	char *group;
	bool joined, assigned;
	struct bell bell;
	struct consumer_events events;
	void *owner;
	bool ready;	       /* there may be something to poll */
	bool paused;	       /* all assigned partitions are */
	int64_t full_since_ms; /* by clock_mono_ms(), when nothing was wanted; 0: something is */
	struct header *header; /* of the record being given */
	size_t n_header_max;
	struct kafka_trouble trouble;
	reactor_fn *closed; /* NULL: not closing, or told */
	void *closed_owner;
};

/* --- assignment --- */

static bool is_cooperative(rd_kafka_t *rk)
{
	const char *protocol = rd_kafka_rebalance_protocol(rk);
	return protocol && !strcmp(protocol, "COOPERATIVE");
}

static void warn_error(struct consumer *c, rd_kafka_error_t *error)
{
	if (error)
		kafka_warn(&c->trouble, c->rk, rd_kafka_error_code(error),
			   rd_kafka_error_string(error));
	rd_kafka_error_destroy(error);
}

static void warn_code(struct consumer *c, rd_kafka_resp_err_t code)
{
	if (code)
		kafka_warn(&c->trouble, c->rk, code, rd_kafka_err2str(code));
}

/* min(committed, mark). Without a mark the database knows nothing of the partition, perhaps since it was set back. With nothing
 * committed the mark would raise the start, past the end of a topic that was made anew. So in both cases from the beginning, as
 * when the committed offset cannot be had: what is known already is a duplicate. */
static int64_t start_offset(int64_t mark, const rd_kafka_topic_partition_t *committed)
{
	if (mark < 0 || committed->err || committed->offset < 0)
		return RD_KAFKA_OFFSET_BEGINNING;
	return mark < committed->offset ? mark : committed->offset;
}

static void set_start(struct consumer *c, rd_kafka_topic_partition_t *p,
		      const rd_kafka_topic_partition_t *committed)
{
	int64_t mark = c->events.assigned(c->owner, str_c(p->topic), p->partition);

	p->offset = start_offset(mark, committed);
	log_info("partition_assigned", L_STR("topic", p->topic), L_INT("partition", p->partition),
		 L_INT("mark", mark), L_INT("committed", committed->offset),
		 L_INT("start", p->offset));
}

static void assign(struct consumer *c, rd_kafka_topic_partition_list_t *list)
{
	if (is_cooperative(c->rk))
		warn_error(c, rd_kafka_incremental_assign(c->rk, list));
	else
		warn_code(c, rd_kafka_assign(c->rk, list));
	if (c->paused)
		warn_code(c, rd_kafka_pause_partitions(c->rk, list));
	c->assigned = true;
}

/* rd_kafka_committed() would wait for the broker. Until the answer the member stays alive to its group, by librdkafka's thread,
 * and the group's next change waits for our assign(). */
static void ask_committed(void *owner)
{
	struct consumer *c = owner;
	rd_kafka_ListConsumerGroupOffsets_t *of =
		rd_kafka_ListConsumerGroupOffsets_new(c->group, c->coming);

	rd_kafka_ListConsumerGroupOffsets(c->rk, &of, 1, NULL, c->answers);
	rd_kafka_ListConsumerGroupOffsets_destroy(of);
}

static void forget_coming(struct consumer *c)
{
	timer_stop(c->ask_again);
	if (c->coming)
		rd_kafka_topic_partition_list_destroy(c->coming);
	c->coming = NULL;
}

/* The answer's partitions; NULL: it is an error. */
static const rd_kafka_topic_partition_list_t *committed_of(struct consumer *c,
							   rd_kafka_event_t *answer)
{
	size_t n;
	rd_kafka_resp_err_t code = rd_kafka_event_error(answer);

	if (code) {
		kafka_warn(&c->trouble, c->rk, code, rd_kafka_event_error_string(answer));
		return NULL;
	}
	return rd_kafka_group_result_partitions(*rd_kafka_ListConsumerGroupOffsets_result_groups(
		rd_kafka_event_ListConsumerGroupOffsets_result(answer), &n));
}

static void serve_answer(struct consumer *c, rd_kafka_event_t *answer)
{
	const rd_kafka_topic_partition_list_t *committed = committed_of(c, answer);

	if (!c->coming)
		return;
	for (int i = 0; i < c->coming->cnt; i++) {
		rd_kafka_topic_partition_t *p = &c->coming->elems[i];
		const rd_kafka_topic_partition_t *found =
			committed ? rd_kafka_topic_partition_list_find(committed, p->topic,
								       p->partition)
				  : NULL;
		if (!found) {
			timer_start(c->ask_again, ASK_AGAIN_MS, 0);
			return;
		}
		set_start(c, p, found);
	}
	assign(c, c->coming);
	forget_coming(c);
}

static void serve_answers(struct consumer *c)
{
	rd_kafka_event_t *answer;

	while ((answer = rd_kafka_queue_poll(c->answers, 0))) {
		serve_answer(c, answer);
		rd_kafka_event_destroy(answer);
	}
}

static void assigned(struct consumer *c, rd_kafka_topic_partition_list_t *list)
{
	forget_coming(c);
	if (list->cnt == 0) { /* more members than partitions */
		assign(c, list);
		return;
	}
	c->coming = rd_kafka_topic_partition_list_copy(list);
	ask_committed(c);
}

static void revoke(struct consumer *c, rd_kafka_topic_partition_list_t *list)
{
	forget_coming(c);
	c->assigned = false;
	for (int i = 0; i < list->cnt; i++)
		c->events.revoked(c->owner, str_c(list->elems[i].topic), list->elems[i].partition);
	if (c->paused) /* else it would come back paused */
		warn_code(c, rd_kafka_resume_partitions(c->rk, list));
	if (is_cooperative(c->rk))
		warn_error(c, rd_kafka_incremental_unassign(c->rk, list));
	else
		warn_code(c, rd_kafka_assign(c->rk, NULL));
}

static void on_rebalance(rd_kafka_t *rk, rd_kafka_resp_err_t code,
			 rd_kafka_topic_partition_list_t *list, void *owner)
{
	if (code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
		assigned(owner, list);
	else
		revoke(owner, list);
}

static void pause_all(struct consumer *c, bool pause)
{
	rd_kafka_topic_partition_list_t *list = NULL;

	c->paused = pause;
	warn_code(c, rd_kafka_assignment(c->rk, &list));
	if (!list)
		return;
	warn_code(c, pause ? rd_kafka_pause_partitions(c->rk, list)
			   : rd_kafka_resume_partitions(c->rk, list));
	rd_kafka_topic_partition_list_destroy(list);
}

/* --- opening --- */

static void on_error(rd_kafka_t *rk, int code, const char *text, void *owner)
{
	struct consumer *c = owner;
	kafka_warn(&c->trouble, rk, (rd_kafka_resp_err_t)code, text);
}

static rd_kafka_conf_t *make_conf(const struct consumer_config *config, struct err *err)
{
	const struct kafka_option own[] = {
		{"group.id", config->group},
		{"enable.auto.commit", "true"},
		{"enable.auto.offset.store", "false"},
		{"auto.offset.reset", "earliest"},
		{"enable.partition.eof", "true"},
		{"auto.commit.interval.ms", "1000"},
		/* As the lease's default: what a crashed worker held is free again after both. Heartbeats come from a thread
		 * of librdkafka, so this is no limit to our turns. */
		{"session.timeout.ms", "10000"},
		{"partition.assignment.strategy", "range"},
		{"queued.max.messages.kbytes", "16384"},
		{"topic.metadata.refresh.interval.ms", "10000"},
	};

	return kafka_conf(config->brokers, own, sizeof(own) / sizeof(*own), config->option,
			  config->n_option, err);
}

static void on_bell(void *owner);

static enum status set_topics(struct consumer *c, const struct consumer_config *config,
			      struct err *err)
{
	c->topics = rd_kafka_topic_partition_list_new(config->n_topic);
	for (int i = 0; i < config->n_topic; i++) {
		if (rd_kafka_topic_partition_list_find(c->topics, config->topic[i],
						       RD_KAFKA_PARTITION_UA))
			return err_set(err, ST_INVALID, "kafka: topic %s is named twice",
				       config->topic[i]);
		rd_kafka_topic_partition_list_add(c->topics, config->topic[i],
						  RD_KAFKA_PARTITION_UA);
	}
	return ST_OK;
}

/* Not before the first poll: a member that does not poll holds up the join of all others. */
static void join(struct consumer *c)
{
	if (c->joined)
		return;
	c->joined = true;
	warn_code(c, rd_kafka_subscribe(c->rk, c->topics));
}

enum status consumer_open(struct reactor *r, const struct consumer_config *config,
			  const struct consumer_events *events, void *owner, struct consumer **out,
			  struct err *err)
{
	rd_kafka_conf_t *conf = make_conf(config, err);
	char why[256];

	if (!conf)
		return ST_INVALID;
	struct consumer *c = calloc(1, sizeof(*c));
	if (!c)
		BUG("out of memory: a consumer");
	c->events = *events;
	c->owner = owner;
	c->group = strdup(config->group);
	if (!c->group)
		BUG("out of memory: a consumer");
	rd_kafka_conf_set_opaque(conf, c);
	rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
	rd_kafka_conf_set_error_cb(conf, on_error);
	c->rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof(why));
	if (!c->rk) {
		rd_kafka_conf_destroy(conf);
		free(c->group);
		free(c);
		return err_set(err, ST_INVALID, "kafka.options: %s", why);
	}
	rd_kafka_poll_set_consumer(c->rk);
	c->queue = rd_kafka_queue_get_consumer(c->rk);
	bell_open(&c->bell, r, on_bell, c);
	bell_tie(&c->bell, c->queue);
	c->answers = rd_kafka_queue_new(c->rk);
	bell_tie(&c->bell, c->answers);
	c->ask_again = timer_new(r, ask_committed, c);
	enum status status = set_topics(c, config, err);
	if (status != ST_OK) {
		consumer_free(c);
		return status;
	}
	*out = c;
	return ST_OK;
}

/* --- records --- */

/* The message's headers, for as long as it lives. */
static int borrow_headers(struct consumer *c, const rd_kafka_message_t *m)
{
	rd_kafka_headers_t *all;

	if (rd_kafka_message_headers(m, &all) != RD_KAFKA_RESP_ERR_NO_ERROR)
		return 0;
	size_t n = rd_kafka_header_cnt(all);
	if (n > c->n_header_max) {
		c->header = realloc(c->header, sizeof(*c->header) * n);
		if (!c->header)
			BUG("out of memory: %zu headers", n);
		c->n_header_max = n;
	}
	for (size_t i = 0; i < n; i++) {
		const char *key;
		const void *value;
		size_t n_value;
		rd_kafka_header_get_all(all, i, &key, &value, &n_value);
		c->header[i] = (struct header){str_c(key), {value, n_value}};
	}
	return (int)n;
}

static bool give(struct consumer *c, const rd_kafka_message_t *m)
{
	struct str topic = str_c(m->rkt ? rd_kafka_topic_name(m->rkt) : "");

	if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
		c->events.at_end(c->owner, topic, m->partition, m->offset);
		return false;
	}
	if (m->err) {
		kafka_warn(&c->trouble, c->rk, m->err, rd_kafka_message_errstr(m));
		return false;
	}
	struct record record = {
		.topic = topic,
		.partition = m->partition,
		.offset = m->offset,
		.key = {m->key, m->key_len},
		.value = {m->payload, m->len},
		.n_header = borrow_headers(c, m),
	};
	record.header = c->header;
	c->events.record(c->owner, &record);
	return true;
}

/* Whether librdkafka is to be asked now. Without a pause that would bring records nobody wants. */
static bool may_poll(struct consumer *c, int n_want)
{
	if (n_want > 0) {
		c->full_since_ms = 0;
		if (c->paused)
			pause_all(c, false);
		return true;
	}
	int64_t now_ms = clock_mono_ms();
	if (!c->full_since_ms)
		c->full_since_ms = now_ms;
	if (!c->paused && now_ms - c->full_since_ms >= PAUSE_AFTER_MS)
		pause_all(c, true);
	return c->paused;
}

int consumer_poll(struct consumer *c, int n_want)
{
	int n_given = 0;

	if (c->closing)
		return 0;
	join(c);
	if (!may_poll(c, n_want))
		return 0;
	while (c->ready && (n_given < n_want || c->paused)) {
		rd_kafka_message_t *m = rd_kafka_consumer_poll(c->rk, 0);
		if (m) {
			n_given += give(c, m);
			rd_kafka_message_destroy(m);
		} else {
			c->ready = false;
		}
	}
	return n_given;
}

bool consumer_ready(const struct consumer *c)
{
	return c->ready && !c->full_since_ms;
}

void consumer_store(struct consumer *c, struct str topic, int32_t partition, int64_t next_offset)
{
	char name[TOPIC_NAME_BYTES];

	if (!kafka_topic(topic, name))
		return;
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rd_kafka_topic_partition_list_add(list, name, partition)->offset = next_offset;
	rd_kafka_offsets_store(c->rk, list); /* refuses what is not assigned */
	rd_kafka_topic_partition_list_destroy(list);
}

bool consumer_is_assigned(const struct consumer *c)
{
	return c->assigned;
}

/* Of one partition. What was never fetched of has no end known, and none was given; its start is a record's place or a word. */
static int64_t lag_of(struct consumer *c, const rd_kafka_topic_partition_t *p, int64_t position)
{
	int64_t low, end;

	if (rd_kafka_get_watermark_offsets(c->rk, p->topic, p->partition, &low, &end) || end < 0)
		return 0;
	if (position < 0)
		position = p->offset >= 0 ? p->offset : low;
	return end > position ? end - position : 0;
}

int consumer_lag(struct consumer *c, const char *topic, int64_t *n_behind)
{
	rd_kafka_topic_partition_list_t *list = NULL, *position;
	int n = 0;

	*n_behind = 0;
	if (rd_kafka_assignment(c->rk, &list) || !list)
		return 0;
	position = rd_kafka_topic_partition_list_copy(list);
	rd_kafka_position(c->rk, position);
	for (int i = 0; i < list->cnt; i++) {
		if (strcmp(list->elems[i].topic, topic) != 0)
			continue;
		*n_behind += lag_of(c, &list->elems[i], position->elems[i].offset);
		n++;
	}
	rd_kafka_topic_partition_list_destroy(position);
	rd_kafka_topic_partition_list_destroy(list);
	return n;
}

/* --- closing --- */

/* A consumer with a fatal error has left its group already. */
static bool is_closed(struct consumer *c)
{
	char why[256];
	return rd_kafka_consumer_closed(c->rk) || rd_kafka_fatal_error(c->rk, why, sizeof(why));
}

static void serve_close(struct consumer *c)
{
	reactor_fn *closed = c->closed;
	rd_kafka_message_t *m;

	while ((m = rd_kafka_consume_queue(c->closing, 0)))
		rd_kafka_message_destroy(m);
	if (!closed || !is_closed(c))
		return;
	c->closed = NULL;
	closed(c->closed_owner); /* may free us */
}

static void on_bell(void *owner)
{
	struct consumer *c = owner;

	c->ready = true;
	serve_answers(c);
	if (c->closing)
		serve_close(c);
}

void consumer_close(struct consumer *c, reactor_fn *done, void *owner)
{
	c->closed = done;
	c->closed_owner = owner;
	if (c->coming) { /* librdkafka waits for what comes of it */
		rd_kafka_topic_partition_list_t *none = rd_kafka_topic_partition_list_new(0);
		forget_coming(c);
		assign(c, none);
		rd_kafka_topic_partition_list_destroy(none);
	}
	c->closing = rd_kafka_queue_new(c->rk);
	bell_tie(&c->bell, c->closing);
	warn_error(c, rd_kafka_consumer_close_queue(c->rk, c->closing));
}

void consumer_free(struct consumer *c)
{
	if (!c)
		return;
	bell_untie(c->queue);
	rd_kafka_queue_destroy(c->queue);
	bell_untie(c->answers);
	rd_kafka_queue_destroy(c->answers);
	forget_coming(c);
	timer_close(c->ask_again);
	if (c->closing) {
		bell_untie(c->closing);
		rd_kafka_queue_destroy(c->closing);
	}
	rd_kafka_topic_partition_list_destroy(c->topics);
	rd_kafka_destroy_flags(c->rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
	bell_close(&c->bell);
	free(c->header);
	free(c->group);
	free(c);
}
