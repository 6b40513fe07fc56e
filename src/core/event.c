#include "core/event.h"

#include <stdio.h>

#include "base/clock.h"
#include "core/similarity.h"

/* RFC 9562 UUIDv5 name space of our events: made once, at random. */
static const uint8_t space[UUID_BYTES] = {0x5b, 0x0c, 0x1e, 0x7a, 0x93, 0xd4, 0x4c, 0x8f,
					  0xa6, 0x21, 0xf0, 0x3b, 0x6d, 0x58, 0xe9, 0x47};

static bool is_released(const struct outcome_row *o)
{
	return str_is(o->outcome, outcome_name(OUTCOME_passed)) ||
	       str_is(o->outcome, outcome_name(OUTCOME_direct));
}

static void put_some(struct json_out *o, const char *key, struct str s)
{
	if (s.p)
		json_put_str(o, key, s);
}

static void put_known(struct json_out *o, const char *key, int64_t n)
{
	if (n != ROW_NULL && n >= 0)
		json_put_int(o, key, n);
}

/* The parts of a draft by their names. */
static void put_fields(struct json_out *o, const char *key, const struct draft *d)
{
	if (!d->n_field)
		return;
	json_open(o, key, '{');
	for (int i = 0; i < d->n_field; i++)
		json_put_str(o, d->field[i].name.p, field_text(&d->field[i], d->text));
	json_close(o, '}');
}

static void put_hex(struct json_out *o, const char *key, const uint8_t sha[SHA_BYTES])
{
	char hex[2 * SHA_BYTES + 1];

	hex_text(sha, SHA_BYTES, hex);
	json_put_str(o, key, str_c(hex));
}

static void put_time(struct json_out *o, const char *key, int64_t unix_ms)
{
	struct buf text = BUF(64);

	time_write(&text, unix_ms);
	json_put_str(o, key, buf_view(&text));
	buf_release(&text);
}

static void put_number_text(struct json_out *o, const char *key, int64_t n)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%lld", (long long)n);
	json_put_str(o, key, str_c(digits));
}

/* ---- what both events begin with ---- */

static void put_job(struct json_out *o, const struct job *job)
{
	json_open(o, "job", '{');
	json_put_str(o, "source", job->source);
	json_put_str(o, "id", job->id);
	json_put_int(o, "revision", job->revision);
	put_some(o, "batch", job->batch);
	put_some(o, "tenant", job->tenant);
	put_some(o, "subject", job->subject);
	if (job->n_tag) {
		json_open(o, "tags", '[');
		for (int i = 0; i < job->n_tag; i++)
			json_put_str(o, NULL, job->tag[i]);
		json_close(o, ']');
	}
	if (job->attributes.p)
		json_put_raw(o, "attributes", job->attributes);
	json_close(o, '}');
}

static void put_head(struct json_out *o, const struct ending *e, const char *kind,
		     const uint8_t event_id[UUID_BYTES])
{
	const struct outcome_row *end = e->outcome;
	char id[UUID_TEXT + 1];

	uuid_text(event_id, id);
	json_put_str(o, "event_id", str_c(id));
	json_put_str(o, "kind", str_c(kind));
	put_job(o, e->job);
	put_number_text(o, "job_no", end->job_no);
	if (e->job->revision > 0) {
		json_open(o, "supersedes", '{');
		json_put_int(o, "revision", e->job->revision - 1);
		json_close(o, '}');
	}
	json_open(o, "profile", '{');
	json_put_str(o, "name", e->profile->name);
	if (e->arm.p)
		json_put_str(o, "arm", e->arm);
	put_hex(o, "sha256", e->profile->sha);
	json_close(o, '}');
	json_put_str(o, "outcome", end->outcome);
	json_put_str(o, "stop_reason", end->stop_reason);
	json_put_str(
		o, "why",
		str_c(stop_sentence(stop_read(end->stop_reason), e->job->language == LANG_JA)));
}

static void put_tail(struct json_out *o, const struct ending *e)
{
	const struct outcome_row *end = e->outcome;

	put_known(o, "score", end->score);
	json_put_int(o, "n_iterations", end->n_iterations);
	json_put_int(o, "n_calls", end->n_calls);
	json_open(o, "usage", '{');
	json_put_int(o, "tokens_in", end->tokens_in);
	json_put_int(o, "tokens_cached", end->tokens_cached);
	json_put_int(o, "tokens_out", end->tokens_out);
	json_close(o, '}');
	json_put_int(o, "cost_micro_usd", end->cost_micro_usd);
	json_put_int(o, "active_ms", end->active_ms);
	put_time(o, "at", end->at_ms);
	put_hex(o, "chain_head", end->head);
}

/* ---- outcome ---- */

static void put_best(struct json_out *o, const struct ending *e, bool released)
{
	json_put_str(o, released ? "text" : "best_draft", e->best->text);
	put_fields(o, released ? "fields" : "best_draft_fields", e->best);
}

static void write_outcome(const struct ending *e, const uint8_t event_id[UUID_BYTES],
			  bool with_texts, struct arena *a, struct buf *out)
{
	struct json_out o = {out, false};

	json_open(&o, NULL, '{');
	put_head(&o, e, "outcome", event_id);
	put_known(&o, "draft_no", e->outcome->draft_no);
	if (!with_texts)
		json_put_bool(&o, "texts_omitted", true);
	else if (
		e->best) /* under another name unless it may ship, so that nobody sends it by mistake */
		put_best(&o, e, is_released(e->outcome));
	put_tail(&o, e);
	json_close(&o, '}');
}

/* ---- opened ---- */

static bool is_escalated(const struct ending *e)
{
	return str_is(e->outcome->outcome, outcome_name(OUTCOME_escalated));
}

static void put_drafts(struct json_out *o, const struct history *h, bool with_texts)
{
	json_open(o, "drafts", '[');
	for (int i = 0; i < h->n_draft; i++) {
		const struct draft *d = &h->draft[i];

		json_open(o, NULL, '{');
		json_put_int(o, "draft_no", d->no);
		if (d->from >= 0) {
			json_put_int(o, "from", d->from);
			json_put_int(o, "changed_permille", d->changed_permille);
			json_put_int(o, "n_kept", d->n_kept);
			json_put_int(o, "n_reverted", d->n_reverted);
		}
		if (with_texts) {
			json_put_str(o, "text", d->text);
			put_fields(o, "fields", d);
		}
		put_known(o, "score", d->score);
		json_open(o, "checks", '[');
		for (int j = 0; j < d->n_result; j++) {
			json_open(o, NULL, '{');
			check_put(&d->result[j], with_texts, o);
			json_close(o, '}');
		}
		json_close(o, ']');
		json_close(o, '}');
	}
	json_close(o, ']');
}

static void put_issue(struct json_out *o, const struct issue *i)
{
	json_open(o, NULL, '{');
	json_put_str(o, "category", i->category);
	json_put_int(o, "severity", i->severity);
	json_put_str(o, "snippet", i->snippet);
	json_put_str(o, "suggestion", i->suggestion);
	put_some(o, "source", i->source);
	put_some(o, "miscited", i->miscited);
	json_put_bool(o, "anchored", i->at >= 0);
	json_close(o, '}');
}

static void put_critique(struct json_out *o, const struct critique *c, bool with_texts)
{
	json_open(o, NULL, '{');
	put_some(o, "tool", c->tool);
	json_put_int(o, "draft_no", c->draft_no);
	json_put_bool(o, "valid", c->valid);
	put_some(o, "fault", c->fault);
	if (c->valid && !c->tool.p) {
		json_put_str(o, "verdict", str_c(c->pass ? "pass" : "fail"));
		put_known(o, "score", c->score);
	}
	if (with_texts)
		put_some(o, "reasons", c->reasons);
	json_open(o, "issues", '[');
	for (int i = 0; with_texts && i < c->n_issue; i++)
		put_issue(o, &c->issue[i]);
	json_close(o, ']');
	json_close(o, '}');
}

static void put_critiques(struct json_out *o, const char *key, const struct critique *c, int n,
			  bool with_texts)
{
	json_open(o, key, '[');
	for (int i = 0; i < n; i++)
		put_critique(o, &c[i], with_texts);
	json_close(o, ']');
}

static void put_comparisons(struct json_out *o, const struct history *h, bool with_texts)
{
	json_open(o, "candidates", '{');
	json_open(o, "comparisons", '[');
	for (int i = 0; i < h->n_comparison; i++) {
		const struct comparison *c = &h->comparison[i];

		json_open(o, NULL, '{');
		json_put_int(o, "first_draft_no", c->first_no);
		json_put_str(o, "better", str_c(better_name(c->better)));
		put_some(o, "fault", c->fault);
		if (with_texts)
			put_some(o, "reasons", c->reasons);
		json_close(o, '}');
	}
	json_close(o, ']');
	if (h->choice) {
		json_put_int(o, "chosen_draft_no", h->choice->draft_no);
		json_put_str(o, "chosen_by", h->choice->why);
	}
	json_close(o, '}');
}

/* From the first draft, of two candidates the chosen one, to the one that the outcome names. */
static void put_diff(struct json_out *o, const struct ending *e, struct arena *a)
{
	static const char *const op[] = {
		[DIFF_KEPT] = "keep", [DIFF_CUT] = "cut", [DIFF_PUT] = "put"};
	const int first = e->history->choice ? e->history->choice->draft_no : 0;
	const struct diff *run;
	int n;

	if (!e->best || e->best->from < 0)
		return;
	if (e->best->from == first && e->best->diff) {
		run = e->best->diff;
		n = e->best->n_diff;
	} else {
		run = diff_words(a, e->history->draft[first].text, e->best->text, &n);
	}
	json_open(o, "diff", '[');
	for (int i = 0; i < n; i++) {
		json_open(o, NULL, '{');
		json_put_str(o, "op", str_c(op[run[i].kind]));
		json_put_str(o, "text", run[i].text);
		json_close(o, '}');
	}
	json_close(o, ']');
}

static void put_request(struct json_out *o, const struct ending *e)
{
	const struct job *job = e->job;

	put_some(o, "task", job->task);
	json_open(o, "variables", '{');
	for (int i = 0; i < job->n_variable; i++)
		json_put_pair(o, job->variable[i].name, job->variable[i].value);
	json_close(o, '}');
	json_open(o, "constraints", '[');
	for (int i = 0; i < e->profile->n_constraint; i++)
		json_put_str(o, NULL, e->profile->constraint[i]);
	for (int i = 0; i < job->n_constraint; i++)
		json_put_str(o, NULL, job->constraint[i]);
	json_close(o, ']');
	if (!job->n_source)
		return;
	json_open(o, "sources", '[');
	for (int i = 0; i < job->n_source; i++) {
		json_open(o, NULL, '{');
		json_put_str(o, "id", job->sources[i].id);
		json_put_str(o, "text", job->sources[i].text);
		json_close(o, '}');
	}
	json_close(o, ']');
}

static void write_opened(const struct ending *e, const uint8_t event_id[UUID_BYTES],
			 bool with_texts, struct arena *a, struct buf *out)
{
	const struct history *h = e->history;
	struct json_out o = {out, false};

	json_open(&o, NULL, '{');
	put_head(&o, e, "opened", event_id);
	json_put_str(&o, "stakes", str_c(stakes_name(e->job->stakes)));
	put_some(&o, "stakes_by", e->job->stakes_by);
	if (with_texts)
		put_request(&o, e);
	put_drafts(&o, h, with_texts);
	if (e->profile->candidates > 1)
		put_comparisons(&o, h, with_texts);
	put_critiques(&o, "critiques", h->critique, h->n_critique, with_texts);
	if (h->n_examination)
		put_critiques(&o, "tools", h->examination, h->n_examination, with_texts);
	if (with_texts)
		put_diff(&o, e, a);
	else
		json_put_bool(&o, "texts_omitted", true);
	put_known(&o, "best_draft_no", e->outcome->draft_no);
	put_tail(&o, e);
	json_close(&o, '}');
}

/* ---- the table ---- */

static const struct event_kind kinds[] = {
	{"outcome", "results", NULL, write_outcome},
	{"opened", "review", is_escalated, write_opened},
};

const struct event_kind *event_kind_at(int i)
{
	return i < (int)(sizeof(kinds) / sizeof(kinds[0])) ? &kinds[i] : NULL;
}

/* UUIDv5 over the digest of canonical fields: their lengths are part of the name. */
static void id_of(struct digest *d, uint8_t out[UUID_BYTES])
{
	uint8_t sha[SHA_BYTES];

	digest_end(d, sha);
	uuid5(space, (struct str){(const char *)sha, SHA_BYTES}, out);
}

void event_id(const struct job *job, const char *kind, int n, uint8_t out[UUID_BYTES])
{
	struct digest *d = digest_begin("draftmill/event/1");

	digest_bytes(d, job->source);
	digest_bytes(d, job->id);
	digest_int(d, job->revision);
	digest_bytes(d, str_c(kind));
	digest_int(d, n);
	id_of(d, out);
}

void dead_letter_id(const struct dead_letter_row *r, uint8_t out[UUID_BYTES])
{
	struct digest *d = digest_begin("draftmill/dead_letter/1");

	digest_bytes(d, r->cluster);
	digest_bytes(d, r->topic);
	digest_int(d, r->part);
	digest_int(d, r->offset);
	digest_bytes(d, (struct str){(const char *)r->value_sha, SHA_BYTES});
	id_of(d, out);
}

static void fill_row(struct arena *a, const struct ending *e, const struct event_kind *kind,
		     struct str topic_prefix, struct outbox_row *r)
{
	struct buf body = BUF(EVENT_BYTES_MAX);

	r->job_no = e->outcome->job_no;
	r->kind = str_c(kind->name);
	event_id(e->job, kind->name, 0, r->event_id);
	r->topic = arena_printf(a, "%.*s%s", STR_ARG(topic_prefix), kind->topic);
	r->key = e->job->id;
	r->traceparent = e->job->traceparent;
	kind->write(e, r->event_id, true, a, &body);
	if (body.full) {
		buf_clear(&body);
		kind->write(e, r->event_id, false, a, &body);
	}
	if (body.full)
		BUG("an event without texts over %d bytes", EVENT_BYTES_MAX);
	r->payload = arena_str(a, buf_view(&body));
	sha256(r->payload, r->payload_sha);
	buf_release(&body);
}

const struct outbox_row *event_rows(struct arena *a, const struct ending *e,
				    struct str topic_prefix, int *n)
{
	struct outbox_row *row =
		arena_array(a, struct outbox_row, sizeof(kinds) / sizeof(kinds[0]));
	const struct event_kind *kind;

	*n = 0;
	for (int i = 0; (kind = event_kind_at(i)); i++)
		if (!kind->due || kind->due(e))
			fill_row(a, e, kind, topic_prefix, &row[(*n)++]);
	return row;
}
