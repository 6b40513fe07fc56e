#include "app/casefile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "app/ask.h"
#include "app/file.h"
#include "core/row.h"
#include "database.h"

static struct arena *a;

static int new_arena(void **state)
{
	a = arena_new();
	return 0;
}

static int free_arena(void **state)
{
	arena_free(a);
	return 0;
}

/* ---- as text: tests/data/casefile/NAME.json makes NAME.txt; with GOLDEN=1 in the environment it is written anew ---- */

static struct json *case_of(const char *name)
{
	struct str text;
	struct json *file;
	struct err err = {""};

	assert_int_equal(
		file_read(a, arena_printf(a, "tests/data/casefile/%s.json", name).p, &text, &err),
		ST_OK);
	assert_int_equal(json_read(text, &file, &err), JSON_FINE);
	return file;
}

static void assert_shown_as_before(const char *name)
{
	const char *path = arena_printf(a, "tests/data/casefile/%s.txt", name).p;
	struct page page = PAGE(false);
	struct json *file = case_of(name);
	struct str want;
	struct err err = {""};

	casefile_text(file, &page);
	if (getenv("GOLDEN")) {
		FILE *f = fopen(path, "w");
		assert_non_null(f);
		fwrite(page.text.p, 1, page.text.n, f);
		fclose(f);
	}
	assert_int_equal(file_read(a, path, &want, &err), ST_OK);
	assert_string_equal(page.text.p, want.p);
	buf_release(&page.text);
	json_free(file);
}

static void an_ended_job_is_told_from_task_to_events(void **state)
{
	assert_shown_as_before("ended");
}

static void a_running_job_says_what_it_waits_for(void **state)
{
	assert_shown_as_before("running");
}

static void a_dead_letter_says_why(void **state)
{
	assert_shown_as_before("letter");
}

static void several_of_one_id_are_listed(void **state)
{
	assert_shown_as_before("several");
}

static void parts_of_a_draft_are_told_apart(void **state)
{
	assert_shown_as_before("parts");
}

static void nothing_of_a_job_steers_the_terminal(void **state)
{
	struct json *file = case_of("ended");
	struct page page = PAGE(false);

	casefile_text(file, &page);
	for (size_t i = 0; i < page.text.n; i++) {
		unsigned char c = (unsigned char)page.text.p[i];
		assert_true(c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7F));
	}
	assert_null(strstr(page.text.p, "\nCHECKS")); /* a line that a variable wants to forge */
	buf_release(&page.text);
	json_free(file);
}

static void with_colours_changes_are_red_and_green_without_brackets(void **state)
{
	struct json *file = case_of("ended");
	struct page page = PAGE(true);

	casefile_text(file, &page);
	assert_non_null(strstr(page.text.p, "costs 5 \033[31mUSD\033[0m\033[32mEUR\033[0m."));
	assert_null(strstr(page.text.p, "[-"));
	assert_null(strstr(page.text.p, "{+"));
	buf_release(&page.text);
	json_free(file);
}

/* ---- from the database ---- */

#define JOB(no, source, id, payload)                                                                                         \
	"insert into draftmill.job (job_no, source, id, revision, profile, profile_sha, stakes, salt, cluster, topic, part," \
	" \"offset\", worker_id, at, payload, payload_sha) values (" no ", '" source "', '" id                               \
	"', 0, 'p', '\\x00', 'normal', '\\x01', 'c', 'jobs', 3, 8, 1, '2026-11-30 12:00:00.123Z', " payload                  \
	", '\\x02');"
#define STEP(job, no, fact, columns, values)                                                                                          \
	"insert into draftmill.step (job_no, step_no, fact, worker_id, at, active_ms, reply_sha, digest, hash, profile_sha, " columns \
	")"                                                                                                                           \
	" values (" job ", " no ", '" fact                                                                                            \
	"', 1, '2026-11-30 12:00:01Z', 0, '', '', '', '', " values ");"

static const char rows[] =
	"create table draftmill.months partition of draftmill.job default;"
	"create table draftmill.months_s partition of draftmill.step default;"
	"create table draftmill.months_a partition of draftmill.attempt default;"
	"create table draftmill.months_d partition of draftmill.draft default;"
	"create table draftmill.months_c partition of draftmill.critique default;"
	"create table draftmill.months_i partition of draftmill.issue default;"
	"create table draftmill.months_o partition of draftmill.outcome default;"
	"create table draftmill.months_b partition of draftmill.outbox default;"
	"create table draftmill.months_t partition of draftmill.outbox_sent default;"
	/* 5 has ended: draft, critique asked at once with a refinement, both after a take-over */
	JOB("5", "crm", "a", "convert_to(e'\\uFEFF{\"id\":\"a\",\"task\":\"Write.\"}', 'UTF8')") STEP(
		"5", "0", "started", "action, intents",
		"'call generator 0', 1") STEP("5", "1", "replied",
					      "call_no, role, class, latency_ms, cost_micro_usd, action, intents",
					      "0, 'generator', 'complete', 40, 7, 'call critic 1, refiner 2', 1")
		STEP("5", "2", "resumed", "lost, cost_micro_usd, action, intents",
		     "257, 9, 'call critic 1, refiner 2', 2")
			STEP("5", "3", "replied", "call_no, role, class, action",
			     "1, 'critic', 'complete', 'finish escalated budget'") "insert into draftmill.attempt values (5, 1, 1, 1, now(), 'waited', null, null, null);"
										   "insert into draftmill.draft values (5, 0, 1, null, 'Text', '', '[{\"name\":\"length\",\"ok\":true}]', '', 0, 0, 0, null);"
										   "insert into draftmill.critique values (5, 3, 0, true, null, 70, 'fail', null, '', 1, 0);"
										   "insert into draftmill.issue values (5, 3, 0, 'tone', 2, 0, 4, 'Text', 'Better', '');"
										   "insert into draftmill.outcome values (5, 'escalated', 'budget', 0, 70, 1, 3, 1, 2, 3, 16, 5, 1, now(), '\\xabcd');"
										   "insert into draftmill.outbox values (5, 'outcome', gen_random_uuid(), 'results', 'a', '{}', '', null),"
										   " (5, 'opened', gen_random_uuid(), 'review', 'a', '{}', '', null);"
										   "insert into draftmill.outbox_sent values (5, 'outcome', 1, 2, now());"
	/* 6 runs, an event as its message; 7 has the id of 5 */
	JOB("6", "", "b", "'{\"specversion\":\"1.0\",\"data\":{\"task\":\"Inner.\"}}'") STEP(
		"6", "0", "started", "action, intents",
		"'call generator 0', 0") "insert into draftmill.worker (host, pid, version) values ('host-a', 1, 'v');"
					 "insert into draftmill.todo values (6, 'run', 1);" JOB(
						 "7", "web", "a",
						 "null") "insert into draftmill.dead_letter (letter_no, cluster, topic, part, \"offset\", value_sha, reason, source, id, first_job_no,"
							 " value, key, worker_id, at) values (11, 'c', 'jobs', 1, 2, '\\xaa', 'conflict', 'crm', 'c', 5, 'abc', null, 1, now()),"
							 " (12, 'c', 'jobs', 1, 3, '\\xbb', 'not_json', null, null, null, null, 'by-key', 1, now());";

static int start_with_rows(void **state)
{
	if (database_start(state))
		return 1;
	database_run(rows);
	return 0;
}

/* As a reader, who may not see salts. */
static struct json *load(const char *name, const char *source)
{
	struct pg *pg;
	struct json *file = NULL;
	struct err err = {""};
	const char *conninfo = arena_printf(a, "%s user=draftmill_reader", database_conninfo()).p;

	if (pg_connect(conninfo, "test", &pg, &err) != ST_OK ||
	    casefile_load(pg, name, source, &file, &err) != ST_OK)
		fail_msg("%s", err.text);
	pg_free(pg);
	return file;
}

static void assert_text(const struct json *object, const char *key, const char *want)
{
	struct str got = ask_text(object, key);

	if (!str_is(got, want))
		fail_msg("%s is '%.*s', not '%s'", key, STR_ARG(got), want);
}

static const struct json *item(const struct json *file, const char *list, size_t i)
{
	const struct json *items = json_get(file, list);

	assert_true(i < json_size(items));
	return json_item(items, i);
}

static void a_job_is_found_by_its_number(void **state)
{
	struct json *file = load("5", NULL);
	const struct json *outcome = json_get(file, "outcome");

	assert_int_equal(casefile_kind(file), CASEFILE_JOB);
	assert_text(json_get(file, "job"), "id", "a");
	assert_text(json_get(file, "job"), "at", "2026-11-30T12:00:00.123+00:00");
	assert_text(json_get(file, "request"), "task", "Write.");
	assert_text(item(file, "drafts", 0), "text", "Text");
	assert_text(json_item(json_get(item(file, "drafts", 0), "checks"), 0), "name", "length");
	assert_text(json_item(json_get(item(file, "critiques", 0), "issues"), 0), "suggestion",
		    "Better");
	assert_text(outcome, "why", "the next call could pass the job's cap of tokens or money");
	assert_text(outcome, "chain_head", "abcd");
	assert_int_equal(ask_number(outcome, "cost_micro_usd"), 16);
	assert_text(item(file, "events", 0), "kind", "opened");
	assert_int_equal(ask_number(item(file, "events", 0), "offset"), ROW_NULL);
	assert_int_equal(ask_number(item(file, "events", 1), "offset"), 2);
	assert_text(item(file, "conflicts", 0), "letter_no", "11");
	json_free(file);
}

static void calls_count_every_intent(void **state)
{
	struct json *file = load("5", NULL);

	assert_int_equal(json_size(json_get(file, "calls")), 3);
	assert_int_equal(ask_number(item(file, "calls", 0), "n_attempts"), 1);
	assert_int_equal(ask_number(item(file, "calls", 0), "latency_ms"), 40);
	assert_int_equal(ask_number(item(file, "calls", 1), "n_attempts"),
			 2); /* step 1 and its attempt row */
	assert_int_equal(ask_number(item(file, "calls", 2), "n_attempts"), 1); /* step 2 */
	assert_text(item(file, "calls", 2), "role", "refiner");
	assert_text(json_item(json_get(item(file, "calls", 1), "attempts"), 0), "why", "waited");
	assert_int_equal(ask_number(item(file, "takeovers", 0), "n_lost"), 2);
	json_free(file);
}

static void a_running_job_has_its_worker(void **state)
{
	struct json *file = load("b", NULL);

	assert_int_equal(json_kind(json_get(file, "outcome")), JSON_NULL);
	assert_text(json_get(file, "waits"), "host", "host-a");
	assert_true(ask_true(json_get(file, "waits"), "alive"));
	assert_int_equal(ask_number(item(file, "calls", 0), "n_attempts"), 0);
	assert_text(json_get(file, "request"), "task", "Inner.");
	json_free(file);
}

static void an_erased_job_is_shown_without_its_texts(void **state)
{
	struct json *file = load("7", NULL);

	assert_int_equal(json_kind(json_get(file, "request")), JSON_NULL);
	assert_int_equal(json_kind(json_get(file, "waits")), JSON_NULL);
	json_free(file);
}

static void an_id_of_two_sources_gives_both(void **state)
{
	struct json *file = load("a", NULL);

	assert_int_equal(casefile_kind(file), CASEFILE_SEVERAL);
	assert_text(item(file, "jobs", 0), "outcome", "escalated");
	assert_text(item(file, "jobs", 1), "source", "web");
	json_free(file);
	file = load("a", "crm");
	assert_text(json_get(file, "job"), "job_no", "5");
	json_free(file);
}

static void a_dead_letter_is_found_by_number_id_or_key(void **state)
{
	const char *const name[] = {"11", "c", "12", "by-key"}, *const want[] = {"11", "11", "12",
										 "12"};

	for (int i = 0; i < 4; i++) {
		struct json *file = load(name[i], NULL);
		assert_int_equal(casefile_kind(file), CASEFILE_LETTER);
		assert_text(item(file, "dead_letters", 0), "letter_no", want[i]);
		json_free(file);
	}
}

static void an_unknown_name_gives_nothing(void **state)
{
	struct json *file = load("99999999999999999999", NULL); /* over 64 bits: an id */

	assert_int_equal(casefile_kind(file), CASEFILE_NONE);
	json_free(file);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, new_arena, free_arena)

int main(void)
{
	const struct CMUnitTest texts[] = {
		TEST(an_ended_job_is_told_from_task_to_events),
		TEST(a_running_job_says_what_it_waits_for),
		TEST(a_dead_letter_says_why),
		TEST(several_of_one_id_are_listed),
		TEST(parts_of_a_draft_are_told_apart),
		TEST(nothing_of_a_job_steers_the_terminal),
		TEST(with_colours_changes_are_red_and_green_without_brackets),
	};
	const struct CMUnitTest loads[] = {
		TEST(a_job_is_found_by_its_number),
		TEST(calls_count_every_intent),
		TEST(a_running_job_has_its_worker),
		TEST(an_erased_job_is_shown_without_its_texts),
		TEST(an_id_of_two_sources_gives_both),
		TEST(a_dead_letter_is_found_by_number_id_or_key),
		TEST(an_unknown_name_gives_nothing),
	};
	int n_failed = cmocka_run_group_tests(texts, NULL, NULL);

	return n_failed + cmocka_run_group_tests(loads, start_with_rows, database_stop);
}
