#include "core/history.h"

#include "core/ground.h"

#include "base/text.h"
#include "core/anchor.h"

/* ---- drafts ---- */

/* Runs a check on the field that it is about; places are told as places of the draft. All share one measure of work. */
static void examine_part(struct arena *a, const struct check *c, const struct job *job,
			 const struct draft *d, struct checked *whole, struct checked *part,
			 struct check_result *out)
{
	int i = 0;

	if (!c->field.p) {
		check_run(a, c, job, whole, out);
		return;
	}
	while (!str_eq(d->field[i].name, c->field))
		i++;
	part[i].work = whole->work;
	check_run(a, c, job, &part[i], out);
	whole->work = part[i].work;
	if (out->ok)
		return;
	out->n = out->at < 0 ? d->field[i].n : out->n;
	out->at = d->field[i].at + (out->at < 0 ? 0 : out->at);
}

static void examine(struct draft *d, struct arena *a, const struct profile *p,
		    const struct job *job)
{
	struct checked whole = {.scratch = arena_new(), .text = d->text}, part[FIELDS_MAX];
	struct check_result *r;

	for (int i = 0; i < d->n_field; i++)
		part[i] = (struct checked){.scratch = whole.scratch,
					   .text = field_text(&d->field[i], d->text)};
	d->n_result = p->n_check + job->n_check;
	d->result = r = arena_array(a, struct check_result, d->n_result);
	for (int i = 0; i < d->n_result; i++, r++) {
		const struct check *c = i < p->n_check ? &p->check[i] : &job->check[i - p->n_check];
		examine_part(a, c, job, d, &whole, part, r);
		d->n_failed += !r->ok;
		d->n_hard_failed += !r->ok && c->hard;
	}
	sha256(text_squeeze(whole.scratch, d->text), d->squeezed_sha);
	arena_free(whole.scratch);
}

struct draft *history_add_draft(struct history *h, struct arena *a, const struct profile *p,
				const struct job *job, const struct answer *made, int from,
				const struct diff *diff, int n_diff)
{
	struct draft *d;

	if (h->n_draft == LOOP_DRAFTS)
		BUG("a draft more than the iterations allow");
	d = &h->draft[h->n_draft];
	*d = (struct draft){.no = h->n_draft++, .from = from, .text = made->text, .score = -1};
	d->confidence_permille = made->confidence_permille;
	d->field = made->field;
	d->n_field = made->n_field;
	d->diff = diff;
	d->n_diff = n_diff;
	if (from >= 0 && !diff)
		d->diff = diff_words(a, h->draft[from].text, d->text, &d->n_diff);
	d->changed_permille = diff_permille(d->diff, d->n_diff);
	examine(d, a, p, job);
	return d;
}

int history_best_draft(const struct history *h)
{
	const struct draft *best = NULL;

	for (int i = 0; i < h->n_draft; i++) {
		const struct draft *d = &h->draft[i];
		if (h->choice && d->from < 0 && d->no != h->choice->draft_no)
			continue;
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
	const int n_found = ground_findings(h, draft_no, p->severity_threshold, NULL);
	struct issue *all =
		arena_array(a, struct issue, d->n_result + n_found + (c ? c->n_issue : 0));

	*n = 0;
	for (int i = 0; i < d->n_result; i++) {
		if (d->result[i].ok)
			continue;
		all[*n] = issue_of_check(a, &d->result[i], d->text, p->severity_threshold);
		*n += all[*n].severity >= p->severity_threshold;
	}
	*n += ground_findings(h, draft_no, p->severity_threshold, &all[*n]);
	for (int i = 0; c && i < c->n_issue; i++)
		if (c->issue[i].severity >= p->severity_threshold &&
		    !issue_is_unanchored(&c->issue[i]))
			all[(*n)++] = c->issue[i];
	return all;
}
