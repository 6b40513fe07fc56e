/*
 * bench_step.c - CPU time of what the worker does in one turn of its loop, at the caps of a job and of a reply, over the worst inputs
 * known. No test: a table to be read, best of several runs each, `over` what is over 20 ms. The yardstick is SHA-256 of 1 MiB in the same
 * run: two machines, or two versions on a noisy one, are compared by that column. Runs in the root of the repository.
 *
 *	make bench                    all
 *	build/bench/bench_step diff   what has the word in its name
 *
 * A reply takes up to three turns (app/run.c): it is parsed; a step is made of it; the events of a job that it ended are written.
 */
#include "../lib/loop_case.h"
#include "bench_text.h"

#include "base/text.h"
#include "core/event.h"
#include "core/loop.h"
#include "core/similarity.h"

#include <time.h>

enum { STEP_MAX_MS = 20, RUNS = 5, TERMS = 300 };

static const char *wanted;
static double yardstick_ms, worst_ms;
static char worst[100];

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* One operation: what is in @a is freed between runs, outside of the measured time. */
typedef void operation(struct arena *a, const void *args);

static double best_ms(operation *run, const void *args)
{
	double best = 1e9;

	for (int i = 0; i < RUNS; i++) {
		struct arena *a = arena_new();
		double begin_ms = cpu_ms();
		run(a, args);
		double ms = cpu_ms() - begin_ms;
		best = ms < best ? ms : best;
		arena_free(a);
	}
	return best;
}

static void show(const char *what, const char *with, double ms)
{
	char name[sizeof(worst)];

	snprintf(name, sizeof(name), "%s, %s", what, with);
	if (wanted && !strstr(name, wanted))
		return;
	printf("%-44s %8.2f ms %7.1f yardsticks  %s\n", name, ms, ms / yardstick_ms,
	       ms > STEP_MAX_MS ? "over" : "ok");
	fflush(stdout);
	if (ms > worst_ms) {
		worst_ms = ms;
		memcpy(worst, name, sizeof(worst));
	}
}

static void bench(const char *what, const char *with, operation *run, const void *args)
{
	if (!wanted || strstr(what, wanted))
		show(what, with, best_ms(run, args));
}

/* ---- JSON ---- */

static void op_json(struct arena *a, const void *args)
{
	struct json *doc = NULL;
	struct err err;

	if (json_read_sent(*(const struct str *)args, &doc, &err) == JSON_FINE)
		json_free(doc);
}

static void bench_json(struct arena *a)
{
	static const struct {
		const char *name, *before, *unit, *after;
	} forms[] = {
		{"English", "[\"", "Dear customer, we are sorry. ", "\"]"},
		{"Japanese", "[\"", "申し訳ございません。", "\"]"},
		{"line ends", "[\"", "\\n", "\"]"},
		{"\\u0301", "[\"", "\\u0301", "\"]"},
		{"surrogates", "[\"", "\\ud83d\\ude00", "\"]"},
		{"integers", "[1", ",1", "]"},
		{"doubles", "[1", ",1.5", "]"},
		{"strings", "[1", ",\"\"", "]"},
		{"arrays", "[1", ",[]", "]"},
		{"objects", "[1", ",{}", "]"},
		{"members", "[1", ",{\"a\":1}", "]"},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct str s = plain(a, forms[i].before, forms[i].unit, forms[i].after, JOB_BYTES);
		bench("json 1 MiB", forms[i].name, op_json, &s);
	}
	struct buf keys = BUF(JOB_BYTES + 100);
	buf_puts(&keys, "{\"k\":1");
	for (int i = 0; keys.n < JOB_BYTES; i++)
		buf_printf(&keys, ",\"%x\":1", i);
	buf_puts(&keys, "}");
	struct str s = buf_view(&keys);
	bench("json 1 MiB", "tiny keys", op_json, &s);
	buf_release(&keys);
}

/* ---- texts ---- */

static void op_fold(struct arena *a, const void *args)
{
	text_fold(a, *(const struct str *)args);
}

static void op_squeeze(struct arena *a, const void *args)
{
	text_squeeze(a, *(const struct str *)args);
}

static void op_graphemes(struct arena *a, const void *args)
{
	text_graphemes(*(const struct str *)args);
}

static void op_words(struct arena *a, const void *args)
{
	text_words(*(const struct str *)args);
}

static void op_diff(struct arena *a, const void *args)
{
	const struct str *two = args;
	int n;
	const struct diff *run = diff_words(a, two[0], two[1], &n);

	diff_permille(run, n);
}

static void op_similarity(struct arena *a, const void *args)
{
	const struct str *two = args;

	similarity_permille(two[0], two[1], 3);
}

static void op_sha(struct arena *a, const void *args)
{
	uint8_t out[SHA_BYTES];

	sha256(*(const struct str *)args, out);
}

static void bench_texts(struct arena *a)
{
	for (int i = 0; i < N_KINDS; i++) {
		struct str two[] = {text_of(a, kinds[i].unit, 1, REPLY_BYTES),
				    text_of(a, kinds[i].unit, 51, REPLY_BYTES)};
		const char *name = kinds[i].name;
		bench("fold 256 KiB", name, op_fold, two);
		bench("squeeze 256 KiB", name, op_squeeze, two);
		bench("graphemes 256 KiB", name, op_graphemes, two);
		bench("words 256 KiB", name, op_words, two);
		bench("diff 256 KiB", name, op_diff, two);
		bench("similarity 256 KiB", name, op_similarity, two);
	}
}
/* ---- checks ---- */

static const struct job no_job;

struct check_args {
	const struct check *check;
	int n;
	struct str text;
};

static void op_checks(struct arena *a, const void *args)
{
	const struct check_args *c = args;
	struct checked checked = {.scratch = a, .text = c->text};
	struct check_result result;

	for (int i = 0; i < c->n; i++)
		check_run(a, &c->check[i], &no_job, &checked, &result);
}

static void bench_check(struct arena *a, const char *what, int n, const char *arguments,
			struct str text)
{
	struct check *check = arena_array(a, struct check, n);
	struct err err = {""};

	for (int i = 0; i < n; i++) {
		struct json *spec = case_json(arena_printf(a, "{\"name\":\"c\",%s}", arguments));
		if (check_read(a, spec, &check[i], &err) != ST_OK)
			case_die("%s", err.text);
		json_free(spec);
	}
	bench(what, "256 KiB", op_checks, &(struct check_args){check, n, text});
}

static struct str terms(struct arena *a, int n)
{
	struct buf all = BUF(JOB_BYTES);

	for (int i = 0; i < n; i++)
		buf_printf(&all, "%s\"customer %d\"", i ? "," : "", 90000 + i);
	struct str text =
		arena_printf(a, "\"type\":\"forbidden\",\"terms\":[%.*s]", STR_ARG(buf_view(&all)));
	buf_release(&all);
	return text;
}

/* Plain texts, and for each check the one that gives it the most to do. */
static const struct {
	const char *name, *arguments, *unit;
} hard[] = {
	{"register", "\"type\":\"register\"", "料金を改定いたします。ご確認ください。"},
	{"register, quotations", "\"type\":\"register\"", "「」（）。"},
	{"glyphs", "\"type\":\"glyphs\",\"language\":\"ja\"", "料金を改定いたします。"},
	{"glyphs, all foreign", "\"type\":\"glyphs\"", "审"},
	{"commas", "\"type\":\"commas\",\"max\":9", "料金、改定。"},
	{"commas, lines", "\"type\":\"commas\",\"max\":9", "a\n"},
	{"urls, English", "\"type\":\"urls\"", "Dear customer, we are sorry. "},
	{"urls, hosts", "\"type\":\"urls\",\"hosts\":[\"a.com\",\"b.com\"]", "a.com "},
	{"urls, schemes", "\"type\":\"urls\",\"hosts\":[\"a\"]", "https:a"},
	{"urls, one path", "\"type\":\"urls\",\"hosts\":[\"a\"]", "https://a/"},
	{"urls, user names", "\"type\":\"urls\",\"hosts\":[\"a\"]", "https:a;"},
	{"leftover, English", "\"type\":\"leftover\"", "Dear customer, we are sorry. "},
	{"leftover, braces", "\"type\":\"leftover\"", "{"},
	{"leftover, circles", "\"type\":\"leftover\"", "一〇"},
	{"unlike", "\"type\":\"unlike\",\"examples\":[\"a b c\"]", "Dear customer, we are sorry. "},
	{"number", "\"type\":\"number\",\"pattern\":\"(1)\",\"max\":1", "1"},
	{"markdown, English", "\"type\":\"markdown\"", "Dear customer, we are sorry. "},
	{"markdown, Japanese", "\"type\":\"markdown\"", "料金を改定いたします。\n"},
};

static void bench_checks(struct arena *a)
{
	struct str english = text_of(a, kinds[0].unit, 1, REPLY_BYTES);
	struct str japanese = text_of(a, kinds[1].unit, 1, REPLY_BYTES);
	struct str same = text_of(a, "a", 1, REPLY_BYTES);

	bench_check(a, "10 checks of a term", 10, terms(a, 1).p, japanese);
	bench_check(a, "300 terms", 1, terms(a, TERMS).p, english);
	bench_check(a, "a length", 1, "\"type\":\"graphemes\",\"max\":1", japanese);
	bench_check(a, "a number of words", 1, "\"type\":\"words\",\"max\":1", japanese);
	bench_check(a, "a language", 1,
		    "\"type\":\"language:response_language\",\"language\":\"en\"", japanese);
	for (size_t i = 0; i < sizeof(hard) / sizeof(hard[0]); i++)
		bench_check(a, hard[i].name, 1, hard[i].arguments,
			    text_of(a, hard[i].unit, 1, REPLY_BYTES));
	bench_check(a, "a regex at its limit", 1, "\"type\":\"regex\",\"pattern\":\"(a+)+[bc]\"",
		    same);
	bench_check(a, "a regex of long runs", 1, "\"type\":\"regex\",\"pattern\":\"[^xy]*+[xy]\"",
		    same);
}

/* ---- whole steps ---- */

/* From the bytes of a message to the first call's prompt and the rows to be stored. */
static void op_intake(struct arena *a, const void *args)
{
	static const uint8_t head[SHA_BYTES];
	const struct profile *profile = case_profile(a, case_file(a, "tests/data/profile.json"));
	const struct fact started = {.type = FACT_started, .call_no = -1};
	struct job *job = case_job(a, profile, *(const struct str *)args);
	struct loop *loop = loop_new(a, job, profile);
	struct loop_output out;
	struct step_rows rows;
	uint8_t sha[SHA_BYTES];

	sha256(*(const struct str *)args, sha);
	if (loop_step(loop, &started, &out) != ST_OK)
		case_die("not started");
	step_rows(a, job, profile, loop_history(loop), &started, &out, 1, 1, 0, head, &rows);
}

static void bench_intake(struct arena *a)
{
	static const struct {
		const char *name, *unit;
	} forms[] = {
		{"English", "Dear customer, we are sorry. "},
		{"Japanese", "申し訳ございません。"},
		{"marks", "\xCC\x81\xCC\xA3"},
		{"\\u0301", "\\u0301"},
		{"line ends", "\\n"},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct str s = plain(a, "{\"id\":\"a\",\"profile\":\"letter\",\"task\":\"",
				     forms[i].unit, "\"}", JOB_BYTES);
		bench("intake 1 MiB", forms[i].name, op_intake, &s);
	}
}

/* ---- a job at its cap, replies at theirs ---- */

enum { GENERATED, JUDGED, REFINED, JUDGED_AGAIN, REFINED_AGAIN, N_REPLIES };
static const char *const reply_name[] = {"generated", "judged", "refined", "judged again",
					 "refined in vain"};

struct turns { /* CPU time of each, the best of all runs */
	double parse[N_REPLIES], step[N_REPLIES], end, post;
};

static void keep_best(double *best, double begin_ms)
{
	const double ms = cpu_ms() - begin_ms;

	if (*best == 0 || ms < *best)
		*best = ms;
}

static struct str reply_body(struct arena *a, struct str text)
{
	return case_completion(a, &(struct completion){.text = text,
						       .finish_reason = STR("stop"),
						       .model = STR("writer-1"),
						       .usage = {10, 0, 10}})
		.body;
}

static struct str half_of(struct str text)
{
	return str_cut(text, text.n / 2 - 300);
}

/* An issue about the first half of @text or, where that is absent, about all. */
static struct str issue_body(struct arena *a, struct str text, struct str suggestion,
			     const char *category)
{
	struct buf critique = BUF(2 * REPLY_BYTES);
	struct json_out o = {&critique, false};

	json_open(&o, NULL, '{');
	json_open(&o, "issues", '[');
	json_open(&o, NULL, '{');
	json_put_str(&o, "category", str_c(category));
	json_put_int(&o, "severity", 4);
	json_put_str(&o, "snippet", text.p ? half_of(text) : STR_OF(""));
	json_put_str(&o, "suggestion", half_of(suggestion));
	json_close(&o, '}');
	json_close(&o, ']');
	json_put_int(&o, "score", 1);
	json_put_str(&o, "verdict", STR_OF("fail"));
	json_close(&o, '}');
	struct str body = reply_body(a, buf_view(&critique));
	buf_release(&critique);
	return body;
}

static const struct call *open_call(const struct loop *loop)
{
	const struct call *open[LOOP_CALLS];

	if (loop_open(loop, open) != 1)
		case_die("no call is open");
	return open[0];
}

static void post(const struct loop *loop, struct turns *t)
{
	struct prompt p = PROMPT;
	struct buf body = BUF(REQUEST_BYTES_MAX);
	const struct call *c = open_call(loop);
	double begin_ms = cpu_ms();

	loop_prompt(loop, c, &p);
	c->model->wire->request(c->model, &p, 100, &body);
	keep_best(&t->post, begin_ms);
	prompt_release(&p);
	buf_release(&body);
}

static void end(struct arena *a, const struct job *job, const struct profile *profile,
		const struct loop *loop, const struct loop_output *out,
		const struct outcome_row *outcome, struct turns *t)
{
	const struct history *h = loop_history(loop);
	const struct ending ending = {.job = job,
				      .profile = profile,
				      .history = h,
				      .outcome = outcome,
				      .best = &h->draft[out->finish.draft_no]};
	double begin_ms = cpu_ms();
	int n;

	event_rows(a, &ending, STR_OF("draftmill."), &n);
	keep_best(&t->end, begin_ms);
}

static void play(const struct profile *profile, const struct job *job,
		 const struct str body[N_REPLIES], struct turns *t)
{
	static const uint8_t head[SHA_BYTES];
	struct arena *a = arena_new();
	struct loop *loop = loop_new(a, job, profile);
	struct loop_output out;
	struct step_rows rows;

	if (loop_step(loop, &(struct fact){.type = FACT_started, .call_no = -1}, &out) != ST_OK)
		case_die("not started");
	for (int i = 0; i < N_REPLIES; i++) {
		const struct call *c = open_call(loop);
		struct fact f = {.type = FACT_replied,
				 .http = {200, STR(""), body[i], true},
				 .call_no = c->no};
		double begin_ms = cpu_ms();
		c->model->wire->reply(&f.http, 0, a, &f.reply);
		keep_best(&t->parse[i], begin_ms);
		begin_ms = cpu_ms();
		if (loop_step(loop, &f, &out) != ST_OK)
			case_die("no step");
		step_rows(a, job, profile, loop_history(loop), &f, &out, 1, 1, 0, head, &rows);
		keep_best(&t->step[i], begin_ms);
		if (out.finished != (i == N_REPLIES - 1))
			case_die("%s: %.*s", reply_name[i], STR_ARG(out.action));
		if (i == JUDGED)
			post(loop, t);
	}
	end(a, job, profile, loop, &out, rows.outcome, t);
	arena_free(a);
}

/* Checks that take all the work that there is, the folding of the text among it. */
#define PATCH                                                                                        \
	"{\"limits\":{\"tokens\":1000000000,\"micro_usd\":1000000000,\"iterations\":3},\"checks\":[" \
	"{\"name\":\"a\",\"type\":\"forbidden\",\"terms\":[\"guarantee\"]},"                         \
	"{\"name\":\"b\",\"type\":\"regex\",\"pattern\":\"[^\\u0001\\u0002]*+[\\u0001\\u0002]\"}]}"

static struct str quoted(struct arena *a, struct str text)
{
	struct buf json = BUF(6 * text.n + 100);
	struct json_out o = {&json, false};

	json_put_str(&o, NULL, text);
	struct str copy = arena_str(a, buf_view(&json));
	buf_release(&json);
	return copy;
}

/* How many bytes of @unit make @n bytes of JSON. */
static size_t unquoted_bytes(struct arena *a, const char *unit, size_t n)
{
	return n * strlen(unit) / (quoted(a, str_c(unit)).n - 2);
}

static struct str job_json(struct arena *a, const char *unit, size_t n)
{
	struct str task = plain(a, "", unit, "", unquoted_bytes(a, unit, n - 100));

	return arena_printf(a, "{\"id\":\"a\",\"profile\":\"letter\",\"task\":%s}",
			    quoted(a, task).p);
}

/* @text, its first half replaced by that of @other. */
static struct str with_half_of(struct arena *a, struct str text, struct str other)
{
	const size_t n = half_of(text).n;

	return arena_printf(a, "so: %.*s%.*s", STR_ARG(str_cut(other, n)),
			    STR_ARG(str_sub(text, n, text.n)));
}

/* @unit: of the job's task. @text: two drafts, and what the second critique says. */
static void bench_loop(struct arena *a, const char *name, const char *unit,
		       const struct str text[3], size_t job_bytes, bool whole)
{
	const struct profile *profile = case_profile(
		a, case_patch(a, case_file(a, "tests/data/profile.json"), STR_OF(PATCH)));
	const struct str task = job_json(a, unit, job_bytes);
	const struct str none = {NULL, 0};
	const struct str revision =
		whole ? arena_printf(a, "so: %s ok", text[0].p) : with_half_of(a, text[0], text[1]);
	const struct str body[] = {reply_body(a, text[0]),
				   issue_body(a, whole ? none : text[0], text[0], "tone"),
				   reply_body(a, revision), issue_body(a, none, text[2], "fact"),
				   reply_body(a, revision)};
	struct turns t = {0};

	const struct job *job = case_job(a, profile, task);
	for (int run = 0; run < RUNS; run++)
		play(profile, job, body, &t);
	for (int i = 0; i < N_REPLIES; i++) {
		char parsed[40];
		snprintf(parsed, sizeof(parsed), "%s: parsed", reply_name[i]);
		show(parsed, name, t.parse[i]);
		show(reply_name[i], name, t.step[i]);
	}
	show("ended", name, t.end);
	show("a call posted", name, t.post);
}

/* Texts that differ all over; then what the diff has the most work with: as many words and as many lines as it compares. */
static void bench_drafts(struct arena *a)
{
	const char *const english = kinds[0].unit;

	for (int i = 0; i < N_KINDS; i++) {
		const char *unit = kinds[i].unit, *other = kinds[(i + 1) % N_KINDS].unit;
		const size_t n = unquoted_bytes(a, unit, REPLY_BYTES - 500),
			     n_other = unquoted_bytes(a, other, REPLY_BYTES - 500);
		const struct str text[] = {text_of(a, unit, 1, n), text_of(a, unit, 51, n),
					   text_of(a, other, 1, n_other)};
		bench_loop(a, kinds[i].name, unit, text, JOB_BYTES, false);
		bench_loop(a, arena_printf(a, "all of %s", kinds[i].name).p, unit, text, JOB_BYTES,
			   true);
		if (i == 0) /* an event that its texts just fit */
			bench_loop(a, "English, small job", unit, text, 1000, true);
	}
	const struct str other = text_of(a, kinds[1].unit, 1, REPLY_BYTES - 500);
	const struct str words[] = {tokens(a, 1, 4000, 32, ' '), tokens(a, 2, 4000, 32, ' '),
				    other},
			 lines[] = {tokens(a, 1, 4000, 65, '\n'), tokens(a, 2, 4000, 65, '\n'),
				    other};
	bench_loop(a, "long words", english, words, JOB_BYTES, false);
	bench_loop(a, "lines", english, lines, JOB_BYTES, false);
}

int main(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct str mib = text_of(a, "x", 1, JOB_BYTES);

	wanted = argc > 1 ? argv[1] : NULL;
	yardstick_ms = best_ms(op_sha, &mib);
	printf("yardstick: %.2f ms\n", yardstick_ms);
	bench_drafts(a);
	bench_intake(a);
	bench_checks(a);
	bench_json(a);
	bench_texts(a);
	printf("worst: %s, %.2f of %d ms\n", worst, worst_ms, STEP_MAX_MS);
	arena_free(a);
	return 0;
}
