/*
 * tests/unit/relay.h - stands between a client and PostgreSQL and can lose the answers of a commit: the server has done it, the
 * client never hears of it, the connection is gone.
 */
#ifndef TESTS_RELAY_H
#define TESTS_RELAY_H

struct relay;

struct relay *relay_start(const char *conninfo);  /* host= is a folder with a socket */
const char *relay_conninfo(const struct relay *); /* the same server, through the relay */
/* Of the next @n pipelines the answers are lost: read up to the ReadyForQuery, then both connections are closed. */
void relay_lose_answers(struct relay *, int n);
int relay_n_lost(const struct relay *);
void relay_stop(struct relay *);

#endif
