/*
 * app/try.h - `draftmill try`: one job against the configured models, without Kafka and without a database. The same driver and the same
 * loop as in the worker; the trail acknowledges every step and keeps nothing.
 */
#ifndef APP_TRY_H
#define APP_TRY_H

#include "app/profiles.h"

/* Runs @job (a job message; its `profile` is @profile where it names none) and prints each step to stdout as it happens,
 * then the outcome and the text. Returns an exit status: 0 passed or direct, 1 escalated or failed, 65 no valid job, 78 configuration. */
int try_job(const struct settings *, struct profiles *, struct str job, struct str profile);

#endif
