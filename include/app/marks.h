/*
 * app/marks.h - how far intake has come, by partition: all records under a mark are settled (a job, a duplicate or a dead letter
 * in PostgreSQL). Records settle in any order; a mark is raised over the settled ones at its front only.
 */
#ifndef APP_MARKS_H
#define APP_MARKS_H

#include "base/str.h"

struct marks;

typedef void marks_raised_fn(void *owner, struct str topic, int32_t partition, int64_t next_offset);

struct marks *marks_new(marks_raised_fn *, void *owner);
void marks_free(struct marks *);

/* A record was given to intake; offsets of a partition rise. */
void marks_begin(struct marks *, struct str topic, int32_t partition, int64_t offset);
/* Its row is committed. One that is not known (its partition went away meanwhile) is ignored. */
void marks_settle(struct marks *, struct str topic, int32_t partition, int64_t offset);
/* The consumer has passed everything under @next_offset, also offsets without a record; there is nothing over it. */
void marks_pass(struct marks *, struct str topic, int32_t partition, int64_t next_offset);
/* Each mark once more, for whoever did not heed or keep it. */
void marks_tell_again(struct marks *);
/* The partition went away: what is still open will be given again, to whoever has it then. */
void marks_drop(struct marks *, struct str topic, int32_t partition);

#endif
