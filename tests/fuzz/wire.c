/*
 * wire.c - what providers send, made wrong, and prompts of any bytes: every reply of every format has a class and a usage that can
 * be priced, only what its format calls complete is a text, and every request is JSON.
 */
#include "../lib/fuzz.h"

#include "core/cost.h"

static const struct str openai[] = {
	STR("{\"id\":\"c-1\",\"model\":\"m-1\",\"choices\":[{\"index\":0,\"finish_reason\":\"stop\",\"message\":"
	    "{\"role\":\"assistant\",\"content\":\"Dear Ms Tanaka\",\"refusal\":null}}],\"usage\":{\"prompt_tokens\":120,"
	    "\"completion_tokens\":40,\"prompt_tokens_details\":{\"cached_tokens\":64}}}"),
	STR("{\"choices\":[{\"finish_reason\":\"length\",\"message\":{\"content\":\"Dear\"}}],\"usage\":null}"),
	STR("{\"choices\":[{\"finish_reason\":\"content_filter\",\"message\":{\"content\":null,\"refusal\":\"No.\"}}]}"),
	STR("{\"error\":{\"message\":\"slow down あ\",\"type\":\"requests\",\"code\":\"rate_limit\"}}"),
	STR("{\"error\":\"bad\"}"),
	STR(""),
};
static const struct str gemini[] = {
	STR("{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Hm.\",\"thought\":true},{\"text\":\"Dear \"},"
	    "{\"text\":\"Ms Tanaka\"}]},\"finishReason\":\"STOP\",\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":120,"
	    "\"cachedContentTokenCount\":64,\"candidatesTokenCount\":40,\"thoughtsTokenCount\":\"7\",\"totalTokenCount\":167},"
	    "\"modelVersion\":\"m-1\",\"responseId\":\"r-1\"}"),
	STR("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Dear\"}]},\"finishReason\":\"MAX_TOKENS\"}],\"usageMetadata\":{\"promptTokenCount\":1}}"),
	STR("{\"promptFeedback\":{\"blockReason\":\"SAFETY\"},\"usageMetadata\":{\"promptTokenCount\":120}}"),
	STR("[{\"error\":{\"code\":429,\"message\":\"quota あ\",\"status\":\"RESOURCE_EXHAUSTED\",\"details\":[{\"violations\":"
	    "[{\"quotaId\":\"RequestsPerDay\"}]},{\"retryDelay\":\"34.07s\"}]}}]"),
	STR("{\"error\":{\"code\":400,\"status\":\"INVALID_ARGUMENT\",\"details\":[{\"reason\":\"API_KEY_INVALID\"}]}}"),
};
static const struct str anthropic[] = {
	STR("{\"id\":\"msg_1\",\"type\":\"message\",\"model\":\"m-1\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"Hm.\"},"
	    "{\"type\":\"text\",\"text\":\"Dear \"},{\"type\":\"text\",\"text\":\"Ms Tanaka\"}],\"stop_reason\":\"end_turn\",\"usage\":"
	    "{\"input_tokens\":20,\"cache_creation_input_tokens\":36,\"cache_read_input_tokens\":64,\"output_tokens\":40}}"),
	STR("{\"content\":[{\"type\":\"text\",\"text\":\"Dear\"}],\"stop_reason\":\"max_tokens\",\"usage\":{\"input_tokens\":1,"
	    "\"cache_creation\":{\"ephemeral_1h_input_tokens\":9},\"output_tokens\":1}}"),
	STR("{\"content\":[],\"stop_reason\":\"refusal\",\"stop_details\":{\"explanation\":\"No.\"}}"),
	STR("{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Your credit balance is too low\"}}"),
	STR("{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"あ\",\"details\":{\"error_code\":\"x\"}}}"),
};
#define CORPUS(c) (c), sizeof(c) / sizeof(*(c))
static const struct format {
	const char *wire;
	const struct str *body;
	int n_body;
} formats[] = {
	{"openai", CORPUS(openai)}, {"gemini", CORPUS(gemini)}, {"anthropic", CORPUS(anthropic)}};
static const struct str headers[] = {
	STR("content-type: application/json\ndate: Mon, 30 Nov 2026 00:00:00 GMT\nretry-after: 12\nx-request-id: r-1\n"),
	STR("retry-after: Mon, 30 Nov 2026 00:01:00 GMT\n"),
	STR("x-request-id: \xE3\x81\nretry-after: 1.5\nrequest-id: b\n"),
	STR("retry-after: 604800\nretry-after-ms: 1500.5\n"),
	STR(""),
};
static const int64_t received_ms = INT64_C(1795996800000); /* 2026-11-30T00:00:00Z */

/* ---- the only replies that may count as a text: 200, whole, and the format's good end ---- */

static const struct json *first(const struct json *array)
{
	return json_kind(array) == JSON_ARRAY && json_size(array) > 0 ? json_item(array, 0) : NULL;
}

static bool word_is(const struct json *o, const char *key, const char *word)
{
	struct str s;

	return json_get_str(o, key, &s) && str_is(s, word);
}

static bool ends_well(const char *wire, const struct json *doc)
{
	const struct json *choice = first(json_get(doc, "choices"));
	struct str refusal = {NULL, 0};

	if (strcmp(wire, "gemini") == 0)
		return word_is(first(json_get(doc, "candidates")), "finishReason", "STOP");
	if (strcmp(wire, "anthropic") == 0)
		return word_is(doc, "stop_reason", "end_turn");
	(void)json_get_str(json_get(choice, "message"), "refusal", &refusal);
	return word_is(choice, "finish_reason", "stop") && refusal.n == 0;
}

static bool may_be_complete(const char *wire, const struct http_reply *http)
{
	struct json *doc;
	struct err err;

	if (http->status != 200 || !http->whole || json_read(http->body, &doc, &err) != JSON_FINE)
		return false;
	bool fine = ends_well(wire, doc);
	json_free(doc);
	return fine;
}

static void price(struct fuzz *f, struct usage u)
{
	static const struct price p = {
		.in = 3000000, .cached = 300000, .out = 15000000, .cache_write = 3750000};
	static const struct model model = {.price = &p, .n_price = 1};

	if (u.in >= 0 && u.out >= 0)
		FUZZ_TRUE(f, cost_micro_usd(&model, u, 0) >= 0);
}

static void a_reply_has_a_class_whatever_it_is(struct fuzz *f)
{
	static const int statuses[] = {200, 200, 200, 200, 200, 0,   201, 301, 400, 401, 402, 403,
				       404, 408, 409, 413, 422, 429, 500, 503, 529, 600, 999, -1};
	const struct format *format = &FUZZ_PICK(f, formats);
	struct str head = fuzz_mutate(f, headers, sizeof(headers) / sizeof(*headers));
	struct http_reply http = {FUZZ_PICK(f, statuses), head,
				  fuzz_mutate(f, format->body, format->n_body),
				  !fuzz_chance(f, 10)};
	struct reply r;

	memset(&r, 0xA5, sizeof(r));
	wire_named(str_c(format->wire))->reply(&http, received_ms, f->a, &r);
	FUZZ_TRUE(f, r.class < N_REPLY_CLASSES && r.class != REPLY_unsent);
	if (r.class == REPLY_complete || r.class == REPLY_truncated)
		FUZZ_TRUE(f, http.status == 200 && http.whole && text_is_utf8(r.text));
	else
		FUZZ_TRUE(f, r.text.n == 0);
	FUZZ_TRUE(f, r.class != REPLY_complete ||
			     (may_be_complete(format->wire, &http) && str_trim(r.text).n > 0));
	const struct str words[] = {r.model, r.request_id, r.finish_reason, r.detail};
	for (int i = 0; i < 4; i++)
		FUZZ_TRUE(f, text_is_utf8(words[i]) && words[i].n <= 300);
	FUZZ_TRUE(f, r.usage.in >= -1 && r.usage.out >= -1);
	price(f, r.usage);
	int64_t asked_ms = http_retry_after_ms(head, received_ms);
	FUZZ_TRUE(f, asked_ms < 0 ? r.retry_after_ms == -1 || r.retry_after_ms > 0
				  : r.retry_after_ms == asked_ms);
}

static void retry_after_is_a_sane_wait_or_none(struct fuzz *f)
{
	static const int64_t at[] = {0, 1795996800000, 1795996800000 + 59999, 253402300799999};
	struct str head = fuzz_mutate(f, headers, sizeof(headers) / sizeof(*headers));
	int64_t ms = http_retry_after_ms(head, FUZZ_PICK(f, at));

	FUZZ_TRUE(f, ms == -1 || (ms > 0 && ms <= INT64_C(7) * 24 * 3600 * 1000));
	FUZZ_TRUE(f, ms == -1 || http_header(head, "retry-after").n +
						 http_header(head, "retry-after-ms").n >
					 0);
}

/* ---- requests ---- */

static void a_request_is_json_whatever_the_prompt(struct fuzz *f)
{
	static const struct str texts[] = {STR("Judge \"this\".\n"), STR("丁寧に\xF0\x9F\x98\x80"),
					   STR("\x01\\")};
	static const struct str thoughts[] = {STR("low"), STR("none"), STR("2048"), {NULL, 0}};
	static const enum want wants[] = {WANT_TEXT, WANT_CRITIQUE, WANT_DRAFT};
	struct model m = {.id = STR("m-1"),
			  .wire = wire_named(str_c(FUZZ_PICK(f, formats).wire)),
			  .max_output_tokens = 4096,
			  .max_tokens_field = STR("max_tokens"),
			  .thinking = FUZZ_PICK(f, thoughts),
			  .sampling = fuzz_chance(f, 50) ? SAMPLING_SEND : SAMPLING_REJECT,
			  .temperature_milli = fuzz_draw(f, 2001),
			  .schema_mode = (enum schema_mode)fuzz_draw(f, SCHEMA_MODE_NONE + 1)};
	struct prompt p = {BUF(FUZZ_BYTES_MAX), BUF(FUZZ_BYTES_MAX), FUZZ_PICK(f, wants), BUF(100)};
	struct buf body = BUF(8 * FUZZ_BYTES_MAX);
	struct json *doc = NULL;
	struct err err = {""};

	if (wire_check(&m, &err) == ST_OK) {
		buf_str(&p.system, fuzz_mutate(f, texts, 3));
		buf_str(&p.user, fuzz_mutate(f, texts, 3));
		buf_puts(&p.schema, "{}");
		m.wire->request(&m, &p, 4096, &body);
		enum json_fault fault = json_read(buf_view(&body), &doc, &err);
		/* A NUL in a prompt cannot come to pass, but the reader refuses it. */
		bool has_nul = memchr(p.system.p ? p.system.p : "", 0, p.system.n) ||
			       memchr(p.user.p ? p.user.p : "", 0, p.user.n);
		FUZZ_TRUE(f, fault == JSON_FINE || has_nul);
		json_free(doc);
	} else {
		FUZZ_TRUE(f, strstr(err.text, ": ") != NULL);
	}
	buf_release(&p.system);
	buf_release(&p.user);
	buf_release(&p.schema);
	buf_release(&body);
}

int main(int argc, char **argv)
{
	static const struct fuzz_test tests[] = {
		{"a reply has a class whatever it is", a_reply_has_a_class_whatever_it_is, 60000},
		{"retry-after is a sane wait or none", retry_after_is_a_sane_wait_or_none, 40000},
		{"a request is JSON whatever the prompt", a_request_is_json_whatever_the_prompt,
		 20000},
	};

	return FUZZ_MAIN(tests);
}
