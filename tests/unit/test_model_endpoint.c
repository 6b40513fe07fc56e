/*
 * tests/unit/test_model_endpoint.c - the way to a provider: what may be one, what a proxy in between says, and whether anything was sent.
 */
#include "fake_http.h"
#include "io/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void plain_http_is_for_loopback_only(void **state)
{
	static const struct {
		const char *url;
		enum status status;
	} c[] = {
		{"https://api.example.com/v1", ST_OK},
		{"http://127.0.0.1:8080/v1", ST_OK},
		{"http://127.9.9.9/", ST_OK},
		{"http://[::1]:80/", ST_OK},
		{"HTTP://LOCALHOST:1/", ST_OK},
		{"http://api.example.com/v1", ST_INVALID},
		{"http://127.0.0.1.example.com/", ST_INVALID},
		{"http://127.0.0.1@example.com/", ST_INVALID},
		{"http://localhost.example.com/", ST_INVALID},
		{"http://128.0.0.1/", ST_INVALID},
		{"ftp://127.0.0.1/", ST_INVALID},
		{"file:///etc/passwd", ST_INVALID},
		{"api.example.com/v1", ST_INVALID},
		{"", ST_INVALID},
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct err err = {""};
		struct endpoint e = {.url = c[i].url};
		enum status status = endpoint_check(&e, &err);
		if (status != c[i].status)
			fail_msg("%s: %d %s", c[i].url, status, err.text);
		assert_int_equal(err.text[0] != '\0', status != ST_OK);
	}
}

/* --- by a proxy that answers with given bytes --- */

static struct fake_http proxy;
static char proxy_url[64];
static struct endpoint e;

static int set_up(void **state)
{
	memset(&proxy, 0, sizeof(proxy));
	proxy.fd = fake_http_listen(8, &proxy.port);
	snprintf(proxy_url, sizeof(proxy_url), "http://127.0.0.1:%d", proxy.port);
	e = (struct endpoint){.url = "https://models.test/v1",
			      .proxy = proxy_url,
			      .proxy_login = STR_OF("me:p%40 \xC3\xA9:x"),
			      .connect_timeout_ms = 5000};
	return 0;
}

static int tear_down(void **state)
{
	fake_http_end(&proxy);
	return 0;
}

struct end {
	struct reactor *reactor;
	enum sent sent;
	char why[300];
};

static void done(void *owner, enum sent sent, const struct http_reply *reply, int64_t latency_ms,
		 const char *why)
{
	struct end *end = owner;

	end->sent = sent;
	snprintf(end->why, sizeof(end->why), "%s", why);
	reactor_stop(end->reactor);
}

static struct end post(void)
{
	struct end end = {.reactor = reactor_new()};
	struct models *m = models_open(end.reactor, 1);
	struct buf body = BUF(100);

	buf_puts(&body, "{}");
	model_post(m, &e, &body, 5000, done, &end);
	reactor_run(end.reactor);
	models_free(m);
	reactor_free(end.reactor);
	return end;
}

/* That a call by way of the proxy ends so, and a look at it tells the same. */
static void assert_end(const struct fake_act *act, enum sent sent, const char *told)
{
	char why[400];
	struct err err;

	fake_http_start(&proxy, act, 2);
	struct end end = post();
	assert_int_equal(end.sent, sent);
	snprintf(why, sizeof(why), told, proxy_url);
	assert_string_equal(end.why, why);
	assert_int_equal(endpoint_reach(&e, &err), ST_DOWN);
	assert_non_null(strstr(err.text, "https://models.test/v1 cannot be reached: "));
	assert_non_null(strstr(err.text, why));
	assert_null(strstr(err.text, "p%40"));
	assert_int_equal(proxy.n_requests, 2);
	assert_non_null(strstr(proxy.request, "CONNECT models.test:443 HTTP/1.1\r\n"));
	/* base64 of what the login is, byte for byte */
	assert_non_null(
		strstr(proxy.request, "\r\nProxy-Authorization: Basic bWU6cCU0MCDDqTp4\r\n"));
}

#define NO_BODY "Content-Length: 0\r\n\r\n"

static void a_login_that_a_proxy_refuses_is_ours_to_mend(void **state)
{
	static const struct fake_act act[] = {
		{SAY("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\n" NO_BODY), CLOSE},
		{SAY("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\n" NO_BODY), CLOSE}};

	assert_end(act, SENT_REFUSED, "the proxy %s answered CONNECT with 407; mend its login");
}

static void a_host_that_a_proxy_refuses_is_ours_to_mend(void **state)
{
	static const struct fake_act act[] = {{SAY("HTTP/1.1 403 No\r\n" NO_BODY), CLOSE},
					      {SAY("HTTP/1.1 403 No\r\n" NO_BODY), CLOSE}};

	assert_end(act, SENT_REFUSED, "the proxy %s answered CONNECT with 403");
}

static void a_proxy_that_cannot_reach_the_host_sent_nothing(void **state)
{
	static const struct fake_act act[] = {{SAY("HTTP/1.1 503 No\r\n" NO_BODY), CLOSE},
					      {SAY("HTTP/1.1 503 No\r\n" NO_BODY), CLOSE}};

	assert_end(act, SENT_NOTHING, "the proxy %s answered CONNECT with 503");
}

static void this_machine_is_reached_without_a_proxy(void **state)
{
	static const struct fake_act act[] = {{SAY("HTTP/1.1 200 OK\r\n" NO_BODY), CLOSE}};
	char url[80];

	snprintf(url, sizeof(url), "%s/v1", proxy_url);
	e.url = url;
	e.proxy = "http://127.0.0.1:1";
	fake_http_start(&proxy, act, 1);
	assert_int_equal(post().sent, SENT_WHOLE);
	assert_null(strstr(proxy.request, "Proxy-Authorization"));
	assert_int_equal(endpoint_reach(&e, NULL), ST_OK);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_http_is_for_loopback_only),
		TEST(a_login_that_a_proxy_refuses_is_ours_to_mend),
		TEST(a_host_that_a_proxy_refuses_is_ours_to_mend),
		TEST(a_proxy_that_cannot_reach_the_host_sent_nothing),
		TEST(this_machine_is_reached_without_a_proxy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
