/*
 * model_http.h - the HTTP/1.1 side of model_sim over libuv: requests with Content-Length in, answers out, keep-alive. One
 * request of a connection is answered at a time. Included by model_sim.c only, which defines handle() and on_whole().
 */
#ifndef MODEL_HTTP_H
#define MODEL_HTTP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <uv.h>

#define MAX_HEAD_BYTES 65536
#define MAX_BODY_BYTES (16 << 20)

/* How an answer goes out: as it should, half of its body and then the end, no byte of it, or not even the end. */
enum delivery { WHOLE, HALF, CLOSED, SILENT };

struct client {
	uv_tcp_t tcp;
	uv_timer_t timer;
	uv_write_t write;
	int n_handles;	       /* that uv has not closed yet */
	bool answering, ended; /* a request is being answered; closing or closed */
	bool keep_alive;
	char *in; /* what came, NUL-terminated; the request being answered is taken off it */
	size_t n_in, room;
	char *head; /* request line and header lines of the request being answered */
	char *out;  /* its answer */
	size_t n_out;
	enum delivery delivery;
	void *note; /* of the program, for on_whole(); freed by free_note() */
};

static struct {
	long n_connections, n_open, n_in_flight, max_in_flight, n_abandoned;
	long by_status[600];
} http_stats;

/* Answers a request, now or later, by client_prepare() and then client_send() or client_send_after(). */
static void handle(struct client *c, const char *method, const char *path, const char *body);
/* Called just before an answer goes out WHOLE. */
static void on_whole(struct client *c);
static void free_note(void *note);
static void take_request(struct client *c);

__attribute__((format(printf, 1, 2))) static char *format(const char *pattern, ...)
{
	va_list args;
	char *text;

	va_start(args, pattern);
	if (vasprintf(&text, pattern, args) < 0)
		abort();
	va_end(args);
	return text;
}

/* --- the end of a connection --- */

static void on_closed(uv_handle_t *handle)
{
	struct client *c = handle->data;

	if (--c->n_handles)
		return;
	free(c->in);
	free(c->head);
	free(c->out);
	free_note(c->note);
	free(c);
}

static void client_close(struct client *c)
{
	if (c->ended)
		return;
	c->ended = true;
	http_stats.n_open--;
	http_stats.n_in_flight -= c->answering;
	uv_close((uv_handle_t *)&c->tcp, on_closed);
	uv_close((uv_handle_t *)&c->timer, on_closed);
}

/* --- answers --- */

static void on_written(uv_write_t *write, int status)
{
	struct client *c = write->data;

	free(c->out);
	c->out = NULL;
	if (c->ended)
		return;
	c->answering = false;
	http_stats.n_in_flight--;
	if (status < 0 || !c->keep_alive)
		client_close(c);
	else
		take_request(c);
}

/* @extra is further header lines, each with its CRLF. */
static void client_prepare(struct client *c, int status, const char *extra, const char *body)
{
	http_stats.by_status[status]++;
	c->out = format("HTTP/1.1 %d -\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s%s\r\n%s",
			status, *body == '<' ? "text/html" : "application/json", strlen(body),
			extra, c->keep_alive ? "" : "Connection: close\r\n", body);
	c->n_out = strlen(c->out);
}

static void client_send(struct client *c)
{
	uv_buf_t buf;

	if (c->delivery == SILENT)
		return;
	if (c->delivery == CLOSED) {
		client_close(c);
		return;
	}
	if (c->delivery == WHOLE) {
		on_whole(c);
	} else {
		c->n_out -= strlen(strstr(c->out, "\r\n\r\n") + 4) / 2;
		c->keep_alive = false;
	}
	buf = uv_buf_init(c->out, (unsigned)c->n_out);
	if (uv_write(&c->write, (uv_stream_t *)&c->tcp, &buf, 1, on_written))
		client_close(c);
}

static void on_due(uv_timer_t *timer)
{
	client_send(timer->data);
}

static void client_send_after(struct client *c, uint64_t ms)
{
	uv_timer_start(&c->timer, on_due, ms, 0);
}

static void client_answer(struct client *c, int status, const char *body)
{
	client_prepare(c, status, "", body);
	client_send(c);
}

/* --- requests --- */

/* The value of a header line, or NULL. The caller frees it. */
static char *header(const char *head, const char *name)
{
	size_t n_name = strlen(name);

	for (const char *line = strstr(head, "\r\n"); line; line = strstr(line, "\r\n")) {
		line += 2;
		if (!strncasecmp(line, name, n_name) && line[n_name] == ':') {
			line += n_name + 1;
			line += strspn(line, " \t");
			return strndup(line, strcspn(line, "\r\n"));
		}
	}
	return NULL;
}

static bool header_is(const char *head, const char *name, const char *value)
{
	char *found = header(head, name);
	bool is = found && !strcasecmp(found, value);

	free(found);
	return is;
}

static void begin_answering(struct client *c)
{
	c->answering = true;
	c->delivery = WHOLE;
	c->keep_alive = !header_is(c->head, "Connection", "close");
	if (++http_stats.n_in_flight > http_stats.max_in_flight)
		http_stats.max_in_flight = http_stats.n_in_flight;
}

/* Hands over the next request when it is there whole. */
static void take_request(struct client *c)
{
	char *end = c->n_in ? strstr(c->in, "\r\n\r\n") : NULL, *length, *body, *method, *path,
	     *rest = NULL;
	size_t n_head = end ? (size_t)(end - c->in) + 4 : 0, n_body;

	if (!end) {
		if (c->n_in > MAX_HEAD_BYTES)
			client_close(c);
		return;
	}
	free(c->head);
	c->head = strndup(c->in, n_head);
	length = header(c->head, "Content-Length");
	n_body = length ? strtoul(length, NULL, 10) : 0;
	free(length);
	if (c->n_in < n_head + n_body && n_body <= MAX_BODY_BYTES) {
		if (c->n_in == n_head && header_is(c->head, "Expect", "100-continue")) {
			uv_buf_t buf = uv_buf_init(
				(char *)(uintptr_t) "HTTP/1.1 100 Continue\r\n\r\n", 25);

			uv_try_write((uv_stream_t *)&c->tcp, &buf, 1);
		}
		return;
	}
	begin_answering(c);
	if (n_body > MAX_BODY_BYTES || header_is(c->head, "Transfer-Encoding", "chunked")) {
		c->keep_alive = false;
		client_answer(c, n_body ? 413 : 411, "<html><body>Request refused</body></html>");
		return;
	}
	body = strndup(c->in + n_head, n_body);
	c->n_in -= n_head + n_body;
	memmove(c->in, c->in + n_head + n_body, c->n_in + 1);
	char *request_line = strndup(c->head, strcspn(c->head, "\r\n"));
	method = strtok_r(request_line, " ", &rest);
	path = strtok_r(NULL, " ?", &rest);
	handle(c, method ? method : "", path ? path : "", body);
	free(request_line);
	free(body);
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct client *c = handle->data;

	if (c->room - c->n_in < 4096) {
		c->room = c->room * 2 + 8192;
		c->in = realloc(c->in, c->room);
	}
	*buf = uv_buf_init(c->in + c->n_in, (unsigned)(c->room - c->n_in - 1));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct client *c = stream->data;

	if (n < 0 || c->n_in > MAX_HEAD_BYTES + MAX_BODY_BYTES) {
		http_stats.n_abandoned += c->answering && !c->ended;
		client_close(c);
		return;
	}
	c->n_in += (size_t)n;
	c->in[c->n_in] = '\0';
	if (!c->answering)
		take_request(c);
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct client *c = calloc(1, sizeof *c);

	uv_tcp_init(listener->loop, &c->tcp);
	uv_timer_init(listener->loop, &c->timer);
	c->tcp.data = c->timer.data = c->write.data = c;
	c->n_handles = 2;
	http_stats.n_connections++;
	http_stats.n_open++;
	if (uv_accept(listener, (uv_stream_t *)&c->tcp)) {
		client_close(c);
		return;
	}
	uv_tcp_nodelay(&c->tcp, 1);
	uv_read_start((uv_stream_t *)&c->tcp, on_room, on_read);
}

/* Listens on 127.0.0.1; the port it got, or minus an errno. */
static int http_listen(uv_tcp_t *listener, int port)
{
	struct sockaddr_in address;
	int n = sizeof address, rc;

	uv_ip4_addr("127.0.0.1", port, &address);
	rc = uv_tcp_bind(listener, (const struct sockaddr *)&address, 0);
	if (!rc)
		rc = uv_listen((uv_stream_t *)listener, 4096, on_connection);
	if (!rc)
		rc = uv_tcp_getsockname(listener, (struct sockaddr *)&address, &n);
	return rc ? rc : ntohs(address.sin_port);
}

#endif
