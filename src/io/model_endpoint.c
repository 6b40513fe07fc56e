#include "model_endpoint.h"

#include "base/memory.h"

#include <arpa/inet.h>
#include <strings.h>

/* A connection idle for longer is not used again. Many servers close theirs after 5 s (llama.cpp, uvicorn, Node), and a request
 * that crosses with that is lost, maybe billed. libcurl counts whole seconds: over 3 is from 4 on. */
enum { IDLE_MAX_S = 3 };

static bool is_loopback(const char *host)
{
	struct in_addr ip;

	return !strcasecmp(host, "localhost") || !strcmp(host, "[::1]") ||
	       (inet_pton(AF_INET, host, &ip) == 1 && ntohl(ip.s_addr) >> 24 == 127);
}

/* False: no URL of http or https. */
static bool url_read(const char *url, bool *https, bool *loopback)
{
	CURLU *u = curl_url();
	char *scheme = NULL, *host = NULL;
	bool ok = u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
		  curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
		  curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK;

	if (ok) {
		*https = !strcmp(scheme, "https");
		*loopback = is_loopback(host);
		ok = *https || !strcmp(scheme, "http");
	}
	curl_free(scheme);
	curl_free(host);
	curl_url_cleanup(u);
	return ok;
}

enum status endpoint_check(const struct endpoint *e, struct err *err)
{
	bool https, loopback;

	if (!url_read(e->url, &https, &loopback))
		return err_set(err, ST_INVALID,
			       "base_url is no URL of https; write https://HOST/PATH");
	if (!https && !loopback)
		return err_set(
			err, ST_INVALID,
			"base_url: plain http is for loopback addresses only; write https://");
	return ST_OK;
}

void easy_must(CURLcode rc)
{
	if (rc != CURLE_OK)
		BUG("libcurl refuses an option: %s", curl_easy_strerror(rc));
}

/* libcurl 7.88 decodes these two as if they stood in a URL. */
static void set_escaped(CURL *easy, CURLoption option, const char *value)
{
	char *escaped = mem_must(curl_easy_escape(easy, value, 0));

	easy_must(curl_easy_setopt(easy, option, escaped));
	curl_free(escaped);
}

static void set_proxy(CURL *easy, const struct endpoint *e, bool loopback)
{
	if (loopback) { /* none, also if the environment names one */
		easy_must(curl_easy_setopt(easy, CURLOPT_PROXY, ""));
		return;
	}
	if (e->proxy)
		easy_must(curl_easy_setopt(easy, CURLOPT_PROXY, e->proxy));
	if (e->proxy_user) {
		set_escaped(easy, CURLOPT_PROXYUSERNAME, e->proxy_user);
		set_escaped(easy, CURLOPT_PROXYPASSWORD, e->proxy_password);
	}
	if (e->no_proxy || e->proxy) /* the settings' proxy has the settings' exceptions */
		easy_must(curl_easy_setopt(easy, CURLOPT_NOPROXY, e->no_proxy ? e->no_proxy : ""));
}

void endpoint_apply(const struct endpoint *e, CURL *easy)
{
	bool https = false, loopback = false;

	url_read(e->url, &https, &loopback);
	easy_must(curl_easy_setopt(easy, CURLOPT_URL, e->url));
	easy_must(curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, https ? "https" : "http"));
	easy_must(curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1));
	easy_must(curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L));
	if (e->ca_file)
		easy_must(curl_easy_setopt(easy, CURLOPT_CAINFO, e->ca_file));
	if (e->client_cert)
		easy_must(curl_easy_setopt(easy, CURLOPT_SSLCERT, e->client_cert));
	set_proxy(easy, e, loopback);
	easy_must(curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)e->connect_timeout_ms));
	easy_must(curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)IDLE_MAX_S));
	easy_must(curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L));
	easy_must(curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L));
	easy_must(
		curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L)); /* nor for a stuck getaddrinfo() */
}
