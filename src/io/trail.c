/*
 * Writes wait in a queue; a turn of the loop sends all of them as one batch (trail_sql.h), one transaction, and the next goes
 * when its answer is back:
 *
 *	waiting -> batch -> stored                the connection is lost, or the server is in trouble: the same batch again
 *	             |
 *	             +-- data error --> alone     each in a transaction of its own: the one at fault is refused
 *
 * Events sent and marks ride with the next batch (trail_rides.h).
 */
#include "io/trail.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "core/profile.h"
#include "trail_rides.h"

enum { BATCH_WRITES = 512, BATCH_BYTES = 16 << 20 };
enum { PAUSE_MIN_MS = 50, PAUSE_MAX_MS = 2000 };

struct write { /* of one of the four: an intake and its first step, a step, an attempt, a dead letter */
	STAILQ_ENTRY(write) link;
	int64_t job_no, call_no; /* the order of rows in a batch */
	size_t bytes;
	struct intake intake;
	const struct step_rows *step;
	const struct attempt_row *attempt;
	const struct dead_letter_row *letter;
	const struct outbox_row *event; /* the letter's */
	stored_fn *fn;
	void *owner;
	enum stored stored; /* as the batch's answers say */
	struct stored_why why;
};

STAILQ_HEAD(queue, write);

struct trail {
	struct reactor *reactor;
	char *conninfo; /* NULL: nothing is kept */
	struct trail_events events;
	void *owner;
	int64_t worker_id;
	struct pg *pg; /* NULL until trail_start() */
	struct trail_sql *sql;
	bool fenced;

	struct queue waiting, alone;
	size_t waiting_bytes;
	struct rides *rides;
	bool rides_apart; /* they may be at fault: the next batch is theirs alone */
	struct timer *pause_timer;
	int64_t pause_ms;
	bool paused;

	/* the batch */
	struct write *batch[BATCH_WRITES];
	int n_batch;
	bool out, again;
	int64_t sent_mono_ms;
	struct write *intake[BATCH_WRITES], *letter[BATCH_WRITES]; /* by the rows' numbers */
	int n_intake, n_letter;
	bool step_differs;
	struct arena *arena; /* of the batch's own rows */
	uint8_t (*profile)
		[SHA_BYTES]; /* that have their row; the last n_new_profile only with this batch */
	int n_profile, n_new_profile, cap_profile;
};

/* ---- queueing ---- */

static struct write *queue_take(struct queue *q)
{
	struct write *w = STAILQ_FIRST(q);
	STAILQ_REMOVE_HEAD(q, link);
	return w;
}

static size_t step_bytes(const struct step_rows *rows)
{
	size_t n = rows->step.reply.n;
	if (rows->draft)
		n += rows->draft->body.n + rows->draft->checks.n;
	if (rows->critique)
		n += rows->critique->reasons.n;
	for (int i = 0; i < rows->n_issue; i++)
		n += rows->issue[i].snippet.n + rows->issue[i].suggestion.n;
	for (int i = 0; i < rows->n_event; i++)
		n += rows->event[i].key.n + rows->event[i].payload.n;
	return n;
}

static size_t write_bytes(const struct write *w)
{
	size_t n = 1000;
	if (w->intake.job)
		n += w->intake.job->payload.n;
	if (w->step)
		n += step_bytes(w->step);
	if (w->letter)
		n += w->letter->key.n + w->letter->value.n + w->letter->headers.n + w->event->key.n;
	return n;
}

static void queue_write(struct trail *t, const struct write *given)
{
	struct write *w = mem_must(malloc(sizeof *w));
	*w = *given;
	w->bytes = write_bytes(w);
	t->waiting_bytes += w->bytes;
	STAILQ_INSERT_TAIL(&t->waiting, w, link);
	reactor_again(t->reactor);
}

void trail_intake(struct trail *t, const struct intake *in, stored_fn *fn, void *owner)
{
	queue_write(t, &(struct write){.job_no = in->job->job_no,
				       .intake = *in,
				       .step = in->first,
				       .fn = fn,
				       .owner = owner});
}

void trail_step(struct trail *t, const struct step_rows *rows, stored_fn *fn, void *owner)
{
	queue_write(t,
		    &(struct write){
			    .job_no = rows->step.job_no, .step = rows, .fn = fn, .owner = owner});
}

void trail_attempt(struct trail *t, const struct attempt_row *row, stored_fn *fn, void *owner)
{
	queue_write(t, &(struct write){.job_no = row->job_no,
				       .call_no = row->call_no,
				       .attempt = row,
				       .fn = fn,
				       .owner = owner});
}

void trail_dead_letter(struct trail *t, const struct dead_letter_row *row,
		       const struct outbox_row *event, stored_fn *fn, void *owner)
{
	queue_write(t, &(struct write){.job_no = row->letter_no,
				       .letter = row,
				       .event = event,
				       .fn = fn,
				       .owner = owner});
}

void trail_sent(struct trail *t, const struct sent_row *row)
{
	rides_sent(t->rides, row);
}

void trail_mark(struct trail *t, const char *cluster, struct str topic, int32_t partition,
		int64_t next_offset)
{
	rides_mark(t->rides, &(struct mark_row){str_c(cluster), topic, partition, next_offset});
}

/* ---- a batch: its rows ---- */

static void add_profile(struct trail *t, const struct profile *p)
{
	for (int i = 0; i < t->n_profile; i++) {
		if (memcmp(t->profile[i], p->sha, SHA_BYTES) == 0)
			return;
	}
	mem_room(t->profile, t->n_profile, t->cap_profile);
	memcpy(t->profile[t->n_profile++], p->sha, SHA_BYTES);
	t->n_new_profile++;
	struct profile_row *row = arena_array(t->arena, struct profile_row, 1);
	memcpy(row->profile_sha, p->sha, SHA_BYTES);
	row->name = p->name;
	row->body = p->json;
	trail_sql_add(t->sql, PROFILE, row);
}

static void add_todo(struct trail *t, enum statement which, int64_t job_no, struct str what)
{
	struct todo_row *row = arena_array(t->arena, struct todo_row, 1);
	*row = (struct todo_row){job_no, what, t->worker_id};
	trail_sql_add(t->sql, which, row);
}

static void add_events(struct trail *t, const struct outbox_row *event, int n,
		       enum statement outbox, enum statement todo)
{
	for (int i = 0; i < n; i++) {
		trail_sql_add(t->sql, outbox, &event[i]);
		add_todo(t, todo, event[i].job_no, event[i].kind);
	}
}

static void add_intake(struct trail *t, struct write *w)
{
	const struct job_row *job = w->intake.job;
	const struct step_rows *first = w->step;
	if (first->draft || first->critique || first->n_issue)
		BUG("a first step that makes more than calls or an outcome");
	struct key_row *key = arena_array(t->arena, struct key_row, 1);
	memcpy(key->key, w->intake.key, UUID_BYTES);
	memcpy(key->sha, job->payload_sha, SHA_BYTES);
	key->job_no = job->job_no;
	trail_sql_add(t->sql, KEY, key);
	trail_sql_add(t->sql, KEY_TOLD, key);
	t->intake[t->n_intake++] = w;
	add_profile(t, w->intake.profile);
	trail_sql_add(t->sql, NEW_JOB, job);
	trail_sql_add(t->sql, NEW_STEP, &first->step);
	if (first->outcome)
		trail_sql_add(t->sql, NEW_OUTCOME, first->outcome);
	else
		add_todo(t, NEW_TODO, job->job_no, STR_OF("run"));
	add_events(t, first->event, first->n_event, NEW_OUTBOX, NEW_TODO);
}

static void add_step(struct trail *t, const struct step_rows *rows)
{
	trail_sql_add(t->sql, STEP, &rows->step);
	trail_sql_add(t->sql, STEP_SAME, &rows->step);
	if (rows->draft)
		trail_sql_add(t->sql, DRAFT, rows->draft);
	if (rows->critique)
		trail_sql_add(t->sql, CRITIQUE, rows->critique);
	for (int i = 0; i < rows->n_issue; i++)
		trail_sql_add(t->sql, ISSUE, &rows->issue[i]);
	if (rows->outcome) {
		trail_sql_add(t->sql, OUTCOME, rows->outcome);
		trail_sql_add(t->sql, RUN_GONE, rows->outcome);
	}
	add_events(t, rows->event, rows->n_event, OUTBOX, EVENT_TODO);
}

static void add_letter(struct trail *t, struct write *w)
{
	w->stored = STORED_DUPLICATE; /* unless we are told that it went in */
	trail_sql_add(t->sql, LETTER, w->letter);
	trail_sql_add(t->sql, LETTER_TOLD, w->letter);
	t->letter[t->n_letter++] = w;
	add_events(t, w->event, 1, LETTER_OUTBOX, LETTER_TODO);
}

static void add_write(struct trail *t, struct write *w)
{
	w->stored = STORED;
	w->why = (struct stored_why){.first_job_no = ROW_NULL};
	if (w->intake.job)
		add_intake(t, w);
	else if (w->step)
		add_step(t, w->step);
	else if (w->attempt)
		trail_sql_add(t->sql, ATTEMPT, w->attempt);
	else
		add_letter(t, w);
}

/* ---- a batch: filled and sent ---- */

static int by_job(const void *a, const void *b)
{
	const struct write *x = *(struct write *const *)a, *y = *(struct write *const *)b;
	if (x->job_no != y->job_no)
		return x->job_no < y->job_no ? -1 : 1;
	return (x->call_no > y->call_no) - (x->call_no < y->call_no);
}

static void fill(struct trail *t)
{
	size_t bytes = 0;
	if (!STAILQ_EMPTY(&t->alone)) {
		t->batch[t->n_batch++] = queue_take(&t->alone);
		return;
	}
	if (!(t->rides_apart && rides_wait(t->rides))) {
		while (!STAILQ_EMPTY(&t->waiting) && t->n_batch < BATCH_WRITES &&
		       bytes < BATCH_BYTES) {
			struct write *w = t->batch[t->n_batch++] = queue_take(&t->waiting);
			bytes += w->bytes;
			t->waiting_bytes -= w->bytes;
		}
		qsort(t->batch, (size_t)t->n_batch, sizeof(*t->batch), by_job);
	}
	t->rides_apart = false;
	rides_board(t->rides);
}

static bool has_batch(const struct trail *t)
{
	return t->n_batch || rides_aboard(t->rides);
}

static bool has_work(const struct trail *t)
{
	return has_batch(t) || !STAILQ_EMPTY(&t->alone) || !STAILQ_EMPTY(&t->waiting);
}

static void send_batch(struct trail *t)
{
	if (!has_batch(t))
		fill(t);
	arena_free(t->arena);
	t->arena = arena_new();
	trail_sql_clear(t->sql);
	t->n_intake = t->n_letter = 0;
	t->n_profile -= t->n_new_profile;
	t->n_new_profile = 0;
	t->step_differs = false;
	for (int i = 0; i < t->n_batch; i++)
		add_write(t, t->batch[i]);
	rides_add(t->rides, t->sql);
	t->out = true;
	t->sent_mono_ms = clock_mono_ms();
	trail_sql_send(t->sql, t->pg, t->worker_id, t->again);
}

/* ---- a batch: its end ---- */

static void end_write(struct write *w)
{
	w->fn(w->owner, w->stored, &w->why);
	free(w);
}

/* Callbacks queue more and may look at everything, so the batch is put away first. */
static void end_batch(struct trail *t)
{
	struct write *ended[BATCH_WRITES];
	int n = t->n_batch;
	memcpy(ended, t->batch, (size_t)n * sizeof(*ended));
	t->n_batch = 0;
	t->again = false;
	for (int i = 0; i < n; i++)
		end_write(ended[i]);
}

static void on_committed(struct trail *t)
{
	t->pause_ms = PAUSE_MIN_MS;
	t->n_new_profile = 0;
	if (t->events.committed)
		t->events.committed(t->owner, t->n_batch, clock_mono_ms() - t->sent_mono_ms);
	rides_arrive(t->rides, t->events.marked, t->owner);
	end_batch(t);
}

static void fence(struct trail *t, const char *why)
{
	log_error("trail_fenced", L_INT("worker_id", t->worker_id), L_STR("why", why));
	t->fenced = true;
	t->events.fenced(t->owner, why);
}

/* The data of one of the batch's rows is at fault. */
static void on_data_error(struct trail *t, const struct pg_error *error)
{
	bool had_rides = rides_aboard(t->rides);
	log_warn("trail_data_error", L_STR("sqlstate", error->sqlstate), L_STR("text", error->text),
		 L_INT("n_writes", t->n_batch));
	if (t->n_batch == 1 && !had_rides) {
		t->batch[0]->stored = STORED_REFUSED;
		t->batch[0]->why.sqlstate = error->sqlstate;
		t->batch[0]->why.text = error->text;
		end_batch(t);
		return;
	}
	if (!t->n_batch) {
		log_error("trail_rides_dropped", L_INT("n_sent", rides_drop(t->rides)));
		return;
	}
	rides_put_off(t->rides);
	t->rides_apart = had_rides;
	for (int i = 0; i < t->n_batch; i++)
		STAILQ_INSERT_TAIL(&t->alone, t->batch[i], link);
	t->n_batch = 0;
	t->again = false;
}

static void on_trouble(struct trail *t, const struct pg_error *error)
{
	log_warn("trail_trouble", L_STR("sqlstate", error->sqlstate), L_STR("text", error->text),
		 L_INT("again_in_ms", t->pause_ms));
	t->again = true;
	t->paused = true;
	timer_start(t->pause_timer, t->pause_ms, 0);
	t->pause_ms = t->pause_ms * 2 > PAUSE_MAX_MS ? PAUSE_MAX_MS : t->pause_ms * 2;
}

static void on_pause_over(void *owner)
{
	struct trail *t = owner;
	t->paused = false;
}

/* Data exceptions, broken constraints, and what is over a limit. 23514 is none: the trail has no check constraints, so it means
 * that a month's partition is missing. */
static bool is_data_error(const char *sqlstate)
{
	return strcmp(sqlstate, "23514") != 0 &&
	       (strncmp(sqlstate, "22", 2) == 0 || strncmp(sqlstate, "23", 2) == 0 ||
		strncmp(sqlstate, "54", 2) == 0);
}

static void on_synced(void *owner, const struct pg_error *error)
{
	struct trail *t = owner;
	t->out = false;
	if (!error && t->step_differs)
		fence(t, "a step is stored with another hash");
	else if (!error)
		on_committed(t);
	else if (strcmp(error->sqlstate, "DM001") == 0)
		fence(t, error->text);
	else if (is_data_error(error->sqlstate))
		on_data_error(t, error);
	else
		on_trouble(t, error);
}

/* The job that has the key: this one, or one that was before it. */
static void read_key(struct trail *t, const struct pg_rows *rows, int i)
{
	struct write *w = t->intake[pg_int(rows, i, 0) - 1];
	int64_t first = pg_int(rows, i, 1);
	if (first == w->job_no)
		return;
	struct str sha = pg_bytes(rows, t->arena, i, 2);
	w->why.first_job_no = first;
	memcpy(w->why.first_sha, sha.p, SHA_BYTES);
	bool same = memcmp(sha.p, w->intake.job->payload_sha, SHA_BYTES) == 0;
	w->stored = same ? STORED_DUPLICATE : STORED_CONFLICT;
}

static void on_answer(void *owner, struct pg_rows *rows)
{
	struct trail *t = owner;
	enum statement which = trail_sql_answered(t->sql);
	for (int i = 0; i < pg_n(rows); i++) {
		if (which == KEY_TOLD)
			read_key(t, rows, i);
		else if (which == LETTER_TOLD)
			t->letter[pg_int(rows, i, 0) - 1]->stored = STORED;
		else if (which == STEP_SAME)
			t->step_differs = true;
	}
	pg_rows_free(rows);
}

static void on_up(void *owner)
{
	struct trail *t = owner;
	log_info("trail_up", L_INT("worker_id", t->worker_id));
}

static void on_down(void *owner, const char *why)
{
	struct trail *t = owner;
	log_warn("trail_down", L_STR("why", why));
	if (t->out)
		t->again = true; /* its fate is unknown */
	t->out = false;
}

/* ---- the trail ---- */

/* `try`: what waited when the turn began is acknowledged, nothing is kept. */
static void acknowledge(struct trail *t)
{
	fill(t);
	for (int i = 0; i < t->n_batch; i++)
		t->batch[i]->stored = STORED;
	on_committed(t);
	if (!STAILQ_EMPTY(&t->waiting))
		reactor_again(t->reactor);
}

static void on_turn(void *owner)
{
	struct trail *t = owner;
	if (!(has_work(t) || rides_due(t->rides)) || t->fenced)
		return;
	if (!t->conninfo)
		acknowledge(t);
	else if (trail_is_up(t) && !t->out && !t->paused)
		send_batch(t);
}

struct trail *trail_open(struct reactor *reactor, const char *conninfo,
			 const struct trail_events *events, void *owner)
{
	struct trail *t = mem_new(struct trail);
	t->reactor = reactor;
	t->conninfo = conninfo ? mem_must(strdup(conninfo)) : NULL;
	t->events = *events;
	t->owner = owner;
	t->sql = trail_sql_new();
	STAILQ_INIT(&t->waiting);
	STAILQ_INIT(&t->alone);
	t->pause_ms = PAUSE_MIN_MS;
	t->rides = rides_new(reactor);
	t->pause_timer = timer_new(reactor, on_pause_over, t);
	reactor_turn(reactor, on_turn, t);
	return t;
}

void trail_start(struct trail *t, int64_t worker_id)
{
	static const struct pg_events events = {on_up, on_down, on_answer, on_synced};
	char name[64];
	t->worker_id = worker_id;
	/* Whoever ends this worker finds its connection by this name. */
	snprintf(name, sizeof name, "draftmill-trail/%lld", (long long)worker_id);
	if (t->conninfo)
		t->pg = pg_open(t->reactor, t->conninfo, name, &events, t);
}

int64_t trail_worker_id(const struct trail *t)
{
	return t->worker_id;
}

bool trail_is_up(const struct trail *t)
{
	return !t->fenced && (!t->conninfo || (t->pg && pg_is_up(t->pg)));
}

bool trail_is_idle(const struct trail *t)
{
	return !has_work(t) && !rides_wait(t->rides);
}

size_t trail_bytes(const struct trail *t)
{
	return t->waiting_bytes;
}

static void free_writes(struct queue *q)
{
	while (!STAILQ_EMPTY(q))
		free(queue_take(q));
}

void trail_free(struct trail *t)
{
	if (!t)
		return;
	reactor_turn_end(t->reactor, t);
	pg_free(t->pg);
	rides_free(t->rides);
	timer_close(t->pause_timer);
	trail_sql_free(t->sql);
	free_writes(&t->waiting);
	free_writes(&t->alone);
	for (int i = 0; i < t->n_batch; i++)
		free(t->batch[i]);
	arena_free(t->arena);
	free(t->profile);
	free(t->conninfo);
	free(t);
}
