#include "check_family.h"
#include "check_parts.h"
#include "core/similarity.h"

#include "base/text.h"

enum { BYTE_WORK = 60, BARE_WORK = 8, EXAMPLES_MAX = 20, GRAM = 3 };
enum { LIMIT_DEFAULT = 800, LIMIT_MAX = 999 };

struct likeness {
	const struct str *bare; /* the examples, text_bare() */
	int n_example;
	int64_t limit; /* permille */
};

static enum status read_likeness(struct arena *a, const struct json *spec, const void **args,
				 struct err *err)
{
	struct likeness *likeness = arena_alloc(a, sizeof(*likeness));
	const struct str *example;
	enum status status = arg_strings(a, spec, "examples", &example, &likeness->n_example, err);
	struct str *bare = arena_array(a, struct str, likeness->n_example);

	likeness->limit = LIMIT_DEFAULT;
	if (status == ST_OK && (likeness->n_example == 0 || likeness->n_example > EXAMPLES_MAX))
		status = err_set(err, ST_INVALID, "needs \"examples\", a list of 1 to %d texts",
				 EXAMPLES_MAX);
	if (status == ST_OK)
		status = arg_int(spec, "max_permille", 0, LIMIT_MAX, &likeness->limit, err);
	for (int i = 0; status == ST_OK && i < likeness->n_example; i++)
		bare[i] = text_bare(a, example[i]);
	likeness->bare = bare;
	*args = likeness;
	return status;
}

static void run_likeness(struct arena *scratch, const void *args, const struct job *job,
			 struct checked *checked, struct check_result *out)
{
	const struct likeness *likeness = args;

	if (!check_folded(checked, out) ||
	    !check_afford(checked, BARE_WORK * (int64_t)checked->folded.n, out))
		return;
	struct str bare = text_close(scratch, checked->folded);
	for (int i = 0; i < likeness->n_example && out->ok; i++) {
		struct str example = likeness->bare[i];
		if (!check_afford(checked, BYTE_WORK * (int64_t)(bare.n + example.n), out))
			return;
		int64_t permille = similarity_permille(bare, example, GRAM);
		if (permille <= likeness->limit)
			continue;
		out->ok = false;
		out->detail = arena_printf(scratch,
					   "too like example %d: %lld of 1000, at most %lld wanted",
					   i + 1, (long long)permille, (long long)likeness->limit);
	}
}

static void phrase_likeness(const void *args, const struct job *job, bool japanese, struct buf *out)
{
	buf_puts(out, japanese ? "例文を写さず、この件のための文章にすること。"
			       : "Must be written for this case, not copied from an example.");
}

static const char *const keys[] = {"examples", "max_permille", NULL};

const struct check_type check_likeness_types[] = {
	{"unlike", read_likeness, run_likeness, phrase_likeness, keys},
	{0},
};
