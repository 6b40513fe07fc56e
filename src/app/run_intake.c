/*
 * app/run_intake.c - how a job comes into memory: from a message, or from the trail that another worker left.
 */
#include "run_private.h"

#include "app/failpoint.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

#include <stdio.h>
#include <sys/random.h>

static void settled(const struct run *r, enum settled how)
{
	const struct runs_config *c = &r->runs->c;
	const struct record *m = &r->message;

	metrics_add(c->metrics, messages_total, 1, (int)how);
	c->hooks->settled(c->owner, m->topic, m->partition, m->offset, how);
}

/* ---- a message that is no job ---- */

struct letter { /* beside its run, in the run's arena */
	struct run *run;
	struct dead_letter_row row;
	struct outbox_row event;
};

static void letter_stored(void *owner, enum stored how, const struct stored_why *why)
{
	struct letter *l = owner;
	const struct runs_config *c = &l->run->runs->c;

	if (how == STORED_REFUSED)
		log_error("dead_letter_refused", L_STR("sqlstate", why->sqlstate),
			  L_STR("text", why->text));
	if (how == STORED)
		c->hooks->dead(c->owner, &l->event, &l->row);
	if (how != STORED_REFUSED)
		settled(l->run, SETTLED_DEAD);
	run_free(l->run);
}

/* Headers as a JSON array of [key, hex of the value or null]: bytes survive, and a person can read it. */
static struct str headers_json(struct arena *a, const struct record *m)
{
	struct buf text = BUF(2 * MESSAGE_BYTES_MAX), hex = BUF(2 * MESSAGE_BYTES_MAX);
	struct json_out o = {.buf = &text};
	struct str json;

	json_open(&o, NULL, '[');
	for (int i = 0; i < m->n_header; i++) {
		const struct header *h = &m->header[i];

		json_open(&o, NULL, '[');
		json_put_str(&o, NULL, h->key);
		buf_clear(&hex);
		buf_hex(&hex, h->value.p, h->value.n);
		json_put_str(&o, NULL, h->value.p ? buf_view(&hex) : str_c(NULL));
		json_close(&o, ']');
	}
	json_close(&o, ']');
	json = text.full ? str_c(NULL) : arena_str(a, buf_view(&text));
	buf_release(&text);
	buf_release(&hex);
	return m->n_header ? json : str_c(NULL);
}

/* @first: of the job that has the identity; NULL: the message is at fault alone. */
static void dead(struct run *r, enum dead_reason reason, struct str detail,
		 const struct stored_why *first)
{
	const struct record *m = &r->message;
	const struct runs_config *c = &r->runs->c;
	struct letter *l = arena_alloc(r->arena, sizeof(*l));
	struct dead_letter_row *row = &l->row;

	l->run = r;
	*row = (struct dead_letter_row){.letter_no = c->hooks->number(c->owner),
					.cluster = str_c(c->cluster),
					.topic = m->topic,
					.part = m->partition,
					.offset = m->offset,
					.reason = str_c(dead_name(reason)),
					.detail =
						arena_str(r->arena, text_to_utf8(r->arena, detail)),
					.key = m->key,
					.value = m->value,
					.headers = headers_json(r->arena, m),
					.source = r->job ? r->job->source : str_c(NULL),
					.id = r->job ? r->job->id : str_c(NULL),
					.revision = first ? r->row.revision : ROW_NULL,
					.first_job_no = first ? first->first_job_no : ROW_NULL,
					.worker_id = trail_worker_id(c->trail),
					.at_ms = clock_unix_ms()};
	sha256(row->value, row->value_sha);
	if (first)
		row->first_sha = arena_str(r->arena,
					   (struct str){(const char *)first->first_sha, SHA_BYTES});
	l->event = (struct outbox_row){.job_no = row->letter_no,
				       .kind = STR_OF(DEAD_LETTER_KIND),
				       .topic = arena_printf(r->arena, "%s" DEAD_LETTER_TOPIC,
							     c->settings->kafka_topic_prefix),
				       .key = row->key};
	dead_letter_id(row, l->event.event_id);
	memcpy(l->event.payload_sha, row->value_sha, SHA_BYTES);
	log_warn("dead_letter", L_STRN("reason", row->reason), L_STRN("topic", row->topic),
		 L_INT("partition", row->part), L_INT("offset", row->offset));
	trail_dead_letter(c->trail, row, &l->event, letter_stored, l);
}

/* ---- a message that is a job ---- */

static void conflict(struct run *r, const struct stored_why *why)
{
	char hex[2 * SHA_BYTES + 1];

	hex_text(why->first_sha, SHA_BYTES, hex);
	dead(r, DEAD_conflict,
	     arena_printf(r->arena,
			  "this source, id and revision came before as job %lld with SHA-256 %s",
			  (long long)why->first_job_no, hex),
	     why);
}

static void intake_stored(void *owner, enum stored how, const struct stored_why *why)
{
	struct run *r = owner;

	r->storing = false;
	if (how == STORED) {
		settled(r, SETTLED_JOB);
		run_stored(r, how, why);
		return;
	}
	run_return_slots(r); /* its calls will not be made */
	r->loop = NULL;
	if (how == STORED_DUPLICATE) {
		settled(r, SETTLED_DUPLICATE);
		run_free(r);
	} else if (how == STORED_CONFLICT) {
		conflict(r, why);
	} else {
		dead(r, DEAD_poison,
		     arena_printf(r->arena, "PostgreSQL refuses it: %s %s", why->sqlstate,
				  why->text),
		     NULL);
	}
}

static struct str tags_json(struct arena *a, const struct job *job)
{
	struct buf text = BUF(64 << 10);
	struct json_out o = {.buf = &text};
	struct str json;

	if (!job->n_tag)
		return str_c(NULL);
	json_open(&o, NULL, '[');
	for (int i = 0; i < job->n_tag; i++)
		json_put_str(&o, NULL, job->tag[i]);
	json_close(&o, ']');
	json = arena_str(a, buf_view(&text));
	buf_release(&text);
	return json;
}

static void fill_job_row(struct run *r)
{
	const struct record *m = &r->message;
	const struct runs_config *c = &r->runs->c;
	const struct job *job = r->job;

	r->row = (struct job_row){.job_no = r->job_no,
				  .source = job->source,
				  .id = job->id,
				  .revision = job->revision,
				  .batch = job->batch,
				  .tenant = job->tenant,
				  .subject = job->subject,
				  .tags = tags_json(r->arena, job),
				  .attributes = job->attributes,
				  .traceparent = job->traceparent,
				  .profile = r->profile->name,
				  .arm = r->arm,
				  .stakes = str_c(stakes_name(job->stakes)),
				  .stakes_by = job->stakes_by,
				  .not_after_ms = job->not_after_ms ? job->not_after_ms : ROW_NULL,
				  .cluster = str_c(c->cluster),
				  .topic = m->topic,
				  .part = m->partition,
				  .offset = m->offset,
				  .worker_id = trail_worker_id(c->trail),
				  .at_ms = r->fact.at_ms,
				  .payload = m->value};
	memcpy(r->row.profile_sha, r->profile->sha, SHA_BYTES);
	memcpy(r->row.salt, job->salt, SALT_BYTES);
	sha256(m->value, r->row.payload_sha);
}

static enum dead_reason read_job(struct run *r, const struct record *m, struct err *err)
{
	const struct profiles *profiles = r->runs->c.profiles;
	enum dead_reason reason;

	r->job = arena_alloc(r->arena, sizeof(*r->job));
	failpoint("parse", m->value);
	reason = job_read(r->arena, m, profiles_job_schema(profiles), r->job, err);
	if (reason != DEAD_NONE)
		return reason;
	r->profile = profiles_of_job(profiles, r->job->profile_name, r->job->id, &r->arm, err);
	if (!r->profile) {
		err_at(err, "#/profile: ");
		return DEAD_unknown_profile;
	}
	return job_bind(r->job, r->profile, err);
}

static void store_intake(struct run *r)
{
	struct intake *in = arena_alloc(r->arena, sizeof(*in));

	*in = (struct intake){.job = &r->row, .first = &r->rows, .profile = r->profile};
	job_key(r->job, in->key);
	trail_intake(r->runs->c.trail, in, intake_stored, r);
}

static void end_turn(struct run *r)
{
	const struct runs_config *c = &r->runs->c;

	c->hooks->in_hand(c->owner, &r->message, 0);
	run_make_events(r);
	c->hooks->in_hand(c->owner, NULL, 0);
	store_intake(r);
}

/* The first step is made before the job is stored: job, step and first intent are one commit. The message is in hand, not the job:
 * nobody would ever ask for its number again. */
static void take_in(struct run *r)
{
	if (getrandom(r->job->salt, SALT_BYTES, 0) != SALT_BYTES)
		BUG("no random bytes");
	r->fact = (struct fact){.type = FACT_started, .at_ms = clock_unix_ms(), .call_no = -1};
	run_set_number(r, r->runs->c.hooks->number(r->runs->c.owner));
	fill_job_row(r);
	step_first_hash(&r->row, r->head);
	r->loop = loop_new(r->arena, r->job, r->profile);
	failpoint("start", r->job->id);
	run_step(r);
	r->storing = true;
	if (r->out.finished)
		run_next_turn(r, end_turn);
	else
		store_intake(r);
}

static void keep_record(struct run *r, const struct record *m)
{
	struct header *h = arena_array(r->arena, struct header, m->n_header);

	for (int i = 0; i < m->n_header; i++)
		h[i] = (struct header){arena_str(r->arena, m->header[i].key),
				       arena_str(r->arena, m->header[i].value)};
	r->message = *m;
	r->message.topic = arena_str(r->arena, m->topic);
	r->message.key = arena_str(r->arena, m->key);
	r->message.value = arena_str(r->arena, m->value);
	r->message.header = h;
}

void runs_message(struct runs *rs, const struct record *m, int n_strike)
{
	struct run *r = run_new(rs);
	struct err err = {""};
	enum dead_reason reason;

	keep_record(r, m);
	if (n_strike >= STRIKES_MAX) {
		dead(r, DEAD_poison,
		     arena_printf(r->arena, "it was in hand at %d crashes; not parsed", n_strike),
		     NULL);
		return;
	}
	rs->c.hooks->in_hand(rs->c.owner, m, 0);
	reason = read_job(r, &r->message, &err);
	if (reason == DEAD_NONE)
		take_in(r);
	rs->c.hooks->in_hand(rs->c.owner, NULL, 0);
	if (reason != DEAD_NONE)
		dead(r, reason, str_c(err.text), NULL);
}
