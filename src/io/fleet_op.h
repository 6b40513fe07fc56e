/*
 * fleet_op.h - operations on the fleet's connection, and what the fleet's files share.
 *
 * An operation is one transaction: its statements, then a Sync; every statement is given all parameters. The server answers in
 * order; the answers are kept until the commit. An operation that was not answered when the connection broke, or that the server refused, is sent again, so each is
 * safe to run twice.
 */
#ifndef FLEET_OP_H
#define FLEET_OP_H

#include "io/fleet.h"
#include "io/pg_array.h"
#include "io/pg_row.h"

enum { STATEMENTS_MAX = 5 };

struct op;

struct op_kind {
	const char *name;
	struct op_statement {
		const char *name; /* it is prepared under; NULL: the end of the list */
		const char *sql;
		const struct table
			*table; /* its columns stand where @sql has an '@'; may be NULL */
	} statement[STATEMENTS_MAX + 1];
	void (*finish)(struct fleet *, struct op *); /* committed. May be NULL */
	bool once; /* refused by the server it is finished too, with no rows, and not sent again */
};

struct op {
	const struct op_kind *kind;
	struct arena *arena; /* of this and all that hangs on it */
	struct pg_param param[6];
	int n_param;
	struct pg_rows *rows[STATEMENTS_MAX]; /* the answers, by statement */
	int n_answer;
	int64_t sent_mono_ms;
	reactor_fn *done; /* for the operations that somebody waits for */
	drained_fn *drained;
	void *owner;
};

/* With the parameters $1.. that follow, integers. */
#define op_new(kind, ...)                                                                          \
	op_of((kind), sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})
struct op *op_of(const struct op_kind *, size_t n, const int64_t *param);
void op_text(struct op *, struct str); /* its next parameter; the same for op_array() */
void op_array(struct op *, const struct column *, const void *const *row, int n);

struct op_queue {
	struct op **op; /* the first n_sent are with the server */
	int n, n_sent, cap;
};

/* ---- the state of a fleet, by the file that keeps it ---- */

enum { NUMBER_BLOCK = 4096 }; /* what draw_block() gives */

struct todo_ref { /* a todo row's key */
	int64_t job_no;
	struct str what;
};
struct todo_list {
	struct arena *arena;
	struct todo_ref *row;
	int n;
};

struct take { /* fleet_take.c: from the database into memory, one at a time */
	bool busy;
	struct todo_list list; /* to be loaded; the first @next are */
	int next;
	struct todo_list suspect;	      /* ours but not in memory, at the last look */
	int64_t looked_mono_ms, look_mono_ms; /* when it was, when the next is due */
	fleet_known_fn *knows;
	void *knows_owner;
};

struct ledger {		     /* fleet_ledger.c: marks and strikes as read once */
	struct arena *arena; /* NULL: never */
	struct intake_mark {
		struct str cluster, topic;
		int64_t partition, next_offset;
	} * mark;
	int n_mark;
	struct strike_count {
		struct str what;
		int64_t n;
	} * strike; /* by what */
	int n_strike;
};

struct fleet { /* fleet.c */
	struct reactor *reactor;
	struct fleet_events events;
	void *owner;
	int64_t lease_ms;
	struct pg *pg;
	struct timer *tick;
	struct op_queue queue;

	int64_t worker_id; /* 0: not registered */
	char timeline[16];
	int64_t lease_until_mono_ms,
		months_mono_ms;	     /* 0: no answer yet; when months are made ahead next */
	int64_t spare_until_mono_ms; /* nobody is ended before */
	int64_t n_alive, n_orphans, n_ended;
	int64_t last_month_ms; /* where the last month that is made ahead begins, Unix time; 0: none is */
	bool orphan_events;
	bool beating, reaping, reading_ledger, ready, fenced, leaving;
	struct number_block {
		int64_t next, end;
	} block[2];
	int n_drawing;

	struct take take;
	struct ledger ledger;

	struct timer *leave_limit; /* fleet_end.c */
	reactor_fn *left;
	void *left_owner;
};

/* ---- fleet_op.c ---- */
extern const struct pg_events fleet_connection;
void fleet_queue(struct fleet *, struct op *); /* takes it */
void fleet_send(struct fleet *);	       /* what waits, if the connection is up */
void op_queue_release(struct op_queue *);

/* ---- fleet.c ---- */
void fleet_get_ready(struct fleet *);		   /* if all is there */
void fleet_fence(struct fleet *, const char *why); /* it is over */

/* ---- fleet_end.c ---- */
void fleet_reap(struct fleet *);

/* ---- fleet_take.c ---- */
void fleet_look(struct fleet *);       /* if it is time */
void fleet_look_again(struct fleet *); /* soon: answers may be lost */
void take_release(struct take *);

/* ---- fleet_ledger.c ---- */
void fleet_read_ledger(struct fleet *);
void ledger_release(struct ledger *);

#endif
