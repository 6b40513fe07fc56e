#include "trail_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "core/profile.h"
#include "database.h"

struct slot slot[WRITES];

void stored(void *owner, enum stored how, const struct stored_why *why)
{
	struct slot *s = owner;
	s->w->stored[s->i] = how;
	s->w->why[s->i] = *why;
	if (how == STORED_REFUSED)
		snprintf(s->w->sqlstate[s->i], 6, "%s", why->sqlstate);
	if (++s->w->n_done == s->w->wait_for)
		reactor_stop(s->w->reactor);
}

static void fenced(void *owner, const char *why)
{
	struct world *w = owner;
	w->fenced = true;
	reactor_stop(w->reactor);
}

static void marked(void *owner, struct str topic, int32_t partition, int64_t next_offset)
{
	struct world *w = owner;
	assert_true(str_is(topic, "jobs"));
	assert_int_equal(partition, 3);
	w->marked = next_offset;
	reactor_stop(w->reactor);
}

const struct trail_events world_events = {.fenced = fenced, .marked = marked};

static void too_long(void *owner)
{
	struct world *w = owner;
	fail_msg("only %d of %d writes were answered", w->n_done, w->wait_for);
}

int64_t new_worker(void)
{
	return database_int("insert into draftmill.worker (host, pid, version)"
			    " values ('test', 1, 'test') returning worker_id");
}

void open_world(struct world *w, const char *conninfo)
{
	*w = (struct world){.reactor = reactor_new(), .marked = -1};
	w->limit = timer_new(w->reactor, too_long, w);
	w->base = database_int("select draftmill.draw_block()");
	w->worker_id = new_worker();
	w->trail = trail_open(w->reactor, conninfo, &world_events, w);
	trail_start(w->trail, w->worker_id);
	for (int i = 0; i < WRITES; i++)
		slot[i] = (struct slot){w, i};
}

void close_world(struct world *w)
{
	trail_free(w->trail);
	timer_close(w->limit);
	timer_close(w->tick);
	reactor_free(w->reactor);
}

void run(struct world *w, int n)
{
	w->wait_for = n;
	timer_start(w->limit, 20000, 0);
	if (w->n_done < n || n == 0)
		reactor_run(w->reactor);
	timer_stop(w->limit);
}

int64_t count(const char *table, const struct world *w)
{
	char sql[200];
	snprintf(sql, sizeof sql,
		 "select count(*) from draftmill.%s where job_no between %lld and %lld", table,
		 (long long)w->base, (long long)w->base + 4095);
	return database_int(sql);
}

int64_t count_todo(const struct world *w, const char *what)
{
	char sql[300];
	snprintf(sql, sizeof sql,
		 "select count(*) from draftmill.todo where what = '%s' and worker_id = %lld"
		 " and job_no between %lld and %lld",
		 what, (long long)w->worker_id, (long long)w->base, (long long)w->base + 4095);
	return database_int(sql);
}

/* ---- rows ---- */

static const struct profile profile = {
	.sha = {9, 9}, .name = STR("email"), .json = STR("{\"a\":1}")};

void make_step(struct step_rows *rows, const struct world *w, int64_t job_no, int64_t step_no)
{
	*rows = (struct step_rows){.step = {.job_no = job_no,
					    .step_no = step_no,
					    .fact = STR_OF(step_no ? "replied" : "started"),
					    .call_no = step_no ? step_no - 1 : ROW_NULL,
					    .worker_id = w->worker_id,
					    .at_ms = 1796000000123,
					    .lost = ROW_NULL,
					    .n_maybe_billed = ROW_NULL,
					    .intents = 1,
					    .http_status = step_no ? 200 : ROW_NULL,
					    .whole = true,
					    .tokens_in = step_no ? 10 : ROW_NULL,
					    .tokens_cached = ROW_NULL,
					    .tokens_out = ROW_NULL,
					    .cost_micro_usd = 7,
					    .latency_ms = ROW_NULL,
					    .reply = STR_OF("{\"reply\":\0001}"),
					    .action = STR_OF("call critic 1"),
					    .hash = {(uint8_t)step_no, 1}}};
}

void make_job(struct job_rows *j, const struct world *w, int64_t job_no, int key,
	      const char *payload)
{
	*j = (struct job_rows){.job = {.job_no = job_no,
				       .source = STR_OF(""),
				       .id = STR_OF("an id"),
				       .profile = STR_OF("email"),
				       .stakes = STR_OF("normal"),
				       .not_after_ms = ROW_NULL,
				       .cluster = STR_OF("c"),
				       .topic = STR_OF("jobs"),
				       .part = 3,
				       .offset = key,
				       .worker_id = w->worker_id,
				       .at_ms = 1796000000123,
				       .payload = str_c(payload)}};
	sha256(j->job.payload, j->job.payload_sha);
	make_step(&j->first, w, job_no, 0);
	j->intake = (struct intake){.job = &j->job, .first = &j->first, .profile = &profile};
	/* Keys of different tests differ, those of one test by @key. */
	memcpy(j->intake.key, &w->base, sizeof w->base);
	memcpy(j->intake.key + 8, &key, sizeof key);
}

struct outbox_row event_row(int64_t job_no, const char *kind)
{
	return (struct outbox_row){.job_no = job_no,
				   .kind = str_c(kind),
				   .event_id = {4, 2},
				   .topic = STR_OF("results"),
				   .key = STR_OF("an id"),
				   .payload = STR_OF("{}")};
}

void make_ending(struct ending_rows *e, const struct world *w, int64_t job_no, int64_t step_no)
{
	*e = (struct ending_rows){
		.draft = {.job_no = job_no,
			  .draft_no = 0,
			  .step_no = step_no,
			  .from_draft_no = ROW_NULL,
			  .body = STR_OF("Dear 様"),
			  .confidence_permille = ROW_NULL},
		.critique = {.job_no = job_no, .step_no = step_no, .valid = true, .n_issue = 2},
		.outcome = {.job_no = job_no,
			    .outcome = STR_OF("escalated"),
			    .stop_reason = STR_OF("max_iterations"),
			    .score = 70,
			    .worker_id = w->worker_id,
			    .at_ms = 1796000000456},
		.event = {event_row(job_no, "outcome"), event_row(job_no, "opened")},
	};
	for (int i = 0; i < 2; i++)
		e->issue[i] = (struct issue_row){.job_no = job_no,
						 .step_no = step_no,
						 .n = i,
						 .category = STR_OF("tone"),
						 .severity = 3,
						 .at = ROW_NULL,
						 .length = ROW_NULL};
	make_step(&e->step, w, job_no, step_no);
	e->step.draft = &e->draft;
	e->step.critique = &e->critique;
	e->step.issue = e->issue;
	e->step.n_issue = 2;
	e->step.outcome = &e->outcome;
	e->step.event = e->event;
	e->step.n_event = 2;
}

void take_in(struct world *w, struct job_rows *job, int n)
{
	for (int i = 0; i < n; i++) {
		make_job(&job[i], w, w->base + i, i, "payload");
		trail_intake(w->trail, &job[i].intake, stored, &slot[w->n_done + i]);
	}
	run(w, w->n_done + n);
}
