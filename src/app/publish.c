#include "app/publish.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "core/event.h"

#include <search.h>
#include <stdio.h>
#include <sys/queue.h>

enum { SEND_AGAIN_MS = 1000, OWN_HEADERS = 12 };

struct event { /* one on its way */
	LIST_ENTRY(event) link;
	struct publisher *publisher;
	struct arena *arena;
	struct outbox_row row;
	struct str value; /* absent = null */
	struct header *header;
	int n_header, n_received; /* received: the first ones, of a dead letter */
	bool with_producer;
	int64_t since_mono_ms;
};

struct publisher {
	struct trail *trail;
	struct metrics *metrics;
	struct producer *producer;
	struct timer *again;
	publish_may_fn *may;
	void *owner;
	LIST_HEAD(, event) all;
	void *by_key; /* the same by job and kind, as a tree of search.h */
	int n;
};

/* ---- headers ---- */

static void add_header(struct event *e, const char *key, struct str value)
{
	e->header[e->n_header++] = (struct header){str_c(key), value};
}

static void add_number(struct event *e, const char *key, int64_t n)
{
	add_header(e, key, arena_printf(e->arena, "%lld", (long long)n));
}

static struct str hex_of(struct event *e, const uint8_t sha[SHA_BYTES])
{
	char hex[2 * SHA_BYTES + 1];

	hex_text(sha, SHA_BYTES, hex);
	return arena_str(e->arena, str_c(hex));
}

/* CloudEvents 1.0 in binary mode. */
static void own_headers(struct event *e, struct str id)
{
	e->header = arena_array(e->arena, struct header, OWN_HEADERS);
	add_header(e, "content-type", STR_OF("application/json"));
	add_header(e, "ce_specversion", STR_OF("1.0"));
	add_header(e, "ce_id", id);
	add_header(e, "ce_source", STR_OF("/draftmill"));
	add_header(e, "ce_type", arena_printf(e->arena, "draftmill.%.*s", STR_ARG(e->row.kind)));
	if (e->row.traceparent.p)
		add_header(e, "traceparent", e->row.traceparent);
}

/* "6869" to "hi"; absent stays absent. */
static struct str unhex(struct arena *a, const struct json *text)
{
	uint8_t *bytes;
	struct str hex;

	if (json_kind(text) != JSON_STRING)
		return str_c(NULL);
	hex = json_str(text);
	bytes = arena_alloc(a, hex.n / 2 + 1);
	if (!hex_read(hex, bytes, hex.n / 2))
		return str_c(NULL);
	return (struct str){(const char *)bytes, hex.n / 2};
}

/* As they were received; they stand in the row as [[key, hex of the value or null]..]. */
static void received_headers(struct event *e, struct str stored)
{
	struct json *doc = NULL;
	struct err err;
	size_t n = 0;

	if (stored.p && json_read(stored, &doc, &err) == JSON_FINE)
		n = json_size(doc);
	e->header = arena_array(e->arena, struct header, n + OWN_HEADERS);
	for (size_t i = 0; i < n; i++) {
		const struct json *pair = json_item(doc, i);

		e->header[e->n_header++] =
			(struct header){arena_str(e->arena, json_str(json_item(pair, 0))),
					unhex(e->arena, json_item(pair, 1))};
	}
	json_free(doc);
	e->n_received = e->n_header;
}

static void letter_headers(struct event *e, const struct dead_letter_row *l, struct str id)
{
	received_headers(e, l->headers);
	add_header(e, "event_id", id);
	add_header(e, "reason", arena_str(e->arena, l->reason));
	add_header(e, "detail", arena_str(e->arena, l->detail));
	add_header(e, "cluster", arena_str(e->arena, l->cluster));
	add_header(e, "topic", arena_str(e->arena, l->topic));
	add_number(e, "partition", l->part);
	add_number(e, "offset", l->offset);
	add_header(e, "value_sha256", hex_of(e, l->value_sha));
	if (l->first_sha.n == SHA_BYTES)
		add_header(e, "first_sha256", hex_of(e, (const uint8_t *)l->first_sha.p));
	if (l->first_job_no != ROW_NULL)
		add_number(e, "first_job_no", l->first_job_no);
}

/* ---- on its way ---- */

static int by_key(const void *a, const void *b)
{
	const struct outbox_row *x = &((const struct event *)a)->row;
	const struct outbox_row *y = &((const struct event *)b)->row;

	if (x->job_no != y->job_no)
		return x->job_no < y->job_no ? -1 : 1;
	return str_cmp(x->kind, y->kind);
}

static void event_free(struct event *e)
{
	LIST_REMOVE(e, link);
	tdelete(e, &e->publisher->by_key, by_key);
	e->publisher->n--;
	arena_free(e->arena);
}

static void send_later(struct publisher *p)
{
	timer_start(p->again, SEND_AGAIN_MS, 0);
}

/* A dead letter may be over the broker's limit: first its value is left out, then its key and the headers it came with. The
 * bytes stay in the table. False: nothing more can be left out. */
static bool omit_some(struct event *e)
{
	if (!str_is(e->row.kind, DEAD_LETTER_KIND))
		return false;
	if (e->value.p) {
		add_header(e, "value_omitted", STR_OF("true"));
		e->value = str_c(NULL);
		return true;
	}
	if (!e->row.key.p && !e->n_received)
		return false;
	e->row.key = str_c(NULL);
	e->header += e->n_received;
	e->n_header -= e->n_received;
	e->n_received = 0;
	return true;
}

static void send_event(struct event *e)
{
	struct publisher *p = e->publisher;
	struct err err = {""};
	enum status s;

	if (!p->producer || !p->may(p->owner)) {
		send_later(p);
		return;
	}
	do
		s = producer_send(p->producer, e->row.topic, e->row.key, e->value, e->header,
				  e->n_header, e, &err);
	while (s == ST_INVALID && omit_some(e));
	e->with_producer = s == ST_OK;
	if (s == ST_OK)
		return;
	if (s == ST_INVALID)
		log_error("event_refused", L_INT("job_no", e->row.job_no),
			  L_STRN("kind", e->row.kind), L_STR("why", err.text));
	send_later(p);
}

static void send_waiting(void *owner)
{
	struct publisher *p = owner;
	struct event *e;

	LIST_FOREACH(e, &p->all, link)
	if (!e->with_producer)
		send_event(e);
}

void publisher_delivered(void *owner, void *cookie, enum status s, const char *why,
			 int32_t partition, int64_t offset)
{
	struct publisher *p = owner;
	struct event *e = cookie;

	e->with_producer = false;
	if (s == ST_OK) {
		const struct sent_row sent = {.job_no = e->row.job_no,
					      .kind = e->row.kind,
					      .part = partition,
					      .offset = offset,
					      .at_ms = clock_unix_ms()};
		trail_sent(p->trail, &sent);
		metrics_observe(p->metrics, stage_seconds, clock_mono_ms() - e->since_mono_ms,
				STAGE_publish);
		event_free(e);
		return;
	}
	if (s == ST_INVALID)
		(void)omit_some(e);
	log_warn("event_not_delivered", L_STRN("topic", e->row.topic),
		 L_INT("job_no", e->row.job_no), L_STRN("kind", e->row.kind), L_STR("why", why),
		 L_STR("mend", kafka_mend(why)));
	send_later(p);
}

void publish(struct publisher *p, const struct outbox_row *row,
	     const struct dead_letter_row *letter)
{
	struct arena *a = arena_new();
	struct event *e = arena_alloc(a, sizeof(*e));
	char id[UUID_TEXT + 1];

	*e = (struct event){
		.publisher = p, .arena = a, .row = *row, .since_mono_ms = clock_mono_ms()};
	e->row.kind = arena_str(a, row->kind);
	e->row.topic = arena_str(a, row->topic);
	e->row.key = arena_str(a, row->key);
	e->row.traceparent = arena_str(a, row->traceparent);
	e->value = arena_str(a, letter ? letter->value : row->payload);
	uuid_text(row->event_id, id);
	if (letter)
		letter_headers(e, letter, arena_str(a, str_c(id)));
	else
		own_headers(e, arena_str(a, str_c(id)));
	LIST_INSERT_HEAD(&p->all, e, link);
	mem_must(tsearch(e, &p->by_key, by_key));
	p->n++;
	send_event(e);
}

/* ---- the publisher ---- */

struct publisher *publisher_new(struct reactor *reactor, struct trail *trail,
				struct metrics *metrics, publish_may_fn *may, void *owner)
{
	struct publisher *p = mem_new(struct publisher);

	p->trail = trail;
	p->metrics = metrics;
	p->again = timer_new(reactor, send_waiting, p);
	p->may = may;
	p->owner = owner;
	return p;
}

void publisher_use(struct publisher *p, struct producer *producer)
{
	p->producer = producer;
}

void publisher_free(struct publisher *p)
{
	if (!p)
		return;
	while (!LIST_EMPTY(&p->all))
		event_free(LIST_FIRST(&p->all));
	timer_close(p->again);
	free(p);
}

int publisher_count(const struct publisher *p)
{
	return p->n;
}

bool publisher_has(const struct publisher *p, int64_t job_no, struct str kind)
{
	return tfind(&(struct event){.row = {.job_no = job_no, .kind = kind}}, &p->by_key, by_key);
}
