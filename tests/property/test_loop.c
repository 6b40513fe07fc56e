/*
 * test_loop.c - random jobs against what the loop promises. SEED=n plays other jobs; a failure names seed and job.
 */
#include "../lib/loop_game.h"

#include <regex.h>
#include <setjmp.h>

#include <cmocka.h>

enum { JOBS = 2000, SEED_DEFAULT = 20261130 };

/* What is promised. Wrong ones must be found out, see the last test. */
struct promise {
	int calls_an_iteration; /* of models, at most; a tool adds one for each draft */
	int score_over_the_bar; /* at least, of what passes */
	int severity_under; /* the threshold, at least: how far the gravest issue of what passes is */
};
static const struct promise promised = {4, 0, 0};

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
	step_rows(g->a, g->job, g->profile, loop_history(l), f, out, 1, 1, 0, head, &rows);
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
	if (g->out.refinement && g->out.draft) { /* what it is by right: test_merge.c */
		g->text = g->out.draft->text.p;
		g->found = 0;
	}
	if (g->out.choice) {
		g->text = h->draft[g->out.choice->draft_no].text.p;
		g->found = 0;
	}
	if (f->type == FACT_replied)
		note_bill(g, &c, f, h->tokens_in + h->tokens_out - tokens,
			  h->cost_micro_usd - micro_usd);
	for (int i = 0; i < g->out.n_call && f->type != FACT_resumed; i++)
		g->n_tool_calls += g->out.call[i].role == ROLE_TOOL;
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
	       g->found < g->profile->severity_threshold && !has_promise(g->text);
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
		return !oneshot || has_promise(g->text) || !names_the_text(g) ||
				       g->found >= g->profile->severity_threshold
			       ? "oneshot without green checks"
			       : NULL;
	case STOP_confidence_gate:
		return g->job->stakes != STAKES_LOW || g->confidence < g->profile->gate_permille ||
				       has_promise(g->text) || is_long(g->text) || g->found ||
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

	const int besides = g->profile->candidates > 1 ? 6 : 0; /* a draft and two comparisons */

	if (h->n_calls - g->n_tool_calls > p->calls_an_iteration * max->iterations + besides)
		return "more than 4N calls of models";
	if (g->n_tool_calls > g->profile->n_tool * h->n_draft)
		return "a tool's second look at a draft";
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

/* Whether it has less than what jobs are drawn with where no cap is to be felt. */
static bool caps_bind(const struct game *g)
{
	return g->job->limits.tokens < 1000000 || g->job->limits.micro_usd < 10000000;
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

	if (lost && g->profile->candidates > 1 && caps_bind(g))
		return NULL; /* what is lost may bar a second candidate or a comparison */
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
		    "^(call (generator|critic|refiner|tool) [0-9]+(, (generator|critic|refiner) "
		    "[0-9]+)?|wait|finish (passed|direct|escalated|failed) [a-z_]+)$",
		    REG_EXTENDED | REG_NOSUB) != 0)
		case_die("the grammar");
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	regfree(&grammar);
	return n_failed;
}
