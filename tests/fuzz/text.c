/*
 * text.c - checks, diffs and foldings of random Unicode: places in range and between characters, nothing lost.
 */
#include "../lib/fuzz.h"
#include "../lib/loop_case.h"

#include "core/check.h"
#include "core/similarity.h"
#include "core/span.h"

/* Whether byte @at of @s begins a character or ends the text. */
static bool is_border(struct str s, int64_t at)
{
	return at >= 0 && (size_t)at <= s.n && ((size_t)at == s.n || (s.p[at] & 0xC0) != 0x80);
}

/* A text and another that has much of it. */
static struct str relative(struct fuzz *f, struct str text)
{
	struct str s = text;

	for (int i = fuzz_draw(f, 4); i > 0; i--) {
		int64_t at = fuzz_draw(f, (int)s.n + 1), to = at + fuzz_draw(f, 12);
		while (!is_border(s, at))
			at--;
		while (to < (int64_t)s.n && !is_border(s, to))
			to++;
		s = fuzz_splice(f, s, (size_t)at, (size_t)(to - at), fuzz_unicode(f, 6));
	}
	return s;
}

/* ---- checks ---- */

static struct check any_check(struct fuzz *f, struct str text)
{
	static const char *const specs[] = {
		"\"graphemes\",\"min\":3,\"max\":40",
		"\"words\",\"max\":12",
		"\"must_include\",\"values\":[\"%\",\"42\"],\"variables\":[\"v\",\"none\"]",
		"\"forbidden\",\"terms\":[\"%\",\"a\",\"é\"]",
		"\"regex\",\"pattern\":\"[^a-z]+.\",\"match\":false",
		"\"regex\",\"pattern\":\"(?i)\\\\X\\\\b|\\\\p{L}{2,}$\",\"match\":false",
		"\"json\"",
		"\"language:response_language\",\"language\":\"en\"",
		"\"change_case:english_capital\"",
		"\"forbidden\",\"terms\":[\"%\",\"か\"],\"fold_kana\":true",
		"\"number\",\"pattern\":\"(.)\",\"max\":3",
		"\"register\"",
		"\"register\",\"style\":\"plain\"",
		"\"glyphs\",\"language\":\"ja\"",
		"\"glyphs\"",
		"\"commas\",\"max\":0",
		"\"markdown\"",
		"\"unlike\",\"examples\":[\"%\",\"a\"],\"max_permille\":300",
		"\"urls\",\"mail\":true",
		"\"leftover\"",
	};
	const char *spec = FUZZ_PICK(f, specs);
	int64_t at = fuzz_draw(f, (int)text.n + 1), hole = str_find(str_c(spec), STR_OF("%"), 0);
	struct buf term = BUF(FUZZ_BYTES_MAX);
	struct json_out o = {.buf = &term};
	struct check check;
	struct err err = {""};

	while (!is_border(text, at))
		at--;
	struct str piece = str_cut(str_sub(text, (size_t)at, text.n), (size_t)fuzz_draw(f, 20));
	json_put_str(&o, NULL, piece);
	struct str inside = str_sub(fuzz_text_of(f, &term), 1, SIZE_MAX);
	struct str json = str_c(spec);
	if (hole >= 0)
		json = fuzz_splice(f, json, (size_t)hole, 1, str_sub(inside, 0, inside.n - 1));
	struct json *doc =
		case_json(arena_printf(f->a, "{\"name\":\"c\",\"type\":%.*s}", STR_ARG(json)));
	if (check_read(f->a, doc, &check, &err) != ST_OK) { /* a term of nothing visible */
		FUZZ_TRUE(f, strstr(err.text, "must have visible characters"));
		check.type = NULL;
	}
	json_free(doc);
	return check;
}

/* Of what checks look for. */
static struct str pieces(struct fuzz *f, int max)
{
	static const char *const piece[] = {
		"https:", "//",	   "evil.com", "@",   "www.", "](", "[",    "]",    "(",
		"**",	  "__",	   "`",	       "```", "~~~",  "\n", "\n\n", "- ",   "> ",
		"# ",	  "### ",  "|",	       "|-|", "{{",   "}}", "<",    ">",    "%",
		"NAME",	  "your ", "XX",       "〇",  "【",   "】", "様",   "です", "した",
		"る",	  "か",	   "。",       "「",  "」",   "1",  ",",    ".",    "-",
		"\\",	  " ",	   "a",	       "、",  "。a",  "１", "审",   "한",   "\xE2\x80\x8B",
	};
	struct buf b = BUF(FUZZ_BYTES_MAX);

	for (int n = fuzz_draw(f, max + 1); n > 0; n--)
		buf_puts(&b, FUZZ_PICK(f, piece));
	return fuzz_text_of(f, &b);
}

static void a_check_says_where_in_whole_characters(struct fuzz *f)
{
	struct str text = fuzz_chance(f, 50) ? fuzz_unicode(f, 60) : pieces(f, 60);
	struct variable variable = {STR("v"), relative(f, text)};
	struct job job = {.variable = &variable, .n_variable = 1};
	struct check check = any_check(f, text);
	struct buf phrase = BUF(FUZZ_BYTES_MAX);
	struct check_result r;

	f->input = text;
	if (!check.type)
		return;
	struct checked checked = {.scratch = f->a, .text = text};
	check_run(f->a, &check, &job, &checked, &r);
	FUZZ_TRUE(f, r.ok ? !r.detail.p : r.detail.n > 0);
	FUZZ_TRUE(f, r.detail.n <= CHECK_DETAIL_BYTES_MAX && text_is_utf8(r.detail));
	FUZZ_TRUE(f, r.at >= -1 && r.n >= 0);
	FUZZ_TRUE(f, r.at == -1 || (is_border(text, r.at) && is_border(text, r.at + r.n)));
	check.type->phrase(check.args, &job, fuzz_chance(f, 50), &phrase);
	FUZZ_TRUE(f, phrase.n > 0 && text_is_utf8(buf_view(&phrase)));
	buf_release(&phrase);
}

/* A forbidden term that is there is found as it stands, and its place holds it. */
static void a_forbidden_term_is_found_in_its_place(struct fuzz *f)
{
	static const struct str terms[] = {STR("絶対"), STR("ﬁne"), STR("№ 5"), STR("İx"),
					   STR("ガス")};
	struct str term = FUZZ_PICK(f, terms), space = STR(" ");
	struct str text = fuzz_splice(f, fuzz_unicode(f, 20), SIZE_MAX, 0, space);
	struct check check;
	struct check_result r;
	struct err err = {""};
	struct job job = {0};

	text = fuzz_splice(f, text, text.n, 0, term);
	text = fuzz_splice(f, text, text.n, 0, space);
	text = fuzz_splice(f, text, text.n, 0, fuzz_unicode(f, 20));
	f->input = text;
	struct json *doc = case_json(
		arena_printf(f->a, "{\"name\":\"c\",\"type\":\"forbidden\",\"terms\":[\"%.*s\"]}",
			     STR_ARG(term)));
	FUZZ_TRUE(f, check_read(f->a, doc, &check, &err) == ST_OK);
	json_free(doc);
	struct checked checked = {.scratch = f->a, .text = text};
	check_run(f->a, &check, &job, &checked, &r);
	FUZZ_TRUE(f, !r.ok);
	if (r.at < 0)
		return;
	struct str there = text_fold(f->a, str_sub(text, (size_t)r.at, (size_t)r.n));
	FUZZ_TRUE(f, str_find(there, text_fold(f->a, term), 0) >= 0);
}

static struct str few_letters(struct fuzz *f, int n)
{
	struct buf b = BUF(FUZZ_BYTES_MAX);

	for (; n > 0; n--)
		buf_putc(&b, "11-"[fuzz_draw(f, 3)]);
	return fuzz_text_of(f, &b);
}

static bool is_digit_at(struct str s, size_t at)
{
	return at < s.n && s.p[at] == '1';
}

/* A number stands somewhere with no digit more on either side: found out by looking at each place. */
static void a_number_is_met_where_it_stands_alone(struct fuzz *f)
{
	struct str text = few_letters(f, fuzz_draw(f, 40)),
		   term = few_letters(f, 1 + fuzz_draw(f, 8));
	struct check check;
	struct check_result r;
	struct err err;
	struct job job = {0};
	bool there = false;

	f->input = text;
	for (size_t at = 0; at + term.n <= text.n; at++)
		there |= str_eq(str_sub(text, at, term.n), term) &&
			 !(at > 0 && is_digit_at(term, 0) && is_digit_at(text, at - 1)) &&
			 !(is_digit_at(term, term.n - 1) && is_digit_at(text, at + term.n));
	struct json *doc = case_json(arena_printf(
		f->a, "{\"name\":\"c\",\"type\":\"must_include\",\"values\":[\"%s\"]}", term.p));
	FUZZ_TRUE(f, check_read(f->a, doc, &check, &err) == ST_OK);
	json_free(doc);
	struct checked checked = {.scratch = f->a, .text = text};
	check_run(f->a, &check, &job, &checked, &r);
	FUZZ_TRUE(f, r.ok == there);
}

/* ---- foldings ---- */

static void folding_twice_is_folding_once(struct fuzz *f)
{
	struct str text = fuzz_unicode(f, 60);
	struct str folded = text_fold(f->a, text), squeezed = text_squeeze(f->a, text);

	f->input = text;
	FUZZ_TRUE(f, text_is_utf8(folded) && str_eq(text_fold(f->a, folded), folded));
	FUZZ_TRUE(f, text_is_utf8(squeezed) && str_eq(text_squeeze(f->a, squeezed), squeezed));
	FUZZ_TRUE(f, text_is_utf8(text_bare(f->a, text)));
	FUZZ_TRUE(f, text_graphemes(text) <= (int64_t)text.n &&
			     text_words(text) <= text_graphemes(text));
}

/* ---- diffs ---- */

static struct str joined(struct fuzz *f, const struct diff *run, int n, enum diff_kind left_out)
{
	struct buf b = BUF(FUZZ_BYTES_MAX);

	for (int i = 0; i < n; i++) {
		FUZZ_TRUE(f, run[i].text.n > 0 && text_is_utf8(run[i].text));
		if (run[i].kind != left_out)
			buf_str(&b, run[i].text);
	}
	return fuzz_text_of(f, &b);
}

static void a_diff_holds_both_texts(struct fuzz *f)
{
	struct str before = fuzz_unicode(f, fuzz_chance(f, 2) ? 3000 : 60);
	struct str after = fuzz_chance(f, 90) ? relative(f, before) : fuzz_unicode(f, 60);
	int64_t from = fuzz_draw(f, (int)before.n + 1),
		n = fuzz_draw(f, (int)before.n + 1 - (int)from);
	int n_run;

	f->input = before;
	const struct diff *run = diff_words(f->a, before, after, &n_run);
	FUZZ_TRUE(f, str_eq(joined(f, run, n_run, DIFF_PUT), before));
	FUZZ_TRUE(f, str_eq(joined(f, run, n_run, DIFF_CUT), after));
	int64_t permille = diff_permille(run, n_run);
	FUZZ_TRUE(f, permille >= 0 && permille <= 1000 && (permille == 0) == str_eq(before, after));
	span_map(run, n_run, &from, &n);
	FUZZ_TRUE(f, from >= 0 && n >= 0 && from + n <= (int64_t)after.n);
}

static void likeness_has_bounds_and_no_order(struct fuzz *f)
{
	struct str x = fuzz_unicode(f, 40),
		   y = fuzz_chance(f, 50) ? relative(f, x) : fuzz_unicode(f, 40);
	int n = 1 + fuzz_draw(f, 3);
	int64_t permille = similarity_permille(x, y, n);

	f->input = x;
	FUZZ_TRUE(f, permille >= 0 && permille <= 1000);
	FUZZ_TRUE(f, permille == similarity_permille(y, x, n));
	FUZZ_TRUE(f, similarity_permille(x, x, n) == (similarity_permille(x, x, n) ? 1000 : 0));
}

int main(int argc, char **argv)
{
	static const struct fuzz_test tests[] = {
		{"a check says where in whole characters", a_check_says_where_in_whole_characters,
		 24000},
		{"a forbidden term is found in its place", a_forbidden_term_is_found_in_its_place,
		 6000},
		{"a number is met where it stands alone", a_number_is_met_where_it_stands_alone,
		 20000},
		{"folding twice is folding once", folding_twice_is_folding_once, 10000},
		{"a diff holds both texts", a_diff_holds_both_texts, 4000},
		{"likeness has bounds and no order", likeness_has_bounds_and_no_order, 2000},
	};

	return FUZZ_MAIN(tests);
}
