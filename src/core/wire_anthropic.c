/* Messages: POST https://api.anthropic.com/v1/messages. */
#include "wire_parts.h"

/* A level is an effort of adaptive thinking; a number is a budget, for models of before it. */
static void put_thinking(struct json_out *o, const struct model *model, bool is_effort)
{
	int64_t tokens = model_thinking_tokens(model);

	if (!model->thinking.p)
		return;
	json_open(o, "thinking", '{');
	if (tokens >= 0) {
		json_put_str(o, "type", STR_OF("enabled"));
		json_put_int(o, "budget_tokens", tokens);
	} else if (is_effort) {
		json_put_str(o, "type", STR_OF("adaptive"));
	} else if (str_is(model->thinking, "none")) {
		json_put_str(o, "type", STR_OF("disabled"));
	} else {
		json_put_str(o, "type", model->thinking);
	}
	json_close(o, '}');
}

static const char *const levels[] = {"low", "medium", "high",	       "xhigh",
				     "max", "none",   "between_tools", NULL};
enum { N_EFFORTS = 5 };

static void put_output_config(struct json_out *o, const struct model *model, bool is_effort,
			      struct str schema)
{
	bool has_format = schema.n && model->schema_mode == SCHEMA_MODE_JSON_SCHEMA;

	if (!is_effort && !has_format)
		return;
	json_open(o, "output_config", '{');
	if (is_effort)
		json_put_str(o, "effort", model->thinking);
	if (has_format) {
		json_open(o, "format", '{');
		json_put_str(o, "type", STR_OF("json_schema"));
		json_put_raw(o, "schema", schema);
		json_close(o, '}');
	}
	json_close(o, '}');
}

static void write_request(const struct model *model, const struct prompt *prompt,
			  int64_t max_output_tokens, struct buf *body)
{
	struct json_out o = {.buf = body};
	int level = str_among(model->thinking, levels);
	bool is_effort = level >= 0 && level < N_EFFORTS;

	json_open(&o, NULL, '{');
	json_put_str(&o, "model", model->id);
	json_put_int(&o, "max_tokens", max_output_tokens);
	json_put_str(&o, "system", buf_view(&prompt->system));
	json_open(&o, "messages", '[');
	json_open(&o, NULL, '{');
	json_put_str(&o, "role", STR_OF("user"));
	json_put_str(&o, "content", buf_view(&prompt->user));
	json_close(&o, '}');
	json_close(&o, ']');
	put_temperature(&o, model);
	put_thinking(&o, model, is_effort);
	put_output_config(&o, model, is_effort, buf_view(&prompt->schema));
	json_close(&o, '}');
}

/* The three counts of input add up; thinking is part of the output. Entries for an hour have a price of their own, which no row
 * has, and are never asked for: with them the usage counts as not told. */
static struct usage read_usage(const struct json *root)
{
	const struct json *usage = json_get(root, "usage");
	int64_t fresh = reply_count(usage, "input_tokens", -1);
	struct usage u = {.in = -1,
			  .cached = reply_count(usage, "cache_read_input_tokens", 0),
			  .cache_write = reply_count(usage, "cache_creation_input_tokens", 0),
			  .out = reply_count(usage, "output_tokens", -1)};

	if (fresh < 0 || u.cached < 0 || u.cache_write < 0 ||
	    reply_count(json_get(usage, "cache_creation"), "ephemeral_1h_input_tokens", 0) != 0)
		return (struct usage){.in = -1, .out = -1};
	u.in = fresh + u.cached + u.cache_write;
	return u;
}

static bool is_text(const struct json *block)
{
	struct str type;

	return json_get_str(block, "type", &type) && str_is(type, "text");
}

static void read_answer(struct arena *a, const struct json *root, struct reply *out)
{
	static const struct ending endings[] = {{"end_turn", REPLY_complete},
						{"max_tokens", REPLY_truncated},
						{"model_context_window_exceeded", REPLY_truncated},
						{0}};
	const struct json *content = json_get(root, "content");
	struct str why;

	out->finish_reason = reply_word(a, root, "stop_reason");
	if (json_kind(content) != JSON_ARRAY) {
		reply_fail(a, REPLY_unreadable, STR_OF("no content that is a list"), out);
		return;
	}
	reply_end(a, endings, reply_join(a, content, is_text), out);
	if (out->class == REPLY_refused &&
	    json_get_str(json_get(root, "stop_details"), "explanation", &why))
		reply_fail(a, REPLY_refused, why, out);
}

static void read_reply(const struct http_reply *http, int64_t received_ms, struct arena *a,
		       struct reply *out)
{
	static const struct reply_format format = {"model", "id", read_usage, read_answer};

	reply_read(&format, http, received_ms, a, out);
}

const struct wire wire_anthropic = {
	.name = "anthropic",
	.base_url = "https://api.anthropic.com/v1",
	.path = "/messages",
	.auth_header = "x-api-key",
	.auth_prefix = "",
	.header = "anthropic-version: 2023-06-01",
	.level = levels,
	.budget_min_tokens = 1024,
	.schema_modes = 1 << SCHEMA_MODE_JSON_SCHEMA | 1 << SCHEMA_MODE_NONE,
	.temperature_max_milli = 1000,
	.thinking_bars_temperature = true,
	.request = write_request,
	.reply = read_reply,
};
