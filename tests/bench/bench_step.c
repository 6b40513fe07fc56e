/*
 * bench_step.c - CPU time of what the worker does between two turns of its loop, at the caps of a job and of a reply, over the
 * worst inputs known. No test: a table to be read, best of several runs each. The yardstick is SHA-256 of 1 MiB in the same
 * run: two machines, or two versions on a noisy one, are compared by that column. Runs in the root of the repository.
 *
 *	make bench              all
 *	build/bench_step diff   those whose name has the word
 */
#include "../lib/loop_case.h"

#include "base/text.h"
#include "core/event.h"
#include "core/loop.h"
#include "core/similarity.h"

#include <time.h>

enum { JOB_BYTES = 1 << 20, REPLY_BYTES = 256 << 10, STEP_MAX_MS = 20, RUNS = 5, TERMS = 300 };

static const char *wanted;
static double yardstick_ms;

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

static void bench(const char *what, const char *with, operation *run, const void *args)
{
	char name[100];

	snprintf(name, sizeof(name), "%s, %s", what, with);
	if (wanted && !strstr(name, wanted))
		return;
	double ms = best_ms(run, args);
	printf("%-44s %8.2f ms %7.1f yardsticks%s\n", name, ms, ms / yardstick_ms,
	       ms > STEP_MAX_MS ? "  OVER 20 ms" : "");
	fflush(stdout);
}

/* ---- texts ---- */

static const struct kind {
	const char *name;
	const char *unit; /* varied by a number behind each hundredth */
} kinds[] = {
	{"English", "Dear customer, we are sorry that your order came late. "},
	{"Japanese", "お客様、このたびはご注文の品の到着が遅れまして誠に申し訳ございません。"},
	{"half-width kana", "ｶﾞｷﾞｸﾞﾊﾟﾋﾟｱｲｳ"},
	{"accents", "éàüñÉÀÜÑøß"},
	{"decomposed", "e\xCC\x81u\xCC\x88n\xCC\x83"},
	{"marks", "\xCC\x81\xCC\xA3\xCC\x88\xCC\xB1"},
	{"Hangul", "안녕하세요 고객님 "},
	{"emoji", "😀👨‍👩‍👧👍🏽"},
	{"Thai", "สวัสดีครับลูกค้า"},
	{"expanding", "\xEF\xB7\xBA"},
};
enum { N_KINDS = sizeof(kinds) / sizeof(*kinds) };

static struct str text_of(struct arena *a, const char *unit, int seed, size_t n)
{
	struct buf all = BUF(n + 200);

	for (int i = seed; all.n < n; i++) {
		buf_puts(&all, unit);
		if (i % 100 == 0)
			buf_printf(&all, "%d", i);
	}
	struct str text = arena_str(a, str_cut(buf_view(&all), n));
	buf_release(&all);
	return text;
}

static struct str plain(struct arena *a, const char *before, const char *unit, const char *after,
			size_t n)
{
	struct buf all = BUF(n + 200);

	buf_puts(&all, before);
	while (all.n + strlen(unit) + strlen(after) <= n)
		buf_puts(&all, unit);
	buf_puts(&all, after);
	struct str text = arena_str(a, buf_view(&all));
	buf_release(&all);
	return text;
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

	changed_permille(a, two[0], two[1]);
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
int main(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct str mib = text_of(a, "x", 1, JOB_BYTES);

	wanted = argc > 1 ? argv[1] : NULL;
	yardstick_ms = best_ms(op_sha, &mib);
	printf("yardstick: %.2f ms\n", yardstick_ms);
	bench_json(a);
	bench_texts(a);
	arena_free(a);
	return 0;
}
