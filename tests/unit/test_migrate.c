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

/* Each test has an empty database of its own on the group's server, and the migrations of sql/. */
static char conninfo[700];
static struct arena *a;
static struct migration m[16];
static int n;
static int n_run;

static struct pg *connect_as(const char *more)
{
	char full[800];
	struct pg *pg;
	struct err err = {""};

	snprintf(full, sizeof(full), "%s%s", conninfo, more);
	enum status status = pg_connect(full, "test_migrate", &pg, &err);
	assert_string_equal(err.text, "");
	assert_int_equal(status, ST_OK);
	return pg;
}

static int set_up(void **state)
{
	const struct migration *files;
	struct err err;
	char sql[100];

	snprintf(conninfo, sizeof(conninfo), "%s dbname=migrate_%d", database_conninfo(), getpid());
	snprintf(sql, sizeof(sql), "create database migrate_%d", getpid());
	database_run(sql);
	a = arena_new();
	assert_int_equal(migrations_read(a, "sql", &files, &n, &err), ST_OK);
	assert_true(n >= 2 && n < 16);
	memcpy(m, files, sizeof(*m) * (size_t)n);
	return 0;
}

static int tear_down(void **state)
{
	char sql[100];

	snprintf(sql, sizeof(sql), "drop database migrate_%d with (force)", getpid());
	database_run(sql);
	arena_free(a);
	return 0;
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

static int64_t query_int(const char *sql)
{
	struct pg *pg = connect_as("");
	struct pg_rows *rows;
	struct err err = {""};

	enum status status = pg_query(pg, sql, NULL, 0, &rows, &err);
	assert_string_equal(err.text, "");
	assert_int_equal(status, ST_OK);
	int64_t value = pg_int(rows, 0, 0);
	pg_rows_free(rows);
	pg_free(pg);
	return value;
}

static void change(int i, const char *sql)
{
	m[i].sql = str_c(sql);
	sha256(m[i].sql, m[i].sha);
}

static void each_file_is_run_once(void **state)
{
	assert_migrate(1, 1);
	assert_migrate(n, n - 1);
	assert_migrate(n, 0);
	assert_int_equal(query_int("select count(*) from draftmill.migration"), n);
}

static void stop_reasons_are_those_of_the_program(void **state)
{
	assert_migrate(n, n);
	assert_int_equal(query_int("select count(*) from draftmill.stop_reason"), N_STOP_REASONS);
	assert_int_equal(query_int("select rank from draftmill.stop_reason"
				   " where name = 'oneshot' and outcome = 'direct'"),
			 STOP_oneshot + 1);
	(void)query_int(
		"with t as (update draftmill.stop_reason set rank = 99 where name = 'budget' "
		"returning 1) select count(*) from t");
	assert_migrate(n, 0);
	assert_int_equal(query_int("select count(*) from draftmill.stop_reason where rank = 99"),
			 0);
}

static void a_changed_file_is_refused(void **state)
{
	struct err err;

	assert_migrate(n, n);
	change(1, "select 1");
	assert_int_equal(migrate(n, &err), ST_INVALID);
	assert_non_null(strstr(err.text, " was changed after it was run; put it back"));
	assert_int_equal(n_run, 0);
}

static void a_failing_file_leaves_nothing_and_is_named(void **state)
{
	struct err err;

	m[n] = (struct migration){.version = n + 1, .name = "9999_new.sql"};
	change(n, "create table draftmill.fresh (); select 1 / 0");
	assert_int_equal(migrate(n + 1, &err), ST_INVALID);
	assert_int_equal(n_run, n);
	assert_int_equal(strncmp(err.text, "9999_new.sql: ", 14), 0);
	assert_non_null(strstr(err.text, "division by zero"));
	assert_int_equal(query_int("select count(*) from pg_class where relname = 'fresh'"), 0);
	change(n, "create table draftmill.fresh ()");
	assert_migrate(n + 1, 1);
	assert_int_equal(query_int("select count(*) from pg_class where relname = 'fresh'"), 1);
}

static void a_database_of_a_newer_program_is_refused(void **state)
{
	struct err err;

	assert_migrate(n, n);
	assert_int_equal(migrate(n - 1, &err), ST_INVALID);
	assert_non_null(strstr(err.text, "the database is of a newer program"));
}

static void two_at_the_same_moment_both_succeed(void **state)
{
	pid_t child = fork();

	if (child == 0) {
		struct err err;
		_exit(migrate(n, &err) == ST_OK ? n_run : 99);
	}
	int child_status;
	struct err err;
	enum status status = migrate(n, &err);
	assert_int_equal(waitpid(child, &child_status, 0), child);
	assert_string_equal(err.text, "");
	assert_int_equal(status, ST_OK);
	assert_true(WIFEXITED(child_status));
	assert_int_equal(n_run + WEXITSTATUS(child_status), n);
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

	assert_int_equal(check("", n, &err), ST_INVALID);
	assert_non_null(strstr(err.text, "0001_schema.sql; run `draftmill migrate`"));
	assert_migrate(n, n);
	assert_int_equal(check(" user=draftmill_worker", n, &err), ST_OK);
	assert_int_equal(check(" user=draftmill_reader", n, &err), ST_OK);
	assert_int_equal(check(" user=draftmill_worker", n - 1, &err), ST_INVALID);
	change(0, "select 1");
	assert_int_equal(check(" user=draftmill_worker", n, &err), ST_INVALID);
}

static void a_worker_may_not_migrate(void **state)
{
	struct err err = {""};

	assert_migrate(n, n);
	struct pg *pg = connect_as(" user=draftmill_worker");
	assert_int_equal(migrate_run(pg, m, n, count, NULL, &err), ST_INVALID);
	assert_non_null(strstr(
		err.text, "user draftmill_worker is no member of draftmill_owner; connect as"));
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
		TEST(a_worker_may_not_migrate),
		TEST(numbers_have_no_gap),
	};

	return cmocka_run_group_tests(tests, database_start, database_stop);
}
