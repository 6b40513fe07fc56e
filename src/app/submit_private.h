/*
 * submit_private.h - what the parts of submit share: the jobs of one run, found again by their key.
 */
#ifndef SUBMIT_PRIVATE_H
#define SUBMIT_PRIVATE_H

#include "app/page.h"
#include "app/submit.h"
#include "io/pg.h"
#include "io/producer.h"

enum item_state {
	ITEM_READ,
	ITEM_KNOWN,
	ITEM_INVALID,
	ITEM_SENT,
	ITEM_DELIVERED,
	ITEM_UNDELIVERED
};

struct item { /* a job of the input */
	uint8_t key[UUID_BYTES], sha[SHA_BYTES];
	int file;
	int64_t line_no;
	enum item_state state;
	int64_t part, offset; /* ITEM_DELIVERED; else -1 */
	bool ended;
};

struct items {
	struct item *item;
	size_t n, cap;
	uint32_t *slot; /* open addressing by key; 0: free, else index + 1 */
	size_t n_slot;	/* a power of 2, or 0 */
};

/* The index of the item with this key, or -1. */
int64_t items_find(const struct items *, const uint8_t key[UUID_BYTES]);
size_t items_add(struct items *, const struct item *);
void items_release(struct items *);

struct submit {
	const struct submit_config *c;
	struct submit_counts *counts;
	struct items items;
	struct str topic;
	struct pg *pg; /* NULL: not reachable */
	struct producer *producer;
	struct jobfile *reading;       /* NULL: none */
	int64_t done_bytes, all_bytes; /* of the files before it, and of all; 0: not known */
	int64_t reported_mono_ms;      /* the last delivery report */
	bool stalled;		       /* no report for too long: nothing more is tried */
	int64_t told_mono_ms;	       /* the last progress line */
	bool in_place;		       /* stderr is a terminal.. */
	bool is_line_open;	       /* ..and its last line a progress line */
};

/* One line on stderr: "FILE:LINE: what: why"; of the whole run if @item is NULL. */
void submit_say(struct submit *, const struct item *, const char *what, const char *why);
/* The text on stderr now and then: in place on a terminal and behind a bar (@whole 0: not known, no bar), else a line each 2 s. */
void submit_progress(struct submit *, int64_t part, int64_t whole, const char *format, ...)
	PRINTF_LIKE(4, 5);

/* Connects if there is no connection. */
bool submit_database(struct submit *, struct err *);

/* Fills in what ended. */
void submit_wait(struct submit *);

/* {a,b,c} for an array parameter. */
void put_keys(struct buf *, const struct item *const *, int n);

#endif
