#include "charge.h"

#include "call_prompt.h"
#include "core/cost.h"

/* What the call may use at most. */
static void reserve(struct arena *a, const struct profile *p, const struct job *job,
		    const struct history *h, int64_t at_ms, struct call *c)
{
	if (!c->model)
		c->model = &p->model[c->role];
	if (!c->max_output_tokens && c->role != ROLE_TOOL)
		c->max_output_tokens = p->output_tokens[c->role];
	const int64_t bytes = call_prompt_bytes(a, p, job, h, c);
	c->reserve_tokens = reserve_tokens(c->model, bytes, c->max_output_tokens);
	c->reserve_micro_usd = reserve_micro_usd(c->model, bytes, c->max_output_tokens, at_ms);
}

void charge_ahead(struct arena *a, const struct profile *p, const struct job *job,
		  const struct history *h, int64_t at_ms, struct call *c)
{
	const struct draft *d = h->draft;
	struct call critique = {.role = ROLE_CRITIC};

	reserve(a, p, job, h, at_ms, c);
	if (!c->compares && (c->candidate == 0 || h->n_draft == 0))
		return;
	critique.draft_no = h->n_draft > 1 && d[1].text.n > d[0].text.n;
	reserve(a, p, job, h, at_ms, &critique);
	c->ahead_tokens = critique.reserve_tokens;
	c->ahead_micro_usd = critique.reserve_micro_usd;
}

void charge_reserve(struct history *h, const struct call *c, int n, struct loop_output *out)
{
	h->tokens_in += n * c->reserve_tokens;
	h->cost_micro_usd += n * c->reserve_micro_usd;
	out->cost_micro_usd += n * c->reserve_micro_usd;
}

void charge_lost(struct history *h, const struct call *open, int n, const int *lost,
		 struct loop_output *out)
{
	for (int i = 0; i < n; i++)
		charge_reserve(h, &open[i], lost[i], out);
}

void charge_reply(struct history *h, const struct profile *p, const struct fact *f,
		  const struct call *c, struct loop_output *out)
{
	const struct usage *u = &f->reply.usage;
	const struct model *answered = c->model;

	if (u->in < 0 || u->out < 0) {
		charge_reserve(h, c, 1, out);
		return;
	}
	for (int i = 0; i < N_ROLES && !model_is(answered, f->reply.model); i++)
		if (model_is(&p->model[i], f->reply.model))
			answered = &p->model[i];
	const int64_t micro_usd = cost_micro_usd(answered, *u, f->at_ms);
	h->tokens_in += u->in;
	h->tokens_cached += u->cached;
	h->tokens_out += u->out;
	h->cost_micro_usd += micro_usd;
	out->cost_micro_usd += micro_usd;
}
