/*
 * test_loop.c - random jobs against what the loop promises. SEED=n plays other jobs; a failure names seed and job.
 *
 * The test says what a reply means before it is made, so that the loop's reading of it is checked against something else.
 */
#include "core/loop.h"

#include "../lib/loop_case.h"

#include <regex.h>
#include <setjmp.h>

#include <cmocka.h>

enum { JOBS = 2000, FACTS_MAX = 300, SEED_DEFAULT = 20261130 };

/* What is promised. Wrong ones must be found out, see the last test. */
struct promise {
	int calls_an_iteration; /* at most */
	int score_over_the_bar; /* at least, of what passes */
	int severity_under; /* the threshold, at least: how far the gravest issue of what passes is */
};
static const struct promise promised = {4, 0, 0};

/* A job being played, and what the test knows of it. */
struct game {
	uint64_t random;
	struct arena *a;
	const struct profile *profile;
	const struct job *job;
	struct loop *loop;
	struct loop_output out;
	struct fact fact[FACTS_MAX];
	int n_fact;
	uint8_t head[SHA_BYTES];
	const char *text;		     /* the latest draft */
	int64_t confidence;		     /* of it, permille; -1: none */
	bool readable, pass;		     /* the latest critique.. */
	int score, severity;		     /* ..and its gravest issue; 0: none */
	int64_t over_tokens, over_micro_usd; /* by how much a bill exceeded its reserve, at most */
};

static int draw(struct game *g, int n)
{
	g->random ^= g->random << 13;
	g->random ^= g->random >> 7;
	g->random ^= g->random << 17;
	return (int)(g->random % (uint64_t)n);
}

static bool chance(struct game *g, int percent)
{
	return draw(g, 100) < percent;
}

/* ---- profile and job ---- */

/* One draw a statement: in an argument list each compiler would draw in an order of its own. */
static void put_drawn(struct game *g, struct json_out *o, const char *key, int low, int n)
{
	json_put_int(o, key, low + draw(g, n));
}

static void put_limits(struct game *g, struct json_out *o)
{
	json_open(o, "limits", '{');
	put_drawn(g, o, "iterations", 1, ITERATIONS_MAX);
	if (chance(g, 25))
		put_drawn(g, o, "tokens", 2000, 15000);
	else
		json_put_int(o, "tokens", 1000000);
	if (chance(g, 15))
		put_drawn(g, o, "micro_usd", 6000, 30000);
	else
		json_put_int(o, "micro_usd", 10000000);
	if (chance(g, 15))
		put_drawn(g, o, "active_ms", 1, 20000);
	else
		json_put_int(o, "active_ms", 3600000);
	json_close(o, '}');
}

static struct str draw_profile(struct game *g)
{
	struct buf json = BUF(4000);
	struct json_out o = {&json, false};

	json_open(&o, NULL, '{');
	json_put_bool(&o, "iterations_over_3", true);
	put_limits(g, &o);
	if (chance(g, 10))
		json_put_str(&o, "mode", STR_OF("oneshot"));
	if (chance(g, 30))
		json_put_int(&o, "gate_permille", 800);
	json_put_str(&o, "stakes", str_c(stakes_name((enum stakes)draw(g, N_STAKES))));
	put_drawn(g, &o, "pass_score", 50, 40);
	put_drawn(g, &o, "severity_threshold", 2, 4);
	json_close(&o, '}');
	struct str patch = arena_str(g->a, buf_view(&json));
	buf_release(&json);
	return case_patch(g->a, case_file(g->a, "tests/data/profile.json"), patch);
}

static void begin(struct game *g, uint64_t seed, int job_no)
{
	*g = (struct game){.random = (seed + 1) * 0x9E3779B97F4A7C15u +
				     (uint64_t)job_no * 0xD1342543DE82EF95u,
			   .a = arena_new()};
	for (int i = 0; i < 8; i++)
		draw(g, 2);
	g->profile = case_profile(g->a, draw_profile(g));
	const char *stakes = stakes_name((enum stakes)draw(g, N_STAKES));
	int iterations = 1 + draw(g, (int)g->profile->limits.iterations);
	g->job = case_job(g->a, g->profile,
			  arena_printf(g->a,
				       "{\"id\":\"%d\",\"profile\":\"letter\",\"stakes\":\"%s\","
				       "\"limits\":{\"iterations\":%d}}",
				       job_no, stakes, iterations));
	g->loop = loop_new(g->a, g->job, g->profile);
}

static bool has_promise(const char *text)
{
	return strstr(text, "guarantee") != NULL;
}

static bool is_long(const char *text)
{
	return strlen(text) > 50; /* that one has 31 words; the check `brief` allows 30 */
}

static const char *draw_text(struct game *g)
{
	static const char *const texts[] = {
		"alpha is one",
		"  alpha is \n one ",
		"alpha is two",
		"bravo is one",
		"we guarantee alpha",
		"we guarantee that bravo is one",
		"charlie",
		"a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a",
	};

	return chance(g, 60) ? texts[draw(g, 8)]
			     : arena_printf(g->a, "delta is %d", draw(g, 1000)).p;
}

/* ---- replies, and what they mean ---- */

static struct str generator_reply(struct game *g)
{
	struct buf json = BUF(1000);
	struct json_out o = {&json, false};

	g->text = draw_text(g);
	g->confidence = -1;
	if (!g->profile->gate)
		return str_c(g->text);
	json_open(&o, NULL, '{');
	json_put_str(&o, "text", str_c(g->text));
	if (chance(g, 60)) {
		g->confidence = draw(g, 100) * 10;
		json_put_raw(&o, "confidence",
			     arena_printf(g->a, "0.%02d", (int)g->confidence / 10));
	} else if (chance(g, 50)) {
		json_put_int(&o, "confidence", 2 + draw(g, 98));
	}
	json_close(&o, '}');
	struct str reply = arena_str(g->a, buf_view(&json));
	buf_release(&json);
	return reply;
}

static void put_issue(struct game *g, struct json_out *o)
{
	static const char *const words[] = {"alpha", "one", "is", "bravo", "guarantee", "", "zulu"};
	static const char *const wishes[] = {"say it in other words", "give the price",
					     "name the reader", "leave it out"};
	static const char *const categories[] = {"fact", "tone"};
	const int severity = 1 + draw(g, 5);

	json_open(o, NULL, '{');
	json_put_str(o, "category", str_c(categories[draw(g, 2)]));
	json_put_str(o, "snippet", str_c(words[draw(g, 7)]));
	json_put_str(o, "suggestion", str_c(wishes[draw(g, 4)]));
	json_put_int(o, "severity", severity);
	json_close(o, '}');
	g->severity = severity > g->severity ? severity : g->severity;
}

static struct str critic_reply(struct game *g)
{
	struct buf json = BUF(4000);
	struct json_out o = {&json, false};

	g->severity = 0;
	g->readable = chance(g, 80);
	g->pass = chance(g, 60);
	g->score = g->pass && chance(g, 60) ? 85 + draw(g, 16) : draw(g, 101);
	json_open(&o, NULL, '{');
	json_put_str(&o, "verdict", str_c(g->pass ? "pass" : "fail"));
	json_open(&o, "issues", '[');
	for (int i = chance(g, 30) ? 0 : draw(g, 4); i > 0; i--)
		put_issue(g, &o);
	json_close(&o, ']');
	if (g->readable || chance(g, 50))
		json_put_int(&o, "score", g->score);
	if (g->readable || chance(g, 50))
		json_close(&o, '}');
	else
		json_put_int(&o, "score", 100);
	if (!g->readable)
		buf_puts(&json, "{}"); /* two objects, or half of one */
	struct str reply = arena_str(g->a, buf_view(&json));
	buf_release(&json);
	return reply;
}

static struct str reply_of(struct game *g, enum role role)
{
	if (role == ROLE_GENERATOR)
		return generator_reply(g);
	if (role == ROLE_CRITIC)
		return critic_reply(g);
	g->text = draw_text(g);
	return str_c(g->text);
}

static void make_reply(struct game *g, const struct call *c, struct fact *f)
{
	const char *before = g->text;
	struct completion reply = {
		.text = reply_of(g, c->role), .finish_reason = STR("stop"), .model = c->model->id};

	reply.usage.in = draw(g, 1500);
	reply.usage.out = draw(g, chance(g, 10) ? 2 * (int)c->max_output_tokens : 600);
	if (chance(g, 5))
		reply.usage.in = -1;
	if (chance(g, 15))
		reply.finish_reason = STR_OF("length");
	else if (chance(g, 3))
		reply.finish_reason = STR_OF("content_filter");
	if (!str_is(reply.finish_reason, "stop"))
		g->text = before;
	f->http = case_completion(g->a, &reply);
	c->model->wire->reply(&f->http, f->at_ms, g->a, &f->reply);
}

/* Attempts that broke off and may have been billed: the driver asks before each further one. */
static int broken_attempts(struct game *g, const struct call *c, int64_t active_ms)
{
	int n = 0;

	while (n < 3 && chance(g, 10) &&
	       loop_may_retry(g->loop, c->no, n + 1, active_ms) == STOP_NONE)
		n++;
	return n;
}

/* ---- facts ---- */

static const struct call *open_call(const struct loop *l)
{
	const struct call *open[LOOP_CALLS] = {NULL, NULL};

	loop_open(l, open);
	return open[0];
}

static void draw_fact(struct game *g, const struct call *c, struct fact *f)
{
	static const enum stop_reason stops[] = {STOP_expired, STOP_diverged, STOP_cancelled,
						 STOP_poison};
	const struct fact *last = &g->fact[g->n_fact - 1];

	*f = (struct fact){.type = FACT_replied, .call_no = -1};
	f->at_ms = last->at_ms + draw(g, 5000);
	f->active_ms = last->active_ms + draw(g, 5000);
	if (chance(g, 10))
		f->type = FACT_resumed;
	else if (chance(g, 2))
		f->type = FACT_stopped;
	f->stop = stops[draw(g, 4)];
	f->lost[0] = broken_attempts(g, c, f->active_ms) + chance(g, 50);
	if (f->type != FACT_replied)
		return;
	f->call_no = c->no;
	f->n_maybe_billed = broken_attempts(g, c, f->active_ms);
	if (chance(g, 4)) {
		f->type = FACT_call_failed;
		f->n_maybe_billed++;
		f->reply.class = REPLY_broken_off;
	} else {
		make_reply(g, c, f);
	}
}

/* A fact that fits nothing is refused and leaves no mark. */
static const char *refuses_nonsense(struct game *g, const struct call *c)
{
	const int64_t active_ms = g->fact[g->n_fact - 1].active_ms;
	const struct fact nonsense[] = {
		{.type = FACT_started, .call_no = -1, .active_ms = active_ms},
		{.type = FACT_replied, .call_no = c->no + 1, .active_ms = active_ms},
		{.type = FACT_call_failed, .call_no = c->no - 1, .active_ms = active_ms},
		{.type = FACT_stopped,
		 .call_no = -1,
		 .active_ms = active_ms,
		 .stop = STOP_no_issues},
		{.type = FACT_stopped, .call_no = -1, .active_ms = active_ms, .stop = STOP_NONE},
	};
	struct loop_output out;

	return loop_step(g->loop, &nonsense[draw(g, 5)], &out) == ST_DIVERGED
		       ? NULL
		       : "it takes a fact that fits nothing";
}

/* ---- one run of the loop over facts ---- */

/* Feeds @f; the rows' hash goes on in @head. */
static enum status feed(struct game *g, struct loop *l, const struct fact *f,
			struct loop_output *out, uint8_t head[SHA_BYTES])
{
	enum status status = loop_step(l, f, out);
	struct step_rows rows;

	if (status != ST_OK)
		return status;
	step_rows(g->a, g->job, loop_history(l), f, out, 1, 1, 0, head, &rows);
	memcpy(head, rows.step.hash, SHA_BYTES);
	return ST_OK;
}

static regex_t grammar;

static void note_bill(struct game *g, const struct call *c, const struct fact *f, int64_t tokens,
		      int64_t micro_usd)
{
	const int64_t over_tokens = tokens - c->reserve_tokens * (f->n_maybe_billed + 1);
	const int64_t over_micro_usd = micro_usd - c->reserve_micro_usd * (f->n_maybe_billed + 1);

	if (over_tokens > g->over_tokens)
		g->over_tokens = over_tokens;
	if (over_micro_usd > g->over_micro_usd)
		g->over_micro_usd = over_micro_usd;
}

/* One step of the game. NULL, or what is wrong. */
static const char *step(struct game *g)
{
	const struct history *h = loop_history(g->loop);
	const int64_t tokens = h->tokens_in + h->tokens_out, micro_usd = h->cost_micro_usd;
	struct fact *f = &g->fact[g->n_fact];
	const struct call *open = open_call(g->loop);
	struct call c = {.no = -1};
	const char *fault = NULL;

	if (g->n_fact == 0) {
		*f = (struct fact){.type = FACT_started, .call_no = -1, .at_ms = 1700000000000};
	} else {
		c = *open;
		if (chance(g, 5))
			fault = refuses_nonsense(g, &c);
		draw_fact(g, &c, f);
	}
	if (feed(g, g->loop, f, &g->out, g->head) != ST_OK)
		return "it refuses a fact that fits";
	g->n_fact++;
	if (f->type == FACT_replied)
		note_bill(g, &c, f, h->tokens_in + h->tokens_out - tokens,
			  h->cost_micro_usd - micro_usd);
	if (regexec(&grammar, g->out.action.p, 0, NULL, 0) != 0)
		return "the action is not in the grammar";
	if (!g->out.finished && !open_call(g->loop))
		return "neither a finish nor an open call";
	return fault;
}

/* ---- what must hold at the end ---- */

/* It passed by the test's own book. */
static bool may_pass(const struct game *g, const struct promise *p)
{
	return g->profile->mode == MODE_CRITIC_REFINER && g->readable && g->pass &&
	       g->score >= g->profile->pass_score + p->score_over_the_bar &&
	       g->severity < g->profile->severity_threshold - p->severity_under &&
	       !has_promise(g->text);
}

static bool names_the_text(const struct game *g)
{
	const int best = g->out.finish.draft_no;

	return best >= 0 && str_is(loop_history(g->loop)->draft[best].text, g->text);
}

static const char *check_release(const struct game *g, const struct promise *p)
{
	const bool oneshot = g->profile->mode == MODE_ONESHOT;

	switch (g->out.finish.why) {
	case STOP_no_issues:
		if (!may_pass(g, p) || !names_the_text(g))
			return "passed without the four conditions";
		return g->job->stakes == STAKES_HIGH ? "passed with high stakes" : NULL;
	case STOP_high_stakes:
		if (!oneshot && !may_pass(g, p))
			return "high_stakes of what did not pass";
		return g->job->stakes != STAKES_HIGH ? "high_stakes without high stakes" : NULL;
	case STOP_oneshot:
		return !oneshot || has_promise(g->text) || !names_the_text(g)
			       ? "oneshot without green checks"
			       : NULL;
	case STOP_confidence_gate:
		return g->job->stakes != STAKES_LOW || g->confidence < g->profile->gate_permille ||
				       has_promise(g->text) || is_long(g->text) ||
				       !names_the_text(g)
			       ? "through a gate that is closed"
			       : NULL;
	default:
		return NULL;
	}
}

static const char *check_caps(const struct game *g, const struct promise *p)
{
	const struct history *h = loop_history(g->loop);
	const struct limits *max = &g->job->limits;

	if (h->n_calls > p->calls_an_iteration * max->iterations)
		return "more than 4N calls";
	if (h->n_iterations > max->iterations)
		return "more iterations than allowed";
	if (h->tokens_in + h->tokens_out > max->tokens + g->over_tokens)
		return "over the cap of tokens";
	if (h->cost_micro_usd > max->micro_usd + g->over_micro_usd)
		return "over the cap of money";
	return NULL;
}

static const char *check_replay(struct game *g)
{
	struct loop *l = loop_new(g->a, g->job, g->profile);
	struct loop_output out = {.finished = false};
	uint8_t head[SHA_BYTES] = {0};

	for (int i = 0; i < g->n_fact; i++)
		if (feed(g, l, &g->fact[i], &out, head) != ST_OK)
			return "replay refuses a fact";
	return memcmp(head, g->head, SHA_BYTES) ? "replay gives another hash" : NULL;
}

/* A worker dies after @n facts, the next goes on; the later replies are the same. An attempt that was lost may end it by budget. */
static const char *check_resume(struct game *g, int n, bool lost)
{
	struct loop *l = loop_new(g->a, g->job, g->profile);
	const struct history *h = loop_history(l), *was = loop_history(g->loop);
	const struct fact resumed = {.type = FACT_resumed,
				     .at_ms = g->fact[n - 1].at_ms,
				     .active_ms = g->fact[n - 1].active_ms,
				     .call_no = -1,
				     .lost = {lost}};
	struct loop_output out = {.finished = false};
	uint8_t head[SHA_BYTES] = {0};

	for (int i = 0; i < g->n_fact && !out.finished; i++) {
		if (i == n && feed(g, l, &resumed, &out, head) != ST_OK)
			return "RESUMED is refused";
		if (!out.finished && feed(g, l, &g->fact[i], &out, head) != ST_OK)
			return "after RESUMED it refuses a fact";
	}
	if (lost && out.finished && out.finish.why == STOP_budget)
		return NULL;
	if (!out.finished || out.finish.why != g->out.finish.why ||
	    out.finish.draft_no != g->out.finish.draft_no || h->n_draft != was->n_draft)
		return "another end after RESUMED";
	for (int i = 0; i < h->n_draft; i++)
		if (!str_eq(h->draft[i].text, was->draft[i].text))
			return "another text after RESUMED";
	return NULL;
}

/* Plays a job to its end. NULL, or what is wrong with it. */
static const char *play(uint64_t seed, int job_no, const struct promise *p, enum stop_reason *why)
{
	const char *fault = NULL;
	struct game *g = malloc(sizeof(*g));

	begin(g, seed, job_no);
	while (!fault && !g->out.finished)
		fault = g->n_fact == FACTS_MAX ? "it does not end" : step(g);
	if (!fault)
		fault = check_release(g, p);
	if (!fault)
		fault = check_caps(g, p);
	if (!fault)
		fault = check_replay(g);
	if (!fault && g->n_fact > 1)
		fault = check_resume(g, 1 + draw(g, g->n_fact - 1), job_no % 2);
	*why = g->out.finish.why;
	arena_free(g->a);
	free(g);
	return fault;
}

static uint64_t seed_of_run(void)
{
	const char *text = getenv("SEED");

	return text ? strtoull(text, NULL, 10) : SEED_DEFAULT;
}

static void random_jobs_keep_every_promise(void **state)
{
	const uint64_t seed = seed_of_run();
	int n[N_STOP_REASONS] = {0};

	for (int i = 0; i < JOBS; i++) {
		enum stop_reason why;
		const char *fault = play(seed, i, &promised, &why);
		if (fault)
			fail_msg("SEED=%llu, job %d: %s", (unsigned long long)seed, i, fault);
		n[why]++;
	}
	printf("# SEED=%llu:", (unsigned long long)seed);
	for (int i = 0; i < N_STOP_REASONS; i++)
		printf(" %s %d", stop_name((enum stop_reason)i), n[i]);
	puts("");
	assert_true(n[STOP_no_issues] > JOBS / 100); /* else little was tested */
}

/* How many of the first jobs break @p. */
static int n_broken(const struct promise *p)
{
	int n = 0;

	for (int i = 0; i < JOBS / 10; i++) {
		enum stop_reason why;
		n += play(seed_of_run(), i, p, &why) != NULL;
	}
	return n;
}

/* The judge can judge: were the promise another, it would say so. */
static void a_promise_that_is_not_kept_is_found_out(void **state)
{
	assert_true(n_broken(&(struct promise){3, 0, 0}) > 0);
	assert_true(n_broken(&(struct promise){4, 15, 0}) > 0);
	assert_true(n_broken(&(struct promise){4, 0, 1}) > 0);
}

/* 100 checks that quote 100,000 bytes each make a prompt over its maximum: it would go out without a part. */
static void a_prompt_that_cannot_be_whole_is_not_sent(void **state)
{
	struct arena *a = arena_new();
	struct buf job = BUF(CASE_BYTES_MAX);
	struct loop_output out;
	const struct fact started = {.type = FACT_started, .call_no = -1};
	struct str patch = STR("{\"limits\":{\"tokens\":1000000000,\"micro_usd\":1000000000000}}");
	const struct profile *profile =
		case_profile(a, case_patch(a, case_file(a, "tests/data/profile.json"), patch));

	buf_puts(&job, "{\"id\":\"a\",\"profile\":\"letter\",\"variables\":{\"v\":\"");
	for (int i = 0; i < 100000; i++)
		buf_putc(&job, 'v');
	buf_puts(&job, "\"},\"checks\":[");
	for (int i = 0; i < 100; i++)
		buf_printf(&job,
			   "%s{\"name\":\"c%d\",\"type\":\"must_include\",\"variables\":[\"v\"]}",
			   i ? "," : "", i);
	buf_puts(&job, "]}");
	struct loop *l = loop_new(a, case_job(a, profile, buf_view(&job)), profile);
	buf_release(&job);
	assert_int_equal(loop_step(l, &started, &out), ST_OK);
	assert_string_equal(out.action.p, "finish escalated budget");
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_jobs_keep_every_promise),
		cmocka_unit_test(a_promise_that_is_not_kept_is_found_out),
		cmocka_unit_test(a_prompt_that_cannot_be_whole_is_not_sent),
	};

	if (regcomp(&grammar,
		    "^(call (generator|critic|refiner) [0-9]+(, (generator|critic|refiner) "
		    "[0-9]+)?|wait|finish (passed|direct|escalated|failed) [a-z_]+)$",
		    REG_EXTENDED | REG_NOSUB) != 0)
		case_die("the grammar");
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	regfree(&grammar);
	return n_failed;
}
