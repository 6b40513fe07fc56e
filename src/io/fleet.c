/*
 * A fleet's life: it registers, draws numbers and reads the ledger, then is ready; from then on a heartbeat keeps its lease.
 * A registration whose answer was lost is made again, and the first one's row is ended by the others when its lease runs out.
 */
#include "fleet_op.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

enum { BEAT_MS_MAX = 1000, DAY_MS = 24 * 3600 * 1000, ORPHANS_MAX = 10000 };

/* ---- numbers ---- */

static void draw_finish(struct fleet *f, struct op *op)
{
	bool none = f->block[0].next == f->block[0].end;
	int64_t first = pg_int(op->rows[0], 0, 0);
	f->block[none ? 0 : 1] = (struct number_block){first, first + NUMBER_BLOCK};
	f->n_drawing--;
	fleet_get_ready(f);
}

static const struct op_kind draw = {
	.name = "draw",
	.statement = {{"fleet_draw", "select draftmill.draw_block()", NULL}},
	.finish = draw_finish,
};

/* One block in use, one ahead. */
static void draw_ahead(struct fleet *f)
{
	int n = f->n_drawing;
	for (int i = 0; i < 2; i++)
		n += f->block[i].next < f->block[i].end;
	for (; n < 2; n++) {
		f->n_drawing++;
		fleet_queue(f, op_new(&draw));
	}
}

int64_t fleet_number(struct fleet *f)
{
	if (f->block[0].next == f->block[0].end)
		return 0;
	int64_t number = f->block[0].next++;
	if (f->block[0].next == f->block[0].end) {
		f->block[0] = f->block[1];
		f->block[1] = (struct number_block){0, 0};
		draw_ahead(f);
	}
	return number;
}

int64_t fleet_n_numbers(const struct fleet *f)
{
	return f->block[0].end - f->block[0].next + f->block[1].end - f->block[1].next;
}

/* ---- heartbeat ---- */

static void beat_finish(struct fleet *f, struct op *op)
{
	const struct pg_rows *rows = op->rows[0];
	f->beating = false;
	if (f->leaving)
		return;
	if (pg_n(rows) == 0) {
		fleet_fence(
			f,
			"this worker was marked dead: its lease had run out, or somebody ended it");
		return;
	}
	if (!str_is(pg_text(rows, 0, 4), f->timeline)) {
		fleet_fence(f, "the database is on another timeline: a standby was promoted");
		return;
	}
	/* What kept this one from its heartbeats may have kept the others: they have a lease's time to come back. */
	if (f->lease_until_mono_ms && op->sent_mono_ms > f->lease_until_mono_ms)
		f->spare_until_mono_ms = op->sent_mono_ms + f->lease_ms;
	f->lease_until_mono_ms = op->sent_mono_ms + f->lease_ms;
	f->n_alive = pg_int(rows, 0, 0);
	f->n_orphans = pg_int(rows, 0, 2);
	f->orphan_events = str_is(pg_text(rows, 0, 3), "t");
	if (pg_int(rows, 0, 1) > 0 && op->sent_mono_ms >= f->spare_until_mono_ms)
		fleet_reap(f);
	fleet_get_ready(f);
}

/* The lease is set to -infinity together with the mark of death, so a heartbeat that waited for that finds nothing to extend.
 * The connection is named by the way: it was opened without a worker's number, and may be another one since. */
static const struct op_kind beat = {
	.name = "beat",
	.statement =
		{{"fleet_beat",
		  "update draftmill.worker_lease"
		  " set lease_until = clock_timestamp() + $2 * interval '1 millisecond'"
		  " where worker_id = $1 and lease_until > '-infinity'"
		  " and (select w.died_at from draftmill.worker w where w.worker_id = $1) is null"
		  " returning (select 1 + count(*) from draftmill.worker_lease o"
		  " where o.worker_id <> $1 and o.lease_until >= clock_timestamp()),"
		  " (select count(*) from draftmill.worker_lease o"
		  " where o.worker_id <> $1 and o.lease_until < clock_timestamp()),"
		  " (select count(*) from (select from draftmill.todo"
		  " where worker_id is null and what = 'run' limit $3) o),"
		  " exists (select from draftmill.todo where worker_id is null and what <> 'run'),"
		  " draftmill.timeline(),"
		  " set_config('application_name', 'draftmill-control/' || $1, false)",
		  NULL}},
	.finish = beat_finish,
};

/* ---- months ---- */

static void months_finish(struct fleet *f, struct op *op)
{
	f->last_month_ms = pg_int(op->rows[0], 0, 0);
	fleet_get_ready(f);
}

static const struct op_kind months = {
	.name = "months",
	.statement = {{"fleet_months",
		       "select extract(epoch from date_trunc('month', now() at time zone 'UTC')"
		       " + interval '2 months')::bigint * 1000"
		       " from draftmill.ensure_months(2), draftmill.note_baselines()",
		       NULL}},
	.finish = months_finish,
};

static void make_months(struct fleet *f)
{
	int64_t now_ms = clock_mono_ms();
	if (now_ms < f->months_mono_ms)
		return;
	f->months_mono_ms = now_ms + DAY_MS;
	fleet_queue(f, op_new(&months));
}

/* ---- beginning and end ---- */

static void on_tick(void *owner)
{
	struct fleet *f = owner;
	if (f->worker_id && !f->leaving && !f->fenced) {
		if (!f->beating)
			fleet_queue(f, op_new(&beat, f->worker_id, f->lease_ms, ORPHANS_MAX));
		f->beating = true;
		fleet_read_ledger(f);
		make_months(f);
		fleet_look(f);
	}
	fleet_send(f);
}

static void register_finish(struct fleet *f, struct op *op)
{
	struct str timeline = pg_text(op->rows[0], 0, 1);
	f->worker_id = pg_int(op->rows[0], 0, 0);
	snprintf(f->timeline, sizeof f->timeline, "%.*s", STR_ARG(timeline));
	draw_ahead(f);
	on_tick(f);
}

static const struct op_kind registration = {
	.name = "register",
	.statement =
		{{"fleet_register",
		  "with w as (insert into draftmill.worker (host, pid, version)"
		  " values ($3, $1, $4) returning worker_id, timeline),"
		  " l as (insert into draftmill.worker_lease (worker_id, lease_until)"
		  " select worker_id, clock_timestamp() + $2 * interval '1 millisecond' from w)"
		  " select worker_id, timeline from w",
		  NULL}},
	.finish = register_finish,
};

void fleet_get_ready(struct fleet *f)
{
	if (f->ready || f->leaving || !f->last_month_ms || !f->lease_until_mono_ms ||
	    !f->ledger.arena || f->block[1].next == f->block[1].end)
		return;
	f->ready = true;
	log_info("worker_registered", L_INT("worker_id", f->worker_id));
	f->events.ready(f->owner, f->worker_id);
}

void fleet_fence(struct fleet *f, const char *why)
{
	if (f->fenced || f->leaving)
		return;
	f->fenced = true;
	log_error("worker_fenced", L_INT("worker_id", f->worker_id), L_STR("why", why));
	f->events.fenced(f->owner, why);
}

struct fleet *fleet_open(struct reactor *reactor, const struct fleet_config *config,
			 const struct fleet_events *events, void *owner)
{
	struct fleet *f = mem_new(struct fleet);
	char name[64];
	f->reactor = reactor;
	f->events = *events;
	f->owner = owner;
	f->lease_ms = config->lease_ms;
	f->n_alive = 1;
	snprintf(name, sizeof name, "draftmill-control/%.32s:%d", config->host, (int)getpid());
	f->pg = pg_open(reactor, config->conninfo, name, &fleet_connection, f);
	int64_t beat_ms = f->lease_ms / 3 < BEAT_MS_MAX ? f->lease_ms / 3 : BEAT_MS_MAX;
	f->tick = timer_new(reactor, on_tick, f);
	timer_start(f->tick, beat_ms, beat_ms);

	struct op *op = op_new(&registration, getpid(), f->lease_ms);
	op_text(op, str_c(config->host));
	op_text(op, str_c(config->version));
	fleet_queue(f, op);
	return f;
}

void fleet_free(struct fleet *f)
{
	if (!f)
		return;
	pg_free(f->pg);
	timer_close(f->tick);
	timer_close(f->leave_limit);
	op_queue_release(&f->queue);
	take_release(&f->take);
	ledger_release(&f->ledger);
	free(f);
}

int64_t fleet_worker_id(const struct fleet *f)
{
	return f->worker_id;
}

int fleet_n_alive(const struct fleet *f)
{
	return (int)f->n_alive;
}

int64_t fleet_n_ended(const struct fleet *f)
{
	return f->n_ended;
}

bool fleet_has_next_month(const struct fleet *f, int64_t unix_ms)
{
	return unix_ms < f->last_month_ms;
}

int64_t fleet_n_orphans(const struct fleet *f)
{
	return f->n_orphans + f->take.list.n - f->take.next;
}

int64_t fleet_lease_until_mono_ms(const struct fleet *f)
{
	return f->lease_until_mono_ms;
}

bool fleet_may_act(const struct fleet *f)
{
	return !f->fenced && !f->leaving && clock_mono_ms() < f->lease_until_mono_ms;
}
