/*
 * payloads.h - the payloads of tests/data/injection, ready to be put where others write.
 */
#ifndef PAYLOADS_H
#define PAYLOADS_H

#include "core/job.h"

enum { PAYLOADS_MAX = 400, PAYLOADS_CALL_NO = 2 };

/* Where others write. */
#define PLACES(X)                                                                                  \
	X(task)                                                                                    \
	X(name) /* of a variable */                                                                \
	X(variable)                                                                                \
	X(constraint)                                                                              \
	X(source_id)                                                                               \
	X(source)                                                                                  \
	X(draft)                                                                                   \
	X(detail)  /* of a red check */                                                            \
	X(finding) /* of a tool */                                                                 \
	X(category)                                                                                \
	X(snippet)                                                                                 \
	X(suggestion)
#define X(name) PLACE_##name,
enum place { PLACES(X) N_PLACES };
#undef X

struct payload {
	struct str id, text;
	struct str reply; /* of a critic who only repeats it; absent: it holds none */
};

extern struct payload payloads[PAYLOADS_MAX];
extern int n_payload;
extern int payloads_aimed[N_PLACES]; /* how many are aimed at each place */

/* The salt of the job whose first two fence keys, of call PAYLOADS_CALL_NO, stand in some of them. */
extern const uint8_t payloads_salt[JOB_SALT_BYTES];
struct str payloads_key(struct arena *, int counter);

/* Reads them into @a, at the beginning. */
void payloads_read(struct arena *a);

#endif
