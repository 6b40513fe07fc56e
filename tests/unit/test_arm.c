#include "core/arm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The slots of 100 that another program (Python's hashlib) gives these. */
static void the_slot_is_that_of_the_header(void **state)
{
	static const struct {
		const char *profile, *id;
		int slot;
	} known[] = {
		{"p", "a", 49},
		{"p", "b", 0},
		{"p", "mail-001", 39},
		{"p", "注文-1", 18},
		{"customer-email", "a", 42},
		{"customer-email", "b", 32},
		{"customer-email", "mail-001", 78},
		{"customer-email", "注文-1", 12},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct str profile = str_c(known[i].profile), id = str_c(known[i].id);
		const int slot = known[i].slot;
		assert_int_equal(arm_of(profile, id, (const int64_t[]){slot, 100 - slot}, 2), 1);
		assert_int_equal(arm_of(profile, id, (const int64_t[]){slot + 1, 99 - slot}, 2), 0);
	}
}

static void an_arm_without_a_share_gets_nothing(void **state)
{
	char id[2] = {0};

	for (id[0] = 'a'; id[0] <= 'z'; id[0]++) {
		const struct str s = str_c(id);
		assert_int_equal(arm_of(STR_OF("p"), s, (const int64_t[]){0, 7, 0}, 3), 1);
		assert_int_equal(arm_of(STR_OF("p"), s, (const int64_t[]){0, 0, ARM_SHARE_MAX}, 3),
				 2);
		assert_int_equal(arm_of(STR_OF("p"), s, (const int64_t[]){1}, 1), 0);
	}
}

/* Also the largest shares add up. */
static void all_arms_get_their_part(void **state)
{
	const int64_t share[ARMS_MAX] = {ARM_SHARE_MAX, ARM_SHARE_MAX, ARM_SHARE_MAX,
					 ARM_SHARE_MAX, ARM_SHARE_MAX, ARM_SHARE_MAX,
					 ARM_SHARE_MAX, ARM_SHARE_MAX};
	int n[ARMS_MAX] = {0};
	char id[3] = {0};

	for (id[0] = ' '; id[0] <= '~'; id[0]++)
		for (id[1] = ' '; id[1] <= '~'; id[1]++)
			n[arm_of(STR_OF("p"), str_c(id), share, ARMS_MAX)]++;
	for (int i = 0; i < ARMS_MAX; i++)
		assert_in_range(n[i], 1000, 1260); /* of 9025; 4 standard deviations are 126 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_slot_is_that_of_the_header),
		cmocka_unit_test(an_arm_without_a_share_gets_nothing),
		cmocka_unit_test(all_arms_get_their_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
