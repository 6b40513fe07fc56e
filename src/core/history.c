#include "core/history.h"

#include "base/text.h"

/* ---- drafts ---- */

static void examine(struct draft *d, struct arena *a, const struct profile *p,
		    const struct job *job)
{
	struct checked checked = {.scratch = arena_new(), .text = d->text};
	struct check_result *r;

	d->n_result = p->n_check + job->n_check;
	d->result = r = arena_array(a, struct check_result, d->n_result);
	for (int i = 0; i < d->n_result; i++, r++) {
		const struct check *c = i < p->n_check ? &p->check[i] : &job->check[i - p->n_check];
		check_run(a, c, job, &checked, r);
		d->n_failed += !r->ok;
		d->n_hard_failed += !r->ok && c->hard;
	}
	sha256(text_squeeze(checked.scratch, d->text), d->squeezed_sha);
	arena_free(checked.scratch);
}

struct draft *history_add_draft(struct history *h, struct arena *a, const struct profile *p,
				const struct job *job, struct str text, int from)
{
	struct draft *d;

	if (h->n_draft == LOOP_DRAFTS)
		BUG("a draft more than the iterations allow");
	d = &h->draft[h->n_draft];
	*d = (struct draft){.no = h->n_draft++,
			    .from = from,
			    .text = text,
			    .score = -1,
			    .confidence_permille = -1};
	if (from >= 0) {
		d->diff = diff_words(a, h->draft[from].text, text, &d->n_diff);
		d->changed_permille = diff_permille(d->diff, d->n_diff);
	}
	examine(d, a, p, job);
	return d;
}

int history_best_draft(const struct history *h)
{
	const struct draft *best = NULL;

	for (int i = 0; i < h->n_draft; i++) {
		const struct draft *d = &h->draft[i];
		if (!best || d->n_hard_failed < best->n_hard_failed ||
		    (d->n_hard_failed == best->n_hard_failed && d->score >= best->score))
			best = d;
	}
	return best ? best->no : -1;
}

/* ---- critiques ---- */

struct critique *history_add_critique(struct history *h)
{
	if (h->n_critique == LOOP_CRITIQUES)
		BUG("a critique more than the iterations allow");
	return &h->critique[h->n_critique++];
}

const struct critique *history_critique_of(const struct history *h, int draft_no)
{
	for (int i = h->n_critique - 1; i >= 0; i--)
		if (h->critique[i].draft_no == draft_no && h->critique[i].valid)
			return &h->critique[i];
	return NULL;
}

const struct issue *history_actionable(const struct history *h, struct arena *a,
				       const struct profile *p, int draft_no, int *n)
{
	const struct draft *d = &h->draft[draft_no];
	const struct critique *c = history_critique_of(h, draft_no);
	struct issue *all = arena_array(a, struct issue, d->n_result + (c ? c->n_issue : 0));

	*n = 0;
	for (int i = 0; i < d->n_result; i++) {
		if (d->result[i].ok)
			continue;
		all[*n] = issue_of_check(a, &d->result[i], p->severity_threshold);
		*n += all[*n].severity >= p->severity_threshold;
	}
	for (int i = 0; c && i < c->n_issue; i++)
		if (c->issue[i].severity >= p->severity_threshold)
			all[(*n)++] = c->issue[i];
	return all;
}
