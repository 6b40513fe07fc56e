#include "app/try.h"

#include "app/run.h"
#include "base/log.h"

#include <stdio.h>
#include <sysexits.h>

struct
try {
	struct reactor *reactor;
	int64_t n_number;
	int exit_status;
};

/* ---- what a person sees ---- */

static void print_checks(const struct draft *d)
{
	printf("  draft %d: %d of %d checks red", d->no, d->n_failed, d->n_result);
	if (d->from >= 0)
		printf(", %lld.%lld %% changed", (long long)d->changed_permille / 10,
		       (long long)d->changed_permille % 10);
	printf("\n");
	for (int i = 0; i < d->n_result; i++)
		if (!d->result[i].ok)
			printf("    %s %.*s: %.*s\n", d->result[i].check->hard ? "hard" : "soft",
			       STR_ARG(d->result[i].check->name), STR_ARG(d->result[i].detail));
}

static void print_critique(const struct critique *c)
{
	if (!c->valid) {
		printf("  critique cannot be read: %.*s\n", STR_ARG(c->fault));
		return;
	}
	printf("  critique: %s, score %lld\n", c->pass ? "pass" : "fail", (long long)c->score);
	for (int i = 0; i < c->n_issue; i++)
		printf("    %lld %.*s: \"%.*s\" -> %.*s\n", (long long)c->issue[i].severity,
		       STR_ARG(c->issue[i].category), STR_ARG(c->issue[i].snippet),
		       STR_ARG(c->issue[i].suggestion));
}

static void print_reply(const struct step_row *s)
{
	printf("%.*s %.*s call %lld: %.*s", STR_ARG(s->fact), STR_ARG(s->role),
	       (long long)s->call_no, STR_ARG(s->class));
	if (s->tokens_in != ROW_NULL)
		printf(", %lld tokens in, %lld out", (long long)s->tokens_in,
		       (long long)s->tokens_out);
	printf(", %lld micro-USD, %lld ms\n", (long long)s->cost_micro_usd,
	       (long long)s->latency_ms);
}

static void print_end(struct try *t, const struct step_rows *rows, const struct history *h)
{
	const struct outcome_row *o = rows->outcome;
	const enum stop_reason why = stop_read(o->stop_reason);

	printf("\n%.*s: %.*s (%s)\n", STR_ARG(o->outcome), STR_ARG(o->stop_reason),
	       stop_sentence(why, false));
	printf("%lld calls, %lld tokens in, %lld out, %lld micro-USD, %lld ms with the models\n",
	       (long long)o->n_calls, (long long)o->tokens_in, (long long)o->tokens_out,
	       (long long)o->cost_micro_usd, (long long)o->active_ms);
	if (o->draft_no != ROW_NULL)
		printf("\n%.*s\n", STR_ARG(h->draft[o->draft_no].text));
	t->exit_status =
		outcome_of(why) == OUTCOME_passed || outcome_of(why) == OUTCOME_direct ? EX_OK : 1;
}

static void stepped(void *owner, const struct step_rows *rows, const struct loop_output *out,
		    const struct history *h)
{
	if (rows->step.call_no != ROW_NULL)
		print_reply(&rows->step);
	if (out->draft)
		print_checks(out->draft);
	if (out->critique)
		print_critique(out->critique);
	printf("=> %.*s\n", STR_ARG(out->action));
	if (rows->outcome)
		print_end(owner, rows, h);
	fflush(stdout);
}

/* ---- the driver's other wishes ---- */

static int64_t number(void *owner)
{
	return ++((struct try *)owner)->n_number;
}

static int64_t worker_id(void *owner)
{
	return 1;
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

static void ended(void *owner, const struct outbox_row *event, int n, const struct outcome_row *o)
{
	reactor_stop(((struct try *)owner)->reactor);
}

static void dead(void *owner, const struct outbox_row *event, const struct dead_letter_row *l)
{
	struct try *t = owner;

	fprintf(stderr, "draftmill try: no valid job: %.*s: %.*s\n", STR_ARG(l->reason),
		STR_ARG(l->detail));
	t->exit_status = EX_DATAERR;
	reactor_stop(t->reactor);
}

static void fenced(void *owner)
{
	BUG("fenced without a database");
}

static void marked(void *owner, struct str topic, int32_t partition, int64_t next_offset)
{
}

static const struct run_hooks hooks = {number,	worker_id, may_act, in_hand,
				       settled, ended,	   dead,    stepped};
static const struct trail_events trail_events = {fenced, marked};

/* The job with the profile's name put in where it has none; itself otherwise, also when it is no object. */
static struct str with_profile(struct arena *a, struct str job, struct str profile)
{
	struct json *doc;
	struct err err;
	struct str key, out = job;
	const struct json *value;
	struct buf text = BUF(2 * MESSAGE_BYTES_MAX);
	struct json_out o = {.buf = &text};

	if (!profile.p || json_read(job, &doc, &err) != JSON_FINE)
		return job;
	if (json_kind(doc) == JSON_OBJECT && !json_get(doc, "profile")) {
		json_open(&o, NULL, '{');
		json_put_str(&o, "profile", profile);
		for (size_t i = 0; json_member(doc, i, &key, &value); i++) {
			struct buf member = BUF(2 * MESSAGE_BYTES_MAX);

			json_print(value, &member);
			json_put_raw(&o, arena_str(a, key).p, buf_view(&member));
			buf_release(&member);
		}
		json_close(&o, '}');
		out = arena_str(a, buf_view(&text));
	}
	json_free(doc);
	buf_release(&text);
	return out;
}

int try_job(const struct settings *s, struct profiles *profiles, struct str job, struct str profile)
{
	struct arena *a = arena_new();
	struct try t = {.reactor = reactor_new(), .exit_status = EX_SOFTWARE};
	struct runs_config c = {.reactor = t.reactor,
				.settings = s,
				.profiles = profiles,
				.cluster = "",
				.hooks = &hooks,
				.owner = &t};
	const struct record m = {.topic = STR_OF("try"), .value = with_profile(a, job, profile)};
	struct err err;

	c.trail = trail_open(t.reactor, NULL, &trail_events, &t);
	trail_start(c.trail, 1);
	c.models = models_open(t.reactor, LOOP_CALLS);
	struct runs *runs;
	if (runs_new(&c, &runs, &err) == ST_OK) {
		runs_message(runs, &m, 0);
		reactor_run(t.reactor);
		printf("\nNothing was kept: `try` has no database.\n");
	} else {
		fprintf(stderr, "draftmill try: %s\n", err.text);
		t.exit_status = EX_CONFIG;
	}
	trail_free(c.trail);
	runs_free(runs);
	models_free(c.models);
	reactor_free(t.reactor);
	arena_free(a);
	return t.exit_status;
}
