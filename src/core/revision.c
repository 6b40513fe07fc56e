#include "core/revision.h"

#include "base/text.h"

enum { PREAMBLE_BYTES_MAX = 200 };

/* The line that begins at @at, without its end; moves *at behind that. False: no text is left. */
static bool next_line(struct str s, size_t *at, struct str *line)
{
	const size_t from = *at;
	const int64_t feed = str_find(s, STR_OF("\n"), from);

	if (from >= s.n)
		return false;
	*at = feed < 0 ? s.n : (size_t)feed + 1;
	*line = str_sub(s, from, (feed < 0 ? s.n : (size_t)feed) - from);
	return true;
}

/* ---- fences ---- */

static const char fence[] = "```";

static bool find_fence(struct str s, size_t *at, struct str *line)
{
	while (next_line(s, at, line))
		if (str_starts(*line, fence))
			return true;
	return false;
}

/* ---- preambles ---- */

static bool has(struct str s, const char *part)
{
	return str_find(s, str_c(part), 0) >= 0;
}

static bool is_preamble(struct str line)
{
	static const char *const begins[] = {
		"here is",     "here's",  "here are",	 "below is",  "sure",	       "certainly",
		"of course",   "revised", "the revised", "corrected", "the corrected", "updated",
		"the updated", "i have",  "i've",	 NULL};
	struct arena *scratch = arena_new();
	struct str s = text_fold(scratch, line); /* a full-width colon is one like others */
	bool yes = false;

	while (s.n > 0 && strchr("*#_ ", s.p[0]))
		s = str_sub(s, 1, s.n);
	while (s.n > 0 && strchr("*_ ", s.p[s.n - 1]))
		s = str_sub(s, 0, s.n - 1);
	const bool colon = s.n > 0 && s.p[s.n - 1] == ':';
	for (const char *const *b = begins; *b && colon; b++)
		yes = yes || str_starts(s, *b);
	if (colon || (s.n >= 3 && has(str_sub(s, s.n - 3, 3), "。")))
		yes = yes || ((has(s, "以下") || has(s, "こちら")) &&
			      (has(s, "修正") || has(s, "改訂") || has(s, "推敲")));
	arena_free(scratch);
	return yes;
}

static struct str without_preamble(struct str s, struct str draft)
{
	struct str line;
	size_t at = 0;

	if (!next_line(s, &at, &line) || at == s.n || line.n > PREAMBLE_BYTES_MAX ||
	    str_find(draft, str_trim(line), 0) >= 0 || !is_preamble(str_trim(line)))
		return s;
	return str_sub(s, at, s.n);
}

static struct str without_fence(struct str s, struct str draft)
{
	struct str open, close, line;
	size_t at = 0, in_draft = 0;

	if (find_fence(draft, &in_draft, &line) || !find_fence(s, &at, &open))
		return s;
	const struct str before = text_trim(str_sub(s, 0, (size_t)(open.p - s.p)));
	const size_t from = at;
	if (!find_fence(s, &at, &close) || !str_is(str_trim(close), fence) ||
	    (before.n == 0 ? text_trim(str_sub(s, at, s.n)).n > 0
			   : before.n > PREAMBLE_BYTES_MAX || !is_preamble(before)))
		return s;
	return str_sub(s, from, (size_t)(close.p - s.p) - from);
}

struct str revision_text(struct arena *a, struct str reply, struct str draft)
{
	const struct str bare = text_trim(draft);
	struct str s = text_trim(without_fence(reply, draft));

	s = text_trim(without_preamble(s, draft));
	if (s.n == 0 || bare.n == draft.n)
		return s;
	const size_t before = (size_t)(bare.p - draft.p);
	return arena_printf(a, "%.*s%.*s%.*s", STR_ARG(str_sub(draft, 0, before)), STR_ARG(s),
			    STR_ARG(str_sub(draft, before + bare.n, draft.n)));
}
