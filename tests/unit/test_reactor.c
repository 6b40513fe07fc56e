/* tests/unit/test_reactor.c - the order of things in a turn of the loop, and that nothing follows a close. */
#include "base/clock.h"
#include "io/reactor.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

struct world {
	struct reactor *reactor;
	struct watch *watch;
	struct timer *timer;
	int pipe[2];
	int n; /* callbacks so far, of the kind the test counts */
	char story[64];
	struct str address;
	char address_text[64];
};

static void tell(struct world *w, char c)
{
	size_t n = strlen(w->story);
	assert_true(n + 1 < sizeof(w->story));
	w->story[n] = c;
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->reactor = reactor_new();
	*state = w;
	return pipe(w->pipe);
}

static int teardown(void **state)
{
	struct world *w = *state;

	watch_close(w->watch);
	timer_close(w->timer);
	reactor_free(w->reactor);
	close(w->pipe[0]);
	close(w->pipe[1]);
	free(w);
	return 0;
}

static void guard(void *owner)
{
	tell(owner, 'g');
}

static void turn_a(void *owner)
{
	tell(owner, 'a');
}

static void turn_b_stops(void *owner)
{
	struct world *w = owner;

	tell(w, 'b');
	if (strchr(w->story, 'r') || strchr(w->story, 't'))
		reactor_stop(w->reactor);
}

static void read_one(void *owner, int events)
{
	struct world *w = owner;
	char c;

	assert_int_equal(events, WATCH_READ);
	assert_int_equal(read(w->pipe[0], &c, 1), 1);
	tell(w, 'r');
}

static void a_wake_is_guard_then_callbacks_then_turns_in_order(void **state)
{
	struct world *w = *state;

	reactor_guard(w->reactor, guard, w);
	reactor_turn(w->reactor, turn_a, w);
	reactor_turn(w->reactor, turn_b_stops, w);
	w->watch = watch_new(w->reactor, w->pipe[0], read_one, w);
	watch_set(w->watch, WATCH_READ);
	assert_int_equal(write(w->pipe[1], "x", 1), 1);
	reactor_run(w->reactor);
	assert_string_equal(w->story, "grab");
}

static void tell_timer(void *owner)
{
	tell(owner, 't');
}

/* The wake that the timer ended is over when libuv runs it; what it queued must not wait for the next one. */
static void a_turn_follows_a_timer_without_sleep(void **state)
{
	struct world *w = *state;
	int64_t begin_ms = clock_mono_ms();

	reactor_turn(w->reactor, turn_b_stops, w);
	w->timer = timer_new(w->reactor, tell_timer, w);
	timer_start(w->timer, 10, 5000);
	reactor_run(w->reactor);
	assert_non_null(strstr(w->story, "tb"));
	assert_true(clock_mono_ms() - begin_ms < 2000);
	assert_true(clock_mono_ms() - begin_ms >= 9);
}

static void turn_five_times(void *owner)
{
	struct world *w = owner;

	if (++w->n < 5)
		reactor_again(w->reactor);
	else
		reactor_stop(w->reactor);
}

static void again_gives_a_turn_with_nothing_to_wake_for(void **state)
{
	struct world *w = *state;

	reactor_turn(w->reactor, turn_five_times, w);
	reactor_again(w->reactor);
	reactor_run(w->reactor);
	assert_int_equal(w->n, 5);
}

static void turn_ends_itself(void *owner)
{
	struct world *w = owner;

	w->n++;
	reactor_turn_end(w->reactor, w);
}

static void other_turn(void *owner)
{
	struct world **w = owner;

	if (++(*w)->address_text[0] == 3)
		reactor_stop((*w)->reactor);
	reactor_again((*w)->reactor);
}

static void an_ended_turn_function_is_not_called_again(void **state)
{
	struct world *w = *state;

	reactor_turn(w->reactor, turn_ends_itself, w);
	reactor_turn(w->reactor, other_turn, state);
	reactor_again(w->reactor);
	reactor_run(w->reactor);
	assert_int_equal(w->n, 1);
	assert_int_equal(w->address_text[0], 3);
}

static void close_in_callback(void *owner, int events)
{
	struct world *w = owner;

	w->n++;
	watch_close(w->watch);
	w->watch = NULL;
}

static void stop_now(void *owner)
{
	struct world *w = owner;
	reactor_stop(w->reactor);
}

static void no_callback_follows_a_close(void **state)
{
	struct world *w = *state;

	w->watch = watch_new(w->reactor, w->pipe[0], close_in_callback, w);
	watch_set(w->watch, WATCH_READ);
	assert_int_equal(write(w->pipe[1], "x", 1), 1); /* never read: it would fire for ever */
	w->timer = timer_new(w->reactor, stop_now, w);
	timer_start(w->timer, 20, 0);
	reactor_run(w->reactor);
	assert_int_equal(w->n, 1);
}

static void see_error(void *owner, int events)
{
	struct world *w = owner;

	w->n |= events;
	if (w->n == (WATCH_READ | WATCH_WRITE))
		reactor_stop(w->reactor);
}

static void an_error_shows_as_both(void **state)
{
	struct world *w = *state;

	/* A pipe whose reader is gone: EPOLLERR on the writing end, which waits for reading only. */
	w->watch = watch_new(w->reactor, w->pipe[1], see_error, w);
	watch_set(w->watch, WATCH_READ);
	close(w->pipe[0]);
	w->pipe[0] = -1;
	reactor_run(w->reactor);
	assert_int_equal(w->n, WATCH_READ | WATCH_WRITE);
}

static void count_and_stop_timer(void *owner)
{
	struct world *w = owner;

	if (++w->n == 3) {
		timer_stop(w->timer);
		reactor_stop(w->reactor);
	}
}

static void a_repeating_timer_repeats(void **state)
{
	struct world *w = *state;

	w->timer = timer_new(w->reactor, count_and_stop_timer, w);
	timer_start(w->timer, 0, 2);
	reactor_run(w->reactor);
	assert_int_equal(w->n, 3);
}

static void resolved(void *owner, struct str address)
{
	struct world *w = owner;

	snprintf(w->address_text, sizeof(w->address_text), "%.*s", STR_ARG(address));
	w->address = address;
	w->n++;
	reactor_stop(w->reactor);
}

static void a_name_becomes_an_address_later(void **state)
{
	struct world *w = *state;

	reactor_resolve(w->reactor, "127.0.0.1", resolved, w);
	assert_int_equal(w->n, 0);
	reactor_run(w->reactor);
	assert_int_equal(w->n, 1);
	assert_string_equal(w->address_text, "127.0.0.1");
}

static void what_is_no_name_gives_the_absent_address(void **state)
{
	struct world *w = *state;

	w->address = STR_OF("before");
	reactor_resolve(w->reactor, "no host\xff", resolved, w);
	reactor_run(w->reactor);
	assert_int_equal(w->n, 1);
	assert_null(w->address.p);
}

static void no_answer_comes_after_the_end(void **state)
{
	struct world w = {.reactor = reactor_new()};

	reactor_resolve(w.reactor, "127.0.0.1", resolved, &w);
	reactor_stop(w.reactor);
	reactor_free(w.reactor);
	assert_int_equal(w.n, 0);
}

static void got_signal(void *owner, int signal_no)
{
	struct world *w = owner;

	w->n = signal_no;
	reactor_stop(w->reactor);
}

static void a_signal_is_a_callback(void **state)
{
	struct world *w = *state;

	reactor_signal(w->reactor, SIGUSR1, got_signal, w);
	raise(SIGUSR1);
	assert_int_equal(w->n, 0);
	reactor_run(w->reactor);
	assert_int_equal(w->n, SIGUSR1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_wake_is_guard_then_callbacks_then_turns_in_order),
		TEST(a_turn_follows_a_timer_without_sleep),
		TEST(again_gives_a_turn_with_nothing_to_wake_for),
		TEST(an_ended_turn_function_is_not_called_again),
		TEST(no_callback_follows_a_close),
		TEST(an_error_shows_as_both),
		TEST(a_repeating_timer_repeats),
		TEST(a_name_becomes_an_address_later),
		TEST(what_is_no_name_gives_the_absent_address),
		TEST(no_answer_comes_after_the_end),
		TEST(a_signal_is_a_callback),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
