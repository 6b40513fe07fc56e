/*
 * tests/unit/test_consumer.c - which records come, from where, and that none is lost or given twice by a pause. A group's first
 * join takes 3 s on the mock cluster, so the stories that need one are opened all together before the first.
 */
#include "base/clock.h"
#include "beat.h"
#include "fake_kafka.h"
#include "io/consumer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { COORDINATOR_LOAD_IN_PROGRESS = 14 };
enum { N_PARTITIONS = 4, N_RECORDS = 100, LIMIT_MS = 20000 };

struct seen { /* of a partition */
	int n_records, n_assigned, n_revoked;
	int64_t first, next; /* offsets; -1 = none yet */
	int64_t end;	     /* the last at_end told; -1 = none */
};

struct world {
	struct fake_kafka *kafka;
	struct reactor *reactor;
	struct consumer *consumer;
	struct timer *limit;
	struct seen seen[N_PARTITIONS];
	int64_t mark[N_PARTITIONS];
	int n_want; /* records more */
	int n_records;
	bool (*enough)(struct world *);
	int64_t until_ms;
	bool closed;
	/* The last record. */
	struct arena *arena;
	struct record record;
	struct header header[8];
};

static void out_of_time(void *owner)
{
	fail_msg("nothing more came in %d ms", LIMIT_MS);
}

static void on_record(void *owner, const struct record *r)
{
	struct world *w = owner;
	struct seen *s = &w->seen[r->partition];

	assert_true(str_is(r->topic, "jobs"));
	if (s->first < 0)
		s->first = r->offset;
	else
		assert_int_equal(r->offset, s->next);
	s->next = r->offset + 1;
	s->n_records++;
	w->n_records++;
	w->n_want--;
	w->record = *r;
	w->record.key = arena_str(w->arena, r->key);
	w->record.value = arena_str(w->arena, r->value);
	assert_true(r->n_header <= 8);
	for (int i = 0; i < r->n_header; i++)
		w->header[i] = (struct header){arena_str(w->arena, r->header[i].key),
					       arena_str(w->arena, r->header[i].value)};
}

static int64_t on_assigned(void *owner, struct str topic, int32_t partition)
{
	struct world *w = owner;
	struct seen *s = &w->seen[partition];

	s->n_assigned++;
	s->first = s->next = s->end = -1;
	s->n_records = 0;
	return w->mark[partition];
}

static void on_revoked(void *owner, struct str topic, int32_t partition)
{
	struct world *w = owner;
	w->seen[partition].n_revoked++;
}

static void on_at_end(void *owner, struct str topic, int32_t partition, int64_t next_offset)
{
	struct world *w = owner;
	w->seen[partition].end = next_offset;
}

static void on_closed(void *owner)
{
	struct world *w = owner;
	w->closed = true;
}

static void turn(void *owner)
{
	struct world *w = owner;

	if (!w->consumer)
		return;
	int n = consumer_poll(w->consumer, w->n_want);
	assert_true(w->n_want >= 0 && n >= 0);
	if (w->enough(w))
		reactor_stop(w->reactor);
	else if (consumer_ready(w->consumer))
		reactor_again(w->reactor);
}

static void run_until(struct world *w, bool (*enough)(struct world *))
{
	w->enough = enough;
	timer_start(w->limit, LIMIT_MS, 0);
	reactor_again(w->reactor); /* n_want has changed */
	reactor_run(w->reactor);
}

static const struct kafka_option quick[] = {
	{"session.timeout.ms", "3000"},
	{"heartbeat.interval.ms", "500"},
	{"fetch.wait.max.ms", "50"},
};

static enum status try_open(struct world *w, const struct kafka_option *option, int n_option,
			    struct err *err)
{
	static const struct consumer_events events = {on_record, on_assigned, on_revoked,
						      on_at_end};
	static const char *const topic[] = {"jobs"};
	struct consumer_config config = {
		.brokers = fake_kafka_brokers(w->kafka),
		.group = "g",
		.topic = topic,
		.n_topic = 1,
		.option = option,
		.n_option = n_option,
	};
	return consumer_open(w->reactor, &config, &events, w, &w->consumer, err);
}

static void open_again(struct world *w, int n_want)
{
	struct err err = {""};

	w->n_want = n_want;
	w->n_records = 0;
	w->closed = false;
	memset(w->seen, 0, sizeof(w->seen));
	if (try_open(w, quick, 3, &err) != ST_OK)
		fail_msg("%s", err.text);
}

static bool is_closed(struct world *w)
{
	return w->closed;
}

static void close_it(struct world *w)
{
	consumer_close(w->consumer, on_closed, w);
	assert_false(w->closed);
	run_until(w, is_closed);
	consumer_free(w->consumer);
	w->consumer = NULL;
}

static struct world *world_new(void)
{
	struct world *w = calloc(1, sizeof(*w));

	w->kafka = fake_kafka_new();
	fake_kafka_topic(w->kafka, "jobs", N_PARTITIONS);
	w->reactor = reactor_new();
	w->limit = timer_new(w->reactor, out_of_time, w);
	w->arena = arena_new();
	for (int i = 0; i < N_PARTITIONS; i++)
		w->mark[i] = -1;
	reactor_turn(w->reactor, turn, w);
	return w;
}

static int setup(void **state)
{
	*state = world_new();
	return 0;
}

/* Each in a group of its own, but for the other member of the first's. */
static struct world *joining[4], other_member;
static int n_taken;

static int group_setup(void **state)
{
	for (int i = 0; i < 4; i++) {
		joining[i] = world_new();
		open_again(joining[i], 0);
	}
	other_member = *joining[0];
	open_again(&other_member, 0);
	return 0;
}

static int setup_joining(void **state)
{
	*state = joining[n_taken++];
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	consumer_free(w->consumer);
	timer_close(w->limit);
	reactor_free(w->reactor);
	fake_kafka_free(w->kafka);
	arena_free(w->arena);
	free(w);
	return 0;
}

static void put(struct world *w, int32_t partition, const char *value, const char *header_value)
{
	fake_kafka_put(w->kafka, "jobs", partition, value, value ? strlen(value) : 0, header_value,
		       1);
}

static void put_all(struct world *w)
{
	for (int i = 0; i < N_PARTITIONS; i++)
		fake_kafka_put(w->kafka, "jobs", i, "v", 1, NULL, N_RECORDS / N_PARTITIONS);
}

static bool all_at_end(struct world *w)
{
	for (int i = 0; i < N_PARTITIONS; i++) {
		if (w->seen[i].n_assigned == 0 || w->seen[i].end < 0)
			return false;
	}
	return true;
}

static void assert_lag(struct world *w, const char *topic, int n_partitions, int64_t n_behind)
{
	int64_t n = -1;

	assert_int_equal(consumer_lag(w->consumer, topic, &n), n_partitions);
	assert_int_equal(n, n_behind);
}

static void what_was_stored_does_not_come_again_but_a_lower_mark_brings_it_back(void **state)
{
	struct world *w = *state;

	put_all(w);
	w->n_want = N_RECORDS + 1;
	assert_false(consumer_is_assigned(w->consumer));
	run_until(w, all_at_end);
	assert_true(consumer_is_assigned(w->consumer));
	assert_lag(w, "jobs", N_PARTITIONS, 0);
	assert_lag(w, "other", 0, 0);
	assert_int_equal(w->n_records, N_RECORDS);
	for (int i = 0; i < N_PARTITIONS; i++) {
		assert_int_equal(w->seen[i].first, 0);
		assert_int_equal(w->seen[i].end, N_RECORDS / N_PARTITIONS);
	}
	for (int i = 0; i < 3; i++) /* partition 3 is never stored */
		consumer_store(w->consumer, STR_OF("jobs"), i, 25);
	consumer_store(w->consumer, STR_OF("jobs"), N_PARTITIONS + 5, 7); /* not assigned */
	consumer_store(w->consumer, STR_OF("other"), 0, 7);
	close_it(w);
	for (int i = 0; i < N_PARTITIONS; i++)
		assert_int_equal(w->seen[i].n_revoked, 1);

	w->mark[0] = -1;     /* unknown: the database was set back to before its first mark */
	w->mark[1] = 15;     /* the database was set back */
	w->mark[2] = 999999; /* a mark never raises: the topic may have been made anew */
	w->mark[3] = 20;     /* nothing committed: from the beginning */
	open_again(w, N_RECORDS + 1);
	run_until(w, all_at_end);
	assert_int_equal(w->seen[0].n_records, 25);
	assert_int_equal(w->seen[1].n_records, 10);
	assert_int_equal(w->seen[1].first, 15);
	assert_int_equal(w->seen[2].n_records, 0);
	assert_int_equal(w->seen[3].first, 0);
	assert_int_equal(w->seen[3].n_records, 25);
}

static bool n_want_is_0(struct world *w)
{
	return w->n_want == 0;
}

static bool any_assigned(struct world *w)
{
	for (int i = 0; i < N_PARTITIONS; i++) {
		if (w->seen[i].n_assigned)
			return true;
	}
	return false;
}

static bool time_is_over(struct world *w)
{
	return clock_mono_ms() >= w->until_ms;
}

static void want_nothing_until_paused(struct world *w)
{
	int n_before = w->n_records;

	w->n_want = 0;
	w->until_ms = clock_mono_ms() + 1600; /* a second, and a turn of the consumer's own */
	run_until(w, time_is_over);
	assert_int_equal(w->n_records, n_before);
}

static void a_pause_loses_nothing_and_gives_nothing_twice(void **state)
{
	struct world *w = *state;

	put_all(w);
	/* Nothing is wanted from the start, so the partitions come while it is paused. */
	run_until(w, any_assigned);
	assert_int_equal(w->n_records, 0);
	w->n_want = 37;
	run_until(w, n_want_is_0);
	assert_int_equal(w->n_records, 37);
	want_nothing_until_paused(w);
	assert_lag(w, "jobs", N_PARTITIONS, N_RECORDS - 37);
	w->n_want = 1;
	run_until(w, n_want_is_0);
	w->n_want = N_RECORDS;
	run_until(w, all_at_end);
	assert_int_equal(w->n_records, N_RECORDS); /* on_record() has looked at the order */
	put(w, 2, "late", NULL);
	w->n_want = 1;
	run_until(w, n_want_is_0);
	assert_true(str_is(w->record.value, "late"));
}

static int n_held(const struct world *w)
{
	int n = 0;

	for (int i = 0; i < N_PARTITIONS; i++)
		n += w->seen[i].n_assigned - w->seen[i].n_revoked;
	return n;
}

static bool has_its_half(struct world *w)
{
	return n_held(w) == N_PARTITIONS / 2;
}

static bool has_none(struct world *w)
{
	return n_held(w) == 0;
}

static bool never(struct world *w)
{
	return false;
}

/* librdkafka remembers a partition's pause while somebody else has it. Each member's half comes in its own time. */
static void what_went_while_paused_and_comes_when_not_is_not_stuck(void **state)
{
	struct world *w = *state, *other = &other_member;

	put_all(w);
	run_until(w, any_assigned);
	w->enough = never;
	reactor_turn(w->reactor, turn, other);
	run_until(other, has_its_half);
	other->enough = never;
	run_until(w, has_its_half);
	consumer_close(other->consumer, on_closed, other);
	run_until(w, has_none);
	assert_int_equal(w->n_records, 0);

	w->n_want = 10 * N_RECORDS; /* what a further rebalance brings again counts, too */
	run_until(w, all_at_end);
	for (int i = 0; i < N_PARTITIONS; i++)
		assert_int_equal(w->seen[i].n_records, N_RECORDS / N_PARTITIONS);
	w->enough = never;
	run_until(other, is_closed);
	reactor_turn_end(w->reactor, other);
	consumer_free(other->consumer);
}

/* The broker is silent when it is asked for the committed offsets, then has none to tell yet, then tells. */
static void a_silent_broker_at_a_rebalance_does_not_hold_up_the_loop(void **state)
{
	struct world *w = *state;
	struct beat beat;

	open_again(w, 0);
	put_all(w);
	w->n_want = N_RECORDS + 1;
	run_until(w, all_at_end);
	for (int i = 0; i < N_PARTITIONS; i++) {
		consumer_store(w->consumer, STR_OF("jobs"), i, 25);
		w->mark[i] = 20;
	}
	close_it(w);

	fake_kafka_fail(w->kafka, OFFSET_FETCH, 1, COORDINATOR_LOAD_IN_PROGRESS, 3500);
	open_again(w, N_RECORDS + 1);
	beat_start(&beat, w->reactor);
	run_until(w, all_at_end);
	beat_end(&beat);
	for (int i = 0; i < N_PARTITIONS; i++) {
		assert_int_equal(w->seen[i].n_assigned, 1);
		assert_int_equal(w->seen[i].first, 20); /* not the beginning */
	}
	close_it(w);

	fake_kafka_fail(w->kafka, OFFSET_FETCH, 1, 0, 30000);
	open_again(w, N_RECORDS + 1);
	w->until_ms = clock_mono_ms() + 4000; /* it has joined, and asks */
	run_until(w, time_is_over);
	assert_false(any_assigned(w));
	close_it(w);
	assert_int_equal(w->n_records, 0);
}

static void a_record_comes_as_it_is(void **state)
{
	enum { BYTES = 2 << 20 };
	struct world *w = *state;
	char *big = malloc(BYTES);

	put(w, 0, "{\"a\":1}", "v1");
	put(w, 0, NULL, NULL);
	put(w, 0, "", NULL);
	memset(big, 'x', BYTES);
	fake_kafka_put(w->kafka, "jobs", 0, big, BYTES, NULL, 1);
	free(big);

	w->n_want = 1;
	run_until(w, n_want_is_0);
	assert_true(str_is(w->record.key, "k"));
	assert_true(str_is(w->record.value, "{\"a\":1}"));
	assert_int_equal(w->record.n_header, 1);
	assert_true(str_is(w->header[0].key, "h"));
	assert_true(str_is(w->header[0].value, "v1"));
	w->n_want = 1;
	run_until(w, n_want_is_0);
	assert_null(w->record.value.p);
	assert_int_equal(w->record.n_header, 0);
	w->n_want = 1;
	run_until(w, n_want_is_0);
	assert_non_null(w->record.value.p);
	assert_int_equal(w->record.value.n, 0);
	w->n_want = 1;
	run_until(w, n_want_is_0);
	assert_int_equal(w->record.value.n, BYTES);
}

static void a_consumer_that_never_joined_closes_too(void **state)
{
	struct world *w = *state;

	open_again(w, 1);
	close_it(w);
	assert_int_equal(w->seen[0].n_assigned, 0);
}

static void an_option_that_would_lose_records_is_refused(void **state)
{
	static const struct kafka_option wrong = {"auto.offset.reset", "latest"};
	struct err err = {""};

	assert_int_equal(try_open(*state, &wrong, 1, &err), ST_INVALID);
	assert_non_null(strstr(err.text, wrong.key));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define STORY(f) cmocka_unit_test_setup_teardown(f, setup_joining, teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_option_that_would_lose_records_is_refused),
		TEST(a_consumer_that_never_joined_closes_too),
		STORY(what_went_while_paused_and_comes_when_not_is_not_stuck),
		STORY(what_was_stored_does_not_come_again_but_a_lower_mark_brings_it_back),
		TEST(a_silent_broker_at_a_rebalance_does_not_hold_up_the_loop),
		STORY(a_record_comes_as_it_is),
		STORY(a_pause_loses_nothing_and_gives_nothing_twice),
	};
	return cmocka_run_group_tests(tests, group_setup, NULL);
}
