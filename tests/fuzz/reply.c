/*
 * reply.c - what models answer, made wrong: a critique is valid only by the rules.
 */
#include "../lib/fuzz.h"
#include "../lib/loop_case.h"

#include "core/answer.h"
#include "core/critique.h"

static const struct str critiques[] = {
	STR("{\"issues\":[{\"category\":\"fact\",\"snippet\":\"30 days\",\"suggestion\":\"14 days.\",\"severity\":5}],"
	    "\"reasons\":\"one wrong date\",\"score\":40,\"verdict\":\"fail\"}"),
	STR("{\"issues\":[{\"category\":\"fact\",\"snippet\":\"30 days\",\"source\":\"terms\",\"suggestion\":\"14 days.\","
	    "\"severity\":5},{\"category\":\"fact\",\"snippet\":\"b\",\"source\":\" Terms\",\"suggestion\":\"c\",\"severity\":5}]}"),
	STR("{\"issues\":[],\"score\":95.5,\"verdict\":\"pass\",\"more\":{\"a\":1}}"),
	STR(" {\"verdict\":\"pass\",\"score\":1e2,\"reasons\":\"\",\"issues\":[{\"category\":\"語調\",\"snippet\":\"\","
	    "\"suggestion\":\"丁寧に\",\"severity\":1,\"why\":2}]} \n"),
	STR("```json\n{\"issues\":[],\"score\":100,\"verdict\":\"pass\"}\n```"),
	STR("NO_DEFECTS"),
	STR("<think>{</think>{\"considered\":{\"fact\":\"x\"},\"issues\":[],\"score\":1,\"verdict\":\"pass\"}"),
	STR("Mine: {\"issues\":[\"a\"],\"score\":1,\"verdict\":\"fail\"} [end]"),
	STR("{\"issues\":[{\"category\":\"a\",\"snippet\":\"b\",\"suggestion\":\"c\",\"severity\":3},"
	    "{\"category\":\"a\",\"snippet\":\"b\",\"suggestion\":\"c\",\"severity\":3}],\"score\":0,\"verdict\":\"fail\"}"),
};
static const struct job job = {.sources = &(const struct source){STR("terms"), STR("14 days")},
			       .n_source = 1};
static const struct str draft = STR("Dear Ms Tanaka, you may cancel within 30 days. 語調 b");

static bool all_texts(const struct json *object)
{
	const struct json *value;
	struct str key;

	if (json_kind(object) != JSON_OBJECT)
		return false;
	for (size_t i = 0; json_member(object, i, &key, &value); i++)
		if (json_kind(value) != JSON_STRING)
			return false;
	return true;
}

/* The rules of core/critique.h once more, as a walk from the reply's members to what they must be. */
static bool fits_rules(const struct json *reply, int64_t score_max)
{
	const struct json *value;
	struct str key, verdict = {NULL, 0};
	int n_seen = 0;

	if (json_kind(reply) != JSON_OBJECT)
		return false;
	for (size_t i = 0; json_member(reply, i, &key, &value); i++) {
		bool is_number = json_kind(value) == JSON_INT || json_kind(value) == JSON_DOUBLE;
		if (str_is(key, "reasons") && json_kind(value) != JSON_STRING)
			return false;
		if (str_is(key, "considered") && !all_texts(value))
			return false;
		if (str_is(key, "score") &&
		    !(is_number && json_double(value) >= 0 && json_double(value) <= score_max))
			return false;
		if (str_is(key, "verdict") && json_kind(value) == JSON_STRING)
			verdict = json_str(value);
		n_seen += str_is(key, "score") ||
			  (str_is(key, "issues") && json_kind(value) == JSON_ARRAY);
	}
	return n_seen == 2 && (str_is(verdict, "pass") || str_is(verdict, "fail"));
}

static bool issue_fits(const struct json *issue)
{
	static const char *const texts[] = {"category", "snippet", "suggestion"};
	const struct json *severity = json_get(issue, "severity");

	for (int i = 0; i < 3; i++) {
		if (json_kind(json_get(issue, texts[i])) != JSON_STRING)
			return false;
	}
	return json_kind(severity) == JSON_INT && json_int(severity) >= 1 &&
	       json_int(severity) <= 5;
}

static bool ends(struct str s, const char *tail)
{
	struct str end = str_c(tail);

	return s.n >= end.n && str_eq(str_sub(s, s.n - end.n, end.n), end);
}

/* What may not stand beside the object. */
static bool is_quoted(struct str before, struct str after)
{
	static const char *const left[] = {"[", "\"", "'", "“", "‘", "「", "『"};
	static const char *const right[] = {"]", ",", "\"", "'", "”", "’", "」", "』"};
	static const char *const key[] = {"\":", "':", "”:", "’:"};
	bool quoted = false;

	before = text_trim(before);
	after = text_trim(after);
	for (int i = 0; i < 7; i++)
		quoted |= ends(before, left[i]);
	for (int i = 0; i < 8; i++)
		quoted |= str_starts(after, right[i]);
	for (int i = 0; i < 4; i++)
		quoted |= ends(before, key[i]);
	return quoted;
}

/* From the first brace to the last all is one object. Replies with a thinking block are another test's. */
static bool critique_fits(struct str reply, int64_t score_max)
{
	size_t first = 0, end = reply.n;
	struct json *doc;
	struct err err;

	while (first < reply.n && reply.p[first] != '{' && reply.p[first] != '}')
		first++;
	while (end > first && reply.p[end - 1] != '{' && reply.p[end - 1] != '}')
		end--;
	struct str body = str_sub(reply, first, end - first);
	if (!text_is_utf8(reply) || (reply.n && memchr(reply.p, 0, reply.n)) ||
	    str_find(draft, body, 0) >= 0 || json_read(body, &doc, &err) != JSON_FINE)
		return false;
	bool fits = !is_quoted(str_sub(reply, 0, first), str_sub(reply, end, reply.n)) &&
		    fits_rules(doc, score_max);
	const struct json *issues = json_get(doc, "issues");
	for (size_t i = 0; fits && i < json_size(issues); i++)
		fits = issue_fits(json_item(issues, i));
	json_free(doc);
	return fits;
}

static void check_issues(struct fuzz *f, const struct critique *c)
{
	FUZZ_TRUE(f, c->n_issue <= FORM_ISSUES_MAX && c->n_cut >= 0);
	for (int i = 0; i < c->n_issue; i++) {
		const struct issue *issue = &c->issue[i];
		struct str there = str_sub(draft, (size_t)issue->at, (size_t)issue->n);
		FUZZ_TRUE(f, issue->at >= -1);
		FUZZ_TRUE(f, issue->at < 0 ? issue->n == 0
					   : issue->n > 0 && (int64_t)there.n == issue->n);
		FUZZ_TRUE(f, text_trim(issue->snippet).n == 0 ||
				     str_find(draft, issue->snippet, 0) < 0 ||
				     str_eq(there, issue->snippet));
		FUZZ_TRUE(f, !issue->source.p ||
				     (str_is(issue->source, "terms") && !issue->miscited.p));
		FUZZ_TRUE(f, !issue->miscited.p || issue->miscited.n > 0);
		FUZZ_TRUE(f, i == 0 || issue->severity <= c->issue[i - 1].severity);
	}
}

/* Words of the marks of core/unwrap.c. */
static bool may_think(struct fuzz *f, struct str reply)
{
	static const char *const words[] = {"think", "thought>", "reasoning>", "analysis",
					    "scratchpad>"};
	const struct str folded = text_fold(f->a, text_to_utf8(f->a, reply));

	for (int i = 0; i < 5; i++)
		if (str_find(folded, str_c(words[i]), 0) >= 0)
			return true;
	return false;
}

static void a_critique_is_valid_by_the_rules_alone(struct fuzz *f)
{
	struct str reply = fuzz_mutate(f, critiques, sizeof(critiques) / sizeof(*critiques));
	struct profile p = {.score_max = fuzz_chance(f, 50) ? 100 : 10, .severity_threshold = 3};
	struct critique c;

	critique_read(f->a, &p, &job, reply, draft, &c);
	if (!may_think(f, reply))
		FUZZ_TRUE(f, c.valid == critique_fits(reply, p.score_max));
	if (!c.valid) {
		FUZZ_TRUE(f, !c.pass && c.score == -1 && c.n_issue == 0);
		FUZZ_TRUE(f, c.fault.n > 0 && text_is_utf8(c.fault));
		return;
	}
	FUZZ_TRUE(f, !c.fault.p && c.score >= 0 && c.score <= 100 && c.n_ignored >= 0);
	check_issues(f, &c);
	(void)critique_repeats(f->a, &c, &c);
}

/* By whatever form and rule: what passes has no issue at the threshold, and what is not valid passes nothing. */
static void no_reply_passes_over_an_issue(struct fuzz *f)
{
	struct str reply = fuzz_mutate(f, critiques, sizeof(critiques) / sizeof(*critiques));
	struct profile p = {.critique = (enum critique_kind)fuzz_draw(f, 3),
			    .pass_rule = PASS_NO_ACTIONABLE_ISSUES,
			    .cite_sources = fuzz_chance(f, 50),
			    .severity_threshold = 1 + fuzz_draw(f, 5)};
	struct critique c;

	critique_read(f->a, &p, &job, reply, draft, &c);
	FUZZ_TRUE(f, c.score == -1 && (c.valid || !critique_passes(&p, &c)));
	check_issues(f, &c);
	for (int i = 0; i < c.n_issue; i++)
		FUZZ_TRUE(f, !c.pass || c.issue[i].severity < p.severity_threshold);
}

static void an_answer_has_a_text_and_a_sane_confidence(struct fuzz *f)
{
	static const struct str answers[] = {
		STR("{\"text\":\"Dear Ms Tanaka\",\"confidence\":0.95}"),
		STR("{\"confidence\":1,\"text\":\"親愛なる\"}"),
		STR("{\"text\":\" x \",\"confidence\":\"0.9\"}"),
		STR("{\"text\":\"x\",\"confidence\":0.8999999999}"),
		STR("{\"subject\":\"Your plan\",\"text\":\"x\",\"confidence\":0}"),
	};
	static const struct str names[] = {STR("text"), STR("subject")};
	const struct profile p = {.gate = true, .field = names, .n_field = (int)fuzz_draw(f, 3)};
	struct answer answer;

	if (!answer_read(f->a, &p, ROLE_GENERATOR,
			 fuzz_mutate(f, answers, sizeof(answers) / sizeof(*answers)), &answer))
		return;
	FUZZ_TRUE(f, text_is_utf8(answer.text) && str_trim(answer.text).n > 0);
	FUZZ_TRUE(f, answer.n_field == p.n_field);
	for (int i = 0; i < answer.n_field; i++)
		FUZZ_TRUE(f, text_is_utf8(field_text(&answer.field[i], answer.text)));
	FUZZ_TRUE(f, answer.confidence_permille >= -1 && answer.confidence_permille <= 1000);
}

int main(int argc, char **argv)
{
	static const struct fuzz_test tests[] = {
		{"a critique is valid by the rules alone", a_critique_is_valid_by_the_rules_alone,
		 30000},
		{"no reply passes over an issue", no_reply_passes_over_an_issue, 20000},
		{"an answer has a text and a sane confidence",
		 an_answer_has_a_text_and_a_sane_confidence, 20000},
	};

	return FUZZ_MAIN(tests);
}
