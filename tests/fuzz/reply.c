/*
 * reply.c - what models and their providers send, made wrong: every reply has a class, and a critique is valid only by the rules.
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
	};
	struct answer answer;

	if (!answer_read(f->a, fuzz_mutate(f, answers, sizeof(answers) / sizeof(*answers)),
			 &answer))
		return;
	FUZZ_TRUE(f, text_is_utf8(answer.text) && str_trim(answer.text).n > 0);
	FUZZ_TRUE(f, answer.confidence_permille >= -1 && answer.confidence_permille <= 1000);
}

/* ---- over HTTP ---- */

static const struct str bodies[] = {
	STR("{\"id\":\"c-1\",\"model\":\"m-1\",\"choices\":[{\"index\":0,\"finish_reason\":\"stop\",\"message\":"
	    "{\"role\":\"assistant\",\"content\":\"Dear Ms Tanaka\",\"refusal\":null}}],\"usage\":{\"prompt_tokens\":120,"
	    "\"completion_tokens\":40,\"prompt_tokens_details\":{\"cached_tokens\":64}}}"),
	STR("{\"choices\":[{\"finish_reason\":\"length\",\"message\":{\"content\":\"Dear\"}}],\"usage\":null}"),
	STR("{\"choices\":[{\"finish_reason\":\"content_filter\",\"message\":{\"content\":null,\"refusal\":\"No.\"}}]}"),
	STR("{\"error\":{\"message\":\"slow down あ\",\"type\":\"requests\",\"code\":\"rate_limit\"}}"),
	STR("{\"error\":\"bad\"}"),
	STR("<html><body>502</body></html>"),
	STR(""),
};
static const struct str headers[] = {
	STR("content-type: application/json\ndate: Mon, 30 Nov 2026 00:00:00 GMT\nretry-after: 12\nx-request-id: r-1\n"),
	STR("retry-after: Mon, 30 Nov 2026 00:01:00 GMT\n"),
	STR("x-request-id: \xE3\x81\nretry-after: 1.5\nrequest-id: b\n"),
	STR("retry-after: 604800\n"),
	STR(""),
};
static const int64_t received_ms = INT64_C(1795996800000); /* 2026-11-30T00:00:00Z */

/* The only reply that may count as a text: 200, whole, and a text is there to be found. */
static bool may_be_complete(const struct http_reply *http)
{
	struct str content = {NULL, 0}, reason = {NULL, 0}, refusal = {NULL, 0};
	struct json *doc;
	struct err err;

	if (http->status != 200 || !http->whole || json_read(http->body, &doc, &err) != JSON_FINE)
		return false;
	const struct json *choices = json_get(doc, "choices");
	bool one = json_kind(choices) == JSON_ARRAY && json_size(choices) > 0;
	const struct json *choice = one ? json_item(choices, 0) : NULL;
	(void)json_get_str(choice, "finish_reason", &reason);
	(void)json_get_str(json_get(choice, "message"), "content", &content);
	(void)json_get_str(json_get(choice, "message"), "refusal", &refusal);
	bool fine = str_is(reason, "stop") && str_trim(content).n > 0 && refusal.n == 0;
	json_free(doc);
	return fine;
}

static void a_reply_has_a_class_whatever_it_is(struct fuzz *f)
{
	static const int statuses[] = {200, 200, 200, 200, 200, 0,   201, 301, 400, 401, 403, 404,
				       408, 409, 413, 422, 429, 500, 503, 599, 600, 999, -1};
	struct str head = fuzz_mutate(f, headers, sizeof(headers) / sizeof(*headers));
	struct http_reply http = {FUZZ_PICK(f, statuses), head,
				  fuzz_mutate(f, bodies, sizeof(bodies) / sizeof(*bodies)),
				  !fuzz_chance(f, 10)};
	struct reply r;

	memset(&r, 0xA5, sizeof(r));
	wire_named(STR_OF("openai"))->reply(&http, received_ms, f->a, &r);
	FUZZ_TRUE(f, r.class < N_REPLY_CLASSES && r.class != REPLY_unsent);
	if (r.class == REPLY_complete || r.class == REPLY_truncated)
		FUZZ_TRUE(f, http.status == 200 && http.whole && text_is_utf8(r.text));
	FUZZ_TRUE(f, (r.class == REPLY_complete) <= may_be_complete(&http));
	FUZZ_TRUE(f, r.class != REPLY_complete || str_trim(r.text).n > 0);
	const struct str words[] = {r.model, r.request_id, r.finish_reason, r.detail};
	for (int i = 0; i < 4; i++)
		FUZZ_TRUE(f, text_is_utf8(words[i]) && words[i].n <= 300);
	FUZZ_TRUE(f, r.usage.in >= -1 && r.usage.out >= -1 && r.usage.cached >= 0);
	FUZZ_TRUE(f, r.usage.in < 0 || r.usage.cached <= r.usage.in);
	FUZZ_TRUE(f, r.retry_after_ms == http_retry_after_ms(head, received_ms));
}

static void retry_after_is_a_sane_wait_or_none(struct fuzz *f)
{
	static const int64_t at[] = {0, 1795996800000, 1795996800000 + 59999, 253402300799999};
	struct str head = fuzz_mutate(f, headers, sizeof(headers) / sizeof(*headers));
	int64_t ms = http_retry_after_ms(head, FUZZ_PICK(f, at));

	FUZZ_TRUE(f, ms == -1 || (ms > 0 && ms <= INT64_C(7) * 24 * 3600 * 1000));
	FUZZ_TRUE(f, ms == -1 || http_header(head, "retry-after").n > 0);
}

int main(void)
{
	static const struct fuzz_test tests[] = {
		{"a critique is valid by the rules alone", a_critique_is_valid_by_the_rules_alone,
		 30000},
		{"an answer has a text and a sane confidence",
		 an_answer_has_a_text_and_a_sane_confidence, 20000},
		{"a reply has a class whatever it is", a_reply_has_a_class_whatever_it_is, 40000},
		{"retry-after is a sane wait or none", retry_after_is_a_sane_wait_or_none, 40000},
	};

	return FUZZ_MAIN(tests);
}
