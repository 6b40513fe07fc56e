/*
 * charge.h - what a call may cost, and what a step has spent: tokens and money, into the job's history, and the money into the step.
 *
 * An attempt that may have been billed without an answer is charged at its call's reserve, in tokens_in.
 */
#ifndef CHARGE_H
#define CHARGE_H

#include "core/history.h"

/* Completes a call that is to be opened: model and output cap, unless given, and its reserves: for itself and, where the job can do without it
 * (a second candidate, a comparison), for the critique that must still fit behind it. */
void charge_ahead(struct arena *, const struct profile *, const struct job *,
		  const struct history *, int64_t at_ms, struct call *);

/* @n attempts of @c that may have been billed. */
void charge_reserve(struct history *, const struct call *, int n, struct loop_output *out);

/* Of each of @n open calls as many as @lost says. */
void charge_lost(struct history *, const struct call *open, int n, const int *lost,
		 struct loop_output *out);

/* A reply, by its usage and the prices of the model that answered, where the profile has them; without usage its reserve. */
void charge_reply(struct history *, const struct profile *, const struct fact *,
		  const struct call *, struct loop_output *out);

#endif
