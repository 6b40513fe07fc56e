#include "database.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/pg.h"

/* The shell outlives this process until it has read the end of our pipe: so the server never stays behind. */
static const char SERVER[] = "trap '' INT TERM\n"
			     "d=$(mktemp -d /tmp/draftmill.XXXXXX) && scripts/pg-up $d\n"
			     "cat >/dev/null\n"
			     "scripts/pg-down $d\n"
			     "rm -rf $d\n";

static char admin[500]; /* conninfo of the server, with a database that is not ours */
static char conninfo[600], worker[700];
static struct pg *own;

static void start_server(void)
{
	int to[2], from[2];
	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	if (fork() == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		execl("/bin/sh", "sh", "-c", SERVER, (char *)NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	FILE *answer = fdopen(from[0], "r");
	assert_non_null(fgets(admin, sizeof admin, answer));
	fclose(answer);
	admin[strcspn(admin, "\n")] = '\0';
}

static struct pg *connect_to(const char *where)
{
	struct pg *pg;
	struct err err = {""};
	if (pg_connect(where, "test", &pg, &err) != ST_OK)
		fail_msg("%s", err.text);
	return pg;
}

static void run(struct pg *pg, const char *sql)
{
	struct err err = {""};
	if (pg_script(pg, sql, &err) != ST_OK)
		fail_msg("%s", err.text);
}

static void run_file(struct pg *pg, const char *path)
{
	static char text[1 << 16];
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	size_t n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n] = '\0';
	run(pg, text);
}

int database_start(void **state)
{
	const char *given = getenv("TEST_CONNINFO");
	char sql[200];
	if (given)
		snprintf(admin, sizeof admin, "%s", given);
	else
		start_server();
	/* Roles are the server's: one test program at a time makes them. */
	struct pg *server = connect_to(admin);
	run(server, "set client_min_messages = error; select pg_advisory_lock(1)");
	snprintf(sql, sizeof sql, "drop database if exists test_%d", getpid());
	run(server, sql);
	snprintf(sql, sizeof sql, "create database test_%d", getpid());
	run(server, sql);
	snprintf(conninfo, sizeof conninfo, "%s dbname=test_%d", admin, getpid());
	snprintf(worker, sizeof worker, "%s user=draftmill_worker", conninfo);
	own = connect_to(conninfo);
	run_file(own, "sql/0001_schema.sql");
	run_file(own, "sql/0002_views.sql");
	run_file(own, "sql/0003_requeue.sql");
	pg_free(server);
	return 0;
}

int database_stop(void **state)
{
	char sql[200];
	pg_free(own);
	struct pg *server = connect_to(admin);
	snprintf(sql, sizeof sql, "drop database test_%d with (force)", getpid());
	run(server, sql);
	pg_free(server);
	return 0;
}

const char *database_conninfo(void)
{
	return conninfo;
}

const char *database_conninfo_worker(void)
{
	return worker;
}

void database_run(const char *sql)
{
	run(own, sql);
}

int64_t database_int(const char *sql)
{
	struct pg_rows *rows;
	struct err err = {""};
	if (pg_query(own, sql, NULL, 0, &rows, &err) != ST_OK)
		fail_msg("%s", err.text);
	assert_int_equal(pg_n(rows), 1);
	int64_t value = pg_int(rows, 0, 0);
	pg_rows_free(rows);
	return value;
}
