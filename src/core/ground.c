#include "core/ground.h"

#include "base/text.h"

int ground_next(const struct profile *p, const struct history *h, int draft_no)
{
	int n = 0;

	for (int i = 0; i < h->n_examination; i++)
		n += h->examination[i].draft_no == draft_no;
	return n < p->n_tool ? n : p->n_tool;
}

static const struct tool *tool_asked(const struct profile *p, const struct call *c)
{
	for (int i = 0; i < p->n_tool; i++)
		if (&p->tool[i].model == c->model)
			return &p->tool[i];
	BUG("call %d asks no tool of the profile", c->no);
}

const struct critique *ground_take(struct arena *a, const struct profile *p, struct history *h,
				   const struct call *c, const struct reply *reply)
{
	const struct tool *tool = tool_asked(p, c);
	struct critique *now;

	if (!h->examination)
		h->examination = arena_array(a, struct critique, LOOP_EXAMINATIONS);
	if (h->n_examination == LOOP_EXAMINATIONS)
		BUG("an examination more than drafts and tools allow");
	now = &h->examination[h->n_examination++];
	if (reply->class == REPLY_complete)
		findings_read(a, tool, reply->text, h->draft[c->draft_no].text, now);
	else
		*now = (struct critique){.fault = STR_OF("it could not be run, or failed"),
					 .reasons = text_to_utf8(a, reply->text),
					 .tool = tool->name,
					 .score = -1};
	now->draft_no = c->draft_no;
	return now;
}

int ground_findings(const struct history *h, int draft_no, int64_t severity, struct issue *issue)
{
	int n = 0;

	for (int i = 0; i < h->n_examination; i++) {
		const struct critique *e = &h->examination[i];
		for (int k = 0; e->draft_no == draft_no && k < e->n_issue; k++) {
			if (e->issue[k].severity < severity)
				continue;
			if (issue)
				issue[n] = e->issue[k];
			n++;
		}
	}
	return n;
}
