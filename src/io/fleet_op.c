#include "fleet_op.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

enum { SQL_BYTES_MAX = 8 << 10, ARRAY_BYTES_MAX = 16 << 20 };

/* ---- one operation ---- */

static void add_param(struct op *op, struct pg_param param)
{
	if (op->n_param == sizeof op->param / sizeof *op->param)
		BUG("%s has more than %d parameters", op->kind->name, op->n_param);
	op->param[op->n_param++] = param;
}

struct op *op_of(const struct op_kind *kind, size_t n, const int64_t *param)
{
	struct arena *a = arena_new();
	struct op *op = arena_alloc(a, sizeof *op);
	op->kind = kind;
	op->arena = a;
	for (size_t i = 0; i < n; i++)
		add_param(op, param_int8(arena_alloc(a, 8), param[i]));
	return op;
}

void op_text(struct op *op, struct str text)
{
	add_param(op, param_text(arena_str(op->arena, text)));
}

void op_array(struct op *op, const struct column *column, const void *const *row, int n)
{
	struct buf array = BUF(ARRAY_BYTES_MAX);
	array_column(&array, column, row, n);
	if (array.full)
		BUG("%s with an array of more than %d bytes", op->kind->name, ARRAY_BYTES_MAX);
	add_param(op, (struct pg_param){0, arena_str(op->arena, buf_view(&array))});
	buf_release(&array);
}

static void send_statement(struct fleet *f, const struct op *op, const struct op_statement *s)
{
	struct buf sql = BUF(SQL_BYTES_MAX);
	const char *at = s->table ? strchr(s->sql, '@') : NULL;
	if (at) {
		buf_put(&sql, s->sql, (size_t)(at - s->sql));
		row_columns(&sql, s->table);
		buf_puts(&sql, at + 1);
	} else {
		buf_puts(&sql, s->sql);
	}
	pg_send(f->pg, s->name, sql.p, op->param, op->n_param);
	buf_release(&sql);
}

static void drop_answers(struct op *op)
{
	while (op->n_answer)
		pg_rows_free(op->rows[--op->n_answer]);
}

static void op_free(struct op *op)
{
	drop_answers(op);
	arena_free(op->arena);
}

static void send_op(struct fleet *f, struct op *op)
{
	drop_answers(op);
	op->sent_mono_ms = clock_mono_ms();
	for (const struct op_statement *s = op->kind->statement; s->name; s++)
		send_statement(f, op, s);
	pg_sync(f->pg);
}

/* ---- the queue ---- */

static void put(struct op_queue *q, struct op *op)
{
	mem_room(q->op, q->n, q->cap);
	q->op[q->n++] = op;
}

static struct op *take_first(struct op_queue *q)
{
	struct op *op = q->op[0];
	q->n--;
	q->n_sent--;
	memmove(q->op, q->op + 1, (size_t)q->n * sizeof(*q->op));
	return op;
}

void op_queue_release(struct op_queue *q)
{
	for (int i = 0; i < q->n; i++)
		op_free(q->op[i]);
	free(q->op);
}

void fleet_send(struct fleet *f)
{
	struct op_queue *q = &f->queue;
	while (pg_is_up(f->pg) && !f->fenced && q->n_sent < q->n)
		send_op(f, q->op[q->n_sent++]);
}

void fleet_queue(struct fleet *f, struct op *op)
{
	put(&f->queue, op);
	fleet_send(f);
}

/* ---- the connection ---- */

static void on_up(void *owner)
{
	struct fleet *f = owner;
	log_info("fleet_up", L_INT("worker_id", f->worker_id));
	fleet_look_again(f);
	fleet_send(f);
}

static void on_down(void *owner, const char *why)
{
	struct fleet *f = owner;
	log_warn("fleet_down", L_INT("worker_id", f->worker_id), L_STR("why", why));
	f->queue.n_sent = 0; /* the fate of these is unknown */
}

static void on_answer(void *owner, struct pg_rows *rows)
{
	struct op *op = ((struct fleet *)owner)->queue.op[0];
	op->rows[op->n_answer++] = rows;
}

/* What the server refuses it may grant later (a lock, a month that is missing): with the next heartbeat it is asked again. */
static void on_synced(void *owner, const struct pg_error *error)
{
	struct fleet *f = owner;
	struct op *op = take_first(&f->queue);
	if (error && strcmp(error->sqlstate, "DM001") == 0)
		fleet_fence(f, error->text);
	else if (error)
		log_warn("fleet_trouble", L_STR("what", op->kind->name),
			 L_STR("sqlstate", error->sqlstate), L_STR("text", error->text));
	if (error)
		drop_answers(op);
	if (error && !f->fenced && !op->kind->once) {
		put(&f->queue, op);
		return;
	}
	if (op->kind->finish && !f->fenced)
		op->kind->finish(f, op);
	op_free(op);
}

const struct pg_events fleet_connection = {on_up, on_down, on_answer, on_synced};
