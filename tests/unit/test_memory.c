/* arena and buf. */
#include "base/arena.h"
#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct str absent;

static int new_arena(void **state)
{
	*state = arena_new();
	return 0;
}

static int free_arena(void **state)
{
	arena_free(*state);
	return 0;
}

static void memory_is_zeroed_aligned_and_apart(void **state)
{
	unsigned char *p[200];

	for (size_t i = 0; i < 200; i++) {
		p[i] = arena_alloc(*state, i);
		assert_int_equal((uintptr_t)p[i] % _Alignof(max_align_t), 0);
		for (size_t k = 0; k < i; k++)
			assert_int_equal(p[i][k], 0);
		memset(p[i], (int)i, i);
	}
	for (size_t i = 0; i < 200; i++) {
		for (size_t k = 0; k < i; k++)
			assert_int_equal(p[i][k], i);
	}
}

static void two_allocations_of_nothing_differ(void **state)
{
	assert_non_null(arena_alloc(*state, 0));
	assert_ptr_not_equal(arena_alloc(*state, 0), arena_alloc(*state, 0));
}

static void chunks_grow_from_4_to_64_KiB(void **state)
{
	size_t before = arena_bytes(*state), largest = 0, smallest = SIZE_MAX;

	for (int i = 0; i < 10000; i++) {
		arena_alloc(*state, 100);
		size_t grown = arena_bytes(*state) - before;
		before += grown;
		if (grown > largest)
			largest = grown;
		if (grown > 0 && grown < smallest)
			smallest = grown;
	}
	assert_int_equal(smallest, 4 << 10);
	assert_int_equal(largest, 64 << 10);
}

static void a_large_request_leaves_the_chunk_being_filled_alone(void **state)
{
	char *small = arena_alloc(*state, 16);
	char *large = arena_alloc(*state, 1 << 20);
	size_t bytes = arena_bytes(*state);

	memset(large, 1, 1 << 20);
	assert_ptr_equal((char *)arena_alloc(*state, 16), small + 16);
	assert_int_equal(arena_bytes(*state), bytes);
	assert_in_range(bytes, 1 << 20, (1 << 20) + (8 << 10));
}

static void a_large_request_may_be_the_first(void **state)
{
	memset(arena_alloc(*state, 100000), 1, 100000);
	memset(arena_alloc(*state, 16), 2, 16);
	memset(arena_alloc(*state, 100000), 3, 100000);
}

static void strings_are_copied_with_a_nul(void **state)
{
	struct str s = arena_str(*state, (struct str){"abcdef", 3});

	assert_string_equal(s.p, "abc");
	assert_int_equal(s.n, 3);
	assert_null(arena_str(*state, absent).p);
	assert_string_equal(arena_str(*state, str_c("")).p, "");
	s = arena_printf(*state, "%s-%d", "job", 7);
	assert_string_equal(s.p, "job-7");
	assert_int_equal(s.n, 5);
}

static void freeing_no_arena_is_fine(void **state)
{
	arena_free(NULL);
}

static void a_buffer_holds_what_is_put(void **state)
{
	struct buf b = BUF(1 << 20);

	assert_non_null(buf_view(&b).p);
	assert_int_equal(buf_view(&b).n, 0);
	buf_str(&b, absent);
	buf_puts(&b, "ab");
	buf_putc(&b, 'c');
	buf_put(&b, "d\0e", 3);
	buf_printf(&b, "%05d", 42);
	buf_hex(&b, "\x00\xAB\xff", 3);
	assert_true(str_eq(buf_view(&b), STR_OF("abcd\0e0004200abff")));
	assert_int_equal(b.p[b.n], '\0');
	buf_clear(&b);
	assert_int_equal(buf_view(&b).n, 0);
	for (int i = 0; i < 1000; i++)
		buf_printf(&b, "%d,", i);
	assert_int_equal(b.n, 3890); /* 10 of 2 bytes, 90 of 3, 900 of 4 */
	assert_false(b.full);
	buf_release(&b);
}

static void a_buffer_ends_exactly_at_its_ceiling(void **state)
{
	struct buf b = BUF(100);

	for (int i = 0; i < 100; i++)
		buf_putc(&b, 'x');
	assert_false(b.full);
	assert_int_equal(b.n, 100);
	buf_putc(&b, 'x');
	assert_true(b.full);
	assert_int_equal(b.n, 100);
	assert_true(b.cap <= 101);
	buf_release(&b);
}

static void what_would_pass_the_ceiling_is_dropped_whole(void **state)
{
	struct buf b = BUF(4);

	buf_puts(&b, "abc");
	buf_puts(&b, "de");
	assert_true(b.full);
	buf_puts(&b, "f");
	buf_printf(&b, "%d", 12);
	buf_hex(&b, "\x01", 1);
	assert_string_equal(b.p, "abcf");
	assert_true(b.full);
	buf_clear(&b);
	assert_false(b.full);
	buf_hex(&b, "\x01\x02", 2);
	assert_string_equal(b.p, "0102");
	buf_release(&b);
	assert_int_equal(b.max, 4);
	assert_null(b.p);
}

#define ARENA_TEST(f) cmocka_unit_test_setup_teardown(f, new_arena, free_arena)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARENA_TEST(memory_is_zeroed_aligned_and_apart),
		ARENA_TEST(two_allocations_of_nothing_differ),
		ARENA_TEST(chunks_grow_from_4_to_64_KiB),
		ARENA_TEST(a_large_request_leaves_the_chunk_being_filled_alone),
		ARENA_TEST(a_large_request_may_be_the_first),
		ARENA_TEST(strings_are_copied_with_a_nul),
		cmocka_unit_test(freeing_no_arena_is_fine),
		cmocka_unit_test(a_buffer_holds_what_is_put),
		cmocka_unit_test(a_buffer_ends_exactly_at_its_ceiling),
		cmocka_unit_test(what_would_pass_the_ceiling_is_dropped_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
