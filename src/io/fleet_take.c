/*
 * From the database into memory: orphans, and rows that are ours but that memory does not know, because the answer to their
 * commit was lost. First the list, then each is loaded whole, one at a time, so that memory holds one trail more, not all.
 */
#include "fleet_op.h"

#include "base/clock.h"
#include "base/log.h"

/* A row may be unknown because the answer to its commit is still under way; so it is lost only when two looks, this far apart,
 * find it unknown. */
enum { LOOK_AGAIN_MS = 5000, LOOK_MS = 30000 };
enum { EVENTS_MAX = 256 };

static void load_next(struct fleet *f);

/* ---- lists ---- */

static void list_init(struct todo_list *l, int n_max)
{
	arena_free(l->arena);
	l->arena = arena_new();
	l->row = arena_array(l->arena, struct todo_ref, n_max);
	l->n = 0;
}

static void list_add(struct todo_list *l, const struct pg_rows *rows, int i)
{
	l->row[l->n++] =
		(struct todo_ref){pg_int(rows, i, 0), arena_str(l->arena, pg_text(rows, i, 1))};
}

static bool list_has(const struct todo_list *l, int64_t job_no, struct str what)
{
	for (int i = 0; i < l->n; i++) {
		if (l->row[i].job_no == job_no && str_eq(l->row[i].what, what))
			return true;
	}
	return false;
}

static void list_release(struct todo_list *l)
{
	arena_free(l->arena);
	*l = (struct todo_list){0};
}

void take_release(struct take *t)
{
	list_release(&t->list);
	list_release(&t->suspect);
}

/* ---- loading one ---- */

/* All rows of the @i-th answer, in @a. */
static void *read_rows(struct arena *a, const struct op *op, int i, const struct table *table,
		       size_t size)
{
	int n = pg_n(op->rows[i]);
	char *all = arena_alloc(a, (size_t)n * size);
	for (int k = 0; k < n; k++)
		row_read(table, op->rows[i], k, a, all + (size_t)k * size);
	return all;
}

static struct orphan_job *read_job(struct fleet *f, const struct op *op)
{
	struct arena *a = arena_new();
	struct orphan_job *o = arena_alloc(a, sizeof(*o));

	*o = (struct orphan_job){
		.fleet = f,
		.arena = a,
		.job = read_rows(a, op, 0, &job_table, sizeof(struct job_row)),
		.profile_json = arena_str(a, pg_text(op->rows[0], 0, job_table.n_column)),
		.step = read_rows(a, op, 1, &step_table, sizeof(struct step_row)),
		.n_step = pg_n(op->rows[1]),
		.attempt = read_rows(a, op, 2, &attempt_table, sizeof(struct attempt_row)),
		.n_attempt = pg_n(op->rows[2]),
		.draft = read_rows(a, op, 3, &draft_table, sizeof(struct draft_row)),
		.n_draft = pg_n(op->rows[3]),
		.n_strike = (int)pg_int(op->rows[4], 0, 0),
	};
	return o;
}

void orphan_free(struct orphan_job *o)
{
	struct fleet *f = o->fleet;

	arena_free(o->arena);
	load_next(f);
}

static void job_finish(struct fleet *f, struct op *op)
{
	if (pg_n(op->rows[0]) && !f->leaving)
		f->events.job(f->owner, read_job(f, op));
	else
		load_next(f);
}

/* $1 worker, $2 job, $3 what. No rows: it is not ours any more, so it was not lost after all. */
#define IS_OURS                                                                                    \
	" and exists (select from draftmill.todo t"                                                \
	" where t.job_no = $2 and t.what = $3 and t.worker_id = $1)"

static const struct op_kind load_job = {
	.name = "load_job",
	.statement =
		{{"fleet_job",
		  "select @, (select p.body from draftmill.profile p where p.profile_sha = j.profile_sha)"
		  " from draftmill.job j where j.job_no = $2" IS_OURS,
		  &job_table},
		 {"fleet_steps", "select @ from draftmill.step where job_no = $2 order by step_no",
		  &step_table},
		 {"fleet_attempts",
		  "select @ from draftmill.attempt where job_no = $2 order by call_no, attempt_no",
		  &attempt_table},
		 {"fleet_drafts",
		  "select @ from draftmill.draft where job_no = $2 order by draft_no",
		  &draft_table},
		 {"fleet_job_strikes",
		  "select count(*) from draftmill.strike where what = $2::text", NULL}},
	.finish = job_finish,
};

static void event_finish(struct fleet *f, struct op *op)
{
	struct outbox_row *event = read_rows(op->arena, op, 0, &outbox_table, sizeof *event);
	struct dead_letter_row *letter =
		read_rows(op->arena, op, 1, &dead_letter_table, sizeof *letter);
	if (!pg_n(op->rows[1]))
		letter = NULL;
	else
		event->payload = letter->value;
	if (pg_n(op->rows[0]) && !f->leaving)
		f->events.event(f->owner, &(struct orphan_event){event, letter});
	load_next(f);
}

static const struct op_kind load_event = {
	.name = "load_event",
	.statement = {{"fleet_event",
		       "select @ from draftmill.outbox where job_no = $2 and kind = $3" IS_OURS,
		       &outbox_table},
		      {"fleet_letter", "select @ from draftmill.dead_letter where letter_no = $2",
		       &dead_letter_table}},
	.finish = event_finish,
};

static void load_next(struct fleet *f)
{
	struct take *t = &f->take;
	if (t->next == t->list.n || f->leaving) {
		t->busy = false;
		t->next = 0;
		list_release(&t->list);
		return;
	}
	const struct todo_ref *row = &t->list.row[t->next++];
	const struct op_kind *kind = str_is(row->what, "run") ? &load_job : &load_event;
	struct op *op = op_new(kind, f->worker_id, row->job_no);
	op_text(op, row->what);
	fleet_queue(f, op);
}

/* ---- orphans ---- */

static void adopt_finish(struct fleet *f, struct op *op)
{
	const struct pg_rows *rows = op->rows[1]; /* behind the fence's */
	struct todo_list *l = &f->take.list;
	list_init(l, pg_n(rows));
	for (int i = 0; i < pg_n(rows); i++)
		list_add(l, rows, i);
	f->orphan_events = false; /* or the next heartbeat says so */
	for (int i = 0; i < l->n; i++)
		f->n_orphans -= f->n_orphans && str_is(l->row[i].what, "run");
	if (l->n)
		log_info("orphans_taken", L_INT("n", l->n));
	load_next(f);
}

/* By the rows' addresses: they are locked, so nobody moves them; and two kinds of limit go into one statement. */
static const struct op_kind adopt = {
	.name = "adopt",
	.statement =
		{{"fleet_fence", "select draftmill.fence($1)", NULL},
		 {"fleet_adopt",
		  "with mine as (update draftmill.todo"
		  " set worker_id = $1 where ctid = any("
		  "array(select ctid from draftmill.todo where worker_id is null and what = 'run'"
		  " order by job_no limit $2 for update skip locked) || "
		  "array(select ctid from draftmill.todo where worker_id is null and what <> 'run'"
		  " order by job_no limit $3 for update skip locked)) returning job_no, what)"
		  " select job_no, what from mine order by job_no, what",
		  NULL}},
	.finish = adopt_finish,
};

void fleet_adopt(struct fleet *f, int n_jobs)
{
	bool any = (n_jobs > 0 && f->n_orphans) || f->orphan_events;
	if (!any || !f->ready || f->take.busy || f->fenced || f->leaving)
		return;
	f->take.busy = true;
	fleet_queue(f, op_new(&adopt, f->worker_id, n_jobs, EVENTS_MAX));
}

/* ---- lost ones ---- */

void fleet_knows(struct fleet *f, fleet_known_fn *knows, void *owner)
{
	f->take.knows = knows;
	f->take.knows_owner = owner;
}

static void look_finish(struct fleet *f, struct op *op)
{
	struct take *t = &f->take;
	const struct pg_rows *rows = op->rows[0];
	struct todo_list unknown = {0};
	list_init(&t->list, pg_n(rows));
	list_init(&unknown, pg_n(rows));
	for (int i = 0; i < pg_n(rows); i++) {
		int64_t job_no = pg_int(rows, i, 0);
		struct str what = pg_text(rows, i, 1);
		if (t->knows(t->knows_owner, job_no, what))
			continue;
		list_add(list_has(&t->suspect, job_no, what) ? &t->list : &unknown, rows, i);
	}
	list_release(&t->suspect);
	t->suspect = unknown;
	t->looked_mono_ms = clock_mono_ms();
	t->look_mono_ms = t->looked_mono_ms + (t->suspect.n ? LOOK_AGAIN_MS : LOOK_MS);
	if (t->list.n)
		log_info("lost_answers_found", L_INT("n", t->list.n));
	load_next(f);
}

static const struct op_kind look = {
	.name = "look",
	.statement = {{"fleet_mine",
		       "select job_no, what from draftmill.todo where worker_id = $1 order by 1, 2",
		       NULL}},
	.finish = look_finish,
};

void fleet_look(struct fleet *f)
{
	struct take *t = &f->take;
	if (!t->knows || !f->ready || t->busy || clock_mono_ms() < t->look_mono_ms)
		return;
	t->busy = true;
	fleet_queue(f, op_new(&look, f->worker_id));
}

void fleet_look_again(struct fleet *f)
{
	f->take.look_mono_ms = f->take.looked_mono_ms + LOOK_AGAIN_MS;
}
