/*
 * tests/unit/fake_http.h - a server that answers with given bytes, in a thread, one connection at a time.
 */
#ifndef FAKE_HTTP_H
#define FAKE_HTTP_H

#include <pthread.h>
#include <stddef.h>

enum fake_then { KEEP, CLOSE, HANG, DEAF }; /* DEAF: closes before it reads a request */

struct fake_act { /* for one request, in order */
	const char *reply;
	size_t n_reply;
	enum fake_then then;
};
#define SAY(text) (text), sizeof(text) - 1

struct fake_http {
	int fd, port;
	pthread_t thread;
	const struct fake_act *act; /* NULL: not started */
	size_t n_act;
	int n_requests, n_connections;
	char request[2 << 20]; /* the last one, NUL-terminated */
};

int fake_http_listen(int backlog, int *port); /* on loopback */
void fake_http_start(struct fake_http *, const struct fake_act *, size_t n_act);
void fake_http_end(struct fake_http *); /* after its clients have gone */

#endif
