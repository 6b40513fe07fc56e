#include "core/arm.h"

#include "base/digest.h"

int arm_of(struct str profile, struct str job_id, const int64_t *share, int n)
{
	struct digest *d = digest_begin("draftmill/arm/1");
	uint8_t sha[SHA_BYTES];
	uint64_t number = 0, sum = 0;
	int i = 0;

	digest_bytes(d, profile);
	digest_bytes(d, job_id);
	digest_end(d, sha);
	for (int k = 0; k < 8; k++)
		number = number << 8 | sha[k];
	for (int k = 0; k < n; k++)
		sum += (uint64_t)share[k];
	for (number %= sum; number >= (uint64_t)share[i]; i++)
		number -= (uint64_t)share[i];
	return i;
}
