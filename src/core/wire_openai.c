/* Chat completions, not streamed; POST https://api.openai.com/v1/chat/completions, and what imitates it. */
#include "wire_parts.h"

static void put_message(struct json_out *o, const char *role, const struct buf *content)
{
	json_open(o, NULL, '{');
	json_put_str(o, "role", str_c(role));
	json_put_str(o, "content", buf_view(content));
	json_close(o, '}');
}

static void put_response_format(struct json_out *o, enum schema_mode mode,
				const struct prompt *prompt)
{
	if (!prompt->schema.n || mode == SCHEMA_MODE_NONE)
		return;
	json_open(o, "response_format", '{');
	if (mode == SCHEMA_MODE_JSON_OBJECT) {
		json_put_str(o, "type", STR_OF("json_object"));
	} else {
		json_put_str(o, "type", STR_OF("json_schema"));
		json_open(o, "json_schema", '{');
		json_put_str(o, "name",
			     str_c(prompt->want == WANT_CRITIQUE ? "critique"
				   : prompt->want == WANT_DRAFT	 ? "draft"
								 : "comparison"));
		json_put_bool(o, "strict", true);
		json_put_raw(o, "schema", buf_view(&prompt->schema));
		json_close(o, '}');
	}
	json_close(o, '}');
}

static void write_request(const struct model *model, const struct prompt *prompt,
			  int64_t max_output_tokens, struct buf *body)
{
	struct json_out o = {.buf = body};

	json_open(&o, NULL, '{');
	json_put_str(&o, "model", model->id);
	json_open(&o, "messages", '[');
	put_message(&o, "system", &prompt->system); /* not `developer`: imitators know only this */
	put_message(&o, "user", &prompt->user);
	json_close(&o, ']');
	json_put_int(&o, model->max_tokens_field.p, max_output_tokens);
	put_temperature(&o, model);
	if (model->thinking.p)
		json_put_str(&o, "reasoning_effort", model->thinking);
	put_response_format(&o, model->schema_mode, prompt);
	json_close(&o, '}');
}

/* Cached tokens are part of prompt_tokens, reasoning tokens of completion_tokens. */
static struct usage read_usage(const struct json *root)
{
	const struct json *usage = json_get(root, "usage");
	const struct json *details = json_get(usage, "prompt_tokens_details");
	struct usage u = {.in = reply_count(usage, "prompt_tokens", -1),
			  .out = reply_count(usage, "completion_tokens", -1)};
	int64_t cached = reply_count(details, "cached_tokens", 0);
	int64_t written = reply_count(details, "cache_write_tokens", 0);

	if (cached > 0 && cached <= u.in)
		u.cached = cached;
	if (written < 0 || written > u.in - u.cached) /* how many at the dearer price? */
		return (struct usage){.in = -1, .out = u.out};
	u.cache_write = written;
	return u;
}

static void read_answer(struct arena *a, const struct json *root, struct reply *out)
{
	static const struct ending endings[] = {{"stop", REPLY_complete},
						{"length", REPLY_truncated},
						{"content_filter", REPLY_blocked},
						{0}};
	const struct json *choices = json_get(root, "choices"), *choice = NULL;
	struct str content = STR(""), refusal = {NULL, 0};

	if (json_kind(choices) == JSON_ARRAY && json_size(choices) > 0)
		choice = json_item(choices, 0);
	const struct json *message = json_get(choice, "message");
	out->finish_reason = reply_word(a, choice, "finish_reason");
	if (json_kind(message) != JSON_OBJECT ||
	    (json_kind(json_get(message, "content")) != JSON_NULL &&
	     !json_get_str(message, "content", &content)))
		reply_fail(a, REPLY_unreadable,
			   STR_OF("no choices[0].message with a content of text"), out);
	else if (json_get_str(message, "refusal", &refusal) && refusal.n > 0)
		reply_fail(a, REPLY_refused, refusal, out);
	else
		reply_end(a, endings, content, out);
}

static void read_reply(const struct http_reply *http, int64_t received_ms, struct arena *a,
		       struct reply *out)
{
	static const struct reply_format format = {"model", "id", read_usage, read_answer};

	reply_read(&format, http, received_ms, a, out);
}

static const char *const levels[] = {"none", "minimal", "low", "medium",
				     "high", "xhigh",	"max", NULL};

const struct wire wire_openai = {
	.name = "openai",
	.base_url = "https://api.openai.com/v1",
	.path = "/chat/completions",
	.auth_header = "Authorization",
	.auth_prefix = "Bearer ",
	.level = levels,
	.budget_min_tokens = -1,
	.schema_modes =
		1 << SCHEMA_MODE_JSON_SCHEMA | 1 << SCHEMA_MODE_JSON_OBJECT | 1 << SCHEMA_MODE_NONE,
	.schema_bounds = true,
	.text_bounds = 1 << SCHEMA_MODE_JSON_SCHEMA,
	.temperature_max_milli = 2000,
	.request = write_request,
	.reply = read_reply,
};
