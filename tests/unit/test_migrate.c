#include "app/migrate.h"

#include "core/outcome.h"
#include "database.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each test has a database without a schema and two small migrations; the last test has those of sql/. */
enum { N = 2 };
static struct arena *a;
static struct migration m[N + 1];
static int n_run;

static void set(int i, const char *name, const char *sql)
{
	m[i] = (struct migration){.version = i + 1, .name = name, .sql = str_c(sql)};
	sha256(m[i].sql, m[i].sha);
}

static int set_up(void **state)
{
	database_run("drop schema if exists draftmill cascade");
	a = arena_new();
	set(0, "0001_first.sql",
	    "create schema draftmill authorization draftmill_owner;"
	    "set role draftmill_owner;"
	    "create table draftmill.migration (version int primary key, sha bytea);"
	    "create table draftmill.stop_reason (name text primary key, outcome text, rank int);"
	    "grant usage on schema draftmill to draftmill_reader;"
	    "grant select on draftmill.migration to draftmill_reader;"
	    "reset role;");
	set(1, "0002_second.sql", "create table draftmill.second ()");
	return 0;
}

static int tear_down(void **state)
{
	arena_free(a);
	return 0;
}

static struct pg *connect_as(const char *more)
{
	struct pg *pg;
	struct err err = {""};

	const char *conninfo = arena_printf(a, "%s%s", database_conninfo(), more).p;
	enum status status = pg_connect(conninfo, "test_migrate", &pg, &err);
	assert_string_equal(err.text, "");
	assert_int_equal(status, ST_OK);
	return pg;
}

static void count(void *owner, const struct migration *migration)
{
	n_run++;
}

static enum status migrate(int n_migration, struct err *err)
{
	struct pg *pg = connect_as("");

	n_run = 0;
	*err = (struct err){""};
	enum status status = migrate_run(pg, m, n_migration, count, NULL, err);
	pg_free(pg);
	return status;
}

static void assert_migrate(int n_migration, int n_expected)
{
	struct err err;
	enum status status = migrate(n_migration, &err);

	assert_string_equal(err.text, "");
	assert_int_equal(status, ST_OK);
	assert_int_equal(n_run, n_expected);
}

static void each_file_is_run_once(void **state)
{
	assert_migrate(1, 1);
	assert_migrate(N, N - 1);
	assert_migrate(N, 0);
	assert_int_equal(database_int("select count(*) from draftmill.migration"), N);
}

static void stop_reasons_are_those_of_the_program(void **state)
{
	assert_migrate(N, N);
	assert_int_equal(database_int("select count(*) from draftmill.stop_reason"),
			 N_STOP_REASONS);
	assert_int_equal(database_int("select rank from draftmill.stop_reason"
				      " where name = 'oneshot' and outcome = 'direct'"),
			 STOP_oneshot + 1);
	database_run("update draftmill.stop_reason set rank = 99 where name = 'budget'");
	assert_migrate(N, 0);
	assert_int_equal(database_int("select count(*) from draftmill.stop_reason where rank = 99"),
			 0);
}

static void a_changed_file_is_refused(void **state)
{
	struct err err;

	assert_migrate(N, N);
	set(1, "0002_second.sql", "select 1");
	assert_int_equal(migrate(N, &err), ST_INVALID);
	assert_non_null(
		strstr(err.text, "0002_second.sql was changed after it was run; put it back"));
	assert_int_equal(n_run, 0);
}

static void a_failing_file_leaves_nothing_and_is_named(void **state)
{
	struct err err;

	set(N, "0003_third.sql", "create table draftmill.third (); select 1 / 0");
	assert_int_equal(migrate(N + 1, &err), ST_INVALID);
	assert_int_equal(n_run, N);
	assert_int_equal(strncmp(err.text, "0003_third.sql: ", 16), 0);
	assert_non_null(strstr(err.text, "division by zero"));
	assert_int_equal(database_int("select count(*) from pg_class where relname = 'third'"), 0);
	set(N, "0003_third.sql", "create table draftmill.third ()");
	assert_migrate(N + 1, 1);
	assert_int_equal(database_int("select count(*) from pg_class where relname = 'third'"), 1);
}

static void a_database_of_a_newer_program_is_refused(void **state)
{
	struct err err;

	assert_migrate(N, N);
	assert_int_equal(migrate(N - 1, &err), ST_INVALID);
	assert_non_null(strstr(err.text, "the database is of a newer program"));
}

static void two_at_the_same_moment_both_succeed(void **state)
{
	pid_t child = fork();

	if (child == 0) {
		struct err err;
		_exit(migrate(N, &err) == ST_OK ? n_run : 99);
	}
	int child_status;
	struct err err;
	enum status status = migrate(N, &err);
	assert_int_equal(waitpid(child, &child_status, 0), child);
	assert_string_equal(err.text, "");
	assert_int_equal(status, ST_OK);
	assert_true(WIFEXITED(child_status));
	assert_int_equal(n_run + WEXITSTATUS(child_status), N);
}

static enum status check(const char *user, int n_migration, struct err *err)
{
	struct pg *pg = connect_as(user);

	*err = (struct err){""};
	enum status status = migrate_check(pg, m, n_migration, err);
	pg_free(pg);
	return status;
}

static void a_check_needs_no_right_to_write(void **state)
{
	struct err err;

	assert_int_equal(check("", N, &err), ST_INVALID);
	assert_non_null(strstr(err.text, "0001_first.sql; run `draftmill migrate`"));
	assert_migrate(N, N);
	assert_int_equal(check(" user=draftmill_reader", N, &err), ST_OK);
	assert_int_equal(check(" user=draftmill_reader", N - 1, &err), ST_INVALID);
	set(0, "0001_first.sql", "select 1");
	assert_int_equal(check(" user=draftmill_reader", N, &err), ST_INVALID);
}

static void a_stranger_may_not_migrate(void **state)
{
	struct err err = {""};

	assert_migrate(N, N);
	struct pg *pg = connect_as(" user=draftmill_reader");
	assert_int_equal(migrate_run(pg, m, N, count, NULL, &err), ST_INVALID);
	assert_non_null(strstr(
		err.text, "user draftmill_reader is no member of draftmill_owner; connect as"));
	pg_free(pg);
}

static void numbers_have_no_gap(void **state)
{
	char folder[] = "/tmp/migrate-XXXXXX", path[64];
	const struct migration *files;
	struct err err;
	int n_file;

	assert_non_null(mkdtemp(folder));
	assert_int_equal(migrations_read(a, folder, &files, &n_file, &err), ST_INVALID);
	snprintf(path, sizeof(path), "%s/0002_b.sql", folder);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(migrations_read(a, folder, &files, &n_file, &err), ST_INVALID);
	assert_non_null(strstr(err.text, "/0002_b.sql: number 1 is wanted here"));
	unlink(path);
	rmdir(folder);
}

static void the_shipped_files_make_the_schema(void **state)
{
	const struct migration *files;
	struct err err = {""};
	int n;

	assert_int_equal(migrations_read(a, "sql", &files, &n, &err), ST_OK);
	struct pg *pg = connect_as("");
	n_run = 0;
	enum status status = migrate_run(pg, files, n, count, NULL, &err);
	assert_string_equal(err.text, "");
	assert_int_equal(status, ST_OK);
	assert_int_equal(n_run, n);
	pg_free(pg);
	pg = connect_as(" user=draftmill_worker");
	assert_int_equal(migrate_check(pg, files, n, &err), ST_OK);
	pg_free(pg);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_file_is_run_once),
		TEST(stop_reasons_are_those_of_the_program),
		TEST(a_changed_file_is_refused),
		TEST(a_failing_file_leaves_nothing_and_is_named),
		TEST(a_database_of_a_newer_program_is_refused),
		TEST(two_at_the_same_moment_both_succeed),
		TEST(a_check_needs_no_right_to_write),
		TEST(a_stranger_may_not_migrate),
		TEST(numbers_have_no_gap),
		TEST(the_shipped_files_make_the_schema),
	};

	return cmocka_run_group_tests(tests, database_start, database_stop);
}
