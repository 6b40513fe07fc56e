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
	STR("{\"issues\":[],\"score\":95.5,\"verdict\":\"pass\",\"more\":{\"a\":1}}"),
	STR(" {\"verdict\":\"pass\",\"score\":1e2,\"reasons\":\"\",\"issues\":[{\"category\":\"語調\",\"snippet\":\"\","
	    "\"suggestion\":\"丁寧に\",\"severity\":1,\"why\":2}]} \n"),
	STR("```json\n{\"issues\":[],\"score\":100,\"verdict\":\"pass\"}\n```"),
	STR("NO_DEFECTS"),
	STR("{\"issues\":[{\"category\":\"a\",\"snippet\":\"b\",\"suggestion\":\"c\",\"severity\":3},"
	    "{\"category\":\"a\",\"snippet\":\"b\",\"suggestion\":\"c\",\"severity\":3}],\"score\":0,\"verdict\":\"fail\"}"),
};
static const struct str draft = STR("Dear Ms Tanaka, you may cancel within 30 days. 語調 b");

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
		if (str_is(key, "score") &&
		    !(is_number && json_double(value) >= 0 && json_double(value) <= score_max))
			return false;
		if (str_is(key, "verdict") && json_kind(value) == JSON_STRING)
			verdict = json_str(value);
		n_seen += str_is(key, "score") ||
			  (str_is(key, "issues") && json_kind(value) == JSON_ARRAY &&
			   json_size(value) <= CRITIQUE_ISSUES_MAX);
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

static bool critique_fits(struct str reply, int64_t score_max)
{
	struct json *doc;
	struct err err;

	if (json_read(str_trim(reply), &doc, &err) != JSON_FINE)
		return false;
	const struct json *issues = json_get(doc, "issues");
	bool fits = fits_rules(doc, score_max);
	for (size_t i = 0; fits && i < json_size(issues); i++)
		fits = issue_fits(json_item(issues, i));
	json_free(doc);
	return fits;
}

static void a_critique_is_valid_by_the_rules_alone(struct fuzz *f)
{
	struct str reply = fuzz_mutate(f, critiques, sizeof(critiques) / sizeof(*critiques));
	int64_t score_max = fuzz_chance(f, 50) ? 100 : 10;
	struct critique c;

	critique_read(f->a, reply, draft, score_max, &c);
	FUZZ_TRUE(f, c.valid == critique_fits(reply, score_max));
	if (!c.valid) {
		FUZZ_TRUE(f, !c.pass && c.score == -1 && c.n_issue == 0);
		FUZZ_TRUE(f, c.fault.n > 0 && text_is_utf8(c.fault));
		return;
	}
	FUZZ_TRUE(f, !c.fault.p && c.score >= 0 && c.score <= 100 && c.n_ignored >= 0);
	for (int i = 0; i < c.n_issue; i++) {
		const struct issue *issue = &c.issue[i];
		struct str there = str_sub(draft, (size_t)issue->at, (size_t)issue->n);
		FUZZ_TRUE(f, issue->at >= -1);
		FUZZ_TRUE(f, issue->at < 0 ? issue->n == 0 : str_eq(there, issue->snippet));
	}
	(void)critique_repeats(f->a, &c, &c);
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

int main(void)
{
	static const struct fuzz_test tests[] = {
		{"a critique is valid by the rules alone", a_critique_is_valid_by_the_rules_alone,
		 30000},
		{"an answer has a text and a sane confidence",
		 an_answer_has_a_text_and_a_sane_confidence, 20000},
	};

	return FUZZ_MAIN(tests);
}
