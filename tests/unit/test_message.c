#include "core/message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define TRACE "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

struct fixture {
	struct arena *a;
	struct message m;
	struct err err;
};

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){.a = arena_new()};
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	json_free(f->m.doc);
	arena_free(f->a);
	return 0;
}

static enum dead_reason read_with(struct fixture *f, struct str value, const struct header *header,
				  int n)
{
	const struct record record = {.value = value, .header = header, .n_header = n};

	json_free(f->m.doc);
	return message_read(f->a, &record, &f->m, &f->err);
}

static enum dead_reason read_value(struct fixture *f, const char *value)
{
	return read_with(f, str_c(value), NULL, 0);
}

#define assert_str(s, c)                                                                           \
	do {                                                                                       \
		assert_non_null((s).p);                                                            \
		assert_int_equal((s).n, strlen(c));                                                \
		assert_memory_equal((s).p, (c), (s).n);                                            \
	} while (0)

static void every_reason_has_a_name(void **state)
{
	assert_string_equal(dead_name(DEAD_null), "null");
	assert_string_equal(dead_name(DEAD_limits_loosened), "limits_loosened");
	assert_string_equal(dead_name(DEAD_poison), "poison");
	assert_int_equal(N_DEAD_REASONS, 14);
}

/* Read from the root of the work tree. */
static void the_schema_lists_every_reason(void **state)
{
	static char text[1 << 16];
	FILE *file = fopen("config/schema/dead-letter.schema.json", "r");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	for (int i = 0; i < N_DEAD_REASONS; i++) {
		char quoted[64];
		snprintf(quoted, sizeof(quoted), "\"%s\"", dead_name(i));
		if (!strstr(text, quoted))
			fail_msg("dead-letter.schema.json lacks %s", quoted);
	}
}

static void plain_json_is_its_own_body(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_value(f, " {\"id\":\"a\"} "), DEAD_NONE);
	assert_ptr_equal(f->m.body, f->m.doc);
	assert_null(f->m.id.p);
	assert_null(f->m.source.p);
	assert_null(f->m.attributes.p);
	assert_null(f->m.traceparent.p);
	assert_int_equal(read_value(f, "\xEF\xBB\xBF{}"), DEAD_NONE);
}

static void what_is_no_json_object_is_dead(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_value(f, NULL), DEAD_null);
	assert_int_equal(read_value(f, ""), DEAD_empty);
	assert_int_equal(read_value(f, " \t\r\n"), DEAD_empty);
	assert_int_equal(read_value(f, "\xEF\xBB\xBF"), DEAD_empty);
	assert_int_equal(read_value(f, "{\"a\":\"\xFF\"}"), DEAD_not_utf8);
	assert_int_equal(read_value(f, "hello"), DEAD_not_json);
	assert_int_equal(read_value(f, "{} {}"), DEAD_not_json);
	assert_int_equal(read_value(f, "{\"a\":1,\"a\":1}"), DEAD_duplicate_key);
	assert_int_equal(read_value(f, "[]"), DEAD_wrong_type);
	assert_string_equal(f->err.text, "the message is array, must be an object");
	assert_int_equal(read_value(f, "null"), DEAD_wrong_type);
	assert_null(f->m.doc);
}

static void a_value_has_a_cap(void **state)
{
	struct fixture *f = *state;
	size_t n = MESSAGE_BYTES_MAX + 1;
	char *p = malloc(n);

	memset(p, ' ', n);
	assert_int_equal(read_with(f, (struct str){p, n}, NULL, 0), DEAD_empty);
	memcpy(p, "{}", 2);
	assert_int_equal(read_with(f, (struct str){p, n}, NULL, 0), DEAD_too_large);
	assert_int_equal(read_with(f, (struct str){p, n - 1}, NULL, 0), DEAD_NONE);
	p[n - 1] = (char)0xFF; /* too large comes before not UTF-8 */
	assert_int_equal(read_with(f, (struct str){p, n}, NULL, 0), DEAD_too_large);
	free(p);
}

static void a_structured_event_carries_the_job_as_data(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(
		read_value(
			f,
			"{\"type\":\"t\",\"specversion\":\"1.0\",\"source\":\"/s\",\"id\":\"e1\","
			"\"n\":7,\"b\":true,\"gone\":null,\"traceparent\":\"" TRACE "\","
			"\"data\":{\"id\":\"a\"}}"),
		DEAD_NONE);
	assert_non_null(json_get(f->m.body, "id"));
	assert_null(json_get(f->m.body, "data"));
	assert_str(f->m.id, "e1");
	assert_str(f->m.source, "/s");
	assert_str(f->m.attributes,
		   "{\"b\":\"true\",\"n\":\"7\",\"specversion\":\"1.0\",\"type\":\"t\"}");
	assert_str(f->m.traceparent, TRACE);
}

static void a_faulty_structured_event_is_dead(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_value(f, "{\"specversion\":1,\"data\":{}}"), DEAD_wrong_type);
	assert_int_equal(read_value(f, "{\"specversion\":\"0.3\",\"data\":{}}"), DEAD_out_of_range);
	assert_int_equal(read_value(f, "{\"specversion\":\"1.0\"}"), DEAD_missing_field);
	assert_string_equal(f->err.text, "#/data: is missing");
	assert_int_equal(read_value(f, "{\"specversion\":\"1.0\",\"data\":\"{}\"}"),
			 DEAD_wrong_type);
	assert_string_equal(f->err.text, "#/data is string, must be an object");
	assert_int_equal(read_value(f, "{\"specversion\":\"1.0\",\"data_base64\":\"e30=\"}"),
			 DEAD_unknown_field);
	assert_int_equal(read_value(f, "{\"specversion\":\"1.0\",\"id\":1,\"data\":{}}"),
			 DEAD_wrong_type);
	assert_int_equal(read_value(f, "{\"specversion\":\"1.0\",\"x\":{},\"data\":{}}"),
			 DEAD_wrong_type);
}

static void binary_mode_is_in_the_headers(void **state)
{
	struct fixture *f = *state;
	const struct header header[] = {
		{STR("content-type"), STR("application/json")},
		{STR("ce_type"), STR("t")},
		{STR("ce_id"), STR("e1")},
		{STR("ce_specversion"), STR("1.0")},
		{STR("ce_source"), STR("/s")},
		{STR("ce_null"), {0}},
		{STR("ce_traceparent"), STR(TRACE)},
	};

	assert_int_equal(read_with(f, STR_OF("{}"), header, 7), DEAD_NONE);
	assert_ptr_equal(f->m.body, f->m.doc);
	assert_str(f->m.id, "e1");
	assert_str(f->m.source, "/s");
	assert_str(f->m.attributes, "{\"specversion\":\"1.0\",\"type\":\"t\"}");
	assert_str(f->m.traceparent, TRACE);
}

static void in_structured_mode_headers_do_not_count(void **state)
{
	struct fixture *f = *state;
	const struct header header[] = {{STR("ce_id"), STR("h")}, {STR("ce_x"), STR("h")}};

	assert_int_equal(read_with(f, STR_OF("{\"specversion\":\"1.0\",\"id\":\"e\",\"data\":{}}"),
				   header, 2),
			 DEAD_NONE);
	assert_str(f->m.id, "e");
	assert_str(f->m.attributes, "{\"specversion\":\"1.0\"}");
}

static void the_last_of_two_headers_counts(void **state)
{
	struct fixture *f = *state;
	const struct header header[] = {
		{STR("ce_id"), STR("1")},
		{STR("ce_x"), STR("1")},
		{STR("ce_x"), STR("2")},
		{STR("ce_id"), STR("2")},
	};

	assert_int_equal(read_with(f, STR_OF("{}"), header, 4), DEAD_NONE);
	assert_str(f->m.id, "2");
	assert_str(f->m.attributes, "{\"x\":\"2\"}");
}

static void header_bytes_are_made_text_or_refused(void **state)
{
	struct fixture *f = *state;
	const struct header latin1[] = {{STR("ce_id"), STR("caf\xE9")}};
	const struct header nul[] = {{STR("ce_id"), STR("a\0b")}};
	const struct header old[] = {{STR("ce_specversion"), STR("0.3")}};

	assert_int_equal(read_with(f, STR_OF("{}"), latin1, 1), DEAD_NONE);
	assert_str(f->m.id, "caf\xEF\xBF\xBD");
	assert_int_equal(read_with(f, STR_OF("{}"), nul, 1), DEAD_out_of_range);
	assert_string_equal(f->err.text, "a NUL byte in header ce_id");
	assert_int_equal(read_with(f, STR_OF("{}"), old, 1), DEAD_out_of_range);
}

static void attributes_have_caps(void **state)
{
	struct fixture *f = *state;
	static char name[ATTRIBUTES_MAX + 1][16], text[ATTRIBUTES_BYTES_MAX];
	struct header header[ATTRIBUTES_MAX + 1];
	const struct header large = {STR("ce_x"), {text, sizeof(text)}};

	for (int i = 0; i <= ATTRIBUTES_MAX; i++) {
		snprintf(name[i], sizeof(name[i]), "ce_%d", i);
		header[i] = (struct header){str_c(name[i]), STR("")};
	}
	assert_int_equal(read_with(f, STR_OF("{}"), header, ATTRIBUTES_MAX), DEAD_NONE);
	assert_int_equal(read_with(f, STR_OF("{}"), header, ATTRIBUTES_MAX + 1), DEAD_out_of_range);
	memset(text, 'x', sizeof(text));
	assert_int_equal(read_with(f, STR_OF("{}"), &large, 1), DEAD_out_of_range);
}

static void the_plain_trace_header_comes_first(void **state)
{
	struct fixture *f = *state;
	const struct header header[] = {
		{STR("ce_traceparent"),
		 STR("00-11111111111111111111111111111111-1111111111111111-00")},
		{STR("traceparent"), STR("garbage")},
		{STR("traceparent"), STR(TRACE)},
	};

	assert_int_equal(read_with(f, STR_OF("{}"), header, 3), DEAD_NONE);
	assert_str(f->m.traceparent, TRACE);
	assert_int_equal(read_with(f, STR_OF("{}"), header, 2), DEAD_NONE);
	assert_str(f->m.traceparent, "00-11111111111111111111111111111111-1111111111111111-00");
	assert_int_equal(read_with(f, STR_OF("{}"), header + 1, 1), DEAD_NONE);
	assert_null(f->m.traceparent.p);
}

static void a_traceparent_has_one_form(void **state)
{
	static const char *const wrong[] = {
		"",
		"01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", /* version */
		"00-4BF92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", /* upper case */
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01", /* no trace */
		"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", /* no parent */
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-011",
		"00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	};

	assert_str(traceparent_read(STR_OF(TRACE)), TRACE);
	assert_null(traceparent_read((struct str){0}).p);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_null(traceparent_read(str_c(wrong[i])).p);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(every_reason_has_a_name),
		TEST(the_schema_lists_every_reason),
		TEST(plain_json_is_its_own_body),
		TEST(what_is_no_json_object_is_dead),
		TEST(a_value_has_a_cap),
		TEST(a_structured_event_carries_the_job_as_data),
		TEST(a_faulty_structured_event_is_dead),
		TEST(binary_mode_is_in_the_headers),
		TEST(in_structured_mode_headers_do_not_count),
		TEST(the_last_of_two_headers_counts),
		TEST(header_bytes_are_made_text_or_refused),
		TEST(attributes_have_caps),
		TEST(the_plain_trace_header_comes_first),
		TEST(a_traceparent_has_one_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
