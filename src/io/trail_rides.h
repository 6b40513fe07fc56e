/*
 * trail_rides.h - events sent and marks: they need no commit of their own, so they ride with the next batch. What waits for
 * 100 ms is due, also without a batch to ride with.
 */
#ifndef TRAIL_RIDES_H
#define TRAIL_RIDES_H

#include "io/reactor.h"
#include "trail_sql.h"

struct rides;

struct rides *rides_new(struct reactor *);
void rides_free(struct rides *);

void rides_sent(struct rides *, const struct sent_row *); /* copied, like the next */
void rides_mark(struct rides *, const struct mark_row *); /* in place of one that waits */

bool rides_wait(const struct rides *);
bool rides_due(const struct rides *);

/* What waits gets into the batch, and is aboard until the batch has an end: rides_arrive() or rides_put_off(). */
void rides_board(struct rides *);
bool rides_aboard(const struct rides *);
void rides_add(const struct rides *, struct trail_sql *); /* their rows */
typedef void rides_marked_fn(void *owner, struct str topic, int32_t partition, int64_t next_offset);
void rides_arrive(struct rides *, rides_marked_fn *, void *owner);
void rides_put_off(struct rides *); /* they wait again */
int rides_drop(struct rides *);	    /* they are at fault; gives the number of events dropped */

#endif
