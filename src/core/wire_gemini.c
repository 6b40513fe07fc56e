/* POST https://generativelanguage.googleapis.com/v1beta/models/MODEL:generateContent. */
#include "wire_parts.h"

static void put_content(struct json_out *o, const char *key, const char *role,
			const struct buf *text)
{
	json_open(o, key, '{');
	if (role)
		json_put_str(o, "role", str_c(role));
	json_open(o, "parts", '[');
	json_open(o, NULL, '{');
	json_put_str(o, "text", buf_view(text));
	json_close(o, '}');
	json_close(o, ']');
	json_close(o, '}');
}

static void put_schema(struct json_out *o, enum schema_mode mode, struct str schema)
{
	if (!schema.n || mode == SCHEMA_MODE_NONE)
		return;
	json_put_str(o, "responseMimeType", STR_OF("application/json"));
	if (mode == SCHEMA_MODE_JSON_SCHEMA)
		json_put_raw(o, "responseJsonSchema", schema);
	else if (mode == SCHEMA_MODE_OPENAPI)
		json_put_raw(o, "responseSchema", schema);
}

/* Level and budget together would be an error. */
static void put_thinking(struct json_out *o, const struct model *model)
{
	int64_t tokens = model_thinking_tokens(model);

	if (!model->thinking.p)
		return;
	json_open(o, "thinkingConfig", '{');
	if (tokens >= 0)
		json_put_int(o, "thinkingBudget", tokens);
	else
		json_put_str(o, "thinkingLevel", model->thinking);
	json_close(o, '}');
}

static void write_request(const struct model *model, const struct prompt *prompt,
			  int64_t max_output_tokens, struct buf *body)
{
	struct json_out o = {.buf = body};

	json_open(&o, NULL, '{');
	put_content(&o, "systemInstruction", NULL, &prompt->system);
	json_open(&o, "contents", '[');
	put_content(&o, NULL, "user", &prompt->user);
	json_close(&o, ']');
	json_open(&o, "generationConfig", '{');
	json_put_int(&o, "maxOutputTokens", max_output_tokens);
	put_temperature(&o, model);
	put_schema(&o, model->schema_mode, buf_view(&prompt->schema));
	put_thinking(&o, model);
	json_close(&o, '}');
	json_close(&o, '}');
}

static int64_t sum(int64_t a, int64_t b)
{
	return a < 0 || b < 0 ? -1 : a + b;
}

/* Cached tokens are part of the prompt's; thoughts are billed as output, but counted beside the candidates. A count of zero is left out; a
 * prompt has tokens. What the total has over the parts is taken for output, the dearer kind. */
static struct usage read_usage(const struct json *root)
{
	const struct json *usage = json_get(root, "usageMetadata");
	int64_t cached = reply_count(usage, "cachedContentTokenCount", 0);
	int64_t total = reply_count(usage, "totalTokenCount", 0);
	struct usage u = {.in = sum(reply_count(usage, "promptTokenCount", -1),
				    reply_count(usage, "toolUsePromptTokenCount", 0)),
			  .out = sum(reply_count(usage, "candidatesTokenCount", 0),
				     reply_count(usage, "thoughtsTokenCount", 0))};

	if (u.in < 0 || u.out < 0)
		return (struct usage){.in = -1, .out = -1};
	if (total - u.in > u.out)
		u.out = total - u.in;
	if (cached > 0 && cached <= u.in)
		u.cached = cached;
	return u;
}

static bool is_text(const struct json *part)
{
	bool thought = false;

	return !(json_get_bool(part, "thought", &thought) && thought);
}

static void read_candidate(struct arena *a, const struct json *candidate, struct reply *out)
{
	static const struct ending endings[] = {{"STOP", REPLY_complete},
						{"MAX_TOKENS", REPLY_truncated},
						{"SAFETY", REPLY_blocked},
						{"RECITATION", REPLY_blocked},
						{"BLOCKLIST", REPLY_blocked},
						{"PROHIBITED_CONTENT", REPLY_blocked},
						{"SPII", REPLY_blocked},
						{"IMAGE_SAFETY", REPLY_blocked},
						{"IMAGE_PROHIBITED_CONTENT", REPLY_blocked},
						{"IMAGE_RECITATION", REPLY_blocked},
						{0}};
	const struct json *parts = json_get(json_get(candidate, "content"), "parts");

	out->finish_reason = reply_word(a, candidate, "finishReason");
	if (json_kind(parts) != JSON_NULL && json_kind(parts) != JSON_ARRAY) {
		reply_fail(a, REPLY_unreadable, STR_OF("candidates[0].content.parts is no list"),
			   out);
		return;
	}
	reply_end(a, endings, reply_join(a, parts, is_text), out);
	/* A stop without a text is a known hiccup of the service, and no decision of the model. */
	if (out->class == REPLY_refused && str_is(out->finish_reason, "STOP"))
		out->class = REPLY_unreadable;
}

static void read_answer(struct arena *a, const struct json *root, struct reply *out)
{
	const struct json *candidates = json_get(root, "candidates");
	struct str why = reply_word(a, json_get(root, "promptFeedback"), "blockReason");

	if (json_kind(candidates) == JSON_ARRAY && json_size(candidates) > 0)
		read_candidate(a, json_item(candidates, 0), out);
	else if (why.p)
		reply_fail(a, REPLY_blocked,
			   arena_printf(a, "the prompt was blocked: %.*s", STR_ARG(why)), out);
	else
		reply_fail(a, REPLY_unreadable, STR_OF("no candidates"), out);
}

static void read_reply(const struct http_reply *http, int64_t received_ms, struct arena *a,
		       struct reply *out)
{
	static const struct reply_format format = {"modelVersion", "responseId", read_usage,
						   read_answer};

	reply_read(&format, http, received_ms, a, out);
}

static const char *const levels[] = {"minimal", "low", "medium", "high", "xhigh", NULL};

const struct wire wire_gemini = {
	.name = "gemini",
	.base_url = "https://generativelanguage.googleapis.com/v1beta",
	.path = "/models/{model}:generateContent",
	.auth_header = "x-goog-api-key",
	.auth_prefix = "",
	.level = levels,
	.budget_min_tokens = 0,
	.schema_modes = 1 << SCHEMA_MODE_JSON_SCHEMA | 1 << SCHEMA_MODE_JSON_OBJECT |
			1 << SCHEMA_MODE_OPENAPI | 1 << SCHEMA_MODE_NONE,
	.schema_bounds = true,
	.text_bounds = 1 << SCHEMA_MODE_OPENAPI,
	.temperature_max_milli = 2000,
	.request = write_request,
	.reply = read_reply,
};
