#include "trail_sql.h"

#include "base/memory.h"

#include "io/pg_array.h"

/* clang-format off */
static const struct table key_table = TABLE("job_key",
	COLUMN(UUID, struct key_row, key), COLUMN(SHA, struct key_row, sha), COLUMN(BIGINT, struct key_row, job_no));
static const struct table profile_table = TABLE("profile",
	COLUMN(SHA, struct profile_row, profile_sha), COLUMN(TEXT, struct profile_row, name),
	COLUMN(TEXT, struct profile_row, body));
static const struct table todo_table = TABLE("todo",
	COLUMN(BIGINT, struct todo_row, job_no), COLUMN(TEXT, struct todo_row, what),
	COLUMN(BIGINT, struct todo_row, worker_id));
static const struct table mark_table = TABLE("intake_mark",
	COLUMN(TEXT, struct mark_row, cluster), COLUMN(TEXT, struct mark_row, topic),
	COLUMN(INTEGER, struct mark_row, part), COLUMN(BIGINT, struct mark_row, next_offset));
static const struct table same_table = TABLE("step",
	COLUMN(BIGINT, struct step_row, job_no), COLUMN(INTEGER, struct step_row, step_no),
	COLUMN(SHA, struct step_row, hash));
/* clang-format on */

/* Looked up by `= any` and joined by hash: the worker role's settings allow no nested loop. */
#define HAS_KEY "job_no in (select k.job_no from draftmill.job_key k where k.job_no = any($1))"
#define LETTER_IS_IN                                                                               \
	"job_no in (select l.letter_no from draftmill.dead_letter l where l.letter_no = any($1))"
#define OR_NOTHING " on conflict do nothing"

/* A statement is an insert of all columns of its table, or @sql with the arrays of the first @n_param columns. */
static const struct spec {
	const char *name;
	const struct table *table;
	const char *where, *order; /* of an insert */
	const char *conflict; /* of an insert; NULL: an error, unless the batch is sent again */
	const char *sql;
	int n_param;
	bool when_again; /* not sent the first time */
} spec[N_STATEMENTS] = {
	[FENCE] = {.name = "fence", .sql = "select draftmill.fence($1::bigint)"},
	[KEY] = {.name = "key",
		 .table = &key_table,
		 .order = "key, job_no",
		 .conflict = OR_NOTHING},
	[KEY_TOLD] = {.name = "key_told",
		      .table = &key_table,
		      .n_param = 1,
		      .sql = "select t.n, k.job_no, k.sha"
			     " from unnest($1::uuid[]) with ordinality as t (key, n)"
			     " join draftmill.job_key k on k.key = t.key where k.key = any($1)"},
	[PROFILE] = {.name = "profile",
		     .table = &profile_table,
		     .order = "profile_sha",
		     .conflict = OR_NOTHING},
	[LETTER] = {.name = "letter",
		    .table = &dead_letter_table,
		    .order = "cluster, topic, part, \"offset\", value_sha",
		    .conflict = OR_NOTHING},
	[LETTER_TOLD] = {.name = "letter_told",
			 .table = &dead_letter_table,
			 .n_param = 1,
			 .sql = "select t.n from unnest($1::bigint[]) with ordinality"
				" as t (job_no, n) where t." LETTER_IS_IN},
	[NEW_JOB] = {.name = "new_job", .table = &job_table, .where = HAS_KEY},
	[NEW_STEP] = {.name = "new_step", .table = &step_table, .where = HAS_KEY},
	[NEW_OUTCOME] = {.name = "new_outcome", .table = &outcome_table, .where = HAS_KEY},
	[NEW_OUTBOX] = {.name = "new_outbox", .table = &outbox_table, .where = HAS_KEY},
	[NEW_TODO] = {.name = "new_todo", .table = &todo_table, .where = HAS_KEY},
	[LETTER_OUTBOX] = {.name = "letter_outbox", .table = &outbox_table, .where = LETTER_IS_IN},
	[LETTER_TODO] = {.name = "letter_todo", .table = &todo_table, .where = LETTER_IS_IN},
	[STEP] = {.name = "step", .table = &step_table},
	[ATTEMPT] = {.name = "attempt", .table = &attempt_table},
	[DRAFT] = {.name = "draft", .table = &draft_table},
	[CRITIQUE] = {.name = "critique", .table = &critique_table},
	[ISSUE] = {.name = "issue", .table = &issue_table},
	[OUTCOME] = {.name = "outcome", .table = &outcome_table},
	[OUTBOX] = {.name = "outbox", .table = &outbox_table},
	[RUN_GONE] = {.name = "run_gone",
		      .table = &outcome_table,
		      .n_param = 1,
		      .sql = "delete from draftmill.todo where job_no = any($1::bigint[])"
			     " and what = 'run'"},
	[EVENT_TODO] = {.name = "todo", .table = &todo_table},
	[STEP_SAME] = {.name = "step_same",
		       .table = &same_table,
		       .n_param = 3,
		       .when_again = true,
		       .sql = "select t.job_no, t.step_no"
			      " from unnest($1::bigint[], $2::integer[], $3::bytea[])"
			      " as t (job_no, step_no, hash) left join (select * from"
			      " draftmill.step where job_no = any($1)) s using (job_no, step_no)"
			      " where s.hash is distinct from t.hash"},
	[SENT] = {.name = "sent", .table = &sent_table, .conflict = OR_NOTHING},
	[SENT_GONE] = {.name = "sent_gone",
		       .table = &sent_table,
		       .n_param = 2,
		       .sql = "delete from draftmill.todo d"
			      " using unnest($1::bigint[], $2::text[]) as t (job_no, what)"
			      " where d.job_no = any($1) and d.job_no = t.job_no"
			      " and d.what = t.what"},
	[MARK] = {.name = "mark",
		  .table = &mark_table,
		  .order = "cluster, topic, part",
		  .conflict = " on conflict (cluster, topic, part) do update"
			      " set next_offset = excluded.next_offset"
			      " where intake_mark.next_offset < excluded.next_offset"},
};

enum { COLUMNS_MAX = 40, ARRAYS_BYTES_MAX = 256 << 20 };

struct rows {
	const void **row;
	int n, cap;
};

struct text {
	struct buf name, sql;
};

struct trail_sql {
	struct rows rows[N_STATEMENTS];
	struct text text[N_STATEMENTS][2]; /* [again] */
	struct buf array[COLUMNS_MAX];	   /* the columns of the statement being sent */
	enum statement sent[N_STATEMENTS];
	int n_sent, n_answered;
};

/* insert into step (job_no, ..) select * from unnest($1::bigint[], ..) as t (job_no, ..) where .. order by .. on conflict .. */
static void write_insert(struct buf *sql, const struct spec *s, bool again)
{
	const struct table *t = s->table;
	struct buf names = BUF(4096);
	for (int i = 0; i < t->n_column; i++)
		buf_printf(&names, "%s\"%s\"", i ? ", " : "", t->column[i].name);
	buf_printf(sql, "insert into draftmill.%s (%s) select * from unnest(", t->name, names.p);
	for (int i = 0; i < t->n_column; i++)
		buf_printf(sql, "%s$%d::%s[]", i ? ", " : "", i + 1, array_type(t->column[i].type));
	buf_printf(sql, ") as t (%s)", names.p);
	if (s->where)
		buf_printf(sql, " where %s", s->where);
	if (s->order)
		buf_printf(sql, " order by %s", s->order);
	if (s->conflict)
		buf_puts(sql, s->conflict);
	else if (again)
		buf_puts(sql, OR_NOTHING);
	buf_release(&names);
}

struct trail_sql *trail_sql_new(void)
{
	struct trail_sql *sql = mem_new(struct trail_sql);
	for (int i = 0; i < COLUMNS_MAX; i++)
		buf_init(&sql->array[i], ARRAYS_BYTES_MAX);
	for (int i = 0; i < N_STATEMENTS; i++) {
		for (int again = 0; again < 2; again++) {
			struct text *text = &sql->text[i][again];
			buf_init(&text->name, 64);
			buf_init(&text->sql, 8192);
			buf_printf(&text->name, "%s%s", spec[i].name, again ? "_again" : "");
			if (spec[i].sql)
				buf_puts(&text->sql, spec[i].sql);
			else
				write_insert(&text->sql, &spec[i], again);
		}
	}
	return sql;
}

void trail_sql_free(struct trail_sql *sql)
{
	for (int i = 0; i < COLUMNS_MAX; i++)
		buf_release(&sql->array[i]);
	for (int i = 0; i < N_STATEMENTS; i++) {
		free(sql->rows[i].row);
		for (int again = 0; again < 2; again++) {
			buf_release(&sql->text[i][again].name);
			buf_release(&sql->text[i][again].sql);
		}
	}
	free(sql);
}

void trail_sql_clear(struct trail_sql *sql)
{
	for (int i = 0; i < N_STATEMENTS; i++)
		sql->rows[i].n = 0;
}

void trail_sql_add(struct trail_sql *sql, enum statement which, const void *row)
{
	struct rows *r = &sql->rows[which];
	mem_room(r->row, r->n, r->cap);
	r->row[r->n++] = row;
}

static void send(struct trail_sql *sql, struct pg *pg, enum statement which,
		 const struct pg_param *param, int n, bool again)
{
	const struct text *text = &sql->text[which][again];
	pg_send(pg, text->name.p, text->sql.p, param, n);
	sql->sent[sql->n_sent++] = which;
}

static void send_rows(struct trail_sql *sql, struct pg *pg, enum statement which, bool again)
{
	const struct spec *s = &spec[which];
	const struct rows *rows = &sql->rows[which];
	struct pg_param param[COLUMNS_MAX];
	int n = s->sql ? s->n_param : s->table->n_column;
	if (n > COLUMNS_MAX)
		BUG("%d columns", n);
	for (int i = 0; i < n; i++) {
		struct buf *array = &sql->array[i];
		buf_clear(array);
		array_column(array, &s->table->column[i], rows->row, rows->n);
		if (array->full)
			BUG("a batch of more than %d bytes", ARRAYS_BYTES_MAX);
		param[i] = (struct pg_param){0, buf_view(array)};
	}
	send(sql, pg, which, param, n, again);
}

void trail_sql_send(struct trail_sql *sql, struct pg *pg, int64_t worker_id, bool again)
{
	uint8_t room[8];
	struct pg_param fence = param_int8(room, worker_id);
	sql->n_sent = sql->n_answered = 0;
	send(sql, pg, FENCE, &fence, 1, false);
	for (int i = FENCE + 1; i < N_STATEMENTS; i++) {
		if (sql->rows[i].n && (again || !spec[i].when_again))
			send_rows(sql, pg, (enum statement)i, again);
	}
	pg_sync(pg);
}

enum statement trail_sql_answered(struct trail_sql *sql)
{
	if (sql->n_answered == sql->n_sent)
		BUG("an answer to no statement");
	return sql->sent[sql->n_answered++];
}
