/* tests/unit/test_child.c - a command is run for its output; each way to fail is told, and none can hold up the loop. */
#include "base/clock.h"
#include "io/child.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { LIMIT_MS = 20000 };

struct world {
	struct reactor *reactor;
	int n; /* callbacks */
	enum status status;
	char output[200], why[600];
};

static void on_done(void *owner, enum status status, struct str output, const struct err *why)
{
	struct world *w = owner;

	w->n++;
	w->status = status;
	snprintf(w->output, sizeof(w->output), "%.*s", STR_ARG(output));
	snprintf(w->why, sizeof(w->why), "%s", why ? why->text : "");
	reactor_stop(w->reactor);
}

static void stop(void *owner)
{
	reactor_stop(((struct world *)owner)->reactor);
}

/* Runs it to its end. */
static struct world run_how(const struct child_how *how)
{
	struct world w = {.reactor = reactor_new()};

	child_start(w.reactor, how, on_done, &w);
	assert_int_equal(w.n, 0);
	reactor_run(w.reactor);
	reactor_free(w.reactor);
	assert_int_equal(w.n, 1);
	return w;
}

static struct world run(const char *const *argv, int64_t limit_ms)
{
	return run_how(&(struct child_how){.argv = argv, .limit_ms = limit_ms});
}

static struct world shell(const char *script, int64_t limit_ms)
{
	return run((const char *const[]){"sh", "-c", script, NULL}, limit_ms);
}

static void test_output(void **state)
{
	struct world w = run((const char *const[]){"printf", "%s\\n", "two words", "*", NULL},
			     LIMIT_MS); /* no shell: nothing is split or expanded */

	assert_string_equal(w.output, "two words\n*\n");
	assert_string_equal(w.why, "");
}

static void test_no_output_is_no_failure(void **state)
{
	struct world w = run((const char *const[]){"true", NULL}, LIMIT_MS);

	assert_string_equal(w.why, "");
	assert_string_equal(w.output, "");
}

static void test_failures_are_named(void **state)
{
	struct world w = shell("echo half; echo no login >&2; echo more >&2; exit 3", LIMIT_MS);

	assert_string_equal(w.why, "the command sh ended with status 3: no login");
	assert_string_equal(w.output, "");
	assert_int_equal(w.status, ST_INVALID);
	w = shell("kill -15 $$", LIMIT_MS);
	assert_string_equal(w.why, "the command sh was ended by signal 15");
	w = run((const char *const[]){"/nowhere/at-all", NULL}, LIMIT_MS);
	assert_string_equal(w.why,
			    "the command /nowhere/at-all cannot be run: No such file or directory");
	assert_int_equal(w.status, ST_DOWN); /* it may be there the next time */
}

static void test_input(void **state)
{
	static char draft[256 << 10]; /* four times what a pipe holds */
	struct child_how how = {.argv = (const char *const[]){"wc", "-c", NULL},
				.input = {draft, sizeof(draft)},
				.limit_ms = LIMIT_MS};

	assert_string_equal(run_how(&how).output, "262144\n");
	how.argv = (const char *const[]){"cat", NULL};
	how.input = STR_OF("<>&\n");
	assert_string_equal(run_how(&how).output, "<>&\n");
	how.argv = (const char *const[]){"true", NULL}; /* nothing of it is read */
	how.input = (struct str){draft, sizeof(draft)};
	assert_int_equal(run_how(&how).status, ST_OK);
}

static void test_environment(void **state)
{
	struct child_how how = {.argv = (const char *const[]){"env", NULL},
				.environment = (const char *const[]){"LANG=C.UTF-8", NULL},
				.limit_ms = LIMIT_MS};

	setenv("KEY_OF_A_PROVIDER", "secret", 1);
	assert_string_equal(run_how(&how).output, "LANG=C.UTF-8\n");
	assert_string_equal(shell("echo $KEY_OF_A_PROVIDER", LIMIT_MS).output, "secret\n");
}

static void test_too_much_output(void **state)
{
	struct world w = run((const char *const[]){"yes", NULL}, LIMIT_MS);

	assert_string_equal(w.why, "the command yes printed more than 65536 bytes; mend it");
	w = shell("head -c 65536 /dev/zero", LIMIT_MS);
	assert_string_equal(w.why, "");
	w = shell("head -c 65537 /dev/zero", LIMIT_MS);
	assert_string_equal(w.why, "the command sh printed more than 65536 bytes; mend it");
	w = shell("yes | head -c 1000000 >&2; echo fine", LIMIT_MS);
	assert_string_equal(w.output, "fine\n");
}

static bool is_there(const char *pid_path)
{
	int pid = 0;
	FILE *file = fopen(pid_path, "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d", &pid), 1);
	fclose(file);
	for (int i = 0; i < 100 && kill(pid, 0) == 0; i++) /* init takes its time to reap it */
		usleep(20000);
	return kill(pid, 0) == 0;
}

static void test_time_limit_ends_all_of_it(void **state)
{
	char path[] = "/tmp/draftmill-child-XXXXXX", script[200];
	int fd = mkstemp(path);

	snprintf(script, sizeof(script), "sleep 1000 & echo $! >%s; wait", path);
	int64_t start_ms = clock_mono_ms();
	struct world w = shell(script, 2000);
	assert_string_equal(w.why, "the command sh did not end within 2 s");
	assert_true(clock_mono_ms() - start_ms < 10000);
	assert_false(is_there(path));
	unlink(path);
	close(fd);
}

static void test_a_grandchild_holds_up_nobody(void **state)
{
	struct world w = shell("sleep 5 & echo ready", LIMIT_MS);

	assert_string_equal(w.output, "ready\n");
}

static void test_cancelled(void **state)
{
	struct world w = {.reactor = reactor_new()};
	struct child_how how = {.limit_ms = LIMIT_MS};
	struct timer *timer = timer_new(w.reactor, stop, &w);

	child_cancel(NULL);
	how.argv = (const char *const[]){"sleep", "1000", NULL};
	child_cancel(child_start(w.reactor, &how, on_done, &w));
	how.argv = (const char *const[]){"/nowhere/at-all", NULL};
	child_cancel(child_start(w.reactor, &how, on_done, &w));
	timer_start(timer, 50, 0);
	reactor_run(w.reactor);
	timer_close(timer);
	reactor_free(w.reactor);
	assert_int_equal(w.n, 0);
}

/* Whatever this process did with its files and signals, the command starts clean. */
static void test_inherits_no_file_and_no_signal(void **state)
{
	int fd = open("/dev/null", O_RDONLY); /* not close-on-exec */

	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	struct world w = shell("ls /proc/$$/fd; cat", LIMIT_MS);
	assert_string_equal(w.output, "0\n1\n2\n");
	w = shell("kill -PIPE $$", LIMIT_MS);
	assert_string_equal(w.why, "the command sh was ended by signal 13");
	signal(SIGPIPE, SIG_DFL);
	close(fd);
}

static void test_waiting_for_it(void **state)
{
	struct child_how how = {.argv = (const char *const[]){"echo", "secret", NULL},
				.limit_ms = LIMIT_MS};
	struct buf out = BUF(100);
	struct err err;

	assert_int_equal(child_run(&how, &out, &err), ST_OK);
	assert_string_equal(buf_view(&out).p, "secret\n");
	how.argv = (const char *const[]){"false", NULL};
	assert_int_equal(child_run(&how, &out, &err), ST_DOWN);
	assert_string_equal(err.text, "the command false ended with status 1");
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_no_output_is_no_failure),
		cmocka_unit_test(test_failures_are_named),
		cmocka_unit_test(test_input),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_too_much_output),
		cmocka_unit_test(test_time_limit_ends_all_of_it),
		cmocka_unit_test(test_a_grandchild_holds_up_nobody),
		cmocka_unit_test(test_cancelled),
		cmocka_unit_test(test_inherits_no_file_and_no_signal),
		cmocka_unit_test(test_waiting_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
