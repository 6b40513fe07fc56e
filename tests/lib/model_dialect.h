/*
 * model_dialect.h - Gemini's generateContent and Anthropic's Messages in front of model_sim, which speaks chat completions: a
 * request is turned into one of those, the answer back. What the real API would not know becomes a field that model_sim refuses.
 * Included by model_sim.c only.
 */
#ifndef MODEL_DIALECT_H
#define MODEL_DIALECT_H

#include "model_ledger.h"

enum dialect { CHAT, GEMINI, ANTHROPIC };

static json_object *member(json_object *o, const char *name)
{
	return json_object_is_type(o, json_type_object) ? json_object_object_get(o, name) : NULL;
}

static json_object *item(json_object *list, size_t i)
{
	return json_object_is_type(list, json_type_array) ? json_object_array_get_idx(list, i)
							  : NULL;
}

/* A member of @from that @o has by another name; nothing if there is none. */
static void take(json_object *o, const char *name, json_object *from, const char *old)
{
	json_object *value = member(from, old);

	if (value)
		json_object_object_add(o, name, json_object_get(value));
}

static void add_message(json_object *list, const char *role, json_object *text)
{
	json_object *message = json_object_new_object();

	json_object_array_add(list, message);
	add_text(message, "role", role);
	json_object_object_add(message, "content", json_object_get(text));
}

static void add_schema(json_object *o, json_object *schema)
{
	json_object *f = add_object(o, "response_format"), *named;

	add_text(f, "type", schema ? "json_schema" : "json_object");
	if (!schema)
		return;
	named = add_object(f, "json_schema");
	add_text(named, "name", "x");
	json_object_object_add(named, "strict", json_object_new_boolean(true));
	json_object_object_add(named, "schema", json_object_get(schema));
}

/* The first member of @o that is not among @known (" a b ") goes into the request as it is. */
static void refuse_strangers(json_object *request, json_object *o, const char *known)
{
	if (!json_object_is_type(o, json_type_object))
		return;
	json_object_object_foreach(o, name, value)
	{
		char *word = format(" %s ", name);

		if (!strstr(known, word))
			json_object_object_add(request, word, json_object_get(value));
		free(word);
	}
}

static json_object *part_text(json_object *content)
{
	return member(item(member(content, "parts"), 0), "text");
}

static json_object *from_gemini(const char *path, json_object *root)
{
	json_object *request = json_object_new_object(), *messages = json_object_new_array();
	json_object *config = member(root, "generationConfig"), *schema;
	const char *model = strstr(path, "/models/");
	char *id = model ? strndup(model + 8, strcspn(model + 8, ":")) : strdup("");

	add_text(request, "model", id);
	json_object_object_add(request, "messages", messages);
	add_message(messages, "system", part_text(member(root, "systemInstruction")));
	add_message(messages, "user", part_text(item(member(root, "contents"), 0)));
	take(request, "max_completion_tokens", config, "maxOutputTokens");
	take(request, "temperature", config, "temperature");
	schema = member(config, "responseJsonSchema");
	if (member(config, "responseMimeType"))
		add_schema(request, schema ? schema : member(config, "responseSchema"));
	refuse_strangers(request, root, " systemInstruction contents generationConfig ");
	refuse_strangers(request, config,
			 " maxOutputTokens temperature responseMimeType responseJsonSchema"
			 " responseSchema thinkingConfig ");
	free(id);
	return request;
}

static json_object *from_anthropic(json_object *root)
{
	json_object *request = json_object_new_object(), *messages = json_object_new_array();
	json_object *config = member(root, "output_config"), *form = member(config, "format");

	take(request, "model", root, "model");
	json_object_object_add(request, "messages", messages);
	add_message(messages, "system", member(root, "system"));
	add_message(messages, "user", member(item(member(root, "messages"), 0), "content"));
	take(request, "max_tokens", root, "max_tokens");
	take(request, "temperature", root, "temperature");
	if (form)
		add_schema(request, member(form, "schema"));
	refuse_strangers(request, root,
			 " model max_tokens system messages temperature thinking output_config ");
	refuse_strangers(request, config, " effort format ");
	return request;
}

static const char *word_for(const char *finish, const char *stop, const char *length,
			    const char *filter)
{
	return !strcmp(finish, "stop") ? stop : !strcmp(finish, "length") ? length : filter;
}

static json_object *to_gemini(json_object *reply, const char *text, const char *finish)
{
	json_object *root = json_object_new_object(), *list = json_object_new_array(),
		    *candidate = json_object_new_object(), *parts = json_object_new_array(),
		    *part = json_object_new_object(), *usage;
	json_object *counts = member(reply, "usage");

	json_object_object_add(root, "candidates", list);
	json_object_array_add(list, candidate);
	json_object_object_add(add_object(candidate, "content"), "parts", parts);
	json_object_array_add(parts, part);
	add_text(part, "text", text);
	add_text(candidate, "finishReason", word_for(finish, "STOP", "MAX_TOKENS", "SAFETY"));
	usage = add_object(root, "usageMetadata");
	take(usage, "promptTokenCount", counts, "prompt_tokens");
	take(usage, "candidatesTokenCount", counts, "completion_tokens");
	take(usage, "totalTokenCount", counts, "total_tokens");
	take(usage, "cachedContentTokenCount", member(counts, "prompt_tokens_details"),
	     "cached_tokens");
	take(root, "modelVersion", reply, "model");
	take(root, "responseId", reply, "id");
	return root;
}

static json_object *to_anthropic(json_object *reply, const char *text, const char *finish)
{
	json_object *root = json_object_new_object(), *content = json_object_new_array(),
		    *block = json_object_new_object(), *usage;
	json_object *counts = member(reply, "usage");
	int64_t cached = json_object_get_int64(
		member(member(counts, "prompt_tokens_details"), "cached_tokens"));

	take(root, "id", reply, "id");
	add_text(root, "type", "message");
	add_text(root, "role", "assistant");
	take(root, "model", reply, "model");
	json_object_object_add(root, "content", content);
	json_object_array_add(content, block);
	add_text(block, "type", "text");
	add_text(block, "text", text);
	add_text(root, "stop_reason", word_for(finish, "end_turn", "max_tokens", "refusal"));
	usage = add_object(root, "usage");
	add_int(usage, "input_tokens",
		json_object_get_int64(member(counts, "prompt_tokens")) - cached);
	add_int(usage, "cache_read_input_tokens", cached);
	take(usage, "output_tokens", counts, "completion_tokens");
	return root;
}

static enum dialect dialect_of(const char *path)
{
	return strstr(path, ":generateContent") ? GEMINI
	       : strstr(path, "/messages")	? ANTHROPIC
						: CHAT;
}

/* The chat completion that is asked for; takes @root. */
static json_object *dialect_request(enum dialect dialect, const char *path, json_object *root)
{
	json_object *request = root;

	if (dialect == GEMINI)
		request = from_gemini(path, root);
	else if (dialect == ANTHROPIC)
		request = from_anthropic(root);
	if (request != root)
		json_object_put(root);
	return request;
}

/* The answer as the dialect words it; takes @reply. */
static json_object *dialect_reply(enum dialect dialect, json_object *reply)
{
	json_object *choice = item(member(reply, "choices"), 0), *told = reply;
	const char *text = json_object_get_string(member(member(choice, "message"), "content"));
	const char *finish = json_object_get_string(member(choice, "finish_reason"));

	if (dialect == GEMINI)
		told = to_gemini(reply, text, finish);
	else if (dialect == ANTHROPIC)
		told = to_anthropic(reply, text, finish);
	if (told != reply)
		json_object_put(reply);
	return told;
}

/* An error as the dialect words it; takes @root, which is a chat completion's. */
static json_object *dialect_error(enum dialect dialect, int status, json_object *root)
{
	json_object *told, *error, *from = member(root, "error");

	if (dialect == CHAT)
		return root;
	told = json_object_new_object();
	if (dialect == ANTHROPIC)
		add_text(told, "type", "error");
	error = add_object(told, "error");
	take(error, "message", from, "message");
	if (dialect == ANTHROPIC) {
		take(error, "type", from, "code");
	} else {
		add_int(error, "code", status);
		take(error, "status", from, "code");
	}
	json_object_put(root);
	return told;
}

#endif
