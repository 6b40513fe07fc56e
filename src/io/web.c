#include "io/web.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <sys/queue.h>
#include <unistd.h>

enum {
	CONNECTIONS_MAX = 32,
	SILENCE_S = 10,
	LIFE_MS = 20000,
	REQUEST_BYTES_MAX = 8 << 10,
	ANSWER_BYTES_MAX = 4 << 20,
};

struct client { /* a connection */
	TAILQ_ENTRY(client) link;
	int fd;
	int64_t until_mono_ms;
};

struct web {
	struct MHD_Daemon *daemon;
	struct watch *watch;	      /* of its epoll, which has all its sockets */
	struct timer *timer;	      /* of its own time limits */
	TAILQ_HEAD(, client) clients; /* the oldest first */
	web_fn *answer;
	void *owner;
};

/* ---- the address ---- */

static bool read_address(struct str listen, struct addrinfo **out)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				       .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
	const char *colon = memrchr(listen.p, ':', listen.n);
	struct str host = str_sub(listen, 0, colon ? (size_t)(colon - listen.p) : 0);
	char ip[64];
	int64_t port;

	if (!colon || !str_to_int(str_c(colon + 1), 0, 65535, &port))
		return false;
	if (str_starts(host, "[") && host.p[host.n - 1] == ']')
		host = str_sub(host, 1, host.n - 2);
	else if (memchr(host.p, ':', host.n)) /* where does it end? */
		return false;
	if (host.n == 0 || host.n >= sizeof(ip))
		return false;
	memcpy(ip, host.p, host.n);
	ip[host.n] = '\0';
	return getaddrinfo(ip, colon + 1, &hints, out) == 0;
}

static enum status parse(const char *listen, struct addrinfo **out, struct err *err)
{
	if (read_address(str_c(listen), out))
		return ST_OK;
	return err_set(err, ST_INVALID,
		       "\"%s\" is no address; give IP:PORT, as 127.0.0.1:9464 or [::1]:9464",
		       listen);
}

enum status web_check(const char *listen, struct err *err)
{
	struct addrinfo *address = NULL;
	enum status status = parse(listen, &address, err);

	if (address)
		freeaddrinfo(address);
	return status;
}

/* -1: errno says why. */
static int listen_at(const struct addrinfo *a)
{
	const int fd =
		socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
	const int yes = 1;
	int why;

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
	    bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, CONNECTIONS_MAX) == 0)
		return fd;
	why = errno;
	close(fd);
	errno = why;
	return -1;
}

static void log_address(int fd)
{
	struct sockaddr_storage own;
	socklen_t n = sizeof(own);
	char host[NI_MAXHOST], port[NI_MAXSERV];

	if (getsockname(fd, (struct sockaddr *)&own, &n) == 0 &&
	    getnameinfo((struct sockaddr *)&own, n, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV) == 0)
		log_info("web_listening", L_STR("ip", host), L_INT("port", atoi(port)));
}

/* ---- requests ---- */

/* One connection, one answer: who wants another comes again, and those who wait for a connection get theirs. */
static enum MHD_Result on_request(void *owner, struct MHD_Connection *c, const char *path,
				  const char *method, const char *version, const char *upload,
				  size_t *n_upload, void **state)
{
	struct web *w = owner;
	struct buf body = BUF(ANSWER_BYTES_MAX);
	unsigned int status = MHD_HTTP_METHOD_NOT_ALLOWED;
	struct MHD_Response *r;
	enum MHD_Result result;

	if (strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0)
		status = (unsigned int)w->answer(w->owner, path, &body);
	else
		buf_puts(&body, "GET or HEAD\n");
	r = mem_must(MHD_create_response_from_buffer(body.n, (void *)buf_view(&body).p,
						     MHD_RESPMEM_MUST_COPY));
	buf_release(&body);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE,
				"text/plain; version=0.0.4; charset=utf-8");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return result;
}

static void on_connection(void *owner, struct MHD_Connection *c, void **socket_context,
			  enum MHD_ConnectionNotificationCode what)
{
	struct web *w = owner;
	struct client *client = *socket_context;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		*socket_context = client = mem_new(struct client);
		client->fd =
			MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
		client->until_mono_ms = clock_mono_ms() + LIFE_MS;
		TAILQ_INSERT_TAIL(&w->clients, client, link);
	} else {
		TAILQ_REMOVE(&w->clients, client, link);
		free(client);
	}
}

/* One that says a byte now and then is never silent for long. MHD takes a shut socket for the client's own end. */
static void end_old(struct web *w)
{
	const int64_t now = clock_mono_ms();
	const struct client *client;

	TAILQ_FOREACH(client, &w->clients, link)
	{
		if (client->until_mono_ms > now)
			break;
		shutdown(client->fd, SHUT_RDWR);
	}
}

static unsigned int n_connections(const struct web *w)
{
	return MHD_get_daemon_info(w->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)->num_connections;
}

/* A daemon that was full listens again only in the run after the one in which a place came free. */
static void serve(void *owner)
{
	struct web *w = owner;
	MHD_UNSIGNED_LONG_LONG ms;
	unsigned int n;

	end_old(w);
	do {
		n = n_connections(w);
		MHD_run(w->daemon);
	} while (n_connections(w) < n);
	if (MHD_get_timeout(w->daemon, &ms) == MHD_YES)
		timer_start(w->timer, (int64_t)ms, 0);
	else
		timer_stop(w->timer);
}

static void on_ready(void *owner, int events)
{
	serve(owner);
}

/* ---- the server ---- */

/* Takes @fd. NULL: no descriptor or memory is left for it. */
static struct MHD_Daemon *start(struct web *w, int fd)
{
	return MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, w,
				MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_CONNECTION,
				on_connection, w, MHD_OPTION_CONNECTION_LIMIT,
				(unsigned int)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
				(unsigned int)SILENCE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				(size_t)REQUEST_BYTES_MAX, MHD_OPTION_END);
}

enum status web_open(struct reactor *reactor, const char *listen, web_fn *answer, void *owner,
		     struct web **out, struct err *err)
{
	struct addrinfo *address = NULL;
	struct web *w;
	int fd;

	if (parse(listen, &address, err) != ST_OK)
		return ST_INVALID;
	fd = listen_at(address);
	freeaddrinfo(address);
	if (fd < 0)
		return err_set(err, ST_DOWN, "%s: %s", listen, strerror(errno));
	w = mem_new(struct web);
	w->answer = answer;
	w->owner = owner;
	TAILQ_INIT(&w->clients);
	w->daemon = start(w, fd);
	if (!w->daemon) {
		free(w);
		return err_set(err, ST_DOWN, "%s: libmicrohttpd does not start", listen);
	}
	log_address(fd);
	w->timer = timer_new(reactor, serve, w);
	w->watch = watch_new(reactor,
			     MHD_get_daemon_info(w->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
			     on_ready, w);
	watch_set(w->watch, WATCH_READ);
	*out = w;
	return ST_OK;
}

void web_free(struct web *w)
{
	if (!w)
		return;
	watch_close(w->watch);
	timer_close(w->timer);
	MHD_stop_daemon(w->daemon);
	free(w);
}

void web_library(struct buf *out)
{
	buf_printf(out, "libmicrohttpd %s", MHD_get_version());
}
