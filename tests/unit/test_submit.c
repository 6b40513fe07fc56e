#include "app/submit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <unistd.h>

#include "base/clock.h"
#include "core/job.h"
#include "database.h"
#include "fake_producer.h"

#define BOM "\xEF\xBB\xBF"
#define TOPIC "draftmill.jobs"

static struct arena *a;
static struct settings settings;
static struct profiles *profiles;

/* ---- one line as a job ---- */

static enum dead_reason read_line(const char *text, struct submit_line *out)
{
	static const struct submit_defaults defaults = {STR("customer-letter"), STR("b1"),
							STR("crm")};
	struct err err = {""};

	return submit_read_line(a, profiles, &defaults, str_c(text), out, &err);
}

static void assert_sent_as(const char *text, const char *want)
{
	struct submit_line line;

	assert_int_equal(read_line(text, &line), DEAD_NONE);
	assert_int_equal(line.value.n, strlen(want));
	assert_memory_equal(line.value.p, want, line.value.n);
}

static void what_a_line_does_not_say_is_put_in_front(void **state)
{
	assert_sent_as(
		"{ \"id\":\"1\" , \"task\":\"{x}\"}",
		"{\"profile\":\"customer-letter\",\"batch\":\"b1\",\"source\":\"crm\", \"id\":\"1\" , \"task\":\"{x}\"}");
	assert_sent_as(
		"{\"id\":\"1\",\"batch\":\"own\",\"profile\":\"customer-letter\"}",
		"{\"source\":\"crm\",\"id\":\"1\",\"batch\":\"own\",\"profile\":\"customer-letter\"}");
	assert_sent_as(
		"{\"source\":\"\",\"id\":\"1\",\"batch\":\"own\",\"profile\":\"customer-letter\"}",
		"{\"source\":\"\",\"id\":\"1\",\"batch\":\"own\",\"profile\":\"customer-letter\"}");
}

static void a_cloudevent_is_sent_as_it_is(void **state)
{
	static const char event[] =
		"{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"s\",\"type\":\"t\","
		"\"data\":{\"profile\":\"customer-letter\"}}";

	assert_sent_as(event, event);
}

/* The id worked out apart: SHA-256 of the fields "draftmill/content_id/1" and the line, each behind its length. */
static void a_line_without_id_gets_one_of_its_content(void **state)
{
	struct submit_line line, other;

	assert_sent_as(
		"{\"task\":\"t\"}",
		"{\"profile\":\"customer-letter\",\"batch\":\"b1\",\"source\":\"crm\",\"id\":\"content-2b4f1afb5b95c6f7b17a61d48ee94ed2\",\"task\":\"t\"}");
	assert_int_equal(read_line("{\"task\":\"t\"}", &line), DEAD_NONE);
	assert_true(line.is_id_made);
	assert_int_equal(read_line("{\"task\":\"u\"}", &other), DEAD_NONE);
	assert_false(str_eq(line.id, other.id));
	assert_int_equal(read_line("{\"id\":\"content-2b4f1afb5b95c6f7b17a61d48ee94ed2\"}", &other),
			 DEAD_NONE);
	assert_false(other.is_id_made);
	assert_int_equal(read_line("{\"id\":\"\"}", &line), DEAD_out_of_range);
	assert_int_equal(read_line("{\"id\":null}", &line), DEAD_wrong_type);
}

static void a_line_keeps_its_own_profile_and_answers_for_it(void **state)
{
	struct submit_line line;

	assert_int_equal(read_line("{\"id\":\"1\",\"profile\":\"nope\"}", &line),
			 DEAD_unknown_profile);
}

static void a_line_is_judged_as_by_the_worker(void **state)
{
	struct submit_line line;

	assert_int_equal(read_line("{", &line), DEAD_not_json);
	assert_int_equal(read_line("[]", &line), DEAD_wrong_type);
	assert_int_equal(read_line("{\"sources\":[{\"id\":\"1\"}]}", &line), DEAD_missing_field);
	assert_int_equal(read_line("{\"id\":\"1\",\"id\":\"2\"}", &line), DEAD_duplicate_key);
	assert_int_equal(read_line("{\"id\":\"1\",\"x\":1}", &line), DEAD_unknown_field);
	assert_int_equal(read_line("{\"id\":\"1\",\"limits\":{\"tokens\":9000000}}", &line),
			 DEAD_limits_loosened);
	assert_int_equal(read_line("{\"id\":\"\xff\"}", &line), DEAD_not_utf8);
}

/* ---- a run: with a real database, and a broker of ours ---- */

struct outcome_of_run {
	enum status status;
	struct submit_counts counts;
	char said[4096]; /* on stderr */
};

static void run(const char *text, bool wait, const char *conninfo, struct outcome_of_run *out)
{
	char path[] = "/tmp/submit-XXXXXX", errors[] = "/tmp/submit-XXXXXX";
	int fd = mkstemp(path), err_fd = mkstemp(errors), stderr_fd = dup(2);
	const char *file[] = {path};
	struct submit_config c = {
		.settings = &settings,
		.profiles = profiles,
		.defaults = {.profile = STR_OF("customer-letter")},
		.file = file,
		.n_file = 1,
		.wait = wait,
		.timeout_ms = 1200,
	};
	struct err err = {""};

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	settings.database_conninfo = conninfo;
	fake_broker.n = fake_broker.n_reported = 0;
	assert_int_equal(submit_check(&c, &err), ST_OK);
	dup2(err_fd, 2);
	out->status = submit_run(&c, &out->counts, &err);
	dup2(stderr_fd, 2);
	close(stderr_fd);
	ssize_t n = pread(err_fd, out->said, sizeof(out->said) - 1, 0);
	out->said[n] = '\0';
	close(err_fd);
	unlink(path);
	unlink(errors);
}

static void assert_counts(const struct outcome_of_run *r, int n_read, int n_sent, int n_duplicate,
			  int n_invalid)
{
	assert_int_equal(r->status, ST_OK);
	assert_int_equal(r->counts.n_read, n_read);
	assert_int_equal(r->counts.n_sent, n_sent);
	assert_int_equal(r->counts.n_duplicate, n_duplicate);
	assert_int_equal(r->counts.n_invalid, n_invalid);
}

/* What a worker would have stored of the message @value of job @id; NULL: without outcome. */
static void take_in(int job_no, const char *id, const char *value, int offset, const char *outcome)
{
	struct job job = {.source = STR_OF(""), .id = str_c(id)};
	uint8_t key[UUID_BYTES], sha[SHA_BYTES];
	char uuid[UUID_TEXT + 1], hex[2 * SHA_BYTES + 1], sql[2000];

	job_key(&job, key);
	uuid_text(key, uuid);
	sha256(str_c(value), sha);
	hex_text(sha, SHA_BYTES, hex);
	snprintf(
		sql, sizeof(sql),
		"insert into draftmill.job_key values ('%s', '\\x%s', %d);"
		"insert into draftmill.job (job_no, source, id, revision, profile, profile_sha, stakes, cluster, topic, part, \"offset\","
		" worker_id, at, payload_sha) values (%d, '', '%s', 0, 'p', '', 'normal', 'c', '" TOPIC
		"', 3, %d, 1, now(), '')",
		uuid, hex, job_no, job_no, id, offset);
	database_run(sql);
	if (!outcome)
		return;
	snprintf(
		sql, sizeof(sql),
		"insert into draftmill.outcome values (%d, '%s', 'x', null, null, 0, 0, 0, 0, 0, 0, 0, 1, now(), '')",
		job_no, outcome);
	database_run(sql);
}

#define VALUE(id) "{\"profile\":\"customer-letter\",\"id\":\"" id "\"}"

static void valid_lines_are_sent_and_the_others_named(void **state)
{
	struct outcome_of_run r;

	run(BOM
	    "{\"id\":\"1\"}\r\n\n{\"id\":2}\n{\"id\":\"1\"}\n{\"id\":\"1\",\"task\":\"t\"}\n{\"id\":\"3\"}",
	    false, database_conninfo(), &r);
	assert_counts(&r, 5, 2, 1, 2);
	assert_int_equal(fake_broker.n, 2);
	assert_string_equal(fake_broker.record[0].topic, TOPIC);
	assert_string_equal(fake_broker.record[0].key, "1");
	assert_string_equal(fake_broker.record[0].value, VALUE("1"));
	assert_string_equal(fake_broker.record[1].value, VALUE("3"));
	assert_non_null(strstr(r.said, ":3: wrong_type: #/id"));
	assert_non_null(strstr(r.said, ":5: conflict: "));
	assert_non_null(strstr(r.said, ":1 has its identity with other bytes"));
}

static void with_or_without_a_mark_the_messages_are_the_same(void **state)
{
	struct outcome_of_run r;

	take_in(1, "r02-a", VALUE("r02-a"), 0, NULL);
	take_in(2, "r02-b", VALUE("r02-b"), 1, NULL);
	run(BOM "{\"id\":\"r02-a\"}\r\n{\"id\":\"r02-b\"}\r\n", false, database_conninfo(), &r);
	assert_counts(&r, 2, 0, 2, 0);
	assert_int_equal(fake_broker.n, 0);
}

static void the_same_line_twice_without_id_is_told(void **state)
{
	struct outcome_of_run r;

	run("{\"task\":\"t\"}\n{\"task\":\"t\"}\n{\"id\":\"1\"}\n{\"id\":\"1\"}\n", false,
	    database_conninfo(), &r);
	assert_counts(&r, 4, 2, 2, 0);
	assert_non_null(strstr(r.said, ":2: duplicate: "));
	assert_non_null(strstr(r.said, ":1 is the same; to send both, give each an id\n"));
	assert_null(strstr(r.said, ":4: "));
}

static void a_known_identity_with_other_bytes_is_invalid(void **state)
{
	struct outcome_of_run r;

	take_in(3, "old", VALUE("old"), 2, NULL);
	run("{\"id\":\"old\",\"task\":\"new\"}\n", false, database_conninfo(), &r);
	assert_counts(&r, 1, 0, 0, 1);
	assert_non_null(strstr(
		r.said,
		":1: conflict: its identity is known with other bytes, as job 3 (profile p, no batch); "
		"submit it under the same profile and batch, or as a new job by"));
}

static void without_a_database_it_says_so_and_sends(void **state)
{
	struct outcome_of_run r;

	run("{\"id\":\"1\"}\n", false, "host=/nonexistent", &r);
	assert_counts(&r, 1, 1, 0, 0);
	assert_non_null(strstr(r.said, "may be sent again: no connection to PostgreSQL"));
	run("{\"id\":\"1\"}\n", true, "host=/nonexistent", &r);
	assert_int_equal(r.status, ST_DOWN);
	assert_int_equal(fake_broker.n, 0);
}

static void a_record_that_the_broker_refuses_is_told_by_its_line(void **state)
{
	struct outcome_of_run r;

	fake_broker.refuse_offset = 1;
	run("{\"id\":\"1\"}\n{\"id\":\"2\"}\n", false, database_conninfo(), &r);
	fake_broker.refuse_offset = -1;
	assert_counts(&r, 2, 1, 0, 0);
	assert_int_equal(r.counts.n_undelivered, 1);
	assert_non_null(
		strstr(r.said, ":2: not delivered: Broker: Topic authorization failed; let "));
}

/* Of the four that were sent: one new, one known to a worker since before, one a dead letter at its place, one not ended. */
static void workers_answer(void)
{
	fake_broker.reported = NULL;
	take_in(11, "w-new", VALUE("w-new"), 0, "passed");
	take_in(12, "w-known", VALUE("w-known"), 77, "escalated");
	database_run(
		"insert into draftmill.dead_letter (letter_no, cluster, topic, part, \"offset\", value_sha, reason, detail, worker_id, at)"
		" values (13, 'c', '" TOPIC "', 3, 2, sha256('" VALUE(
			"w-dead") "'), 'unknown_profile', '#/profile: \"x\"', 1, now()),"
				  " (14, 'c', '" TOPIC
				  "', 3, 3, 'of an older topic', 'not_json', null, 1, now())");
}

static void waiting_counts_ends_and_who_was_known(void **state)
{
	struct outcome_of_run r;
	int64_t start_ms = clock_mono_ms();

	fake_broker.reported = workers_answer;
	run("{\"id\":\"w-new\"}\n{\"id\":\"w-known\"}\n{\"id\":\"w-dead\"}\n{\"id\":\"w-open\"}\n",
	    true, database_conninfo(), &r);
	assert_counts(&r, 4, 3, 1, 0);
	assert_int_equal(r.counts.n_outcome[OUTCOME_passed], 1);
	assert_int_equal(r.counts.n_outcome[OUTCOME_escalated], 1);
	assert_int_equal(r.counts.n_dead, 1);
	assert_non_null(strstr(r.said, ":3: dead letter: unknown_profile: #/profile: \"x\"\n"));
	assert_int_equal(r.counts.n_open, 1);
	assert_true(clock_mono_ms() - start_ms >= 1200); /* its time limit */
}

static void waiting_also_waits_for_what_was_known_already(void **state)
{
	struct outcome_of_run r;

	take_in(21, "k-ended", VALUE("k-ended"), 5, "passed");
	run("{\"id\":\"k-ended\"}\n", true, database_conninfo_worker(), &r);
	assert_counts(&r, 1, 0, 1, 0);
	assert_int_equal(r.counts.n_outcome[OUTCOME_passed], 1);
	assert_int_equal(r.counts.n_open, 0);
}

/* The shipped profile with a soft check for the variables, so that a line may be short; in a folder of its own, gone again. */
static void open_profiles(void)
{
	char dir[] = "/tmp/submit-XXXXXX", command[300];

	assert_non_null(mkdtemp(dir));
	snprintf(command, sizeof(command),
		 "sed '/^    variables:/a\\    hard: false' config/profiles/customer-letter.yaml"
		 " > %s/customer-letter.yaml",
		 dir);
	assert_int_equal(system(command), 0);
	settings.profiles_dir = dir;
	profiles = profiles_open(&settings, &(struct faults){.tell = NULL});
	assert_non_null(profiles);
	settings.profiles_dir = NULL;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

static int start_all(void **state)
{
	a = arena_new();
	fake_broker.refuse_offset = -1;
	assert_true(settings_read(a, "config/draftmill.yaml", NULL, 0, &settings,
				  &(struct faults){.tell = NULL}));
	open_profiles();
	if (database_start(state))
		return 1;
	database_run("create table draftmill.months partition of draftmill.job default;"
		     "create table draftmill.months_o partition of draftmill.outcome default");
	return 0;
}

static int stop_all(void **state)
{
	profiles_free(profiles);
	arena_free(a);
	return database_stop(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_line_does_not_say_is_put_in_front),
		cmocka_unit_test(a_line_without_id_gets_one_of_its_content),
		cmocka_unit_test(a_cloudevent_is_sent_as_it_is),
		cmocka_unit_test(a_line_keeps_its_own_profile_and_answers_for_it),
		cmocka_unit_test(a_line_is_judged_as_by_the_worker),
		cmocka_unit_test(valid_lines_are_sent_and_the_others_named),
		cmocka_unit_test(with_or_without_a_mark_the_messages_are_the_same),
		cmocka_unit_test(the_same_line_twice_without_id_is_told),
		cmocka_unit_test(a_known_identity_with_other_bytes_is_invalid),
		cmocka_unit_test(without_a_database_it_says_so_and_sends),
		cmocka_unit_test(a_record_that_the_broker_refuses_is_told_by_its_line),
		cmocka_unit_test(waiting_counts_ends_and_who_was_known),
		cmocka_unit_test(waiting_also_waits_for_what_was_known_already),
	};
	return cmocka_run_group_tests(tests, start_all, stop_all);
}
