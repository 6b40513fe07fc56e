#include "check_family.h"
#include "check_hint.h"
#include "check_parts.h"
#include "regex.h"

#include "base/text.h"

#include <ctype.h>

struct wanted {
	struct regex regex;
	bool match; /* must be found; else must not */
};

static enum status read_wanted(struct arena *a, const struct json *spec, const void **args,
			       struct err *err)
{
	struct wanted *wanted = arena_alloc(a, sizeof(*wanted));
	enum status status = regex_read(a, spec, &wanted->regex, err);

	wanted->match = true;
	if (status == ST_OK)
		status = arg_bool(spec, "match", &wanted->match, err);
	*args = wanted;
	return status;
}

static void run_regex(struct arena *scratch, const void *args, const struct job *job,
		      struct checked *checked, struct check_result *out)
{
	const struct wanted *wanted = args;
	struct regex_match match;
	enum regex_result result = regex_check(scratch, &wanted->regex, checked, 0, &match, out);

	if (result == REGEX_FOUND && !wanted->match) {
		regex_fail(scratch, &wanted->regex, "is found", out);
		out->at = match.at[0];
		out->n = match.n[0];
		out->local = true;
	} else if (result == REGEX_NOT_FOUND && wanted->match) {
		regex_fail(scratch, &wanted->regex, "is not found", out);
	}
}

static void phrase_regex(const void *args, const struct job *job, bool japanese, struct buf *out)
{
	const struct wanted *wanted = args;
	struct str pattern = wanted->regex.pattern;

	if (wanted->regex.describe.p)
		buf_str(out, wanted->regex.describe);
	else if (japanese)
		buf_printf(out, "正規表現 /%.*s/ に一致%sこと。", STR_ARG(pattern),
			   wanted->match ? "する" : "しない");
	else
		buf_printf(out, "Must %smatch the pattern /%.*s/.", wanted->match ? "" : "not ",
			   STR_ARG(pattern));
}

static const char *const keys[] = {"pattern", "match", "describe", NULL};

const struct check_type check_regex_types[] = {
	{"regex", read_wanted, run_regex, phrase_regex, keys},
	{0},
};

/* --- a pattern that is nothing but a choice of texts --- */

/* Takes it from the end of *s, the first that fits. */
static bool take_end(struct str *s, const char *const *ends)
{
	size_t n = ending_bytes(*s, ends);

	s->n -= n;
	return n > 0;
}

static bool take_begin(struct str *s, const char *begin)
{
	if (!str_starts(*s, begin))
		return false;
	*s = str_sub(*s, strlen(begin), s->n);
	return true;
}

/* What stands between the anchors, without the group around it; false: an anchor is missing, or there are several texts and no group.
 * A parenthesis left in it is refused by whoever reads on. */
static bool take_frame(struct str *s)
{
	static const char *const ends[] = {"\\z", "\\Z", "$", NULL}, *const closes[] = {")", NULL};

	if (!(take_begin(s, "^") || take_begin(s, "\\A")) || !take_end(s, ends))
		return false;
	if (take_begin(s, "(?:") || take_begin(s, "("))
		return take_end(s, closes);
	return str_find(*s, STR_OF("|"), 0) < 0;
}

/* The next text, up to a bar or the end; false: it is none, but a pattern. A backslash before punctuation stands for that. */
static bool next_choice(struct arena *a, struct str *rest, struct str *choice)
{
	struct buf text = BUF(REGEX_PATTERN_BYTES_MAX);
	bool fine = true;
	size_t i = 0;

	for (; fine && i < rest->n && rest->p[i] != '|'; i++) {
		const bool escaped = rest->p[i] == '\\';
		i += escaped;
		fine = i < rest->n && (escaped ? ispunct((unsigned char)rest->p[i]) != 0
					       : !strchr("^$.*+?()[]{}", rest->p[i]));
		if (fine)
			buf_putc(&text, rest->p[i]);
	}
	*choice = arena_str(a, buf_view(&text));
	*rest = str_sub(*rest, i + 1, rest->n);
	buf_release(&text);
	return fine;
}

void regex_hint(struct arena *a, const struct check *c, struct hint *hint)
{
	const struct wanted *wanted = c->args;

	if (c->type->run != run_regex || !wanted->match || hint->n_choice)
		return;
	struct str rest = wanted->regex.pattern;
	struct str *choice = arena_array(a, struct str, (int)rest.n + 1);
	int n = 0;
	if (!take_frame(&rest))
		return;
	while (rest.n > 0) {
		if (!next_choice(a, &rest, &choice[n]))
			return;
		n += text_trim(choice[n]).n > 0; /* nothing is no draft */
	}
	hint->choice = choice;
	hint->n_choice = n;
}
