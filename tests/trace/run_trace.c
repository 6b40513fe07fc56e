/*
 * run_trace.c - plays every golden trace against the loop; without arguments all of tests/trace, else the files named. Prints TAP.
 *
 * Each trace is played three times over: as it stands; from its stored rows, which must give the same again; and with
 * RESUMED put in behind each of its steps, which must change nothing. At the end each stop reason must have been met.
 */
#include "core/loop.h"
#include "trace.h"

#include <glob.h>

/* A job being played. */
struct play {
	const struct trace *t;
	struct arena *a;
	const struct profile *profile;
	const struct job *job;
	struct loop *loop;
	struct loop_output out;
	struct step_rows *rows; /* of each step so far */
	int n_row;
	int64_t active_ms;
};

static const uint8_t first_hash[SHA_BYTES] = {1};

/* The reason of a failure as comments, and false. */
__attribute__((format(printf, 3, 4))) static bool wrong(const struct play *p, int line,
							const char *format, ...)
{
	va_list args;

	printf("# %s:%d: ", p->t->path, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	puts("");
	return false;
}

static void play_begin(struct play *p, const struct trace *t)
{
	struct arena *a = arena_new();

	*p = (struct play){.t = t, .a = a, .profile = case_profile(a, t->profile)};
	p->job = case_job(a, p->profile, t->job);
	p->loop = loop_new(a, p->job, p->profile);
	p->rows = arena_array(a, struct step_rows, 2 * TRACE_STEPS_MAX);
}

static void play_end(struct play *p)
{
	arena_free(p->a);
}

static const struct call *open_call(const struct play *p, int64_t call_no)
{
	const struct call *open[LOOP_CALLS];
	const int n = loop_open(p->loop, open);

	for (int i = 0; i < n; i++)
		if (open[i]->no == call_no)
			return open[i];
	return NULL;
}

/* ---- facts ---- */

static struct http_reply failure(enum reply_class class)
{
	static const int status[N_REPLY_CLASSES] = {
		[REPLY_rate_limited] = 429, [REPLY_overloaded] = 503, [REPLY_server_error] = 500,
		[REPLY_credentials] = 401,  [REPLY_rejected] = 400,   [REPLY_unreadable] = 200,
	};
	struct http_reply http = {.status = status[class], .whole = true};

	if (http.status) {
		http.headers = STR_OF("content-type: application/json\n");
		http.body = class == REPLY_unreadable ? STR_OF("Service unavailable")
						      : STR_OF("{\"error\":{\"message\":\"no\"}}");
	}
	return http;
}

/* What a tool's run gave. */
static struct http_reply run_of(const struct trace_step *s)
{
	if (s->type == FACT_replied)
		return (struct http_reply){.body = s->reply.text, .whole = true};
	return (struct http_reply){
		.body = str_c(s->class == REPLY_rejected ? "it ended with status 3" : NULL)};
}

static bool make_fact(struct play *p, const struct trace_step *s, struct fact *f)
{
	const struct call *c = open_call(p, s->call_no);
	struct completion reply = s->reply;

	if (s->active_ms >= 0)
		p->active_ms = s->active_ms;
	*f = (struct fact){.type = s->type,
			   .at_ms = 1700000000000 + 1000 * p->n_row,
			   .active_ms = p->active_ms,
			   .call_no = s->call_no,
			   .n_maybe_billed = s->n_maybe_billed,
			   .lost = {s->n_lost},
			   .stop = s->stop};
	if (s->call_no < 0)
		return true;
	if (!c)
		return wrong(p, s->line, "call %d is not open", s->call_no);
	if (!reply.model.p)
		reply.model = c->model->id;
	f->reply.class = s->class;
	f->http = model_is_tool(c->model)   ? run_of(s)
		  : s->type == FACT_replied ? case_completion(p->a, &reply)
					    : failure(s->class);
	if (f->http.status || f->http.body.p)
		c->model->wire->reply(&f->http, f->at_ms, p->a, &f->reply);
	if (s->type == FACT_call_failed && f->reply.class != s->class)
		return wrong(p, s->line, "it reads as %s", reply_class_name(f->reply.class));
	return true;
}

/* ---- steps ---- */

static bool take(struct play *p, const struct fact *f, int line)
{
	const uint8_t *previous = p->n_row ? p->rows[p->n_row - 1].step.hash : first_hash;

	if (loop_step(p->loop, f, &p->out) != ST_OK)
		return wrong(p, line, "the loop does not take this fact");
	step_rows(p->a, p->job, p->profile, loop_history(p->loop), f, &p->out, 7, 1, 0, previous,
		  &p->rows[p->n_row++]);
	return true;
}

static bool opens_as_told(const struct play *p, const struct trace_step *s)
{
	const struct call *c = &p->out.call[0];
	bool ok = true;

	if (s->n_has + s->n_has_not == 0 && s->output_cap < 0 && s->time_left_ms < 0)
		return true;
	if (!p->out.n_call)
		return wrong(p, s->line, "no call is opened here");
	struct prompt prompt = PROMPT;
	loop_prompt(p->loop, c, &prompt);
	for (int i = 0; i < s->n_has; i++)
		if (str_find(buf_view(&prompt.user), s->has[i], 0) < 0)
			ok = wrong(p, s->line, "asked without \"%.*s\":\n%s", STR_ARG(s->has[i]),
				   prompt.user.p);
	for (int i = 0; i < s->n_has_not; i++)
		if (str_find(buf_view(&prompt.user), s->has_not[i], 0) >= 0)
			ok = wrong(p, s->line, "asked with \"%.*s\"", STR_ARG(s->has_not[i]));
	if (s->output_cap >= 0 && s->output_cap != c->max_output_tokens)
		ok = wrong(p, s->line, "output cap %d", (int)c->max_output_tokens);
	if (s->time_left_ms >= 0 && s->time_left_ms != c->timeout_ms)
		ok = wrong(p, s->line, "time left %d", (int)c->timeout_ms);
	prompt_release(&prompt);
	return ok;
}

static bool chooses_as_told(const struct play *p, const struct trace_step *s)
{
	const struct choice *c = p->out.choice;

	if (!c && s->chosen_no < 0)
		return true;
	if (!c || s->chosen_no != c->draft_no || !str_eq(s->chosen_by, c->why))
		return wrong(p, s->line, "chosen is %d %.*s", c ? c->draft_no : -1,
			     STR_ARG(c ? c->why : STR_OF("")));
	return true;
}

static bool play_step(struct play *p, const struct trace_step *s)
{
	struct fact f;

	if (!make_fact(p, s, &f) || !take(p, &f, s->line))
		return false;
	if (!str_eq(p->out.action, s->action))
		return wrong(p, s->line, "expected \"%.*s\", the loop says \"%.*s\"",
			     STR_ARG(s->action), STR_ARG(p->out.action));
	return chooses_as_told(p, s) && opens_as_told(p, s);
}

static bool is(const struct play *p, const char *what, int64_t told, int64_t found)
{
	return told < 0 || told == found ||
	       wrong(p, p->t->step[p->t->n_step - 1].line, "%s: expected %lld, it is %lld", what,
		     (long long)told, (long long)found);
}

static bool ends_as_told(const struct play *p)
{
	const struct history *h = loop_history(p->loop);
	const struct trace *t = p->t;
	const int last = t->step[t->n_step - 1].line, best = p->out.finish.draft_no;

	if (!p->out.finished)
		return wrong(p, last, "the trace ends before its job");
	if (best != t->best_draft_no)
		return wrong(p, last, "the best draft is %d", best);
	return is(p, "iterations", t->n_iterations, h->n_iterations) &&
	       is(p, "calls", t->n_calls, h->n_calls) &&
	       is(p, "used", t->used_tokens, h->tokens_in + h->tokens_out) &&
	       is(p, "cost", t->cost_micro_usd, h->cost_micro_usd);
}

static bool play_through(struct play *p)
{
	for (int i = 0; i < p->t->n_step; i++)
		if (!play_step(p, &p->t->step[i]))
			return false;
	return ends_as_told(p);
}

/* ---- replay ---- */

/* A stored row fed in again, as a worker does that takes the job over. */
static bool replay_row(struct play *p, const struct step_row *row)
{
	const int line = p->t->step[p->n_row].line;
	const struct call *c = open_call(p, row->call_no);
	struct fact f;
	struct err err = {""};

	if (step_fact(p->a, row, c ? c->model : NULL, &f, &err) != ST_OK)
		return wrong(p, line, "replay: %s", err.text);
	if (!take(p, &f, line))
		return false;
	p->active_ms = f.active_ms;
	return step_compare(p->a, p->job, &p->out, row, &err) == ST_OK ||
	       wrong(p, line, "replay: %s", err.text);
}

static bool replays(const struct play *stored)
{
	struct play p;
	bool ok = true;

	play_begin(&p, stored->t);
	for (int i = 0; ok && i < stored->n_row; i++) {
		ok = replay_row(&p, &stored->rows[i].step);
		if (ok && memcmp(p.rows[i].step.hash, stored->rows[i].step.hash, SHA_BYTES) != 0)
			ok = wrong(&p, stored->t->step[i].line, "replay: another hash");
	}
	play_end(&p);
	return ok;
}

/* A row whose digest is not what the step made is noticed. */
static bool notices_a_change(const struct play *stored)
{
	struct step_row row = stored->rows[0].step;
	struct play p;
	struct fact f;
	struct err err;

	play_begin(&p, stored->t);
	row.digest[0] ^= 1;
	bool ok = step_fact(p.a, &row, NULL, &f, &err) == ST_OK && take(&p, &f, 0) &&
		  step_compare(p.a, p.job, &p.out, &row, &err) == ST_DIVERGED;
	play_end(&p);
	return ok || wrong(stored, stored->t->step[0].line, "a changed digest goes unnoticed");
}

/* The first @n steps from their rows, RESUMED with nothing lost, and then the trace goes on as if nothing had been. */
static bool goes_on_after(const struct play *stored, int n)
{
	static const struct trace_step resumed = {
		.type = FACT_resumed, .call_no = -1, .active_ms = -1};
	const struct trace *t = stored->t;
	struct play p;
	struct fact f;
	bool ok = true;

	play_begin(&p, t);
	for (int i = 0; ok && i < n; i++)
		ok = replay_row(&p, &stored->rows[i].step);
	ok = ok && make_fact(&p, &resumed, &f) && take(&p, &f, t->step[n - 1].line);
	for (int i = n; ok && i < t->n_step; i++)
		ok = play_step(&p, &t->step[i]);
	ok = ok && ends_as_told(&p);
	play_end(&p);
	return ok || wrong(stored, t->step[n - 1].line, "not the same after RESUMED behind this");
}

static bool plays(const char *path, bool met[N_STOP_REASONS])
{
	struct arena *a = arena_new();
	struct trace *t = arena_alloc(a, sizeof(*t));
	struct play p;

	trace_read(a, path, t);
	play_begin(&p, t);
	bool ok = play_through(&p) && replays(&p) && notices_a_change(&p);
	for (int n = 1; ok && n < t->n_step; n++)
		ok = goes_on_after(&p, n);
	if (ok)
		met[p.out.finish.why] = true;
	play_end(&p);
	arena_free(a);
	return ok;
}

int main(int argc, char **argv)
{
	bool met[N_STOP_REASONS] = {false}, all = true, all_met = true;
	char **path = argv + 1;
	size_t n = (size_t)argc - 1;
	glob_t found = {0};

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2) {
		if (glob("tests/trace/*.trace", 0, NULL, &found) != 0)
			case_die("no tests/trace/*.trace from here");
		path = found.gl_pathv;
		n = found.gl_pathc;
	}
	printf("1..%zu\n", n + (argc < 2));
	for (size_t i = 0; i < n; i++) {
		bool ok = plays(path[i], met);
		printf("%sok %zu - %s\n", ok ? "" : "not ", i + 1, path[i]);
		all &= ok;
	}
	for (int i = 0; argc < 2 && i < N_STOP_REASONS; i++) {
		if (!met[i])
			printf("# no trace ends with %s\n", stop_name((enum stop_reason)i));
		all_met &= met[i];
	}
	if (argc < 2)
		printf("%sok %zu - each stop reason ends a trace\n", all_met ? "" : "not ", n + 1);
	globfree(&found);
	return all && all_met ? 0 : 1;
}
