#include "relay.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct shared {
	int n_to_lose, n_lost;
};

struct relay {
	char folder[40], conninfo[900];
	struct sockaddr_un here, server;
	pid_t pid;
	volatile struct shared *shared;
};

static int listen_at(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	unlink(address->sun_path);
	assert_int_equal(bind(fd, (const struct sockaddr *)address, sizeof *address), 0);
	assert_int_equal(listen(fd, 4), 0);
	return fd;
}

/* false: that side is done. */
static int pass(int from, int to, char *p, size_t max, ssize_t *n)
{
	*n = read(from, p, max);
	return *n > 0 && write(to, p, (size_t)*n) == *n;
}

/* One connection, until a side closes it or an answer is lost. */
static void relay_one(struct relay *r, int client, int server)
{
	static char p[1 << 16];
	ssize_t n;
	struct pollfd fd[] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
	/* Start-up ends with a ReadyForQuery as well; only what comes after the client's next bytes is an answer. */
	int n_requests = 0;
	for (;;) {
		if (poll(fd, 2, -1) < 0)
			return;
		if (fd[0].revents) {
			if (!pass(client, server, p, sizeof p, &n))
				return;
			n_requests++;
		}
		if (!fd[1].revents)
			continue;
		if (n_requests < 2 || !r->shared->n_to_lose) {
			if (!pass(server, client, p, sizeof p, &n))
				return;
			continue;
		}
		n = read(server, p, sizeof p);
		if (n <= 0)
			return;
		if (n >= 6 && memcmp(p + n - 6, "Z\0\0\0\5I", 6) == 0) {
			r->shared->n_to_lose--;
			r->shared->n_lost++;
			return;
		}
	}
}

static void serve(struct relay *r, int listener)
{
	for (;;) {
		int client = accept(listener, NULL, NULL);
		int server = socket(AF_UNIX, SOCK_STREAM, 0);
		if (connect(server, (const struct sockaddr *)&r->server, sizeof r->server) == 0)
			relay_one(r, client, server);
		close(server);
		close(client);
	}
}

static void read_word(const char *conninfo, const char *key, char *out, size_t max)
{
	const char *at = strstr(conninfo, key);
	assert_non_null(at);
	snprintf(out, max, "%.*s", (int)strcspn(at + strlen(key), " "), at + strlen(key));
}

struct relay *relay_start(const char *conninfo)
{
	char host[80], port[8];
	read_word(conninfo, "host=", host, sizeof host);
	read_word(conninfo, "port=", port, sizeof port);
	if (*host != '/') {
		printf("# TEST_CONNINFO is by TCP; the relay stands between unix sockets\n");
		skip();
	}
	struct relay *r = calloc(1, sizeof *r);
	snprintf(r->folder, sizeof r->folder, "/tmp/relay.XXXXXX");
	assert_non_null(mkdtemp(r->folder));
	r->here.sun_family = r->server.sun_family = AF_UNIX;
	snprintf(r->here.sun_path, sizeof r->here.sun_path, "%s/.s.PGSQL.%s", r->folder, port);
	snprintf(r->server.sun_path, sizeof r->server.sun_path, "%s/.s.PGSQL.%s", host, port);
	snprintf(r->conninfo, sizeof r->conninfo, "%s host=%s", conninfo, r->folder);
	r->shared = mmap(NULL, sizeof *r->shared, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int listener = listen_at(&r->here);
	r->pid = fork();
	if (r->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGPIPE, SIG_IGN);
		serve(r, listener);
	}
	close(listener);
	return r;
}

const char *relay_conninfo(const struct relay *r)
{
	return r->conninfo;
}

void relay_lose_answers(struct relay *r, int n)
{
	r->shared->n_to_lose = n;
}

int relay_n_lost(const struct relay *r)
{
	return r->shared->n_lost;
}

void relay_stop(struct relay *r)
{
	kill(r->pid, SIGKILL);
	waitpid(r->pid, NULL, 0);
	unlink(r->here.sun_path);
	rmdir(r->folder);
	munmap((void *)r->shared, sizeof *r->shared);
	free(r);
}
