#include "model_endpoint.h"

#include "base/memory.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <strings.h>

/* A connection idle for longer is not used again. Many servers close theirs after 5 s (llama.cpp, uvicorn, Node), and a request
 * that crosses with that is lost, maybe billed. libcurl counts whole seconds: over 3 is from 4 on. */
enum { IDLE_MAX_S = 3 };

/* --- what may be an endpoint --- */

static bool is_loopback(const char *host)
{
	struct in_addr ip;

	return !strcasecmp(host, "localhost") || !strcmp(host, "[::1]") ||
	       (inet_pton(AF_INET, host, &ip) == 1 && ntohl(ip.s_addr) >> 24 == 127);
}

/* False: no URL of http or https with a host. Libcurl would take one from the path: "http:///v1" for "http://v1". */
static bool url_read(const char *url, bool *https, bool *loopback)
{
	CURLU *u = curl_url();
	char *scheme = NULL, *host = NULL;
	bool ok = u && !strstr(url, ":///") &&
		  curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
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
		return err_set(
			err, ST_INVALID,
			"base_url is no URL of http or https with a host; write https://HOST/PATH");
	if (!https && !loopback)
		return err_set(
			err, ST_INVALID,
			"base_url: plain http is for loopback addresses only; write https://");
	return ST_OK;
}

/* --- the way there --- */

void easy_must(CURLcode rc)
{
	if (rc != CURLE_OK)
		BUG("libcurl refuses an option: %s", curl_easy_strerror(rc));
}

/* libcurl 7.88 decodes these two as if they stood in a URL. */
static void set_escaped(CURL *easy, CURLoption option, struct str value)
{
	char *escaped = mem_must(curl_easy_escape(easy, value.p, (int)value.n));

	easy_must(curl_easy_setopt(easy, option, escaped));
	curl_free(escaped);
}

void endpoint_apply_login(const struct endpoint *e, CURL *easy)
{
	const int64_t colon = str_find(e->proxy_login, STR_OF(":"), 0);

	if (colon < 0)
		return;
	set_escaped(easy, CURLOPT_PROXYUSERNAME, str_sub(e->proxy_login, 0, (size_t)colon));
	set_escaped(easy, CURLOPT_PROXYPASSWORD,
		    str_sub(e->proxy_login, (size_t)colon + 1, e->proxy_login.n));
}

static void set_proxy(CURL *easy, const struct endpoint *e, bool loopback)
{
	if (loopback) { /* none, also if the environment names one */
		easy_must(curl_easy_setopt(easy, CURLOPT_PROXY, ""));
		return;
	}
	if (e->proxy)
		easy_must(curl_easy_setopt(easy, CURLOPT_PROXY, e->proxy));
	if (e->no_proxy || e->proxy) /* the settings' proxy has the settings' exceptions */
		easy_must(curl_easy_setopt(easy, CURLOPT_NOPROXY, e->no_proxy ? e->no_proxy : ""));
	endpoint_apply_login(e, easy);
}

/* Of the server and of a proxy that is reached by TLS. */
static void set_tls(CURL *easy, const struct endpoint *e)
{
	easy_must(curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2));
	easy_must(curl_easy_setopt(easy, CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2));
	if (e->ca_file) {
		easy_must(curl_easy_setopt(easy, CURLOPT_CAINFO, e->ca_file));
		easy_must(curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, e->ca_file));
	}
	if (e->client_cert) {
		easy_must(curl_easy_setopt(easy, CURLOPT_SSLCERT, e->client_cert));
		easy_must(curl_easy_setopt(easy, CURLOPT_KEYPASSWD,
					   "")); /* else it may ask the terminal */
	}
}

void endpoint_apply(const struct endpoint *e, CURL *easy)
{
	bool https = false, loopback = false;

	url_read(e->url, &https, &loopback);
	easy_must(curl_easy_setopt(easy, CURLOPT_URL, e->url));
	easy_must(curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, https ? "https" : "http"));
	easy_must(curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1));
	easy_must(curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L));
	set_tls(easy, e);
	set_proxy(easy, e, loopback);
	easy_must(curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)e->connect_timeout_ms));
	easy_must(curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)IDLE_MAX_S));
	easy_must(curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L));
	easy_must(curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L));
	easy_must(
		curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L)); /* nor for a stuck getaddrinfo() */
}

/* --- who we are is refused --- */

/* With TLS 1.3 a server tells what it thinks of our certificate after we have begun to send; it reads nothing before. */
static bool is_certificate_refused(const char *why)
{
	return strstr(why, "alert") && (strstr(why, "certificate") || strstr(why, "unknown ca"));
}

/* What a proxy said in the place of a tunnel. Over SOCKS it has no words for that; libcurl tells then. */
static bool is_proxy_refused(CURL *easy, const struct endpoint *e, char *why)
{
	long status = 0, error = CURLPX_OK;

	curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &status);
	curl_easy_getinfo(easy, CURLINFO_PROXY_ERROR, &error);
	if (status >= 300)
		snprintf(why, CURL_ERROR_SIZE, "the proxy %.150s answered CONNECT with %ld%s",
			 e && e->proxy ? e->proxy : "on the way", status,
			 status == 407 ? "; mend its login" : "");
	return status == 403 || status == 407 || error == CURLPX_USER_REJECTED ||
	       error == CURLPX_NO_AUTH || error == CURLPX_REPLY_NOT_ALLOWED;
}

enum sent endpoint_sent(const struct endpoint *e, CURL *easy, bool was_sent, char *why)
{
	if (is_certificate_refused(why) || (!was_sent && is_proxy_refused(easy, e, why)))
		return SENT_REFUSED;
	return was_sent ? SENT_MAYBE : SENT_NOTHING;
}

enum status endpoint_reach(const struct endpoint *e, struct err *err)
{
	char why[CURL_ERROR_SIZE] = "";
	CURL *easy = mem_must(curl_easy_init());
	CURLcode rc;

	endpoint_apply(e, easy);
	easy_must(curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, why));
	easy_must(curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L));
	rc = curl_easy_perform(easy);
	if (rc != CURLE_OK)
		(void)endpoint_sent(e, easy, false, why);
	curl_easy_cleanup(easy);
	if (rc == CURLE_OK)
		return ST_OK;
	return err_set(err, ST_DOWN, "%s cannot be reached: %s", e->url,
		       why[0] ? why : curl_easy_strerror(rc));
}
