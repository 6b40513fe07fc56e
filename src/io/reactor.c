#include "io/reactor.h"

#include "base/memory.h"

#include <netdb.h>
#include <uv.h>

struct turn {
	reactor_fn *fn; /* NULL: ended, its place goes after this turn */
	void *owner;
};

struct reactor {
	uv_loop_t loop;
	uv_prepare_t before_sleep;
	uv_check_t after_wake;
	uv_idle_t again; /* while it runs the loop does not sleep */
	struct turn *turn;
	int n_turn;
	reactor_fn *guard;
	void *guard_owner;
	bool guard_asked; /* since the last sleep */
	bool ending;
};

struct watch {
	uv_poll_t handle;
	struct reactor *reactor;
	int events;
	watch_fn *fn;
	void *owner;
};

struct timer {
	uv_timer_t handle;
	struct reactor *reactor;
	reactor_fn *fn;
	void *owner;
};

struct signal_watch {
	uv_signal_t handle;
	struct reactor *reactor;
	signal_fn *fn;
	void *owner;
};

struct resolving {
	uv_work_t work;
	struct reactor *reactor;
	resolved_fn *fn;
	void *owner;
	char address[NI_MAXHOST]; /* "" until known */
	char host[];
};

static void must(int rc, const char *what)
{
	if (rc < 0)
		BUG("%s: %s", what, uv_strerror(rc));
}

static void ask_guard(struct reactor *r)
{
	if (r->guard_asked)
		return;
	r->guard_asked = true;
	if (r->guard)
		r->guard(r->guard_owner);
}

static void on_before_sleep(uv_prepare_t *handle)
{
	struct reactor *r = handle->data;
	r->guard_asked = false;
}

static void on_after_wake(uv_check_t *handle)
{
	struct reactor *r = handle->data;
	int n_left = 0;

	ask_guard(r);
	uv_idle_stop(&r->again);
	for (int i = 0; i < r->n_turn; i++) {
		if (r->turn[i].fn)
			r->turn[i].fn(r->turn[i].owner);
	}
	for (int i = 0; i < r->n_turn; i++) {
		if (r->turn[i].fn)
			r->turn[n_left++] = r->turn[i];
	}
	r->n_turn = n_left;
}

static void on_again(uv_idle_t *handle)
{
}

struct reactor *reactor_new(void)
{
	struct reactor *r = mem_new(struct reactor);

	must(uv_loop_init(&r->loop), "uv_loop_init");
	must(uv_prepare_init(&r->loop, &r->before_sleep), "uv_prepare_init");
	must(uv_check_init(&r->loop, &r->after_wake), "uv_check_init");
	must(uv_idle_init(&r->loop, &r->again), "uv_idle_init");
	r->before_sleep.data = r->after_wake.data = r;
	uv_prepare_start(&r->before_sleep, on_before_sleep);
	uv_check_start(&r->after_wake, on_after_wake);
	return r;
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void close_own(uv_handle_t *handle, void *arg)
{
	struct reactor *r = arg;

	if (handle->type == UV_SIGNAL)
		uv_close(handle, on_closed);
	else if (handle->data == r || handle == (uv_handle_t *)&r->again)
		uv_close(handle, NULL);
	else if (!uv_is_closing(handle))
		BUG("reactor_free: a %s is still open", uv_handle_type_name(handle->type));
}

void reactor_free(struct reactor *r)
{
	r->ending = true;
	uv_walk(&r->loop, close_own, r);
	/* All close callbacks and the end of all resolving; a stop that nobody ran into ends the first. */
	while (uv_run(&r->loop, UV_RUN_DEFAULT))
		;
	must(uv_loop_close(&r->loop), "uv_loop_close");
	free(r->turn);
	free(r);
}

void reactor_guard(struct reactor *r, reactor_fn *fn, void *owner)
{
	r->guard = fn;
	r->guard_owner = owner;
}

void reactor_turn(struct reactor *r, reactor_fn *fn, void *owner)
{
	r->turn = mem_must(realloc(r->turn, sizeof(*r->turn) * (size_t)(r->n_turn + 1)));
	r->turn[r->n_turn++] = (struct turn){fn, owner};
}

void reactor_turn_end(struct reactor *r, void *owner)
{
	for (int i = 0; i < r->n_turn; i++) {
		if (r->turn[i].owner == owner)
			r->turn[i].fn = NULL;
	}
}

void reactor_again(struct reactor *r)
{
	uv_idle_start(&r->again, on_again);
}

/* --- file descriptors --- */

static void on_poll(uv_poll_t *handle, int status, int uv_events)
{
	struct watch *w = handle->data;
	int events = (uv_events & UV_READABLE ? WATCH_READ : 0) |
		     (uv_events & UV_WRITABLE ? WATCH_WRITE : 0);

	ask_guard(w->reactor);
	if (status < 0) { /* libuv has stopped it; our watch goes on until it is told otherwise */
		int wanted = w->events;
		w->events = 0;
		watch_set(w, wanted);
		events = WATCH_READ | WATCH_WRITE;
	}
	w->fn(w->owner, events);
}

struct watch *watch_new(struct reactor *r, int fd, watch_fn *fn, void *owner)
{
	struct watch *w = mem_new(struct watch);

	w->reactor = r;
	w->fn = fn;
	w->owner = owner;
	must(uv_poll_init(&r->loop, &w->handle, fd), "watch_new");
	w->handle.data = w;
	return w;
}

void watch_set(struct watch *w, int events)
{
	if (events == w->events)
		return;
	w->events = events;
	if (events)
		must(uv_poll_start(&w->handle,
				   (events & WATCH_READ ? UV_READABLE : 0) |
					   (events & WATCH_WRITE ? UV_WRITABLE : 0),
				   on_poll),
		     "watch_set");
	else
		uv_poll_stop(&w->handle);
}

void watch_close(struct watch *w)
{
	if (w)
		uv_close((uv_handle_t *)&w->handle, on_closed);
}

/* --- timers --- */

static void on_timer(uv_timer_t *handle)
{
	struct timer *t = handle->data;

	ask_guard(t->reactor);
	/* libuv runs timers after the turn of their wake: what this one queues needs another. */
	reactor_again(t->reactor);
	t->fn(t->owner);
}

struct timer *timer_new(struct reactor *r, reactor_fn *fn, void *owner)
{
	struct timer *t = mem_new(struct timer);

	t->reactor = r;
	t->fn = fn;
	t->owner = owner;
	must(uv_timer_init(&r->loop, &t->handle), "timer_new");
	t->handle.data = t;
	return t;
}

void timer_start(struct timer *t, int64_t delay_ms, int64_t repeat_ms)
{
	/* A timer that starts itself anew with no delay would never let the loop go on. */
	if (delay_ms < 1)
		delay_ms = 1;
	uv_update_time(&t->reactor->loop);
	must(uv_timer_start(&t->handle, on_timer, (uint64_t)delay_ms, (uint64_t)repeat_ms),
	     "timer_start");
}

void timer_stop(struct timer *t)
{
	uv_timer_stop(&t->handle);
}

void timer_close(struct timer *t)
{
	if (t)
		uv_close((uv_handle_t *)&t->handle, on_closed);
}

/* --- names --- */

static void resolve(uv_work_t *work)
{
	struct resolving *g = work->data;
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;

	if (getaddrinfo(g->host, NULL, &hints, &found) == 0) {
		if (getnameinfo(found->ai_addr, found->ai_addrlen, g->address, sizeof(g->address),
				NULL, 0, NI_NUMERICHOST) != 0)
			g->address[0] = '\0';
		freeaddrinfo(found);
	}
}

static void on_resolved(uv_work_t *work, int status)
{
	struct resolving *g = work->data;

	if (!g->reactor->ending) {
		ask_guard(g->reactor);
		g->fn(g->owner, str_c(g->address[0] ? g->address : NULL));
	}
	free(g);
}

/* A thread of libuv's pool for any host, also one that cannot be a name: uv_getaddrinfo() refuses some at once. */
void reactor_resolve(struct reactor *r, const char *host, resolved_fn *fn, void *owner)
{
	size_t n = strlen(host) + 1;
	struct resolving *g = mem_must(calloc(1, sizeof(*g) + n));

	g->work.data = g;
	g->reactor = r;
	g->fn = fn;
	g->owner = owner;
	memcpy(g->host, host, n);
	must(uv_queue_work(&r->loop, &g->work, resolve, on_resolved), "reactor_resolve");
}

/* --- signals --- */

static void on_signal(uv_signal_t *handle, int signal_no)
{
	struct signal_watch *s = handle->data;

	ask_guard(s->reactor);
	s->fn(s->owner, signal_no);
}

void reactor_signal(struct reactor *r, int signal_no, signal_fn *fn, void *owner)
{
	struct signal_watch *s = mem_new(struct signal_watch);

	s->reactor = r;
	s->fn = fn;
	s->owner = owner;
	must(uv_signal_init(&r->loop, &s->handle), "reactor_signal");
	s->handle.data = s;
	must(uv_signal_start(&s->handle, on_signal, signal_no), "reactor_signal");
}

void reactor_run(struct reactor *r)
{
	uv_run(&r->loop, UV_RUN_DEFAULT);
}

void reactor_stop(struct reactor *r)
{
	uv_stop(&r->loop);
}

void reactor_library(struct buf *out)
{
	buf_printf(out, "libuv %s", uv_version_string());
}
