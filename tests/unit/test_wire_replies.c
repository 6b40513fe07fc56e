/* Replies of all formats as tests/data/wire has them: what each is read as, in one table. */
#include "core/wire.h"

#include <dirent.h>
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

struct expected {
	const char *file; /* WIRE/NAME */
	enum reply_class class;
	const char *text;				  /* NULL: there is none */
	const char *finish, *model, *request_id, *detail; /* NULL: not looked at */
	struct usage usage;				  /* in, cached, out, cache_write */
	int64_t wait_ms;				  /* 0: the reply asks for none */
};

/* clang-format off */
#define UNKNOWN {-1, 0, -1, 0}
static const struct expected table[] = {
	{"gemini/ok", REPLY_complete, .text = "Dear Ms Sato", .finish = "STOP", .model = "gemini-3.1-pro-preview", .request_id = "resp-1", .usage = {900, 0, 80, 0}},
	{"gemini/thinking", REPLY_complete, .text = "Dear Ms Sato", .usage = {900, 0, 480, 0}},
	{"gemini/cached", REPLY_complete, .text = "Dear Ms Sato", .usage = {5000, 4096, 80, 0}},
	{"gemini/tool-use-prompt", REPLY_complete, .text = "Dear Ms Sato", .usage = {1000, 0, 80, 0}},
	{"gemini/usage-as-strings", REPLY_complete, .text = "Dear Ms Sato", .usage = {900, 128, 100, 0}},
	{"gemini/usage-total-tells-more", REPLY_complete, .text = "Dear Ms Sato", .usage = {900, 0, 600, 0}},
	{"gemini/usage-without-output", REPLY_complete, .text = "Dear Ms Sato", .usage = {900, 0, -1, 0}},
	{"gemini/usage-empty", REPLY_complete, .text = "Dear Ms Sato", .usage = UNKNOWN},
	{"gemini/usage-absent", REPLY_complete, .text = "Dear Ms Sato", .usage = UNKNOWN},
	{"gemini/usage-zero", REPLY_complete, .text = "Dear Ms Sato", .usage = UNKNOWN},
	{"gemini/usage-nonsense", REPLY_complete, .text = "Dear Ms Sato", .usage = UNKNOWN},
	{"gemini/several-parts", REPLY_complete, .text = "Dear Ms Sato", .usage = {900, 0, 80, 0}},
	{"gemini/schema", REPLY_complete, .text = "{\"issues\":[],\"reasons\":\"\",\"score\":95,\"verdict\":\"pass\"}", .usage = {900, 0, 80, 0}},
	{"gemini/other-model", REPLY_complete, .text = "Dear Ms Sato", .model = "models/gemini-3.5-flash-lite", .usage = {900, 0, 80, 0}},
	{"gemini/truncated", REPLY_truncated, .text = "Dear Ms", .finish = "MAX_TOKENS", .usage = {900, 0, 80, 0}},
	{"gemini/truncated-schema", REPLY_truncated, .text = "{\"issues\":[{\"categ", .usage = {900, 0, 80, 0}},
	{"gemini/truncated-by-thinking", REPLY_truncated, .text = "", .usage = {900, 0, 1000, 0}},
	{"gemini/stop-with-empty-text", REPLY_unreadable, .detail = "finish_reason STOP, but no text", .usage = {900, 0, 80, 0}},
	{"gemini/stop-without-parts", REPLY_unreadable, .detail = "finish_reason STOP, but no text", .usage = {900, 0, 80, 0}},
	{"gemini/without-content", REPLY_refused, .detail = "finish_reason OTHER", .usage = {900, 0, 80, 0}},
	{"gemini/safety", REPLY_blocked, .detail = "finish_reason SAFETY", .usage = {900, 0, 80, 0}},
	{"gemini/recitation-with-text", REPLY_blocked, .usage = {900, 0, 80, 0}},
	{"gemini/prompt-blocked", REPLY_blocked, .detail = "the prompt was blocked: PROHIBITED_CONTENT", .usage = {900, 0, 0, 0}},
	{"gemini/no-candidates", REPLY_unreadable, .detail = "no candidates", .usage = {900, 0, 0, 0}},
	{"gemini/of-another-format", REPLY_unreadable, .usage = UNKNOWN},
	{"gemini/error-with-200", REPLY_overloaded, .detail = "UNAVAILABLE: The model is overloaded.", .usage = UNKNOWN},
	{"gemini/html-with-200", REPLY_unreadable, .usage = UNKNOWN},
	{"gemini/cut", REPLY_unreadable, .detail = "the body broke off", .usage = UNKNOWN},
	{"gemini/duplicate-key", REPLY_unreadable, .usage = UNKNOWN},
	{"gemini/number-too-large", REPLY_unreadable, .usage = UNKNOWN},
	{"gemini/400-unknown-field", REPLY_rejected, .usage = UNKNOWN},
	{"gemini/400-too-many-states", REPLY_rejected, .usage = UNKNOWN},
	{"gemini/400-api-key-invalid", REPLY_credentials, .usage = UNKNOWN},
	{"gemini/400-failed-precondition", REPLY_credentials, .usage = UNKNOWN},
	{"gemini/401-unauthenticated", REPLY_credentials, .usage = UNKNOWN},
	{"gemini/402-money", REPLY_credentials, .usage = UNKNOWN},
	{"gemini/403-permission", REPLY_credentials, .usage = UNKNOWN},
	{"gemini/404-model", REPLY_credentials, .usage = UNKNOWN},
	{"gemini/413-html", REPLY_rejected, .usage = UNKNOWN},
	{"gemini/429-per-minute", REPLY_rate_limited, .detail = "RESOURCE_EXHAUSTED: You exceeded your current quota.", .usage = UNKNOWN, .wait_ms = 34070},
	{"gemini/429-per-day", REPLY_credentials, .usage = UNKNOWN, .wait_ms = 34070},
	{"gemini/429-bare", REPLY_rate_limited, .usage = UNKNOWN},
	{"gemini/429-hint-is-nonsense", REPLY_rate_limited, .usage = UNKNOWN},
	{"gemini/429-header-before-body", REPLY_rate_limited, .usage = UNKNOWN, .wait_ms = 7000},
	{"gemini/429-in-an-array", REPLY_rate_limited, .detail = "RESOURCE_EXHAUSTED: You exceeded your current quota.", .usage = UNKNOWN, .wait_ms = 34070},
	{"gemini/499-cancelled", REPLY_broken_off, .usage = UNKNOWN},
	{"gemini/500-internal", REPLY_server_error, .usage = UNKNOWN},
	{"gemini/503-unavailable", REPLY_overloaded, .usage = UNKNOWN},
	{"gemini/504-deadline", REPLY_broken_off, .usage = UNKNOWN},
	{"anthropic/ok", REPLY_complete, .text = "Dear Ms Sato", .finish = "end_turn", .model = "claude-haiku-4-5-20251001", .request_id = "req_1", .usage = {900, 0, 80, 0}},
	{"anthropic/thinking", REPLY_complete, .text = "Dear Ms Sato", .request_id = "msg_1", .usage = {900, 0, 480, 0}},
	{"anthropic/cached", REPLY_complete, .text = "Dear Ms Sato", .usage = {4300, 4000, 80, 200}},
	{"anthropic/cached-for-an-hour", REPLY_complete, .text = "Dear Ms Sato", .usage = UNKNOWN},
	{"anthropic/usage-as-strings", REPLY_complete, .text = "Dear Ms Sato", .usage = {1000, 100, 80, 0}},
	{"anthropic/usage-absent", REPLY_complete, .text = "Dear Ms Sato", .usage = UNKNOWN},
	{"anthropic/usage-zero", REPLY_complete, .text = "Dear Ms Sato", .usage = UNKNOWN},
	{"anthropic/usage-nonsense", REPLY_complete, .text = "Dear Ms Sato", .usage = UNKNOWN},
	{"anthropic/several-blocks", REPLY_complete, .text = "Dear Ms Sato", .usage = {900, 0, 80, 0}},
	{"anthropic/other-model", REPLY_complete, .text = "Dear Ms Sato", .model = "claude-sonnet-5-5", .usage = {900, 0, 80, 0}},
	{"anthropic/truncated", REPLY_truncated, .text = "Dear Ms", .usage = {900, 0, 80, 0}},
	{"anthropic/truncated-by-thinking", REPLY_truncated, .text = "", .usage = {900, 0, 80, 0}},
	{"anthropic/context-full", REPLY_truncated, .text = "Dear", .usage = {900, 0, 80, 0}},
	{"anthropic/refusal", REPLY_refused, .finish = "refusal", .detail = "This request was declined.", .usage = {900, 0, 80, 0}},
	{"anthropic/refusal-with-text", REPLY_refused, .detail = "finish_reason refusal", .usage = {900, 0, 80, 0}},
	{"anthropic/tool-use", REPLY_refused, .detail = "finish_reason tool_use", .usage = {900, 0, 80, 0}},
	{"anthropic/paused", REPLY_refused, .detail = "finish_reason pause_turn", .usage = {900, 0, 80, 0}},
	{"anthropic/stop-sequence", REPLY_refused, .detail = "finish_reason stop_sequence", .usage = {900, 0, 80, 0}},
	{"anthropic/unknown-stop", REPLY_refused, .detail = "finish_reason compaction", .usage = {900, 0, 80, 0}},
	{"anthropic/no-stop", REPLY_refused, .detail = "finish_reason absent", .usage = {900, 0, 80, 0}},
	{"anthropic/empty-end-turn", REPLY_refused, .detail = "finish_reason end_turn, but no text", .usage = {900, 0, 80, 0}},
	{"anthropic/blank-end-turn", REPLY_refused, .detail = "finish_reason end_turn, but no text", .usage = {900, 0, 80, 0}},
	{"anthropic/content-is-text", REPLY_unreadable, .detail = "no content that is a list", .usage = {900, 0, 80, 0}},
	{"anthropic/error-with-200", REPLY_overloaded, .detail = "overloaded_error: Overloaded", .usage = UNKNOWN},
	{"anthropic/html-with-200", REPLY_unreadable, .usage = UNKNOWN},
	{"anthropic/cut", REPLY_unreadable, .detail = "the body broke off", .usage = UNKNOWN},
	{"anthropic/400-invalid-request", REPLY_rejected, .request_id = "req_1", .usage = UNKNOWN},
	{"anthropic/400-temperature", REPLY_rejected, .usage = UNKNOWN},
	{"anthropic/400-no-money", REPLY_credentials, .usage = UNKNOWN},
	{"anthropic/400-spend-limit", REPLY_credentials, .usage = UNKNOWN},
	{"anthropic/401-authentication", REPLY_credentials, .detail = "authentication_error: invalid x-api-key", .usage = UNKNOWN},
	{"anthropic/402-billing", REPLY_credentials, .usage = UNKNOWN},
	{"anthropic/403-permission", REPLY_credentials, .usage = UNKNOWN},
	{"anthropic/404-model", REPLY_credentials, .usage = UNKNOWN},
	{"anthropic/409-conflict", REPLY_server_error, .usage = UNKNOWN},
	{"anthropic/413-too-large", REPLY_rejected, .usage = UNKNOWN},
	{"anthropic/413-html", REPLY_rejected, .usage = UNKNOWN},
	{"anthropic/429-rate-limit", REPLY_rate_limited, .usage = UNKNOWN, .wait_ms = 12000},
	{"anthropic/429-date", REPLY_rate_limited, .usage = UNKNOWN, .wait_ms = 10000},
	{"anthropic/429-spend-limit", REPLY_credentials, .usage = UNKNOWN},
	{"anthropic/500-api-error", REPLY_server_error, .usage = UNKNOWN},
	{"anthropic/503-html", REPLY_overloaded, .usage = UNKNOWN},
	{"anthropic/504-timeout", REPLY_broken_off, .usage = UNKNOWN},
	{"anthropic/529-overloaded", REPLY_overloaded, .usage = UNKNOWN},
	{"openai/ok", REPLY_complete, .text = "Dear Ms Sato", .finish = "stop", .model = "gpt-6.2-sol-2026-11-17", .request_id = "req_1", .usage = {900, 0, 80, 0}},
	{"openai/reasoning", REPLY_complete, .text = "Dear Ms Sato", .request_id = "chatcmpl-1", .usage = {900, 0, 480, 0}},
	{"openai/cached", REPLY_complete, .text = "Dear Ms Sato", .usage = {4300, 4000, 80, 200}},
	{"openai/usage-as-strings", REPLY_complete, .text = "Dear Ms Sato", .usage = {900, 0, 80, 0}},
	{"openai/usage-absent", REPLY_complete, .text = "Dear Ms Sato", .usage = UNKNOWN},
	{"openai/usage-zero", REPLY_complete, .text = "Dear Ms Sato", .usage = UNKNOWN},
	{"openai/other-model", REPLY_complete, .text = "Dear Ms Sato", .model = "gpt-6-luna", .usage = {900, 0, 80, 0}},
	{"openai/truncated", REPLY_truncated, .text = "Dear Ms", .usage = {900, 0, 80, 0}},
	{"openai/refusal", REPLY_refused, .detail = "I cannot help with that.", .usage = {900, 0, 80, 0}},
	{"openai/empty-stop", REPLY_refused, .detail = "finish_reason stop, but no text", .usage = {900, 0, 80, 0}},
	{"openai/tool-calls", REPLY_refused, .detail = "finish_reason tool_calls", .usage = {900, 0, 80, 0}},
	{"openai/function-call", REPLY_refused, .usage = {900, 0, 80, 0}},
	{"openai/finish-error", REPLY_refused, .detail = "finish_reason error", .usage = {900, 0, 80, 0}},
	{"openai/finish-abort", REPLY_refused, .detail = "finish_reason abort", .usage = {900, 0, 80, 0}},
	{"openai/finish-eos", REPLY_refused, .detail = "finish_reason eos", .usage = {900, 0, 80, 0}},
	{"openai/finish-repetition", REPLY_refused, .detail = "finish_reason repetition", .usage = {900, 0, 80, 0}},
	{"openai/finish-null", REPLY_refused, .detail = "finish_reason absent", .usage = {900, 0, 80, 0}},
	{"openai/content-filter", REPLY_blocked, .detail = "finish_reason content_filter", .usage = {900, 0, 80, 0}},
	{"openai/no-choices", REPLY_unreadable, .usage = {900, 0, 80, 0}},
	{"openai/error-with-200", REPLY_rate_limited, .detail = "Rate limited upstream", .usage = UNKNOWN},
	{"openai/error-with-200-no-code", REPLY_unreadable, .detail = "Provider returned error", .usage = UNKNOWN},
	{"openai/html-with-200", REPLY_unreadable, .usage = UNKNOWN},
	{"openai/cut", REPLY_unreadable, .detail = "the body broke off", .usage = UNKNOWN},
	{"openai/400-unsupported-parameter", REPLY_rejected, .detail = "unsupported_parameter: Unsupported parameter: 'max_tokens'", .usage = UNKNOWN},
	{"openai/400-unsupported-value", REPLY_rejected, .usage = UNKNOWN},
	{"openai/400-content-filter", REPLY_blocked, .usage = UNKNOWN},
	{"openai/400-context-size", REPLY_rejected, .usage = UNKNOWN},
	{"openai/400-budget-of-a-gateway", REPLY_credentials, .usage = UNKNOWN},
	{"openai/400-flat", REPLY_rejected, .detail = "BadRequestError: max_tokens is too large", .usage = UNKNOWN},
	{"openai/401-key", REPLY_credentials, .usage = UNKNOWN},
	{"openai/402-money", REPLY_credentials, .usage = UNKNOWN},
	{"openai/403-region", REPLY_credentials, .usage = UNKNOWN},
	{"openai/404-model", REPLY_credentials, .usage = UNKNOWN},
	{"openai/408-timeout", REPLY_broken_off, .usage = UNKNOWN},
	{"openai/409-conflict", REPLY_server_error, .usage = UNKNOWN},
	{"openai/413-html", REPLY_rejected, .usage = UNKNOWN},
	{"openai/422-unprocessable", REPLY_rejected, .usage = UNKNOWN},
	{"openai/429-rate-limit", REPLY_rate_limited, .usage = UNKNOWN, .wait_ms = 1500},
	{"openai/429-fraction", REPLY_rate_limited, .usage = UNKNOWN, .wait_ms = 250},
	{"openai/429-hint-is-nonsense", REPLY_rate_limited, .usage = UNKNOWN},
	{"openai/429-rate-limit-of-type-quota", REPLY_rate_limited, .usage = UNKNOWN},
	{"openai/429-slow-down", REPLY_overloaded, .usage = UNKNOWN},
	{"openai/429-resource-unavailable", REPLY_overloaded, .usage = UNKNOWN},
	{"openai/429-insufficient-quota", REPLY_credentials, .usage = UNKNOWN},
	{"openai/429-credit-balance-exhausted", REPLY_credentials, .usage = UNKNOWN},
	{"openai/429-billing-hard-limit-reached", REPLY_credentials, .usage = UNKNOWN},
	{"openai/500-server-error", REPLY_server_error, .usage = UNKNOWN},
	{"openai/503-slow-down", REPLY_overloaded, .usage = UNKNOWN},
	{"openai/503-loading", REPLY_overloaded, .usage = UNKNOWN},
};
/* clang-format on */
enum { N_TABLE = sizeof(table) / sizeof(table[0]) };

/* The file: a status line, headers, an empty line, the body. A content-length over the body's says that it broke off. */
static struct http_reply read_fixture(struct arena *a, const char *file)
{
	struct str path = arena_printf(a, "tests/data/wire/%s.http", file);
	char *text = arena_alloc(a, 65536);
	FILE *f = fopen(path.p, "r");

	if (!f)
		fail_msg("%s: no such file", path.p);
	struct str all = {text, fread(text, 1, 65535, f)};
	assert_int_equal(fclose(f), 0);
	int64_t line_end = str_find(all, STR_OF("\n"), 0),
		head_end = str_find(all, STR_OF("\n\n"), 0);
	assert_true(str_starts(all, "HTTP/1.1 ") && head_end > line_end);
	struct http_reply http = {
		.status = atoi(text + strlen("HTTP/1.1 ")),
		.headers = str_sub(all, (size_t)line_end + 1, (size_t)(head_end - line_end)),
		.body = str_sub(all, (size_t)head_end + 2, all.n)};
	struct str length = http_header(http.headers, "content-length");
	http.whole = !length.p || (size_t)atoi(length.p) <= http.body.n;
	return http;
}

static const struct wire *wire_of(const char *file)
{
	return wire_named((struct str){file, strcspn(file, "/")});
}

static void same(const char *file, const char *what, struct str got, const char *want)
{
	if (want ? !str_is(got, want) : got.p != NULL)
		fail_msg("%s: %s '%.*s', not '%s'", file, what, STR_ARG(got),
			 want ? want : "(none)");
}

static void same_count(const char *file, const char *what, int64_t got, int64_t want)
{
	if (got != want)
		fail_msg("%s: %s %lld, not %lld", file, what, (long long)got, (long long)want);
}

static void each_stored_reply_is_read_as_the_table_says(void **state)
{
	for (int i = 0; i < N_TABLE; i++) {
		const struct expected *e = &table[i];
		const struct http_reply http = read_fixture(*state, e->file);
		struct reply r;

		wire_of(e->file)->reply(&http, RECEIVED_MS, *state, &r);
		if (r.class != e->class)
			fail_msg("%s: %s, not %s (%.*s)", e->file, reply_class_name(r.class),
				 reply_class_name(e->class), STR_ARG(r.detail));
		same(e->file, "text", r.text, e->text);
		if (e->finish)
			same(e->file, "finish reason", r.finish_reason, e->finish);
		if (e->model)
			same(e->file, "model", r.model, e->model);
		if (e->request_id)
			same(e->file, "request", r.request_id, e->request_id);
		if (e->detail)
			same(e->file, "detail", r.detail, e->detail);
		same_count(e->file, "tokens in", r.usage.in, e->usage.in);
		same_count(e->file, "tokens cached", r.usage.cached, e->usage.cached);
		same_count(e->file, "tokens written", r.usage.cache_write, e->usage.cache_write);
		same_count(e->file, "tokens out", r.usage.out, e->usage.out);
		same_count(e->file, "wait in ms", r.retry_after_ms, e->wait_ms ? e->wait_ms : -1);
	}
}

static void no_stored_reply_is_without_a_row(void **state)
{
	static const char *const wires[] = {"openai", "gemini", "anthropic"};
	int n = 0;

	for (int i = 0; i < 3; i++) {
		DIR *folder = opendir(arena_printf(*state, "tests/data/wire/%s", wires[i]).p);
		assert_non_null(folder);
		for (struct dirent *entry; (entry = readdir(folder));)
			n += strstr(entry->d_name, ".http") != NULL;
		closedir(folder);
	}
	assert_int_equal(n, N_TABLE);
}

/* --- lists that need no file each --- */

static enum reply_class class_of(struct arena *a, const char *wire, const char *format,
				 const char *word)
{
	char body[500];
	struct reply r;

	snprintf(body, sizeof(body), format, word);
	const struct http_reply http = {200, STR(""), str_c(body), true};
	wire_named(str_c(wire))->reply(&http, RECEIVED_MS, a, &r);
	return r.class;
}

#define CANDIDATE                                                                                  \
	"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Dear\"}]},\"finishReason\":\"%s\"}]}"

static void only_a_stop_of_gemini_is_complete(void **state)
{
	static const char *const blocked[] = {"SAFETY",
					      "RECITATION",
					      "BLOCKLIST",
					      "PROHIBITED_CONTENT",
					      "SPII",
					      "IMAGE_SAFETY",
					      "IMAGE_PROHIBITED_CONTENT",
					      "IMAGE_RECITATION"};
	static const char *const refused[] = {"FINISH_REASON_UNSPECIFIED",
					      "LANGUAGE",
					      "OTHER",
					      "MALFORMED_FUNCTION_CALL",
					      "UNEXPECTED_TOOL_CALL",
					      "TOO_MANY_TOOL_CALLS",
					      "NO_IMAGE",
					      "IMAGE_OTHER",
					      "MISSING_THOUGHT_SIGNATURE",
					      "MALFORMED_RESPONSE",
					      "ESCALATION",
					      "stop",
					      "STOP_2",
					      ""};

	assert_int_equal(class_of(*state, "gemini", CANDIDATE, "STOP"), REPLY_complete);
	assert_int_equal(class_of(*state, "gemini", CANDIDATE, "MAX_TOKENS"), REPLY_truncated);
	for (size_t i = 0; i < sizeof(blocked) / sizeof(blocked[0]); i++)
		assert_int_equal(class_of(*state, "gemini", CANDIDATE, blocked[i]), REPLY_blocked);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_int_equal(class_of(*state, "gemini", CANDIDATE, refused[i]), REPLY_refused);
}

static void a_prompt_is_blocked_for_whatever_reason(void **state)
{
	static const char *const reasons[] = {"BLOCK_REASON_UNSPECIFIED",
					      "SAFETY",
					      "OTHER",
					      "BLOCKLIST",
					      "PROHIBITED_CONTENT",
					      "IMAGE_SAFETY",
					      "MODEL_ARMOR",
					      "JAILBREAK",
					      "NEW_REASON"};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		assert_int_equal(class_of(*state, "gemini",
					  "{\"promptFeedback\":{\"blockReason\":\"%s\"}}",
					  reasons[i]),
				 REPLY_blocked);
}

#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, new_arena, free_arena)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_ARENA(each_stored_reply_is_read_as_the_table_says),
		WITH_ARENA(no_stored_reply_is_without_a_row),
		WITH_ARENA(only_a_stop_of_gemini_is_complete),
		WITH_ARENA(a_prompt_is_blocked_for_whatever_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
