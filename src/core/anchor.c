#include "core/anchor.h"

#include "base/text.h"

enum { SENTENCE_BYTES_MAX = 500, LOOSE_BYTES_MAX = 4000 };

static const char MARK = '\''; /* stands for all of these: */
static const char *const marks[] = {"\"", "`", "´", "“", "”",  "„",  "‟",  "‘",	 "’",  "‚",  "‛",
				    "«",  "»", "‹", "›", "「", "」", "『", "』", "＂", "＇", NULL};

/* Bytes of the quotation mark that @s begins with; 0: none. */
static size_t mark_size(struct str s)
{
	if (!strchr("\"`\xC2\xE2\xE3\xEF", s.p[0])) /* they begin with no other byte */
		return 0;
	for (const char *const *mark = marks; *mark; mark++)
		if (str_starts(s, *mark))
			return strlen(*mark);
	return 0;
}

/* See the header, 2. */
static struct str loose(struct arena *a, struct str text)
{
	struct str s = text_squeeze(a, text);
	char *out = arena_alloc(a, s.n + 1);
	size_t n = 0;

	for (size_t at = 0; at < s.n;) {
		const size_t mark = mark_size(str_sub(s, at, s.n));
		if (mark)
			out[n++] = MARK;
		else if (s.p[at] != ' ')
			out[n++] = s.p[at];
		at += mark ? mark : 1;
	}
	return (struct str){out, n};
}

/* @snippet is loose. */
static int64_t find_loosely(struct str draft, struct str *snippet)
{
	int64_t at = str_find(draft, *snippet, 0);

	if (at >= 0 || snippet->n < 3 || snippet->p[0] != MARK ||
	    snippet->p[snippet->n - 1] != MARK)
		return at;
	*snippet = str_sub(*snippet, 1, snippet->n - 2);
	return str_find(draft, *snippet, 0);
}

bool issue_is_unanchored(const struct issue *issue)
{
	return issue->at < 0 && text_trim(issue->snippet).n > 0;
}

static bool is_for_loose(const struct issue *issue)
{
	return issue->snippet.n <= LOOSE_BYTES_MAX && issue_is_unanchored(issue);
}

static void anchor_loosely(struct str draft, struct issue *issue, int n)
{
	struct arena *scratch = arena_new();
	struct stretch *place = arena_array(scratch, struct stretch, n);
	struct issue **found = arena_array(scratch, struct issue *, n);
	const struct str folded = loose(scratch, draft);
	int n_found = 0;

	for (int i = 0; i < n; i++) {
		if (!is_for_loose(&issue[i]))
			continue;
		struct str snippet = loose(scratch, issue[i].snippet);
		const int64_t at = find_loosely(folded, &snippet);
		if (at < 0)
			continue;
		place[n_found] = (struct stretch){(size_t)at, snippet.n};
		found[n_found++] = &issue[i];
	}
	if (text_unfold(draft, folded, loose, SIZE_MAX, place, n_found)) {
		for (int i = 0; i < n_found; i++) {
			found[i]->at = (int64_t)place[i].at;
			found[i]->n = (int64_t)place[i].n;
		}
	}
	arena_free(scratch);
}

static bool ends_sentence(struct str text, size_t at)
{
	size_t before = at, behind = at;
	const int32_t c = text_before(text, &before), next = text_next(text, &behind);

	if (c == '.' || c == '!' || c == '?')
		return next < 0 || next == ' ' || next == '\n' || next == '\r';
	return c == '\n' || c == 0x3002 || c == 0xFF01 || c == 0xFF1F;
}

struct span anchor_sentence(struct str text, struct span place)
{
	const size_t at = (size_t)place.at, end = at + (size_t)place.n;
	size_t from = at, to = end;

	while (from > 0 && at - from < SENTENCE_BYTES_MAX && !ends_sentence(text, from))
		text_before(text, &from);
	while (to < text.n && to - end < SENTENCE_BYTES_MAX && !ends_sentence(text, to))
		text_next(text, &to);
	const struct str sentence = text_trim(str_sub(text, from, to - from));
	return (struct span){sentence.p - text.p, (int64_t)sentence.n};
}

int anchor_missing(const struct critique *c, int64_t severity)
{
	int n = 0;

	for (int i = 0; i < c->n_issue; i++)
		n += c->issue[i].severity >= severity && issue_is_unanchored(&c->issue[i]);
	return n;
}

void anchor_issues(struct str draft, struct issue *issue, int n)
{
	bool loosely = false;

	for (int i = 0; i < n; i++) {
		const bool blank = text_trim(issue[i].snippet).n == 0;
		issue[i].at = blank ? -1 : str_find(draft, issue[i].snippet, 0);
		issue[i].n = issue[i].at < 0 ? 0 : (int64_t)issue[i].snippet.n;
		loosely = loosely || is_for_loose(&issue[i]);
	}
	if (loosely)
		anchor_loosely(draft, issue, n);
}
