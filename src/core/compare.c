#include "core/compare.h"

#include "core/unwrap.h"

bool comparison_read(struct arena *a, struct str reply, const struct draft *draft,
		     struct comparison *out)
{
	struct str text, better = {NULL, 0}, reasons = {NULL, 0};
	struct json *object;
	enum shape shape;
	struct err err;

	out->better = BETTER_invalid;
	if (!unwrap_object(reply, &object, &text, &shape, &err)) {
		out->fault = arena_str(a, str_c(err.text));
		return false;
	}
	(void)json_get_str(object, "better", &better);
	for (int i = BETTER_first; i <= BETTER_tie; i++)
		if (str_is(better, better_name((enum better)i)))
			out->better = (enum better)i;
	if (out->better == BETTER_invalid)
		out->fault = STR_OF("better is neither \"first\" nor \"second\" nor \"tie\"");
	else if (json_get(object, "reasons") && !json_get_str(object, "reasons", &reasons))
		out->fault = STR_OF("reasons is no text");
	else if (str_find(draft[0].text, text, 0) >= 0 || str_find(draft[1].text, text, 0) >= 0)
		out->fault = STR_OF("it stands in a draft: it is copied, not the critic's");
	if (out->fault.p)
		out->better = BETTER_invalid;
	out->reasons = arena_str(a, reasons);
	json_free(object);
	return out->better != BETTER_invalid;
}

/* The draft that a comparison prefers; -1: none. */
static int preferred(const struct comparison *c)
{
	if (c->better == BETTER_first)
		return c->first_no;
	return c->better == BETTER_second ? 1 - c->first_no : -1;
}

static int fewest_failed(const struct draft *d)
{
	if (d[0].n_hard_failed != d[1].n_hard_failed)
		return d[1].n_hard_failed < d[0].n_hard_failed;
	return d[1].n_failed < d[0].n_failed;
}

static struct choice by_preference(const struct history *h)
{
	const struct comparison *c = h->comparison;
	const int a = h->n_comparison > 0 ? preferred(&c[0]) : -1;
	const int b = h->n_comparison > 1 ? preferred(&c[1]) : -1;

	if (h->n_comparison == LOOP_COMPARISONS && a == b && a >= 0)
		return (struct choice){a, STR("both_orders")};
	if (h->n_comparison == LOOP_COMPARISONS && a >= 0 && c[1].better == BETTER_tie)
		return (struct choice){a, STR("one_order")};
	if (h->n_comparison == LOOP_COMPARISONS && b >= 0 && c[0].better == BETTER_tie)
		return (struct choice){b, STR("one_order")};
	return (struct choice){fewest_failed(h->draft), STR("tie_rule")};
}

bool compare_choose(const struct history *h, bool may_ask, struct choice *out)
{
	const struct draft *d = h->draft;
	const int n = h->n_comparison;

	if (h->n_draft == 1)
		*out = (struct choice){0, STR("alone")};
	else if (memcmp(d[0].squeezed_sha, d[1].squeezed_sha, SHA_BYTES) == 0)
		*out = (struct choice){0, STR("equal")};
	else if (!d[0].n_hard_failed != !d[1].n_hard_failed)
		*out = (struct choice){d[0].n_hard_failed > 0, STR("checks")};
	else if (may_ask && n < LOOP_COMPARISONS &&
		 (n == 0 || h->comparison[n - 1].better != BETTER_invalid))
		return false;
	else
		*out = by_preference(h);
	return true;
}

const char *choice_sentence(struct str why)
{
#define X(name, sentence)                                                                          \
	if (str_is(why, #name))                                                                    \
		return sentence;
	CHOICES(X)
#undef X
	return NULL;
}
