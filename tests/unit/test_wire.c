#include "core/prompt.h"
#include "core/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const int64_t RECEIVED_MS = 1000000000000; /* Sun, 09 Sep 2001 01:46:40 GMT */

static int new_arena(void **state)
{
	*state = arena_new();
	return 0;
}

static int free_arena(void **state)
{
	arena_free(*state);
	return 0;
}

static const struct wire *openai(void)
{
	return wire_named(STR_OF("openai"));
}

static void assert_str(struct str got, const char *want)
{
	if (!str_is(got, want))
		fail_msg("'%.*s', not '%s'", STR_ARG(got), want);
}

/* --- the list, and what all formats share --- */

static void formats_and_classes_are_found_by_name(void **state)
{
	assert_string_equal(openai()->name, "openai");
	assert_null(wire_named(STR_OF("openai2")));
	for (int i = 0; i < N_REPLY_CLASSES; i++)
		assert_int_equal(reply_class_read(str_c(reply_class_name((enum reply_class)i))), i);
	assert_string_equal(reply_class_name(REPLY_broken_off), "broken_off");
	assert_int_equal(reply_class_read(STR_OF("broken")), N_REPLY_CLASSES);
	assert_true(reply_maybe_billed(REPLY_unreadable));
	assert_false(reply_maybe_billed(REPLY_rate_limited));
	assert_true(reply_is_answer(REPLY_blocked));
	assert_false(reply_is_answer(REPLY_rate_limited));
}

static bool is_model(const char *asked, const char *answered)
{
	const struct model m = {.id = str_c(asked)};

	return model_is(&m, str_c(answered));
}

static void a_dated_id_is_the_same_model(void **state)
{
	assert_true(is_model("gpt-5.4", "gpt-5.4"));
	assert_true(is_model("gpt-5.4", "gpt-5.4-2026-03-05"));
	assert_true(is_model("claude-haiku-4-5", "claude-haiku-4-5@20251001"));
	assert_true(is_model("gemini-3.8-flash", "models/gemini-3.8-flash-001"));
	assert_true(is_model("openai/gpt-5.4", "gpt-5.4"));
	assert_false(is_model("gpt-5.4", "gpt-5.4-mini"));
	assert_false(is_model("gpt-5", "gpt-5.4"));
	assert_false(is_model("gemini-2.5-flash", "gemini-3.5-flash-lite"));
	assert_false(is_model("gemini-3", "gemini-3-5-flash"));
	assert_false(is_model("claude-haiku-4", "claude-haiku-4-5"));
	assert_false(is_model("claude-haiku-4", "claude-haiku-4-5-20251001"));
	assert_false(is_model("gpt-5.4", "gpt-5"));
	assert_false(is_model("gpt-5.4", NULL));
	assert_false(is_model(NULL, NULL));
}

static void a_header_is_found_by_its_whole_name(void **state)
{
	struct str headers = STR("content-type: a\nretry-after: 3\nx-request-id:r1\n");

	assert_str(http_header(headers, "content-type"), "a");
	assert_str(http_header(headers, "x-request-id"), "r1");
	assert_null(http_header(headers, "retry").p);
	assert_null(http_header(headers, "request-id").p);
	assert_null(http_header((struct str){NULL, 0}, "date").p);
	assert_str(http_header(STR_OF("date: last line"), "date"), "last line");
}

static int64_t retry_after(const char *value)
{
	char headers[128];

	snprintf(headers, sizeof(headers), "retry-after: %s\n", value);
	return http_retry_after_ms(str_c(headers), RECEIVED_MS);
}

static void retry_after_is_read_as_seconds_or_date(void **state)
{
	assert_int_equal(retry_after("7"), 7000);
	assert_int_equal(retry_after("007"), 7000);
	assert_int_equal(retry_after("34.07"), 34070);
	assert_int_equal(retry_after("0.5"), 500);
	assert_int_equal(retry_after("1.2345"), 1234);
	assert_int_equal(retry_after("604800"), 7 * 86400 * INT64_C(1000));
	assert_int_equal(retry_after("Sun, 09 Sep 2001 01:46:50 GMT"), 10000);
	assert_int_equal(retry_after("9\nretry-after-ms: 250.5"), 250);
	assert_int_equal(retry_after("9\nretry-after-ms: -1"), 9000);
	assert_int_equal(retry_after("Mon, 10 Sep 2001 01:46:40 GMT"), 86400000);
}

static void a_retry_after_that_says_nothing_is_absent(void **state)
{
	static const char *const nothing[] = {
		"0",
		"0.0",
		"-1",
		"",
		"soon",
		"1.",
		".5",
		"1.5s",
		"1e3",
		"604801",
		"99999999999999999999999999",
		"3, 4",
		"Sun, 09 Sep 2001 01:46:40 GMT", /* now */
		"Sun, 09 Sep 2001 01:46:30 GMT", /* ten seconds ago */
		"Sun, 31 Sep 2001 01:46:50 GMT",
		"Sun, 09 Spe 2001 01:46:50 GMT",
		"Sun, 09 anF 2001 01:46:50 GMT",
		"Sun, 09 Sep 2001 01:46:50 CET",
		"Sun, 09 Sep 2021 01:46:50 GMT",
		"Sunday, 09-Sep-01 01:46:50 GMT",
	};

	for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
		assert_int_equal(retry_after(nothing[i]), -1);
	assert_int_equal(http_retry_after_ms(STR_OF("date: x\n"), RECEIVED_MS), -1);
}

/* --- requests of openai --- */

static void check_request(const struct model *model, enum want want, const char *expected)
{
	struct prompt prompt = {BUF(100), BUF(100), want, BUF(100)};
	struct buf body = BUF(4000);

	buf_puts(&prompt.system, "Judge.");
	buf_puts(&prompt.user, "Say \"hi\"");
	buf_puts(&prompt.schema, want == WANT_TEXT ? "" : "{\"type\":\"object\"}");
	openai()->request(model, &prompt, 64, &body);
	assert_str(buf_view(&body), expected);
	prompt_release(&prompt);
	buf_release(&body);
}

#define MESSAGES                                                                                   \
	"\"messages\":[{\"role\":\"system\",\"content\":\"Judge.\"},"                              \
	"{\"role\":\"user\",\"content\":\"Say \\\"hi\\\"\"}],"

static void the_smallest_request_has_no_sampling_and_no_format(void **state)
{
	struct model model = {.id = STR("m-1"),
			      .max_tokens_field = STR("max_tokens"),
			      .sampling = SAMPLING_OMIT,
			      .temperature_milli = 700,
			      .schema_mode = SCHEMA_MODE_NONE};
	const char *smallest = "{\"model\":\"m-1\"," MESSAGES "\"max_tokens\":64}";

	check_request(&model, WANT_CRITIQUE, smallest);
	model.schema_mode = SCHEMA_MODE_JSON_SCHEMA;
	check_request(&model, WANT_TEXT, smallest);
}

static void the_capability_row_says_what_is_sent(void **state)
{
	const struct model model = {.id = STR("m-1"),
				    .max_tokens_field = STR("max_completion_tokens"),
				    .sampling = SAMPLING_SEND,
				    .temperature_milli = 250,
				    .thinking = STR("low"),
				    .schema_mode = SCHEMA_MODE_JSON_OBJECT};

	check_request(&model, WANT_CRITIQUE,
		      "{\"model\":\"m-1\"," MESSAGES "\"max_completion_tokens\":64,"
		      "\"temperature\":0.25,\"reasoning_effort\":\"low\","
		      "\"response_format\":{\"type\":\"json_object\"}}");
}

static void a_schema_goes_out_strict_and_named(void **state)
{
	static const struct {
		enum want want;
		const char *name;
	} cases[] = {{WANT_CRITIQUE, "critique"}, {WANT_DRAFT, "draft"}};
	const struct model model = {.id = STR("m-1"),
				    .max_tokens_field = STR("max_tokens"),
				    .sampling = SAMPLING_OMIT,
				    .schema_mode = SCHEMA_MODE_JSON_SCHEMA};

	for (int i = 0; i < 2; i++) {
		struct str request = arena_printf(
			*state,
			"{\"model\":\"m-1\"," MESSAGES "\"max_tokens\":64,"
			"\"response_format\":{\"type\":\"json_schema\",\"json_schema\":"
			"{\"name\":\"%s\",\"strict\":true,\"schema\":{\"type\":\"object\"}}}}",
			cases[i].name);
		check_request(&model, cases[i].want, request.p);
	}
}

static void a_temperature_is_printed_exactly(void **state)
{
	static const struct {
		int64_t milli;
		const char *text;
	} cases[] = {{0, "0.0"},   {1, "0.001"},  {70, "0.07"},
		     {700, "0.7"}, {1000, "1.0"}, {2000, "2.0"}};
	struct model model = {
		.id = STR("m"), .max_tokens_field = STR("max_tokens"), .sampling = SAMPLING_SEND};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		model.temperature_milli = cases[i].milli;
		struct str request = arena_printf(*state,
						  "{\"model\":\"m\"," MESSAGES
						  "\"max_tokens\":64,\"temperature\":%s}",
						  cases[i].text);
		check_request(&model, WANT_TEXT, request.p);
	}
}

/* --- replies of openai --- */

static struct reply read_http(struct arena *a, int status, const char *headers, struct str body,
			      bool whole)
{
	struct http_reply http = {status, str_c(headers), body, whole};
	struct reply reply;

	openai()->reply(&http, RECEIVED_MS, a, &reply);
	return reply;
}

static struct reply read_ok(struct arena *a, const char *body)
{
	return read_http(a, 200, "", str_c(body), true);
}

/* A reply with one choice: its message and finish_reason as JSON. */
static struct reply read_choice(struct arena *a, const char *message, const char *finish_reason)
{
	struct str body = arena_printf(a, "{\"choices\":[{\"message\":%s,\"finish_reason\":%s}]}",
				       message, finish_reason);

	return read_ok(a, body.p);
}

static void a_whole_good_reply_is_complete(void **state)
{
	struct reply r = read_http(
		*state, 200, "x-request-id: req_1\n",
		STR_OF("{\"id\":\"chatcmpl-1\",\"model\":\"m-1-2026\",\"choices\":[{\"index\":0,"
		       "\"message\":{\"role\":\"assistant\",\"content\":\"Dear \\u3042\",\"refusal\":null},"
		       "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":900,"
		       "\"completion_tokens\":80,\"prompt_tokens_details\":{\"cached_tokens\":640},"
		       "\"completion_tokens_details\":{\"reasoning_tokens\":30}}}"),
		true);

	assert_int_equal(r.class, REPLY_complete);
	assert_str(r.text, "Dear \xE3\x81\x82");
	assert_str(r.model, "m-1-2026");
	assert_str(r.request_id, "req_1");
	assert_str(r.finish_reason, "stop");
	assert_int_equal(r.usage.in, 900);
	assert_int_equal(r.usage.cached, 640);
	assert_int_equal(r.usage.out, 80);
	assert_int_equal(r.retry_after_ms, -1);
	assert_null(r.detail.p);
}

static void without_a_header_the_body_names_the_request(void **state)
{
	assert_str(read_ok(*state, "{\"id\":\"chatcmpl-1\"}").request_id, "chatcmpl-1");
	assert_null(read_ok(*state, "{}").request_id.p);
}

static void the_finish_reason_decides(void **state)
{
	static const char *const unknown[] = {"\"tool_calls\"", "\"error\"", "\"STOP\"",
					      "\"\"",		"null",	     "3"};
	const char *text = "{\"content\":\"Dear\"}";
	struct reply r = read_choice(*state, text, "\"length\"");

	assert_int_equal(r.class, REPLY_truncated);
	assert_str(r.text, "Dear");
	assert_int_equal(read_choice(*state, text, "\"stop\"").class, REPLY_complete);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		r = read_choice(*state, text, unknown[i]);
		assert_int_equal(r.class, REPLY_refused);
		assert_null(r.text.p);
		assert_true(str_starts(r.detail, "finish_reason "));
	}
	r = read_choice(*state, text, "\"content_filter\"");
	assert_int_equal(r.class, REPLY_blocked);
	assert_null(r.text.p);
	assert_str(read_choice(*state, text, "\"tool_calls\"").detail, "finish_reason tool_calls");
	assert_str(read_choice(*state, text, "null").detail, "finish_reason absent");
	assert_int_equal(
		read_ok(*state, "{\"choices\":[{\"message\":{\"content\":\"Dear\"}}]}").class,
		REPLY_refused);
}

static void no_text_is_a_refusal_unless_it_was_cut(void **state)
{
	static const char *const empty[] = {"{\"content\":\"\"}", "{\"content\":\" \\n\"}",
					    "{\"content\":null}", "{}"};

	for (int i = 0; i < 4; i++) {
		assert_int_equal(read_choice(*state, empty[i], "\"stop\"").class, REPLY_refused);
		assert_int_equal(read_choice(*state, empty[i], "\"length\"").class,
				 REPLY_truncated);
	}
	assert_str(read_choice(*state, "{}", "\"length\"").text, "");
}

static void a_refusal_is_told_in_the_models_words(void **state)
{
	struct reply r =
		read_choice(*state, "{\"content\":null,\"refusal\":\"I cannot.\"}", "\"stop\"");

	assert_int_equal(r.class, REPLY_refused);
	assert_str(r.detail, "I cannot.");
	r = read_choice(*state, "{\"content\":\"Dear\",\"refusal\":\"I cannot.\"}", "\"length\"");
	assert_int_equal(r.class, REPLY_refused);
	r = read_choice(*state, "{\"content\":\"Dear\",\"refusal\":\"\"}", "\"stop\"");
	assert_int_equal(r.class, REPLY_complete);
}

static void a_200_of_another_shape_is_unreadable(void **state)
{
	static const char *const bodies[] = {
		"",
		"<html>",
		"[]",
		"null",
		"7",
		"{}",
		"{\"choices\":null}",
		"{\"choices\":{}}",
		"{\"choices\":[]}",
		"{\"choices\":[7]}",
		"{\"choices\":[{\"finish_reason\":\"stop\"}]}",
		"{\"choices\":[{\"message\":\"Dear\",\"finish_reason\":\"stop\"}]}",
		"{\"choices\":[{\"message\":{\"content\":[{\"text\":\"Dear\"}]},\"finish_reason\":\"stop\"}]}",
		"{\"choices\":[{\"message\":{\"content\":\"a\",\"content\":\"b\"},\"finish_reason\":\"stop\"}]}",
		"{\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]} {}",
		"{\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}],\"error\":{\"message\":\"overloaded\"}}",
	};

	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		struct reply r = read_ok(*state, bodies[i]);
		assert_int_equal(r.class, REPLY_unreadable);
		assert_non_null(r.detail.p);
		assert_null(r.text.p);
	}
	assert_str(read_ok(*state, bodies[15]).detail, "overloaded");
}

static void a_body_that_broke_off_is_unreadable_even_if_it_parses(void **state)
{
	struct str body =
		STR("{\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}");

	assert_int_equal(read_http(*state, 200, "", body, true).class, REPLY_complete);
	assert_int_equal(read_http(*state, 200, "", body, false).class, REPLY_unreadable);
}

static void the_status_decides_whose_fault_it_is(void **state)
{
	static const struct {
		int status;
		enum reply_class class;
	} cases[] = {{0, REPLY_broken_off},    {429, REPLY_rate_limited}, {500, REPLY_server_error},
		     {503, REPLY_overloaded},  {529, REPLY_overloaded},	  {502, REPLY_server_error},
		     {408, REPLY_broken_off},  {499, REPLY_broken_off},	  {504, REPLY_broken_off},
		     {524, REPLY_broken_off},  {409, REPLY_server_error}, {402, REPLY_credentials},
		     {401, REPLY_credentials}, {403, REPLY_credentials},  {400, REPLY_rejected},
		     {404, REPLY_credentials}, {413, REPLY_rejected},	  {422, REPLY_rejected},
		     {204, REPLY_rejected},    {301, REPLY_rejected}};
	struct str good =
		STR("{\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}");

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reply r = read_http(*state, cases[i].status, "retry-after: 3\n", good, true);
		assert_int_equal(r.class, cases[i].class);
		assert_int_equal(r.retry_after_ms, 3000);
		assert_null(r.text.p);
	}
}

static struct str detail_of(struct arena *a, int status, const char *body)
{
	return read_http(a, status, "", str_c(body), true).detail;
}

static void an_error_is_told_in_the_providers_words(void **state)
{
	struct reply r = read_http(
		*state, 429, "",
		STR_OF("{\"error\":{\"message\":\"You exceeded your quota.\",\"type\":"
		       "\"insufficient_quota\",\"param\":null,\"code\":\"insufficient_quota\"}}"),
		true);

	assert_int_equal(r.class, REPLY_credentials); /* money, not pace */
	assert_str(r.detail, "insufficient_quota: You exceeded your quota.");
	assert_str(detail_of(*state, 400,
			     "{\"error\":{\"message\":\"m\",\"type\":\"t\",\"code\":null}}"),
		   "t: m");
	assert_str(detail_of(*state, 400, "{\"error\":\"just words\"}"), "just words");
	assert_str(detail_of(*state, 400, "{\"object\":\"error\",\"message\":\"m\"}"), "m");
	assert_str(detail_of(*state, 400, "{\"error\":{\"type\":\"t\"}}"), "t");
	assert_null(detail_of(*state, 502, "<html>Bad gateway</html>").p);
	assert_null(detail_of(*state, 500, "{}").p);
}

static void long_words_are_cut_between_characters(void **state)
{
	struct buf body = BUF(4000);

	buf_puts(&body, "{\"error\":\"x");
	for (int i = 0; i < 400; i++)
		buf_puts(&body, "\xE3\x81\x82"); /* 3 bytes: the 300th byte is inside one */
	buf_puts(&body, "\"}");
	struct str detail = detail_of(*state, 500, body.p);
	assert_int_equal(detail.n, 1 + 99 * 3);
	buf_release(&body);
}

static struct usage usage_of(struct arena *a, const char *usage)
{
	return read_ok(a, arena_printf(a, "{\"usage\":%s}", usage).p).usage;
}

static void usage_that_is_nonsense_is_not_known(void **state)
{
	static const char *const nonsense[] = {"-1",   "1.5",		"\"12a\"", "\"\"",
					       "null", "1099511627777", "true"};
	struct usage u;

	for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		u = usage_of(*state,
			     arena_printf(*state, "{\"prompt_tokens\":%s,\"completion_tokens\":%s}",
					  nonsense[i], nonsense[i])
				     .p);
		assert_int_equal(u.in, -1);
		assert_int_equal(u.cached, 0);
		assert_int_equal(u.out, -1);
	}
	u = usage_of(*state, "{\"prompt_tokens\":1099511627776,\"completion_tokens\":0}");
	assert_int_equal(u.in, INT64_C(1) << 40);
	assert_int_equal(u.out, 0);
	u = usage_of(*state, "{\"prompt_tokens\":\"12\",\"completion_tokens\":\"3\"}");
	assert_int_equal(u.in, 12); /* some gateways send texts */
	assert_int_equal(u.out, 3);
	assert_int_equal(usage_of(*state, "[]").in, -1);
	assert_int_equal(read_ok(*state, "{}").usage.in, -1);
	/* More cached than there was: the full price. */
	u = usage_of(*state, "{\"prompt_tokens\":5,\"completion_tokens\":1,"
			     "\"prompt_tokens_details\":{\"cached_tokens\":6}}");
	assert_int_equal(u.in, 5);
	assert_int_equal(u.cached, 0);
	/* More written to the cache than there was: its price is over the full one. */
	u = usage_of(*state, "{\"prompt_tokens\":5,\"completion_tokens\":1,"
			     "\"prompt_tokens_details\":{\"cached_tokens\":2,"
			     "\"cache_write_tokens\":4}}");
	assert_int_equal(u.in, -1);
}

/* A good body with random bytes changed, cut or doubled, and random bytes alone: a class, whatever it is, and no crash. */
static void no_bytes_can_harm_the_reader(void **state)
{
	static const char good[] =
		"{\"id\":\"i\",\"model\":\"m\",\"choices\":[{\"message\":{\"content\":\"\\u3042 \xE3\x81\x82\","
		"\"refusal\":null},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,"
		"\"completion_tokens\":8}}";
	uint64_t seed = 20261130;
	int n_complete = 0;

	for (int round = 0; round < 4000; round++) {
		struct arena *a = arena_new();
		char body[sizeof(good)];
		size_t n = sizeof(good) - 1;
		memcpy(body, good, sizeof(good));
		for (int k = round % 4; k >= 0; k--) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			size_t at = (size_t)(seed >> 33) % n;
			if (round % 5 == 0)
				n = at + 1;
			else
				body[at] = (char)(seed >> 25);
		}
		struct http_reply http = {200, {body, n}, {body, n}, true};
		struct reply reply;
		openai()->reply(&http, RECEIVED_MS, a, &reply);
		assert_in_range(reply.class, 0, N_REPLY_CLASSES - 1);
		n_complete += reply.class == REPLY_complete;
		arena_free(a);
	}
	assert_in_range(n_complete, 1, 3999);
}

#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, new_arena, free_arena)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_and_classes_are_found_by_name),
		cmocka_unit_test(a_dated_id_is_the_same_model),
		cmocka_unit_test(a_header_is_found_by_its_whole_name),
		cmocka_unit_test(retry_after_is_read_as_seconds_or_date),
		cmocka_unit_test(a_retry_after_that_says_nothing_is_absent),
		cmocka_unit_test(the_smallest_request_has_no_sampling_and_no_format),
		cmocka_unit_test(the_capability_row_says_what_is_sent),
		WITH_ARENA(a_schema_goes_out_strict_and_named),
		WITH_ARENA(a_temperature_is_printed_exactly),
		WITH_ARENA(a_whole_good_reply_is_complete),
		WITH_ARENA(without_a_header_the_body_names_the_request),
		WITH_ARENA(the_finish_reason_decides),
		WITH_ARENA(no_text_is_a_refusal_unless_it_was_cut),
		WITH_ARENA(a_refusal_is_told_in_the_models_words),
		WITH_ARENA(a_200_of_another_shape_is_unreadable),
		WITH_ARENA(a_body_that_broke_off_is_unreadable_even_if_it_parses),
		WITH_ARENA(the_status_decides_whose_fault_it_is),
		WITH_ARENA(an_error_is_told_in_the_providers_words),
		WITH_ARENA(long_words_are_cut_between_characters),
		WITH_ARENA(usage_that_is_nonsense_is_not_known),
		cmocka_unit_test(no_bytes_can_harm_the_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
