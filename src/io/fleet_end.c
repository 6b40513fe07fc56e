/*
 * How an incarnation ends. Three transactions, in this order, by any worker that sees a lease run out:
 *
 *	terminate   its connections: one that stopped in the middle of a batch holds locks that no time limit of the server ends
 *	mark        dead: from here on the fence stops its commits; one that is under way is let through, and marked the next time
 *	orphan      its todo rows: a later snapshot, which sees all that it ever committed
 *
 * A reaper that dies on the way is no matter: the lease stays, run out, until the last of the three.
 */
#include "fleet_op.h"

#include "base/log.h"

enum { LEAVE_MS = 2000 };
/* The server looks each 100 ms whether it is gone; meanwhile our own heartbeat waits, so there are few in one go. */
enum { TERMINATE_MS = 250, TERMINATE_MAX = 4, MARK_MAX = 8 };

/* ---- orphan ---- */

static void orphan_finish(struct fleet *f, struct op *op)
{
	for (int i = 0; i < pg_n(op->rows[0]); i++)
		log_info("worker_ended", L_INT("worker_id", pg_int(op->rows[0], i, 0)));
	f->n_ended += pg_n(op->rows[0]);
	f->reaping = false;
}

/* Whoever holds the lease's row does it, and nobody else writes to a dead worker's todo rows: so there is no order to keep. */
#define ORPHAN                                                                                         \
	"with dead as (select l.worker_id from draftmill.worker_lease l"                               \
	" where l.lease_until < clock_timestamp() and (select w.died_at from draftmill.worker w"       \
	" where w.worker_id = l.worker_id) is not null order by 1 for update skip locked),"            \
	" orphan as (update draftmill.todo set worker_id = null"                                       \
	" where worker_id = any(array(select worker_id from dead)))"                                   \
	" delete from draftmill.worker_lease where worker_id = any(array(select worker_id from dead))" \
	" returning worker_id"

static const struct op_kind orphan = {
	.name = "orphan",
	.statement = {{"fleet_orphan", ORPHAN, NULL}},
	.finish = orphan_finish,
	.once = true,
};

/* ---- mark ---- */

static void mark_finish(struct fleet *f, struct op *op)
{
	fleet_queue(f, op_new(&orphan));
}

/* A row that is locked is passed over: it waits for nobody, so the reaper's own heartbeat does not wait either. The lease's row is
 * locked by a heartbeat that is just extending it, the worker's row by the fence of a commit under way. */
static const struct op_kind mark = {
	.name = "mark",
	.statement =
		{{"fleet_reap_mark",
		  "with dead as (select l.worker_id from draftmill.worker_lease l"
		  " join draftmill.worker w on w.worker_id = l.worker_id"
		  " where l.worker_id <> $1 and l.lease_until < clock_timestamp() and w.died_at is null"
		  " order by 1 limit $2 for update skip locked),"
		  " lease as (update draftmill.worker_lease l set lease_until = '-infinity'"
		  " from dead where l.worker_id = dead.worker_id)"
		  " update draftmill.worker w set died_at = clock_timestamp(), died_of = 'lease'"
		  " from dead where w.worker_id = dead.worker_id",
		  NULL}},
	.finish = mark_finish,
	.once = true,
};

/* ---- terminate ---- */

static void terminate_finish(struct fleet *f, struct op *op)
{
	fleet_queue(f, op_new(&mark, f->worker_id, MARK_MAX));
}

static const struct op_kind terminate = {
	.name = "terminate",
	.statement =
		{{"fleet_terminate",
		  "select pg_terminate_backend(a.pid, $2) from draftmill.worker_lease l"
		  " join pg_stat_activity a on a.application_name"
		  " in ('draftmill-trail/' || l.worker_id, 'draftmill-control/' || l.worker_id)"
		  " where l.worker_id <> $1 and l.lease_until < clock_timestamp()"
		  " and a.datname = current_database() and a.usename = current_user"
		  " and a.pid <> pg_backend_pid() limit $3",
		  NULL}},
	.finish = terminate_finish,
	.once = true,
};

void fleet_reap(struct fleet *f)
{
	if (!f->reaping)
		fleet_queue(f, op_new(&terminate, f->worker_id, TERMINATE_MS, TERMINATE_MAX));
	f->reaping = true;
}

/* ---- leaving ---- */

static void left(void *owner)
{
	struct fleet *f = owner;
	reactor_fn *fn = f->left;
	timer_stop(f->leave_limit);
	f->left = NULL;
	if (fn)
		fn(f->left_owner);
}

static void let_go_finish(struct fleet *f, struct op *op)
{
	left(f);
}

static const struct op_kind let_go = {
	.name = "let_go",
	.statement = {{"fleet_orphan", ORPHAN, NULL}},
	.finish = let_go_finish,
};

static void stop_finish(struct fleet *f, struct op *op)
{
	fleet_queue(f, op_new(&let_go));
}

static const struct op_kind stop = {
	.name = "stop",
	.statement =
		{{"fleet_stop",
		  "with lease as (update draftmill.worker_lease set lease_until = '-infinity'"
		  " where worker_id = $1)"
		  " update draftmill.worker set died_at = clock_timestamp(), died_of = 'stopped'"
		  " where worker_id = $1 and died_at is null",
		  NULL}},
	.finish = stop_finish,
};

void fleet_leave(struct fleet *f, reactor_fn *done, void *owner)
{
	if (f->leaving)
		BUG("a fleet is left once");
	f->leaving = true;
	f->left = done;
	f->left_owner = owner;
	f->leave_limit = timer_new(f->reactor, left, f);
	bool has_rows = f->worker_id && !f->fenced;
	timer_start(f->leave_limit, has_rows ? LEAVE_MS : 0, 0);
	if (has_rows)
		fleet_queue(f, op_new(&stop, f->worker_id));
}
