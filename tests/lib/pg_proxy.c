/*
 * pg_proxy - stands between a worker and PostgreSQL and strikes at an exact point of their talk.
 *
 *   pg_proxy --upstream 127.0.0.1:PORT | --upstream /SOCKET/FOLDER:PORT  [--app PREFIX]
 *
 * Listens on a free port of 127.0.0.1 and prints {"port":N}. It reads the frames of protocol version 3 and counts the Sync
 * messages of connections whose application_name begins with PREFIX (without --app: of all). Commands are JSON lines on
 * standard input, answers JSON lines on standard output:
 *
 *   {"arm":"kill","edge":"after_sync","n":3,"pid":4711}   fires once, at the third Sync from now: {"fired":"kill","edge":..,"sync":3}
 *   {"arm":"cut","edge":"before_answer","n":1}            closes the connection instead
 *   {"arm":"hold","edge":"before_sync","n":1,"ms":2000}   forwards nothing either way for so long, then goes on
 *   {"arm":"none"}                                        disarms; each arming replaces the one before
 *   {"count":true}                                        {"syncs":N} since the start
 *
 * Edges: before_sync (the server does not get it), after_sync (the server has it, the worker no byte of its answer that came
 * later), before_answer (the server has answered ReadyForQuery, the worker does not get that), after_answer (it has it).
 * After a kill or cut the server's side is shut down in order, so that it acts on all that was forwarded and no more.
 * Messages before the Sync were forwarded as they came, so a COMMIT that has a message of its own before it is done.
 * Ends on SIGTERM, SIGINT or the death of its parent.
 */
#include <json-c/json.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <uv.h>

enum { VERSION_3 = 196608, SSL_REQUEST = 80877103, GSS_REQUEST = 80877104 };

enum edge { BEFORE_SYNC, AFTER_SYNC, BEFORE_ANSWER, AFTER_ANSWER, N_EDGES };
enum strike { NONE, KILL, CUT, HOLD, N_STRIKES };

static const char *const edge_names[N_EDGES] = {"before_sync", "after_sync", "before_answer",
						"after_answer"};
static const char *const strike_names[N_STRIKES] = {"none", "kill", "cut", "hold"};

/* One of the two ends of a connection, and what came from it that the other has not got yet. */
struct end {
	union {
		uv_handle_t handle;
		uv_stream_t stream;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	} io;
	struct pair *pair;
	struct end *other;
	char *bytes;
	size_t n, room;
	bool looked_at; /* its first waiting message has been counted already */
	bool eof, closed;
};

struct pair {
	struct end client, server;
	uv_timer_t timer;
	uv_connect_t connect;
	int n_handles;
	bool connected, started; /* to the server; the client's startup message has passed */
	bool watched;		 /* its Syncs count */
	bool held;		 /* nothing is forwarded now */
	/* Messages that end in a ReadyForQuery, and those that came; -1 before that of the greeting. */
	long n_asked, n_answered;
};

struct write {
	uv_write_t req;
	struct pair *pair;
	bool then_fire;
	char bytes[];
};

static struct {
	enum strike strike;
	enum edge edge;
	long n, pid, ms;
	long n_syncs;	   /* since the arming */
	struct pair *pair; /* whose Sync was the n-th */
	long asked;	   /* its number there */
} armed;

static struct {
	const char *host, *app;
	int port;
	long n_syncs;
} proxy = {.app = ""};

static void pump(struct end *from);

static struct end *end_of(uv_handle_t *handle)
{
	struct pair *p = handle->data;

	return handle == &p->client.io.handle ? &p->client : &p->server;
}

/* --- the end of a connection --- */

static void on_closed(uv_handle_t *handle)
{
	struct pair *p = handle->data;

	if (--p->n_handles)
		return;
	free(p->client.bytes);
	free(p->server.bytes);
	free(p);
}

static void end_close(struct end *e)
{
	if (!e->closed)
		uv_close(&e->io.handle, on_closed);
	e->closed = true;
}

static void pair_close(struct pair *p)
{
	if (armed.pair == p)
		armed.pair = NULL;
	end_close(&p->client);
	end_close(&p->server);
	if (!uv_is_closing((uv_handle_t *)&p->timer))
		uv_close((uv_handle_t *)&p->timer, on_closed);
}

static void on_shut(uv_shutdown_t *req, int status)
{
	struct end *e = end_of((uv_handle_t *)req->handle);

	free(req);
	if (e == &e->pair->client)
		pair_close(e->pair); /* the server had ended before */
}

/* After all that was written, @e is told that no more comes. */
static void end_shut(struct end *e)
{
	uv_shutdown_t *req = malloc(sizeof *req);

	if (e->closed || uv_shutdown(req, &e->io.stream, on_shut)) {
		free(req);
		pair_close(e->pair);
	}
}

/* --- striking --- */

static void on_hold_over(uv_timer_t *timer)
{
	struct pair *p = timer->data;

	p->held = false;
	pump(&p->client);
	pump(&p->server);
}

static void fire(struct pair *p)
{
	enum strike strike = armed.strike;

	if (strike == KILL)
		kill((pid_t)armed.pid, SIGKILL);
	printf("{\"fired\":\"%s\",\"edge\":\"%s\",\"sync\":%ld}\n", strike_names[strike],
	       edge_names[armed.edge], armed.n);
	fflush(stdout);
	armed.strike = NONE;
	armed.pair = NULL;
	if (strike == HOLD) {
		uv_timer_start(&p->timer, on_hold_over, (uint64_t)armed.ms, 0);
		return;
	}
	end_close(&p->client);
	end_shut(&p->server);
}

/* Whether the armed strike falls at this edge of the message that @p now forwards. */
static bool strikes_at(const struct pair *p, enum edge edge)
{
	if (armed.strike == NONE || armed.edge != edge || armed.pair != p)
		return false;
	return edge == BEFORE_SYNC || edge == AFTER_SYNC ? armed.asked == p->n_asked
							 : armed.asked == p->n_answered;
}

static void count_sync(struct pair *p)
{
	if (!p->watched)
		return;
	proxy.n_syncs++;
	if (armed.strike != NONE && ++armed.n_syncs == armed.n) {
		armed.pair = p;
		armed.asked = p->n_asked;
	}
}

/* --- forwarding --- */

static void on_written(uv_write_t *req, int status)
{
	struct write *w = (struct write *)req;

	if (w->then_fire && !w->pair->client.closed)
		fire(w->pair);
	free(w);
}

static void drop(struct end *from, size_t n)
{
	from->n -= n;
	memmove(from->bytes, from->bytes + n, from->n);
}

/* Gives the first @n waiting bytes to the other end, and fires when they are out if told so. */
static void forward(struct end *from, size_t n, bool then_fire)
{
	struct write *w;
	uv_buf_t buf;

	if (n == 0)
		return;
	if (!from->other->closed) {
		w = malloc(sizeof *w + n);
		w->pair = from->pair;
		w->then_fire = then_fire;
		memcpy(w->bytes, from->bytes, n);
		buf = uv_buf_init(w->bytes, (unsigned)n);
		if (uv_write(&w->req, &from->other->io.stream, &buf, 1, on_written))
			free(w);
	}
	drop(from, n);
}

static uint32_t read_u32(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;

	return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

/* The length of the whole message at @at, or 0 while it is not all there. */
static size_t message_bytes(const struct end *from, size_t at)
{
	bool typed = from == &from->pair->server || from->pair->started;
	size_t n;

	if (from->n < at + typed + 4)
		return 0;
	n = typed + (size_t)read_u32(from->bytes + at + typed);
	return from->n < at + n ? 0 : n;
}

/* Reads the client's first messages; true when they go on to the server. */
static bool take_startup(struct pair *p, const char *message, size_t n)
{
	uint32_t code = n >= 8 ? read_u32(message + 4) : 0;
	uv_buf_t no = uv_buf_init((char[]){'N'}, 1);

	if (code == SSL_REQUEST || code == GSS_REQUEST) {
		uv_try_write(&p->client.io.stream, &no, 1);
		return false;
	}
	p->watched = code == VERSION_3 && !*proxy.app;
	for (const char *name = message + 8, *last = message + n - 1;
	     code == VERSION_3 && name < last && *name;) {
		const char *value = name + strlen(name) + 1;

		if (!strcmp(name, "application_name") &&
		    !strncmp(value, proxy.app, strlen(proxy.app)))
			p->watched = true;
		name = value + strlen(value) + 1;
	}
	p->started = code == VERSION_3;
	return true;
}

/* Counts a message that is about to be forwarded; true when it is one at which a strike can fall. */
static bool look_at(struct end *from, char type)
{
	struct pair *p = from->pair;
	bool is_new = !from->looked_at;

	from->looked_at = true;
	if (from == &p->server) {
		p->n_answered += is_new && type == 'Z';
		return type == 'Z';
	}
	p->n_asked += is_new && (type == 'S' || type == 'Q' || type == 'F');
	if (is_new && type == 'S')
		count_sync(p);
	return type == 'S';
}

/* Forwards the whole messages that wait, up to a strike. */
static void pump_messages(struct end *from)
{
	struct pair *p = from->pair;
	enum edge before = from == &p->client ? BEFORE_SYNC : BEFORE_ANSWER, after = before + 1;
	size_t ready = 0, n;

	while (!p->held && (n = message_bytes(from, ready))) {
		if (from == &p->client && !p->started) {
			if (take_startup(p, from->bytes + ready, n))
				ready += n;
			else
				drop(from, n); /* it can only be the first */
			continue;
		}
		bool may_strike = look_at(from, from->bytes[ready]);
		if (may_strike && strikes_at(p, before)) {
			p->held = true;
			forward(from, ready, false);
			fire(p);
			return;
		}
		from->looked_at = false;
		ready += n;
		if (may_strike && strikes_at(p, after)) {
			p->held = true;
			forward(from, ready, true);
			return;
		}
	}
	forward(from, ready, false);
}

static void pump(struct end *from)
{
	struct pair *p = from->pair;

	if (!p->connected)
		return;
	if (p->client.closed)
		from->n = 0; /* what the server still says, nobody hears */
	else
		pump_messages(from);
	if (!from->eof || (p->held && !p->client.closed))
		return;
	if (from == &p->client)
		end_shut(&p->server);
	else
		end_shut(&p->client);
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct end *e = end_of(handle);

	if (e->room - e->n < 65536) {
		e->room = e->room * 2 + 65536;
		e->bytes = realloc(e->bytes, e->room);
	}
	*buf = uv_buf_init(e->bytes + e->n, (unsigned)(e->room - e->n));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct end *e = end_of((uv_handle_t *)stream);

	if (n < 0) {
		e->eof = true;
		uv_read_stop(stream);
	} else {
		e->n += (size_t)n;
	}
	pump(e);
}

/* --- the beginning of a connection --- */

static void on_connected(uv_connect_t *req, int status)
{
	struct pair *p = req->data;

	if (status || p->client.closed) {
		pair_close(p);
		return;
	}
	p->connected = true;
	uv_read_start(&p->server.io.stream, on_room, on_read);
	pump(&p->client);
}

static int connect_upstream(struct pair *p, uv_loop_t *loop)
{
	struct sockaddr_in address;
	char path[108];

	if (*proxy.host == '/') {
		snprintf(path, sizeof path, "%s/.s.PGSQL.%d", proxy.host, proxy.port);
		uv_pipe_init(loop, &p->server.io.pipe, 0);
		uv_pipe_connect(&p->connect, &p->server.io.pipe, path, on_connected);
		return 0;
	}
	uv_tcp_init(loop, &p->server.io.tcp);
	uv_tcp_nodelay(&p->server.io.tcp, 1);
	if (uv_ip4_addr(proxy.host, proxy.port, &address))
		return -1;
	return uv_tcp_connect(&p->connect, &p->server.io.tcp, (struct sockaddr *)&address,
			      on_connected);
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct pair *p = calloc(1, sizeof *p);
	int failed;

	p->n_handles = 3;
	p->n_answered = -1;
	p->client.pair = p->server.pair = p;
	p->client.other = &p->server;
	p->server.other = &p->client;
	uv_timer_init(listener->loop, &p->timer);
	uv_tcp_init(listener->loop, &p->client.io.tcp);
	failed = connect_upstream(p, listener->loop);
	p->client.io.handle.data = p->server.io.handle.data = p->timer.data = p->connect.data = p;
	if (uv_accept(listener, &p->client.io.stream) || failed) {
		pair_close(p);
		return;
	}
	uv_tcp_nodelay(&p->client.io.tcp, 1);
	uv_read_start(&p->client.io.stream, on_room, on_read);
}

/* --- commands --- */

static int find_name(const char *const *names, int n, json_object *value)
{
	const char *name = json_object_get_string(value);

	for (int i = 0; i < n; i++)
		if (name && !strcmp(name, names[i]))
			return i;
	return -1;
}

static void take_command(const char *line)
{
	json_object *root = json_tokener_parse(line);
	int strike = find_name(strike_names, N_STRIKES, json_object_object_get(root, "arm"));
	int edge = find_name(edge_names, N_EDGES, json_object_object_get(root, "edge"));
	long n = (long)json_object_get_int64(json_object_object_get(root, "n"));
	long pid = (long)json_object_get_int64(json_object_object_get(root, "pid"));

	if (json_object_object_get(root, "count")) {
		printf("{\"syncs\":%ld}\n", proxy.n_syncs);
	} else if (strike == NONE ||
		   (strike > NONE && edge >= 0 && n > 0 && (strike != KILL || pid > 1))) {
		memset(&armed, 0, sizeof armed);
		armed.strike = (enum strike)strike;
		armed.edge = edge < 0 ? BEFORE_SYNC : (enum edge)edge;
		armed.n = n;
		armed.pid = pid;
		armed.ms = (long)json_object_get_int64(json_object_object_get(root, "ms"));
		printf("{\"armed\":\"%s\"}\n", strike_names[strike]);
	} else {
		printf("{\"error\":\"wanted arm, edge, n from 1 and, to kill, pid; or count\"}\n");
	}
	fflush(stdout);
	json_object_put(root);
}

static char command[4096];
static size_t n_command;

static void on_command_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	*buf = uv_buf_init(command + n_command, (unsigned)(sizeof command - 1 - n_command));
}

static void on_command(uv_stream_t *input, ssize_t n, const uv_buf_t *buf)
{
	char *line = command, *end;

	if (n < 0) {
		uv_read_stop(input);
		return;
	}
	n_command += (size_t)n;
	command[n_command] = '\0';
	for (; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		take_command(line);
	}
	n_command = strlen(line);
	memmove(command, line, n_command + 1);
}

/* --- start and end --- */

static void on_signal(uv_signal_t *signal, int number)
{
	uv_stop(signal->loop);
}

static void read_options(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		char *colon = strrchr(argv[i + 1], ':');

		if (!strcmp(argv[i], "--app")) {
			proxy.app = argv[i + 1];
		} else if (!strcmp(argv[i], "--upstream") && colon) {
			*colon = '\0';
			proxy.host = argv[i + 1];
			proxy.port = atoi(colon + 1);
		}
	}
	if (!proxy.host) {
		fprintf(stderr, "pg_proxy: wanted --upstream HOST:PORT or /FOLDER:PORT\n");
		exit(2);
	}
}

static int listen_on_free_port(uv_tcp_t *listener)
{
	struct sockaddr_in address;
	int n = sizeof address;

	uv_ip4_addr("127.0.0.1", 0, &address);
	if (uv_tcp_bind(listener, (struct sockaddr *)&address, 0) ||
	    uv_listen((uv_stream_t *)listener, 128, on_connection) ||
	    uv_tcp_getsockname(listener, (struct sockaddr *)&address, &n)) {
		fprintf(stderr, "pg_proxy: cannot listen\n");
		exit(1);
	}
	return ntohs(address.sin_port);
}

int main(int argc, char **argv)
{
	static uv_tcp_t listener;
	static uv_signal_t term, interrupt;
	static uv_pipe_t input;
	uv_loop_t *loop = uv_default_loop();
	pid_t parent = getppid();

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		return 0;
	read_options(argc, argv);
	signal(SIGPIPE, SIG_IGN);
	uv_signal_init(loop, &term);
	uv_signal_start(&term, on_signal, SIGTERM);
	uv_signal_init(loop, &interrupt);
	uv_signal_start(&interrupt, on_signal, SIGINT);
	uv_tcp_init(loop, &listener);
	printf("{\"port\":%d}\n", listen_on_free_port(&listener));
	fflush(stdout);
	if (uv_guess_handle(STDIN_FILENO) == UV_NAMED_PIPE) {
		uv_pipe_init(loop, &input, 0);
		uv_pipe_open(&input, STDIN_FILENO);
		uv_read_start((uv_stream_t *)&input, on_command_room, on_command);
	}
	uv_run(loop, UV_RUN_DEFAULT);
	return 0;
}
