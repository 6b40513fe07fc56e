/* The checks with IFEval's names against the verdicts of its own evaluator, tests/data/ifeval/cases.jsonl; and what that one does not
 * have: details, places, phrases, refusals. */
#include "core/check.h"
#include "core/job.h"
#include "core/sentence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct job job;

static struct check_result run(struct arena *a, const struct json *spec, struct str text)
{
	struct check *check = arena_alloc(a, sizeof(*check));
	struct checked checked = {.scratch = a, .text = text};
	struct check_result result;
	struct err err = {""};

	if (check_read(a, spec, check, &err) != ST_OK)
		fail_msg("%s", err.text);
	check_run(a, check, &job, &checked, &result);
	return result;
}

/* @arguments: the members of a check besides its name. */
static struct json *spec_of(const char *arguments)
{
	struct buf all = BUF(10000);
	struct json *spec;

	buf_printf(&all, "{\"name\": \"c\", \"type\": %s}", arguments);
	assert_int_equal(json_read(buf_view(&all), &spec, NULL), JSON_FINE);
	buf_release(&all);
	return spec;
}

static void verdicts_are_those_of_the_evaluator(void **state)
{
	FILE *file = fopen("tests/data/ifeval/cases.jsonl", "r");
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	int n_case = 0;

	assert_non_null(file); /* run from the root of the work tree */
	for (; (n = getline(&line, &cap, file)) > 0; n_case++) {
		struct arena *a = arena_new();
		struct json *row;
		struct str text;
		bool ok = false;
		assert_int_equal(json_read((struct str){line, (size_t)n}, &row, NULL), JSON_FINE);
		assert_true(json_get_str(row, "text", &text) && json_get_bool(row, "ok", &ok));
		struct check_result r = run(a, json_get(row, "check"), text);
		if (r.ok != ok)
			fail_msg("case %d: %s", n_case + 1, line);
		if (!r.ok && !r.detail.n)
			fail_msg("case %d has no detail: %s", n_case + 1, line);
		if (r.at >= 0 && (size_t)(r.at + r.n) > text.n)
			fail_msg("case %d: its place is not in the text: %s", n_case + 1, line);
		json_free(row);
		arena_free(a);
	}
	assert_true(n_case > 500);
	free(line);
	fclose(file);
}

struct red {
	const char *arguments, *text, *detail, *place; /* place NULL: the whole text */
};

static const struct red reds[] = {
	{"\"keywords:existence\", \"keywords\": [\"a\", \"b\", \"c\"]", "A dog",
	 "missing: \"b\", \"c\"", NULL},
	{"\"keywords:forbidden_words\", \"forbidden_words\": [\"x\", \"cat\", \"kelvin\"]",
	 "ÄÖ \u212Aelvin and Cat", "found: \"cat\", \"kelvin\"", "Cat"},
	{"\"keywords:frequency\", \"keyword\": \"ö\", \"frequency\": 2, \"relation\": \"less than\"",
	 "\u212A öÖ", "2 times \"ö\", less than 2 wanted", "Ö"},
	{"\"keywords:frequency\", \"keyword\": \"x\", \"frequency\": 2, \"relation\": \"at least\"",
	 "x", "1 time \"x\", at least 2 wanted", NULL},
	{"\"keywords:letter_frequency\", \"letter\": \"q\", \"let_frequency\": 1, \"let_relation\": \"less than\"",
	 "a Q", "1 time the letter \"q\", less than 1 wanted", "Q"},
	{"\"length_constraints:number_words\", \"num_words\": 2, \"relation\": \"less than\"",
	 "one two, three", "3 words, less than 2 wanted", "two"},
	{"\"length_constraints:number_sentences\", \"num_sentences\": 3, \"relation\": \"less than\"",
	 "One. Two! \"Three?\" Four", "4 sentences, less than 3 wanted", "\"Three?\""},
	{"\"length_constraints:number_paragraphs\", \"num_paragraphs\": 1", "a\n***\nb",
	 "2 paragraphs, exactly 1 wanted", "b"},
	{"\"length_constraints:number_paragraphs\", \"num_paragraphs\": 1", "a\n***\n***\nb",
	 "an empty paragraph stands between two ***", "b"},
	{"\"detectable_content:number_placeholders\", \"num_placeholders\": 1000", "[a]",
	 "1 placeholder, at least 1,000 wanted", NULL},
	{"\"detectable_format:number_bullet_lists\", \"num_bullets\": 1", "* a\n  - b\n",
	 "2 bullet points, exactly 1 wanted", "- b"},
	{"\"detectable_format:number_highlighted_sections\", \"num_highlights\": 1", "a",
	 "0 highlighted passages, at least 1 wanted", NULL},
	{"\"detectable_format:multiple_sections\", \"num_sections\": 1, \"section_spliter\": \"Day\"",
	 "day 1", "0 sections with the heading \"Day\", at least 1 wanted", NULL},
	{"\"change_case:capital_word_frequency\", \"capital_frequency\": 1, \"capital_relation\": \"less than\"",
	 "I", "1 word in all capitals, less than 1 wanted", NULL},
	{"\"detectable_format:json_format\"", "```json\n{\"a\": 1,}\n```", "not JSON", "}"},
	{"\"detectable_format:json_format\"", "[1, 2", "not JSON", NULL},
	{"\"combination:two_responses\"", "a ****** b ****** c",
	 "3 responses parted by ******, exactly 2 wanted", NULL},
	{"\"combination:two_responses\"", "a ****** a", "the two responses are the same", NULL},
	{"\"combination:two_responses\"", "a ****** ****** b",
	 "an empty response stands between two ******", NULL},
	{"\"combination:repeat_prompt\", \"prompt_to_repeat\": \"Do it\"", "Done",
	 "does not begin with the request, word for word", NULL},
	{"\"detectable_content:postscript\", \"postscript_marker\": \"P.S.\"", "x",
	 "has no postscript that begins with \"P.S.\"", NULL},
	{"\"detectable_format:constrained_response\"", "yes",
	 "none of \"My answer is yes.\", \"My answer is no.\" and \"My answer is maybe.\" is in it",
	 NULL},
	{"\"detectable_format:title\"", "x",
	 "has no title in double angle brackets, like <<title>>", NULL},
	{"\"length_constraints:nth_paragraph_first_word\", \"num_paragraphs\": 2, \"nth_paragraph\": 2, \"first_word\": \"b\"",
	 "a\n\nc, d", "paragraph 2 begins with \"c\", not with \"b\"", "c"},
	{"\"length_constraints:nth_paragraph_first_word\", \"num_paragraphs\": 3, \"nth_paragraph\": 2, \"first_word\": \"b\"",
	 "a\n\nb", "2 paragraphs, exactly 3 wanted", NULL},
	{"\"punctuation:no_comma\"", "a b, c, d", "has a comma", ","},
	{"\"startend:end_checker\", \"end_phrase\": \"Bye.\"", "Bye", "does not end with \"Bye.\"",
	 NULL},
	{"\"startend:quotation\"", "\"a", "is not wrapped in double quotation marks", NULL},
	{"\"startend:quotation\"", "\u3000\n", "the text is empty", NULL},
};

static void a_red_check_says_what_is_wrong_and_where(void **state)
{
	for (size_t i = 0; i < sizeof(reds) / sizeof(reds[0]); i++) {
		const struct red *c = &reds[i];
		struct arena *a = arena_new();
		struct json *spec = spec_of(c->arguments);
		struct check_result r = run(a, spec, str_c(c->text));
		assert_false(r.ok);
		assert_string_equal(r.detail.p, c->detail);
		assert_int_equal(r.at,
				 c->place ? str_find(str_c(c->text), str_c(c->place), 0) : -1);
		assert_int_equal(r.n, c->place ? strlen(c->place) : 0);
		json_free(spec);
		arena_free(a);
	}
}

static const char *const refusals[][2] = {
	{"\"keywords:existence\"", "needs \"keywords\", a list of strings"},
	{"\"keywords:existence\", \"keywords\": []",
	 "key \"keywords\": must be a list of strings, not empty"},
	{"\"keywords:forbidden_words\", \"forbidden_words\": [\"a\", \"\"]",
	 "key \"forbidden_words\", item 2: must not be empty"},
	{"\"keywords:frequency\", \"frequency\": 1, \"relation\": \"at least\"",
	 "key \"keyword\": must be a string, not empty"},
	{"\"keywords:frequency\", \"frequency\": 1, \"keyword\": \"a\", \"relation\": \"at most\"",
	 "key \"relation\": must be \"at least\" or \"less than\""},
	{"\"keywords:letter_frequency\", \"letter\": \"#\", \"let_frequency\": 1, \"let_relation\": \"at least\"",
	 "key \"letter\": must be a letter, a to z"},
	{"\"keywords:letter_frequency\", \"letter\": \"ab\", \"let_frequency\": 1, \"let_relation\": \"at least\"",
	 "key \"letter\": must be a letter, a to z"},
	{"\"length_constraints:number_words\", \"relation\": \"at least\"",
	 "key \"num_words\": must be an integer, 0 to 1000000"},
	{"\"length_constraints:number_words\", \"num_words\": -1, \"relation\": \"at least\"",
	 "key \"num_words\": must be an integer, 0 to 1000000"},
	{"\"length_constraints:number_words\", \"num_words\": 1, \"num_sentences\": 1",
	 "unknown key \"num_sentences\"; the keys of type length_constraints:number_words are: "
	 "name, type, severity, hard, field, num_words, relation"},
	{"\"length_constraints:nth_paragraph_first_word\", \"num_paragraphs\": 1, \"nth_paragraph\": 2, \"first_word\": \"a\"",
	 "\"nth_paragraph\" must not be over \"num_paragraphs\""},
	{"\"length_constraints:nth_paragraph_first_word\", \"num_paragraphs\": 1, \"nth_paragraph\": 0, \"first_word\": \"a\"",
	 "key \"nth_paragraph\": must be an integer, 1 to 1000000"},
	{"\"combination:repeat_prompt\", \"prompt_to_repeat\": \" \"",
	 "key \"prompt_to_repeat\": must be a string, not empty"},
	{"\"startend:end_checker\", \"end_phrase\": null",
	 "key \"end_phrase\": must be a string, not empty"},
};

static void arguments_that_the_evaluator_would_draw_at_random_are_refused(void **state)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct arena *a = arena_new();
		struct json *spec = spec_of(refusals[i][0]);
		struct check check;
		struct err err = {""};
		assert_int_equal(check_read(a, spec, &check, &err), ST_INVALID);
		assert_true(str_starts(str_c(err.text), "check \"c\": "));
		assert_string_equal(err.text + strlen("check \"c\": "), refusals[i][1]);
		json_free(spec);
		arena_free(a);
	}
}

static const char *const phrases[][3] = {
	{"\"keywords:existence\", \"keywords\": [\"a\", \"b\"]",
	 "Must contain the keywords: \"a\", \"b\".", "次の語をすべて含めること: 「a」、「b」。"},
	{"\"keywords:forbidden_words\", \"forbidden_words\": [\"a\"]",
	 "Must not contain the words: \"a\".", "次の単語を使わないこと: 「a」。"},
	{"\"keywords:frequency\", \"keyword\": \"a\", \"frequency\": 3, \"relation\": \"at least\"",
	 "At least 3 times \"a\".", "「a」の出現回数は3以上。"},
	{"\"keywords:letter_frequency\", \"letter\": \"a\", \"let_frequency\": 1, \"let_relation\": \"less than\"",
	 "Less than 1 time the letter \"a\".", "「a」の文字の出現回数は1未満。"},
	{"\"length_constraints:number_words\", \"num_words\": 1200, \"relation\": \"at least\"",
	 "At least 1,200 words.", "単語の数は1,200以上。"},
	{"\"length_constraints:number_sentences\", \"num_sentences\": 3, \"relation\": \"less than\"",
	 "Less than 3 sentences.", "文の数は3未満。"},
	{"\"length_constraints:number_paragraphs\", \"num_paragraphs\": 3",
	 "Exactly 3 paragraphs, parted by *** alone.", "段落(***で区切る)の数はちょうど3。"},
	{"\"length_constraints:nth_paragraph_first_word\", \"num_paragraphs\": 3, \"nth_paragraph\": 2, \"first_word\": \"a\"",
	 "Exactly 3 paragraphs, parted by an empty line; paragraph 2 begins with the word \"a\".",
	 "空行で区切ったちょうど3個の段落にし、第2段落を「a」で始めること。"},
	{"\"detectable_content:number_placeholders\", \"num_placeholders\": 3",
	 "At least 3 placeholders in square brackets, like [address].",
	 "角括弧のプレースホルダー([address]など)の数は3以上。"},
	{"\"detectable_content:postscript\", \"postscript_marker\": \"P.S.\"",
	 "Add a postscript at the end that begins with \"P.S.\".",
	 "最後に「P.S.」で始まる追伸を付けること。"},
	{"\"detectable_format:number_bullet_lists\", \"num_bullets\": 1",
	 "Exactly 1 bullet point, lines that begin with \"* \".",
	 "箇条書き(「* 」で始まる行)の数はちょうど1。"},
	{"\"detectable_format:number_highlighted_sections\", \"num_highlights\": 2",
	 "At least 2 highlighted passages, like *this*.",
	 "強調した箇所(*このように*)の数は2以上。"},
	{"\"detectable_format:multiple_sections\", \"num_sections\": 2, \"section_spliter\": \"Day\"",
	 "At least 2 sections with the heading \"Day\" and its number.",
	 "「Day」と番号を見出しとする節の数は2以上。"},
	{"\"detectable_format:json_format\"",
	 "The whole text must be JSON; a ```json fence around it may stay.",
	 "全文をJSONにすること(```json のコードフェンスは可)。"},
	{"\"detectable_format:constrained_response\"",
	 "Answer with one of: \"My answer is yes.\", \"My answer is no.\", \"My answer is maybe.\"",
	 "次のいずれかで答えること: \"My answer is yes.\", \"My answer is no.\", \"My answer is maybe.\""},
	{"\"detectable_format:title\"",
	 "It needs a title in double angle brackets, like <<title>>.",
	 "二重の山括弧で囲んだ題名(<<題名>>)を付けること。"},
	{"\"combination:two_responses\"",
	 "Exactly two different responses, parted by ****** and by nothing else.",
	 "異なる二つの回答を書き、その間だけを ****** で区切ること。"},
	{"\"combination:repeat_prompt\", \"prompt_to_repeat\": \"Do it.\"",
	 "Begin by repeating this request word for word: \"Do it.\".",
	 "最初に次の依頼文を一字一句そのまま繰り返すこと: 「Do it.」。"},
	{"\"startend:end_checker\", \"end_phrase\": \"Bye.\"",
	 "End with exactly this and nothing behind it: \"Bye.\".",
	 "次の言葉で終え、その後に何も書かないこと: 「Bye.」。"},
	{"\"startend:quotation\"", "The whole text stands in double quotation marks (\").",
	 "全文を半角の二重引用符 \" で囲むこと。"},
	{"\"change_case:capital_word_frequency\", \"capital_frequency\": 2, \"capital_relation\": \"at least\"",
	 "At least 2 words in all capitals.", "すべて大文字の単語の数は2以上。"},
	{"\"punctuation:no_comma\"", "No commas.", "半角コンマ(,)を使わないこと。"},
};

static void each_type_has_a_sentence_in_both_languages(void **state)
{
	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
		struct arena *a = arena_new();
		struct json *spec = spec_of(phrases[i][0]);
		struct check check;
		assert_int_equal(check_read(a, spec, &check, NULL), ST_OK);
		for (int japanese = 0; japanese < 2; japanese++) {
			struct buf said = BUF(1000);
			check.type->phrase(check.args, &job, japanese, &said);
			assert_string_equal(said.p, phrases[i][1 + japanese]);
			buf_release(&said);
		}
		json_free(spec);
		arena_free(a);
	}
}

static void a_text_over_the_work_of_a_draft_is_undecided(void **state)
{
	struct arena *a = arena_new();
	const size_t n = CHECK_WORK_MAX / 16 + 1; /* this one costs 16 a byte */
	struct str text = {memset(arena_alloc(a, n), 'a', n), n};
	struct json *spec = spec_of("\"punctuation:no_comma\"");
	struct check_result r = run(a, spec, text);

	assert_false(r.ok);
	assert_true(str_starts(r.detail, "could not be decided"));
	json_free(spec);
	arena_free(a);
}

static void sentences_are_parts_of_the_text(void **state)
{
	static const char *const wanted[] = {"  A heading\n\nMr. Fox ran (fast).", "\"No!\"", "1.",
					     "Yes", NULL};
	struct sentences all =
		sentences_of(STR_OF("  A heading\n\nMr. Fox ran (fast). \"No!\"\n1. Yes \n"));
	struct str s;
	int n = 0;

	for (; sentence_next(&all, &s); n++) {
		assert_non_null(wanted[n]);
		assert_true(str_is(s, wanted[n]));
	}
	assert_null(wanted[n]);
	assert_false(sentence_next(&all, &s));
	all = sentences_of(STR_OF(" \n"));
	assert_false(sentence_next(&all, &s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts_are_those_of_the_evaluator),
		cmocka_unit_test(a_red_check_says_what_is_wrong_and_where),
		cmocka_unit_test(arguments_that_the_evaluator_would_draw_at_random_are_refused),
		cmocka_unit_test(each_type_has_a_sentence_in_both_languages),
		cmocka_unit_test(a_text_over_the_work_of_a_draft_is_undecided),
		cmocka_unit_test(sentences_are_parts_of_the_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
