#include "check_family.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>

enum { PATTERN_BYTES_MAX = 4096, DESCRIBE_BYTES_MAX = 1000 };
enum { MATCH_LIMIT = 1000000, DEPTH_LIMIT = 10000, HEAP_LIMIT_KIB = 20 << 10 };

/* PCRE2's match limit starts anew at each place of the text and does not see long runs, so /[^x]*+[xy]/ takes time by the square
 * of the text's length. CHECK_WORK_MAX counts over all: a step through the pattern for 64, a byte passed for 1. */
enum { STEP_WORK = 64 };

struct regex {
	struct str pattern,
		describe;	/* describe: what it means, for prompt and refiner; or absent */
	bool match;		/* must be found; else must not */
	const pcre2_code *code; /* it and the limits lie in the arena too */
	pcre2_match_context *limits;
};

static void *take(size_t size, void *arena)
{
	return arena_alloc(arena, size);
}

static void keep(void *p, void *arena)
{
}

static enum status compile(struct arena *a, struct regex *regex, struct err *err)
{
	pcre2_general_context *memory = pcre2_general_context_create(take, keep, a);
	char why[200];
	int error;
	size_t at;

	regex->code =
		pcre2_compile((PCRE2_SPTR)regex->pattern.p, regex->pattern.n,
			      PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT,
			      &error, &at, pcre2_compile_context_create(memory));
	if (regex->code)
		return ST_OK;
	pcre2_get_error_message(error, (PCRE2_UCHAR *)why, sizeof(why));
	return err_set(err, ST_INVALID, "key \"pattern\": %s, at byte %zu", why, at);
}

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
	return compile(a, regex, err);
}

static struct str detail(struct arena *a, const struct regex *regex, const char *what)
{
	if (regex->describe.p)
		return arena_printf(a, "%.*s (the pattern /%.*s/ %s)", STR_ARG(regex->describe),
				    STR_ARG(regex->pattern), what);
	return arena_printf(a, "the pattern /%.*s/ %s", STR_ARG(regex->pattern), what);
}

struct walk {
	struct checked *checked;
	size_t at;
};

/* Called by PCRE2 at each step. */
static int count_work(pcre2_callout_block *step, void *data)
{
	struct walk *walk = data;
	size_t at = step->current_position;

	walk->checked->work += STEP_WORK + (int64_t)(at > walk->at ? at - walk->at : walk->at - at);
	walk->at = at;
	return check_work_left(walk->checked) < 0 ? PCRE2_ERROR_MATCHLIMIT : 0;
}

/* The result of pcre2_match(); if it is not negative, *at and *n are set. */
static int search(const struct regex *regex, struct checked *checked, int64_t *at, int64_t *n)
{
	pcre2_match_context *limits = pcre2_match_context_create(NULL);
	pcre2_match_data *found = pcre2_match_data_create(1, NULL);
	struct walk walk = {checked, 0};

	if (!limits || !found)
		BUG("out of memory");
	pcre2_set_match_limit(limits, MATCH_LIMIT);
	pcre2_set_depth_limit(limits, DEPTH_LIMIT);
	pcre2_set_heap_limit(limits, HEAP_LIMIT_KIB);
	pcre2_set_callout(limits, count_work, &walk);
	int rc = pcre2_match(regex->code, (PCRE2_SPTR)checked->text.p, checked->text.n, 0, 0, found,
			     limits);
	if (rc >= 0) {
		const size_t *span = pcre2_get_ovector_pointer(found);
		*at = (int64_t)span[0];
		*n = (int64_t)(span[1] - span[0]);
	}
	pcre2_match_data_free(found);
	pcre2_match_context_free(limits);
	return rc;
}

static void run_regex(struct arena *a, const void *args, const struct job *job,
		      struct checked *checked, struct check_result *out)
{
	const struct regex *regex = args;
	int64_t at, n;
	int rc = search(regex, checked, &at, &n);

	out->ok = regex->match ? rc >= 0 : rc == PCRE2_ERROR_NOMATCH;
	if (out->ok)
		return;
	if (rc >= 0) {
		out->detail = detail(a, regex, "is found");
		out->at = at;
		out->n = n;
	} else if (rc == PCRE2_ERROR_NOMATCH) {
		out->detail = detail(a, regex, "is not found");
	} else {
		char why[200], what[300];
		pcre2_get_error_message(rc, (PCRE2_UCHAR *)why, sizeof(why));
		snprintf(what, sizeof(what), "could not be decided: %s; make it simpler", why);
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

void check_library(struct buf *out)
{
	char version[64]; /* of which PCRE2 asks for 24 or more */

	pcre2_config(PCRE2_CONFIG_VERSION, version);
	buf_printf(out, "PCRE2 %s", version);
}
