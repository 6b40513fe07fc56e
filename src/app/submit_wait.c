#include "submit_private.h"

#include <poll.h>

#include "base/clock.h"

enum { POLL_MS = 500, ASKED_AT_ONCE = 2000 };

/* $1 keys, $2 hashes, $3 partitions, $4 offsets, $5 topic. The place in the arrays from 1, outcome or `dead`, and whether the job came from
 * this very record. Arrays are compared with `any`, so that an index serves however the role's plans are set. */
/* clang-format off */
static const char ended_sql[] =
	"with w as (select * from unnest($1::uuid[], $2::text[], $3::int[], $4::bigint[]) with ordinality "
	"    w(key, sha, part, \"offset\", n)), "
	"  k as materialized (select key, encode(sha, 'hex') as sha, job_no from draftmill.job_key where key = any($1::uuid[])), "
	"  o as materialized (select job_no, outcome from draftmill.outcome where job_no = any(array(select job_no from k))), "
	"  j as materialized (select job_no, topic, part, \"offset\" from draftmill.job "
	"    where job_no = any(array(select job_no from k))) "
	"select w.n, o.outcome, j.topic = $5 and j.part = w.part and j.\"offset\" = w.\"offset\", null "
	"from w join k using (key, sha) join o using (job_no) join j using (job_no) "
	"union all "
	"select w.n, 'dead', true, concat_ws(': ', l.reason, l.detail) from w join draftmill.dead_letter l "
	"  on l.topic = $5 and l.part = w.part and l.\"offset\" = w.\"offset\" and encode(l.value_sha, 'hex') = w.sha";
/* clang-format on */

static void put_arrays(struct buf array[4], const struct item *const *item, int n)
{
	put_keys(&array[0], item, n);
	for (int k = 1; k < 4; k++)
		buf_putc(&array[k], '{');
	for (int i = 0; i < n; i++) {
		const char *comma = i ? "," : "";
		buf_puts(&array[1], comma);
		buf_hex(&array[1], item[i]->sha, SHA_BYTES);
		buf_printf(&array[2], "%s%lld", comma, (long long)item[i]->part);
		buf_printf(&array[3], "%s%lld", comma, (long long)item[i]->offset);
	}
	for (int k = 1; k < 4; k++)
		buf_putc(&array[k], '}');
}

static enum status ask_ended(struct submit *s, struct item *const *item, int n,
			     struct pg_rows **rows, struct err *err)
{
	struct buf array[4], topic = BUF(1024);

	for (int k = 0; k < 4; k++)
		buf_init(&array[k], 1 << 20);
	put_arrays(array, (const struct item *const *)item, n);
	buf_str(&topic, s->topic);
	const char *param[] = {array[0].p, array[1].p, array[2].p, array[3].p, topic.p};
	enum status status = pg_query(s->pg, ended_sql, param, 5, rows, err);
	for (int k = 0; k < 4; k++)
		buf_release(&array[k]);
	buf_release(&topic);
	return status;
}

static void count_end(struct submit *s, struct item *item, const struct pg_rows *rows, int row)
{
	struct str how = pg_text(rows, row, 1);
	bool ours = str_is(pg_text(rows, row, 2), "t");

	if (item->ended)
		return;
	item->ended = true;
	s->counts->n_open--;
	if (str_is(how, "dead")) {
		s->counts->n_dead++;
		submit_say(s, item, "dead letter", pg_text(rows, row, 3).p);
	}
	for (int i = 0; i < N_OUTCOMES; i++)
		s->counts->n_outcome[i] += str_is(how, outcome_name(i));
	if (item->state == ITEM_DELIVERED && !ours) { /* a worker knew it before */
		s->counts->n_sent--;
		s->counts->n_duplicate++;
	}
}

/* Up to ASKED_AT_ONCE open items from @from on. */
static enum status look(struct submit *s, size_t *from)
{
	struct item *asked[ASKED_AT_ONCE];
	struct pg_rows *rows;
	struct err err;
	int n = 0;

	for (; *from < s->items.n && n < ASKED_AT_ONCE; ++*from) {
		struct item *item = &s->items.item[*from];
		if (!item->ended && (item->state == ITEM_KNOWN || item->state == ITEM_DELIVERED))
			asked[n++] = item;
	}
	if (n == 0)
		return ST_OK;
	enum status status = ask_ended(s, asked, n, &rows, &err);
	if (status != ST_OK) {
		submit_say(s, NULL, "waiting", err.text);
		pg_free(s->pg);
		s->pg = NULL;
		return status;
	}
	for (int i = 0; i < pg_n(rows); i++)
		count_end(s, asked[pg_int(rows, i, 0) - 1], rows, i);
	pg_rows_free(rows);
	return ST_OK;
}

void submit_wait(struct submit *s)
{
	int64_t until = s->c->timeout_ms ? clock_mono_ms() + s->c->timeout_ms : INT64_MAX;
	int64_t all = 0;
	struct err err;

	for (size_t i = 0; i < s->items.n; i++)
		all += s->items.item[i].state == ITEM_KNOWN ||
		       s->items.item[i].state == ITEM_DELIVERED;
	s->counts->n_open = all;
	for (bool last = false; !last; poll(NULL, 0, last ? 0 : POLL_MS)) {
		enum status status = submit_database(s, &err) ? ST_OK : ST_DOWN;
		for (size_t from = 0; status == ST_OK && from < s->items.n;)
			status = look(s, &from);
		last = s->counts->n_open == 0 || status == ST_INVALID || clock_mono_ms() >= until;
		int64_t n_ended = all - s->counts->n_open;
		submit_progress(s, n_ended, all, "%lld of %lld ended", (long long)n_ended,
				(long long)all);
	}
}
