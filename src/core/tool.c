#include "core/tool.h"

#include "base/fault.h"
#include "core/wire.h"

#include <inttypes.h>

enum { NAME_BYTES_MAX = 40, COMMAND_WORDS_MAX = 64 };
enum { TIMEOUT_MS_DEFAULT = 10000, TIMEOUT_MS_MAX = 600000 };
enum { SEVERITY_MIN = 1, SEVERITY_MAX = 5 };

/* ---- a run as a call ---- */

static void read_reply(const struct http_reply *http, int64_t received_ms, struct arena *a,
		       struct reply *out)
{
	*out = (struct reply){.class = http->whole ? REPLY_complete : REPLY_rejected,
			      .text = arena_str(a, http->body),
			      .usage = {.in = -1, .out = -1},
			      .retry_after_ms = -1};
}

const struct wire wire_tool = {.name = "tool", .reply = read_reply};

bool model_is_tool(const struct model *m)
{
	return m->wire == &wire_tool;
}

static struct model model_of(struct arena *a, struct str name, int64_t timeout_ms)
{
	static const struct price nothing;

	return (struct model){.name = name,
			      .id = arena_printf(a, "tool:%.*s", STR_ARG(name)),
			      .provider = STR_OF(""),
			      .wire = &wire_tool,
			      .timeout_ms = timeout_ms,
			      .price = &nothing,
			      .n_price = 1};
}

/* ---- in a profile ---- */

static bool read_command(struct arena *a, const struct json *array, struct tool *out)
{
	const int n = json_kind(array) == JSON_ARRAY ? (int)json_size(array) : 0;
	struct str *word = arena_array(a, struct str, n);

	for (int i = 0; i < n; i++) {
		const struct json *item = json_item(array, (size_t)i);
		if (json_kind(item) != JSON_STRING)
			return false;
		word[i] = arena_str(a, json_str(item));
	}
	out->command = word;
	out->n_command = n;
	return n > 0 && n <= COMMAND_WORDS_MAX && word[0].n > 0;
}

/* ST_INVALID: *err is "key: the mend". */
static enum status read_tool(struct arena *a, const struct json *o, struct tool *out,
			     struct err *err)
{
	static const char *const keys[] = {"name", "command", "timeout_ms", NULL};
	int64_t timeout_ms = TIMEOUT_MS_DEFAULT;
	const struct json *value;
	struct str key, name = {NULL, 0};

	if (json_kind(o) != JSON_OBJECT)
		return err_set(err, ST_INVALID, "name: missing; give name and command");
	for (size_t i = 0; json_member(o, i, &key, &value); i++)
		if (str_among(key, keys) < 0)
			return err_set(err, ST_INVALID, "%.*s: unknown; leave it out",
				       STR_ARG(str_cut(key, NAME_BYTES_MAX)));
	if (!json_get_str(o, "name", &name) || name.n < 1 || name.n > NAME_BYTES_MAX ||
	    !str_only(name, "abcdefghijklmnopqrstuvwxyz0123456789_-"))
		return err_set(err, ST_INVALID, "name: give 1 to %d characters of a-z 0-9 - _",
			       NAME_BYTES_MAX);
	if (!read_command(a, json_get(o, "command"), out))
		return err_set(err, ST_INVALID,
			       "command: give a list of 1 to %d texts: program, arguments",
			       COMMAND_WORDS_MAX);
	if (json_get(o, "timeout_ms") &&
	    !json_get_int(o, "timeout_ms", 1, TIMEOUT_MS_MAX, &timeout_ms))
		return err_set(err, ST_INVALID, "timeout_ms: give an integer from 1 to %d",
			       TIMEOUT_MS_MAX);
	out->name = arena_str(a, name);
	out->model = model_of(a, out->name, timeout_ms);
	return ST_OK;
}

const struct tool *tools_read(struct arena *a, const struct json *array, int *n,
			      struct faults *faults)
{
	struct tool *tool = arena_array(a, struct tool, json_size(array));
	struct err err;

	*n = 0;
	if (!array)
		return tool;
	if (json_kind(array) != JSON_ARRAY || json_size(array) > TOOLS_MAX) {
		faults_add(faults, NULL, "tools: give a list of at most %d", TOOLS_MAX);
		return tool;
	}
	for (; *n < (int)json_size(array); ++*n) {
		if (read_tool(a, json_item(array, (size_t)*n), &tool[*n], &err) != ST_OK)
			faults_add(faults, NULL, "tools[%d].%s", *n, err.text);
		for (int i = 0; tool[*n].name.p && i < *n; i++)
			if (str_eq(tool[i].name, tool[*n].name))
				faults_add(faults, NULL,
					   "tools[%d].name: \"%.*s\" is taken; give each its own",
					   *n, STR_ARG(tool[i].name));
	}
	return tool;
}

/* ---- its answer ---- */

/* A text member that is not empty; absent: there is none. False: it is something else. */
static bool read_text(struct arena *a, const struct json *o, const char *key, struct str *out)
{
	const struct json *value = json_get(o, key);

	*out = (struct str){NULL, 0};
	if (!value || (json_kind(value) == JSON_STRING && !json_str(value).n))
		return true;
	if (json_kind(value) != JSON_STRING)
		return false;
	*out = arena_str(a, json_str(value));
	return true;
}

static bool read_finding(struct arena *a, const struct tool *tool, const struct json *o,
			 struct str draft, struct issue *out, int *n_ignored)
{
	struct str category, message;

	if (json_kind(o) != JSON_OBJECT || !read_text(a, o, "category", &category) ||
	    !read_text(a, o, "snippet", &out->snippet) ||
	    !read_text(a, o, "suggestion", &out->suggestion) ||
	    !read_text(a, o, "message", &message) || !out->suggestion.p == !message.p ||
	    !json_get_int(o, "severity", SEVERITY_MIN, SEVERITY_MAX, &out->severity))
		return false;
	*n_ignored += (int)json_size(o) - 2 - !!json_get(o, "category") - !!json_get(o, "snippet");
	if (message.p)
		out->suggestion = message;
	out->category = category.p ? arena_printf(a, "%.*s/%.*s", STR_ARG(tool->model.id),
						  STR_ARG(category))
				   : tool->model.id;
	out->at = out->snippet.p ? str_find(draft, out->snippet, 0) : -1;
	out->n = out->at < 0 ? 0 : (int64_t)out->snippet.n;
	if (out->at < 0) /* of the whole text */
		out->snippet = STR_OF("");
	return true;
}

static bool read_findings(struct arena *a, const struct tool *tool, const struct json *array,
			  struct str draft, struct critique *out, struct err *err)
{
	const int n = (int)json_size(array);
	struct issue *issue = arena_array(a, struct issue, n);

	if (json_kind(array) != JSON_ARRAY || n > TOOL_FINDINGS_MAX)
		return ERR_SET(err, false, "no array of at most %d findings", TOOL_FINDINGS_MAX);
	for (int i = 0; i < n; i++)
		if (!read_finding(a, tool, json_item(array, (size_t)i), draft, &issue[i],
				  &out->n_ignored))
			return ERR_SET(err, false,
				       "finding %d: give severity 1 to 5 and a suggestion or a "
				       "message, snippet and category as texts",
				       i + 1);
	out->issue = issue;
	out->n_issue = n;
	return true;
}

void findings_read(struct arena *a, const struct tool *tool, struct str answer, struct str draft,
		   struct critique *out)
{
	struct json *in = NULL;
	struct err err = {""};

	*out = (struct critique){.valid = true, .tool = tool->name, .score = -1};
	if (json_read_sent(str_trim(answer), &in, &err) != JSON_FINE)
		err_at(&err, "not exactly one JSON array: ");
	if (err.text[0] || !read_findings(a, tool, in, draft, out, &err))
		*out = (struct critique){
			.fault = arena_str(a, str_c(err.text)), .tool = tool->name, .score = -1};
	json_free(in);
}
