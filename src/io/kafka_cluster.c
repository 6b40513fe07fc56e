#include "base/buf.h"
#include "base/clock.h"
#include "io/cluster.h"
#include "kafka.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { REPLICAS = 3, ENDS_BYTES_MAX = 64 << 20, AGAIN_MS = 100 };
/* Of OpenSSL's X509_V_ERR_*, that librdkafka passes on. */
enum { CERT_EXPIRED = 10, CERT_OTHER_HOST = 62, CERT_OTHER_ADDRESS = 64 };

struct cluster {
	rd_kafka_t *rk;
	rd_kafka_queue_t *answers;
	int timeout_ms;
	char *id;	 /* of librdkafka */
	atomic_int cert; /* why the certificate was refused; 0: it was not */
	struct err why;	 /* the last trouble that somebody can mend, else the last */
	bool has_mend;
	bool tells_no_configs; /* a broker may not know the question, and say nothing */
};

/* --- why there is no answer --- */

static const char *mend_of(const struct cluster *c, const char *text)
{
	if (strstr(text, "certificate verify failed")) {
		if (c->cert == CERT_OTHER_HOST || c->cert == CERT_OTHER_ADDRESS)
			return "its certificate is for another host; name the broker as its certificate does";
		if (c->cert == CERT_EXPIRED)
			return "its certificate has expired; the broker needs a new one";
		return "no CA that is known here has signed its certificate; mend "
		       "kafka.options.ssl.ca.location";
	}
	return kafka_mend(text);
}

/* Only while rd_kafka_poll() is called. Of the text without "(after 3 ms in state ..)". */
static void on_error(rd_kafka_t *rk, int code, const char *text, void *owner)
{
	struct cluster *c = owner;
	const char *mend = mend_of(c, text), *after = strstr(text, " (after ");

	if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || (c->has_mend && !*mend))
		return;
	c->has_mend = *mend;
	(void)err_set(&c->why, ST_DOWN, "%.*s%s%s", (int)(after ? after - text : 300), text,
		      *mend ? "; " : "", mend);
}

/* On a thread of librdkafka. */
static int on_certificate(rd_kafka_t *rk, const char *broker, int32_t id, int *x509_error,
			  int depth, const char *bytes, size_t n, char *text, size_t n_text,
			  void *owner)
{
	struct cluster *c = owner;

	if (*x509_error)
		c->cert = *x509_error;
	return *x509_error == 0;
}

static enum status no_answer(struct cluster *c, rd_kafka_resp_err_t code, struct err *err)
{
	while (rd_kafka_poll(c->rk, 0) > 0)
		;
	return err_set(err, ST_DOWN, "kafka.brokers: %s",
		       *c->why.text ? c->why.text : rd_kafka_err2str(code));
}

static bool is_denied(rd_kafka_resp_err_t code)
{
	return code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
	       code == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED ||
	       code == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED;
}

/* Whether to ask again, after a moment: a topic or a group was just made, or its broker has just started. */
static bool passes(rd_kafka_resp_err_t code, int64_t until_mono_ms)
{
	switch (code) {
	case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
	case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
	case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
	case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
	case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
	case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
	case RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE:
		return clock_mono_ms() < until_mono_ms && poll(NULL, 0, AGAIN_MS) == 0;
	default:
		return false;
	}
}

/* --- opening --- */

enum status cluster_open(const char *brokers, const struct kafka_option *option, int n_option,
			 int timeout_ms, struct cluster **out, struct err *err)
{
	rd_kafka_conf_t *conf = kafka_conf(brokers, NULL, 0, option, n_option, err);
	char why[256];

	if (!conf)
		return ST_INVALID;
	struct cluster *c = calloc(1, sizeof(*c));
	if (!c)
		BUG("out of memory: a cluster");
	c->timeout_ms = timeout_ms;
	rd_kafka_conf_set_opaque(conf, c);
	rd_kafka_conf_set_error_cb(conf, on_error);
	(void)rd_kafka_conf_set_ssl_cert_verify_cb(conf, on_certificate); /* not without TLS */
	c->rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof(why));
	if (!c->rk) {
		rd_kafka_conf_destroy(conf);
		free(c);
		return err_set(err, ST_INVALID, "kafka.options: %s%s", why,
			       strstr(why, "location failed")
				       ? "; the file must be there and hold PEM"
				       : "");
	}
	c->answers = rd_kafka_queue_new(c->rk);
	*out = c;
	return ST_OK;
}

void cluster_close(struct cluster *c)
{
	if (!c)
		return;
	if (c->id)
		rd_kafka_mem_free(c->rk, c->id);
	rd_kafka_queue_destroy(c->answers);
	rd_kafka_destroy(c->rk);
	free(c);
}

enum status cluster_id(struct cluster *c, const char **id, struct err *err)
{
	if (!c->id)
		c->id = rd_kafka_clusterid(c->rk, c->timeout_ms);
	if (!c->id)
		return no_answer(c, RD_KAFKA_RESP_ERR__TIMED_OUT, err);
	*id = c->id;
	return ST_OK;
}

/* --- topics --- */

static enum status ask(struct cluster *c, const char *name, const struct rd_kafka_metadata **found,
		       struct err *err)
{
	rd_kafka_topic_t *topic = rd_kafka_topic_new(c->rk, name, NULL);
	rd_kafka_resp_err_t code = topic ? rd_kafka_metadata(c->rk, 0, topic, found, c->timeout_ms)
					 : rd_kafka_last_error();

	if (topic)
		rd_kafka_topic_destroy(topic);
	return code ? no_answer(c, code, err) : ST_OK;
}

enum status cluster_topic(struct cluster *c, const char *name, struct topic *out, struct err *err)
{
	const struct rd_kafka_metadata *found;

	if (ask(c, name, &found, err) != ST_OK)
		return ST_DOWN;
	*out = (struct topic){.state = TOPIC_MISSING, .retention_ms = TOPIC_UNKNOWN};
	if (found->topic_cnt == 1) {
		const struct rd_kafka_metadata_topic *t = found->topics;
		if (is_denied(t->err)) {
			out->state = TOPIC_DENIED;
		} else if (t->partition_cnt > 0 &&
			   (!t->err || t->err == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE)) {
			out->state = TOPIC_THERE;
			out->n_partitions = t->partition_cnt;
			out->n_replicas = t->partitions[0].replica_cnt;
		}
	}
	rd_kafka_metadata_destroy(found);
	return ST_OK;
}

/* To what was asked of @c->answers; the caller destroys *answer, also NULL. */
static rd_kafka_resp_err_t await_code(struct cluster *c, rd_kafka_event_t **answer)
{
	*answer = rd_kafka_queue_poll(c->answers, c->timeout_ms + 1000);
	return *answer ? rd_kafka_event_error(*answer) : RD_KAFKA_RESP_ERR__TIMED_OUT;
}

static enum status status_of(struct cluster *c, rd_kafka_resp_err_t code, struct err *err)
{
	if (!code)
		return ST_OK;
	if (is_denied(code) || code == RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE)
		return err_set(err, ST_INVALID, "%s", rd_kafka_err2str(code));
	return no_answer(c, code, err);
}

static enum status await(struct cluster *c, rd_kafka_event_t **answer, struct err *err)
{
	return status_of(c, await_code(c, answer), err);
}

static rd_kafka_AdminOptions_t *in_time(struct cluster *c, rd_kafka_admin_op_t op)
{
	rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(c->rk, op);
	char why[256];

	if (rd_kafka_AdminOptions_set_request_timeout(options, c->timeout_ms, why, sizeof(why)))
		BUG("kafka: %s", why);
	return options;
}

static int64_t value_of(rd_kafka_event_t *answer, const char *key)
{
	size_t n_resource, n;
	const rd_kafka_ConfigResource_t **resource = rd_kafka_DescribeConfigs_result_resources(
		rd_kafka_event_DescribeConfigs_result(answer), &n_resource);
	const rd_kafka_ConfigEntry_t **entry =
		n_resource ? rd_kafka_ConfigResource_configs(resource[0], &n) : NULL;

	for (size_t i = 0; entry && i < n; i++)
		if (!strcmp(rd_kafka_ConfigEntry_name(entry[i]), key))
			return strtoll(rd_kafka_ConfigEntry_value(entry[i]), NULL, 10);
	return TOPIC_UNKNOWN;
}

int64_t cluster_retention_ms(struct cluster *c, const char *name)
{
	int64_t ms = TOPIC_UNKNOWN;
	rd_kafka_event_t *answer;
	struct err ignored;

	if (c->tells_no_configs)
		return ms;
	rd_kafka_ConfigResource_t *of = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, name);
	rd_kafka_AdminOptions_t *options = in_time(c, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
	rd_kafka_DescribeConfigs(c->rk, &of, 1, options, c->answers);
	if (await(c, &answer, &ignored) == ST_OK)
		ms = value_of(answer, "retention.ms");
	else
		c->tells_no_configs = true;
	rd_kafka_event_destroy(answer);
	rd_kafka_AdminOptions_destroy(options);
	rd_kafka_ConfigResource_destroy(of);
	return ms;
}

/* Its offsets, of all partitions or these; the caller destroys *answer, also NULL. */
static enum status ask_group(struct cluster *c, const char *group,
			     const rd_kafka_topic_partition_list_t *partitions,
			     rd_kafka_event_t **answer, struct err *err)
{
	const int64_t until_mono_ms = clock_mono_ms() + c->timeout_ms;
	rd_kafka_ListConsumerGroupOffsets_t *of =
		rd_kafka_ListConsumerGroupOffsets_new(group, partitions);
	rd_kafka_AdminOptions_t *options = in_time(c, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS);
	rd_kafka_resp_err_t code;

	*answer = NULL;
	do {
		rd_kafka_event_destroy(*answer);
		rd_kafka_ListConsumerGroupOffsets(c->rk, &of, 1, options, c->answers);
		code = await_code(c, answer);
	} while (passes(code, until_mono_ms));
	rd_kafka_AdminOptions_destroy(options);
	rd_kafka_ListConsumerGroupOffsets_destroy(of);
	return status_of(c, code, err);
}

enum status cluster_group(struct cluster *c, const char *group, struct err *err)
{
	rd_kafka_event_t *answer;
	enum status status = ask_group(c, group, NULL, &answer, err);

	rd_kafka_event_destroy(answer);
	return status;
}

static enum status create(struct cluster *c, rd_kafka_NewTopic_t *topic, struct err *err)
{
	rd_kafka_AdminOptions_t *options = in_time(c, RD_KAFKA_ADMIN_OP_CREATETOPICS);
	rd_kafka_event_t *answer;
	size_t n;

	rd_kafka_CreateTopics(c->rk, &topic, 1, options, c->answers);
	enum status status = await(c, &answer, err);
	const rd_kafka_topic_result_t *made =
		status == ST_OK ? *rd_kafka_CreateTopics_result_topics(
					  rd_kafka_event_CreateTopics_result(answer), &n)
				: NULL;
	if (made && rd_kafka_topic_result_error(made))
		status = err_set(err, ST_INVALID, "%s", rd_kafka_topic_result_error_string(made));
	rd_kafka_event_destroy(answer);
	rd_kafka_AdminOptions_destroy(options);
	return status;
}

/* Asked of a topic, as with no topic librdkafka asks for all it knows, and to make them. */
static enum status count_replicas(struct cluster *c, const char *name, int *n, struct err *err)
{
	const struct rd_kafka_metadata *found;

	if (ask(c, name, &found, err) != ST_OK)
		return ST_DOWN;
	*n = found->broker_cnt < REPLICAS ? found->broker_cnt : REPLICAS;
	rd_kafka_metadata_destroy(found);
	return ST_OK;
}

enum status cluster_create(struct cluster *c, const char *name, struct topic *topic,
			   struct err *err)
{
	char why[256], retention[24];

	if (!topic->n_replicas && count_replicas(c, name, &topic->n_replicas, err) != ST_OK)
		return ST_DOWN;
	rd_kafka_NewTopic_t *new = rd_kafka_NewTopic_new(name, topic->n_partitions,
							 topic->n_replicas, why, sizeof(why));
	if (!new)
		return err_set(err, ST_INVALID, "%s", why);
	snprintf(retention, sizeof(retention), "%lld", (long long)topic->retention_ms);
	rd_kafka_NewTopic_set_config(new, "retention.ms", retention);
	enum status status = create(c, new, err);
	rd_kafka_NewTopic_destroy(new);
	if (status == ST_OK)
		topic->state = TOPIC_THERE;
	return status;
}

/* --- ends --- */

static enum status topic_ends(struct cluster *c, const char *name, struct buf *ends,
			      struct arena *a, struct err *err)
{
	struct partition_end end = {.topic = arena_str(a, str_c(name))};
	struct topic topic;

	if (cluster_topic(c, name, &topic, err) != ST_OK)
		return ST_DOWN;
	if (topic.state != TOPIC_THERE)
		return err_set(err, ST_DOWN, "kafka: topic %s is not there, or not for this user",
			       name);
	for (; end.partition < topic.n_partitions; end.partition++) {
		const int64_t until_mono_ms = clock_mono_ms() + c->timeout_ms;
		rd_kafka_resp_err_t code;
		do
			code = rd_kafka_query_watermark_offsets(c->rk, name, end.partition,
								&end.low, &end.end, c->timeout_ms);
		while (passes(code, until_mono_ms));
		if (code)
			return err_set(err, ST_DOWN, "kafka: end of %s/%d: %s", name,
				       (int)end.partition, rd_kafka_err2str(code));
		buf_put(ends, &end, sizeof(end));
	}
	return ST_OK;
}

/* Of the group, in @committed or -1. A partition whose offset cannot be had counts as one without. */
static void set_committed(const rd_kafka_topic_partition_list_t *committed,
			  struct partition_end *end, int n)
{
	for (int i = 0; i < n; i++) {
		const rd_kafka_topic_partition_t *p = rd_kafka_topic_partition_list_find(
			committed, end[i].topic.p, end[i].partition);
		end[i].committed = p && !p->err && p->offset >= 0 ? p->offset : -1;
	}
}

enum status cluster_committed(struct cluster *c, const char *group, struct partition_end *end,
			      int n, struct err *err)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(n);
	rd_kafka_event_t *answer;
	size_t n_group;

	for (int i = 0; i < n; i++)
		rd_kafka_topic_partition_list_add(list, end[i].topic.p, end[i].partition);
	enum status status = ask_group(c, group, list, &answer, err);
	if (status == ST_OK)
		set_committed(
			rd_kafka_group_result_partitions(
				*rd_kafka_ListConsumerGroupOffsets_result_groups(
					rd_kafka_event_ListConsumerGroupOffsets_result(answer),
					&n_group)),
			end, n);
	rd_kafka_event_destroy(answer);
	rd_kafka_topic_partition_list_destroy(list);
	return status;
}

enum status cluster_ends(struct cluster *c, const char *const *name, int n_name, struct arena *a,
			 struct partition_end **end, int *n, struct err *err)
{
	struct buf ends = BUF(ENDS_BYTES_MAX);
	enum status status = ST_OK;

	for (int i = 0; i < n_name && status == ST_OK; i++)
		status = topic_ends(c, name[i], &ends, a, err);
	if (status == ST_OK) {
		*n = (int)(ends.n / sizeof(**end));
		*end = memcpy(arena_array(a, struct partition_end, *n), buf_view(&ends).p, ends.n);
	}
	buf_release(&ends);
	return status;
}
