/*
 * app/run_tool.c - a call that asks a tool: a command in its sandbox, with the draft on standard input. What it wrote, or why it did not end
 * well, is the call's reply; a command that could not be started is tried again as a model is that cannot be reached.
 */
#include "run_private.h"

#include "app/sandbox.h"
#include "base/clock.h"

static const struct tool *tool_of(const struct profile *p, const struct model *m)
{
	for (int i = 0; i < p->n_tool; i++)
		if (&p->tool[i].model == m)
			return &p->tool[i];
	BUG("no tool of the profile");
}

static void on_end(void *owner, enum status status, struct str output, const struct err *why)
{
	struct run_call *c = owner;
	const struct http_reply answer = {.body = status == ST_OK ? output : str_c(why->text),
					  .whole = status == ST_OK};

	c->child = NULL;
	call_replied(c, status == ST_DOWN ? SENT_NOTHING : SENT_WHOLE, &answer,
		     clock_mono_ms() - c->run_mono_ms, why ? why->text : "");
}

void tool_run(struct run_call *c, int64_t timeout_ms)
{
	struct run *r = c->run;

	if (!c->how.argv)
		sandbox_how(r->arena, profiles_settings(r->profiles),
			    tool_of(r->profile, c->call.model), &c->how);
	c->how.input = loop_history(r->loop)->draft[c->call.draft_no].text;
	c->how.limit_ms = timeout_ms;
	c->run_mono_ms = clock_mono_ms();
	c->child = child_start(r->runs->c.reactor, &c->how, on_end, c);
}
