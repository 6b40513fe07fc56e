/* `draftmill topics`: the topics that there must be, as they are and as they should be; --create makes what lacks. */
#include "command.h"

#include "app/topics.h"
#include "base/json.h"

#include <stdio.h>

enum { TIMEOUT_MS = 5000, REPORT_BYTES_MAX = 1 << 20 };
enum { PARTITIONS_MAX = 10000, REPLICAS_MAX = 100, DAYS_MAX = 36500 };
#define DAY_MS (24LL * 3600 * 1000)

struct wish {
	bool create, as_json;
	int64_t n_partitions, n_replicas, days; /* of new ones; 0: as recommended */
	int n_lacking;
	struct json_out json;
};

static const char *state_name(enum topic_state state)
{
	return state == TOPIC_THERE ? "there" : state == TOPIC_DENIED ? "denied" : "missing";
}

static const char *days_text(int64_t ms, char text[24])
{
	if (ms == TOPIC_UNKNOWN || ms == TOPIC_FOREVER)
		return ms == TOPIC_FOREVER ? "forever" : "-";
	snprintf(text, 24, "%.4g days", (double)ms / DAY_MS);
	return text;
}

static const char row[] = "%-32s %-8s %10s %8s %9s  %s\n";

static void print_topic(const struct topic_need *need, const struct topic *t)
{
	char partitions[16], replicas[16], kept[24], days[24], recommended[64];

	snprintf(partitions, sizeof(partitions), "%d", t->n_partitions);
	snprintf(replicas, sizeof(replicas), "%d", t->n_replicas);
	snprintf(recommended, sizeof(recommended), "%d, %s", need->recommended.n_partitions,
		 days_text(need->recommended.retention_ms, days));
	printf(row, need->name, state_name(t->state), partitions, replicas,
	       days_text(t->retention_ms, kept), recommended);
}

static void put_topic(struct json_out *o, const struct topic_need *need, const struct topic *t)
{
	json_open(o, NULL, '{');
	json_put_str(o, "topic", str_c(need->name));
	json_put_str(o, "state", str_c(state_name(t->state)));
	json_put_int(o, "partitions", t->n_partitions);
	json_put_int(o, "replicas", t->n_replicas);
	if (t->retention_ms == TOPIC_UNKNOWN)
		json_put_null(o, "retention_ms");
	else
		json_put_int(o, "retention_ms", t->retention_ms);
	json_put_int(o, "recommended_partitions", need->recommended.n_partitions);
	json_put_int(o, "recommended_retention_ms", need->recommended.retention_ms);
	json_close(o, '}');
}

static enum status make(const struct wish *w, struct cluster *cluster,
			const struct topic_need *need, struct topic *out, struct err *err)
{
	*out = need->recommended;
	if (w->n_partitions)
		out->n_partitions = (int)w->n_partitions;
	if (w->days)
		out->retention_ms = w->days * DAY_MS;
	out->n_replicas = (int)w->n_replicas;
	enum status status = cluster_create(cluster, need->name, out, err);
	if (status != ST_OK)
		err_at(err, "topic %s cannot be made: ", need->name);
	return status;
}

static enum status show_topic(struct wish *w, const struct settings *s, struct cluster *cluster,
			      const struct topic_need *need, struct err *err)
{
	struct topic topic;
	enum status status = cluster_topic(cluster, need->name, &topic, err);

	if (status == ST_OK && topic.state == TOPIC_THERE)
		topic.retention_ms = cluster_retention_ms(cluster, need->name);
	if (status == ST_OK && topic.state == TOPIC_MISSING && w->create)
		status = make(w, cluster, need, &topic, err);
	if (status != ST_OK)
		return status;
	if (topic_fault(s, need, topic.state, err)) {
		w->n_lacking++;
		fprintf(stderr, "%s\n", err->text);
	}
	if (w->as_json)
		put_topic(&w->json, need, &topic);
	else
		print_topic(need, &topic);
	return ST_OK;
}

static int show(const struct command *self, const struct settings *s, struct wish *w)
{
	struct buf report = BUF(REPORT_BYTES_MAX);
	struct cluster *cluster = NULL;
	struct err err;
	int n;
	const struct topic_need *need = topics_needed(s, &n);
	enum status status = cluster_open(s->kafka_brokers, s->kafka_option, s->n_kafka_option,
					  TIMEOUT_MS, &cluster, &err);

	w->json.buf = &report;
	json_open(&w->json, NULL, '[');
	if (!w->as_json && status == ST_OK)
		printf(row, "topic", "state", "partitions", "replicas", "kept", "recommended");
	for (int i = 0; i < n && status == ST_OK; i++)
		status = show_topic(w, s, cluster, &need[i], &err);
	json_close(&w->json, ']');
	cluster_close(cluster);
	if (w->as_json && status == ST_OK)
		printf("%s\n", buf_view(&report).p);
	buf_release(&report);
	if (status != ST_OK)
		return command_fail(self, status == ST_DOWN ? EXIT_UNAVAILABLE : EXIT_CONFIG,
				    err.text);
	return w->n_lacking > 0;
}

static bool number(const struct command_line *line, const char *option, int64_t max, int64_t *out)
{
	const char *text = command_value(line, option);

	return !text || str_to_int(str_c(text), 1, max, out);
}

static int topics(const struct command *self, const struct command_line *line)
{
	struct wish w = {.create = command_value(line, "create"),
			 .as_json = command_value(line, "json")};

	if (!number(line, "partitions", PARTITIONS_MAX, &w.n_partitions) ||
	    !number(line, "replicas", REPLICAS_MAX, &w.n_replicas) ||
	    !number(line, "days", DAYS_MAX, &w.days))
		return command_fail(self, EXIT_USAGE,
				    "--partitions, --replicas and --days take numbers from 1");
	return show(self, &line->settings, &w);
}

static const struct option options[] = {
	{"create", NULL, "make those that are not there"},
	{"partitions", "N", "of each new one"},
	{"replicas", "N", "of each new one (3, or as many as there are brokers)"},
	{"days", "N", "that each new one keeps records"},
	{"json", NULL, "as one JSON array"},
	{.name = NULL},
};

const struct command topics_command = {
	.name = "topics",
	.usage = "[--create [--partitions N] [--replicas N] [--days N]] [--json]",
	.summary =
		"Shows the topics that draftmill needs, as they are and as recommended, or makes them",
	.option = options,
	.run = topics,
};
