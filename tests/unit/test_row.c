#include "core/row.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct {
	const struct table *table;
	size_t bytes; /* of its struct */
} tables[] = {
	{&job_table, sizeof(struct job_row)},
	{&step_table, sizeof(struct step_row)},
	{&attempt_table, sizeof(struct attempt_row)},
	{&draft_table, sizeof(struct draft_row)},
	{&critique_table, sizeof(struct critique_row)},
	{&issue_table, sizeof(struct issue_row)},
	{&outcome_table, sizeof(struct outcome_row)},
	{&outbox_table, sizeof(struct outbox_row)},
	{&sent_table, sizeof(struct sent_row)},
	{&dead_letter_table, sizeof(struct dead_letter_row)},
};
enum { N_TABLES = sizeof(tables) / sizeof(tables[0]), ROW_BYTES_MAX = 1024 };

static size_t field_bytes(enum column_type type)
{
	switch (type) {
	case COL_BIGINT:
	case COL_INTEGER:
	case COL_SMALLINT:
	case COL_TIME:
		return sizeof(int64_t);
	case COL_BOOLEAN:
		return sizeof(bool);
	case COL_TEXT:
	case COL_BYTES:
		return sizeof(struct str);
	case COL_SHA:
		return SHA_BYTES;
	case COL_SALT:
		return SALT_BYTES;
	case COL_UUID:
		return UUID_BYTES;
	}
	return 0;
}

/* Only what aligns the next field may lie between two columns: so no field is without one. */
static void each_field_is_a_column_in_the_order_of_the_struct(void **state)
{
	for (int t = 0; t < N_TABLES; t++) {
		const struct table *table = tables[t].table;
		size_t end = 0;
		for (int i = 0; i < table->n_column; i++) {
			const struct column *c = &table->column[i];
			assert_in_range(c->offset, end, end + sizeof(int64_t) - 1);
			assert_true(c->offset == end || c->offset % sizeof(int64_t) == 0);
			end = c->offset + field_bytes(c->type);
		}
		assert_in_range(tables[t].bytes, end, end + sizeof(int64_t) - 1);
	}
}

static const struct column *column_named(const struct table *table, const char *name)
{
	for (int i = 0; i < table->n_column; i++) {
		if (!strcmp(table->column[i].name, name))
			return &table->column[i];
	}
	fail_msg("%s has no column %s", table->name, name);
	return NULL;
}

static void times_are_named_without_their_unit(void **state)
{
	const struct column *at = column_named(&job_table, "at");
	const struct column *not_after = column_named(&job_table, "not_after");

	assert_int_equal(at->type, COL_TIME);
	assert_int_equal(at->offset, offsetof(struct job_row, at_ms));
	assert_int_equal(not_after->type, COL_TIME);
	assert_int_equal(not_after->offset, offsetof(struct job_row, not_after_ms));
	assert_int_equal(column_named(&issue_table, "at")->type, COL_INTEGER);
}

static void check_digest(const struct table *table, const void *row, const uint8_t *previous,
			 const char *want)
{
	uint8_t sha[SHA_BYTES];
	char hex[2 * SHA_BYTES + 1];

	row_digest(table, row, previous, sha);
	hex_text(sha, SHA_BYTES, hex);
	assert_string_equal(hex, want);
}

/* Both values by Python's hashlib and struct, from the header's words. */
static void the_digest_is_over_the_canonical_fields(void **state)
{
	struct outbox_row outbox = {.job_no = 7,
				    .kind = STR("outcome"),
				    .topic = STR("draftmill.results"),
				    .key = STR("not hashed"),
				    .payload = STR("nor this")};
	struct critique_row critique = {.job_no = 7,
					.step_no = 2,
					.valid = false,
					.fault = STR("no JSON"),
					.score = ROW_NULL,
					.reasons = STR("not hashed"),
					.n_ignored = 3};
	uint8_t previous[SHA_BYTES];

	for (int i = 0; i < UUID_BYTES; i++)
		outbox.event_id[i] = (uint8_t)i;
	memset(outbox.payload_sha, 0xAA, SHA_BYTES);
	check_digest(&outbox_table, &outbox, NULL,
		     "a766546c841fcfa497ae6a0d2a20907204943977f2838d07fe1907f6c697bc74");
	memset(critique.text_sha, 0xBB, SHA_BYTES);
	memset(previous, 0x01, SHA_BYTES);
	check_digest(&critique_table, &critique, previous,
		     "5c786f798ee015e83ca4c577dea2df6e61fea7f39a0e020baac77d6438480615");
}

/* Sets a field to another value than zeros are. */
static void change(char *row, const struct column *c)
{
	static const struct str other = STR("other");

	if (c->type == COL_TEXT || c->type == COL_BYTES)
		memcpy(row + c->offset, &other, sizeof(other));
	else
		row[c->offset] = 1;
}

static void the_digest_moves_with_each_hashed_column_and_no_other(void **state)
{
	for (int t = 0; t < N_TABLES; t++) {
		const struct table *table = tables[t].table;
		for (int i = 0; i < table->n_column; i++) {
			_Alignas(int64_t) char row[ROW_BYTES_MAX] = {0};
			uint8_t before[SHA_BYTES], after[SHA_BYTES];
			row_digest(table, row, NULL, before);
			change(row, &table->column[i]);
			row_digest(table, row, NULL, after);
			assert_int_equal(memcmp(before, after, SHA_BYTES) != 0,
					 table->column[i].hashed);
		}
	}
}

/* A list of its own, against a slip in the tables: texts of persons, what is erased with them, and the digests themselves. */
static void what_can_be_erased_is_not_hashed(void **state)
{
	static const char erasable[] =
		" job.subject job.tags job.attributes job.salt job.payload step.reply step.better_reasons step.hash"
		" attempt.detail draft.body draft.checks critique.reasons issue.snippet"
		" issue.suggestion issue.source issue.miscited outcome.head outbox.key outbox.payload dead_letter.detail"
		" dead_letter.key dead_letter.value dead_letter.headers ";
	int n = 0;

	for (int t = 0; t < N_TABLES; t++) {
		for (int i = 0; i < tables[t].table->n_column; i++) {
			const struct column *c = &tables[t].table->column[i];
			char name[64];
			snprintf(name, sizeof(name), " %s.%s ", tables[t].table->name, c->name);
			assert_int_equal(strstr(erasable, name) == NULL, c->hashed);
			n += !c->hashed;
		}
	}
	assert_int_equal(n, 23);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field_is_a_column_in_the_order_of_the_struct),
		cmocka_unit_test(times_are_named_without_their_unit),
		cmocka_unit_test(the_digest_is_over_the_canonical_fields),
		cmocka_unit_test(the_digest_moves_with_each_hashed_column_and_no_other),
		cmocka_unit_test(what_can_be_erased_is_not_hashed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
