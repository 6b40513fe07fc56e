/*
 * tests/unit/test_model.c - what a POST came to, against a server that answers with given bytes. What counts: a request is
 * sent once, and `nothing was sent` is said only when it is true.
 */
#include "fake_http.h"
#include "io/model.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

struct world {
	struct reactor *reactor;
	struct models *models;
	struct fake_http server;
	struct endpoint endpoint;
	char url[64];
	/* The last callback. */
	int n_done;
	int stop_at; /* callbacks */
	enum sent sent;
	int status;
	bool whole;
	char headers[512], why[256];
	size_t n_body;
	char body[64];
	struct transfer *drop;
	bool posting;
};

static int setup(void **state)
{
	static const char *const header[] = {"X-Team: letters", NULL};
	struct world *w = calloc(1, sizeof(*w));

	w->reactor = reactor_new();
	w->models = models_open(w->reactor, 2);
	w->server.fd = fake_http_listen(512, &w->server.port);
	snprintf(w->url, sizeof(w->url), "http://127.0.0.1:%d/v1/chat/completions", w->server.port);
	w->endpoint = (struct endpoint){.url = w->url,
					.header = header,
					.key_header = "Authorization: Bearer ",
					.key = STR_OF("secret"),
					.connect_timeout_ms = 2000};
	w->stop_at = 1;
	*state = w;
	return 0;
}

#define START(w, act) fake_http_start(&(w)->server, (act), sizeof(act) / sizeof((act)[0]))

static int teardown(void **state)
{
	struct world *w = *state;

	models_free(w->models);
	reactor_free(w->reactor);
	fake_http_end(&w->server);
	free(w);
	return 0;
}

static void done(void *owner, enum sent sent, const struct http_reply *reply, int64_t latency_ms,
		 const char *why)
{
	struct world *w = owner;

	assert_false(w->posting);
	assert_in_range(latency_ms, 0, 10000);
	w->sent = sent;
	w->status = reply->status;
	w->whole = reply->whole;
	w->n_body = reply->body.n;
	snprintf(w->headers, sizeof(w->headers), "%.*s", STR_ARG(reply->headers));
	snprintf(w->body, sizeof(w->body), "%.*s", STR_ARG(reply->body));
	snprintf(w->why, sizeof(w->why), "%s", why);
	model_drop(w->drop);
	if (++w->n_done == w->stop_at)
		reactor_stop(w->reactor);
}

static struct transfer *post(struct world *w, int64_t timeout_ms)
{
	struct buf body = BUF(2 << 20);

	buf_puts(&body, "{\"question\":1}");
	w->posting = true;
	struct transfer *t = model_post(w->models, &w->endpoint, &body, timeout_ms, done, w);
	w->posting = false;
	assert_null(body.p);
	return t;
}

static void post_and_wait(struct world *w, int64_t timeout_ms)
{
	w->n_done = 0;
	post(w, timeout_ms);
	reactor_run(w->reactor);
	assert_int_equal(w->n_done, 1);
}

#define OK "HTTP/1.1 200 OK\r\n"
#define OK_TWO OK "Content-Length: 2\r\n\r\n{}"

/* --- tests --- */

static void a_reply_is_whole(void **state)
{
	static const struct fake_act act[] = {{SAY(OK_TWO), KEEP}};
	struct world *w = *state;

	START(w, act);
	post_and_wait(w, 5000);
	assert_int_equal(w->sent, SENT_WHOLE);
	assert_int_equal(w->status, 200);
	assert_true(w->whole);
	assert_string_equal(w->body, "{}");
	assert_string_equal(w->why, "");
}

static void a_request_says_what_it_is_and_no_more(void **state)
{
	static const struct fake_act act[] = {{SAY(OK_TWO), KEEP}};
	struct world *w = *state;
	const char *got = w->server.request;

	START(w, act);
	post_and_wait(w, 5000);
	assert_ptr_equal(strstr(got, "POST /v1/chat/completions HTTP/1.1\r\n"), got);
	assert_non_null(strstr(got, "\r\nAuthorization: Bearer secret\r\n"));
	assert_non_null(strstr(got, "\r\nContent-Type: application/json\r\n"));
	assert_non_null(strstr(got, "\r\nUser-Agent: draftmill/"));
	assert_null(strstr(got, "Accept-Encoding"));
	assert_string_equal(strstr(got, "\r\n\r\n"), "\r\n\r\n{\"question\":1}");
}

static void each_request_has_the_key_of_its_time(void **state)
{
	static const struct fake_act act[] = {
		{SAY(OK_TWO), KEEP}, {SAY(OK_TWO), KEEP}, {SAY(OK_TWO), KEEP}};
	struct world *w = *state;
	const char *got = w->server.request;

	START(w, act);
	post_and_wait(w, 5000);
	assert_non_null(strstr(got, "\r\nAuthorization: Bearer secret\r\n"));
	w->endpoint.key = STR_OF("another");
	post_and_wait(w, 5000);
	assert_non_null(strstr(got, "\r\nAuthorization: Bearer another\r\n"));
	assert_null(strstr(got, "secret"));
	w->endpoint.key = str_c(NULL);
	post_and_wait(w, 5000);
	assert_null(strstr(got, "Authorization"));
	assert_non_null(strstr(got, "\r\nX-Team: letters\r\n"));
	assert_int_equal(w->server.n_connections, 1);
}

static void a_large_request_goes_out_whole_and_without_expect(void **state)
{
	static const struct fake_act act[] = {{SAY(OK_TWO), KEEP}};
	struct world *w = *state;
	struct buf body = BUF(2 << 20);

	for (int i = 0; i < 1200 * 1024; i++)
		buf_putc(&body, 'x');
	START(w, act);
	model_post(w->models, &w->endpoint, &body, 5000, done, w);
	reactor_run(w->reactor);
	assert_int_equal(w->sent, SENT_WHOLE);
	assert_null(strstr(w->server.request, "Expect"));
	const char *end = strstr(w->server.request, "\r\n\r\n") + 4;
	assert_int_equal(strlen(end), 1200 * 1024);
}

static void headers_are_kept_by_name(void **state)
{
	static const struct fake_act act[] = {
		{SAY("HTTP/1.1 100 Continue\r\nX-Request-Id: early\r\n\r\n"
		     "HTTP/1.1 429 Too Many\r\nContent-TYPE:  application/json \r\nRetry-After: 7\r\n"
		     "Set-Cookie: a=b\r\nX-Request-ID: r1\r\nrequest-id: caf\xe9\r\nrequest-id: r2\r\nServer: s\r\n"
		     "Date: Mon, 30 Nov 2026 12:00:00 GMT\r\nContent-Length: 0\r\n\r\n"),
		 KEEP}};
	struct world *w = *state;

	START(w, act);
	post_and_wait(w, 5000);
	assert_int_equal(w->status, 429);
	assert_true(w->whole);
	assert_string_equal(w->headers, "content-type: application/json\nretry-after: 7\n"
					"x-request-id: r1\nrequest-id: r2\n"
					"date: Mon, 30 Nov 2026 12:00:00 GMT\n");
}

static void a_connection_is_kept_and_used_again(void **state)
{
	static const struct fake_act act[] = {
		{SAY(OK_TWO), KEEP}, {SAY(OK_TWO), KEEP}, {SAY(OK_TWO), KEEP}};
	struct world *w = *state;

	START(w, act);
	for (int i = 0; i < 3; i++)
		post_and_wait(w, 5000);
	assert_int_equal(w->server.n_requests, 3);
	assert_int_equal(w->server.n_connections, 1);
}

/* libcurl alone would send the request a second time, on a new connection, and say that all is well. */
static void a_kept_connection_that_dies_before_the_reply_is_not_asked_again(void **state)
{
	static const struct fake_act act[] = {
		{SAY(OK_TWO), KEEP}, {SAY(""), CLOSE}, {SAY(OK_TWO), KEEP}};
	struct world *w = *state;

	START(w, act);
	post_and_wait(w, 5000);
	post_and_wait(w, 5000);
	assert_int_equal(w->sent, SENT_MAYBE);
	assert_int_equal(w->status, 0);
	assert_int_equal(w->server.n_requests, 2);
	post_and_wait(w, 5000);
	assert_int_equal(w->sent, SENT_WHOLE);
	assert_int_equal(w->server.n_requests, 3);
}

static void a_kept_connection_that_was_closed_meanwhile_is_replaced(void **state)
{
	static const struct fake_act act[] = {{SAY(OK_TWO), CLOSE}, {SAY(OK_TWO), KEEP}};
	struct world *w = *state;

	START(w, act);
	post_and_wait(w, 5000);
	usleep(20000);
	post_and_wait(w, 5000);
	assert_int_equal(w->sent, SENT_WHOLE);
	assert_int_equal(w->server.n_requests, 2);
	assert_int_equal(w->server.n_connections, 2);
}

/* Servers close what is idle for 5 s: a request then would cross with the close. */
static void a_connection_idle_for_4_seconds_is_not_used_again(void **state)
{
	static const struct fake_act act[] = {
		{SAY(OK_TWO), KEEP}, {SAY(OK_TWO), KEEP}, {SAY(OK_TWO), KEEP}};
	struct world *w = *state;

	START(w, act);
	post_and_wait(w, 5000);
	usleep(2500000);
	post_and_wait(w, 5000);
	assert_int_equal(w->server.n_connections, 1);
	usleep(4050000);
	post_and_wait(w, 5000);
	assert_int_equal(w->sent, SENT_WHOLE);
	assert_int_equal(w->server.n_connections, 2);
}

static void a_new_connection_that_dies_before_the_reply_may_be_billed(void **state)
{
	static const struct fake_act act[] = {{SAY(""), CLOSE}};
	struct world *w = *state;

	START(w, act);
	post_and_wait(w, 5000);
	assert_int_equal(w->sent, SENT_MAYBE);
	assert_int_equal(w->server.n_requests, 1);
	assert_string_not_equal(w->why, "");
}

static void half_the_headers_are_no_reply(void **state)
{
	static const struct fake_act act[] = {{SAY(OK "Content-Length: 2\r\n"), CLOSE}};
	struct world *w = *state;

	START(w, act);
	post_and_wait(w, 5000);
	assert_int_equal(w->sent, SENT_MAYBE);
	assert_int_equal(w->status, 0);
	assert_string_equal(w->headers, "");
}

static void expect_not_whole(struct world *w, const char *body)
{
	post_and_wait(w, 5000);
	assert_int_equal(w->sent, SENT_WHOLE);
	assert_int_equal(w->status, 200);
	assert_false(w->whole);
	assert_string_equal(w->body, body);
}

static void a_body_cut_short_is_not_whole(void **state)
{
	static const struct fake_act act[] = {{SAY(OK "Content-Length: 9\r\n\r\n{}"), CLOSE}};

	START((struct world *)*state, act);
	expect_not_whole(*state, "{}");
}

static void chunks_cut_short_are_not_whole(void **state)
{
	static const struct fake_act act[] = {
		{SAY(OK "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"), CLOSE}};

	START((struct world *)*state, act);
	expect_not_whole(*state, "{}");
}

static void chunks_with_their_end_are_whole(void **state)
{
	static const struct fake_act act[] = {
		{SAY(OK "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
			"x-request-id: trailer\r\n\r\n"),
		 KEEP}};
	struct world *w = *state;

	START(w, act);
	post_and_wait(w, 5000);
	assert_true(w->whole);
	assert_string_equal(w->body, "{}");
	assert_string_equal(w->headers, "");
}

/* Some servers frame no other way; whether it was cut, its JSON tells. */
static void a_body_may_end_with_its_connection(void **state)
{
	static const struct fake_act act[] = {{SAY(OK "Connection: close\r\n\r\n{}"), CLOSE}};
	struct world *w = *state;

	START(w, act);
	post_and_wait(w, 5000);
	assert_true(w->whole);
	assert_string_equal(w->body, "{}");
}

static void a_body_over_the_limit_is_not_whole(void **state)
{
	enum { BODY = 300 << 10 };
	static char reply[BODY + 128];
	int n = snprintf(reply, sizeof(reply), OK "Content-Length: %d\r\n\r\n", BODY);
	struct fake_act act[] = {{reply, (size_t)n + BODY, CLOSE}};
	struct world *w = *state;

	memset(reply + n, 'x', BODY);
	START(w, act);
	post_and_wait(w, 5000);
	assert_int_equal(w->sent, SENT_WHOLE);
	assert_int_equal(w->status, 200);
	assert_false(w->whole);
	assert_in_range(w->n_body, 1, REPLY_BYTES_MAX);
}

static void a_body_at_the_limit_is_whole(void **state)
{
	static char reply[REPLY_BYTES_MAX + 128];
	int n = snprintf(reply, sizeof(reply), OK "Content-Length: %d\r\n\r\n", REPLY_BYTES_MAX);
	struct fake_act act[] = {{reply, (size_t)n + REPLY_BYTES_MAX, KEEP}};
	struct world *w = *state;

	memset(reply + n, 'x', REPLY_BYTES_MAX);
	START(w, act);
	post_and_wait(w, 5000);
	assert_true(w->whole);
	assert_int_equal(w->n_body, REPLY_BYTES_MAX);
}

static void a_redirect_is_a_reply(void **state)
{
	static const struct fake_act act[] = {
		{SAY("HTTP/1.1 307 Moved\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"),
		 KEEP}};
	struct world *w = *state;

	START(w, act);
	post_and_wait(w, 5000);
	assert_int_equal(w->status, 307);
	assert_int_equal(w->server.n_requests, 1);
}

static void out_of_time_after_the_request_may_be_billed(void **state)
{
	static const struct fake_act act[] = {{SAY(""), HANG}};
	struct world *w = *state;

	START(w, act);
	post_and_wait(w, 60);
	assert_int_equal(w->sent, SENT_MAYBE);
	assert_int_equal(w->server.n_requests, 1);
}

static void out_of_time_in_the_body_is_not_whole(void **state)
{
	static const struct fake_act act[] = {{SAY(OK "Content-Length: 9\r\n\r\n{}"), HANG}};
	struct world *w = *state;

	START(w, act);
	post_and_wait(w, 60);
	assert_int_equal(w->sent, SENT_WHOLE);
	assert_false(w->whole);
}

static void out_of_time_before_the_request_sent_nothing(void **state)
{
	struct world *w = *state;
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int port, filler[4];
	int fd = fake_http_listen(0, &port);

	/* A full backlog leaves the next SYN without an answer. */
	a.sin_port = htons((uint16_t)port);
	for (int i = 0; i < 4; i++) {
		filler[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(filler[i], (struct sockaddr *)&a, sizeof(a));
	}
	snprintf(w->url, sizeof(w->url), "http://127.0.0.1:%d/", port);
	post_and_wait(w, 60);
	assert_int_equal(w->sent, SENT_NOTHING);
	for (int i = 0; i < 4; i++)
		close(filler[i]);
	close(fd);
}

static void a_refused_connection_sent_nothing(void **state)
{
	struct world *w = *state;
	int port;

	close(fake_http_listen(1, &port));
	snprintf(w->url, sizeof(w->url), "http://127.0.0.1:%d/", port);
	post_and_wait(w, 5000);
	assert_int_equal(w->sent, SENT_NOTHING);
	assert_non_null(strstr(w->why, "connect"));
}

/* More than once: libcurl's resolver brings descriptors of its own, and closes them unseen. */
static void a_name_that_is_none_sent_nothing(void **state)
{
	struct world *w = *state;

	snprintf(w->url, sizeof(w->url), "https://no-such-host.invalid/");
	for (int i = 0; i < 3; i++) {
		post_and_wait(w, 5000);
		assert_int_equal(w->sent, SENT_NOTHING);
		assert_non_null(strstr(w->why, "resolve"));
	}
}

static void a_failed_tls_handshake_sent_nothing(void **state)
{
	static const struct fake_act act[] = {{NULL, 0, DEAF}, {NULL, 0, DEAF}};
	struct world *w = *state;

	START(w, act);
	snprintf(w->url, sizeof(w->url), "https://127.0.0.1:%d/", w->server.port);
	post_and_wait(w, 5000);
	assert_int_equal(w->sent, SENT_NOTHING);
}

static void a_dropped_transfer_has_no_callback(void **state)
{
	static const struct fake_act act[] = {{SAY(""), HANG}, {SAY(OK_TWO), KEEP}};
	struct world *w = *state;

	START(w, act);
	model_drop(NULL);
	model_drop(post(w, 5000));
	post_and_wait(w, 60); /* the first act: hangs */
	assert_int_equal(w->sent, SENT_MAYBE);
	post_and_wait(w, 5000);
	assert_int_equal(w->sent, SENT_WHOLE);
	assert_int_equal(w->server.n_requests, 2);
}

static void a_forgotten_endpoint_ends_what_is_on_its_wire_and_may_be_another(void **state)
{
	static const char *const header[] = {"Authorization: Bearer another", NULL};
	static const struct fake_act act[] = {{SAY(OK_TWO), KEEP}, {SAY(OK_TWO), KEEP}};
	struct world *w = *state;

	START(w, act);
	model_forget(w->models, &w->endpoint); /* nobody knows it yet */
	post(w, 5000);
	model_forget(w->models, &w->endpoint);
	w->endpoint.header = header;
	reactor_run(w->reactor);
	assert_int_equal(w->sent, SENT_WHOLE);
	assert_non_null(strstr(w->server.request, "Bearer secret"));
	post_and_wait(w, 5000);
	assert_non_null(strstr(w->server.request, "Bearer another"));
	model_forget(w->models, &w->endpoint);
	assert_int_equal(w->server.n_requests, 2);
}

static void one_transfer_may_drop_itself_and_another_may_drop_it(void **state)
{
	static const struct fake_act act[] = {{SAY(OK_TWO), HANG}, {SAY(OK_TWO), KEEP}};
	struct world *w = *state;

	START(w, act);
	w->drop = post(w, 5000);
	reactor_run(w->reactor); /* drops itself in its own callback: nothing */
	assert_int_equal(w->n_done, 1);
	/* The server still holds the first connection: these two wait in its queue until the first is out of time. */
	w->n_done = 0;
	post(w, 60);
	w->drop = post(w, 3000);
	reactor_run(w->reactor);
	assert_int_equal(w->n_done, 1);
	assert_int_equal(w->sent, SENT_MAYBE);
}

static void what_is_open_at_the_end_is_dropped(void **state)
{
	static const struct fake_act act[] = {{SAY(""), HANG}};
	struct world *w = *state;

	START(w, act);
	for (int i = 0; i < 300; i++)
		post(w, 5000);
	assert_int_equal(w->n_done, 0);
}

static void many_at_once_over_several_multi_handles(void **state)
{
	enum { N = 300 };
	static struct fake_act act[N];
	struct world *w = *state;

	models_free(w->models);
	w->models = models_open(w->reactor, N);
	for (int i = 0; i < N; i++)
		act[i] = (struct fake_act){SAY(OK_TWO), CLOSE};
	START(w, act);
	w->stop_at = N;
	for (int i = 0; i < N; i++)
		post(w, 9000);
	reactor_run(w->reactor);
	assert_int_equal(w->server.n_requests, N);
	assert_int_equal(w->sent, SENT_WHOLE);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_reply_is_whole),
		TEST(a_request_says_what_it_is_and_no_more),
		TEST(each_request_has_the_key_of_its_time),
		TEST(a_large_request_goes_out_whole_and_without_expect),
		TEST(headers_are_kept_by_name),
		TEST(a_connection_is_kept_and_used_again),
		TEST(a_kept_connection_that_dies_before_the_reply_is_not_asked_again),
		TEST(a_kept_connection_that_was_closed_meanwhile_is_replaced),
		TEST(a_connection_idle_for_4_seconds_is_not_used_again),
		TEST(a_new_connection_that_dies_before_the_reply_may_be_billed),
		TEST(half_the_headers_are_no_reply),
		TEST(a_body_cut_short_is_not_whole),
		TEST(chunks_cut_short_are_not_whole),
		TEST(chunks_with_their_end_are_whole),
		TEST(a_body_may_end_with_its_connection),
		TEST(a_body_over_the_limit_is_not_whole),
		TEST(a_body_at_the_limit_is_whole),
		TEST(a_redirect_is_a_reply),
		TEST(out_of_time_after_the_request_may_be_billed),
		TEST(out_of_time_in_the_body_is_not_whole),
		TEST(out_of_time_before_the_request_sent_nothing),
		TEST(a_refused_connection_sent_nothing),
		TEST(a_name_that_is_none_sent_nothing),
		TEST(a_failed_tls_handshake_sent_nothing),
		TEST(a_dropped_transfer_has_no_callback),
		TEST(a_forgotten_endpoint_ends_what_is_on_its_wire_and_may_be_another),
		TEST(one_transfer_may_drop_itself_and_another_may_drop_it),
		TEST(what_is_open_at_the_end_is_dropped),
		TEST(many_at_once_over_several_multi_handles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
