/*
 * call_prompt.h - what of a job's history a call is shown: its draft with checks and findings, the issues to mend, both candidates.
 */
#ifndef CALL_PROMPT_H
#define CALL_PROMPT_H

#include "core/history.h"
#include "core/prompt.h"

/* Fills *out, a PROMPT; for a tool with nothing. */
void call_prompt(struct arena *, const struct profile *, const struct job *, const struct history *,
		 const struct call *c, struct prompt *out);

/* Of both messages and the schema; INT64_MAX: over the ceiling of a prompt, which no cap allows. */
int64_t call_prompt_bytes(struct arena *, const struct profile *, const struct job *,
			  const struct history *, const struct call *c);

/* Whether a valid critique only says what stands in the prompt that it answers, see core/copied.h. */
bool call_is_copied(struct arena *, const struct profile *, const struct job *,
		    const struct history *, const struct call *c, const struct critique *);

#endif
