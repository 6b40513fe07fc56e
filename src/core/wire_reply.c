/* Replies of all formats. Gateways mix the formats' errors, so their words stand in one table; each field is taken by its exact type. */
#include "wire_parts.h"

#include "base/text.h"

enum { WORD_BYTES_MAX = 200, DETAIL_BYTES_MAX = 300 };
static const int64_t TOKENS_MAX = INT64_C(1) << 40;

/* A copy of at most @max bytes, cut between code points. */
static struct str keep(struct arena *a, struct str s, size_t max)
{
	return arena_str(a, str_cut(text_to_utf8(a, s), max));
}

struct str reply_word(struct arena *a, const struct json *object, const char *key)
{
	struct str s = {NULL, 0};

	(void)json_get_str(object, key, &s);
	return keep(a, s, WORD_BYTES_MAX);
}

int64_t reply_count(const struct json *object, const char *key, int64_t absent)
{
	struct str digits = {NULL, 0};
	int64_t n = -1;

	if (!json_get(object, key))
		return absent;
	if (json_get_str(object, key, &digits))
		(void)str_to_int(digits, 0, TOKENS_MAX, &n);
	else
		(void)json_get_int(object, key, 0, TOKENS_MAX, &n);
	return n;
}

struct str reply_join(struct arena *a, const struct json *parts,
		      bool (*is_text)(const struct json *part))
{
	struct str text = {NULL, 0};
	size_t n = 0;

	for (size_t i = 0; i < json_size(parts); i++)
		if (is_text(json_item(parts, i)) &&
		    json_get_str(json_item(parts, i), "text", &text))
			n += text.n;
	char *all = arena_alloc(a, n + 1);
	n = 0;
	for (size_t i = 0; i < json_size(parts); i++) {
		if (!is_text(json_item(parts, i)) ||
		    !json_get_str(json_item(parts, i), "text", &text))
			continue;
		memcpy(all + n, text.p, text.n);
		n += text.n;
	}
	return (struct str){all, n};
}

void reply_fail(struct arena *a, enum reply_class class, struct str detail, struct reply *out)
{
	out->class = class;
	out->detail = keep(a, detail, DETAIL_BYTES_MAX);
}

void reply_end(struct arena *a, const struct ending *ending, struct str text, struct reply *out)
{
	struct str why = out->finish_reason;

	while (ending->word && !str_is(why, ending->word))
		ending++;
	out->class = ending->word ? ending->class : REPLY_refused;
	if (out->class == REPLY_complete && str_trim(text).n == 0)
		reply_fail(a, REPLY_refused,
			   arena_printf(a, "finish_reason %.*s, but no text", STR_ARG(why)), out);
	else if (out->class == REPLY_complete || out->class == REPLY_truncated)
		out->text = arena_str(a, text);
	else
		out->detail = arena_printf(a, "finish_reason %.*s",
					   STR_ARG(why.p ? why : STR_OF("absent")));
}

/* --- errors --- */

/* Words that say more than the status. Sources: the three API references, and what gateways and imitators add. */
static const struct ending words[] = {
	{"rate_limit_exceeded", REPLY_rate_limited},
	{"slow_down", REPLY_overloaded},
	{"resource_unavailable", REPLY_overloaded},
	{"overloaded_error", REPLY_overloaded},
	{"UNAVAILABLE", REPLY_overloaded},
	{"DEADLINE_EXCEEDED", REPLY_broken_off},
	{"timeout_error", REPLY_broken_off},
	{"insufficient_quota", REPLY_credentials},
	{"credit_balance_exhausted", REPLY_credentials},
	{"billing_hard_limit_reached", REPLY_credentials},
	{"billing_not_active", REPLY_credentials},
	{"billing_error", REPLY_credentials},
	{"enforced_spend_limit_reached", REPLY_credentials},
	{"budget_exceeded", REPLY_credentials},
	{"invalid_api_key", REPLY_credentials},
	{"API_KEY_INVALID", REPLY_credentials},
	{"FAILED_PRECONDITION", REPLY_credentials}, /* region, or billing is off */
	{"model_not_found", REPLY_credentials},
	{"content_filter", REPLY_blocked},
	{"content_policy_violation", REPLY_blocked},
	{NULL, REPLY_rejected},
};

/* Anthropic has no code for an account without money: it says so, with status 400. */
static const char *const no_money[] = {
	"Your credit balance is too low",
	"You have reached your specified ",
};

static bool is_known(struct str word, enum reply_class *class)
{
	const struct ending *w = words;

	while (w->word && !str_is(word, w->word))
		w++;
	*class = w->class;
	return w->word != NULL;
}

static bool member_is_known(const struct json *object, const char *key, enum reply_class *class)
{
	struct str word;

	return json_get_str(object, key, &word) && is_known(word, class);
}

/* The object that tells of the error: some wrap it into an array, or send its members at the top. NULL: a mere string, or none. */
static const struct json *error_object(const struct json *root)
{
	if (json_kind(root) == JSON_ARRAY && json_size(root) > 0)
		root = json_item(root, 0);
	const struct json *error = json_get(root, "error");
	if (json_kind(error) == JSON_STRING)
		return NULL;
	return json_kind(error) == JSON_OBJECT ? error : root;
}

/* Item @i of an error's details, which are a list or a single object; NULL past the end. */
static const struct json *detail_at(const struct json *error, size_t i)
{
	const struct json *details = json_get(error, "details");

	if (json_kind(details) == JSON_ARRAY)
		return i < json_size(details) ? json_item(details, i) : NULL;
	return i == 0 ? details : NULL;
}

/* A violated quota is one of the day: retrying within it is of no use. */
static bool is_quota_of_day(const struct json *detail)
{
	const struct json *violations = json_get(detail, "violations");
	struct str id;

	for (size_t i = 0; json_kind(violations) == JSON_ARRAY && i < json_size(violations); i++) {
		if (json_get_str(json_item(violations, i), "quotaId", &id) &&
		    str_find(id, STR_OF("PerDay"), 0) >= 0)
			return true;
	}
	return false;
}

static bool class_of_body(const struct json *error, enum reply_class *class)
{
	struct str message = {NULL, 0};
	const struct json *detail;

	for (size_t i = 0; (detail = detail_at(error, i)); i++) {
		if (member_is_known(detail, "reason", class) ||
		    member_is_known(detail, "error_code", class))
			return true;
		*class = REPLY_credentials;
		if (is_quota_of_day(detail))
			return true;
	}
	(void)json_get_str(error, "message", &message);
	for (size_t i = 0; message.p && i < sizeof(no_money) / sizeof(no_money[0]); i++) {
		*class = REPLY_credentials;
		if (str_starts(message, no_money[i]))
			return true;
	}
	return member_is_known(error, "code", class) || member_is_known(error, "type", class) ||
	       member_is_known(error, "status", class);
}

static enum reply_class class_of_status(int64_t status)
{
	if (status == 0)
		return REPLY_broken_off;
	if (status == 429)
		return REPLY_rate_limited;
	if (status == 503 || status == 529)
		return REPLY_overloaded;
	/* A server on the way had no time left, or was left: what it had asked may be done and billed. 524: Cloudflare's 504. */
	if (status == 408 || status == 499 || status == 504 || status == 524)
		return REPLY_broken_off;
	if (status >= 500 || status == 409)
		return REPLY_server_error;
	/* 404 speaks of the path or the model, never of this one request: no job is at fault. */
	return status >= 401 && status <= 404 ? REPLY_credentials : REPLY_rejected;
}

/* "CODE: MESSAGE" of an error object, or the mere string that some send. */
static struct str error_text(struct arena *a, const struct json *root, const struct json *error)
{
	struct str code = {NULL, 0}, message = {NULL, 0};

	if (json_get_str(root, "error", &message))
		return message;
	if (!json_get_str(error, "code", &code) && !json_get_str(error, "type", &code))
		(void)json_get_str(error, "status", &code);
	if (!json_get_str(error, "message", &message) || !code.p)
		return message.p ? message : code;
	return arena_printf(a, "%.*s: %.*s", STR_ARG(code), STR_ARG(message));
}

/* Gemini asks to wait in the body: a google.rpc.RetryInfo with "retryDelay":"34.07s". */
static int64_t retry_delay_ms(const struct json *error)
{
	const struct json *detail;
	struct str delay;

	for (size_t i = 0; (detail = detail_at(error, i)); i++) {
		if (json_get_str(detail, "retryDelay", &delay) && delay.n > 0 &&
		    delay.p[delay.n - 1] == 's')
			return wait_read_ms(str_sub(delay, 0, delay.n - 1), 1000);
	}
	return -1;
}

/* Gateways also tell an error with status 200; its code may be the status that it had. */
static void read_error(struct arena *a, const struct json *root, int64_t status, struct reply *out)
{
	const struct json *error = error_object(root);
	bool by_status = status != 200 || json_get_int(error, "code", 400, 599, &status);
	enum reply_class class;

	if (!class_of_body(error, &class))
		class = by_status ? class_of_status(status) : REPLY_unreadable;
	reply_fail(a, class, error_text(a, root, error), out);
	if (out->retry_after_ms < 0)
		out->retry_after_ms = retry_delay_ms(error);
}

void reply_read(const struct reply_format *format, const struct http_reply *http,
		int64_t received_ms, struct arena *a, struct reply *out)
{
	struct json *root = NULL;
	struct err err = {""};
	struct str id = http_header(http->headers, "x-request-id");

	if (!id.p)
		id = http_header(http->headers, "request-id");
	bool readable = json_read_sent(http->body, &root, &err) == JSON_FINE;
	*out = (struct reply){.usage = format->usage(root),
			      .model = reply_word(a, root, format->model_key),
			      .request_id = id.p ? keep(a, id, WORD_BYTES_MAX)
						 : reply_word(a, root, format->id_key),
			      .retry_after_ms = http_retry_after_ms(http->headers, received_ms)};
	if (http->status != 200)
		read_error(a, root, http->status, out);
	else if (!http->whole)
		reply_fail(a, REPLY_unreadable, STR_OF("the body broke off"), out);
	else if (!readable)
		reply_fail(a, REPLY_unreadable,
			   arena_printf(a, "the body is no JSON: %s", err.text), out);
	else if (json_kind(json_get(root, "error")) != JSON_NULL)
		read_error(a, root, http->status, out);
	else
		format->answer(a, root, out);
	/* No prompt and no text is free: a count of 0 is one that was not told. */
	if (out->usage.in == 0)
		out->usage.in = -1;
	if (out->usage.out == 0 && out->text.n > 0)
		out->usage.out = -1;
	json_free(root);
}
