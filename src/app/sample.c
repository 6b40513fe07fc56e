#include "app/sample.h"

#include "app/file.h"
#include "app/submit.h"
#include "base/clock.h"
#include "core/loop.h"

enum { PLAYED_IN_TOKENS = 1000, PLAYED_OUT_TOKENS = 200 };

static const char *const reply_roles[] = {"generator", "critic", "refiner", "tool", NULL};

const char *sample_folder(struct arena *a, const struct settings *s, struct str profile)
{
	return file_path(a, s->profiles_dir, arena_str(a, profile).p);
}

/* ---- reading ---- */

struct sample_reader {
	struct arena *a;
	const struct profiles *profiles;
	const struct profile *profile;
	const char *path; /* of the file that is read */
	struct faults *faults;
	struct sample *sample;
	int n;
};

PRINTF_LIKE(3, 4)
static void fault(struct sample_reader *r, int line, const char *format, ...)
{
	struct err what;
	va_list args;

	va_start(args, format);
	err_setv(&what, format, args);
	va_end(args);
	faults_add(r->faults, arena_printf(r->a, "%s:%d", r->path, line).p, "%s", what.text);
}

static void read_replies(struct sample_reader *r, const struct yaml *list, struct sample *out)
{
	struct sample_reply *reply = arena_array(r->a, struct sample_reply, SAMPLE_REPLIES_MAX);

	out->reply = reply;
	for (const struct yaml *y = list->child; y; y = y->next) {
		const struct yaml *one = y->kind == YAML_MAP ? y->child : NULL;
		int role = one ? str_among(one->key, reply_roles) : -1;

		if (role < 0 || one->next || one->kind != YAML_SCALAR) {
			fault(r, y->line,
			      "replies: give `ROLE: text`, of generator, critic, refiner or tool");
		} else if (out->n_reply == SAMPLE_REPLIES_MAX) {
			fault(r, y->line, "replies: at most %d", SAMPLE_REPLIES_MAX);
			return;
		} else {
			reply[out->n_reply++] = (struct sample_reply){(enum role)role, one->text};
		}
	}
}

static struct sample *sample_of(struct sample_reader *r, struct str id)
{
	for (int i = 0; i < r->n; i++)
		if (str_eq(r->sample[i].id, id))
			return &r->sample[i];
	return NULL;
}

/* The outcome stands there for who reads it: it has to be the stop reason's own. */
static void read_end(struct sample_reader *r, const struct yaml *y, struct sample *out)
{
	const struct yaml *outcome = yaml_get(y, "outcome"), *why = yaml_get(y, "stop_reason");

	out->why = why ? stop_read(why->text) : STOP_NONE;
	if (out->why == STOP_NONE)
		fault(r, why ? why->line : y->line, "stop_reason: give one of the README's list");
	else if (!outcome || !str_is(outcome->text, outcome_name(outcome_of(out->why))))
		fault(r, outcome ? outcome->line : y->line, "outcome: that of %s is %s",
		      stop_name(out->why), outcome_name(outcome_of(out->why)));
}

static void read_item(struct sample_reader *r, const struct yaml *y)
{
	static const char *const keys[] = {"id",    "outcome", "stop_reason", "text",
					   "score", "cites",   "replies",     NULL};
	const struct yaml *id = yaml_get(y, "id"), *text = yaml_get(y, "text"),
			  *score = yaml_get(y, "score"), *cites = yaml_get(y, "cites"),
			  *replies = yaml_get(y, "replies");
	struct sample *out = &r->sample[r->n];

	*out = (struct sample){.score = -1,
			       .place = arena_printf(r->a, "%s:%d", r->path, y->line).p};
	for (const struct yaml *c = y->child; c && y->kind == YAML_MAP; c = c->next)
		if (str_among(c->key, keys) < 0)
			fault(r, c->line, "%s: unknown; leave it out", c->key.p);
	if (!id || id->kind != YAML_SCALAR || sample_of(r, id->text)) {
		fault(r, y->line, "id: give each item that of another job");
		return;
	}
	out->id = id->text;
	out->text = text ? text->text : str_c(NULL);
	out->cites = cites ? cites->text : str_c(NULL);
	if (score && !str_to_int(score->text, 0, 100, &out->score))
		fault(r, score->line, "score: 0 to 100");
	read_end(r, y, out);
	if (replies && replies->kind == YAML_LIST)
		read_replies(r, replies, out);
	else
		fault(r, y->line, "replies: give a list of what is answered, in its order");
	r->n++;
}

static void read_expected(struct sample_reader *r, struct str text)
{
	const struct yaml *root;
	struct err err;

	if (yaml_read(r->a, r->path, text, &root, &err) != ST_OK) {
		faults_add(r->faults, NULL, "%s", err.text);
		return;
	}
	for (const struct yaml *y = root->child; y && root->kind == YAML_LIST; y = y->next) {
		if (r->n == SAMPLES_MAX) {
			fault(r, y->line, "at most %d samples", SAMPLES_MAX);
			return;
		}
		read_item(r, y);
	}
	if (!r->n)
		fault(r, root->line, "give a list of samples, each as `- id: ...`");
}

static void read_job(struct sample_reader *r, struct str text, int line)
{
	const struct submit_defaults defaults = {.profile = r->profile->name};
	struct submit_line read;
	struct err err;

	if (submit_read_line(r->a, r->profiles, &defaults, text, &read, &err) != DEAD_NONE) {
		fault(r, line, "%s", err.text);
		return;
	}
	struct sample *s = sample_of(r, read.id);
	if (!s)
		fault(r, line, "%s expects nothing of the job \"%.*s\"; add it there",
		      SAMPLE_EXPECTED, STR_ARG(read.id));
	else if (s->job.p)
		fault(r, line, "the id \"%.*s\" is another job's; give it one of its own",
		      STR_ARG(read.id));
	else
		s->job = read.value;
}

static void read_jobs(struct sample_reader *r, struct str text)
{
	int line = 1;

	for (size_t at = 0; at < text.n; line++) {
		int64_t end = str_find(text, STR_OF("\n"), at);
		size_t n = (end < 0 ? text.n : (size_t)end) - at;
		struct str job = str_trim(str_sub(text, at, n));

		if (job.n)
			read_job(r, job, line);
		at += n + 1;
	}
	for (int i = 0; i < r->n; i++)
		if (!r->sample[i].job.p)
			faults_add(r->faults, r->sample[i].place, "%s has no job \"%.*s\"",
				   SAMPLE_JOBS, STR_ARG(r->sample[i].id));
}

bool samples_read(struct arena *a, const struct profiles *profiles, const struct profile *profile,
		  const struct sample **out, int *n, struct faults *faults)
{
	struct sample_reader r = {
		.a = a, .profiles = profiles, .profile = profile, .faults = faults};
	const char *folder = sample_folder(a, profiles_settings(profiles), profile->name);
	const int n_before = faults->n;
	struct str expected, jobs;
	struct err err;

	r.path = file_path(a, folder, SAMPLE_EXPECTED);
	r.sample = arena_array(a, struct sample, SAMPLES_MAX);
	const char *jobs_path = file_path(a, folder, SAMPLE_JOBS);
	if (file_read(a, r.path, &expected, &err) != ST_OK ||
	    file_read(a, jobs_path, &jobs, &err) != ST_OK) {
		faults_add(faults, NULL, "%s", err.text);
		return false;
	}
	read_expected(&r, expected);
	r.path = jobs_path;
	read_jobs(&r, jobs);
	*out = r.sample;
	*n = r.n;
	return faults->n == n_before;
}

/* ---- playing ---- */

struct sample_game {
	struct arena *a;
	const struct profile *profile;
	const struct sample *sample;
	const struct job *job;
	struct loop *loop;
	struct loop_output out;
	int n_used; /* replies */
	struct buf *difference;
};

/* A whole answer, as any provider gives; its usage is that of check config's reference call. */
static void answer(const struct sample_game *g, const struct call *c, struct fact *out)
{
	const struct sample_reply *r = &g->sample->reply[g->n_used];

	*out = (struct fact){.type = FACT_replied,
			     .at_ms = clock_unix_ms(),
			     .call_no = c->no,
			     .reply = {.class = REPLY_complete,
				       .text = r->text,
				       .model = c->model->id,
				       .usage = {.in = PLAYED_IN_TOKENS, .out = PLAYED_OUT_TOKENS},
				       .retry_after_ms = -1}};
	if (model_is_tool(c->model))
		c->model->wire->reply(&(struct http_reply){.body = r->text, .whole = true},
				      out->at_ms, g->a, &out->reply);
}

/* The next reply as a fact; false: nobody is asked for it now, or another one is. */
static bool next_fact(const struct sample_game *g, struct fact *out)
{
	const struct call *open[LOOP_CALLS];
	const int n = loop_open(g->loop, open);
	const struct sample *s = g->sample;

	for (int i = 0; i < n && g->n_used < s->n_reply; i++) {
		if (open[i]->role == s->reply[g->n_used].role) {
			answer(g, open[i], out);
			return true;
		}
	}
	buf_printf(g->difference, "the %s is asked (call %d), ", reply_roles[open[0]->role],
		   open[0]->no);
	if (g->n_used == s->n_reply)
		buf_printf(g->difference, "and all %d replies are used up", s->n_reply);
	else
		buf_printf(g->difference, "but reply %d is the %s's", g->n_used + 1,
			   reply_roles[s->reply[g->n_used].role]);
	return false;
}

static bool play_through(struct sample_game *g)
{
	struct fact f = {.type = FACT_started, .at_ms = clock_unix_ms(), .call_no = -1};

	for (;;) {
		if (loop_step(g->loop, &f, &g->out) != ST_OK)
			BUG("the loop does not take an answer to its own call");
		if (g->out.finished)
			return true;
		if (!next_fact(g, &f))
			return false;
		g->n_used++;
	}
}

static void tell_red_checks(struct sample_game *g, const struct draft *d)
{
	for (int i = 0; i < d->n_result; i++)
		if (!d->result[i].ok)
			buf_printf(g->difference, "; draft %d, check %.*s: %.*s", d->no,
				   STR_ARG(d->result[i].check->name), STR_ARG(d->result[i].detail));
}

/* Why the loop ended so, as far as its last draft and critique tell. */
static void tell_reasons(struct sample_game *g)
{
	const struct history *h = loop_history(g->loop);

	if (g->job->stakes == STAKES_HIGH)
		buf_printf(g->difference, "; the stakes are high by %.*s",
			   STR_ARG(g->job->stakes_by));
	if (h->n_draft)
		tell_red_checks(g, &h->draft[h->n_draft - 1]);
	if (h->n_critique && h->critique[h->n_critique - 1].fault.p)
		buf_printf(g->difference, "; critique: %.*s",
			   STR_ARG(h->critique[h->n_critique - 1].fault));
}

static void compare_draft(struct sample_game *g)
{
	const struct history *h = loop_history(g->loop);
	const struct sample *s = g->sample;
	const int no = g->out.finish.draft_no;
	const struct str text = no < 0 ? STR_OF("") : h->draft[no].text;
	const int64_t score = no < 0 ? -1 : h->draft[no].score;

	if (s->text.p && !str_eq(str_trim(s->text), str_trim(text)))
		buf_printf(g->difference, "%sthe text is \"%.*s\"", g->difference->n ? "; " : "",
			   STR_ARG(text));
	if (s->score >= 0 && s->score != score)
		buf_printf(g->difference, "%sthe score is %d, expected %d",
			   g->difference->n ? "; " : "", (int)score, (int)s->score);
}

/* What the issues of all critiques cite, in their order. */
static void compare_citations(struct sample_game *g)
{
	const struct history *h = loop_history(g->loop);
	struct buf cited = BUF(1 << 20);

	for (int i = 0; i < h->n_critique; i++) {
		for (int k = 0; k < h->critique[i].n_issue; k++) {
			const struct issue *issue = &h->critique[i].issue[k];
			if (!issue->source.p && !issue->miscited.p)
				continue;
			buf_puts(&cited, cited.n ? ", " : "");
			buf_str(&cited, issue->source.p ? issue->source : STR_OF("no source"));
		}
	}
	if (g->sample->cites.p && !str_eq(g->sample->cites, buf_view(&cited)))
		buf_printf(g->difference, "%sthe issues cite \"%.*s\", expected \"%.*s\"",
			   g->difference->n ? "; " : "", STR_ARG(buf_view(&cited)),
			   STR_ARG(g->sample->cites));
	buf_release(&cited);
}

static void compare(struct sample_game *g)
{
	const enum stop_reason why = g->out.finish.why;
	const struct sample *s = g->sample;

	if (why != s->why) {
		buf_printf(g->difference, "it ends %s %s, expected %s %s",
			   outcome_name(outcome_of(why)), stop_name(why),
			   outcome_name(outcome_of(s->why)), stop_name(s->why));
		tell_reasons(g);
	}
	if (g->n_used < s->n_reply)
		buf_printf(g->difference, "%s%d of %d replies are not asked for",
			   g->difference->n ? "; " : "", s->n_reply - g->n_used, s->n_reply);
	compare_draft(g);
	compare_citations(g);
}

bool sample_play(const struct profiles *profiles, const struct profile *profile,
		 const struct sample *s, struct buf *difference)
{
	struct arena *a = arena_new();
	struct sample_game g = {.a = a, .profile = profile, .sample = s, .difference = difference};
	struct job job;
	struct err err;

	if (job_read(a, &(struct record){.value = s->job}, profiles_job_schema(profiles), &job,
		     &err) != DEAD_NONE ||
	    job_bind(&job, profile, &err) != DEAD_NONE) {
		buf_puts(difference, err.text);
	} else {
		g.job = &job;
		g.loop = loop_new(a, &job, profile);
		if (play_through(&g))
			compare(&g);
		else
			tell_reasons(&g);
	}
	arena_free(a);
	return difference->n == 0;
}
