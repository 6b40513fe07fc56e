#include "core/row.h"

#include <stdio.h>

/* clang-format off */
#define H(type, name) {#name, COL_##type, true, offsetof(ROW, name)},
#define U(type, name) {#name, COL_##type, false, offsetof(ROW, name)},
#define T(name) {#name, COL_TIME, true, offsetof(ROW, name##_ms)},

#define ROW struct job_row
const struct table job_table = TABLE("job", JOB_ROW(H, U, T));
#undef ROW

#define ROW struct step_row
const struct table step_table = TABLE("step", STEP_ROW(H, U, T));
#undef ROW

#define ROW struct attempt_row
const struct table attempt_table = TABLE("attempt", ATTEMPT_ROW(H, U, T));
#undef ROW

#define ROW struct draft_row
const struct table draft_table = TABLE("draft", DRAFT_ROW(H, U, T));
#undef ROW

#define ROW struct critique_row
const struct table critique_table = TABLE("critique", CRITIQUE_ROW(H, U, T));
#undef ROW

#define ROW struct issue_row
const struct table issue_table = TABLE("issue", ISSUE_ROW(H, U, T));
#undef ROW

#define ROW struct outcome_row
const struct table outcome_table = TABLE("outcome", OUTCOME_ROW(H, U, T));
#undef ROW

#define ROW struct outbox_row
const struct table outbox_table = TABLE("outbox", OUTBOX_ROW(H, U, T));
#undef ROW

#define ROW struct sent_row
const struct table sent_table = TABLE("outbox_sent", SENT_ROW(H, U, T));
#undef ROW

#define ROW struct dead_letter_row
const struct table dead_letter_table = TABLE("dead_letter", DEAD_LETTER_ROW(H, U, T));
#undef ROW
/* clang-format on */

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
