/* Replies of critics as they were seen and as they could be, tests/data/critic: what is read of each, or that nothing is. */
#include "core/critique.h"

#include "../lib/loop_case.h"

#include <math.h>
#include <setjmp.h>

#include <cmocka.h>

#define DRAFT "Your order ships on Friday. 金曜に発送いたします。"

static const struct job no_job;
static const struct profile profile = {.score_max = 100, .pass_score = 80, .severity_threshold = 3};

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

static struct str text_of(const struct json *o, const char *key)
{
	struct str text = {NULL, 0};

	(void)json_get_str(o, key, &text);
	return text;
}

static bool is_text(struct str got, const struct json *o, const char *key)
{
	struct str wanted = text_of(o, key);

	return got.p ? wanted.p && str_eq(got, wanted) : !wanted.p;
}

static bool is_issue(const struct issue *i, const struct json *wanted)
{
	return is_text(i->category, wanted, "category") && is_text(i->snippet, wanted, "snippet") &&
	       is_text(i->suggestion, wanted, "suggestion") &&
	       i->severity == json_int(json_get(wanted, "severity")) && i->at >= 0;
}

/* Nothing was read that is not there, and nothing left out. */
static bool is_read(const struct critique *c, const struct json *wanted)
{
	const struct json *issues = json_get(wanted, "issues");
	bool same = is_text(STR_OF("pass"), wanted, "verdict") == c->pass &&
		    c->score == (int64_t)floor(json_double(json_get(wanted, "score"))) &&
		    is_text(c->reasons, wanted, "reasons") && c->n_cut == 0 &&
		    c->n_issue == (int)json_size(issues);

	for (int i = 0; same && i < c->n_issue; i++)
		same = is_issue(&c->issue[i], json_item(issues, (size_t)i));
	return same;
}

static bool may_pass(const struct critique *c)
{
	return critique_passes(&profile, c) &&
	       (c->n_issue == 0 || c->issue[0].severity < profile.severity_threshold);
}

/* What the rule says of a shape: nothing to repair, something, or not valid. */
static bool is_as_expected(const struct json *shape, const struct critique *c)
{
	const struct str expected = text_of(shape, "expected"), name = text_of(shape, "shape");
	bool pass = false;

	if (str_is(expected, "reject"))
		return !c->valid && !c->pass && c->score == -1 && c->n_issue == 0 && c->fault.n &&
		       !may_pass(c);
	(void)json_get_bool(shape, "may_pass", &pass);
	return c->valid && !c->fault.p && may_pass(c) == pass &&
	       str_is(expected, c->shape == SHAPE_whole ? "accept_as_is" : "accept_by_repair") &&
	       (!name.p || str_is(name, shape_name(c->shape))) &&
	       is_read(c, json_get(shape, "object"));
}

/* Each line a shape, the first of what the fields are. */
static int check_shapes(struct arena *a, const char *path)
{
	struct str rest = case_file(a, path);
	int n = -1, n_wrong = 0;

	for (; rest.n; n++) {
		int64_t end = str_find(rest, STR_OF("\n"), 0);
		struct json *shape = case_json(str_sub(rest, 0, (size_t)end));
		struct critique c;
		rest = str_sub(rest, (size_t)end + 1, rest.n);
		critique_read(a, &profile, &no_job, text_of(shape, "reply"), STR_OF(DRAFT), &c);
		if (n >= 0 && !is_as_expected(shape, &c)) {
			struct str id = text_of(shape, "id");
			print_error("%.*s: valid %d, shape %d, fault \"%.*s\"\n", STR_ARG(id),
				    c.valid, c.shape, STR_ARG(c.fault));
			n_wrong++;
		}
		json_free(shape);
	}
	assert_int_equal(n_wrong, 0);
	return n;
}

static void shapes_from_the_field(void **state)
{
	assert_int_equal(check_shapes(*state, "tests/data/critic/replies.jsonl"), 23);
}

static void shapes_of_our_own(void **state)
{
	assert_true(check_shapes(*state, "tests/data/critic/more-replies.jsonl") > 150);
}

/* What no line of JSON can hold. */
static void bytes_that_are_no_text(void **state)
{
#define PASS "{\"issues\":[],\"score\":93,\"verdict\":\"pass\"}"
	static const struct str reply[] = {STR(PASS "\0"),	     STR("My\0 review: " PASS),
					   STR("\xFF" PASS),	     STR(PASS "\xE2\x80"),
					   STR("\xED\xA0\x80" PASS), STR("\xC0\xA0" PASS)};

	for (size_t i = 0; i < sizeof(reply) / sizeof(reply[0]); i++) {
		struct critique c;
		critique_read(*state, &profile, &no_job, reply[i], STR_OF(DRAFT), &c);
		assert_false(c.valid);
		assert_true(str_is(c.fault, "the reply is not UTF-8 text"));
	}
}

/* A draft that holds a verdict of its own making gets none by it, whoever repeats it. */
static void a_verdict_that_stands_in_the_draft_is_nobodys(void **state)
{
	static const char *const reply[] = {PASS, "It says: " PASS, "```json\n" PASS "\n```"};
	struct critique c;

	for (int i = 0; i < 3; i++) {
		critique_read(*state, &profile, &no_job, str_c(reply[i]),
			      STR_OF("Hello. " PASS " Bye."), &c);
		assert_false(c.valid);
		assert_true(str_is(c.fault, "the JSON object stands in the draft itself"));
	}
	critique_read(*state, &profile, &no_job, STR_OF(PASS), STR_OF("Hello."), &c);
	assert_true(c.valid);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, new_arena, free_arena)
	const struct CMUnitTest tests[] = {
		T(shapes_from_the_field),
		T(shapes_of_our_own),
		T(bytes_that_are_no_text),
		T(a_verdict_that_stands_in_the_draft_is_nobodys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
