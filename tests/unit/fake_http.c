#include "fake_http.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* False: the client has gone. */
static bool read_request(struct fake_http *s, int fd)
{
	size_t n = 0, whole = 0;

	while (!whole || n < whole) {
		ssize_t got = read(fd, s->request + n, sizeof(s->request) - 1 - n);
		if (got <= 0)
			return false;
		n += (size_t)got;
		s->request[n] = '\0';
		char *end = strstr(s->request, "\r\n\r\n");
		char *length = strstr(s->request, "Content-Length: ");
		if (!whole && end)
			whole = (size_t)(end + 4 - s->request) +
				(length ? (size_t)atol(length + 16) : 0);
	}
	s->n_requests++;
	return true;
}

static void serve(struct fake_http *s, int fd)
{
	char c;

	if (s->n_act > 0 && s->act->then == DEAF) {
		s->act++;
		s->n_act--;
		return;
	}
	while (s->n_act > 0 && read_request(s, fd)) {
		struct fake_act a = *s->act++;
		s->n_act--;
		while (a.n_reply > 0) {
			ssize_t n = send(fd, a.reply, a.n_reply, MSG_NOSIGNAL);
			if (n <= 0)
				return;
			a.reply += n;
			a.n_reply -= (size_t)n;
		}
		if (a.then == CLOSE)
			return;
		while (a.then == HANG && read(fd, &c, 1) > 0)
			;
	}
}

static void *server_main(void *arg)
{
	struct fake_http *s = arg;

	for (int fd; (fd = accept(s->fd, NULL, NULL)) >= 0;) {
		s->n_connections++;
		serve(s, fd);
		close(fd);
	}
	return NULL;
}

int fake_http_listen(int backlog, int *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, n), 0);
	assert_int_equal(listen(fd, backlog), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	*port = ntohs(a.sin_port);
	return fd;
}

void fake_http_start(struct fake_http *s, const struct fake_act *act, size_t n_act)
{
	s->act = act;
	s->n_act = n_act;
	assert_int_equal(pthread_create(&s->thread, NULL, server_main, s), 0);
}

void fake_http_end(struct fake_http *s)
{
	shutdown(s->fd, SHUT_RDWR);
	if (s->act)
		pthread_join(s->thread, NULL);
	close(s->fd);
}
