/*
 * test_merge.c - random drafts, flagged places and revisions against what is promised of the refiner: nothing that nobody flagged
 * is changed, and no number, name, address or quotation is lost. SEED=n plays others.
 */
#include "core/refine.h"

#include "../lib/loop_case.h"
#include "../lib/merge_rules.h"

#include <setjmp.h>

#include <cmocka.h>

enum { GAMES = 8000, TEXTS = 2000, SPANS_MAX = 4, SEED_DEFAULT = 20261201 };

static uint64_t seed_of_run(void)
{
	const char *text = getenv("SEED");

	return text ? strtoull(text, NULL, 10) : SEED_DEFAULT;
}

struct game {
	uint64_t random;
	struct arena *a;
	struct str draft, revision;
	struct span span[SPANS_MAX];
	int n_span;
	struct merge merge;
};

static int draw(struct game *g, int n)
{
	g->random ^= g->random << 13;
	g->random ^= g->random >> 7;
	g->random ^= g->random << 17;
	return (int)(g->random % (uint64_t)n);
}

static void begin(struct game *g, int no)
{
	*g = (struct game){.random = (seed_of_run() + 1) * 0x9E3779B97F4A7C15u +
				     (uint64_t)no * 0xD1342543DE82EF95u,
			   .a = arena_new()};
	for (int i = 0; i < 8; i++)
		draw(g, 2);
}

/* ---- texts ---- */

static void put_words(struct game *g, struct buf *out, int n)
{
	static const char *const words[] = {
		"a",	"an",	  "order", "Monday",	     "5 USD",	".", ",",  "\n",
		"\n\n", "月",	  "曜",	   "日に届きます。", "e\u0301", "é", "  ", "ab",
		"abab", "\u3000", "#!",	   "order"};

	for (int i = 0; i < n; i++) {
		buf_puts(out, words[draw(g, sizeof(words) / sizeof(*words))]);
		buf_puts(out, draw(g, 3) ? " " : "");
	}
}

static struct str taken(struct game *g, struct buf *b)
{
	struct str s = arena_str(g->a, buf_view(b));

	buf_release(b);
	return s;
}

/* A place between two characters of @s. */
static size_t draw_place(struct game *g, struct str s)
{
	size_t at = (size_t)draw(g, (int)s.n + 1);

	while (at > 0 && at < s.n && (s.p[at] & 0xC0) == 0x80)
		at--;
	return at;
}

static struct span draw_span(struct game *g, struct str s)
{
	size_t x = draw_place(g, s), y = draw_place(g, s);

	return x < y ? (struct span){(int64_t)x, (int64_t)(y - x)}
		     : (struct span){(int64_t)y, (int64_t)(x - y)};
}

/* @s with something else in the place of @span. */
static struct str edited(struct game *g, struct str s, struct span span)
{
	struct buf out = BUF(1 << 16);

	buf_str(&out, str_sub(s, 0, (size_t)span.at));
	put_words(g, &out, draw(g, 4));
	buf_str(&out, str_sub(s, (size_t)(span.at + span.n), s.n));
	return taken(g, &out);
}

static void draw_texts(struct game *g)
{
	struct buf draft = BUF(1 << 16), other = BUF(1 << 16);
	const int kind = draw(g, 10);

	put_words(g, &draft, 1 + draw(g, 20));
	g->draft = taken(g, &draft);
	for (int i = draw(g, SPANS_MAX + 1); i > 0; i--) {
		g->span[g->n_span] = draw_span(g, g->draft);
		g->n_span += g->span[g->n_span].n > 0;
	}
	g->revision = g->draft;
	if (kind == 0) { /* a fragment */
		const struct span part = draw_span(g, g->draft);
		g->revision = str_sub(g->draft, (size_t)part.at, (size_t)part.n);
	}
	for (int i = kind < 8 ? 1 + draw(g, 4) : 0; i > 0; i--)
		g->revision = edited(g, g->revision, draw_span(g, g->revision));
	put_words(g, &other, 1 + draw(g, 20));
	if (kind == 9) /* another text */
		g->revision = buf_view(&other);
	g->revision = arena_str(g->a, g->revision);
	buf_release(&other);
}

/* ---- what must hold ---- */

/* Replaced is exactly one flagged place: then that is what comes out. */
static const char *check_mend(struct game *g)
{
	g->n_span = 1;
	g->span[0] = draw_span(g, g->draft);
	g->revision = edited(g, g->draft, g->span[0]);
	merge_flagged(g->a, g->draft, g->revision, g->span, g->n_span, &g->merge);
	return str_eq(g->merge.text, g->revision) ? NULL
						  : "the mend of a flagged place is not taken";
}

static void what_nobody_flagged_stays(void **state)
{
	for (int i = 0; i < GAMES; i++) {
		struct game g;
		begin(&g, i);
		draw_texts(&g);
		const char *fault =
			merge_fault(g.a, g.draft, g.revision, g.span, g.n_span, &g.merge);
		if (!fault)
			fault = check_mend(&g);
		if (fault) {
			for (int j = 0; j < g.n_span; j++)
				printf("# flagged: %lld, %lld\n", (long long)g.span[j].at,
				       (long long)g.span[j].n);
			fail_msg(
				"SEED=%llu, game %d: %s\ndraft    [%s]\nrevision [%s]\nmerge    [%.*s]",
				(unsigned long long)seed_of_run(), i, fault, g.draft.p,
				g.revision.p, STR_ARG(g.merge.text));
		}
		arena_free(g.a);
	}
}

/* ---- what may not be lost ---- */

static const char *const particulars[] = {"417",
					  "R-2614",
					  "2026-12-01",
					  "https://a.example/x",
					  "help@a.example",
					  "「返金します」",
					  "\"as agreed\"",
					  "佐藤様",
					  "5.25%"};
enum { N_PARTICULAR = sizeof(particulars) / sizeof(*particulars) };

/* A draft with some of them, all of it flagged, and a revision that may have lost them. True: it was taken. */
static bool refined(struct game *g, struct history *h)
{
	const struct profile *p =
		case_profile(g->a, case_patch(g->a, case_file(g->a, "tests/data/profile.json"),
					      STR_OF("{\"checks\":[]}")));
	const struct job *job = case_job(g->a, p, STR_OF("{\"id\":\"a\",\"profile\":\"letter\"}"));
	struct issue issue = {.category = STR("tone"), .severity = 4, .at = -1};
	struct buf draft = BUF(1 << 16);
	struct refinement became;

	for (int i = 0; i < 6; i++) {
		buf_puts(&draft, "so it is said, ");
		buf_puts(&draft, particulars[draw(g, N_PARTICULAR)]);
		buf_puts(&draft, draw(g, 2) ? "、 " : "\n");
	}
	g->draft = taken(g, &draft);
	g->revision = g->draft;
	for (int i = draw(g, 3); i >= 0; i--) {
		struct span span = draw_span(g, g->revision);
		if (span.n > 30)
			span.n = 0;
		g->revision = edited(g, g->revision, span);
	}
	struct answer made = {.text = g->revision}, first = {.text = g->draft};
	history_add_draft(h, g->a, p, job, &first, -1, NULL, 0);
	*history_add_critique(h) = (struct critique){.valid = true, .issue = &issue, .n_issue = 1};
	return refine(h, g->a, p, job, &made, 0, &became) != NULL;
}

/* But for white space in it; and 様 may become さん. */
static bool has(struct game *g, struct str text, const char *particular)
{
	return str_find(text_bare(g->a, text), text_bare(g->a, str_cut(str_c(particular), 6)), 0) >=
	       0;
}

static void nothing_particular_is_lost(void **state)
{
	int n_taken = 0, n_rejected = 0;

	for (int i = 0; i < TEXTS; i++) {
		struct history h = {.n_draft = 0};
		struct game g;
		begin(&g, i);
		if (!refined(&g, &h))
			n_rejected++;
		for (int j = 0; h.n_draft == 2 && j < N_PARTICULAR; j++)
			if (strstr(g.draft.p, particulars[j]) &&
			    !has(&g, h.draft[1].text, particulars[j]))
				fail_msg(
					"SEED=%llu, text %d: %s is lost\ndraft    [%s]\nrevision [%s]",
					(unsigned long long)seed_of_run(), i, particulars[j],
					g.draft.p, g.revision.p);
		n_taken += h.n_draft == 2;
		arena_free(g.a);
	}
	printf("# %d taken, %d rejected\n", n_taken, n_rejected);
	assert_true(n_taken > TEXTS / 20 && n_rejected > TEXTS / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_nobody_flagged_stays),
		cmocka_unit_test(nothing_particular_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
