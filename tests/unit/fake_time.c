/* The rest of base/clock.c is itself. */
#define clock_mono_ms true_mono_ms
#define clock_unix_ms true_unix_ms
#include "../../src/base/clock.c"
#undef clock_mono_ms
#undef clock_unix_ms

#include "fake_time.h"

#include "base/memory.h"

#include <stdlib.h>

struct timer {
	struct timer *next; /* of all */
	reactor_fn *fn;
	void *owner;
	int64_t due_mono_ms; /* -1: not running */
	int64_t turn;	     /* those of one moment come in the order they were started */
};

int64_t clock_mono_ms(void);
int64_t clock_unix_ms(void);

static struct timer *timers;
static int64_t now_mono_ms = 1, n_turn;

int64_t clock_mono_ms(void)
{
	return now_mono_ms;
}

int64_t clock_unix_ms(void)
{
	return INT64_C(1800000000000) + now_mono_ms;
}

struct timer *timer_new(struct reactor *reactor, reactor_fn *fn, void *owner)
{
	struct timer *t = mem_must(calloc(1, sizeof(*t)));

	*t = (struct timer){.next = timers, .fn = fn, .owner = owner, .due_mono_ms = -1};
	timers = t;
	return t;
}

void timer_start(struct timer *t, int64_t delay_ms, int64_t repeat_ms)
{
	if (repeat_ms)
		BUG("no timer of this fake repeats");
	t->due_mono_ms = now_mono_ms + delay_ms;
	t->turn = n_turn++;
}

void timer_close(struct timer *t)
{
	struct timer **link = &timers;

	while (t && *link != t)
		link = &(*link)->next;
	if (t)
		*link = t->next;
	free(t);
}

static struct timer *next_due(void)
{
	struct timer *first = NULL;

	for (struct timer *t = timers; t; t = t->next)
		if (t->due_mono_ms >= 0 &&
		    (!first || t->due_mono_ms < first->due_mono_ms ||
		     (t->due_mono_ms == first->due_mono_ms && t->turn < first->turn)))
			first = t;
	return first;
}

void fake_time_run(int64_t until_mono_ms)
{
	struct timer *t;

	while ((t = next_due()) && t->due_mono_ms <= until_mono_ms) {
		now_mono_ms = t->due_mono_ms;
		t->due_mono_ms = -1;
		t->fn(t->owner);
	}
	now_mono_ms = until_mono_ms;
}
