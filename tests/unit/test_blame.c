/* tests/unit/test_blame.c - a crash leaves the name of what was in hand; an orderly end and a kill in between leave none. */
#include "app/blame.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct world {
	char dir[64];
	struct blame *blame; /* of the worker that looks */
	char told[512];	     /* "TOPIC/PARTITION/OFFSET " or "JOB " for each crash found */
	char incident[256];  /* of the last */
};

static void on_found(void *owner, const struct strike *s, const char *incident)
{
	struct world *w = owner;
	const size_t n = strlen(w->told);

	if (s->topic.p)
		snprintf(w->told + n, sizeof(w->told) - n, "%.*s/%d/%lld ", STR_ARG(s->topic),
			 (int)s->partition, (long long)s->offset);
	else
		snprintf(w->told + n, sizeof(w->told) - n, "%lld ", (long long)s->offset);
	snprintf(w->incident, sizeof(w->incident), "%s", incident);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct err err;

	snprintf(w->dir, sizeof(w->dir), "/tmp/draftmill-blame-XXXXXX");
	if (!mkdtemp(w->dir) || blame_open(w->dir, &w->blame, &err) != ST_OK)
		return -1;
	*state = w;
	return 0;
}

static int n_files(const struct world *w)
{
	DIR *d = opendir(w->dir);
	int n = 0;

	assert_non_null(d);
	for (const struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static int teardown(void **state)
{
	struct world *w = *state;
	int n;

	blame_close(w->blame);
	n = n_files(w); /* each test takes its crashes up, so nothing is left */
	if (n || rmdir(w->dir) != 0)
		return -1;
	free(w);
	return 0;
}

static void collect(struct world *w)
{
	w->told[0] = 0;
	blame_collect(w->blame, on_found, w);
}

/* What another worker does before it dies. */
typedef void life_fn(struct blame *);

static void live_and_die(const struct world *w, life_fn *life)
{
	struct blame *b;
	struct err err;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (blame_open(w->dir, &b, &err) != ST_OK)
			_exit(1);
		life(b);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static const struct record message = {
	.topic = STR("draftmill.jobs"), .partition = 3, .offset = 1LL << 40};

static void die_parsing(struct blame *b)
{
	blame_set(b, NULL, 9);
	blame_set(b, &message, 0);
}

static void die_stepping(struct blame *b)
{
	blame_set(b, &message, 0);
	blame_set(b, NULL, 77);
}

static void die_waiting(struct blame *b)
{
	blame_set(b, &message, 0);
	blame_set(b, NULL, 0);
}

static void a_crash_names_the_message_in_hand(void **state)
{
	struct world *w = *state;

	live_and_die(w, die_parsing);
	collect(w);
	assert_string_equal(w->told, "draftmill.jobs/3/1099511627776 ");
	blame_forget(w->blame, w->incident);
}

static void a_crash_names_the_job_in_hand(void **state)
{
	struct world *w = *state;

	live_and_die(w, die_stepping);
	collect(w);
	assert_string_equal(w->told, "77 ");
	blame_forget(w->blame, w->incident);
}

static void a_kill_with_nothing_in_hand_blames_nobody(void **state)
{
	struct world *w = *state;

	live_and_die(w, die_waiting);
	assert_int_equal(n_files(w), 2);
	collect(w);
	assert_string_equal(w->told, "");
	assert_int_equal(n_files(w), 1); /* it has no use any more */
}

/* The count may fail: so it is told until it is forgotten. */
static void it_is_told_until_it_is_forgotten(void **state)
{
	struct world *w = *state;
	char first[256];

	live_and_die(w, die_stepping);
	collect(w);
	strcpy(first, w->incident);
	collect(w);
	assert_string_equal(w->told, "77 ");
	assert_string_equal(w->incident, first);
	blame_forget(w->blame, first);
	collect(w);
	assert_string_equal(w->told, "");
}

static void crashes_of_one_job_are_incidents_of_their_own(void **state)
{
	struct world *w = *state;
	char first[256];

	live_and_die(w, die_stepping);
	collect(w);
	strcpy(first, w->incident);
	blame_forget(w->blame, first);
	live_and_die(w, die_stepping);
	collect(w);
	assert_string_not_equal(w->incident, first);
	blame_forget(w->blame, w->incident);
}

/* Two that look at once, in one process: the file of the living one is locked even so. */
static void the_living_are_not_looked_at(void **state)
{
	struct world *w = *state;
	struct blame *other;
	struct err err;

	usleep(2000); /* names carry the millisecond */
	assert_int_equal(blame_open(w->dir, &other, &err), ST_OK);
	blame_set(other, NULL, 5);
	blame_set(w->blame, NULL, 6);
	collect(w);
	assert_string_equal(w->told, "");
	assert_int_equal(n_files(w), 2);
	blame_close(other);
	assert_int_equal(n_files(w), 1);
}

static void other_files_are_left_alone(void **state)
{
	struct world *w = *state;
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/notes.txt", w->dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("not of a worker, and long enough to be read as one\n", f);
	fclose(f);
	collect(w);
	assert_string_equal(w->told, "");
	assert_int_equal(n_files(w), 2);
	unlink(path);
}

static void a_folder_that_cannot_be_made_is_named(void **state)
{
	struct world *w = *state;
	struct blame *none = NULL;
	char dir[128];
	struct err err = {""};

	snprintf(dir, sizeof(dir), "%s/missing/deeper", w->dir);
	assert_int_equal(blame_open(dir, &none, &err), ST_INVALID);
	assert_null(none);
	assert_non_null(strstr(err.text, dir));
	assert_non_null(strstr(err.text, "worker.state_dir"));
}

/* A limit of file sizes stands for a full disk. */
static void without_room_it_says_so_and_leaves_no_file(void **state)
{
	struct world *w = *state;
	struct blame *none = NULL;
	char dir[128];
	struct rlimit old, full;
	struct err err = {""};

	snprintf(dir, sizeof(dir), "%s/full", w->dir);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	full = (struct rlimit){0, old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
	const enum status status = blame_open(dir, &none, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(status, ST_INVALID);
	assert_non_null(strstr(err.text, strerror(EFBIG)));
	assert_non_null(strstr(err.text, "make room"));
	assert_int_equal(rmdir(dir), 0);
}

static void the_folder_is_made_if_it_is_missing(void **state)
{
	struct world *w = *state;
	struct blame *b;
	char dir[128];
	struct err err;

	snprintf(dir, sizeof(dir), "%s/new", w->dir);
	assert_int_equal(blame_open(dir, &b, &err), ST_OK);
	blame_close(b);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_crash_names_the_message_in_hand),
		TEST(a_crash_names_the_job_in_hand),
		TEST(a_kill_with_nothing_in_hand_blames_nobody),
		TEST(it_is_told_until_it_is_forgotten),
		TEST(crashes_of_one_job_are_incidents_of_their_own),
		TEST(the_living_are_not_looked_at),
		TEST(other_files_are_left_alone),
		TEST(a_folder_that_cannot_be_made_is_named),
		TEST(without_room_it_says_so_and_leaves_no_file),
		TEST(the_folder_is_made_if_it_is_missing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
