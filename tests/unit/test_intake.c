/* tests/unit/test_intake.c - what a message becomes, at the consumer's port: no broker, no database, no model. */
#include "app/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LARGE_BYTES = 10 << 20 };

struct world {
	struct arena *arena;
	struct reactor *reactor;
	struct profiles *profiles;
	struct trail *trail;
	struct models *models;
	struct runs *runs;
	int64_t n_number;
	int n_settled[3];
	char reason[40];
	size_t value_bytes, key_bytes;
	bool same_value;
	const char *value;
};

static int64_t number(void *owner)
{
	return ++((struct world *)owner)->n_number;
}

static bool may_act(void *owner)
{
	return false; /* so no call is ever sent */
}

static void in_hand(void *owner, const struct record *m, int64_t job_no)
{
}

static void settled(void *owner, struct str topic, int32_t partition, int64_t offset,
		    enum settled how)
{
	struct world *w = owner;

	w->n_settled[how]++;
	reactor_stop(w->reactor);
}

static void ended(void *owner, const struct step_rows *last)
{
}

static void dead(void *owner, const struct outbox_row *event, const struct dead_letter_row *l)
{
	struct world *w = owner;

	snprintf(w->reason, sizeof(w->reason), "%.*s", STR_ARG(l->reason));
	w->value_bytes = l->value.n;
	w->key_bytes = l->key.n;
	w->same_value = l->value.p && memcmp(l->value.p, w->value, l->value.n) == 0;
}

static void fenced(void *owner, const char *why)
{
	fail();
}

static void marked(void *owner, struct str topic, int32_t partition, int64_t next_offset)
{
}

static const struct run_hooks hooks = {
	.number = number,
	.may_act = may_act,
	.in_hand = in_hand,
	.settled = settled,
	.ended = ended,
	.dead = dead,
};
static const struct trail_events trail_events = {.fenced = fenced, .marked = marked};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct settings *s;
	struct err err;

	setenv("OPENAI_API_KEY", "x", 1);
	w->arena = arena_new();
	s = arena_alloc(w->arena, sizeof(*s));
	struct faults faults = {.tell = NULL};
	assert_true(settings_read(w->arena, "config/draftmill.yaml", NULL, 0, s, &faults));
	w->profiles = profiles_open(s, &faults);
	assert_non_null(w->profiles);
	w->reactor = reactor_new();
	w->trail = trail_open(w->reactor, NULL, &trail_events, w);
	trail_start(w->trail, 1);
	w->models = models_open(w->reactor, 1);
	const struct runs_config c = {.reactor = w->reactor,
				      .settings = s,
				      .profiles = w->profiles,
				      .trail = w->trail,
				      .models = w->models,
				      .cluster = "c",
				      .hooks = &hooks,
				      .owner = w};
	assert_int_equal(runs_new(&c, &w->runs, &err), ST_OK);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	trail_free(w->trail);
	runs_free(w->runs);
	models_free(w->models);
	profiles_free(w->profiles);
	reactor_free(w->reactor);
	arena_free(w->arena);
	free(w);
	return 0;
}

static void take(struct world *w, struct str key, struct str value, int n_strike)
{
	const struct record m = {.topic = STR_OF("jobs"), .key = key, .value = value};

	w->value = value.p;
	runs_message(w->runs, &m, n_strike);
	reactor_run(w->reactor);
}

static void ten_megabytes_become_a_dead_letter_with_all_their_bytes(void **state)
{
	struct world *w = *state;
	char *large = malloc(LARGE_BYTES);

	memset(large, ' ', LARGE_BYTES);
	large[0] = '{';
	large[LARGE_BYTES - 1] = '}';
	take(w, STR_OF("k"), (struct str){large, LARGE_BYTES}, 0);
	assert_string_equal(w->reason, "too_large");
	assert_int_equal(w->value_bytes, LARGE_BYTES);
	assert_true(w->same_value);
	assert_int_equal(w->n_settled[SETTLED_DEAD], 1);
	assert_int_equal(runs_count(w->runs), 0);
	free(large);
}

static void its_neighbour_is_a_job(void **state)
{
	struct world *w = *state;

	take(w, STR_OF("k"), STR_OF("nonsense"), 0);
	assert_string_equal(w->reason, "not_json");
	take(w, STR_OF("k"),
	     STR_OF("{\"id\":\"1\",\"profile\":\"customer-letter\",\"task\":\"t\",\"variables\":{\"customer\":\"c\",\"plan\":\"p\",\"reference\":\"r\"}}"),
	     0);
	assert_int_equal(w->n_settled[SETTLED_DEAD], 1);
	assert_int_equal(w->n_settled[SETTLED_JOB], 1);
	assert_int_equal(runs_count(w->runs), 1);
}

static void after_three_crashes_it_is_not_parsed(void **state)
{
	struct world *w = *state;

	take(w, STR_OF("k"), STR_OF("nonsense"), 3);
	assert_string_equal(w->reason, "poison");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			ten_megabytes_become_a_dead_letter_with_all_their_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(its_neighbour_is_a_job, setup, teardown),
		cmocka_unit_test_setup_teardown(after_three_crashes_it_is_not_parsed, setup,
						teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
