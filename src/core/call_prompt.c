#include "call_prompt.h"

#include "core/copied.h"

static void show_draft(const struct history *h, const struct call *c, struct prompt_parts *parts)
{
	const struct draft *d = &h->draft[c->draft_no];

	parts->draft = d->text;
	parts->field = d->field;
	parts->n_field = d->n_field;
	parts->result = d->result;
	parts->n_result = d->n_result;
	parts->examination = h->examination;
	parts->n_examination = h->n_examination;
	parts->draft_no = c->draft_no;
}

void call_prompt(struct arena *a, const struct profile *p, const struct job *job,
		 const struct history *h, const struct call *c, struct prompt *out)
{
	struct prompt_parts parts = {.again = c->again, .compares = c->compares};

	if (c->role == ROLE_TOOL)
		return;
	if (c->draft_no >= 0)
		show_draft(h, c, &parts);
	if (c->compares) {
		parts.other = h->draft[1 - c->draft_no].text;
		parts.other_field = h->draft[1 - c->draft_no].field;
	}
	if (c->role == ROLE_GENERATOR && p->candidates > 1)
		parts.approach = p->candidate[job->language].approach[c->candidate];
	if (c->role == ROLE_REFINER)
		parts.issue = history_actionable(h, a, p, c->draft_no, &parts.n_issue);
	prompt_write(p, job, c->role, c->no, &parts, out);
}

int64_t call_prompt_bytes(struct arena *a, const struct profile *profile, const struct job *job,
			  const struct history *h, const struct call *c)
{
	struct prompt p = PROMPT;
	int64_t n;

	call_prompt(a, profile, job, h, c, &p);
	n = p.system.full || p.user.full || p.schema.full
		    ? INT64_MAX
		    : (int64_t)(p.system.n + p.user.n + p.schema.n);
	prompt_release(&p);
	return n;
}

bool call_is_copied(struct arena *a, const struct profile *profile, const struct job *job,
		    const struct history *h, const struct call *c, const struct critique *critique)
{
	struct prompt p = PROMPT;
	bool copied;

	call_prompt(a, profile, job, h, c, &p);
	copied = copied_from(profile, critique, &p);
	prompt_release(&p);
	return copied;
}
