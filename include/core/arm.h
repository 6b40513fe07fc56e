/*
 * core/arm.h - arms of an A/B comparison: which one of a profile's arms a job runs under.
 *
 * number = the first 8 bytes, big-endian, of SHA-256 over the canonical fields (base/digest.h) "draftmill/arm/1", the profile's name and the
 * job's id; slot = number mod the sum of the shares. The first arm has the slots from 0 to its share - 1, the next one those after it, and so on.
 * (Hash-based assignment: Kohavi, Tang, Xu, Trustworthy Online Controlled Experiments, 2020, ch. 4.) So an id has the same arm on every worker, after
 * a redelivery and in each revision and source, as long as the shares stay; and two profiles divide the same ids independently of each other. The
 * remainder's bias is under sum / 2^64.
 */
#ifndef CORE_ARM_H
#define CORE_ARM_H

#include "base/str.h"

#include <stdint.h>

enum { ARMS_MAX = 8, ARM_SHARE_MAX = 1000000 };

/* The number of its arm, 0..n-1. @share: 0..ARM_SHARE_MAX each, not all 0; an arm of share 0 gets nothing. */
int arm_of(struct str profile, struct str job_id, const int64_t *share, int n);

#endif
