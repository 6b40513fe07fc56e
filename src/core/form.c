#include "core/form.h"

#include "core/hint.h"

#include <inttypes.h>
#include <stdio.h>

static bool has_confidence(const struct profile *p, enum role role)
{
	return p->gate && role == ROLE_GENERATOR;
}

bool form_says_checks(const struct profile *p, enum role role)
{
	const bool wanted =
		p->draft_schema == DRAFT_SCHEMA_ALWAYS
			? role == ROLE_GENERATOR || role == ROLE_REFINER
			: p->draft_schema == DRAFT_SCHEMA_REFINE && role == ROLE_REFINER;

	return wanted && p->model[role].schema_says != SCHEMA_SAYS_FORM;
}

enum want form_want(const struct profile *p, enum role role)
{
	if (role == ROLE_CRITIC)
		return p->critique == CRITIQUE_TEXT ? WANT_TEXT : WANT_CRITIQUE;
	return p->n_field > 0 || has_confidence(p, role) || form_says_checks(p, role) ? WANT_DRAFT
										      : WANT_TEXT;
}

/* Whether @text tells of a scale that ends at @max, in one of the ways in which people write that. */
static bool names_scale(struct str text, int64_t max)
{
	static const char *const ways[] = {"0 to ",   "0-",	"0–",	"0〜",	   "0から",
					   "0 から ", "0から ", "0 - ", "out of ", "/"};
	char end[64];

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		int n = snprintf(end, sizeof(end), "%s%" PRId64, ways[i], max);
		for (int64_t at = -1; (at = str_find(text, str_c(end), (size_t)(at + 1))) >= 0;) {
			struct str behind = str_sub(text, (size_t)at + (size_t)n, 1);
			if (behind.n == 0 || !str_only(behind, "0123456789"))
				return true;
		}
	}
	return false;
}

enum status form_check(const struct profile *p, struct str text, struct err *err)
{
	static const char *const of_score[] = {"{{score_max}}", "{{pass_score}}"};
	const int64_t other = p->score_max == 10 ? 100 : 10;

	for (int i = 0; i < 2 && p->pass_rule != PASS_VERDICT_AND_SCORE; i++)
		if (str_find(text, str_c(of_score[i]), 0) >= 0)
			return err_set(
				err, ST_INVALID,
				"%s: the critic gives no score by this pass_rule; take it out",
				of_score[i]);
	if (names_scale(text, other))
		return err_set(err, ST_INVALID,
			       "it tells of a scale that ends at %" PRId64 ", score_max is %" PRId64
			       "; leave the scale to {{reply}}",
			       other, p->score_max);
	return ST_OK;
}

/* --- the schema --- */

/* Every member required and nothing else: strict decoders want it so. */
static void close_object(struct json_out *o, enum dialect dialect, const struct str *name, int n)
{
	json_close(o, '}');
	json_open(o, "required", '[');
	for (int i = 0; i < n; i++)
		json_put_str(o, NULL, name[i]);
	json_close(o, ']');
	if (dialect != DIALECT_OPENAPI)
		json_put_bool(o, "additionalProperties", false);
	json_close(o, '}');
}

static void open_object(struct json_out *o, const char *key)
{
	json_open(o, key, '{');
	json_put_str(o, "type", STR_OF("object"));
	json_open(o, "properties", '{');
}

static void put_text(struct json_out *o, const char *key)
{
	json_put_raw(o, key, STR_OF("{\"type\":\"string\"}"));
}

/* A text that is one of these. */
static void put_words(struct json_out *o, const char *key, const struct str *word, int n)
{
	json_open(o, key, '{');
	json_put_str(o, "type", STR_OF("string"));
	json_open(o, "enum", '[');
	for (int i = 0; i < n; i++)
		json_put_str(o, NULL, word[i]);
	json_close(o, ']');
	json_close(o, '}');
}

static void put_score(struct json_out *o, const struct profile *p, enum dialect dialect)
{
	char range[32];

	snprintf(range, sizeof(range), "0 to %" PRId64, p->score_max);
	json_open(o, "score", '{');
	json_put_str(o, "type", STR_OF("number"));
	if (dialect == DIALECT_UNBOUNDED) {
		json_put_str(o, "description", str_c(range));
	} else {
		json_put_int(o, "minimum", 0);
		json_put_int(o, "maximum", p->score_max);
	}
	json_close(o, '}');
}

static void put_considered(struct json_out *o, const struct profile *p, enum dialect dialect)
{
	open_object(o, "considered");
	for (int i = 0; i < p->n_category; i++)
		put_text(o, p->category[i].p);
	close_object(o, dialect, p->category, p->n_category);
}

static void put_issue(struct json_out *o, const struct profile *p, enum dialect dialect)
{
	static const struct str cited[] = {STR("category"), STR("snippet"), STR("source"),
					   STR("suggestion"), STR("severity")};
	static const struct str plain[] = {STR("category"), STR("snippet"), STR("suggestion"),
					   STR("severity")};

	if (p->critique == CRITIQUE_PLAIN_ISSUES) {
		put_text(o, "items");
		return;
	}
	open_object(o, "items");
	put_words(o, "category", p->category, p->n_category);
	put_text(o, "snippet");
	if (p->cite_sources) /* any text: an enum of ids would differ from job to job */
		put_text(o, "source");
	put_text(o, "suggestion");
	json_put_raw(o, "severity",
		     dialect == DIALECT_OPENAPI
			     ? STR_OF("{\"type\":\"integer\",\"minimum\":1,\"maximum\":5}")
			     : STR_OF("{\"type\":\"integer\",\"enum\":[1,2,3,4,5]}"));
	if (p->cite_sources)
		close_object(o, dialect, cited, 5);
	else
		close_object(o, dialect, plain, 4);
}

static void put_issues(struct json_out *o, const struct profile *p, enum dialect dialect)
{
	json_open(o, "issues", '{');
	json_put_str(o, "type", STR_OF("array"));
	put_issue(o, p, dialect);
	if (dialect == DIALECT_UNBOUNDED)
		json_put_str(o, "description", STR_OF("at most 5, most severe first"));
	else
		json_put_int(o, "maxItems", FORM_ISSUES_MAX);
	json_close(o, '}');
}

static void put_critique(const struct profile *p, enum dialect dialect, struct json_out *o)
{
	static const struct str names[] = {STR("considered"), STR("issues"), STR("reasons"),
					   STR("score"), STR("verdict")};
	static const struct str verdicts[] = {STR("pass"), STR("fail")};
	const bool is_scored = p->pass_rule == PASS_VERDICT_AND_SCORE;

	open_object(o, NULL);
	put_considered(o, p, dialect);
	put_issues(o, p, dialect);
	put_text(o, "reasons");
	if (is_scored) {
		put_score(o, p, dialect);
		put_words(o, "verdict", verdicts, 2);
	}
	close_object(o, dialect, names, is_scored ? 5 : 3);
}

/* A part of a draft, @field absent: all of it; with what can be said of its checks. */
static void put_part(struct json_out *o, const char *key, const struct profile *p, enum role role,
		     const struct job *job, struct str field)
{
	struct arena *scratch = arena_new();
	struct hint hint;

	json_open(o, key, '{');
	json_put_str(o, "type", STR_OF("string"));
	hint_of(scratch, p, job, field, &hint);
	hint_put(&hint, &p->model[role], o);
	json_close(o, '}');
	arena_free(scratch);
}

static void put_draft(const struct profile *p, enum role role, const struct job *job,
		      enum dialect dialect, struct json_out *o)
{
	struct str name[FIELDS_MAX + 1] = {STR("text")};
	int n = p->n_field ? p->n_field : 1;

	for (int i = 0; i < p->n_field; i++)
		name[i] = p->field[i];
	open_object(o, NULL);
	for (int i = 0; i < n; i++) {
		if (job && form_says_checks(p, role))
			put_part(o, name[i].p, p, role, job, p->n_field ? name[i] : str_c(NULL));
		else
			put_text(o, name[i].p);
	}
	if (has_confidence(p, role)) {
		json_put_raw(o, "confidence", STR_OF("{\"type\":\"number\"}"));
		name[n++] = STR_OF("confidence");
	}
	close_object(o, dialect, name, n);
}

void form_schema(const struct profile *p, enum role role, const struct job *job,
		 enum dialect dialect, struct buf *out)
{
	struct json_out o = {.buf = out};
	const enum want want = form_want(p, role);

	if (want == WANT_CRITIQUE)
		put_critique(p, dialect, &o);
	else if (want == WANT_DRAFT)
		put_draft(p, role, job, dialect, &o);
}

void form_comparison_schema(enum dialect dialect, struct buf *out)
{
	static const struct str names[] = {STR("reasons"), STR("better")};
	static const struct str words[] = {STR("first"), STR("second"), STR("tie")};
	struct json_out o = {.buf = out};

	open_object(&o, NULL);
	put_text(&o, "reasons");
	put_words(&o, "better", words, 3);
	close_object(&o, dialect, names, 2);
}

/* --- the same in words --- */

struct words {
	const struct profile *profile;
	bool japanese;
	struct buf *out;
};

static void say(const struct words *w, const char *english, const char *japanese)
{
	buf_puts(w->out, w->japanese ? japanese : english);
}

static void say_threshold(const struct words *w)
{
	buf_printf(w->out, w->japanese ? "重大度 %" PRId64 " 以上" : "severity %" PRId64 " or more",
		   w->profile->severity_threshold);
}

static void say_categories(const struct words *w)
{
	for (int i = 0; i < w->profile->n_category; i++) {
		buf_puts(w->out, i ? ", " : "");
		buf_str(w->out, w->profile->category[i]);
	}
}

/* @points of a score of a hundred, on the critic's scale: 85 is 8.5 of 10. */
static void say_score(const struct words *w, int64_t points)
{
	buf_decimal(w->out, points * w->profile->score_max, 100);
}

static void say_issues(const struct words *w)
{
	if (w->profile->critique == CRITIQUE_PLAIN_ISSUES) {
		say(w,
		    "- issues: the problems, a text each: quote the faulty words, and say what to write instead, or what to add and where, so exactly that another writer can do it without asking. Only problems of ",
		    "- issues: 問題点。一つの文字列に一件ずつ、誤りのある語句を引用し、何に書き換えるか、または何をどこに加えるかを、別の書き手が問い返さずに直せるように書くこと。対象は");
		say_threshold(w);
		say(w, "; one of less is no issue here.\n",
		    "の問題だけとし、それに満たないものは挙げないこと。\n");
		return;
	}
	say(w, "- issues: the problems. In each, category: one of ",
	    "- issues: 問題点。それぞれに次を記すこと。category: 次のいずれか: ");
	say_categories(w);
	say(w,
	    "; snippet: the faulty words, copied exactly from the draft, character for character, and no more of them than needed to find the place, or an empty string where something is missing and nothing can be quoted; ",
	    "。snippet: 誤りのある語句を、草稿から一字も変えずに、場所が分かる最小限の長さで写したもの。欠落の指摘で引用できる語句がない場合は空文字列。");
	if (w->profile->cite_sources)
		say(w,
		    "source: the id of the one source that shows the fault, copied exactly and without brackets, or an empty string where no source speaks of it; ",
		    "source: その誤りを示す資料一つの id を、括弧を付けずにそのまま写したもの。どの資料にも記述がない場合は空文字列。");
	say(w,
	    "suggestion: what to write instead, or what to add and where, so exactly that another writer can do it without asking; severity: an integer, 1 to 5, by the scale above.\n",
	    "suggestion: 何に書き換えるか、または何をどこに加えるかを、別の書き手が問い返さずに直せるように書いたもの。severity: 上の基準による 1 から 5 の整数。\n");
}

static void say_judgement(const struct words *w)
{
	say(w, "- score: a number from 0 to ", "- score: 0 から ");
	say_score(w, 100);
	say(w, "; ", " までの数。");
	say_score(w, 100);
	say(w, " means that nothing could be better. A draft under ",
	    " は、これ以上よくならないことを表す。");
	say_score(w, w->profile->pass_score);
	say(w, " may not be sent.\n- verdict: `pass` if the score is ",
	    " 未満の草稿は送付できない。\n- verdict: 点数が ");
	say_score(w, w->profile->pass_score);
	say(w, " or more and no issue has ", " 以上で、");
	say_threshold(w);
	say(w, ". Otherwise `fail`, and then at least one issue has ",
	    "の指摘がなければ `pass`。それ以外は `fail` とし、その場合は、直すべき点を示す");
	say_threshold(w);
	say(w, " and says what has to be mended.\n", "の指摘を必ず一つ以上挙げること。\n");
}

static void say_text(const struct words *w)
{
	say(w, "- If no problem has ", "- ");
	say_threshold(w);
	say(w,
	    ", your whole reply is the word " FORM_NO_DEFECTS " and nothing else.\n"
	    "- Otherwise tell in plain sentences what has to be mended, and do not use that word: quote the faulty words, and say what to write instead, or what to add and where, so exactly that another writer can do it without asking.",
	    "の問題がなければ、返答全体を " FORM_NO_DEFECTS
	    " の一語だけとし、ほかに何も書かないこと。\n"
	    "- それ以外は、直すべき点を平易な文で書き、この語を使わないこと。誤りのある語句を引用し、何に書き換えるか、または何をどこに加えるかを、別の書き手が問い返さずに直せるように書くこと。");
}

void form_words(const struct profile *p, bool japanese, struct buf *out)
{
	const struct words w = {p, japanese, out};

	if (p->critique == CRITIQUE_TEXT) {
		say_text(&w);
		return;
	}
	say(&w,
	    "- considered: for each category one line, written before anything else: what you held against what, and what came of it.\n",
	    "- considered: 分類ごとに一行ずつ、何を何と突き合わせ、どうであったかを、最初に書くこと。\n");
	say_issues(&w);
	say(&w, "- reasons: one to three sentences that follow from the issues.\n",
	    "- reasons: 指摘から導かれる理由を、一文から三文で書くこと。\n");
	if (p->pass_rule == PASS_VERDICT_AND_SCORE)
		say_judgement(&w);
	say(&w, "- JSON only: no Markdown fence, no remark.",
	    "- JSON だけを返すこと。Markdown の囲みや説明を付けないこと。");
}
