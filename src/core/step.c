#include "core/step.h"

#include "base/json.h"
#include "core/loop.h"

#define X(name) #name,
static const char *const fact_names[] = {FACTS(X)};
#undef X

const char *fact_name(enum fact_type type)
{
	return fact_names[type];
}

enum fact_type fact_read(struct str name)
{
	for (int i = 0; i < N_FACT_TYPES; i++)
		if (str_is(name, fact_names[i]))
			return (enum fact_type)i;
	return N_FACT_TYPES;
}

const char *better_name(enum better better)
{
	static const char *const names[] = {"invalid", "first", "second", "tie"};

	return names[better];
}

struct str step_action(struct arena *a, const struct loop_output *out)
{
	struct buf line = BUF(256);
	struct str action;

	if (out->finished)
		buf_printf(&line, "finish %s %s", outcome_name(outcome_of(out->finish.why)),
			   stop_name(out->finish.why));
	for (int i = 0; i < out->n_call; i++)
		buf_printf(&line, "%s %s %d", i ? "," : "call", role_name(out->call[i].role),
			   out->call[i].no);
	if (!line.n)
		buf_puts(&line, "wait");
	action = arena_str(a, buf_view(&line));
	buf_release(&line);
	return action;
}

/* ---- what a step made ---- */

enum { RESULT_BYTES_MAX = 6 * CHECK_DETAIL_BYTES_MAX + 300, CHECKS_JSON_BYTES_MAX = 4 << 20 };
_Static_assert(2 * CHECKS_MAX * RESULT_BYTES_MAX < CHECKS_JSON_BYTES_MAX,
	       "all checks of profile and job, each byte of their details written as \\u00xx");

static struct str checks_json(struct arena *a, const struct draft *d)
{
	struct buf text = BUF(CHECKS_JSON_BYTES_MAX);
	struct json_out o = {&text, false};
	struct str json;

	json_open(&o, NULL, '[');
	for (int i = 0; i < d->n_result; i++) {
		const struct check_result *r = &d->result[i];

		json_open(&o, NULL, '{');
		check_put(r, true, &o);
		if (!r->ok) {
			json_put_int(&o, "at", r->at);
			json_put_int(&o, "n", r->n);
		}
		json_close(&o, '}');
	}
	json_close(&o, ']');
	if (text.full)
		BUG("%d check results over %d bytes", d->n_result, CHECKS_JSON_BYTES_MAX);
	json = arena_str(a, buf_view(&text));
	buf_release(&text);
	return json;
}

static struct str fields_json(struct arena *a, const struct draft *d)
{
	struct buf text = BUF(FIELDS_MAX * 100);
	struct json_out o = {&text, false};
	struct str json;

	if (!d->n_field)
		return (struct str){NULL, 0};
	json_open(&o, NULL, '{');
	for (int i = 0; i < d->n_field; i++) {
		json_open(&o, d->field[i].name.p, '[');
		json_put_int(&o, NULL, d->field[i].at);
		json_put_int(&o, NULL, d->field[i].n);
		json_close(&o, ']');
	}
	json_close(&o, '}');
	json = arena_str(a, buf_view(&text));
	buf_release(&text);
	return json;
}

static int64_t or_null(int64_t n)
{
	return n < 0 ? ROW_NULL : n;
}

static const struct draft_row *draft_made(struct arena *a, const struct job *job, int64_t job_no,
					  const struct loop_output *out)
{
	const struct draft *d = out->draft;
	struct draft_row *r = arena_alloc(a, sizeof(*r));

	*r = (struct draft_row){.job_no = job_no,
				.draft_no = d->no,
				.step_no = out->step_no,
				.from_draft_no = or_null(d->from),
				.body = d->text,
				.fields = fields_json(a, d),
				.checks = checks_json(a, d),
				.n_hard_failed = d->n_hard_failed,
				.n_failed = d->n_failed,
				.changed_permille = d->changed_permille,
				.confidence_permille = or_null(d->confidence_permille)};
	sha256_salted(job->salt, r->body, r->body_sha);
	sha256_salted(job->salt, r->checks, r->checks_sha);
	return r;
}

static const struct critique_row *critique_made(struct arena *a, const struct job *job,
						int64_t job_no, const struct loop_output *out)
{
	const struct critique *c = out->critique;
	struct critique_row *r = arena_alloc(a, sizeof(*r));

	*r = (struct critique_row){
		.job_no = job_no,
		.step_no = out->step_no,
		.draft_no = c->draft_no,
		.valid = c->valid,
		.fault = c->fault,
		.score = or_null(c->score),
		.verdict = str_c(!c->valid || c->tool.p ? NULL
				 : c->pass		? "pass"
							: "fail"),
		.reasons = c->reasons,
		.n_issue = c->n_issue,
		.n_ignored = c->n_ignored,
		.shape = str_c(c->valid || c->shape == SHAPE_copied ? shape_name(c->shape) : NULL),
		.n_cut = c->n_cut,
		.n_unconsidered = c->n_unconsidered};
	sha256_salted(job->salt, r->reasons, r->text_sha);
	return r;
}

static const struct issue_row *issues_made(struct arena *a, const struct job *job, int64_t job_no,
					   const struct loop_output *out)
{
	const struct critique *c = out->critique;
	struct issue_row *row = arena_array(a, struct issue_row, c->n_issue);

	for (int n = 0; n < c->n_issue; n++) {
		const struct issue *i = &c->issue[n];

		row[n] = (struct issue_row){.job_no = job_no,
					    .step_no = out->step_no,
					    .n = n,
					    .category = i->category,
					    .severity = i->severity,
					    .at = or_null(i->at),
					    .length = i->at < 0 ? ROW_NULL : i->n,
					    .snippet = i->snippet,
					    .suggestion = i->suggestion,
					    .source = i->source,
					    .miscited = i->miscited};
		sha256_salted(job->salt,
			      arena_printf(a, "%.*s\n%.*s\n%.*s\n%.*s", STR_ARG(i->snippet),
					   STR_ARG(i->suggestion), STR_ARG(i->source),
					   STR_ARG(i->miscited)),
			      row[n].text_sha);
	}
	return row;
}

/* Rows with what the step made. */
static struct step_rows what_was_made(struct arena *a, const struct job *job, int64_t job_no,
				      const struct loop_output *out)
{
	struct step_rows rows = {0};

	if (out->draft)
		rows.draft = draft_made(a, job, job_no, out);
	if (out->critique) {
		rows.critique = critique_made(a, job, job_no, out);
		rows.issue = issues_made(a, job, job_no, out);
		rows.n_issue = out->critique->n_issue;
	}
	return rows;
}

static void add_row(struct digest *d, const struct table *table, const void *row)
{
	uint8_t sha[SHA_BYTES];

	row_digest(table, row, NULL, sha);
	digest_bytes(d, (struct str){(const char *)sha, SHA_BYTES});
}

/* Over the row digests of draft, critique and issues, in this order; then comparison and choice, if any. */
static void made_digest(const struct step_rows *m, const struct loop_output *made,
			uint8_t out[SHA_BYTES])
{
	struct digest *d = digest_begin("draftmill/made/1");

	if (m->draft)
		add_row(d, &draft_table, m->draft);
	if (m->critique)
		add_row(d, &critique_table, m->critique);
	for (int i = 0; i < m->n_issue; i++)
		add_row(d, &issue_table, &m->issue[i]);
	if (made->comparison)
		digest_bytes(d, str_c(better_name(made->comparison->better)));
	if (made->choice)
		digest_int(d, made->choice->draft_no);
	digest_end(d, out);
}

/* ---- rows ---- */

static void fill_fact(const struct fact *f, struct step_row *r)
{
	r->fact = str_c(fact_name(f->type));
	r->at_ms = f->at_ms;
	r->active_ms = f->active_ms;
	r->stop = f->type == FACT_stopped ? str_c(stop_name(f->stop)) : str_c(NULL);
	r->lost = ROW_NULL;
	if (f->type == FACT_resumed || f->type == FACT_stopped)
		r->lost = f->lost[0] | f->lost[1] << 8;
}

static void fill_reply(const struct fact *f, const struct loop_output *out, struct step_row *r)
{
	const bool about_call = f->type == FACT_replied || f->type == FACT_call_failed;
	const bool has_http = about_call && (f->http.status > 0 || f->http.body.p);

	r->call_no = about_call ? f->call_no : ROW_NULL;
	r->n_maybe_billed = about_call ? f->n_maybe_billed : 0;
	r->latency_ms = about_call ? f->latency_ms : ROW_NULL;
	r->http_status = about_call && f->http.status > 0 ? f->http.status : ROW_NULL;
	r->tokens_in = r->tokens_cached = r->tokens_out = ROW_NULL;
	if (about_call) {
		r->role = str_c(role_name(out->role));
		r->model_asked = out->model->id;
		r->class = str_c(reply_class_name(f->reply.class));
	}
	if (has_http) {
		r->headers = f->http.headers;
		r->whole = f->http.whole;
		r->reply = f->http.body;
		r->model = f->reply.model;
		r->request_id = f->reply.request_id;
		r->finish_reason = f->reply.finish_reason;
		r->tokens_in = or_null(f->reply.usage.in);
		r->tokens_cached = or_null(f->reply.usage.cached);
		r->tokens_out = or_null(f->reply.usage.out);
	}
	r->cost_micro_usd = out->cost_micro_usd;
	r->n_kept = out->refinement ? out->refinement->n_kept : ROW_NULL;
	r->n_reverted = out->refinement ? out->refinement->n_reverted : ROW_NULL;
	r->rejected = out->refinement ? out->refinement->rejected : str_c(NULL);
	r->better = str_c(out->comparison ? better_name(out->comparison->better) : NULL);
	r->better_reasons = !out->comparison	       ? str_c(NULL)
			    : out->comparison->fault.p ? out->comparison->fault
						       : out->comparison->reasons;
	r->chosen_draft_no = out->choice ? out->choice->draft_no : ROW_NULL;
	r->chosen_by = out->choice ? out->choice->why : str_c(NULL);
}

static const struct outcome_row *outcome_made(struct arena *a, const struct history *h,
					      const struct loop_output *out,
					      const struct step_row *last)
{
	struct outcome_row *r = arena_alloc(a, sizeof(*r));
	const int no = out->finish.draft_no;

	*r = (struct outcome_row){.job_no = last->job_no,
				  .outcome = str_c(outcome_name(outcome_of(out->finish.why))),
				  .stop_reason = str_c(stop_name(out->finish.why)),
				  .draft_no = or_null(no),
				  .score = no >= 0 && no < h->n_draft ? or_null(h->draft[no].score)
								      : ROW_NULL,
				  .n_iterations = h->n_iterations,
				  .n_calls = h->n_calls,
				  .tokens_in = h->tokens_in,
				  .tokens_cached = h->tokens_cached,
				  .tokens_out = h->tokens_out,
				  .cost_micro_usd = h->cost_micro_usd,
				  .active_ms = h->active_ms,
				  .worker_id = last->worker_id,
				  .at_ms = last->at_ms};
	row_digest(&outcome_table, r, last->hash, r->head);
	return r;
}

void step_rows(struct arena *a, const struct job *job, const struct profile *profile,
	       const struct history *history, const struct fact *f, const struct loop_output *out,
	       int64_t job_no, int64_t worker_id, int64_t intents,
	       const uint8_t previous[SHA_BYTES], struct step_rows *rows)
{
	struct step_row *r = &rows->step;

	*rows = what_was_made(a, job, job_no, out);
	r->job_no = job_no;
	r->step_no = out->step_no;
	memcpy(r->profile_sha, profile->sha, SHA_BYTES);
	r->worker_id = worker_id;
	r->intents = intents;
	r->action = out->action;
	fill_fact(f, r);
	fill_reply(f, out, r);
	sha256_salted(job->salt, r->reply, r->reply_sha);
	made_digest(rows, out, r->digest);
	row_digest(&step_table, r, previous, r->hash);
	if (out->finished)
		rows->outcome = outcome_made(a, history, out, r);
}

/* ---- replay ---- */

enum status step_compare(struct arena *a, const struct job *job, const struct loop_output *out,
			 const struct step_row *stored, struct err *err)
{
	const struct step_rows m = what_was_made(a, job, stored->job_no, out);
	uint8_t digest[SHA_BYTES];

	if (!str_eq(out->action, stored->action))
		return err_set(err, ST_DIVERGED, "step %d: stored \"%.*s\", today \"%.*s\"",
			       out->step_no, STR_ARG(stored->action), STR_ARG(out->action));
	made_digest(&m, out, digest);
	if (memcmp(digest, stored->digest, SHA_BYTES) != 0)
		return err_set(err, ST_DIVERGED,
			       "step %d: draft, checks or critique differ from what is stored",
			       out->step_no);
	return ST_OK;
}

enum status step_fact(struct arena *a, const struct step_row *r, const struct model *model,
		      struct fact *f, struct err *err)
{
	*f = (struct fact){.type = fact_read(r->fact),
			   .at_ms = r->at_ms,
			   .active_ms = r->active_ms,
			   .call_no = r->call_no == ROW_NULL ? -1 : (int)r->call_no,
			   .n_maybe_billed = (int)r->n_maybe_billed,
			   .stop = stop_read(r->stop)};
	if (f->type == N_FACT_TYPES || (f->type == FACT_stopped && f->stop == STOP_NONE))
		return err_set(err, ST_DIVERGED, "step %d: no fact \"%.*s\" \"%.*s\"",
			       (int)r->step_no, STR_ARG(r->fact), STR_ARG(r->stop));
	for (int i = 0; i < LOOP_CALLS && r->lost != ROW_NULL; i++)
		f->lost[i] = r->lost >> 8 * i & 0xFF;
	if (f->call_no < 0)
		return ST_OK;
	if (!model)
		return err_set(err, ST_DIVERGED, "step %d: call %d is not open", (int)r->step_no,
			       f->call_no);
	f->latency_ms = r->latency_ms == ROW_NULL ? 0 : r->latency_ms;
	f->reply.class = reply_class_read(r->class);
	if (f->reply.class == N_REPLY_CLASSES)
		return err_set(err, ST_DIVERGED, "step %d: no class \"%.*s\"", (int)r->step_no,
			       STR_ARG(r->class));
	if (r->http_status != ROW_NULL || r->reply.p) {
		const int status = r->http_status == ROW_NULL ? 0 : (int)r->http_status;
		f->http = (struct http_reply){status, r->headers, r->reply, r->whole};
		model->wire->reply(&f->http, f->at_ms, a, &f->reply);
	}
	return ST_OK;
}

void step_first_hash(const struct job_row *job, uint8_t out[SHA_BYTES])
{
	row_digest(&job_table, job, NULL, out);
}
