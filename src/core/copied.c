#include "core/copied.h"

#include "base/text.h"

#include <string.h>

enum { DEPTH_MAX = 64 }; /* as base/json.h: what stands deeper is in no sound object */

/* What has been seen of an object's own members. */
enum { HAS_ISSUES = 1, HAS_SCORE = 2, HAS_VERDICT = 4, HAS_ALL = 7 };

/* The objects of a text, by their braces and strings; what is no JSON ends them all. */
struct search {
	const struct profile *profile;
	const struct critique *like; /* NULL: any that passes */
	struct str text;
	size_t at, looked_at; /* looked_at: bytes of the objects that were read */
	int depth;
	struct {
		size_t at;
		unsigned has;
	} open[DEPTH_MAX];
};

static const struct job nobody; /* whose sources do not matter here */

static unsigned wanted(const struct profile *p)
{
	return p->pass_rule == PASS_VERDICT_AND_SCORE ? HAS_ALL : HAS_ISSUES;
}

static bool is_same_issue(const struct issue *a, const struct issue *b)
{
	return str_eq(a->category, b->category) && str_eq(a->snippet, b->snippet) &&
	       str_eq(a->suggestion, b->suggestion) && a->severity == b->severity;
}

static bool is_same(const struct critique *a, const struct critique *b)
{
	bool same = a->pass == b->pass && a->score == b->score && a->n_issue == b->n_issue &&
		    a->n_cut == b->n_cut;

	for (int i = 0; same && i < a->n_issue; i++)
		same = is_same_issue(&a->issue[i], &b->issue[i]);
	return same;
}

/* Whether the object is the one that is looked for. */
static bool is_it(struct search *s, struct str object)
{
	struct critique c;

	if (object.n > COPIED_OBJECT_BYTES_MAX)
		return false;
	s->looked_at += object.n;
	if (s->looked_at > COPIED_BYTES_MAX)
		return true;
	struct arena *scratch = arena_new();
	critique_read(scratch, s->profile, &nobody, object, STR_OF(""), &c);
	bool found = c.valid && (s->like ? is_same(&c, s->like) : critique_passes(s->profile, &c));
	arena_free(scratch);
	return found;
}

static void open_object(struct search *s)
{
	if (s->depth == DEPTH_MAX)
		memmove(&s->open[0], &s->open[1], --s->depth * sizeof(s->open[0]));
	s->open[s->depth].at = s->at++;
	s->open[s->depth++].has = 0;
}

static bool close_object(struct search *s)
{
	s->at++;
	if (s->depth == 0)
		return false;
	s->depth--;
	const size_t at = s->open[s->depth].at, n = s->at - at;
	const unsigned has = s->open[s->depth].has, all = wanted(s->profile);
	return (has & all) == all && is_it(s, str_sub(s->text, at, n));
}

/* An escaped letter may make it any of them. */
static unsigned member_of(struct str key)
{
	if (memchr(key.p, '\\', key.n))
		return HAS_ALL;
	return str_is(key, "issues")	? HAS_ISSUES
	       : str_is(key, "score")	? HAS_SCORE
	       : str_is(key, "verdict") ? HAS_VERDICT
					: 0;
}

static bool is_among(char c, const char *set)
{
	return c && strchr(set, c);
}

/* A string that something of JSON follows; else the quotation mark was none, and there was no object. */
static void pass_string(struct search *s)
{
	const struct str text = s->text;
	size_t begin = ++s->at, end = begin, next;

	while (end < text.n && text.p[end] != '"' && (unsigned char)text.p[end] >= 0x20)
		end += text.p[end] == '\\' && end + 1 < text.n ? 2 : 1;
	if (end >= text.n || text.p[end] != '"') {
		s->depth = 0;
		return;
	}
	next = end + 1;
	while (next < text.n && is_among(text.p[next], " \t\r\n"))
		next++;
	if (next == text.n || !is_among(text.p[next], ":,]}")) {
		s->depth = 0;
		return;
	}
	if (text.p[next] == ':')
		s->open[s->depth - 1].has |= member_of(str_sub(text, begin, end - begin));
	s->at = next;
}

/* A byte in an object, outside its strings. */
static bool may_stand(char c)
{
	return is_among(c, " \t\r\n:,[]+-.0123456789truefalsnE");
}

static bool search(struct search *s)
{
	while (s->at < s->text.n) {
		const char *next = s->depth ? &s->text.p[s->at]
					    : memchr(&s->text.p[s->at], '{', s->text.n - s->at);
		if (!next)
			return false;
		s->at = (size_t)(next - s->text.p);
		const char c = *next;
		if (c == '{') {
			open_object(s);
		} else if (c == '}') {
			if (close_object(s))
				return true;
		} else if (c == '"' && s->depth) {
			pass_string(s);
		} else {
			if (!may_stand(c))
				s->depth = 0;
			s->at++;
		}
	}
	return false;
}

/* @text without the backslashes before quotation marks, as a JSON string holds it; in @a. */
static struct str unquoted(struct arena *a, struct str text)
{
	char *p = arena_alloc(a, text.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] != '\\' || i + 1 == text.n || text.p[i + 1] != '"')
			p[n++] = text.p[i];
	return (struct str){p, n};
}

/* Whether one stands in it that text_fold() makes a brace, or one already. */
static bool has_brace(struct str text)
{
	if (memchr(text.p, '{', text.n))
		return true;
	for (size_t at = 0; at + 3 <= text.n; at++) {
		const char *p = memchr(&text.p[at], 0xEF, text.n - at - 2);
		if (!p)
			return false;
		if (memcmp(p, "｛", 3) == 0 || memcmp(p, "﹛", 3) == 0 || memcmp(p, "︷", 3) == 0)
			return true;
		at = (size_t)(p - text.p);
	}
	return false;
}

/* Whether what looks like other characters, or like none, could hide an object. */
static bool is_disguised(struct str text)
{
	static const char *const mark[] = {"｛",     "﹛",     "︷",	 "＂",	   "\u200b",
					   "\u200c", "\u200d", "\u2060", "\u00ad", "\ufeff"};
	bool is = false;

	if (!text.n || !has_brace(text))
		return false;

	for (size_t i = 0; i < sizeof(mark) / sizeof(mark[0]) && !is; i++)
		is = str_find(text, str_c(mark[i]), 0) >= 0;
	return is;
}

static bool holds_plain(const struct search *what, struct str text)
{
	struct search s = *what;

	s.text = text;
	return search(&s);
}

/* What takes too long to fold counts as found. */
static bool holds_folded(struct arena *a, const struct search *what, struct str text)
{
	int64_t slow_bytes = COPIED_BYTES_MAX;
	struct str folded = text_fold_within(a, text, &slow_bytes);

	return !folded.p || holds_plain(what, folded);
}

static bool holds(const struct search *what, struct str text)
{
	struct arena *scratch = arena_new();
	const bool found = holds_plain(what, text) ||
			   (str_find(text, STR_OF("\\\""), 0) >= 0 &&
			    holds_plain(what, unquoted(scratch, text))) ||
			   (is_disguised(text) && holds_folded(scratch, what, text));

	arena_free(scratch);
	return found;
}

bool copied_from(const struct profile *p, const struct critique *c, const struct prompt *prompt)
{
	const struct search what = {.profile = p, .like = c};
	const struct str user = buf_view(&prompt->user);

	if (p->critique == CRITIQUE_TEXT)
		return c->pass && str_find(user, STR_OF(FORM_NO_DEFECTS), 0) >= 0;
	return holds(&what, user) || holds(&what, buf_view(&prompt->system));
}

bool copied_would_pass(const struct profile *p, struct str text)
{
	const struct search what = {.profile = p};

	return p->critique != CRITIQUE_TEXT && holds(&what, text);
}
