#include "core/unwrap.h"

#include "base/text.h"

#include <strings.h>

/* In any case of their letters. A block ends at the first mark of its end. */
static const struct block {
	struct str begin, end;
} thinking[] = {
	{STR("<think>"), STR("</think>")},
	{STR("<thinking>"), STR("</thinking>")},
	{STR("<thought>"), STR("</thought>")},
	{STR("<reasoning>"), STR("</reasoning>")},
	{STR("<analysis>"), STR("</analysis>")},
	{STR("<scratchpad>"), STR("</scratchpad>")},
	{STR("[THINK]"), STR("[/THINK]")},
	{STR("◁think▷"), STR("◁/think▷")},
	{STR("<|channel|>analysis<|message|>"), STR("<|end|>")},
};

const char *shape_name(enum shape shape)
{
#define X(name) #name,
	static const char *const names[] = {SHAPES(X)};
#undef X

	return names[shape];
}

static bool begins(struct str s, size_t at, struct str mark)
{
	return s.n - at >= mark.n && strncasecmp(s.p + at, mark.p, mark.n) == 0;
}

/* Moves *at behind the thinking block that begins there. False: none does. One without an end leaves *at over the end of @s. */
static bool skip_thinking(struct str s, size_t *at)
{
	for (size_t i = 0; i < sizeof(thinking) / sizeof(thinking[0]); i++) {
		if (!begins(s, *at, thinking[i].begin))
			continue;
		for (*at += thinking[i].begin.n; *at < s.n; ++*at) {
			if (begins(s, *at, thinking[i].end)) {
				*at += thinking[i].end.n;
				return true;
			}
		}
		*at = s.n + 1;
		return true;
	}
	return false;
}

static bool is_mark(int32_t c, const char *set)
{
	size_t at = 0;

	for (int32_t mark; (mark = text_next(str_c(set), &at)) >= 0;)
		if (mark == c)
			return true;
	return false;
}

/* Whether what stands next to it makes the object a part of an array, of another object or of a quotation. */
static bool is_part(struct str before, struct str after)
{
	size_t at = 0, end = (before = text_trim(before)).n;
	int32_t last = text_before(before, &end), next = text_next(text_trim(after), &at);

	return is_mark(last, "[\"'“‘「『") || is_mark(next, "],\"'”’」』") ||
	       (last == ':' && is_mark(text_before(before, &end), "\"'”’"));
}

static enum shape shape_of(struct str before, struct str after, bool has_thought)
{
	if (has_thought)
		return SHAPE_thinking;
	if (str_find(before, STR_OF("```"), 0) >= 0 || str_find(before, STR_OF("~~~"), 0) >= 0)
		return SHAPE_fence;
	if (str_starts(before, "\xEF\xBB\xBF"))
		before = str_sub(before, 3, before.n);
	return str_trim(before).n || str_trim(after).n ? SHAPE_prose : SHAPE_whole;
}

/* Reads the first object and sees that there is no second. */
static bool find_object(struct str reply, struct json **object, struct str *text, bool *has_thought,
			struct err *err)
{
	size_t at = 0;

	while (at < reply.n) {
		if (skip_thinking(reply, &at)) {
			*has_thought = true;
			continue;
		}
		if (reply.p[at] == '}' || (reply.p[at] == '{' && *object))
			return ERR_SET(err, false,
				       "not exactly one JSON object: another brace at byte %zu",
				       at);
		if (reply.p[at] != '{') {
			at++;
			continue;
		}
		struct str rest = str_sub(reply, at, reply.n);
		if (json_read_first(rest, object, &text->n, err) != JSON_FINE) {
			*object = NULL;
			err_at(err, "not a sound JSON object, from byte %zu on: ", at);
			return false;
		}
		text->p = rest.p;
		at += text->n;
	}
	if (at > reply.n)
		return ERR_SET(err, false, "a thinking block does not end");
	return *object ? true : ERR_SET(err, false, "no JSON object in the reply");
}

bool unwrap_object(struct str reply, struct json **object, struct str *text, enum shape *shape,
		   struct err *err)
{
	bool has_thought = false, fine;

	*object = NULL;
	if (!text_is_utf8(reply) || str_find(reply, (struct str){"", 1}, 0) >= 0)
		return ERR_SET(err, false, "the reply is not UTF-8 text");
	fine = find_object(reply, object, text, &has_thought, err);
	if (fine) {
		struct str before = {reply.p, (size_t)(text->p - reply.p)};
		struct str after = {text->p + text->n, reply.n - before.n - text->n};
		*text = str_trim(*text);
		*shape = shape_of(before, after, has_thought);
		if (is_part(before, after))
			fine = ERR_SET(err, false,
				       "the JSON object stands in an array or in quotes");
	}
	if (!fine)
		json_free(*object);
	return fine;
}
