/*
 * merge.c - any draft, any critique's snippets and any refiner's reply: what nobody flagged stays, and what is refined is whole.
 */
#include "../lib/fuzz.h"
#include "../lib/loop_case.h"
#include "../lib/merge_rules.h"

#include "core/anchor.h"
#include "core/refine.h"
#include "core/revision.h"

enum { ISSUES = 4 };

static const struct str drafts[] = {
	STR("Dear Ms Tanaka,\n\nYour order R-2614 arrives on 2026-12-01. You pay 5.25 USD.\n\nKind regards"),
	STR("田中様\n\nご注文の品は12月1日に届きます。代金は500円です。\n\n敬具"),
	STR("It says “as agreed”: see https://a.example/x or help@a.example.\r\nCafe\xCC\x81, 1,200"),
	STR("# Title\n\n- one\n- two\n\n```sql\nSELECT 1\n```\nDone."),
	STR("aaaa aaaa aaaa aaaa"),
};
static const struct str revisions[] = {
	STR("Dear Ms Tanaka,\n\nYour order R-2614 arrives on 2026-12-02. You pay 5.25 USD.\n\nKind regards"),
	STR("Here is the revised text:\n\n```\nDear Ms Tanaka,\n\nIt arrives today.\n```\nI changed one line."),
	STR("以下が修正版です。\n田中様\n\nご注文の品は12月2日に届きます。代金は500円です。\n\n敬具"),
	STR("It arrives on 2026-12-02."),
	STR("aaaa bbbb aaaa"),
	STR(""),
};
static const struct str snippets[] = {
	STR("arrives on 2026-12-01\nYou pay"),
	STR("12月1日に\n敬具\n\n代金は"),
	STR("'as agreed'\nCafé"),
	STR("nowhere"),
};

#define CORPUS(c) (c), (int)(sizeof(c) / sizeof(*(c)))

static struct arena *kept; /* over all rounds */
static const struct profile *profile;
static const struct job *job;

static struct str any_text(struct fuzz *f, const struct str *corpus, int n)
{
	return arena_str(f->a, text_to_utf8(f->a, fuzz_mutate(f, corpus, n)));
}

/* An issue a line; how many. */
static int any_issues(struct fuzz *f, struct str draft, struct issue *issue)
{
	struct str lines = any_text(f, CORPUS(snippets));
	int n = 0;

	for (int64_t end = 0; n < ISSUES && end >= 0; n++) {
		end = str_find(lines, STR_OF("\n"), 0);
		issue[n] =
			(struct issue){.category = STR("tone"),
				       .snippet = end < 0 ? lines : str_sub(lines, 0, (size_t)end),
				       .suggestion = STR("Mend it."),
				       .severity = 1 + fuzz_draw(f, 5)};
		lines = str_sub(lines, (size_t)end + 1, SIZE_MAX);
	}
	anchor_issues(draft, issue, n);
	return n;
}

static void check_anchor(struct fuzz *f, struct str draft, const struct issue *issue)
{
	const struct str there = str_sub(draft, (size_t)issue->at, (size_t)issue->n);

	FUZZ_TRUE(f, issue->at >= -1);
	if (issue->at < 0) {
		FUZZ_TRUE(f, text_trim(issue->snippet).n == 0 ||
				     str_find(draft, issue->snippet, 0) < 0);
		return;
	}
	FUZZ_TRUE(f, issue->n > 0 && (int64_t)there.n == issue->n && text_is_utf8(there));
	FUZZ_TRUE(f, str_find(draft, issue->snippet, 0) < 0 || str_eq(there, issue->snippet));
}

static void what_nobody_flagged_stays(struct fuzz *f)
{
	const struct str draft = any_text(f, CORPUS(drafts));
	const struct str revision = any_text(f, CORPUS(revisions));
	struct issue issue[ISSUES];
	struct span span[ISSUES];
	struct merge merge;
	int n_span = 0;

	for (int i = any_issues(f, draft, issue) - 1; i >= 0; i--) {
		check_anchor(f, draft, &issue[i]);
		if (issue[i].at >= 0)
			span[n_span++] = (struct span){issue[i].at, issue[i].n};
	}
	const char *fault = merge_fault(f->a, draft, revision, span, n_span, &merge);
	if (fault)
		printf("# %s\n# draft [%.*s]\n# revision [%.*s]\n", fault, STR_ARG(draft),
		       STR_ARG(revision));
	FUZZ_TRUE(f, !fault);
}

static void what_is_refined_is_whole(struct fuzz *f)
{
	const struct str draft = any_text(f, CORPUS(drafts));
	const struct str reply = any_text(f, CORPUS(revisions));
	struct answer made = {.text = reply}, first = {.text = draft};
	struct critique critique = {.valid = true};
	struct issue issue[ISSUES];
	struct history h = {.n_draft = 0};
	struct refinement became;

	if (text_trim(draft).n == 0 || text_trim(reply).n == 0)
		return; /* no answers */
	critique.n_issue = any_issues(f, draft, issue);
	critique.issue = issue;
	history_add_draft(&h, f->a, profile, job, &first, -1, NULL, 0);
	*history_add_critique(&h) = critique;
	const struct draft *d = refine(&h, f->a, profile, job, &made, 0, &became);
	FUZZ_TRUE(f, h.n_draft == 1 + (d != NULL));
	if (d)
		FUZZ_TRUE(f, d->text.n > 0 && text_is_utf8(d->text));
	const struct str bare = text_trim(revision_text(f->a, reply, draft));
	FUZZ_TRUE(f, bare.n == 0 || str_find(reply, bare, 0) >= 0);
}

int main(int argc, char **argv)
{
	static const struct fuzz_test tests[] = {
		{"what nobody flagged stays", what_nobody_flagged_stays, 6000},
		{"what is refined is whole", what_is_refined_is_whole, 6000},
	};

	kept = arena_new();
	profile = case_profile(kept, case_file(kept, "tests/data/profile.json"));
	job = case_job(kept, profile, STR_OF("{\"id\":\"a\",\"profile\":\"letter\"}"));
	int status = FUZZ_MAIN(tests);
	arena_free(kept);
	return status;
}
