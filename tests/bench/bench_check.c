/*
 * bench_check.c - how fast each type of check goes through a text of 256 KiB: over the texts that are known to give checks the most to do, the
 * slowest and English, in MB a second of CPU time, best of several runs; `under` what is under 10. No test: a table to be read.
 *
 *	make bench                         all
 *	build/bench/bench_check commas     what has the word in its name; each text
 *
 * A regex is what its pattern makes of it; it is shown with one that finds nothing.
 */
#include "../lib/loop_case.h"
#include "bench_text.h"

#include "core/check.h"

#include <time.h>

enum { RUNS = 3, MB_MIN = 10 };

static const char *const checks[] = {
	"\"type\":\"graphemes\",\"max\":1",
	"\"type\":\"words\",\"max\":1",
	"\"type\":\"must_include\",\"values\":[\"nowhere\"]",
	"\"type\":\"forbidden\",\"terms\":[\"nowhere\"]",
	"\"type\":\"forbidden\",\"terms\":[\"ナシ\"],\"fold_kana\":true",
	"\"type\":\"regex\",\"pattern\":\"nowhere\"",
	"\"type\":\"number\",\"pattern\":\"(nowhere)\",\"max\":1",
	"\"type\":\"register\"",
	"\"type\":\"glyphs\",\"language\":\"ja\"",
	"\"type\":\"commas\",\"max\":9",
	"\"type\":\"markdown\"",
	"\"type\":\"unlike\",\"examples\":[\"a b c\"]",
	"\"type\":\"urls\",\"hosts\":[\"a.com\"],\"mail\":true",
	"\"type\":\"leftover\"",
	"\"type\":\"json\"",
	"\"type\":\"json_schema\",\"schema\":\"{\\\"type\\\":\\\"array\\\"}\"",
	"\"type\":\"keywords:existence\",\"keywords\":[\"nowhere\"]",
	"\"type\":\"keywords:frequency\",\"keyword\":\"nowhere\",\"frequency\":1,\"relation\":\"at least\"",
	"\"type\":\"keywords:forbidden_words\",\"forbidden_words\":[\"nowhere\"]",
	"\"type\":\"keywords:letter_frequency\",\"letter\":\"a\",\"let_frequency\":1,\"let_relation\":\"at least\"",
	"\"type\":\"language:response_language\",\"language\":\"en\"",
	"\"type\":\"length_constraints:number_sentences\",\"num_sentences\":1,\"relation\":\"at least\"",
	"\"type\":\"length_constraints:number_paragraphs\",\"num_paragraphs\":2",
	"\"type\":\"length_constraints:number_words\",\"num_words\":1,\"relation\":\"at least\"",
	"\"type\":\"length_constraints:nth_paragraph_first_word\",\"num_paragraphs\":2,\"nth_paragraph\":1,\"first_"
	"word\":\"nowhere\"",
	"\"type\":\"detectable_content:number_placeholders\",\"num_placeholders\":1",
	"\"type\":\"detectable_content:postscript\",\"postscript_marker\":\"P.S.\"",
	"\"type\":\"detectable_format:number_bullet_lists\",\"num_bullets\":1",
	"\"type\":\"detectable_format:constrained_response\"",
	"\"type\":\"detectable_format:number_highlighted_sections\",\"num_highlights\":1000000",
	"\"type\":\"detectable_format:multiple_sections\",\"section_spliter\":\"Section\",\"num_sections\":1000000",
	"\"type\":\"detectable_format:json_format\"",
	"\"type\":\"detectable_format:title\"",
	"\"type\":\"combination:two_responses\"",
	"\"type\":\"combination:repeat_prompt\",\"prompt_to_repeat\":\"nowhere\"",
	"\"type\":\"startend:end_checker\",\"end_phrase\":\"nowhere\"",
	"\"type\":\"startend:quotation\"",
	"\"type\":\"change_case:capital_word_frequency\",\"capital_frequency\":1,\"capital_relation\":\"at least\"",
	"\"type\":\"change_case:english_capital\"",
	"\"type\":\"change_case:english_lowercase\"",
	"\"type\":\"punctuation:no_comma\"",
};

/* More than bench_text.h has: what single checks stumble over. */
static const struct kind more[] = {
	{"capitals", "A B "},
	{"long capitals", "WE ARE SORRY, YOUR ORDER CAME LATE. "},
	{"parted capitals", "A;B,"},
	{"accented capitals", "É Ö "},
	{"quoted capitals", "'A' \"B\" "},
	{"initials", "A.B. "},
	{"cannots", "CANNOT GONNA "},
	{"tails", "A'S B'LL "},
	{"stops", "A. b. "},
	{"marks of ends", ".!?"},
	{"brackets", "[a] {b} "},
	{"braces", "{"},
	{"stars", "*a*"},
	{"double stars", "**a** "},
	{"quotations", "「」（）。"},
	{"commas", "a,"},
	{"short lines", "a\n"},
	{"short kana lines", "か\n"},
	{"bullets", "* a\n"},
	{"paragraphs", "a\n\n***\n\n"},
	{"hosts", "a.com "},
	{"schemes", "https:a"},
	{"circles", "一〇"},
	{"one letter", "a"},
	{"foreign", "审"},
	{"full-width", "ＡＢ１２"},
	{"nested", "["},
	{"a list", "[1,\"a\"],"},
	{"titles", "<<a>>"},
};

static const struct job no_job = {.language = LANG_EN};
static const char *wanted;

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double mb_a_second(const struct check *check, struct str text)
{
	double best_s = 1e9;

	for (int i = 0; i < RUNS; i++) {
		struct arena *a = arena_new();
		struct checked checked = {
			.scratch = a, .text = text, .extra_work = (int64_t)1 << 40};
		struct check_result result;
		const double begin_s = cpu_s();
		check_run(a, check, &no_job, &checked, &result);
		const double s = cpu_s() - begin_s;
		best_s = s < best_s ? s : best_s;
		arena_free(a);
	}
	return (double)text.n / 1e6 / best_s;
}

static void bench(const char *arguments, const struct kind *kind, const struct str *text, int n)
{
	struct arena *a = arena_new();
	struct json *spec = case_json(arena_printf(a, "{\"name\":\"c\",%s}", arguments));
	struct check check;
	struct err err = {""};
	double slowest = 1e9, english = 0;
	int at = 0;

	if (check_read(a, spec, &check, &err) != ST_OK)
		case_die("%s", err.text);
	json_free(spec);
	for (int i = 0; i < n; i++) {
		const double speed = mb_a_second(&check, text[i]);
		if (wanted)
			printf("  %-20s %8.1f MB/s\n", kind[i].name, speed);
		english = i ? english : speed;
		at = speed < slowest ? i : at;
		slowest = speed < slowest ? speed : slowest;
	}
	printf("%-48s %8.1f MB/s English %8.1f MB/s %-16s %s\n", check.type->name, english, slowest,
	       kind[at].name, slowest < MB_MIN ? "under" : "");
	arena_free(a);
}

int main(int argc, char **argv)
{
	enum { N_MORE = sizeof(more) / sizeof(*more), N = N_KINDS + N_MORE };
	struct arena *a = arena_new();
	struct kind kind[N];
	struct str text[N];

	wanted = argc > 1 ? argv[1] : NULL;
	for (int i = 0; i < N; i++) {
		kind[i] = i < N_KINDS ? kinds[i] : more[i - N_KINDS];
		text[i] = text_of(a, kind[i].unit, 1, REPLY_BYTES);
	}
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++)
		if (!wanted || strstr(checks[i], wanted))
			bench(checks[i], kind, text, N);
	arena_free(a);
	return 0;
}
