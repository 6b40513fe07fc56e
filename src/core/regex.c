#include "regex.h"
#include "check_parts.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum { MATCH_LIMIT = 1000000, DEPTH_LIMIT = 10000, HEAP_LIMIT_KIB = 20 << 10 };
enum { STEP_WORK = 64, CALL_WORK = 400, DESCRIBE_BYTES_MAX = 1000 };

static void *take(size_t size, void *arena)
{
	return arena_alloc(arena, size);
}

static void keep(void *p, void *arena)
{
}

enum status regex_compile(struct arena *a, struct str pattern, struct regex *out, struct err *err)
{
	pcre2_general_context *memory = pcre2_general_context_create(take, keep, a);
	char why[200];
	int error;
	uint32_t n_group;
	size_t at;

	out->pattern = arena_str(a, pattern);
	out->code =
		pcre2_compile((PCRE2_SPTR)pattern.p, pattern.n,
			      PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT,
			      &error, &at, pcre2_compile_context_create(memory));
	if (!out->code) {
		pcre2_get_error_message(error, (PCRE2_UCHAR *)why, sizeof(why));
		return err_set(err, ST_INVALID, "%s, at byte %zu", why, at);
	}
	pcre2_pattern_info(out->code, PCRE2_INFO_CAPTURECOUNT, &n_group);
	out->n_group = (int)n_group;
	return ST_OK;
}

enum status regex_read(struct arena *a, const struct json *spec, struct regex *out, struct err *err)
{
	struct str pattern = {0};
	enum status status = arg_text(a, spec, "pattern", REGEX_PATTERN_BYTES_MAX, &pattern, err);

	if (status == ST_OK && !pattern.p)
		status = err_set(err, ST_INVALID, "needs \"pattern\", a regular expression");
	if (status == ST_OK)
		status = arg_text(a, spec, "describe", DESCRIBE_BYTES_MAX, &out->describe, err);
	if (status != ST_OK)
		return status;
	status = regex_compile(a, pattern, out, err);
	if (status != ST_OK)
		err_at(err, "key \"pattern\": ");
	return status;
}

struct walk {
	int64_t *work, work_max;
	size_t at;
};

/* Called by PCRE2 at each step. */
static int count_work(pcre2_callout_block *step, void *data)
{
	struct walk *walk = data;
	size_t at = step->current_position;

	*walk->work += STEP_WORK + (int64_t)(at > walk->at ? at - walk->at : walk->at - at);
	walk->at = at;
	return *walk->work > walk->work_max ? PCRE2_ERROR_MATCHLIMIT : 0;
}

static void copy_match(pcre2_match_data *found, int rc, struct regex_match *out)
{
	const size_t *span = pcre2_get_ovector_pointer(found);

	for (int i = 0; i <= REGEX_GROUPS_MAX; i++) {
		bool took_part = (rc == 0 || i < rc) && span[2 * i] != PCRE2_UNSET;
		out->at[i] = took_part ? (int64_t)span[2 * i] : -1;
		out->n[i] = took_part ? (int64_t)(span[2 * i + 1] - span[2 * i]) : 0;
	}
}

enum regex_result regex_find(const struct regex *regex, struct str text, size_t from, int64_t *work,
			     int64_t work_max, struct regex_match *out, struct err *why)
{
	pcre2_match_context *limits = pcre2_match_context_create(NULL);
	pcre2_match_data *found = pcre2_match_data_create(1 + REGEX_GROUPS_MAX, NULL);
	struct walk walk = {work, work_max, from};

	if (!limits || !found)
		BUG("out of memory");
	*work += CALL_WORK;
	pcre2_set_match_limit(limits, MATCH_LIMIT);
	pcre2_set_depth_limit(limits, DEPTH_LIMIT);
	pcre2_set_heap_limit(limits, HEAP_LIMIT_KIB);
	pcre2_set_callout(limits, count_work, &walk);
	int rc = pcre2_match(regex->code, (PCRE2_SPTR)text.p, text.n, from, PCRE2_NO_UTF_CHECK,
			     found, limits);
	if (rc >= 0)
		copy_match(found, rc, out);
	else
		pcre2_get_error_message(rc, (PCRE2_UCHAR *)why->text, sizeof(why->text));
	pcre2_match_data_free(found);
	pcre2_match_context_free(limits);
	return rc >= 0			   ? REGEX_FOUND
	       : rc == PCRE2_ERROR_NOMATCH ? REGEX_NOT_FOUND
					   : REGEX_UNDECIDED;
}

void regex_fail(struct arena *scratch, const struct regex *regex, const char *what,
		struct check_result *out)
{
	out->ok = false;
	out->detail = arena_printf(scratch, "the pattern /%.*s/ %s", STR_ARG(regex->pattern), what);
	if (regex->describe.p)
		out->detail = arena_printf(scratch, "%.*s (%.*s)", STR_ARG(regex->describe),
					   STR_ARG(out->detail));
}

enum regex_result regex_check(struct arena *scratch, const struct regex *regex,
			      struct checked *checked, size_t from, struct regex_match *match,
			      struct check_result *out)
{
	struct err why;
	enum regex_result result = regex_find(regex, checked->text, from, &checked->work,
					      check_work_max(checked), match, &why);

	if (result == REGEX_UNDECIDED)
		regex_fail(
			scratch, regex,
			arena_printf(scratch, "could not be decided: %s; make it simpler", why.text)
				.p,
			out);
	return result;
}

void regex_library(struct buf *out)
{
	char version[64]; /* of which PCRE2 asks for 24 or more */

	pcre2_config(PCRE2_CONFIG_VERSION, version);
	buf_printf(out, "PCRE2 %s", version);
}
