/*
 * app/preflight.h - what only asking can tell: whether a worker with these settings would find what it needs. Nothing is changed and no
 * model is called. Each fault goes to the sink; the functions return their number.
 */
#ifndef APP_PREFLIGHT_H
#define APP_PREFLIGHT_H

#include "app/profiles.h"

/* It lets us in, has the schema of this program, and gives this user a worker's rights: to add to the trail, not to change it. */
int preflight_database(const struct settings *, fault_fn *, void *owner);

/* Full names of all topics: of jobs, of events, of dead letters; in the settings' arena. */
const char *const *preflight_topics(const struct settings *, int *n);

/* Before a worker opens anything: one that waits for a database that never comes would look alive. ST_DOWN: it does not let us in; ST_INVALID:
 * it has no schema. */
enum status preflight_schema(const struct settings *, struct err *err) MUST_CHECK;

/* Logs each topic that the broker lacks: jobs would be paid for whose events cannot leave. No more than that, for a broker may
 * make topics by itself. Blocks up to @timeout_ms a topic. */
struct consumer;
void preflight_topics_missing(const struct settings *, struct consumer *, int timeout_ms);

/* It answers and has the topics: of jobs, of events, of dead letters. */
int preflight_broker(const struct settings *, fault_fn *, void *owner);

/* The credential of each provider that a profile uses can be had. */
int preflight_providers(const struct settings *, const struct profiles *, fault_fn *, void *owner);

#endif
