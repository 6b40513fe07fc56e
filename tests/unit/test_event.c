#include "core/event.h"

#include "../lib/loop_case.h"

#include <setjmp.h>

#include <cmocka.h>

#define SECOND_TEXT "Thank you. It comes on Tuesday."
#define PASS "{\"issues\":[],\"score\":92,\"verdict\":\"pass\"}"
#define FAIL(score, snippet)                                                                       \
	"{\"issues\":[{\"category\":\"fact\",\"snippet\":\"" snippet "\",\"suggestion\":\"mend "   \
	"it\",\"severity\":5}],\"reasons\":\"see A\",\"score\":" score ",\"verdict\":\"fail\"}"

/* A job that has ended, and its events as they would be published. */
struct fixture {
	struct arena *a;
	const char *patch; /* of the profile; NULL: none */
	struct str arm;
	const struct schema *outcome_schema, *opened_schema;
	const struct job *job;
	struct step_rows last;
	const struct outbox_row *row;
	int n_row;
	struct json *event[2]; /* parsed */
};

/* @schema without `format`, which core/schema.h does not know. */
static void put_without_format(struct arena *a, const struct json *schema, const char *at,
			       struct json_out *o)
{
	const struct json *value;
	struct str key;

	if (json_kind(schema) != JSON_OBJECT) {
		case_put(o, at, schema);
		return;
	}
	json_open(o, at, '{');
	for (size_t i = 0; json_member(schema, i, &key, &value); i++) {
		if (!str_is(key, "format"))
			put_without_format(a, value, arena_str(a, key).p, o);
	}
	json_close(o, '}');
}

static const struct schema *read_schema(struct arena *a, const char *path)
{
	struct json *doc = case_json(case_file(a, path));
	struct buf text = BUF(CASE_BYTES_MAX);
	struct json_out o = {&text, false};
	const struct schema *schema;
	struct err err = {""};

	put_without_format(a, doc, NULL, &o);
	if (schema_read(a, buf_view(&text), &schema, &err) != ST_OK)
		fail_msg("%s: %s", path, err.text);
	buf_release(&text);
	json_free(doc);
	return schema;
}

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){.a = arena_new()};
	f.outcome_schema = read_schema(f.a, "config/schema/outcome.schema.json");
	f.opened_schema = read_schema(f.a, "config/schema/review-opened.schema.json");
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < f->n_row; i++)
		json_free(f->event[i]);
	arena_free(f->a);
	return 0;
}

static void make_events(struct fixture *f, const struct profile *profile,
			const struct history *history)
{
	const struct outcome_row *outcome = f->last.outcome;
	struct ending e = {f->job, profile, history, outcome, NULL, f->arm};

	if (outcome->draft_no != ROW_NULL)
		e.best = &history->draft[outcome->draft_no];
	f->row = event_rows(f->a, &e, STR_OF("mill."), &f->n_row);
	for (int i = 0; i < f->n_row; i++)
		f->event[i] = case_json(f->row[i].payload);
}

/* Plays a job to its end: @reply to each call in order; after the last one it is cancelled, unless it has ended. */
static void play(struct fixture *f, const char *job_json, const char *const *reply)
{
	const struct str base = case_file(f->a, "tests/data/profile.json");
	const struct profile *profile =
		case_profile(f->a, f->patch ? case_patch(f->a, base, str_c(f->patch)) : base);
	struct job *job = case_job(f->a, profile, str_c(job_json));
	struct loop *loop = loop_new(f->a, job, profile);
	struct fact fact = {.type = FACT_started, .at_ms = 1700000000000, .call_no = -1};
	struct loop_output out = {.finished = false};
	uint8_t head[SHA_BYTES] = {0};

	f->job = job;
	while (!out.finished) {
		assert_int_equal(loop_step(loop, &fact, &out), ST_OK);
		step_rows(f->a, job, profile, loop_history(loop), &fact, &out, 4711, 1, 0, head,
			  &f->last);
		memcpy(head, f->last.step.hash, SHA_BYTES);
		fact.type = *reply ? FACT_replied : FACT_stopped;
		fact.call_no = *reply ? out.call[0].no : -1;
		fact.stop = STOP_cancelled;
		if (!*reply || out.finished)
			continue;
		fact.http = case_completion(f->a,
					    &(struct completion){.text = str_c(*reply++),
								 .finish_reason = STR("stop"),
								 .model = out.call[0].model->id,
								 .usage = {.in = 100, .out = 50}});
		out.call[0].model->wire->reply(&fact.http, fact.at_ms, f->a, &fact.reply);
	}
	make_events(f, profile, loop_history(loop));
}

static void assert_fits(const struct schema *schema, const struct json *event)
{
	struct err err = {""};

	if (schema_check(schema, event, NULL, &err) != SCHEMA_FITS)
		fail_msg("%s", err.text);
}

static void assert_member(const struct json *event, const char *key, const char *value)
{
	struct str s = {NULL, 0};

	assert_true(json_get_str(event, key, &s));
	assert_int_equal(s.n, strlen(value));
	assert_memory_equal(s.p, value, s.n);
}

static int64_t number(const struct json *event, const char *key)
{
	int64_t n = -1;

	assert_true(json_get_int(event, key, 0, INT64_MAX, &n));
	return n;
}

#define JOB "{\"id\":\"order-7\",\"source\":\"crm\",\"profile\":\"letter\",\"task\":\"Thank her.\""

static void a_passed_job_has_one_event_with_its_text(void **state)
{
	static const char *const replies[] = {SECOND_TEXT, PASS, NULL};
	struct fixture *f = *state;

	play(f, JOB ",\"batch\":\"b\",\"tags\":[\"x\"]}", replies);
	assert_int_equal(f->n_row, 1);
	assert_fits(f->outcome_schema, f->event[0]);
	assert_member(f->event[0], "outcome", "passed");
	assert_member(f->event[0], "stop_reason", "no_issues");
	assert_member(f->event[0], "text", SECOND_TEXT);
	assert_member(f->event[0], "job_no", "4711");
	assert_member(f->event[0], "at", "2023-11-14T22:13:20.000Z");
	assert_member(json_get(f->event[0], "job"), "batch", "b");
	assert_null(json_get(f->event[0], "best_draft"));
	assert_null(json_get(f->event[0], "supersedes"));
	assert_int_equal(number(f->event[0], "draft_no"), 0);
	assert_int_equal(number(f->event[0], "score"), 92);
	assert_int_equal(number(f->event[0], "n_calls"), 2);
	assert_int_equal(number(json_get(f->event[0], "usage"), "tokens_in"), 200);
	assert_int_equal(number(json_get(f->event[0], "usage"), "tokens_out"), 100);
	assert_int_equal(number(f->event[0], "cost_micro_usd"), 300 + 150);
}

static void an_event_names_the_arm(void **state)
{
	static const char *const replies[] = {SECOND_TEXT, PASS, NULL};
	struct fixture *f = *state;

	play(f, JOB "}", replies);
	assert_null(json_get(json_get(f->event[0], "profile"), "arm"));
	json_free(f->event[0]);
	f->arm = STR_OF("strict");
	play(f, JOB "}", replies);
	assert_fits(f->outcome_schema, f->event[0]);
	assert_member(json_get(f->event[0], "profile"), "arm", "strict");
}

static void parts_of_a_text_are_told_apart(void **state)
{
	static const char reply[] =
		"{\"subject\":\"Hello\",\"body\":\"It comes on Tuesday.\",\"end\":\"敬具\"}";
	static const char *const passed[] = {reply, PASS, NULL};
	static const char *const opened[] = {reply, FAIL("10", ""), NULL};
	struct fixture *f = *state;

	f->patch = "{\"fields\":[\"subject\",\"body\",\"end\"]}";
	play(f, JOB "}", passed);
	assert_fits(f->outcome_schema, f->event[0]);
	assert_member(f->event[0], "text", "Hello\n\nIt comes on Tuesday.\n\n敬具");
	assert_member(json_get(f->event[0], "fields"), "subject", "Hello");
	assert_member(json_get(f->event[0], "fields"), "body", "It comes on Tuesday.");
	assert_member(json_get(f->event[0], "fields"), "end", "敬具");
	for (int i = 0; i < f->n_row; i++)
		json_free(f->event[i]);
	play(f, JOB ",\"limits\":{\"iterations\":1}}", opened);
	assert_fits(f->outcome_schema, f->event[0]);
	assert_fits(f->opened_schema, f->event[1]);
	assert_null(json_get(f->event[0], "fields"));
	assert_member(json_get(f->event[0], "best_draft_fields"), "subject", "Hello");
	assert_member(json_get(json_item(json_get(f->event[1], "drafts"), 0), "fields"), "body",
		      "It comes on Tuesday.");
}

static void rows_name_topic_key_and_digest(void **state)
{
	static const char *const replies[] = {SECOND_TEXT, FAIL("10", ""), NULL};
	struct fixture *f = *state;
	uint8_t id[UUID_BYTES], sha[SHA_BYTES];
	char text[UUID_TEXT + 1], head[2 * SHA_BYTES + 1];

	play(f, JOB ",\"limits\":{\"iterations\":1}}", replies);
	assert_int_equal(f->n_row, 2);
	for (int i = 0; i < 2; i++) {
		const struct outbox_row *r = &f->row[i];
		assert_true(str_is(r->kind, i ? "opened" : "outcome"));
		assert_true(str_is(r->topic, i ? "mill.review" : "mill.results"));
		assert_true(str_is(r->key, "order-7"));
		assert_int_equal(r->job_no, 4711);
		sha256(r->payload, sha);
		assert_memory_equal(r->payload_sha, sha, SHA_BYTES);
		event_id(f->job, i ? "opened" : "outcome", 0, id);
		assert_memory_equal(r->event_id, id, UUID_BYTES);
		uuid_text(id, text);
		assert_member(f->event[i], "event_id", text);
		hex_text(f->last.outcome->head, SHA_BYTES, head);
		assert_member(f->event[i], "chain_head", head);
	}
}

/* Cut, keep and put of the diff, in order, without those of @but. */
static struct str diff_text(struct fixture *f, const struct json *event, const char *but)
{
	const struct json *diff = json_get(event, "diff");
	struct buf text = BUF(1000);
	struct str op, part;

	for (size_t i = 0; i < json_size(diff); i++) {
		assert_true(json_get_str(json_item(diff, i), "op", &op));
		assert_true(json_get_str(json_item(diff, i), "text", &part));
		if (!str_is(op, but))
			buf_str(&text, part);
	}
	struct str all = arena_str(f->a, buf_view(&text));
	buf_release(&text);
	return all;
}

static void an_escalated_job_opens_a_case_with_all_of_it(void **state)
{
	static const char first[] = "We guarantee that it comes on Monday.";
	static const char *const replies[] = {
		first, "nonsense", FAIL("40", "Monday"), SECOND_TEXT, FAIL("60", "Thank you"),
		NULL};
	struct fixture *f = *state;

	play(f,
	     JOB
	     ",\"variables\":{\"day\":\"Tuesday\"},\"sources\":[{\"id\":\"A\",\"text\":\"t\"}]}",
	     replies);
	assert_int_equal(f->n_row, 2);
	assert_fits(f->outcome_schema, f->event[0]);
	assert_fits(f->opened_schema, f->event[1]);
	assert_member(f->event[0], "stop_reason", "max_iterations");
	assert_member(f->event[0], "best_draft", SECOND_TEXT);
	assert_null(json_get(f->event[0], "text"));

	const struct json *e = f->event[1], *draft = json_get(e, "drafts"),
			  *critique = json_get(e, "critiques");
	assert_member(e, "task", "Thank her.");
	assert_int_equal(number(e, "best_draft_no"), 1);
	assert_int_equal(json_size(draft), 2);
	assert_member(json_item(draft, 0), "text", first);
	assert_int_equal(number(json_item(draft, 1), "from"), 0);
	assert_in_range(number(json_item(draft, 1), "changed_permille"), 1, 999);
	assert_int_equal(number(json_item(draft, 1), "n_kept"), 2);
	assert_int_equal(number(json_item(draft, 1), "n_reverted"), 0);
	assert_null(json_get(json_item(draft, 0), "from"));
	const struct json *promise = json_item(json_get(json_item(draft, 0), "checks"), 0);
	assert_member(promise, "name", "promise");
	assert_non_null(json_get(promise, "detail"));
	assert_int_equal(json_size(critique), 3);
	assert_non_null(json_get(json_item(critique, 0), "fault"));
	assert_null(json_get(json_item(critique, 0), "verdict"));
	assert_member(json_item(critique, 1), "reasons", "see A");
	assert_int_equal(json_size(json_get(json_item(critique, 1), "issues")), 1);
	assert_null(json_get(json_item(json_get(json_item(critique, 1), "issues"), 0), "source"));
	assert_true(str_is(diff_text(f, e, "put"), first));
	assert_true(str_is(diff_text(f, e, "cut"), SECOND_TEXT));
}

#define SHOWS                                                                                      \
	"\"critic\":\"{{rubric}}{{reply}}{{schema}}\\n--- user ---\\n{{constraints}}{{sources}}{{draft}}\""
#define CITED(snippet, source)                                                                     \
	"{\"issues\":[{\"category\":\"fact\",\"snippet\":\"" snippet "\",\"source\":\"" source     \
	"\",\"suggestion\":\"mend it\",\"severity\":5}],\"score\":40,\"verdict\":\"fail\"}"

static void an_issue_is_told_with_its_source(void **state)
{
	static const char *const replies[] = {"Thanks.", CITED("Thanks", " A"), SECOND_TEXT,
					      CITED("It", "B"), NULL};
	struct fixture *f = *state;

	f->patch = "{\"cite_sources\":true,\"prompts\":{\"en\":{" SHOWS "},\"ja\":{" SHOWS "}}}";
	play(f, JOB ",\"sources\":[{\"id\":\"A\",\"text\":\"t\"}]}", replies);
	assert_fits(f->opened_schema, f->event[1]);
	const struct json *critique = json_get(f->event[1], "critiques");
	const struct json *first = json_item(json_get(json_item(critique, 0), "issues"), 0),
			  *second = json_item(json_get(json_item(critique, 1), "issues"), 0);
	assert_member(first, "source", "A");
	assert_null(json_get(first, "miscited"));
	assert_null(json_get(second, "source"));
	assert_member(second, "miscited", "B");
}

static void where_the_first_draft_is_the_best_there_is_no_diff(void **state)
{
	static const char *const replies[] = {"Thanks.", FAIL("40", "Thanks"), SECOND_TEXT,
					      FAIL("30", "It"), NULL};
	struct fixture *f = *state;

	play(f, JOB "}", replies);
	assert_fits(f->opened_schema, f->event[1]);
	assert_int_equal(number(f->event[1], "best_draft_no"), 0);
	assert_null(json_get(f->event[1], "diff"));
}

static void a_job_cancelled_before_its_first_draft(void **state)
{
	static const char *const none[] = {NULL};
	struct fixture *f = *state;

	play(f, JOB ",\"language\":\"ja\",\"revision\":3}", none);
	assert_int_equal(f->n_row, 1);
	assert_fits(f->outcome_schema, f->event[0]);
	assert_member(f->event[0], "outcome", "failed");
	assert_member(f->event[0], "why", "人が取り消しました");
	assert_int_equal(number(json_get(f->event[0], "supersedes"), "revision"), 2);
	assert_null(json_get(f->event[0], "text"));
	assert_null(json_get(f->event[0], "best_draft"));
	assert_null(json_get(f->event[0], "draft_no"));
	assert_null(json_get(f->event[0], "score"));
}

/* A draft of a megabyte: the critic's worst case is over the budget, and the events would be over a broker's limit. */
static void texts_too_large_for_a_broker_are_left_out(void **state)
{
	struct fixture *f = *state;
	char *text = arena_alloc(f->a, EVENT_BYTES_MAX + 1);
	const char *replies[] = {text, NULL};

	memset(text, 'x', EVENT_BYTES_MAX);
	play(f, JOB "}", replies);
	assert_int_equal(f->n_row, 2);
	assert_fits(f->outcome_schema, f->event[0]);
	assert_fits(f->opened_schema, f->event[1]);
	for (int i = 0; i < 2; i++) {
		assert_member(f->event[i], "stop_reason", "budget");
		assert_true(json_bool(json_get(f->event[i], "texts_omitted")));
		assert_in_range(f->row[i].payload.n, 1, 2000);
	}
	assert_null(json_get(f->event[0], "best_draft"));
	assert_null(json_get(f->event[1], "task"));
	assert_null(json_get(json_item(json_get(f->event[1], "drafts"), 0), "text"));
}

static void assert_uuid(const uint8_t id[UUID_BYTES], const char *expected)
{
	char text[UUID_TEXT + 1];

	uuid_text(id, text);
	assert_string_equal(text, expected);
}

/* By Python's hashlib from the words of event.h and digest.h: other values would publish every event a second time. */
static void event_ids_are_the_same_for_ever(void **state)
{
	struct job job = {.source = STR("crm"), .id = STR("order-7")};
	struct dead_letter_row letter = {
		.cluster = STR("main"), .topic = STR("jobs"), .part = 3, .offset = 42};
	uint8_t id[UUID_BYTES];

	event_id(&job, "outcome", 0, id);
	assert_uuid(id, "01fe4d3c-d440-53e8-a0ad-2cf610243677");
	event_id(&job, "opened", 0, id);
	assert_uuid(id, "58a215f7-4a19-57d2-9878-ef68cfe8abf5");
	job.revision = 1;
	event_id(&job, "outcome", 0, id);
	assert_uuid(id, "d6b7d164-03ff-5cc7-8857-08646cad3732");
	sha256(STR_OF("x"), letter.value_sha);
	dead_letter_id(&letter, id);
	assert_uuid(id, "88c31025-fae8-5311-b661-66aef6508f7b");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_passed_job_has_one_event_with_its_text),
		TEST(an_event_names_the_arm),
		TEST(rows_name_topic_key_and_digest),
		TEST(parts_of_a_text_are_told_apart),
		TEST(an_escalated_job_opens_a_case_with_all_of_it),
		TEST(an_issue_is_told_with_its_source),
		TEST(where_the_first_draft_is_the_best_there_is_no_diff),
		TEST(a_job_cancelled_before_its_first_draft),
		TEST(texts_too_large_for_a_broker_are_left_out),
		cmocka_unit_test(event_ids_are_the_same_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
