/* Chat completions, not streamed. Imitators differ from the original, so each field of a reply is taken by its exact type. */
#include "base/text.h"
#include "core/wire.h"

#include <inttypes.h>
#include <stdio.h>

enum { WORD_BYTES_MAX = 200, DETAIL_BYTES_MAX = 300 };
static const int64_t TOKENS_MAX = INT64_C(1) << 40;

static void put_message(struct json_out *o, const char *role, const struct buf *content)
{
	json_open(o, NULL, '{');
	json_put_str(o, "role", str_c(role));
	json_put_str(o, "content", buf_view(content));
	json_close(o, '}');
}

/* 700 is 0.7, without a detour through a double. */
static void put_temperature(struct json_out *o, int64_t milli)
{
	char text[48];
	int n = snprintf(text, sizeof(text), "%" PRId64 ".%03" PRId64, milli / 1000, milli % 1000);

	while (text[n - 1] == '0' && text[n - 2] != '.')
		n--;
	json_put_raw(o, "temperature", (struct str){text, (size_t)n});
}

static void put_response_format(struct json_out *o, enum schema_mode mode, enum want want)
{
	if (want == WANT_TEXT || mode == SCHEMA_MODE_NONE)
		return;
	json_open(o, "response_format", '{');
	if (mode == SCHEMA_MODE_JSON_OBJECT) {
		json_put_str(o, "type", STR_OF("json_object"));
	} else {
		json_put_str(o, "type", STR_OF("json_schema"));
		json_open(o, "json_schema", '{');
		json_put_str(o, "name",
			     str_c(want == WANT_CRITIQUE ? "critique" : "confident_text"));
		json_put_bool(o, "strict", true);
		json_put_raw(o, "schema", want_schema(want));
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
	if (model->sampling == SAMPLING_SEND)
		put_temperature(&o, model->temperature_milli);
	if (model->reasoning_effort.p)
		json_put_str(&o, "reasoning_effort", model->reasoning_effort);
	put_response_format(&o, model->schema_mode, prompt->want);
	json_close(&o, '}');
}

/* A copy of at most @max bytes, cut between code points. */
static struct str keep(struct arena *a, struct str s, size_t max)
{
	return arena_str(a, str_cut(text_to_utf8(a, s), max));
}

static struct str keep_member(struct arena *a, const struct json *object, const char *key)
{
	struct str s = {NULL, 0};

	(void)json_get_str(object, key, &s);
	return keep(a, s, WORD_BYTES_MAX);
}

static int64_t count(const struct json *object, const char *key)
{
	int64_t n = -1;

	(void)json_get_int(object, key, 0, TOKENS_MAX, &n);
	return n;
}

/* Cached tokens are part of prompt_tokens, reasoning tokens of completion_tokens. */
static struct usage read_usage(const struct json *usage)
{
	struct usage u = {count(usage, "prompt_tokens"), 0, count(usage, "completion_tokens")};
	int64_t cached = count(json_get(usage, "prompt_tokens_details"), "cached_tokens");

	if (cached > 0 && cached <= u.in)
		u.cached = cached;
	return u;
}

/* "CODE: MESSAGE" of an error object; imitators also send its members at the top, or a mere string. */
static struct str read_error(struct arena *a, const struct json *root)
{
	const struct json *error = json_get(root, "error");
	struct str code = {NULL, 0}, message = {NULL, 0};

	if (json_kind(error) == JSON_STRING)
		return keep(a, json_str(error), DETAIL_BYTES_MAX);
	if (json_kind(error) != JSON_OBJECT)
		error = root;
	if (!json_get_str(error, "code", &code))
		(void)json_get_str(error, "type", &code);
	if (!json_get_str(error, "message", &message) || !code.p)
		return keep(a, message.p ? message : code, DETAIL_BYTES_MAX);
	struct str both = arena_printf(a, "%.*s: %.*s", STR_ARG(code), STR_ARG(message));
	return keep(a, both, DETAIL_BYTES_MAX);
}

static void end(struct reply *out, enum reply_class class, struct str detail)
{
	out->class = class;
	out->detail = detail;
}

/* A choice of the expected shape: what its end means. Only `stop` with a text is complete. */
static void read_ending(struct arena *a, const struct json *message, struct str content,
			struct reply *out)
{
	struct str refusal = {NULL, 0}, why = out->finish_reason;

	if (json_get_str(message, "refusal", &refusal) && refusal.n > 0) {
		end(out, REPLY_refused, keep(a, refusal, DETAIL_BYTES_MAX));
	} else if (str_is(why, "length")) {
		out->text = arena_str(a, content);
		end(out, REPLY_truncated, (struct str){NULL, 0});
	} else if (!str_is(why, "stop")) {
		end(out, REPLY_refused,
		    arena_printf(a, "finish_reason %.*s", STR_ARG(why.p ? why : STR_OF("absent"))));
	} else if (str_trim(content).n == 0) {
		end(out, REPLY_refused, STR_OF("finish_reason stop, but no text"));
	} else {
		out->text = arena_str(a, content);
		end(out, REPLY_complete, (struct str){NULL, 0});
	}
}

static void read_completion(struct arena *a, const struct json *root, struct reply *out)
{
	const struct json *choices = json_get(root, "choices"), *choice = NULL;
	struct str content = STR("");

	if (json_kind(json_get(root, "error")) != JSON_NULL) {
		end(out, REPLY_unreadable, read_error(a, root));
		return;
	}
	if (json_kind(choices) == JSON_ARRAY && json_size(choices) > 0)
		choice = json_item(choices, 0);
	const struct json *message = json_get(choice, "message");
	out->finish_reason = keep_member(a, choice, "finish_reason");
	if (json_kind(message) != JSON_OBJECT ||
	    (json_kind(json_get(message, "content")) != JSON_NULL &&
	     !json_get_str(message, "content", &content)))
		end(out, REPLY_unreadable, STR_OF("no choices[0].message with a content of text"));
	else
		read_ending(a, message, content, out);
}

static enum reply_class class_of_error(int status)
{
	if (status == 0)
		return REPLY_broken_off;
	if (status == 429)
		return REPLY_rate_limited;
	if (status >= 500 || status == 408 || status == 409)
		return REPLY_server_error;
	/* 404 speaks of the path or the model, never of this one request: no job is at fault. */
	return status == 401 || status == 403 || status == 404 ? REPLY_credentials : REPLY_rejected;
}

static void read_reply(const struct http_reply *http, int64_t received_ms, struct arena *a,
		       struct reply *out)
{
	struct json *root = NULL;
	struct err err = {""};
	struct str id = http_header(http->headers, "x-request-id");

	bool readable = json_read(http->body, &root, &err) == JSON_FINE;
	*out = (struct reply){.usage = read_usage(json_get(root, "usage")),
			      .model = keep_member(a, root, "model"),
			      .request_id = id.p ? keep(a, id, WORD_BYTES_MAX)
						 : keep_member(a, root, "id"),
			      .retry_after_ms = http_retry_after_ms(http->headers, received_ms)};
	if (http->status != 200)
		end(out, class_of_error(http->status), read_error(a, root));
	else if (!http->whole)
		end(out, REPLY_unreadable, STR_OF("the body broke off"));
	else if (!readable)
		end(out, REPLY_unreadable, arena_printf(a, "the body is no JSON: %s", err.text));
	else
		read_completion(a, root, out);
	json_free(root);
}

const struct wire wire_openai = {
	.name = "openai",
	.path = "/chat/completions",
	.request = write_request,
	.reply = read_reply,
};
