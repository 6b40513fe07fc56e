#include "trail_rides.h"

#include "base/memory.h"

enum { RIDE_MS = 100 };

struct sent {
	struct sent_row row;
	char kind[];
};

struct mark {		     /* one a partition, kept */
	struct mark_row row; /* next_offset: as it is aboard */
	int64_t want;	     /* told since */
	bool waits, aboard;
	char text[]; /* cluster, topic */
};

struct rides {
	struct timer *timer;
	struct sent **sent; /* the first n_aboard are aboard */
	int n_sent, n_aboard, cap;
	struct mark **mark;
	int n_mark;
	bool wait, due, aboard;
};

static void on_due(void *owner)
{
	struct rides *r = owner;
	r->due = true;
}

struct rides *rides_new(struct reactor *reactor)
{
	struct rides *r = mem_new(struct rides);
	r->timer = timer_new(reactor, on_due, r);
	return r;
}

void rides_free(struct rides *r)
{
	timer_close(r->timer);
	for (int i = 0; i < r->n_sent; i++)
		free(r->sent[i]);
	for (int i = 0; i < r->n_mark; i++)
		free(r->mark[i]);
	free(r->sent);
	free(r->mark);
	free(r);
}

bool rides_wait(const struct rides *r)
{
	return r->wait;
}

bool rides_due(const struct rides *r)
{
	return r->due;
}

bool rides_aboard(const struct rides *r)
{
	return r->aboard;
}

static void wait(struct rides *r)
{
	if (!r->wait)
		timer_start(r->timer, RIDE_MS, 0);
	r->wait = true;
}

void rides_sent(struct rides *r, const struct sent_row *row)
{
	struct sent *s = mem_must(malloc(sizeof *s + row->kind.n));
	s->row = *row;
	memcpy(s->kind, row->kind.p, row->kind.n);
	s->row.kind.p = s->kind;
	mem_room(r->sent, r->n_sent, r->cap);
	r->sent[r->n_sent++] = s;
	wait(r);
}

static struct mark *mark_of(struct rides *r, const struct mark_row *row)
{
	for (int i = 0; i < r->n_mark; i++) {
		struct mark *m = r->mark[i];
		if (m->row.part == row->part && str_eq(m->row.topic, row->topic) &&
		    str_eq(m->row.cluster, row->cluster))
			return m;
	}
	struct mark *m = mem_must(calloc(1, sizeof *m + row->cluster.n + row->topic.n));
	memcpy(m->text, row->cluster.p, row->cluster.n);
	memcpy(m->text + row->cluster.n, row->topic.p, row->topic.n);
	m->row = *row;
	m->row.cluster.p = m->text;
	m->row.topic.p = m->text + row->cluster.n;
	r->mark = mem_must(realloc(r->mark, (size_t)(r->n_mark + 1) * sizeof(*r->mark)));
	return r->mark[r->n_mark++] = m;
}

void rides_mark(struct rides *r, const struct mark_row *row)
{
	struct mark *m = mark_of(r, row);
	m->want = row->next_offset;
	m->waits = true;
	wait(r);
}

void rides_board(struct rides *r)
{
	r->aboard = r->wait;
	if (!r->wait)
		return;
	timer_stop(r->timer);
	r->wait = r->due = false;
	r->n_aboard = r->n_sent;
	for (int i = 0; i < r->n_mark; i++) {
		struct mark *m = r->mark[i];
		m->row.next_offset = m->want;
		m->aboard = m->waits;
		m->waits = false;
	}
}

void rides_add(const struct rides *r, struct trail_sql *sql)
{
	for (int i = 0; i < r->n_aboard; i++) {
		trail_sql_add(sql, SENT, &r->sent[i]->row);
		trail_sql_add(sql, SENT_GONE, &r->sent[i]->row);
	}
	for (int i = 0; i < r->n_mark; i++) {
		if (r->mark[i]->aboard)
			trail_sql_add(sql, MARK, &r->mark[i]->row);
	}
}

static int drop_sent(struct rides *r)
{
	int n = r->n_aboard;
	for (int i = 0; i < n; i++)
		free(r->sent[i]);
	r->n_sent -= n;
	if (r->n_sent)
		memmove(r->sent, r->sent + n, (size_t)r->n_sent * sizeof(*r->sent));
	r->n_aboard = 0;
	r->aboard = false;
	return n;
}

static void put_off_marks(struct rides *r)
{
	for (int i = 0; i < r->n_mark; i++) {
		struct mark *m = r->mark[i];
		m->waits |= m->aboard;
		m->aboard = false;
	}
}

int rides_drop(struct rides *r)
{
	put_off_marks(r);
	return drop_sent(r);
}

void rides_arrive(struct rides *r, rides_marked_fn *marked, void *owner)
{
	if (!r->aboard)
		return;
	drop_sent(r);
	/* The owner may mark on from its callback, so offsets are read anew each time. */
	for (int i = 0; i < r->n_mark; i++) {
		struct mark *m = r->mark[i];
		if (!m->aboard)
			continue;
		m->aboard = false;
		marked(owner, m->row.topic, (int32_t)m->row.part, m->row.next_offset);
	}
}

void rides_put_off(struct rides *r)
{
	if (!r->aboard)
		return;
	r->n_aboard = 0;
	r->aboard = false;
	put_off_marks(r);
	wait(r);
}
