#include "beat.h"
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void on_beat(void *owner)
{
	struct beat *b = owner;
	int64_t now_ms = clock_mono_ms();

	if (now_ms - b->last_ms > b->longest_ms)
		b->longest_ms = now_ms - b->last_ms;
	b->last_ms = now_ms;
}

void beat_start(struct beat *b, struct reactor *r)
{
	*b = (struct beat){.timer = timer_new(r, on_beat, b), .last_ms = clock_mono_ms()};
	timer_start(b->timer, BEAT_MS, BEAT_MS);
}

void beat_end(struct beat *b)
{
	on_beat(b);
	timer_close(b->timer);
	if (b->longest_ms >= HELD_UP_MS)
		fail_msg("the loop was held up for %lld ms", (long long)b->longest_ms);
}
