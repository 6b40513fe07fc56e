#include "core/row.h"

#include <stdio.h>

/* clang-format off */
/* A column is named as its field; NAMED() where the two differ. The third argument: does it enter row_digest()? */
#define NAMED(name, field, type, hashed) {name, COL_##type, hashed, offsetof(struct ROW, field)}
#define COLUMN(field, type, hashed) NAMED(#field, field, type, hashed)
#define TABLE(name, columns) {name, columns, sizeof(columns) / sizeof(*(columns))}

#define ROW job_row
static const struct column job_columns[] = {
	COLUMN(job_no, BIGINT, true),
	COLUMN(source, TEXT, true),
	COLUMN(id, TEXT, true),
	COLUMN(revision, BIGINT, true),
	COLUMN(batch, TEXT, true),
	COLUMN(tenant, TEXT, true),
	COLUMN(subject, TEXT, false),
	COLUMN(tags, TEXT, false),
	COLUMN(attributes, TEXT, false),
	COLUMN(traceparent, TEXT, true),
	COLUMN(profile, TEXT, true),
	COLUMN(profile_sha, SHA, true),
	COLUMN(stakes, TEXT, true),
	NAMED("not_after", not_after_ms, TIME, true),
	COLUMN(salt, SALT, false), /* goes with the texts when a person's are erased */
	COLUMN(cluster, TEXT, true),
	COLUMN(topic, TEXT, true),
	COLUMN(part, INTEGER, true),
	COLUMN(offset, BIGINT, true),
	COLUMN(worker_id, BIGINT, true),
	NAMED("at", at_ms, TIME, true),
	COLUMN(payload, BYTES, false),
	COLUMN(payload_sha, SHA, true),
};
#undef ROW

#define ROW step_row
static const struct column step_columns[] = {
	COLUMN(job_no, BIGINT, true),
	COLUMN(step_no, INTEGER, true),
	COLUMN(fact, TEXT, true),
	COLUMN(call_no, SMALLINT, true),
	COLUMN(worker_id, BIGINT, true),
	NAMED("at", at_ms, TIME, true),
	COLUMN(active_ms, BIGINT, true),
	COLUMN(stop, TEXT, true),
	COLUMN(lost, SMALLINT, true),
	COLUMN(n_maybe_billed, SMALLINT, true),
	COLUMN(intents, SMALLINT, true),
	COLUMN(role, TEXT, true),
	COLUMN(model_asked, TEXT, true),
	COLUMN(model, TEXT, true),
	COLUMN(request_id, TEXT, true),
	COLUMN(class, TEXT, true),
	COLUMN(finish_reason, TEXT, true),
	COLUMN(http_status, SMALLINT, true),
	COLUMN(headers, TEXT, true), /* of the provider, by a fixed list: no person's */
	COLUMN(whole, BOOLEAN, true),
	COLUMN(tokens_in, BIGINT, true),
	COLUMN(tokens_cached, BIGINT, true),
	COLUMN(tokens_out, BIGINT, true),
	COLUMN(cost_micro_usd, BIGINT, true),
	COLUMN(latency_ms, BIGINT, true),
	COLUMN(reply, BYTES, false),
	COLUMN(reply_sha, SHA, true),
	COLUMN(action, TEXT, true),
	COLUMN(digest, SHA, true),
	COLUMN(hash, SHA, false),
};
#undef ROW

#define ROW attempt_row
static const struct column attempt_columns[] = {
	COLUMN(job_no, BIGINT, true),
	COLUMN(call_no, SMALLINT, true),
	COLUMN(attempt_no, INTEGER, true),
	COLUMN(worker_id, BIGINT, true),
	NAMED("at", at_ms, TIME, true),
	COLUMN(why, TEXT, true),
	COLUMN(http_status, SMALLINT, true),
	COLUMN(latency_ms, BIGINT, true),
	COLUMN(detail, TEXT, false),
};
#undef ROW

#define ROW draft_row
static const struct column draft_columns[] = {
	COLUMN(job_no, BIGINT, true),
	COLUMN(draft_no, SMALLINT, true),
	COLUMN(step_no, INTEGER, true),
	COLUMN(from_draft_no, SMALLINT, true),
	COLUMN(body, TEXT, false),
	COLUMN(body_sha, SHA, true),
	COLUMN(checks, TEXT, false),
	COLUMN(checks_sha, SHA, true),
	COLUMN(n_hard_failed, INTEGER, true),
	COLUMN(n_failed, INTEGER, true),
	COLUMN(changed_permille, SMALLINT, true),
	COLUMN(confidence_permille, SMALLINT, true),
};
#undef ROW

#define ROW critique_row
static const struct column critique_columns[] = {
	COLUMN(job_no, BIGINT, true),
	COLUMN(step_no, INTEGER, true),
	COLUMN(draft_no, SMALLINT, true),
	COLUMN(valid, BOOLEAN, true),
	COLUMN(fault, TEXT, true),
	COLUMN(score, SMALLINT, true),
	COLUMN(verdict, TEXT, true),
	COLUMN(reasons, TEXT, false),
	COLUMN(text_sha, SHA, true),
	COLUMN(n_issue, SMALLINT, true),
	COLUMN(n_ignored, INTEGER, true),
};
#undef ROW

#define ROW issue_row
static const struct column issue_columns[] = {
	COLUMN(job_no, BIGINT, true),
	COLUMN(step_no, INTEGER, true),
	COLUMN(n, SMALLINT, true),
	COLUMN(category, TEXT, true),
	COLUMN(severity, SMALLINT, true),
	COLUMN(at, INTEGER, true),
	COLUMN(length, INTEGER, true),
	COLUMN(snippet, TEXT, false),
	COLUMN(suggestion, TEXT, false),
	COLUMN(text_sha, SHA, true),
};
#undef ROW

#define ROW outcome_row
static const struct column outcome_columns[] = {
	COLUMN(job_no, BIGINT, true),
	COLUMN(outcome, TEXT, true),
	COLUMN(stop_reason, TEXT, true),
	COLUMN(draft_no, SMALLINT, true),
	COLUMN(score, SMALLINT, true),
	COLUMN(n_iterations, SMALLINT, true),
	COLUMN(n_calls, SMALLINT, true),
	COLUMN(tokens_in, BIGINT, true),
	COLUMN(tokens_cached, BIGINT, true),
	COLUMN(tokens_out, BIGINT, true),
	COLUMN(cost_micro_usd, BIGINT, true),
	COLUMN(active_ms, BIGINT, true),
	COLUMN(worker_id, BIGINT, true),
	NAMED("at", at_ms, TIME, true),
	COLUMN(head, SHA, false),
};
#undef ROW

#define ROW outbox_row
static const struct column outbox_columns[] = {
	COLUMN(job_no, BIGINT, true),
	COLUMN(kind, TEXT, true),
	COLUMN(event_id, UUID, true),
	COLUMN(topic, TEXT, true),
	COLUMN(key, BYTES, false),
	COLUMN(payload, BYTES, false),
	COLUMN(payload_sha, SHA, true),
	COLUMN(traceparent, TEXT, true),
};
#undef ROW

#define ROW sent_row
static const struct column sent_columns[] = {
	COLUMN(job_no, BIGINT, true),
	COLUMN(kind, TEXT, true),
	COLUMN(part, INTEGER, true),
	COLUMN(offset, BIGINT, true),
	NAMED("at", at_ms, TIME, true),
};
#undef ROW

#define ROW dead_letter_row
static const struct column dead_letter_columns[] = {
	COLUMN(letter_no, BIGINT, true),
	COLUMN(cluster, TEXT, true),
	COLUMN(topic, TEXT, true),
	COLUMN(part, INTEGER, true),
	COLUMN(offset, BIGINT, true),
	COLUMN(value_sha, SHA, true),
	COLUMN(reason, TEXT, true),
	COLUMN(detail, TEXT, false),
	COLUMN(key, BYTES, false),
	COLUMN(value, BYTES, false),
	COLUMN(headers, TEXT, false),
	COLUMN(source, TEXT, true),
	COLUMN(id, TEXT, true),
	COLUMN(revision, BIGINT, true),
	COLUMN(first_job_no, BIGINT, true),
	COLUMN(first_sha, BYTES, true),
	COLUMN(worker_id, BIGINT, true),
	NAMED("at", at_ms, TIME, true),
};
#undef ROW
/* clang-format on */

const struct table job_table = TABLE("job", job_columns);
const struct table step_table = TABLE("step", step_columns);
const struct table attempt_table = TABLE("attempt", attempt_columns);
const struct table draft_table = TABLE("draft", draft_columns);
const struct table critique_table = TABLE("critique", critique_columns);
const struct table issue_table = TABLE("issue", issue_columns);
const struct table outcome_table = TABLE("outcome", outcome_columns);
const struct table outbox_table = TABLE("outbox", outbox_columns);
const struct table sent_table = TABLE("outbox_sent", sent_columns);
const struct table dead_letter_table = TABLE("dead_letter", dead_letter_columns);

static void add_int(struct digest *d, int64_t value)
{
	if (value == ROW_NULL)
		digest_null(d);
	else
		digest_int(d, value);
}

static void add_column(struct digest *d, const struct column *c, const void *row)
{
	const char *field = (const char *)row + c->offset;

	switch (c->type) {
	case COL_BIGINT:
	case COL_INTEGER:
	case COL_SMALLINT:
	case COL_TIME:
		add_int(d, *(const int64_t *)(const void *)field);
		return;
	case COL_BOOLEAN:
		digest_int(d, *(const bool *)field);
		return;
	case COL_TEXT:
	case COL_BYTES:
		digest_bytes(d, *(const struct str *)(const void *)field);
		return;
	case COL_SHA:
		digest_bytes(d, (struct str){field, SHA_BYTES});
		return;
	case COL_SALT:
		digest_bytes(d, (struct str){field, SALT_BYTES});
		return;
	case COL_UUID:
		digest_bytes(d, (struct str){field, UUID_BYTES});
		return;
	}
	BUG("column %s of no type", c->name);
}

void row_digest(const struct table *table, const void *row, const uint8_t *previous,
		uint8_t out[SHA_BYTES])
{
	char label[64];

	snprintf(label, sizeof(label), "draftmill/%s/1", table->name);
	struct digest *d = digest_begin(label);
	digest_bytes(d, (struct str){(const char *)previous, previous ? SHA_BYTES : 0});
	for (int i = 0; i < table->n_column; i++) {
		if (table->column[i].hashed)
			add_column(d, &table->column[i], row);
	}
	digest_end(d, out);
}
