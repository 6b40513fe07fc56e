/*
 * core/row.h - the rows of the trail: one list of columns each. From it follow the struct, the INSERT and SELECT, the canonical
 * bytes of the hash chain and the check of the migration, so a column is named once.
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

/* clang-format off */
/* A struct table of these columns. */
#define TABLE(name, ...) \
	{name, (const struct column[]){__VA_ARGS__}, sizeof((struct column[]){__VA_ARGS__}) / sizeof(struct column)}
#define COLUMN(type, row, name) {#name, COL_##type, false, offsetof(row, name)}

/* The tables' columns in order: H enters row_digest(), U does not, T is a time (which does), its field is named NAME_ms. */
#define JOB_ROW(H, U, T) \
	H(BIGINT, job_no) H(TEXT, source) H(TEXT, id) H(BIGINT, revision) \
	H(TEXT, batch) H(TEXT, tenant) U(TEXT, subject) U(TEXT, tags) /* JSON array or NULL */ U(TEXT, attributes) \
	H(TEXT, traceparent) H(TEXT, profile) H(SHA, profile_sha) \
	H(TEXT, arm) /* see core/arm.h; NULL: the profile has none */ H(TEXT, stakes) H(TEXT, stakes_by) T(not_after) \
	U(SALT, salt) /* goes with the texts when a person's are erased */ \
	H(TEXT, cluster) H(TEXT, topic) H(INTEGER, part) H(BIGINT, offset) H(BIGINT, worker_id) T(at) \
	U(BYTES, payload) /* the record's value as received */ H(SHA, payload_sha)

#define STEP_ROW(H, U, T) \
	H(BIGINT, job_no) H(INTEGER, step_no) \
	H(TEXT, fact) /* started replied call_failed resumed stopped */ \
	H(SHA, profile_sha) /* the version that decided it: its job's */ \
	H(SMALLINT, call_no) H(BIGINT, worker_id) T(at) H(BIGINT, active_ms) \
	H(TEXT, stop) /* STOPPED: why */ \
	H(SMALLINT, lost) /* RESUMED, STOPPED: lost attempts of the open calls, by number; a byte each, the first the lowest */ \
	H(SMALLINT, n_maybe_billed) /* REPLIED, CALL_FAILED: earlier attempts of this call that may have been billed */ \
	H(SMALLINT, intents) /* bit i = the i-th call of the action carries its intent in this row */ \
	H(TEXT, role) H(TEXT, model_asked) H(TEXT, model) H(TEXT, request_id) H(TEXT, class) H(TEXT, finish_reason) \
	H(SMALLINT, http_status) H(TEXT, headers) /* of the provider, by a fixed list: no person's */ H(BOOLEAN, whole) \
	H(BIGINT, tokens_in) H(BIGINT, tokens_cached) H(BIGINT, tokens_out) H(BIGINT, cost_micro_usd) H(BIGINT, latency_ms) \
	H(INTEGER, n_kept) H(INTEGER, n_reverted) H(TEXT, rejected) /* of a revision: its hunks; why it is no draft, see core/refine.h */ \
	H(TEXT, better) /* of a comparison: first second tie, or invalid */ \
	U(TEXT, better_reasons) /* the critic's; of an invalid one what is wrong with it */ \
	H(SMALLINT, chosen_draft_no) H(TEXT, chosen_by) /* the candidate that was chosen, and why: core/compare.h */ \
	U(BYTES, reply) /* body as received */ \
	H(SHA, reply_sha) /* salted; of the empty text where there is no reply */ \
	H(TEXT, action) H(SHA, digest) /* of what the step made: draft, critique, issues */ \
	U(SHA, hash) /* SHA-256 over the previous hash and the hashed columns */

/* An intent of its own: a call that had to wait for its slot, or a retry. */
#define ATTEMPT_ROW(H, U, T) \
	H(BIGINT, job_no) H(SMALLINT, call_no) H(INTEGER, attempt_no) /* 1.. ; 0 is the intent in the step */ \
	H(BIGINT, worker_id) T(at) \
	H(TEXT, why) /* "waited", or the class that ended the attempt before; of that one are the next, too */ \
	H(SMALLINT, http_status) H(BIGINT, latency_ms) U(TEXT, detail) /* the provider's words */

#define DRAFT_ROW(H, U, T) \
	H(BIGINT, job_no) H(SMALLINT, draft_no) H(INTEGER, step_no) H(SMALLINT, from_draft_no) \
	U(TEXT, body) H(SHA, body_sha) /* salted */ \
	U(TEXT, checks) /* JSON array of {name, type, hard, severity, ok, detail, at, n} */ H(SHA, checks_sha) /* salted */ \
	H(INTEGER, n_hard_failed) H(INTEGER, n_failed) H(SMALLINT, changed_permille) H(SMALLINT, confidence_permille) \
	H(TEXT, fields) /* where the profile names parts: JSON object {NAME: [first byte in body, bytes]} */

#define CRITIQUE_ROW(H, U, T) \
	H(BIGINT, job_no) H(INTEGER, step_no) H(SMALLINT, draft_no) H(BOOLEAN, valid) H(TEXT, fault) \
	H(SMALLINT, score) H(TEXT, verdict) U(TEXT, reasons) H(SHA, text_sha) /* salted, of reasons */ \
	H(SMALLINT, n_issue) H(INTEGER, n_ignored) \
	H(TEXT, shape) /* of the reply, see core/unwrap.h */ H(INTEGER, n_cut) H(SMALLINT, n_unconsidered)

#define ISSUE_ROW(H, U, T) \
	H(BIGINT, job_no) H(INTEGER, step_no) H(SMALLINT, n) H(TEXT, category) H(SMALLINT, severity) \
	H(INTEGER, at) H(INTEGER, length) /* span in the draft, bytes; NULL: not found there */ \
	U(TEXT, snippet) U(TEXT, suggestion) H(SHA, text_sha) /* salted, of these and the next two, "\n" between; NULL: nothing */ \
	U(TEXT, source) /* the job's, that it cites */ U(TEXT, miscited) /* what it cites, and the job has not */

#define OUTCOME_ROW(H, U, T) \
	H(BIGINT, job_no) H(TEXT, outcome) H(TEXT, stop_reason) H(SMALLINT, draft_no) H(SMALLINT, score) \
	H(SMALLINT, n_iterations) H(SMALLINT, n_calls) H(BIGINT, tokens_in) H(BIGINT, tokens_cached) H(BIGINT, tokens_out) \
	H(BIGINT, cost_micro_usd) H(BIGINT, active_ms) H(BIGINT, worker_id) T(at) \
	U(SHA, head) /* SHA-256 over the last step's hash and the hashed columns */

#define OUTBOX_ROW(H, U, T) \
	H(BIGINT, job_no) H(TEXT, kind) H(UUID, event_id) H(TEXT, topic) U(BYTES, key) \
	U(BYTES, payload) /* NULL: a dead letter's, see its row */ H(SHA, payload_sha) H(TEXT, traceparent)

#define SENT_ROW(H, U, T) \
	H(BIGINT, job_no) H(TEXT, kind) H(INTEGER, part) H(BIGINT, offset) T(at)

#define DEAD_LETTER_ROW(H, U, T) \
	H(BIGINT, letter_no) /* drawn like a job number; names it in outbox and todo */ \
	H(TEXT, cluster) H(TEXT, topic) H(INTEGER, part) H(BIGINT, offset) \
	H(SHA, value_sha) /* of the empty text for a null value */ H(TEXT, reason) U(TEXT, detail) \
	U(BYTES, key) U(BYTES, value) U(TEXT, headers) /* as received; headers as JSON array of [key, hex of the value or null] */ \
	H(TEXT, source) H(TEXT, id) H(BIGINT, revision) /* where they could be read */ \
	H(BIGINT, first_job_no) H(BYTES, first_sha) /* conflict: the job that has the identity, its payload's SHA-256 */ \
	H(BIGINT, worker_id) T(at)

/* The fields of these columns. */
#define ROW_FIELD(type, name) ROW_##type(name);
#define ROW_BIGINT(name) int64_t name
#define ROW_INTEGER(name) int64_t name
#define ROW_SMALLINT(name) int64_t name
#define ROW_TIME(name) int64_t name##_ms;
#define ROW_BOOLEAN(name) bool name
#define ROW_TEXT(name) struct str name
#define ROW_BYTES(name) struct str name
#define ROW_SHA(name) uint8_t name[SHA_BYTES]
#define ROW_SALT(name) uint8_t name[SALT_BYTES]
#define ROW_UUID(name) uint8_t name[UUID_BYTES]
#define ROW(LIST) {LIST(ROW_FIELD, ROW_FIELD, ROW_TIME)}

struct job_row ROW(JOB_ROW);
struct step_row ROW(STEP_ROW);
struct attempt_row ROW(ATTEMPT_ROW);
struct draft_row ROW(DRAFT_ROW);
struct critique_row ROW(CRITIQUE_ROW);
struct issue_row ROW(ISSUE_ROW);
struct outcome_row ROW(OUTCOME_ROW);
struct outbox_row ROW(OUTBOX_ROW);
struct sent_row ROW(SENT_ROW);
struct dead_letter_row ROW(DEAD_LETTER_ROW);
#undef ROW
/* clang-format on */

extern const struct table job_table, step_table, attempt_table, draft_table, critique_table,
	issue_table, outcome_table, outbox_table, sent_table, dead_letter_table;

/* SHA-256 over the canonical fields: "draftmill/TABLE/1", @previous (NULL = null), then the hashed columns in table
 * order: integers and times as integers, booleans as 0 or 1, the rest as bytes. */
void row_digest(const struct table *, const void *row, const uint8_t *previous,
		uint8_t out[SHA_BYTES]);

#endif
