#include "core/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define PROFILE ",\"profile\":\"p\""
#define JOB(members) "{\"id\":\"a\",\"profile\":\"p\"," members "}"

struct fixture {
	struct arena *a;
	const struct schema *schema;
	struct job job;
	struct err err;
};

static struct buf schema_text = BUF(1 << 20);

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){.a = arena_new()};
	if (schema_read(f.a, buf_view(&schema_text), &f.schema, &f.err) != ST_OK)
		fail_msg("%s", f.err.text);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	arena_free(f->a);
	return 0;
}

static enum dead_reason read_with(struct fixture *f, const char *value, const struct header *header,
				  int n)
{
	const struct record record = {.value = str_c(value), .header = header, .n_header = n};

	f->err.text[0] = '\0';
	return job_read(f->a, &record, f->schema, &f->job, &f->err);
}

/* The reason as a word; after a failure *err is not empty. */
static const char *reason_of(struct fixture *f, const char *value)
{
	enum dead_reason reason = read_with(f, value, NULL, 0);

	if (reason == DEAD_NONE)
		return "none";
	assert_true(f->err.text[0]);
	return dead_name(reason);
}

#define assert_str(s, c)                                                                           \
	do {                                                                                       \
		assert_non_null((s).p);                                                            \
		assert_int_equal((s).n, strlen(c));                                                \
		assert_memory_equal((s).p, (c), (s).n);                                            \
	} while (0)

static void the_smallest_job(void **state)
{
	struct fixture *f = *state;
	const struct job *job = &f->job;

	assert_string_equal(reason_of(f, "{\"id\":\"a\",\"profile\":\"p\"}"), "none");
	assert_str(job->id, "a");
	assert_str(job->source, "");
	assert_str(job->profile_name, "p");
	assert_int_equal(job->revision, 0);
	assert_int_equal(job->language, LANG_EN);
	assert_int_equal(job->not_after_ms, 0);
	assert_int_equal(
		job->n_variable + job->n_constraint + job->n_check + job->n_source + job->n_tag, 0);
	assert_int_equal(job->limits.iterations, 0);
	assert_false(job->has_stakes);
	assert_null(job->task.p);
	assert_null(job->batch.p);
	assert_null(job->attributes.p);
}

static void a_job_with_everything(void **state)
{
	struct fixture *f = *state;
	const struct job *job = &f->job;

	assert_string_equal(
		reason_of(
			f,
			JOB("\"source\":\"s\",\"revision\":2.0,\"task\":\"t\",\"language\":\"ja-JP\","
			    "\"variables\":{\"k\":\"v\",\"name\":\"\"},\"constraints\":[\"c1\",\"c2\"],"
			    "\"checks\":[{\"name\":\"len\",\"type\":\"words\",\"max\":9}],"
			    "\"sources\":[{\"id\":\"d\",\"text\":\"e\"}],"
			    "\"limits\":{\"iterations\":1,\"tokens\":2,\"micro_usd\":3,\"active_ms\":4},"
			    "\"stakes\":\"high\",\"not_after\":\"1970-01-01T09:00:01+09:00\","
			    "\"batch\":\"b\",\"tenant\":\"o\",\"subject\":\"u\",\"tags\":[\"x\",\"y\"]")),
		"none");
	assert_str(job->source, "s");
	assert_int_equal(job->revision, 2);
	assert_str(job->task, "t");
	assert_int_equal(job->language, LANG_JA);
	assert_int_equal(job->n_variable, 2);
	assert_str(job_variable(job, STR_OF("k")), "v");
	assert_str(job_variable(job, STR_OF("name")), "");
	assert_null(job_variable(job, STR_OF("K")).p);
	assert_int_equal(job->n_constraint, 2);
	assert_str(job->constraint[1], "c2");
	assert_int_equal(job->n_check, 1);
	assert_str(job->check[0].name, "len");
	assert_int_equal(job->n_source, 1);
	assert_str(job->sources[0].id, "d");
	assert_str(job->sources[0].text, "e");
	assert_int_equal(job->limits.iterations, 1);
	assert_int_equal(job->limits.tokens, 2);
	assert_int_equal(job->limits.micro_usd, 3);
	assert_int_equal(job->limits.active_ms, 4);
	assert_true(job->has_stakes);
	assert_int_equal(job->stakes, STAKES_HIGH);
	assert_int_equal(job->not_after_ms, 1000);
	assert_str(job->batch, "b");
	assert_str(job->tenant, "o");
	assert_str(job->subject, "u");
	assert_int_equal(job->n_tag, 2);
	assert_str(job->tag[1], "y");
}

static void the_language_is_japanese_or_english(void **state)
{
	static const struct {
		const char *json;
		enum language language;
	} cases[] = {
		{JOB("\"language\":\"ja\""), LANG_JA},	  {JOB("\"language\":\"JA-jp\""), LANG_JA},
		{JOB("\"language\":\"jav\""), LANG_EN},	  {JOB("\"language\":\"en-JA\""), LANG_EN},
		{JOB("\"language\":\"de-AT\""), LANG_EN},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_string_equal(reason_of(f, cases[i].json), "none");
		assert_int_equal(f->job.language, cases[i].language);
	}
}

static void each_fault_has_its_reason(void **state)
{
	static const struct {
		const char *json, *reason, *place;
	} cases[] = {
		{NULL, "null", ""},
		{" ", "empty", ""},
		{"\xEF\xBB\xBF", "empty", ""},
		{"{\"id\":\"\xC0\x80\"}", "not_utf8", ""},
		{"{'id':'a'}", "not_json", ""},
		{"{\"id\":\"a\\u0000\"}", "not_json", ""},
		{"{\"id\":\"a\",\"id\":\"b\"" PROFILE "}", "duplicate_key", ""},
		{"\"a\"", "wrong_type", ""},
		{"{\"id\":1" PROFILE "}", "wrong_type", "#/id: "},
		{"{\"id\":null" PROFILE "}", "wrong_type", "#/id: "},
		{"{\"id\":\"\"" PROFILE "}", "out_of_range", "#/id: "},
		{"{\"profile\":\"p\"}", "missing_field", "#/id: "},
		{"{\"id\":\"a\"}", "missing_field", "#/profile: "},
		{JOB("\"colour\":1"), "unknown_field", "#/colour: "},
		{JOB("\"limits\":{\"calls\":1}"), "unknown_field", "#/limits/calls: "},
		{JOB("\"sources\":[{\"id\":\"d\",\"text\":\"\",\"url\":\"\"}]"), "unknown_field",
		 "#/sources/0/url: "},
		{JOB("\"sources\":[{\"text\":\"\"}]"), "missing_field", "#/sources/0/id: "},
		{JOB("\"sources\":[{\"id\":\"d\",\"text\":\"\"},{\"id\":\" d\",\"text\":\"\"}]"),
		 "out_of_range", "#/sources/1/id: "},
		{JOB("\"revision\":-1"), "out_of_range", "#/revision: "},
		{JOB("\"revision\":1.5"), "wrong_type", "#/revision: "},
		{JOB("\"revision\":\"1\""), "wrong_type", "#/revision: "},
		{JOB("\"revision\":9007199254740992"), "out_of_range", "#/revision: "},
		{JOB("\"tags\":[1,2,3,4,5,6,7,8,9]"), "out_of_range",
		 "#/tags: has 9 items, must have at most 8"},
		{JOB("\"tags\":\"x\""), "wrong_type", "#/tags: "},
		{JOB("\"tags\":[\"x\",2]"), "wrong_type", "#/tags/1: "},
		{JOB("\"not_after\":\"tomorrow\""), "out_of_range", "#/not_after: "},
		{JOB("\"not_after\":\"2026-11-30T12:00:00\""), "out_of_range", "#/not_after: "},
		{JOB("\"variables\":{\"n\":1}"), "wrong_type", "#/variables/n: "},
		{JOB("\"limits\":{\"tokens\":0}"), "out_of_range", "#/limits/tokens: "},
		{JOB("\"limits\":{\"iterations\":6}"), "out_of_range", "#/limits/iterations: "},
		{JOB("\"stakes\":\"medium\""), "out_of_range", "#/stakes: "},
		{JOB("\"checks\":[{\"type\":\"words\"}]"), "missing_field", "#/checks/0/name: "},
		{JOB("\"checks\":[{\"name\":\"a\",\"type\":\"sonnet\"}]"), "out_of_range",
		 "#/checks/0/type: "},
		{JOB("\"checks\":[{\"name\":\"a\",\"type\":\"regex\",\"pattern\":\"(\"}]"),
		 "out_of_range", "#/checks/0: "},
		{JOB("\"checks\":[{\"name\":\"a\",\"type\":\"json\"},{\"name\":\"a\",\"type\":\"json\"}]"),
		 "out_of_range", "#/checks/1/name: "},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *reason = reason_of(f, cases[i].json);
		if (strcmp(reason, cases[i].reason) ||
		    !str_starts(str_c(f->err.text), cases[i].place))
			fail_msg("%s: %s, %s", cases[i].json, reason, f->err.text);
	}
}

static struct str of_bytes(struct fixture *f, size_t n)
{
	char *p = arena_alloc(f->a, n + 1);

	memset(p, 'x', n);
	return (struct str){p, n};
}

static const char *reason_of_id(struct fixture *f, struct str id)
{
	return reason_of(f, arena_printf(f->a, "{\"id\":\"%.*s\"" PROFILE "}", STR_ARG(id)).p);
}

static void an_id_has_512_bytes_at_most(void **state)
{
	struct fixture *f = *state;
	struct str kana = arena_str(f->a, of_bytes(f, 171 * 3));

	assert_string_equal(reason_of_id(f, of_bytes(f, 512)), "none");
	assert_string_equal(reason_of_id(f, of_bytes(f, 513)), "out_of_range");
	assert_null(f->job.id.p);
	/* 171 characters, 513 bytes */
	for (size_t i = 0; i < kana.n; i += 3)
		memcpy((char *)(uintptr_t)kana.p + i, "あ", 3);
	assert_string_equal(reason_of_id(f, kana), "out_of_range");
	assert_string_equal(f->err.text, "#/id: must be 1 to 512 bytes");
	assert_string_equal(reason_of_id(f, str_sub(kana, 0, 510)), "none");
}

static void a_message_has_a_mebibyte_at_most(void **state)
{
	struct fixture *f = *state;
	size_t around = strlen("{\"id\":\"a\",\"profile\":\"p\",\"task\":\"\"}");
	struct str task = of_bytes(f, MESSAGE_BYTES_MAX - around + 1);

	for (size_t over = 0; over <= 1; over++) {
		struct str part = str_sub(task, 0, task.n - 1 + over);
		struct str json = arena_printf(f->a, JOB("\"task\":\"%.*s\""), STR_ARG(part));
		assert_int_equal(json.n, MESSAGE_BYTES_MAX + over);
		assert_string_equal(reason_of(f, json.p), over ? "too_large" : "none");
	}
	assert_string_equal(reason_of_id(f, str_sub(task, 0, 1000000)), "out_of_range");
}

static void the_envelope_gives_what_the_body_lacks(void **state)
{
	struct fixture *f = *state;
	const struct header header[] = {
		{STR("ce_id"), STR("e")}, {STR("ce_source"), STR("/s")}, {STR("ce_x"), STR("y")}};
	const struct header only_source[] = {{STR("ce_source"), STR("/s")}};
	const struct header empty[] = {{STR("ce_id"), STR("")}};

	assert_int_equal(read_with(f, "{\"profile\":\"p\"}", header, 3), DEAD_NONE);
	assert_str(f->job.id, "e");
	assert_str(f->job.source, "/s");
	assert_str(f->job.attributes, "{\"x\":\"y\"}");
	assert_int_equal(
		read_with(f, "{\"id\":\"a\",\"source\":\"\",\"profile\":\"p\"}", header, 3),
		DEAD_NONE);
	assert_str(f->job.id, "a");
	assert_str(f->job.source, "");
	assert_int_equal(read_with(f, "{}", header, 3), DEAD_missing_field);
	assert_string_equal(f->err.text, "#/profile: is missing");
	assert_int_equal(read_with(f, "{\"profile\":\"p\"}", only_source, 1), DEAD_missing_field);
	assert_int_equal(read_with(f, "{\"profile\":\"p\"}", empty, 1), DEAD_out_of_range);
}

static void a_structured_event_is_a_job(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(
		reason_of(f,
			  "{\"specversion\":\"1.0\",\"id\":\"e\",\"source\":\"/s\",\"type\":\"t\","
			  "\"data\":{\"profile\":\"p\",\"task\":\"t\"}}"),
		"none");
	assert_str(f->job.id, "e");
	assert_str(f->job.source, "/s");
	assert_str(f->job.task, "t");
	assert_str(f->job.attributes, "{\"specversion\":\"1.0\",\"type\":\"t\"}");
	assert_string_equal(
		reason_of(f, "{\"specversion\":\"1.0\",\"id\":\"e\",\"data\":{\"profile\":1}}"),
		"wrong_type");
}

static void a_failed_job_still_says_whose_it_is(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(reason_of(f, "{\"id\":\"a\",\"source\":\"s\",\"colour\":1}"),
			    "unknown_field");
	assert_str(f->job.id, "a");
	assert_str(f->job.source, "s");
	assert_string_equal(reason_of(f, "{"), "not_json");
	assert_null(f->job.id.p);
}

static void a_stored_job_reads_as_it_was(void **state)
{
	struct fixture *f = *state;
	struct job *job = &f->job;

	struct job_row row = {.payload = STR_OF("{\"profile\":\"p\",\"task\":\"t\"}"),
			      .source = STR_OF("/s"),
			      .id = STR_OF("e"),
			      .attributes = STR_OF("{\"x\":\"y\"}"),
			      .traceparent = STR_OF("trace"),
			      .salt = {7, 8}};

	assert_int_equal(job_read_stored(f->a, &row, f->schema, job, &f->err), DEAD_NONE);
	assert_str(job->source, "/s");
	assert_str(job->id, "e");
	assert_str(job->task, "t");
	assert_str(job->attributes, "{\"x\":\"y\"}");
	assert_str(job->traceparent, "trace");
	assert_memory_equal(job->salt, row.salt, SALT_BYTES);
	row.payload = STR_OF("{");
	assert_int_equal(job_read_stored(f->a, &row, f->schema, job, &f->err), DEAD_not_json);
}

static void a_job_may_tighten_its_profile_never_loosen_it(void **state)
{
	const struct profile profile = {
		.limits = {.iterations = 2, .tokens = 100, .micro_usd = 100, .active_ms = 100},
		.stakes = STAKES_NORMAL,
	};
	struct job same = {.limits = {.iterations = 1, .tokens = 100},
			   .stakes = STAKES_LOW,
			   .has_stakes = true};
	struct job more = {.limits = {.active_ms = 101}};
	struct job high = {.stakes = STAKES_HIGH, .has_stakes = true};
	struct err err;

	assert_int_equal(job_bind(&same, &profile, &err), DEAD_NONE);
	assert_int_equal(same.limits.iterations, 1);
	assert_int_equal(same.limits.tokens, 100);
	assert_int_equal(same.limits.micro_usd, 100);
	assert_int_equal(same.stakes, STAKES_NORMAL);
	assert_int_equal(job_bind(&high, &profile, &err), DEAD_NONE);
	assert_int_equal(high.stakes, STAKES_HIGH);
	assert_int_equal(job_bind(&more, &profile, &err), DEAD_limits_loosened);
	assert_string_equal(err.text, "#/limits/active_ms: is 101, the profile allows at most 100");
}

/* They are compiled while other jobs wait. */
static void the_schemas_of_a_job_have_a_size_together(void **state)
{
	struct fixture *f = *state;
	struct buf spaces = BUF(16 << 10);

	while (spaces.n < 8 << 10)
		buf_putc(&spaces, ' ');
	for (int more = 0; more < 2; more++) {
		const char *job =
			arena_printf(
				f->a,
				"{\"id\":\"1\",\"profile\":\"p\",\"checks\":["
				"{\"name\":\"a\",\"type\":\"json_schema\",\"schema\":\"{}%s\"},"
				"{\"name\":\"b\",\"type\":\"json_schema\",\"schema\":\"{%s}\"}]}",
				spaces.p + 2, spaces.p + 2 - more)
				.p;
		assert_string_equal(reason_of(f, job), more ? "out_of_range" : "none");
	}
	assert_true(str_starts(str_c(f->err.text), "#/checks/1/schema: more than 16384 bytes"));
	buf_release(&spaces);
}

static void a_check_may_not_take_the_name_of_its_profiles(void **state)
{
	const struct check check = {.name = STR("len")}, other = {.name = STR("length")};
	const struct profile profile = {.check = &check, .n_check = 1};
	struct job same = {.check = &check, .n_check = 1}, own = {.check = &other, .n_check = 1};
	struct err err;

	assert_int_equal(job_bind(&same, &profile, &err), DEAD_out_of_range);
	assert_string_equal(err.text, "#/checks/0/name: is the profile's");
	assert_int_equal(job_bind(&own, &profile, &err), DEAD_NONE);
}

static void a_variable_that_a_hard_check_wants_is_missing(void **state)
{
	struct arena *a = arena_new();
	struct check check[2];
	struct json *spec;
	struct err err;

	assert_int_equal(
		json_read(
			STR_OF("[{\"name\":\"soft\",\"type\":\"must_include\",\"variables\":[\"z\"],"
			       "\"hard\":false},{\"name\":\"must\",\"type\":\"must_include\","
			       "\"values\":[\"v\"],\"variables\":[\"a\",\"b\"]}]"),
			&spec, &err),
		JSON_FINE);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(check_read(a, json_item(spec, i), &check[i], &err), ST_OK);
	json_free(spec);

	const struct profile profile = {.check = check, .n_check = 2};
	struct variable variable[] = {{STR("a"), STR("1")}, {STR("b"), STR(" ")}};
	struct job job = {.variable = variable, .n_variable = 2};
	assert_int_equal(job_bind(&job, &profile, &err), DEAD_missing_field);
	assert_string_equal(
		err.text,
		"#/variables/b: has no value, the profile's check \"must\" wants it in the text");
	variable[1].value = STR_OF("2");
	assert_int_equal(job_bind(&job, &profile, &err), DEAD_NONE);
	job.n_variable = 0;
	assert_int_equal(job_bind(&job, &profile, &err), DEAD_missing_field);
	arena_free(a);
}

/* SHA-256 over int32 19 "draftmill/job_key/1", int32 1 "s", int32 1 "a", int32 8 int64 7; by another program. */
static void the_key_is_a_hash_of_the_identity(void **state)
{
	const struct job job = {.source = STR("s"), .id = STR("a"), .revision = 7};
	const struct job shifted = {.source = STR("sa"), .id = STR(""), .revision = 7};
	uint8_t key[UUID_BYTES], other[UUID_BYTES];
	char hex[2 * UUID_BYTES + 1];

	job_key(&job, key);
	hex_text(key, sizeof(key), hex);
	assert_string_equal(hex, "8cd3b5169008165eab4afda6ad0bf367");
	job_key(&shifted, other);
	assert_memory_not_equal(key, other, sizeof(key));
}

/* The schema names the check types for people; the table in code is the truth. */
static void the_schema_lists_the_check_types(void **state)
{
	struct json *doc;
	const struct check_type *type;
	size_t n = 0;

	assert_int_equal(json_read(buf_view(&schema_text), &doc, NULL), JSON_FINE);
	const struct json *check = json_get(json_get(doc, "$defs"), "check");
	const struct json *names =
		json_get(json_get(json_get(check, "properties"), "type"), "enum");
	for (; (type = check_type_at(n)); n++) {
		bool found = false;
		for (size_t i = 0; i < json_size(names); i++)
			found = found || str_is(json_str(json_item(names, i)), type->name);
		if (!found)
			fail_msg("job.schema.json lacks the check type %s", type->name);
	}
	assert_int_equal(n, json_size(names));
	json_free(doc);
}

static int read_schema_text(void **state)
{
	FILE *file = fopen("config/schema/job.schema.json", "r");
	char part[4096];
	size_t n;

	if (!file)
		return -1; /* not run from the root of the work tree */
	while ((n = fread(part, 1, sizeof(part), file)) > 0)
		buf_put(&schema_text, part, n);
	fclose(file);
	return 0;
}

static int release_schema_text(void **state)
{
	buf_release(&schema_text);
	return 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(the_smallest_job),
		TEST(a_job_with_everything),
		TEST(the_language_is_japanese_or_english),
		TEST(each_fault_has_its_reason),
		TEST(an_id_has_512_bytes_at_most),
		TEST(a_message_has_a_mebibyte_at_most),
		TEST(the_envelope_gives_what_the_body_lacks),
		TEST(a_structured_event_is_a_job),
		TEST(a_failed_job_still_says_whose_it_is),
		TEST(a_stored_job_reads_as_it_was),
		TEST(a_job_may_tighten_its_profile_never_loosen_it),
		TEST(the_schemas_of_a_job_have_a_size_together),
		TEST(a_check_may_not_take_the_name_of_its_profiles),
		TEST(a_variable_that_a_hard_check_wants_is_missing),
		TEST(the_key_is_a_hash_of_the_identity),
		TEST(the_schema_lists_the_check_types),
	};

	return cmocka_run_group_tests(tests, read_schema_text, release_schema_text);
}
