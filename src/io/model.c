#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "model_endpoint.h"

#include <curl/curl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

/* libcurl's cost a transfer grows with the connections of a multi handle, so they are spread over several. */
enum { SHARD_CONNECTIONS = 128, IDLE_CONNECTIONS = 32 };
enum { EVENTS_A_WAKE = 256, KEPT_HEADER_BYTES = 2048, KEY_HEADER_BYTES = 2 << 20 };
/* Of libcurl's buffers, each transfer has its own. */
enum { RECEIVE_BYTES = 4096, UPLOAD_BYTES = 16384 };

struct shard {
	struct models *models;
	CURLM *multi;
	struct timer *timer;
	int n_open;
	bool due;     /* libcurl's timeout is over: it is to be told in this turn */
	bool stirred; /* libcurl did something: transfers may have ended */
};

/* A descriptor of libcurl's. A connection's socket stays in the epoll set between transfers, until libcurl closes it; its
 * resolver's come and go unannounced, so they leave the set with the interest in them. */
struct sock {
	struct shard *shard;
	bool lasting;
	uint32_t wanted, registered; /* EPOLLIN, EPOLLOUT */
};

/* An endpoint and the handles made for it: all options are set but credentials, body and time. */
struct route {
	const struct endpoint
		*endpoint; /* NULL: forgotten; the last transfer takes the route with it */
	int n_open;
	struct curl_slist *header; /* without the key */
	struct transfer *idle;
	struct route *next;
};

struct transfer {
	struct models *models;
	struct route *route;
	struct shard *shard;
	CURL *easy;
	struct transfer *next,
		**link; /* link: where the list of open ones points here; NULL: not open */
	struct buf request, key, headers, body;
	struct curl_slist key_header; /* before the route's */
	int n_sendings;		      /* how often libcurl was about to send the request */
	bool has_headers;	      /* of the final reply, all of them */
	int64_t begin_ms;
	model_done *done;
	void *owner;
	char why[CURL_ERROR_SIZE];
};

struct models {
	struct reactor *reactor;
	int epoll_fd; /* libcurl's descriptors: one watch of the loop for all of them */
	struct watch *watch;
	struct shard *shard;
	int n_shard;
	struct sock *sock; /* by descriptor */
	int n_sock;
	struct route *route;
	struct transfer *open;
};

/* --- routes --- */

static void add_header(struct route *r, const char *line)
{
	struct curl_slist *longer = curl_slist_append(r->header, line);
	if (!longer)
		BUG("out of memory: a header");
	r->header = longer;
}

static struct route *route_to(struct models *m, const struct endpoint *e)
{
	struct route *r = m->route;
	struct err err;

	while (r && r->endpoint != e)
		r = r->next;
	if (r)
		return r;
	if (endpoint_check(e, &err) != ST_OK)
		BUG("an endpoint that was not checked: %s", err.text);
	r = mem_new(struct route);
	r->endpoint = e;
	r->next = m->route;
	m->route = r;
	add_header(r, "Content-Type: application/json");
	add_header(r, "Expect:"); /* none: some servers let a large POST wait a second for it */
	for (const char *const *h = e->header; h && *h; h++)
		add_header(r, *h);
	return r;
}

/* --- what libcurl calls during a transfer --- */

/* Called before a request is sent; the second time libcurl wants to send it again in silence, because a kept connection
 * died before the reply. That may buy the answer twice. */
static int on_send(void *owner, char *remote_ip, char *local_ip, int remote_port, int local_port)
{
	struct transfer *t = owner;
	return t->n_sendings++ ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static bool name_is(struct str name, const char *c)
{
	return name.n == strlen(c) && strncasecmp(name.p, c, name.n) == 0;
}

static void read_header(struct transfer *t, struct str line)
{
	static const char *const kept[] = {"content-type",   "date",	     "retry-after",
					   "retry-after-ms", "x-request-id", "request-id"};
	int64_t colon = str_find(line, STR_OF(":"), 0);

	if (colon < 0 || !text_is_utf8(line)) /* it is kept as text */
		return;
	struct str name = str_sub(line, 0, (size_t)colon);
	struct str value = str_trim(str_sub(line, (size_t)colon + 1, line.n));
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		if (name_is(name, kept[i]))
			buf_printf(&t->headers, "%s: %.*s\n", kept[i], STR_ARG(value));
	}
}

static size_t on_header(char *p, size_t size, size_t n, void *owner)
{
	struct transfer *t = owner;
	struct str line = str_trim((struct str){p, size * n});
	long status = 0;

	if (t->has_headers)
		return size * n; /* a trailer of a chunked body */
	if (str_starts(line, "HTTP/")) {
		buf_clear(&t->headers);
	} else if (line.n > 0) {
		read_header(t, line);
	} else {
		curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
		t->has_headers = status >= 200;
	}
	return size * n;
}

static size_t on_body(char *p, size_t size, size_t n, void *owner)
{
	struct transfer *t = owner;

	buf_put(&t->body, p, size * n);
	return t->body.full ? 0 : size * n;
}

/* --- descriptors and time --- */

static struct sock *sock_at(struct models *m, int fd)
{
	if (fd >= m->n_sock) {
		int n = fd < 64 ? 64 : 2 * fd;
		m->sock = mem_must(realloc(m->sock, sizeof(*m->sock) * (size_t)n));
		memset(m->sock + m->n_sock, 0, sizeof(*m->sock) * (size_t)(n - m->n_sock));
		m->n_sock = n;
	}
	return &m->sock[fd];
}

static void sock_register(struct models *m, int fd, uint32_t events)
{
	struct sock *s = &m->sock[fd];
	struct epoll_event e = {.events = events, .data.fd = fd};
	int op = !events ? EPOLL_CTL_DEL : s->registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (events == s->registered)
		return;
	s->registered = events;
	if (epoll_ctl(m->epoll_fd, op, fd, &e) < 0)
		BUG("epoll_ctl of libcurl's socket %d: %m", fd);
}

static int on_interest(CURL *easy, curl_socket_t fd, int what, void *owner, void *unused)
{
	struct shard *shard = owner;
	struct sock *s = sock_at(shard->models, fd);

	s->shard = shard;
	s->wanted = what == CURL_POLL_REMOVE
			    ? 0
			    : (what & CURL_POLL_IN ? (uint32_t)EPOLLIN : 0) |
				      (what & CURL_POLL_OUT ? (uint32_t)EPOLLOUT : 0);
	if (s->wanted || !s->lasting)
		sock_register(shard->models, fd, s->wanted);
	return 0;
}

static curl_socket_t on_open(void *owner, curlsocktype purpose, struct curl_sockaddr *to)
{
	int fd = socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);

	if (fd < 0)
		return CURL_SOCKET_BAD;
	*sock_at(owner, fd) = (struct sock){.lasting = true};
	return fd;
}

static int on_close(void *owner, curl_socket_t fd)
{
	*sock_at(owner, fd) = (struct sock){0};
	return close(fd); /* leaves the epoll set by that */
}

static void on_events(void *owner, int watched)
{
	struct models *m = owner;
	struct epoll_event event[EVENTS_A_WAKE];
	int n = epoll_wait(m->epoll_fd, event, EVENTS_A_WAKE, 0), n_running;

	for (int i = 0; i < n; i++) {
		int fd = event[i].data.fd;
		uint32_t e = event[i].events;
		struct sock *s = &m->sock[fd];
		if (!s->wanted) { /* the peer closed an idle connection; libcurl sees it before it reuses it */
			if (s->registered)
				sock_register(m, fd, 0);
			continue;
		}
		if (e & (EPOLLERR | EPOLLHUP)) /* libcurl learns the error by reading */
			e |= EPOLLIN | EPOLLOUT;
		s->shard->stirred = true;
		curl_multi_socket_action(s->shard->multi, fd,
					 (e & EPOLLIN ? CURL_CSELECT_IN : 0) |
						 (e & EPOLLOUT ? CURL_CSELECT_OUT : 0),
					 &n_running);
	}
}

static void on_timeout(void *owner)
{
	struct shard *s = owner;
	s->due = true;
}

static int on_timer_change(CURLM *multi, long timeout_ms, void *owner)
{
	struct shard *s = owner;

	if (timeout_ms < 0) {
		timer_stop(s->timer);
	} else if (timeout_ms == 0) {
		s->due = true;
		reactor_again(s->models->reactor);
	} else {
		timer_start(s->timer, timeout_ms, 0);
	}
	return 0;
}

/* --- a transfer's life --- */

static struct transfer *transfer_new(struct models *m, struct route *r)
{
	struct transfer *t = mem_new(struct transfer);

	t->easy = mem_must(curl_easy_init());
	t->models = m;
	t->route = r;
	buf_init(&t->key, KEY_HEADER_BYTES);
	buf_init(&t->headers, KEPT_HEADER_BYTES);
	buf_init(&t->body, REPLY_BYTES_MAX);
	endpoint_apply(r->endpoint, t->easy);
	easy_must(curl_easy_setopt(t->easy, CURLOPT_PRIVATE, t));
	easy_must(curl_easy_setopt(t->easy, CURLOPT_ERRORBUFFER, t->why));
	easy_must(curl_easy_setopt(t->easy, CURLOPT_USERAGENT, "draftmill/" DRAFTMILL_VERSION));
	easy_must(curl_easy_setopt(t->easy, CURLOPT_POST, 1L));
	easy_must(curl_easy_setopt(t->easy, CURLOPT_PREREQFUNCTION, on_send));
	easy_must(curl_easy_setopt(t->easy, CURLOPT_PREREQDATA, t));
	easy_must(curl_easy_setopt(t->easy, CURLOPT_HEADERFUNCTION, on_header));
	easy_must(curl_easy_setopt(t->easy, CURLOPT_HEADERDATA, t));
	easy_must(curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, on_body));
	easy_must(curl_easy_setopt(t->easy, CURLOPT_WRITEDATA, t));
	easy_must(curl_easy_setopt(t->easy, CURLOPT_BUFFERSIZE, (long)RECEIVE_BYTES));
	easy_must(curl_easy_setopt(t->easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)UPLOAD_BYTES));
	easy_must(curl_easy_setopt(t->easy, CURLOPT_OPENSOCKETFUNCTION, on_open));
	easy_must(curl_easy_setopt(t->easy, CURLOPT_OPENSOCKETDATA, m));
	easy_must(curl_easy_setopt(t->easy, CURLOPT_CLOSESOCKETFUNCTION, on_close));
	easy_must(curl_easy_setopt(t->easy, CURLOPT_CLOSESOCKETDATA, m));
	return t;
}

static void transfer_free(struct transfer *t)
{
	curl_easy_cleanup(t->easy);
	buf_release(&t->request);
	buf_release(&t->headers);
	buf_release(&t->body);
	free(t);
}

/* The first with room: while few are in flight they share few connections. */
static struct shard *shard_for_one(struct models *m)
{
	struct shard *least = m->shard;

	for (struct shard *s = m->shard; s < m->shard + m->n_shard; s++) {
		if (s->n_open < SHARD_CONNECTIONS)
			return s;
		if (s->n_open < least->n_open)
			least = s;
	}
	return least;
}

/* The same handle may carry another key than before. */
static void set_credentials(struct transfer *t, const struct endpoint *e)
{
	struct curl_slist *header = t->route->header;

	if (e->key.p) {
		buf_printf(&t->key, "%s%.*s", e->key_header, STR_ARG(e->key));
		t->key_header = (struct curl_slist){.data = t->key.p, .next = header};
		header = &t->key_header;
	}
	easy_must(curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, header));
	endpoint_apply_login(e, t->easy);
}

struct transfer *model_post(struct models *m, const struct endpoint *e, struct buf *body,
			    int64_t timeout_ms, model_done *done, void *owner)
{
	struct route *r = route_to(m, e);
	struct transfer *t = r->idle;
	long limit_ms = timeout_ms < 1 ? 1 : timeout_ms > LONG_MAX ? LONG_MAX : (long)timeout_ms;

	if (t)
		r->idle = t->next;
	else
		t = transfer_new(m, r);
	t->request = *body;
	buf_init(body, body->max);
	t->n_sendings = 0;
	t->has_headers = false;
	t->why[0] = '\0';
	t->begin_ms = clock_mono_ms();
	t->done = done;
	t->owner = owner;
	set_credentials(t, e);
	easy_must(curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, buf_view(&t->request).p));
	easy_must(curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->request.n));
	easy_must(curl_easy_setopt(t->easy, CURLOPT_TIMEOUT_MS, limit_ms));

	t->next = m->open;
	t->link = &m->open;
	if (t->next)
		t->next->link = &t->next;
	m->open = t;
	t->shard = shard_for_one(m);
	t->shard->n_open++;
	r->n_open++;
	CURLMcode rc = curl_multi_add_handle(t->shard->multi, t->easy);
	if (rc != CURLM_OK)
		BUG("curl_multi_add_handle: %s", curl_multi_strerror(rc));
	return t;
}

/* Takes @t out of libcurl's hands and off the open ones. */
static void leave(struct transfer *t)
{
	curl_multi_remove_handle(t->shard->multi, t->easy);
	t->shard->n_open--;
	*t->link = t->next;
	if (t->next)
		t->next->link = t->link;
	t->link = NULL;
	if (t->key.p)
		explicit_bzero(t->key.p, t->key.n);
	buf_release(&t->key);
	buf_release(&t->request);
}

/* With its idle handles; of the forgotten. */
static void drop_route(struct models *m, struct route *r)
{
	struct route **link = &m->route;

	while (*link != r)
		link = &(*link)->next;
	*link = r->next;
	for (struct transfer *t; (t = r->idle);) {
		r->idle = t->next;
		transfer_free(t);
	}
	curl_slist_free_all(r->header);
	free(r);
}

static void rest(struct transfer *t)
{
	struct route *r = t->route;

	buf_release(&t->headers);
	buf_release(&t->body);
	t->next = r->idle;
	r->idle = t;
	if (--r->n_open == 0 && !r->endpoint)
		drop_route(t->models, r);
}

void model_forget(struct models *m, const struct endpoint *e)
{
	struct route *r = m->route;

	while (r && r->endpoint != e)
		r = r->next;
	if (!r)
		return;
	r->endpoint = NULL;
	if (r->n_open == 0)
		drop_route(m, r);
}

void model_drop(struct transfer *t)
{
	if (!t || !t->link) /* none, or within its own callback */
		return;
	leave(t);
	rest(t);
}

static void deliver(struct transfer *t, CURLcode rc)
{
	struct http_reply reply = {0};
	enum sent sent = SENT_WHOLE;
	const char *why = t->why;
	long status = 0;

	if (!t->has_headers)
		sent = endpoint_sent(t->route->endpoint, t->easy, t->n_sendings > 0, t->why);
	if (!t->why[0] && rc != CURLE_OK)
		why = curl_easy_strerror(rc);
	if (sent == SENT_WHOLE) {
		curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
		reply.status = (int)status;
		reply.headers = buf_view(&t->headers);
		reply.body = buf_view(&t->body);
		reply.whole = rc == CURLE_OK;
	}
	leave(t);
	t->done(t->owner, sent, &reply, clock_mono_ms() - t->begin_ms, why);
	rest(t);
}

static void on_turn(void *owner)
{
	struct models *m = owner;
	int n;

	for (struct shard *s = m->shard; s < m->shard + m->n_shard; s++) {
		if (s->due) {
			s->due = false;
			s->stirred = true;
			curl_multi_socket_action(s->multi, CURL_SOCKET_TIMEOUT, 0, &n);
		}
		if (!s->stirred)
			continue;
		s->stirred = false;
		for (CURLMsg *msg; (msg = curl_multi_info_read(s->multi, &n));) {
			struct transfer *t = NULL;
			curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&t);
			deliver(t, msg->data.result);
			reactor_again(m->reactor); /* turns before this one have work by that */
		}
	}
}

/* --- all of them --- */

static void shard_open(struct models *m, struct shard *s)
{
	s->models = m;
	s->timer = timer_new(m->reactor, on_timeout, s);
	s->multi = curl_multi_init();
	if (!s->multi)
		BUG("out of memory: a multi handle");
	curl_multi_setopt(s->multi, CURLMOPT_MAXCONNECTS,
			  (long)SHARD_CONNECTIONS + IDLE_CONNECTIONS);
	curl_multi_setopt(s->multi, CURLMOPT_SOCKETFUNCTION, on_interest);
	curl_multi_setopt(s->multi, CURLMOPT_SOCKETDATA, s);
	curl_multi_setopt(s->multi, CURLMOPT_TIMERFUNCTION, on_timer_change);
	curl_multi_setopt(s->multi, CURLMOPT_TIMERDATA, s);
}

/* A connection a call: the usual soft limit of 1,024 is less than the jobs in flight. */
static void raise_descriptors(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

struct models *models_open(struct reactor *r, int n_connections)
{
	struct models *m = calloc(1, sizeof(*m));

	if (!m || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		BUG("libcurl cannot start");
	raise_descriptors();
	m->reactor = r;
	m->n_shard = (n_connections + SHARD_CONNECTIONS - 1) / SHARD_CONNECTIONS;
	m->shard = calloc((size_t)m->n_shard, sizeof(*m->shard));
	m->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!m->shard || m->epoll_fd < 0)
		BUG("models_open: %m");
	for (int i = 0; i < m->n_shard; i++)
		shard_open(m, &m->shard[i]);
	m->watch = watch_new(r, m->epoll_fd, on_events, m);
	watch_set(m->watch, WATCH_READ);
	reactor_turn(r, on_turn, m);
	return m;
}

void models_free(struct models *m)
{
	if (!m)
		return;
	reactor_turn_end(m->reactor, m);
	while (m->open)
		model_drop(m->open);
	while (m->route)
		drop_route(m, m->route);
	for (int i = 0; i < m->n_shard; i++) {
		curl_multi_cleanup(m->shard[i].multi);
		timer_close(m->shard[i].timer);
	}
	watch_close(m->watch);
	close(m->epoll_fd);
	curl_global_cleanup();
	free(m->shard);
	free(m->sock);
	free(m);
}

void model_library(struct buf *out)
{
	buf_puts(out, curl_version());
}
