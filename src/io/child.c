#include "io/child.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"

enum { ERROR_MAX = 200 }; /* bytes of standard error that are kept */

struct stream { /* what the child writes to one descriptor */
	struct child *child;
	int fd; /* -1: at its end, or never opened */
	struct watch *watch;
	char *bytes;
	size_t n, max;
	bool keeps_front; /* what passes max is read and dropped; else it is a failure */
};

struct child {
	const char *const *argv;
	int64_t limit_ms;
	child_fn *fn;
	void *owner;
	pid_t pid;  /* 0: none runs */
	int pid_fd; /* readable once it has ended; -1: none */
	struct watch *pid_watch;
	struct timer *limit;
	struct stream out, error;
	char out_bytes[CHILD_OUTPUT_MAX], error_bytes[ERROR_MAX];
	struct err why;
	enum status status;
};

static void stream_close(struct stream *s)
{
	watch_close(s->watch);
	s->watch = NULL;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static void child_free(struct child *c)
{
	stream_close(&c->out);
	stream_close(&c->error);
	watch_close(c->pid_watch);
	if (c->pid_fd >= 0)
		close(c->pid_fd);
	timer_close(c->limit);
	explicit_bzero(c->out_bytes, sizeof c->out_bytes);
	free(c);
}

/* Not reaped yet, so the number is still its own. */
static void kill_group(struct child *c)
{
	if (!c->pid)
		return;
	kill(-c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	c->pid = 0;
}

/* The callback may free the owner, but not this. */
static void finish(struct child *c)
{
	kill_group(c);
	if (c->status == ST_OK)
		c->fn(c->owner, ST_OK, (struct str){c->out_bytes, c->out.n}, NULL);
	else
		c->fn(c->owner, c->status, (struct str){NULL, 0}, &c->why);
	child_free(c);
}

static void fail(struct child *c, const char *format, ...) PRINTF_LIKE(2, 3);
static void fail(struct child *c, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	err_setv(&c->why, format, args);
	va_end(args);
	err_at(&c->why, "the command %s ", c->argv[0]);
	c->status = c->pid_fd < 0 ? ST_DOWN : ST_INVALID;
}

/* Reads what is there. False: there is more than may be. */
static bool stream_read(struct stream *s)
{
	char beyond[512];
	while (s->fd >= 0) {
		bool full = s->n == s->max;
		ssize_t n = read(s->fd, full ? beyond : s->bytes + s->n,
				 full ? sizeof beyond : s->max - s->n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n <= 0) {
			stream_close(s);
			return true;
		}
		if (full && !s->keeps_front)
			return false;
		s->n += full ? 0 : (size_t)n;
	}
	return true;
}

static void on_readable(void *owner, int events)
{
	struct stream *s = owner;
	if (stream_read(s))
		return;
	fail(s->child, "printed more than %zu bytes; mend it", s->max);
	finish(s->child);
}

/* A grandchild may hold the streams open for ever: what the child itself wrote is there by now. */
static void on_ended(void *owner, int events)
{
	struct child *c = owner;
	int status = 0;
	waitpid(c->pid, &status, 0);
	c->pid = 0;
	stream_read(&c->error);
	struct str said = str_cut((struct str){c->error_bytes, c->error.n}, ERROR_MAX);
	const char *line_end = memchr(said.p, '\n', said.n);
	if (line_end)
		said.n = (size_t)(line_end - said.p);
	const char *colon = said.n ? ": " : "";
	if (WIFSIGNALED(status))
		fail(c, "was ended by signal %d%s%.*s", WTERMSIG(status), colon, STR_ARG(said));
	else if (WEXITSTATUS(status) != 0)
		fail(c, "ended with status %d%s%.*s", WEXITSTATUS(status), colon, STR_ARG(said));
	else if (!stream_read(&c->out))
		fail(c, "printed more than %zu bytes; mend it", c->out.max);
	finish(c);
}

static void on_limit(void *owner)
{
	struct child *c = owner;
	if (c->status == ST_OK) /* else it never ran */
		fail(c, "did not end within %" PRId64 " s", c->limit_ms / 1000);
	finish(c);
}

/* ---- starting ---- */

/* Gives the end that the child writes to, or -1. */
static int stream_open(struct stream *s, struct child *c, char *bytes, size_t max)
{
	int end[2];
	*s = (struct stream){.child = c, .fd = -1, .bytes = bytes, .max = max};
	if (pipe2(end, O_CLOEXEC) != 0)
		return -1;
	fcntl(end[0], F_SETFL, O_NONBLOCK);
	s->fd = end[0];
	return end[1];
}

/* A file in memory: whoever reads it slowly, or not at all, holds up nobody. -1: there is none, errno tells why. */
static int input_open(struct str input)
{
	int fd = memfd_create("input", MFD_CLOEXEC);
	size_t n = 0;
	while (fd >= 0 && n < input.n) {
		ssize_t more = write(fd, input.p + n, input.n - n);
		if (more < 0 && errno != EINTR) {
			close(fd);
			return -1;
		}
		n += more > 0 ? (size_t)more : 0;
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

/* The child gets signals as a program does at its start, whatever this one ignores or blocks. */
static int spawn(struct child *c, const char *const *environment, int in, int out, int error)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t all, none;
	sigfillset(&all);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, in, 0);
	posix_spawn_file_actions_adddup2(&files, out, 1);
	posix_spawn_file_actions_adddup2(&files, error, 2);
	posix_spawn_file_actions_addclosefrom_np(&files, 3);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
						      POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setsigmask(&attributes, &none);
	int fault = posix_spawnp(&c->pid, c->argv[0], &files, &attributes, (char *const *)c->argv,
				 environment ? (char *const *)environment : environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	if (fault)
		c->pid = 0;
	return fault;
}

struct child *child_start(struct reactor *reactor, const struct child_how *how, child_fn *fn,
			  void *owner)
{
	struct child *c = mem_new(struct child);
	c->argv = how->argv;
	c->limit_ms = how->limit_ms;
	c->fn = fn;
	c->owner = owner;
	c->pid_fd = -1;
	c->limit = timer_new(reactor, on_limit, c);
	signal(SIGCHLD, SIG_DFL); /* ignored by whom we come from, no status would be kept for us */
	int out = stream_open(&c->out, c, c->out_bytes, sizeof c->out_bytes);
	int error = stream_open(&c->error, c, c->error_bytes, sizeof c->error_bytes);
	c->error.keeps_front = true;
	int in = out < 0 || error < 0 ? -1 : input_open(how->input);
	int fault = in < 0 ? errno : spawn(c, how->environment, in, out, error);
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	if (error >= 0)
		close(error);
	if (!fault && (c->pid_fd = pidfd_open(c->pid, 0)) < 0)
		fault = errno;
	if (fault) {
		fail(c, "cannot be run: %s", strerror(fault));
		timer_start(c->limit, 0, 0);
		return c;
	}
	c->pid_watch = watch_new(reactor, c->pid_fd, on_ended, c);
	c->out.watch = watch_new(reactor, c->out.fd, on_readable, &c->out);
	c->error.watch = watch_new(reactor, c->error.fd, on_readable, &c->error);
	watch_set(c->pid_watch, WATCH_READ);
	watch_set(c->out.watch, WATCH_READ);
	watch_set(c->error.watch, WATCH_READ);
	timer_start(c->limit, how->limit_ms, 0);
	return c;
}

void child_cancel(struct child *c)
{
	if (!c)
		return;
	kill_group(c);
	child_free(c);
}

/* ---- waiting ---- */

struct waiting {
	struct reactor *reactor;
	struct buf *out;
	struct err *err;
	enum status status;
};

static void on_done(void *owner, enum status status, struct str output, const struct err *why)
{
	struct waiting *w = owner;
	if (status == ST_OK)
		buf_str(w->out, output);
	else
		w->status = err_set(w->err, ST_DOWN, "%s", why->text);
	reactor_stop(w->reactor);
}

enum status child_run(const struct child_how *how, struct buf *out, struct err *err)
{
	struct waiting w = {reactor_new(), out, err, ST_OK};
	child_start(w.reactor, how, on_done, &w);
	reactor_run(w.reactor);
	reactor_free(w.reactor);
	return w.status;
}
