/*
 * app/drain.h - what `work --drain` has to see done: all records that the job topics have when it starts.
 */
#ifndef APP_DRAIN_H
#define APP_DRAIN_H

#include "app/settings.h"
#include "io/cluster.h"

/* The ends of all partitions, in @a. A mark of a topic that was deleted and made anew since is lowered to the partition's beginning, so
 * that it says nothing of records that nobody has read. Waits for broker and database. */
enum status drain_start(const struct settings *, struct cluster *, struct arena *a,
			struct partition_end **end, int *n, struct err *err) MUST_CHECK;

#endif
