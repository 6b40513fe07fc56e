/*
 * core/row.h - the rows of the trail: one struct and one table of columns each. From the table follow the INSERT, the
 * canonical bytes of the hash chain and the check of the migration, so a column is named once.
 *
 * An integer column that may be NULL holds ROW_NULL; an absent str is NULL. Strings are borrowed.
 */
#ifndef CORE_ROW_H
#define CORE_ROW_H

#include "base/digest.h"

#define ROW_NULL INT64_MIN

enum column_type {
	COL_BIGINT, /* int64_t field in all four integer types */
	COL_INTEGER,
	COL_SMALLINT,
	COL_TIME,    /* int64_t, Unix ms; timestamptz */
	COL_BOOLEAN, /* bool */
	COL_TEXT,    /* struct str, UTF-8 without NUL */
	COL_BYTES,   /* struct str; bytea */
	COL_SHA,     /* uint8_t[32], never NULL; bytea */
	COL_SALT,    /* uint8_t[16], never NULL; bytea */
	COL_UUID,    /* uint8_t[16], never NULL */
};

struct column {
	const char *name;
	enum column_type type;
	bool hashed; /* enters row_digest(). Texts of persons do not: their salted SHA-256 stands beside them and does */
	size_t offset;
};

struct table {
	const char *name;
	const struct column *column;
	int n_column;
};

struct job_row {
	int64_t job_no;
	struct str source, id;
	int64_t revision;
	struct str batch, tenant, subject, tags /* JSON array or NULL */, attributes, traceparent;
	struct str profile;
	uint8_t profile_sha[SHA_BYTES];
	struct str stakes;
	int64_t not_after_ms;
	uint8_t salt[SALT_BYTES];
	struct str cluster, topic;
	int64_t part, offset, worker_id, at_ms;
	struct str payload; /* the record's value as received */
	uint8_t payload_sha[SHA_BYTES];
};

struct step_row {
	int64_t job_no, step_no;
	struct str fact; /* started replied call_failed resumed stopped */
	int64_t call_no;
	int64_t worker_id, at_ms, active_ms;
	struct str stop; /* STOPPED: why */
	int64_t lost; /* RESUMED, STOPPED: lost attempts of the open calls, by number; a byte each, the first the lowest */
	int64_t n_maybe_billed; /* REPLIED, CALL_FAILED: earlier attempts of this call that may have been billed */
	int64_t intents; /* bit i = the i-th call of the action carries its intent in this row */
	struct str role, model_asked, model, request_id, class, finish_reason;
	int64_t http_status;
	struct str headers;
	bool whole;
	int64_t tokens_in, tokens_cached, tokens_out, cost_micro_usd, latency_ms;
	struct str reply;	      /* body as received */
	uint8_t reply_sha[SHA_BYTES]; /* salted; of the empty text where there is no reply */
	struct str action;
	uint8_t digest[SHA_BYTES]; /* of what the step made: draft, critique, issues */
	uint8_t hash
		[SHA_BYTES]; /* SHA-256 over the previous hash and the hashed columns; not itself hashed */
};

struct attempt_row { /* an intent of its own: a call that had to wait for its slot, or a retry */
	int64_t job_no, call_no, attempt_no; /* attempt_no: 1.. ; 0 is the intent in the step */
	int64_t worker_id, at_ms;
	struct str why;	     /* "waited", or the class that ended the attempt before */
	int64_t http_status; /* of the attempt before */
	int64_t latency_ms;  /* of the attempt before */
	struct str detail;   /* of the attempt before, the provider's words */
};

struct draft_row {
	int64_t job_no, draft_no, step_no, from_draft_no;
	struct str body;
	uint8_t body_sha[SHA_BYTES]; /* salted */
	struct str checks; /* JSON array of {name, type, hard, severity, ok, detail, at, n} */
	uint8_t checks_sha[SHA_BYTES]; /* salted */
	int64_t n_hard_failed, n_failed, changed_permille, confidence_permille;
};

struct critique_row {
	int64_t job_no, step_no, draft_no;
	bool valid;
	struct str fault;
	int64_t score;
	struct str verdict, reasons;
	uint8_t text_sha[SHA_BYTES]; /* salted, of reasons */
	int64_t n_issue, n_ignored;
};

struct issue_row {
	int64_t job_no, step_no, n;
	struct str category;
	int64_t severity, at, length; /* span in the draft, bytes; NULL: not found there */
	struct str snippet, suggestion;
	uint8_t text_sha[SHA_BYTES]; /* salted, of snippet + "\n" + suggestion */
};

struct outcome_row {
	int64_t job_no;
	struct str outcome, stop_reason;
	int64_t draft_no, score, n_iterations, n_calls;
	int64_t tokens_in, tokens_cached, tokens_out, cost_micro_usd, active_ms, worker_id, at_ms;
	uint8_t head[SHA_BYTES]; /* SHA-256 over the last step's hash and the hashed columns */
};

struct outbox_row {
	int64_t job_no;
	struct str kind;
	uint8_t event_id[UUID_BYTES];
	struct str topic, key, payload; /* payload NULL: a dead letter's, see its row */
	uint8_t payload_sha[SHA_BYTES];
	struct str traceparent;
};

struct sent_row {
	int64_t job_no;
	struct str kind;
	int64_t part, offset, at_ms;
};

struct dead_letter_row {
	int64_t letter_no; /* drawn like a job number; names it in outbox and todo */
	struct str cluster, topic;
	int64_t part, offset;
	uint8_t value_sha[SHA_BYTES]; /* of the empty text for a null value */
	struct str reason, detail;
	struct str key, value,
		headers; /* as received; headers as JSON array of [key, hex of the value or null] */
	struct str source, id; /* where they could be read */
	int64_t revision;
	int64_t first_job_no; /* conflict: the job that has the identity */
	struct str first_sha; /* conflict: its payload's SHA-256; 32 bytes */
	int64_t worker_id, at_ms;
};

extern const struct table job_table, step_table, attempt_table, draft_table, critique_table,
	issue_table, outcome_table, outbox_table, sent_table, dead_letter_table;

/* SHA-256 over the canonical fields: "draftmill/TABLE/1", @previous (NULL = null), then the hashed columns in table
 * order: integers and times as integers, booleans as 0 or 1, the rest as bytes. */
void row_digest(const struct table *, const void *row, const uint8_t *previous,
		uint8_t out[SHA_BYTES]);

#endif
