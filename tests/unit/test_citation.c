/* Sources that a critic cites: told as the job's own, or as none of them. */
#include "core/critique.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define DRAFT "It ships on Friday. Yes, on Friday."

static struct arena *arena;
static const struct job no_job;

static int new_arena(void **state)
{
	arena = arena_new();
	return 0;
}

static int free_arena(void **state)
{
	arena_free(arena);
	return 0;
}

/* An issue with this behind its severity. */
static const char *citing_reply(const char *more)
{
	return arena_printf(arena,
			    "{\"issues\": [{\"category\": \"fact\", \"snippet\": \"on Friday\", "
			    "\"suggestion\": \"s\", \"severity\": 4%s}], \"score\": 40, "
			    "\"verdict\": \"fail\"}",
			    more)
		.p;
}

static const struct source sources[] = {{STR("S1"), STR("Monday")}, {STR("表 2"), STR("月曜")}};
static const struct job with_sources = {.sources = sources, .n_source = 2};
static const struct profile citing = {
	.cite_sources = true, .score_max = 100, .severity_threshold = 3};

static struct critique citing_critique(const struct job *job, const char *reply)
{
	struct critique c;

	critique_read(arena, &citing, job, str_c(reply), STR_OF(DRAFT), &c);
	return c;
}

/* Valid, whole and anchored in any case; what it cites is a source of the job, or told apart. */
static void assert_cites(const struct job *job, const char *reply, const char *source,
			 const char *miscited)
{
	struct critique c = citing_critique(job, reply);

	if (!c.valid || c.n_issue != 1)
		fail_msg("%s: %.*s", reply, STR_ARG(c.fault));
	assert_int_equal(c.n_ignored, 0);
	assert_int_equal(c.issue[0].at, 9);
	assert_int_equal(c.issue[0].severity, 4);
	assert_true(source ? str_is(c.issue[0].source, source) : !c.issue[0].source.p);
	assert_true(miscited ? str_is(c.issue[0].miscited, miscited) : !c.issue[0].miscited.p);
}

static void a_source_is_cited_by_its_very_id(void **state)
{
	static const char *const none[] = {"", ", \"source\": \"\"", ", \"source\": \" \\n　\"",
					   ", \"source\": null"};

	assert_cites(&with_sources, citing_reply(", \"source\": \"S1\""), "S1", NULL);
	assert_cites(&with_sources, citing_reply(", \"source\": \"\\t表 2　\""), "表 2", NULL);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_cites(&with_sources, citing_reply(none[i]), NULL, NULL);
}

static void what_the_job_has_not_is_no_source_and_no_fault(void **state)
{
	char far[400], told[ISSUE_MISCITED_BYTES_MAX + 1];

	assert_cites(&with_sources, citing_reply(", \"source\": \"S3\""), NULL, "S3");
	assert_cites(&with_sources, citing_reply(", \"source\": \"s1\""), NULL, "s1");
	assert_cites(&with_sources, citing_reply(", \"source\": \"[S1]\""), NULL, "[S1]");
	assert_cites(&with_sources, citing_reply(", \"source\": \"S1, 表 2\""), NULL, "S1, 表 2");
	assert_cites(&no_job, citing_reply(", \"source\": \"S1\""), NULL, "S1");
	memset(far, 'x', sizeof(far) - 1);
	far[sizeof(far) - 1] = '\0';
	memcpy(told, far, sizeof(told) - 1);
	told[sizeof(told) - 1] = '\0';
	assert_cites(&with_sources,
		     citing_reply(arena_printf(arena, ", \"source\": \"%s\"", far).p), NULL, told);
}

static void a_source_of_another_type_is_invalid(void **state)
{
	struct critique c = citing_critique(&with_sources, citing_reply(", \"source\": 1"));

	assert_false(c.valid);
	assert_true(str_is(c.fault, "issue 1: source is integer, must be a string or absent"));
	assert_false(citing_critique(&with_sources, citing_reply(", \"source\": [\"S1\"]")).valid);
}

static void who_is_not_asked_for_sources_cites_none(void **state)
{
	const struct profile p = {.score_max = 100, .severity_threshold = 3};
	struct critique c;

	critique_read(arena, &p, &with_sources, str_c(citing_reply(", \"source\": \"S1\"")),
		      STR_OF(DRAFT), &c);
	assert_true(c.valid);
	assert_int_equal(c.n_ignored, 1);
	assert_true(!c.issue[0].source.p && !c.issue[0].miscited.p);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, new_arena, free_arena)
	const struct CMUnitTest tests[] = {
		T(a_source_is_cited_by_its_very_id),
		T(what_the_job_has_not_is_no_source_and_no_fault),
		T(a_source_of_another_type_is_invalid),
		T(who_is_not_asked_for_sources_cites_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
