/*
 * core/ground.h - what tools found in the drafts of a job: an examination is one run of one tool over one draft. Each draft is examined
 * by each tool of the profile, in their order, before anybody judges it.
 */
#ifndef CORE_GROUND_H
#define CORE_GROUND_H

#include "core/history.h"

/* The place of the tool that examines the draft next; n_tool: all have. */
int ground_next(const struct profile *, const struct history *, int draft_no);

/* Takes the answer to a tool's call into the history, in @a. A run that failed, too: a critique that is not valid, and its `reasons`
 * are the command's words. */
const struct critique *ground_take(struct arena *a, const struct profile *, struct history *,
				   const struct call *, const struct reply *);

/* Adds the draft's findings of @severity or more to @issue; gives how many. NULL: only counts. */
int ground_findings(const struct history *, int draft_no, int64_t severity, struct issue *issue);

#endif
