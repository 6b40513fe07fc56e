#include "trace.h"

/* The line being read. */
struct reader {
	struct arena *a;
	struct trace *t;
	int line;
	struct str rest;
};

#define REFUSE(r, ...) (printf("# %s:%d\n", (r)->t->path, (r)->line), case_die(__VA_ARGS__))

/* Behind the JSON string, object or array that @s begins with; brackets and quotes in strings do not count. */
static size_t json_end(struct str s)
{
	bool quoted = false;
	int depth = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (quoted && s.p[i] == '\\') {
			i++;
			continue;
		}
		quoted ^= s.p[i] == '"';
		if (!quoted)
			depth +=
				(s.p[i] == '{' || s.p[i] == '[') - (s.p[i] == '}' || s.p[i] == ']');
		if (!quoted && depth == 0)
			return i + 1;
	}
	return s.n;
}

static bool begins_json(struct str s)
{
	return s.n && (s.p[0] == '"' || s.p[0] == '{' || s.p[0] == '[');
}

/* The next word, JSON string, object or array; of length 0 at the end of the line. */
static struct str word(struct reader *r)
{
	size_t n = 0;

	r->rest = str_trim(r->rest);
	if (begins_json(r->rest))
		n = json_end(r->rest);
	while (n < r->rest.n && r->rest.p[n] != ' ')
		n++;
	struct str taken = str_sub(r->rest, 0, n);
	r->rest = str_sub(r->rest, n, r->rest.n);
	return taken;
}

static int64_t number(struct reader *r)
{
	struct str s = word(r);
	int64_t n;

	if (!str_to_int(s, 0, INT64_MAX, &n))
		REFUSE(r, "\"%.*s\" is no number", STR_ARG(s));
	return n;
}

/* A JSON string is what it says, an object or array is itself. */
static struct str text(struct reader *r)
{
	struct str s = word(r);

	if (begins_json(s) && s.p[0] != '"')
		return s;
	struct json *doc = case_json(s);
	if (json_kind(doc) != JSON_STRING)
		REFUSE(r, "%.*s is neither a JSON string, nor an object or array", STR_ARG(s));
	struct str said = arena_str(r->a, json_str(doc));
	json_free(doc);
	return said;
}

/* ---- a fact ---- */

static void read_extra(struct reader *r, struct str name, struct trace_step *s)
{
	if (str_is(name, "active"))
		s->active_ms = number(r);
	else if (str_is(name, "lost"))
		s->n_lost = (int)number(r);
	else if (str_is(name, "maybe_billed"))
		s->n_maybe_billed = (int)number(r);
	else if (str_is(name, "truncated"))
		s->reply.finish_reason = STR_OF("length");
	else if (str_is(name, "finish_reason"))
		s->reply.finish_reason = word(r);
	else if (str_is(name, "refused"))
		s->reply.refused = true;
	else if (str_is(name, "cached"))
		s->reply.usage.cached = number(r);
	else if (str_is(name, "untold"))
		s->reply.usage.in = -1;
	else if (str_is(name, "from"))
		s->reply.model = word(r);
	else if (!str_is(name, "tokens"))
		REFUSE(r, "there is no word \"%.*s\" behind a fact", STR_ARG(name));
	if (str_is(name, "tokens")) {
		s->reply.usage.in = number(r);
		s->reply.usage.out = number(r);
	}
}

static void read_fact(struct reader *r, struct trace_step *s)
{
	struct str name = word(r);

	*s = (struct trace_step){
		.line = r->line,
		.type = fact_read(name),
		.call_no = -1,
		.reply = {.finish_reason = STR_OF("stop"), .usage = {.in = 100, .out = 50}},
		.active_ms = -1,
		.output_cap = -1,
		.chosen_no = -1,
		.time_left_ms = -1};
	if (s->type == N_FACT_TYPES)
		REFUSE(r, "there is no fact \"%.*s\"", STR_ARG(name));
	if (s->type == FACT_replied || s->type == FACT_call_failed)
		s->call_no = (int)number(r);
	if (s->type == FACT_replied)
		s->reply.text = text(r);
	if (s->type == FACT_call_failed &&
	    (s->class = reply_class_read(word(r))) == N_REPLY_CLASSES)
		REFUSE(r, "no such class of a reply");
	if (s->type == FACT_stopped && (s->stop = stop_read(word(r))) == STOP_NONE)
		REFUSE(r, "no such stop reason");
	while ((name = word(r)).n)
		read_extra(r, name, s);
}

/* ---- other lines ---- */

/* Of the call that the last step has opened. False: none of these. */
static bool read_call(struct reader *r, struct str name, struct trace_step *s)
{
	if (str_is(name, "asks") && s->n_has < TRACE_TEXTS_MAX)
		s->has[s->n_has++] = text(r);
	else if (str_is(name, "asks_not") && s->n_has_not < TRACE_TEXTS_MAX)
		s->has_not[s->n_has_not++] = text(r);
	else if (str_is(name, "output_cap"))
		s->output_cap = number(r);
	else if (str_is(name, "time_left"))
		s->time_left_ms = number(r);
	else if (str_is(name, "chosen"))
		s->chosen_no = number(r);
	else
		return false;
	if (str_is(name, "chosen"))
		s->chosen_by = word(r);
	return true;
}

static void read_end(struct reader *r, struct str name)
{
	struct trace *t = r->t;

	if (str_is(name, "best"))
		t->best_draft_no = str_is(str_trim(r->rest), "none") ? (word(r), -1) : number(r);
	else if (str_is(name, "iterations"))
		t->n_iterations = number(r);
	else if (str_is(name, "calls"))
		t->n_calls = number(r);
	else if (str_is(name, "used"))
		t->used_tokens = number(r);
	else if (str_is(name, "cost"))
		t->cost_micro_usd = number(r);
	else
		REFUSE(r, "a line may not begin with \"%.*s\"", STR_ARG(name));
}

static void read_other(struct reader *r)
{
	struct trace *t = r->t;
	struct str name = word(r);

	if (str_is(name, "profile"))
		t->profile = case_patch(r->a, t->profile, word(r));
	else if (str_is(name, "job"))
		t->job = case_patch(r->a, t->job, word(r));
	else if (!t->n_step || !read_call(r, name, &t->step[t->n_step - 1]))
		read_end(r, name);
	if (str_trim(r->rest).n)
		REFUSE(r, "too much: %.*s", STR_ARG(r->rest));
}

/* Where the last " => " of the line stands, or -1. */
static int64_t arrow(struct str line)
{
	int64_t last = -1, at = -1;

	while ((at = str_find(line, STR_OF(" => "), (size_t)(at + 1))) >= 0)
		last = at;
	return last;
}

static void read_line(struct reader *r, struct str line)
{
	int64_t at = arrow(line);

	r->rest = line;
	if (at < 0) {
		if (str_trim(line).n && line.p[0] != '#')
			read_other(r);
		return;
	}
	if (r->t->n_step == TRACE_STEPS_MAX)
		REFUSE(r, "more than %d steps", TRACE_STEPS_MAX);
	r->rest = str_sub(line, 0, (size_t)at);
	read_fact(r, &r->t->step[r->t->n_step]);
	r->t->step[r->t->n_step++].action = str_trim(str_sub(line, (size_t)at + 4, line.n));
}

void trace_read(struct arena *a, const char *path, struct trace *t)
{
	struct reader r = {.a = a, .t = t};
	struct str rest = case_file(a, path);

	*t = (struct trace){
		.path = path,
		.profile = case_file(a, "tests/data/profile.json"),
		.job = STR("{\"id\":\"a\",\"profile\":\"letter\",\"task\":\"Thank her.\"}"),
		.best_draft_no = -2,
		.n_iterations = -1,
		.n_calls = -1,
		.used_tokens = -1,
		.cost_micro_usd = -1};
	while (rest.n) {
		int64_t end = str_find(rest, STR_OF("\n"), 0);
		struct str line = str_sub(rest, 0, end < 0 ? rest.n : (size_t)end);
		rest = str_sub(rest, line.n + 1, rest.n);
		r.line++;
		read_line(&r, line);
	}
	if (!t->n_step || t->best_draft_no == -2)
		REFUSE(&r, "a trace needs steps and says which draft is the best");
}
