#include "app/preflight.h"

#include "app/migrate.h"
#include "base/log.h"
#include "core/event.h"
#include "core/row.h"
#include "io/consumer.h"

enum { BROKER_TIMEOUT_MS = 5000 };

static int tell(fault_fn *fault, void *owner, const char *place, const char *text, const char *mend)
{
	struct err err;

	(void)err_set(&err, ST_INVALID, "%s: %s%s", place, text, mend);
	fault(owner, &err);
	return 1;
}

/* --- the database --- */

/* $1: names of the trail's tables. Privileges that lack, and those that are too much. */
static const char rights_sql[] =
	"select current_user,"
	" string_agg(t, ', ') filter (where not (has_table_privilege(q, 'SELECT')"
	"  and has_table_privilege(q, 'INSERT'))),"
	" string_agg(t, ', ') filter (where has_table_privilege(q, 'UPDATE, DELETE, TRUNCATE'))"
	" from unnest(string_to_array($1, ' ')) t, lateral (values ('draftmill.' || t)) v (q)";

static enum status check_rights(struct pg *pg, struct err *err)
{
	static const struct table *const trail[] = {
		&job_table,   &step_table,    &attempt_table, &draft_table, &critique_table,
		&issue_table, &outcome_table, &outbox_table,  &sent_table,  &dead_letter_table,
	};
	struct buf names = BUF(1000);
	struct pg_rows *rows;

	for (size_t i = 0; i < sizeof(trail) / sizeof(*trail); i++)
		buf_printf(&names, "%s%s", i ? " " : "", trail[i]->name);
	enum status status =
		pg_query(pg, rights_sql, (const char *const[]){buf_view(&names).p}, 1, &rows, err);
	buf_release(&names);
	if (status != ST_OK)
		return status;
	struct str user = pg_text(rows, 0, 0), lacking = pg_text(rows, 0, 1),
		   excess = pg_text(rows, 0, 2);
	if (lacking.p)
		status = err_set(
			err, ST_INVALID,
			"user %.*s may not read and add to %.*s; connect as draftmill_worker",
			STR_ARG(user), STR_ARG(lacking));
	else if (excess.p)
		status = err_set(err, ST_INVALID,
				 "user %.*s may change the trail (%.*s), which no auditor will "
				 "accept; connect as draftmill_worker",
				 STR_ARG(user), STR_ARG(excess));
	pg_rows_free(rows);
	return status;
}

int preflight_database(const struct settings *settings, fault_fn *fault, void *owner)
{
	struct arena *a = arena_new();
	const struct migration *migration;
	struct pg *pg = NULL;
	struct err err;
	int n, n_fault = 0;

	if (pg_connect(settings->database_conninfo, "draftmill-check", &pg, &err) != ST_OK)
		n_fault = tell(fault, owner, "database", err.text, "; mend database.conninfo");
	else if (migrations_read(a, settings->sql_dir, &migration, &n, &err) != ST_OK ||
		 migrate_check(pg, migration, n, &err) != ST_OK || check_rights(pg, &err) != ST_OK)
		n_fault = tell(fault, owner, "database", err.text, "");
	pg_free(pg);
	arena_free(a);
	return n_fault;
}

enum status preflight_schema(const struct settings *s, struct err *err)
{
	struct pg *pg = NULL;
	struct pg_rows *rows = NULL;
	enum status status = pg_connect(s->database_conninfo, "draftmill-start", &pg, err);

	if (status != ST_OK) {
		err_at(err, "database.conninfo: ");
		return ST_DOWN;
	}
	status = pg_query(pg, "select max(version) from draftmill.migration", NULL, 0, &rows, err);
	if (status == ST_INVALID)
		err_at(err, "the database has no schema for this user; run `draftmill migrate`: ");
	pg_rows_free(rows);
	pg_free(pg);
	return status;
}

/* --- the broker --- */

const char *const *preflight_topics(const struct settings *s, int *n)
{
	int n_kind = 0;

	while (event_kind_at(n_kind))
		n_kind++;
	*n = s->n_job_topic + n_kind + 1;
	const char **topic = arena_array(s->arena, const char *, *n);
	for (int i = 0; i < s->n_job_topic; i++)
		topic[i] = s->job_topic[i];
	for (int i = 0; i < n_kind; i++)
		topic[s->n_job_topic + i] = arena_printf(s->arena, "%s%s", s->kafka_topic_prefix,
							 event_kind_at(i)->topic)
						    .p;
	topic[*n - 1] = arena_printf(s->arena, "%s" DEAD_LETTER_TOPIC, s->kafka_topic_prefix).p;
	return topic;
}

void preflight_topics_missing(const struct settings *settings, struct consumer *consumer,
			      int timeout_ms)
{
	int n;
	const char *const *topic = preflight_topics(settings, &n);
	struct err err;

	for (int i = 0; i < n; i++)
		if (consumer_has_topic(consumer, topic[i], timeout_ms, &err) != ST_OK)
			log_error("topic_missing", L_STR("topic", topic[i]),
				  L_STR("why", err.text));
}

/* Through a group of its own, so that no worker's partitions move. */
int preflight_broker(const struct settings *settings, fault_fn *fault, void *owner)
{
	struct reactor *reactor = reactor_new();
	struct consumer_config config = {
		.brokers = settings->kafka_brokers,
		.group = arena_printf(settings->arena, "%s.check", settings->kafka_group).p,
		.option = settings->kafka_option,
		.n_option = settings->n_kafka_option,
	};
	const struct consumer_events events = {.record = NULL}; /* it is never polled */
	const struct partition_end *end;
	struct consumer *consumer = NULL;
	struct err err;
	int n, n_fault = 0;

	config.topic = preflight_topics(settings, &config.n_topic);
	if (consumer_open(reactor, &config, &events, NULL, &consumer, &err) != ST_OK ||
	    consumer_ends(consumer, settings->arena, BROKER_TIMEOUT_MS, &end, &n, &err) != ST_OK)
		n_fault = tell(fault, owner, "broker", err.text,
			       "; mend kafka.brokers, or make the topic");
	consumer_free(consumer);
	reactor_free(reactor);
	return n_fault;
}

/* --- providers --- */

/* A model of the provider that a profile uses; NULL: none. */
static const struct model *used_model(const struct settings *settings,
				      const struct profiles *profiles,
				      const struct provider *provider)
{
	const struct profile *p;

	for (int i = 0; (p = profiles_at(profiles, i)); i++) {
		for (int role = 0; role < N_ROLES; role++) {
			if (str_eq(p->model[role].provider, provider->name))
				return settings_model(settings, p->model[role].name);
		}
	}
	return NULL;
}

int preflight_providers(const struct settings *settings, const struct profiles *profiles,
			fault_fn *fault, void *owner)
{
	struct endpoint endpoint;
	struct err err;
	int n_fault = 0;

	for (int i = 0; i < settings->n_provider; i++) {
		const struct model *model = used_model(settings, profiles, &settings->provider[i]);
		if (!model ||
		    settings_endpoint(settings, settings->arena, model, &endpoint, &err) == ST_OK)
			continue;
		fault(owner, &err);
		n_fault++;
	}
	return n_fault;
}
