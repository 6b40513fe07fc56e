#include "pattern.h"
#include "core/check.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum { MATCH_LIMIT = 1000000, DEPTH_LIMIT = 10000, HEAP_LIMIT_KIB = 20 << 10 };

/* PCRE2's match limit starts anew at each place of the text and does not see long runs, so /[^x]*+[xy]/ takes time by the square
 * of the text's length. The caller's limit counts over all: a step through the pattern for 64, a byte passed for 1. */
enum { STEP_WORK = 64 };

struct pattern {
	const pcre2_code *code; /* in the arena too */
};

static void *take(size_t size, void *arena)
{
	return arena_alloc(arena, size);
}

static void keep(void *p, void *arena)
{
}

enum status pattern_read(struct arena *a, struct str text, const struct pattern **out,
			 struct err *err)
{
	pcre2_general_context *memory = pcre2_general_context_create(take, keep, a);
	struct pattern *pattern = arena_alloc(a, sizeof(*pattern));
	char why[200];
	int error;
	size_t at;

	pattern->code =
		pcre2_compile((PCRE2_SPTR)text.p, text.n,
			      PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT,
			      &error, &at, pcre2_compile_context_create(memory));
	*out = pattern;
	if (pattern->code)
		return ST_OK;
	pcre2_get_error_message(error, (PCRE2_UCHAR *)why, sizeof(why));
	return err_set(err, ST_INVALID, "%s, at byte %zu", why, at);
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

enum pattern_result pattern_search(const struct pattern *pattern, struct str text, int64_t *work,
				   int64_t work_max, int64_t *at, int64_t *n, struct err *why)
{
	pcre2_match_context *limits = pcre2_match_context_create(NULL);
	pcre2_match_data *found = pcre2_match_data_create(1, NULL);
	struct walk walk = {work, work_max, 0};

	if (!limits || !found)
		BUG("out of memory");
	pcre2_set_match_limit(limits, MATCH_LIMIT);
	pcre2_set_depth_limit(limits, DEPTH_LIMIT);
	pcre2_set_heap_limit(limits, HEAP_LIMIT_KIB);
	pcre2_set_callout(limits, count_work, &walk);
	int rc = pcre2_match(pattern->code, (PCRE2_SPTR)text.p, text.n, 0, 0, found, limits);
	if (rc >= 0) {
		const size_t *span = pcre2_get_ovector_pointer(found);
		*at = (int64_t)span[0];
		*n = (int64_t)(span[1] - span[0]);
	} else {
		pcre2_get_error_message(rc, (PCRE2_UCHAR *)why->text, sizeof(why->text));
	}
	pcre2_match_data_free(found);
	pcre2_match_context_free(limits);
	return rc >= 0			   ? PATTERN_FOUND
	       : rc == PCRE2_ERROR_NOMATCH ? PATTERN_NOT_FOUND
					   : PATTERN_UNDECIDED;
}

void check_library(struct buf *out)
{
	char version[64]; /* of which PCRE2 asks for 24 or more */

	pcre2_config(PCRE2_CONFIG_VERSION, version);
	buf_printf(out, "PCRE2 %s", version);
}
