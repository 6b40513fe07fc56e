#include "check_family.h"
#include "check_parts.h"
#include "regex.h"

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
