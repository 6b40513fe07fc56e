#include "app/try.h"

#include "app/page.h"
#include "app/run.h"
#include "app/submit.h"
#include "core/compare.h"
#include "core/refine.h"

#include <stdio.h>
#include <sysexits.h>

enum { /* in a row, then nobody waits at a terminal any longer */
       FAILED_MAX = 8,
       BILLED_MAX = 3, /* of these, that may cost */
       WAIT_MS_MAX = 120000
};

struct trial {
	struct reactor *reactor;
	struct page page;
	int64_t n_number;
	int n_failed, n_maybe_billed; /* attempts since the last answer */
	int exit_status;
};

/* ---- what a person sees ---- */

static void print_checks(struct page *p, const struct draft *d)
{
	page_printf(p, "  draft %d: %d of %d checks red", d->no, d->n_failed, d->n_result);
	if (d->from >= 0)
		page_printf(p, ", %lld.%lld %% changed", (long long)d->changed_permille / 10,
			    (long long)d->changed_permille % 10);
	page_printf(p, "\n");
	for (int i = 0; i < d->n_result; i++) {
		const struct check_result *r = &d->result[i];

		if (r->ok)
			continue;
		page_printf(p, "    %s %.*s: ", r->check->hard ? "hard" : "soft",
			    STR_ARG(r->check->name));
		page_line(p, r->detail);
		page_printf(p, "\n");
	}
}

static void print_refinement(struct page *p, const struct refinement *r)
{
	page_printf(p, "  revision: %d taken of what was flagged, %d elsewhere reverted", r->n_kept,
		    r->n_reverted);
	if (r->rejected.p)
		page_printf(p, "; rejected (%.*s), %s", STR_ARG(r->rejected),
			    rejection_sentence(r->rejected));
	page_printf(p, "\n");
}

static void print_issue(struct page *p, const struct issue *i)
{
	page_printf(p, "    %lld ", (long long)i->severity);
	page_line(p, i->category);
	if (i->source.p || i->miscited.p) {
		page_printf(p, i->source.p ? ", source " : ", citing ");
		page_line(p, i->source.p ? i->source : i->miscited);
		page_printf(p, i->source.p ? "" : ", which is no source of the job");
	}
	page_printf(p, ": \"");
	page_line(p, i->snippet);
	page_printf(p, "\" -> ");
	page_line(p, i->suggestion);
	page_printf(p, "\n");
}

static void print_critique(struct page *p, const struct critique *c)
{
	if (!c->valid) {
		page_printf(p, c->tool.p ? "  no answer: " : "  critique cannot be read: ");
		page_line(p, c->fault);
		page_printf(p, c->reasons.p ? "; " : "");
		page_line(p, c->reasons);
		page_printf(p, "\n");
		return;
	}
	if (c->tool.p)
		page_printf(p, "  %.*s: %d found\n", STR_ARG(c->tool), c->n_issue);
	else if (c->score >= 0)
		page_printf(p, "  critique: %s, score %lld\n", c->pass ? "pass" : "fail",
			    (long long)c->score);
	else
		page_printf(p, "  critique: %s\n", c->pass ? "pass" : "fail");
	for (int i = 0; i < c->n_issue; i++)
		print_issue(p, &c->issue[i]);
}

static void print_comparison(struct page *p, const struct loop_output *out)
{
	const struct comparison *c = out->comparison;

	if (c && c->better != BETTER_invalid)
		page_printf(p, "  comparison, draft %d first: %s\n", c->first_no,
			    better_name(c->better));
	if (c && c->better == BETTER_invalid) {
		page_printf(p, "  comparison cannot be read: ");
		page_line(p, c->fault);
		page_printf(p, "\n");
	}
	if (out->choice)
		page_printf(p, "  chosen: draft %d (%s)\n", out->choice->draft_no,
			    choice_sentence(out->choice->why));
}

static void print_reply(struct page *p, const struct step_row *s)
{
	page_printf(p, "%.*s %.*s call %lld: %.*s", STR_ARG(s->fact), STR_ARG(s->role),
		    (long long)s->call_no, STR_ARG(s->class));
	if (s->tokens_in != ROW_NULL && s->tokens_out != ROW_NULL)
		page_printf(p, ", %lld tokens in, %lld out", (long long)s->tokens_in,
			    (long long)s->tokens_out);
	page_printf(p, ", %lld micro-USD, %lld ms\n", (long long)s->cost_micro_usd,
		    (long long)s->latency_ms);
}

static void print_end(struct page *p, const struct outcome_row *o, const struct history *h)
{
	page_printf(p, "\n%.*s: %.*s (%s)\n", STR_ARG(o->outcome), STR_ARG(o->stop_reason),
		    stop_sentence(stop_read(o->stop_reason), false));
	page_count(p, o->n_calls, "call");
	page_printf(p, ", ");
	page_count(p, o->tokens_in, "token");
	page_printf(p, " in, %lld out, %lld micro-USD, %lld ms with the models\n\n",
		    (long long)o->tokens_out, (long long)o->cost_micro_usd,
		    (long long)o->active_ms);
	if (o->draft_no == ROW_NULL)
		return;
	page_text(p, h->draft[o->draft_no].text);
	page_text_end(p);
}

/* Each step as it happens. */
static void show_page(struct trial *t)
{
	page_print(&t->page);
	fflush(stdout);
}

static void stepped(void *owner, const struct step_rows *rows, const struct loop_output *out,
		    const struct history *h)
{
	struct trial *t = owner;

	t->n_failed = t->n_maybe_billed = 0;
	if (rows->step.call_no != ROW_NULL)
		print_reply(&t->page, &rows->step);
	if (out->refinement)
		print_refinement(&t->page, out->refinement);
	if (out->draft)
		print_checks(&t->page, out->draft);
	print_comparison(&t->page, out);
	if (out->critique)
		print_critique(&t->page, out->critique);
	page_printf(&t->page, "=> %.*s\n", STR_ARG(out->action));
	if (rows->outcome) {
		const enum outcome how = outcome_of(out->finish.why);

		print_end(&t->page, rows->outcome, h);
		t->exit_status = how == OUTCOME_passed || how == OUTCOME_direct ? EX_OK : 1;
	}
	show_page(t);
}

static void end(struct trial *t, int exit_status)
{
	t->exit_status = exit_status;
	reactor_stop(t->reactor);
}

static void print_refusal(struct page *p, const struct model *m)
{
	page_printf(p, "provider ");
	page_line(p, m->provider);
	page_printf(
		p,
		", or the proxy on the way, refuses the credential, has no money left for it, or does "
		"not know the model ");
	page_line(p, m->id);
	page_printf(p, "; mend `providers` or `models` in the settings, the key, or the account\n");
}

static void print_patience(struct page *p, const struct model *m, int n_failed)
{
	page_printf(p, "provider ");
	page_line(p, m->provider);
	page_printf(p, " gives no answer, ");
	page_count(p, n_failed, "attempt");
	page_printf(p, " in a row; a worker would ask on. Mend `providers` in the settings or the "
		       "way there, or try again later\n");
}

/* Nobody waits at a terminal for a key to become right, or for the end of an outage. */
static void attempt_failed(void *owner, const struct model *m, const struct reply *reply,
			   int http_status)
{
	struct trial *t = owner;
	const bool refused = reply->class == REPLY_credentials;

	page_printf(&t->page,
		    "  attempt failed: %s, HTTP status %d: ", reply_class_name(reply->class),
		    http_status);
	page_line(&t->page, reply->detail);
	page_printf(&t->page, "\n");
	t->n_failed++;
	t->n_maybe_billed += reply_maybe_billed(reply->class);
	if (refused) {
		print_refusal(&t->page, m);
		end(t, EX_CONFIG);
	} else if (t->n_failed == FAILED_MAX || t->n_maybe_billed == BILLED_MAX ||
		   reply->retry_after_ms > WAIT_MS_MAX) {
		print_patience(&t->page, m, t->n_failed);
		end(t, EX_TEMPFAIL);
	}
	show_page(t);
}

/* ---- the driver's other wishes ---- */

static int64_t number(void *owner)
{
	return ++((struct trial *)owner)->n_number;
}

static bool may_act(void *owner)
{
	return true;
}

static void in_hand(void *owner, const struct record *m, int64_t job_no)
{
}

static void settled(void *owner, struct str topic, int32_t partition, int64_t offset,
		    enum settled how)
{
}

static void ended(void *owner, const struct step_rows *last)
{
	reactor_stop(((struct trial *)owner)->reactor);
}

static void dead(void *owner, const struct outbox_row *event, const struct dead_letter_row *l)
{
	struct trial *t = owner;

	page_printf(&t->page, "draftmill try: no valid job: %.*s: ", STR_ARG(l->reason));
	page_line(&t->page, l->detail);
	fprintf(stderr, "%s\n", t->page.text.p);
	buf_clear(&t->page.text);
	end(t, EX_DATAERR);
}

static void fenced(void *owner, const char *why)
{
	BUG("fenced without a database");
}

static void marked(void *owner, struct str topic, int32_t partition, int64_t next_offset)
{
}

static const struct run_hooks hooks = {
	.number = number,
	.may_act = may_act,
	.in_hand = in_hand,
	.settled = settled,
	.ended = ended,
	.dead = dead,
	.stepped = stepped,
	.attempt_failed = attempt_failed,
};
static const struct trail_events trail_events = {.fenced = fenced, .marked = marked};

/* One job, whole; returns the exit status. */
static int try_job(const struct settings *s, struct profiles *profiles, struct str job)
{
	struct trial t = {
		.reactor = reactor_new(), .page = PAGE(false), .exit_status = EX_SOFTWARE};
	struct runs_config c = {.reactor = t.reactor,
				.settings = s,
				.profiles = profiles,
				.cluster = "",
				.hooks = &hooks,
				.owner = &t};
	const struct record m = {.topic = STR_OF("try"), .value = job};
	struct err err;

	c.trail = trail_open(t.reactor, NULL, &trail_events, &t);
	trail_start(c.trail, 1);
	c.models = models_open(t.reactor, LOOP_CALLS);
	struct runs *runs;
	if (runs_new(&c, &runs, &err) == ST_OK) {
		runs_message(runs, &m, 0);
		reactor_run(t.reactor);
	} else {
		fprintf(stderr, "draftmill try: %s\n", err.text);
		t.exit_status = EX_CONFIG;
	}
	trail_free(c.trail);
	runs_free(runs);
	models_free(c.models);
	buf_release(&t.page.text);
	reactor_free(t.reactor);
	return t.exit_status;
}

/* The job as `submit` would send it: with the profile and the id that it may lack. */
static int try_text(const struct try_config *c, struct str text)
{
	const struct submit_defaults defaults = {.profile = c->profile};
	struct arena *a = arena_new();
	struct submit_line line;
	struct err err;

	/* What is wrong with it, the driver tells. */
	(void)!submit_read_line(a, c->profiles, &defaults, text, &line, &err);
	if (line.arm.p)
		printf("under the arm %.*s\n", STR_ARG(line.arm));
	int exit_status = try_job(c->settings, c->profiles, line.value);
	arena_free(a);
	return exit_status;
}

static int try_whole(const struct try_config *c, FILE *file)
{
	struct buf text = BUF(MESSAGE_BYTES_MAX);
	char piece[65536];
	size_t n;
	int exit_status = EX_DATAERR;

	while ((n = fread(piece, 1, sizeof(piece), file)) > 0)
		buf_put(&text, piece, n);
	if (ferror(file))
		fprintf(stderr, "draftmill try: %s cannot be read: %m\n", c->name);
	else if (text.full)
		fprintf(stderr,
			"draftmill try: %s is over 1 MiB; --format jsonl reads job by job\n",
			c->name);
	else
		exit_status = try_text(c, buf_view(&text));
	buf_release(&text);
	return exit_status;
}

struct tally {
	int n_job, n_good, n_invalid;
	int exit_status; /* of one after which no other job would fare better; else 0 */
};

static void try_row(const struct try_config *c, struct tally *n, struct str text)
{
	printf("\n--- job %d\n", n->n_job + n->n_invalid + 1);
	fflush(stdout);
	int exit_status = try_text(c, text);
	n->n_job += exit_status != EX_DATAERR;
	n->n_invalid += exit_status == EX_DATAERR;
	n->n_good += exit_status == EX_OK;
	if (exit_status != EX_DATAERR && exit_status != 1)
		n->exit_status = exit_status;
}

static int try_rows(const struct try_config *c, FILE *file)
{
	struct jobfile *rows = jobfile_open(file, c->name, &c->form);
	struct jobfile_line line;
	struct tally n = {0};
	enum jobfile_got got;

	while (!n.exit_status && n.n_job + n.n_invalid < c->n_job_max &&
	       (got = jobfile_next(rows, &line)) != JOBFILE_END) {
		if (got == JOBFILE_JOB) {
			try_row(c, &n, line.text);
			continue;
		}
		n.n_invalid++;
		fprintf(stderr, "%s:%lld: %s: %s\n", c->name, (long long)line.line_no,
			got == JOBFILE_FAULTY ? line.fault : "unread", line.why.text);
		if (got != JOBFILE_FAULTY)
			n.exit_status = EX_CONFIG;
	}
	printf("\n%d tried: %d passed or direct, %d not; %d invalid\n", n.n_job, n.n_good,
	       n.n_job - n.n_good, n.n_invalid);
	jobfile_close(rows);
	if (n.exit_status)
		return n.exit_status;
	return n.n_invalid ? EX_DATAERR : n.n_good < n.n_job;
}

int try_file(const struct try_config *c, FILE *file)
{
	int exit_status = c->rows ? try_rows(c, file) : try_whole(c, file);

	printf("\nNothing was kept: `try` has no database.\n");
	return exit_status;
}
