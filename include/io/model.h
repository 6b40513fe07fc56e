/*
 * io/model.h - HTTP POSTs to model APIs, over libcurl on the loop. One request is one request: nothing is resent here, also not by
 * libcurl in silence; redirects are not followed; https only, except to loopback addresses.
 */
#ifndef IO_MODEL_H
#define IO_MODEL_H

#include "base/buf.h"
#include "base/err.h"
#include "core/wire.h"
#include "io/reactor.h"

struct models;
struct transfer;

enum { REPLY_BYTES_MAX = 256 << 10 }; /* of a body, decoded; a longer one is not whole */

/* A provider, ready to post to; borrowed until model_forget(). It stays as it is, but key and proxy_login: those of each model_post()
 * are taken. */
struct endpoint {
	const char *url; /* whole, with the wire's path */
	const char *const *
		header; /* "Name: value", without the key; NULL at the end. Content-Type is added */
	const char *key_header;	 /* "Authorization: Bearer ", what stands before the key */
	struct str key;		 /* absent: none is sent. Never logged */
	const char *ca_file;	 /* NULL: the system's */
	const char *client_cert; /* PEM, the key in it; NULL: none */
	const char *proxy; /* NULL: as libcurl finds it in the environment. Never for loopback */
	struct str proxy_login; /* USER:PASSWORD as they are; absent: none. Never logged */
	const char *no_proxy;	/* NULL: as in the environment */
	int64_t connect_timeout_ms;
};

enum sent {
	SENT_WHOLE, /* there is an HTTP reply, all its headers at least; look at its status and `whole` */
	SENT_NOTHING, /* no byte of the request left: resolve, connect, TLS */
	SENT_REFUSED, /* the same, by our fault: the proxy refuses its login or the host, the server our certificate */
	SENT_MAYBE, /* cut, or out of time after the request and before a reply's headers: may be billed */
};

/* @reply is empty unless SENT_WHOLE. Its body is `whole` if it ended as its framing says. Without Content-Length and chunks
 * that is the connection's end (RFC 9112, section 6.3), which a cut looks like too: whether such a body is complete, its JSON
 * tells. @reply and @why (libcurl's words; "" if none) are borrowed for the call. Never runs inside model_post(). */
typedef void model_done(void *owner, enum sent, const struct http_reply *reply, int64_t latency_ms,
			const char *why);

/* ST_INVALID: the URL's scheme is refused. */
enum status endpoint_check(const struct endpoint *, struct err *err) MUST_CHECK;

/* Connects as model_post() would, through the proxy and with TLS, and sends nothing; waits for it. ST_DOWN: *err has URL and reason. */
enum status endpoint_reach(const struct endpoint *, struct err *err) MUST_CHECK;

/* Raises the process's limit of open files as far as it may: a connection a call. */
struct models *models_open(struct reactor *, int n_connections);
void models_free(struct models *); /* drops what is open; NULL is fine */

/* @body is taken (moved; the caller's buf is left empty). One callback, unless model_drop() comes first. */
struct transfer *model_post(struct models *, const struct endpoint *, struct buf *body,
			    int64_t timeout_ms, model_done *, void *owner);
void model_drop(struct transfer *); /* no callback follows; NULL is fine */

/* The endpoint is about to change or to go. What is on the wire to it goes on. */
void model_forget(struct models *, const struct endpoint *);

/* libcurl's name and version, for `draftmill --version`. */
void model_library(struct buf *out);

#endif
