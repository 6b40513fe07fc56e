/*
 * app/preflight.h - what only asking can tell: whether a worker with these settings would find what it needs. Nothing is changed and no
 * model is called.
 */
#ifndef APP_PREFLIGHT_H
#define APP_PREFLIGHT_H

#include "app/profiles.h"

/* It lets us in, has the schema of this program, and gives this user a worker's rights: to add to the trail, not to change it. */
void preflight_database(const struct settings *, struct faults *);

/* Before a worker opens anything: one that waits for a database that never comes would look alive, and a tool without its sandbox passes
 * nothing. ST_DOWN: the database does not let us in; ST_INVALID: it has no schema, or a tool does not answer. */
enum status preflight_start(const struct settings *, const struct profiles *,
			    struct err *err) MUST_CHECK;

/* Each tool of a profile answers an empty text, in its sandbox. */
void preflight_tools(const struct settings *, const struct profiles *, struct faults *);

/* Logs what a person should hear of at the start: preflight_options(), and each topic that is not there or denied: jobs would be paid for
 * whose events cannot leave. No more than that, for it can be mended while it works. */
struct cluster;
void preflight_log(const struct settings *, struct cluster *);

/* It answers, lets us in, has the topics (of jobs, of events, of dead letters) and gives this user a right to each and to the group. */
void preflight_broker(const struct settings *, struct faults *);

/* Options that meet a fault of this librdkafka with some brokers: to be told, though with other brokers all is well. */
void preflight_options(const struct settings *, struct faults *notes);

/* What a profile is worth less for: mode reflect; and a rule of stakes whose variable none of its sample jobs gives: mistyped, it never holds. */
void preflight_profiles(const struct profiles *, struct faults *notes);

/* Of each provider that a profile uses: the credential can be had, and a connection leads there, with its proxy, TLS and certificate.
 * @offline: variables and files alone. */
void preflight_providers(const struct settings *, const struct profiles *, bool offline,
			 struct faults *);

#endif
