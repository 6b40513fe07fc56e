#include "check_family.h"
#include "pattern.h"

#include <stdio.h>

enum { DESCRIBE_BYTES_MAX = 1000 };

struct regex {
	struct str pattern,
		describe; /* describe: what it means, for prompt and refiner; or absent */
	bool match;	  /* must be found; else must not */
	const struct pattern *compiled;
};

static enum status read_regex(struct arena *a, const struct json *spec, const void **args,
			      struct err *err)
{
	struct regex *regex = arena_alloc(a, sizeof(*regex));
	struct str pattern, describe = {NULL, 0};

	if (!json_get_str(spec, "pattern", &pattern) || pattern.n == 0 ||
	    pattern.n > PATTERN_BYTES_MAX)
		return err_set(err, ST_INVALID,
			       "key \"pattern\": must be a string of 1 to %d bytes",
			       PATTERN_BYTES_MAX);
	regex->match = true;
	if (json_get(spec, "match") && !json_get_bool(spec, "match", &regex->match))
		return err_set(err, ST_INVALID,
			       "key \"match\": must be true (must be found) or false (must not)");
	if (json_get(spec, "describe") && (!json_get_str(spec, "describe", &describe) ||
					   describe.n == 0 || describe.n > DESCRIBE_BYTES_MAX))
		return err_set(err, ST_INVALID,
			       "key \"describe\": must be a string of 1 to %d bytes",
			       DESCRIBE_BYTES_MAX);
	regex->pattern = arena_str(a, pattern);
	regex->describe = arena_str(a, describe);
	*args = regex;
	if (pattern_read(a, pattern, &regex->compiled, err) == ST_OK)
		return ST_OK;
	err_at(err, "key \"pattern\": ");
	return ST_INVALID;
}

static struct str detail(struct arena *a, const struct regex *regex, const char *what)
{
	if (regex->describe.p)
		return arena_printf(a, "%.*s (the pattern /%.*s/ %s)", STR_ARG(regex->describe),
				    STR_ARG(regex->pattern), what);
	return arena_printf(a, "the pattern /%.*s/ %s", STR_ARG(regex->pattern), what);
}

static void run_regex(struct arena *a, const void *args, const struct job *job,
		      struct checked *checked, struct check_result *out)
{
	const struct regex *regex = args;
	char what[600];
	struct err why;
	int64_t at, n;

	switch (pattern_search(regex->compiled, checked->text, &checked->work, CHECK_WORK_MAX, &at,
			       &n, &why)) {
	case PATTERN_FOUND:
		out->ok = regex->match;
		if (!out->ok) {
			out->detail = detail(a, regex, "is found");
			out->at = at;
			out->n = n;
		}
		return;
	case PATTERN_NOT_FOUND:
		out->ok = !regex->match;
		if (!out->ok)
			out->detail = detail(a, regex, "is not found");
		return;
	case PATTERN_UNDECIDED:
		out->ok = false;
		snprintf(what, sizeof(what), "could not be decided: %s; make it simpler", why.text);
		out->detail = detail(a, regex, what);
	}
}

static void phrase_regex(const void *args, const struct job *job, bool japanese, struct buf *out)
{
	const struct regex *regex = args;

	if (regex->describe.p)
		buf_str(out, regex->describe);
	else if (japanese)
		buf_printf(out, "正規表現 /%.*s/ に一致%sこと。", STR_ARG(regex->pattern),
			   regex->match ? "する" : "しない");
	else
		buf_printf(out, "Must %smatch the pattern /%.*s/.", regex->match ? "" : "not ",
			   STR_ARG(regex->pattern));
}

static const char *const keys[] = {"pattern", "match", "describe", NULL};

const struct check_type check_regex_types[] = {
	{"regex", read_regex, run_regex, phrase_regex, keys},
	{0},
};
