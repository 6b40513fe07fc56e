/*
 * tests/lib/loop_game.h - random jobs for the loop: a profile and a job are drawn, and replies whose meaning is known before they are made, so
 * that the loop's reading of them is checked against something else.
 */
#ifndef TESTS_LIB_LOOP_GAME_H
#define TESTS_LIB_LOOP_GAME_H

#include "core/loop.h"
#include "core/tool.h"

#include "loop_case.h"

enum { FACTS_MAX = 300 };

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
	const char *text;    /* the latest draft */
	int64_t confidence;  /* of it, permille; -1: none */
	bool readable, pass; /* the latest critique.. */
	int score, severity; /* ..and its gravest issue; 0: none */
	int found; /* the gravest finding of the tools in the latest draft; 0: none, 6: nonsense */
	int n_tool_calls;		     /* opened */
	int64_t over_tokens, over_micro_usd; /* by how much a bill exceeded its reserve, at most */
};

static inline int draw(struct game *g, int n)
{
	g->random ^= g->random << 13;
	g->random ^= g->random >> 7;
	g->random ^= g->random << 17;
	return (int)(g->random % (uint64_t)n);
}

static inline bool chance(struct game *g, int percent)
{
	return draw(g, 100) < percent;
}

/* ---- profile and job ---- */

/* One draw a statement: in an argument list each compiler would draw in an order of its own. */
static inline void put_drawn(struct game *g, struct json_out *o, const char *key, int low, int n)
{
	json_put_int(o, key, low + draw(g, n));
}

static inline void put_limits(struct game *g, struct json_out *o)
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

static inline void put_tools(struct game *g, struct json_out *o)
{
	json_open(o, "tools", '[');
	for (int i = draw(g, 3); i > 0; i--)
		json_put_raw(o, NULL,
			     arena_printf(g->a, "{\"name\":\"t%d\",\"command\":[\"t\"]}", i));
	json_close(o, ']');
}

static inline struct str draw_profile(struct game *g)
{
	struct buf json = BUF(4000);
	struct json_out o = {&json, false};

	json_open(&o, NULL, '{');
	json_put_bool(&o, "iterations_over_3", true);
	put_limits(g, &o);
	if (chance(g, 20))
		json_put_int(&o, "candidates", 2);
	else if (chance(g, 10))
		json_put_str(&o, "mode", STR_OF("oneshot"));
	else if (chance(g, 30))
		json_put_int(&o, "gate_permille", 800);
	json_put_str(&o, "stakes", str_c(stakes_name((enum stakes)draw(g, N_STAKES))));
	put_drawn(g, &o, "pass_score", 50, 40);
	put_drawn(g, &o, "severity_threshold", 2, 4);
	if (chance(g, 40))
		put_tools(g, &o);
	json_close(&o, '}');
	struct str patch = arena_str(g->a, buf_view(&json));
	buf_release(&json);
	return case_patch(g->a, case_file(g->a, "tests/data/profile.json"), patch);
}

static inline void begin(struct game *g, uint64_t seed, int job_no)
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

static inline bool has_promise(const char *text)
{
	return strstr(text, "guarantee") != NULL;
}

static inline bool is_long(const char *text)
{
	return strlen(text) > 50; /* that one has 31 words; the check `brief` allows 30 */
}

static inline const char *draw_text(struct game *g)
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

static inline struct str generator_reply(struct game *g)
{
	struct buf json = BUF(1000);
	struct json_out o = {&json, false};

	g->text = draw_text(g);
	g->found = 0;
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

static inline void put_issue(struct game *g, struct json_out *o)
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

static inline struct str critic_reply(struct game *g)
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

static inline struct str comparison_reply(struct game *g)
{
	static const char *const words[] = {"first", "second", "tie", "none"};

	return arena_printf(g->a, "{\"reasons\":\"\",\"better\":\"%s\"}", words[draw(g, 4)]);
}

static inline struct str reply_of(struct game *g, const struct call *c)
{
	const enum role role = c->role;

	if (role == ROLE_GENERATOR)
		return generator_reply(g);
	if (c->compares)
		return comparison_reply(g);
	return role == ROLE_CRITIC ? critic_reply(g) : str_c(draw_text(g));
}

static inline struct str tool_answer(struct game *g)
{
	const int severity = chance(g, 50) ? 0 : 1 + draw(g, 5);

	if (chance(g, 3)) {
		g->found = 6;
		return STR_OF("[{\"severity\":0,\"message\":\"all is well\"}]");
	}
	g->found = severity > g->found ? severity : g->found;
	if (!severity)
		return STR_OF(" [] ");
	return arena_printf(g->a,
			    "[{\"severity\":%d,\"message\":\"mend it\",\"snippet\":\"alpha\"}]",
			    severity);
}

static inline void make_reply(struct game *g, const struct call *c, struct fact *f)
{
	if (c->role == ROLE_TOOL) {
		f->http = (struct http_reply){.body = tool_answer(g), .whole = true};
		c->model->wire->reply(&f->http, f->at_ms, g->a, &f->reply);
		return;
	}

	const char *before = g->text;
	struct completion reply = {
		.text = reply_of(g, c), .finish_reason = STR("stop"), .model = c->model->id};

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
static inline int broken_attempts(struct game *g, const struct call *c, int64_t active_ms)
{
	int n = 0;

	while (n < 3 && chance(g, 10) &&
	       loop_may_retry(g->loop, c->no, n + 1, active_ms) == STOP_NONE)
		n++;
	return n;
}

#endif
