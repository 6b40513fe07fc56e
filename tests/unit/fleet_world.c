#include "fleet_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "database.h"

static void on_ready(void *owner, int64_t worker_id)
{
	struct worker *k = owner;
	k->n_ready++;
	k->worker_id = worker_id;
}

static void on_fenced(void *owner, const char *why)
{
	struct worker *k = owner;
	k->n_fenced++;
	assert_true(strlen(why) > 0);
}

static void on_job(void *owner, struct orphan_job *job)
{
	struct worker *k = owner;
	assert_true(k->n_job < TAKEN);
	k->job_no[k->n_job++] = job->job->job_no;
	k->n_strike = job->n_strike;
	k->n_step = job->n_step;
	if (k->check_job)
		k->check_job(job);
	orphan_free(job);
}

static void on_event(void *owner, const struct orphan_event *event)
{
	struct worker *k = owner;
	k->n_event++;
	if (k->check_event)
		k->check_event(event);
}

void on_done(void *owner)
{
	struct worker *k = owner;
	k->n_done++;
}

static void on_poll(void *owner)
{
	struct world *w = owner;
	if (w->until(w) || clock_mono_ms() > w->give_up_ms)
		reactor_stop(w->reactor);
}

bool happens(struct world *w, bool (*what)(struct world *), int64_t within_ms)
{
	w->until = what;
	w->give_up_ms = clock_mono_ms() + within_ms;
	reactor_run(w->reactor);
	return what(w);
}

bool never(struct world *w)
{
	return false;
}

bool both_ready(struct world *w)
{
	return w->worker[0].n_ready && w->worker[1].n_ready;
}

bool first_ready(struct world *w)
{
	return w->worker[0].n_ready;
}

bool is_done(struct world *w)
{
	return w->worker[0].n_done >= w->n;
}

void open_worker(struct world *w, int i, const char *conninfo)
{
	static const struct fleet_events events = {on_ready, on_fenced, on_job, on_event};
	struct fleet_config config = {conninfo, "host-a", "1.2.3", LEASE_MS};
	w->worker[i].fleet = fleet_open(w->reactor, &config, &events, &w->worker[i]);
}

void start(struct world *w, int n_workers)
{
	for (int i = 0; i < n_workers; i++)
		open_worker(w, i, database_conninfo_worker());
	assert_true(happens(w, n_workers == 2 ? both_ready : first_ready, 5000));
}

int fleet_setup(void **state)
{
	struct world *w = calloc(1, sizeof *w);
	w->reactor = reactor_new();
	w->poll = timer_new(w->reactor, on_poll, w);
	timer_start(w->poll, 5, 5);
	*state = w;
	return 0;
}

int fleet_teardown(void **state)
{
	struct world *w = *state;
	for (int i = 0; i < WORKERS; i++)
		fleet_free(w->worker[i].fleet);
	timer_close(w->poll);
	reactor_free(w->reactor);
	free(w);
	database_run("delete from draftmill.worker_lease; delete from draftmill.todo;"
		     "delete from draftmill.strike; delete from draftmill.intake_mark");
	return 0;
}

/* ---- the other side, by plain SQL ---- */

int64_t sql_int(const char *format, ...)
{
	char sql[2000];
	va_list args;
	va_start(args, format);
	vsnprintf(sql, sizeof sql, format, args);
	va_end(args);
	return database_int(sql);
}

int64_t other_worker(bool expired)
{
	return sql_int("with w as (insert into draftmill.worker (host, pid, version)"
		       " values ('b', 1, 'x') returning worker_id)"
		       " insert into draftmill.worker_lease (worker_id, lease_until)"
		       " select worker_id, now() %s from w returning worker_id",
		       expired ? "- interval '1 second'" : "+ interval '1 hour'");
}

bool is_dead(int64_t worker_id)
{
	return sql_int("select count(*) from draftmill.worker where worker_id = %lld"
		       " and died_at is not null",
		       (long long)worker_id);
}

int64_t plain_job(int64_t worker_id, int64_t offset)
{
	return sql_int(
		"with j as (insert into draftmill.job (job_no, source, id, revision, profile,"
		" profile_sha, stakes, cluster, topic, part, \"offset\", worker_id, at, payload_sha)"
		" values (draftmill.draw_block(), '', 'x', 0, 'p', '', 'normal', 'c', 'jobs', 0,"
		" %lld, 1, now(), sha256('')) returning job_no)"
		" insert into draftmill.todo (job_no, what, worker_id)"
		" select job_no, 'run', nullif(%lld, 0) from j returning job_no",
		(long long)offset, (long long)worker_id);
}

int64_t n_owned(int64_t worker_id)
{
	return sql_int("select count(*) from draftmill.todo where worker_id = %lld",
		       (long long)worker_id);
}

void cut_connections(void)
{
	database_run("select pg_terminate_backend(pid) from pg_stat_activity"
		     " where application_name like 'draftmill-control/%'");
}
