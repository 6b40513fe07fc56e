/*
 * io/web.h - answers to GET and HEAD by path, over libmicrohttpd on the loop: for monitors, not for people. Other methods get 405.
 *
 * A client can hold up nothing: at most 32 connections, each ended with its one answer, after 10 s of silence, or after 20 s whatever
 * it says; a request's line and headers have at most 8 KiB.
 */
#ifndef IO_WEB_H
#define IO_WEB_H

#include "base/buf.h"
#include "base/err.h"
#include "io/reactor.h"

struct web;

/* Fills the body, plain text; returns the HTTP status. @path: as asked for, without what follows a `?`. */
typedef int web_fn(void *owner, const char *path, struct buf *body);

/* @listen: IP:PORT, as 127.0.0.1:9464 or [::1]:9464; port 0: any that is free (the log tells which).
 * ST_INVALID: it is no such thing. ST_DOWN: the port is taken, or the address is not of this machine. */
enum status web_open(struct reactor *, const char *listen, web_fn *, void *owner, struct web **out,
		     struct err *err) MUST_CHECK;
void web_free(struct web *); /* not from its callback; NULL is fine */

/* Whether @listen has the form: ST_INVALID if not. */
enum status web_check(const char *listen, struct err *err) MUST_CHECK;

/* libmicrohttpd's name and version, for `draftmill --version`. */
void web_library(struct buf *out);

#endif
