#include "app/preflight.h"

#include "app/credential.h"
#include "app/migrate.h"
#include "app/sample.h"
#include "app/sandbox.h"
#include "app/suggest.h"
#include "app/topics.h"
#include "base/log.h"
#include "core/job.h"
#include "core/row.h"
#include "core/stakes.h"

enum { BROKER_TIMEOUT_MS = 5000 };

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

void preflight_database(const struct settings *settings, struct faults *faults)
{
	struct arena *a = arena_new();
	const struct migration *migration;
	struct pg *pg = NULL;
	struct err err;
	int n;

	if (pg_connect(settings->database_conninfo, "draftmill-check", &pg, &err) != ST_OK)
		faults_add(faults, "database", "%s; mend database.conninfo", err.text);
	else if (pg_refuse_pooler(pg, &err) != ST_OK)
		faults_add(faults, "database.conninfo", "%s", err.text);
	else if (migrations_read(a, settings->sql_dir, &migration, &n, &err) != ST_OK ||
		 migrate_check(pg, migration, n, &err) != ST_OK || check_rights(pg, &err) != ST_OK)
		faults_add(faults, "database", "%s", err.text);
	pg_free(pg);
	arena_free(a);
}

static enum status check_schema(const struct settings *s, struct err *err)
{
	struct pg *pg = NULL;
	enum status status = pg_connect(s->database_conninfo, "draftmill-start", &pg, err);

	if (status == ST_OK)
		status = pg_refuse_pooler(pg, err);
	if (status != ST_OK) {
		err_at(err, "database.conninfo: ");
		pg_free(pg);
		return status;
	}
	status = pg_query(pg, "select max(version) from draftmill.migration", NULL, 0, NULL, err);
	if (status == ST_INVALID)
		err_at(err, "the database has no schema for this user; run `draftmill migrate`: ");
	pg_free(pg);
	return status;
}

/* --- the broker --- */

void preflight_options(const struct settings *s, struct faults *notes)
{
	struct err err;

	for (int i = 0; i < s->n_kafka_option; i++) {
		if (kafka_option_fault(&s->kafka_option[i], &err))
			faults_add(notes, NULL, "%s", err.text);
	}
}

static void log_note(void *owner, const struct err *note)
{
	log_warn("kafka_fault", L_STR("what", note->text));
}

void preflight_log(const struct settings *s, struct cluster *cluster)
{
	int n;
	const struct topic_need *need = topics_needed(s, &n);
	struct topic topic;
	struct err err;

	preflight_options(s, &(struct faults){.tell = log_note});
	for (int i = 0; i < n; i++)
		if (cluster_topic(cluster, need[i].name, &topic, &err) != ST_OK ||
		    topic_fault(s, &need[i], topic.state, &err))
			log_error("topic_missing", L_STR("topic", need[i].name),
				  L_STR("why", err.text));
}

static enum status check_cluster(const struct settings *s, struct cluster *cluster,
				 struct faults *faults, struct err *err)
{
	int n;
	const struct topic_need *need = topics_needed(s, &n);
	struct topic topic;

	for (int i = 0; i < n; i++) {
		enum status status = cluster_topic(cluster, need[i].name, &topic, err);
		if (status != ST_OK)
			return status;
		if (topic_fault(s, &need[i], topic.state, err))
			faults_add(faults, "broker", "%s", err->text);
	}
	enum status status = cluster_group(cluster, s->kafka_group, err);
	if (status == ST_INVALID)
		topics_group_fault(s, err);
	return status;
}

void preflight_broker(const struct settings *s, struct faults *faults)
{
	struct cluster *cluster = NULL;
	const char *id;
	struct err err;

	if (cluster_open(s->kafka_brokers, s->kafka_option, s->n_kafka_option, BROKER_TIMEOUT_MS,
			 &cluster, &err) != ST_OK ||
	    cluster_id(cluster, &id, &err) != ST_OK ||
	    check_cluster(s, cluster, faults, &err) != ST_OK)
		faults_add(faults, "broker", "%s", err.text);
	cluster_close(cluster);
}

/* --- profiles --- */

/* Whether a sample job gives the variable; the nearest that one gives is in @near. */
static bool is_given(struct arena *a, const struct profiles *profiles, const struct sample *sample,
		     int n, struct suggest *near)
{
	struct job job;
	struct err err;

	for (int i = 0; i < n; i++) {
		if (job_read(a, &(struct record){.value = sample[i].job},
			     profiles_job_schema(profiles), &job, &err) != DEAD_NONE)
			continue;
		if (job_variable(&job, near->wanted).p)
			return true;
		for (int k = 0; k < job.n_variable; k++)
			suggest_offer(near, job.variable[k].name);
	}
	return false;
}

/* A profile without samples, or with faulty ones, has nothing to compare with. */
static void note_variables(const struct profiles *profiles, const struct profile *p,
			   struct faults *notes)
{
	struct faults unread = {.tell = NULL};
	struct arena *a = arena_new();
	const struct sample *sample;
	int n;

	if (p->n_stakes_rule && samples_read(a, profiles, p, &sample, &n, &unread)) {
		for (int i = 0; i < p->n_stakes_rule; i++) {
			struct suggest near = {.wanted = p->stakes_rule[i].variable};
			if (!is_given(a, profiles, sample, n, &near))
				faults_add(notes, NULL,
					   "profile %.*s: stakes_rules[%d].variable: no sample job "
					   "gives \"%.*s\"; %s%.*s",
					   STR_ARG(p->name), i, STR_ARG(near.wanted),
					   near.best.p ? "did you mean " : "add one that does",
					   STR_ARG(near.best));
		}
	}
	arena_free(a);
}

void preflight_profiles(const struct profiles *profiles, struct faults *notes)
{
	const struct profile *p;

	for (int i = 0; (p = profiles_at(profiles, i)); i++) {
		const struct str name = profiles_name_at(profiles, i);
		if (p->mode == MODE_REFLECT)
			faults_add(
				notes, NULL,
				"profile %.*s: in mode reflect the writer judges itself and "
				"overlooks what it believes; another model as critic is worth more",
				STR_ARG(name));
		note_variables(profiles, p, notes);
		if (p->mode == MODE_CRITIC_REFINER &&
		    model_same(&p->model[ROLE_CRITIC], &p->model[ROLE_REFINER]))
			faults_add(
				notes, NULL,
				"profile %.*s: models.refiner: the critic's model mends what it then "
				"judges; leave the refiner out, and it is the generator's",
				STR_ARG(p->name));
	}
}

/* --- tools --- */

void preflight_tools(const struct settings *s, const struct profiles *profiles,
		     struct faults *faults)
{
	const struct profile *p;
	struct err err;

	for (int i = 0; (p = profiles_at(profiles, i)); i++)
		for (int k = 0; k < p->n_tool; k++)
			if (sandbox_try(s, &p->tool[k], &err) != ST_OK)
				faults_add(faults, profiles_name_at(profiles, i).p, "%s", err.text);
}

enum status preflight_start(const struct settings *s, const struct profiles *profiles,
			    struct err *err)
{
	struct faults faults = {.tell = NULL};
	enum status status = check_schema(s, err);

	if (status != ST_OK)
		return status;
	preflight_tools(s, profiles, &faults);
	if (faults.n)
		*err = faults.first;
	return faults.n ? ST_INVALID : ST_OK;
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

/* All that a call needs, without a call; @offline: as far as this machine can tell. */
static enum status check_provider(const struct settings *s, const struct provider *p,
				  const struct model *model, bool offline, struct err *err)
{
	struct credential *credential;
	struct endpoint endpoint;

	if (settings_endpoint(s, s->arena, model, &endpoint, err) != ST_OK)
		return ST_INVALID;
	enum status status = offline ? credential_look(p, err)
				     : credential_open(NULL, p, true, &credential, err);
	if (status == ST_OK && !offline) {
		credential_put(credential, &endpoint);
		status = endpoint_reach(&endpoint, err);
		credential_close(credential);
	}
	if (status != ST_OK)
		err_at(err, "providers.%.*s: ", STR_ARG(p->name));
	return status;
}

void preflight_providers(const struct settings *settings, const struct profiles *profiles,
			 bool offline, struct faults *faults)
{
	struct err err;

	for (int i = 0; i < settings->n_provider; i++) {
		const struct provider *p = &settings->provider[i];
		const struct model *model = used_model(settings, profiles, p);
		if (model && check_provider(settings, p, model, offline, &err) != ST_OK)
			faults_add(faults, NULL, "%s", err.text);
	}
}
