/* Where intake stands and what crashed: read again with each heartbeat; and the question whether all is done. */
#include <stdlib.h>

#include "fleet_op.h"

/* ---- reading ---- */

static void read_marks(struct ledger *l, const struct pg_rows *rows)
{
	l->n_mark = pg_n(rows);
	l->mark = arena_array(l->arena, struct intake_mark, l->n_mark);
	for (int i = 0; i < l->n_mark; i++)
		l->mark[i] = (struct intake_mark){
			.cluster = arena_str(l->arena, pg_text(rows, i, 0)),
			.topic = arena_str(l->arena, pg_text(rows, i, 1)),
			.partition = pg_int(rows, i, 2),
			.next_offset = pg_int(rows, i, 3),
		};
}

static void read_strikes(struct ledger *l, const struct pg_rows *rows)
{
	l->n_strike = pg_n(rows);
	l->strike = arena_array(l->arena, struct strike_count, l->n_strike);
	for (int i = 0; i < l->n_strike; i++)
		l->strike[i] = (struct strike_count){
			.what = arena_str(l->arena, pg_text(rows, i, 0)),
			.n = pg_int(rows, i, 1),
		};
}

static void ledger_finish(struct fleet *f, struct op *op)
{
	ledger_release(&f->ledger);
	f->ledger.arena = arena_new();
	read_marks(&f->ledger, op->rows[0]);
	read_strikes(&f->ledger, op->rows[1]);
	f->reading_ledger = false;
	fleet_get_ready(f);
	if (op->done)
		op->done(op->owner);
}

/* The strikes of jobs are counted when a job is taken over. */
static const struct op_kind read_all = {
	.name = "ledger",
	.statement = {{"fleet_marks",
		       "select cluster, topic, part, next_offset from draftmill.intake_mark", NULL},
		      {"fleet_strikes",
		       "select what, count(*) from draftmill.strike where what like '%/%'"
		       " group by what order by what collate \"C\"",
		       NULL}},
	.finish = ledger_finish,
};

void fleet_read_ledger(struct fleet *f)
{
	if (!f->reading_ledger)
		fleet_queue(f, op_new(&read_all));
	f->reading_ledger = true;
}

void ledger_release(struct ledger *l)
{
	arena_free(l->arena);
	*l = (struct ledger){0};
}

int64_t fleet_mark(const struct fleet *f, const char *cluster, struct str topic, int32_t partition)
{
	for (int i = 0; i < f->ledger.n_mark; i++) {
		const struct intake_mark *m = &f->ledger.mark[i];
		if (m->partition == partition && str_eq(m->topic, topic) &&
		    str_is(m->cluster, cluster))
			return m->next_offset;
	}
	return -1;
}

/* ---- strikes ---- */

/* "TOPIC/PARTITION/OFFSET" (a topic's name has no slash), or a job's number */
static struct str strike_what(struct arena *a, struct str topic, int32_t partition, int64_t number)
{
	if (!topic.p)
		return arena_printf(a, "%lld", (long long)number);
	return arena_printf(a, "%.*s/%d/%lld", STR_ARG(topic), (int)partition, (long long)number);
}

static int by_what(const void *a, const void *b)
{
	const struct strike_count *x = a, *y = b;
	return str_cmp(x->what, y->what);
}

int fleet_strikes(const struct fleet *f, struct str topic, int32_t partition, int64_t offset)
{
	const struct ledger *l = &f->ledger;
	if (!l->n_strike)
		return 0;
	struct arena *a = arena_new();
	struct strike_count key = {.what = strike_what(a, topic, partition, offset)};
	const struct strike_count *found =
		bsearch(&key, l->strike, (size_t)l->n_strike, sizeof key, by_what);
	arena_free(a);
	return found ? (int)found->n : 0;
}

/* Who counted it may count on it: fleet_strikes() knows it before @done runs. */
static void strike_finish(struct fleet *f, struct op *op)
{
	struct op *read = op_new(&read_all);
	read->done = op->done;
	read->owner = op->owner;
	fleet_queue(f, read);
}

static const struct op_kind strike_once = {
	.name = "strike",
	.statement = {{"fleet_strike",
		       "insert into draftmill.strike (incident, what) values ($1, $2)"
		       " on conflict do nothing",
		       NULL}},
	.finish = strike_finish,
};

void fleet_strike(struct fleet *f, const struct strike *s, const char *incident, reactor_fn *done,
		  void *owner)
{
	struct op *op = op_new(&strike_once);
	op_text(op, str_c(incident));
	op_text(op, strike_what(op->arena, s->topic, s->partition, s->offset));
	op->done = done;
	op->owner = owner;
	fleet_queue(f, op);
}

/* ---- is all done? ---- */

static void drained_finish(struct fleet *f, struct op *op)
{
	int64_t n_behind = pg_int(op->rows[0], 0, 0), n_left = pg_int(op->rows[0], 0, 1);
	op->drained(op->owner, n_behind == 0 && n_left == 0, n_left);
}

/* Jobs and letters of todo are looked up by `= any`: the worker role's settings allow no nested loop, and a join by hash would
 * read the trail from end to end. */
static const struct op_kind ask_drained = {
	.name = "drained",
	.statement =
		{{"fleet_drained",
		  "with e as (select $1 as cluster, e.* from unnest($2::text[], $3::integer[], $4::bigint[], $5::bigint[])"
		  " as e (topic, part, low, high)),"
		  " message as (select cluster, topic, part, \"offset\" from draftmill.job"
		  " where job_no = any(array(select job_no from draftmill.todo))"
		  " union all select cluster, topic, part, \"offset\" from draftmill.dead_letter"
		  " where letter_no = any(array(select job_no from draftmill.todo)))"
		  " select (select count(*) from e left join draftmill.intake_mark m"
		  " on m.cluster = e.cluster and m.topic = e.topic and m.part = e.part"
		  " where e.high > e.low and coalesce(m.next_offset, 0) < e.high),"
		  " (select count(*) from message m join e using (cluster, topic, part)"
		  " where m.\"offset\" < e.high)",
		  NULL}},
	.finish = drained_finish,
};

/* clang-format off */
static const struct table end_table = TABLE("e",
	COLUMN(TEXT, struct partition_end, topic), COLUMN(INTEGER, struct partition_end, partition),
	COLUMN(BIGINT, struct partition_end, low), COLUMN(BIGINT, struct partition_end, end));
/* clang-format on */

void fleet_drained(struct fleet *f, const char *cluster, const struct partition_end *end, int n,
		   drained_fn *fn, void *owner)
{
	struct op *op = op_new(&ask_drained);
	const void **row = arena_array(op->arena, const void *, n);
	for (int i = 0; i < n; i++)
		row[i] = &end[i];
	op_text(op, str_c(cluster));
	for (int i = 0; i < end_table.n_column; i++)
		op_array(op, &end_table.column[i], row, n);
	op->drained = fn;
	op->owner = owner;
	fleet_queue(f, op);
}
