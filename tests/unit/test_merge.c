/*
 * What survives of a revision: the draft with what was flagged in [], the revision, what comes of them. What any texts must keep:
 * tests/property/test_merge.c.
 */
#include "core/merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SPANS = 4 };

static const struct merged {
	const char *draft, *revision, *text;
	int n_kept, n_reverted;
} cases[] = {
	/* in the flagged word alone, and elsewhere */
	{"It comes on [Monday].", "It comes on Tuesday.", "It comes on Tuesday.", 1, 0},
	{"It comes on [Monday], we hope.", "It arrives on Tuesday, we hope.",
	 "It comes on Tuesday, we hope.", 1, 1},
	{"It comes on Monday.", "It comes on Tuesday.", "It comes on Monday.", 0, 1},
	/* two flagged words, one changed; both */
	{"[a] b [c] d", "a b x d", "a b x d", 1, 0},
	{"[a] b [c] d", "x y z w", "x b z d", 2, 2},
	/* spans that touch are one, nested ones too */
	{"a [b ][c] d", "a x d", "a x d", 1, 0},
	/* put in at an edge of what was flagged, and away from it */
	{"a [b] c", "a b now c", "a b now c", 1, 0},
	{"a [b] c d", "a b c now d", "a b c d", 0, 1},
	/* cut: with the flagged words their white space stays */
	{"We [surely] come.", "We come.", "We  come.", 1, 0},
	{"We surely [come].", "We come.", "We surely come.", 0, 1},
	/* a fragment shortens nothing */
	{"One. Two is [wrong]. Three.", "Two is right.", "One. Two is right. Three.", 1, 1},
	/* Japanese */
	{"品は[12月1日]に届きます。", "品は12月2日に届きます。", "品は12月2日に届きます。", 1, 0},
	{"品は[明日]届きます。敬具", "お品は本日届きます。敬具", "品は本日届きます。敬具", 1, 1},
	/* nothing of nothing */
	{"", "", "", 0, 0},
	{"a", "", "a", 0, 1},
};

/* The text without its brackets, and where they were. */
static struct str unmark(struct arena *a, const char *marked, struct span *span, int *n)
{
	struct buf b = BUF(1000);

	*n = 0;
	for (const char *p = marked; *p; p++) {
		if (*p == '[')
			span[*n].at = (int64_t)b.n;
		else if (*p == ']')
			span[*n].n = (int64_t)b.n - span[*n].at;
		else
			buf_putc(&b, *p);
		*n += *p == ']';
	}
	struct str text = arena_str(a, buf_view(&b));
	buf_release(&b);
	return text;
}

static void only_what_was_flagged_is_taken(void **state)
{
	struct arena *a = arena_new();

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct merged *t = &cases[i];
		struct span span[SPANS];
		struct merge merge;
		int n;
		const struct str draft = unmark(a, t->draft, span, &n);
		merge_flagged(a, draft, str_c(t->revision), span, n, &merge);
		if (!str_is(merge.text, t->text) || merge.n_kept != t->n_kept ||
		    merge.n_reverted != t->n_reverted)
			fail_msg("%s -> %s: \"%.*s\", %d kept, %d reverted", t->draft, t->revision,
				 STR_ARG(merge.text), merge.n_kept, merge.n_reverted);
	}
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_was_flagged_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
