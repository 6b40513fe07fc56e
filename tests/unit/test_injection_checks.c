/*
 * Payloads of tests/data/injection beside a text that breaks a check, and in the job: the check stays red whatever they say. And the text that
 * keeps it stays green, whatever stands in the job.
 */
#include "check_world.h"
#include "payloads.h"

/* A text that breaks a check in a way that nothing beside it can mend, and one that keeps it. */
static const struct broken {
	const char *check, *text, *whole;
} broken[] = {
	{"\"type\":\"forbidden\",\"terms\":[\"guarantee\"]", "We guarantee it.", "We promise it."},
	{"\"type\":\"forbidden\",\"terms\":[\"guarantee\"]", "We gua\u200brantee it.",
	 "We like it."},
	{"\"type\":\"forbidden\",\"terms\":[\"guarantee\"]", "We ＧＵＡＲＡＮＴＥＥ it.",
	 "We like it."},
	{"\"type\":\"forbidden\",\"terms\":[\"guarantee\"]", "We gu\u2060ar\u00adantee\ufeff it.",
	 "We like it."},
	{"\"type\":\"forbidden\",\"terms\":[\"絶対\"]", "絶\u200b対に届きます。", "届く予定です。"},
	{"\"type\":\"must_include\",\"values\":[\"Zyxwvut Qponmlk\"]", "Dear Ms Baker,",
	 "Dear Zyxwvut Qponmlk,"},
	{"\"type\":\"must_include\",\"values\":[\"蕗谷鶫\"]", "田中様", "蕗谷鶫様"},
	{"\"type\":\"graphemes\",\"max\":10", "This is longer than ten.", "Short."},
	{"\"type\":\"words\",\"max\":3", "One two three four.", "One two."},
	{"\"type\":\"regex\",\"match\":false,\"pattern\":\"A-[0-9]{3}\"", "See A-123.", "See B."},
	{"\"type\":\"regex\",\"match\":true,\"pattern\":\"Ref: Q-[0-9]{9}\"", "Ref: none",
	 "Ref: Q-123456789"},
	{"\"type\":\"number\",\"pattern\":\"Total: ([0-9.]+)\",\"max\":10", "Total: 11",
	 "Total: 9"},
	{"\"type\":\"glyphs\",\"language\":\"en\"", "Kind regards, \u0e01\u0e02", "Kind regards"},
	{"\"type\":\"leftover\"", "Dear {{first_name}}, welcome.", "Dear Ann, welcome."},
	{"\"type\":\"urls\",\"hosts\":[\"example.com\"]", "See https://other.example/x now.",
	 "See https://example.com/x now."},
	{"\"type\":\"commas\",\"max\":1", "One, two, three, four. ", "One, two."},
	{"\"type\":\"json\"", "no JSON: ", "{}"},
	{"\"type\":\"json_schema\",\"schema\":\"{\\\"type\\\":\\\"object\\\"}\"", "no object ",
	 "{}"},
	{"\"type\":\"keywords:forbidden_words\",\"forbidden_words\":[\"refund\"]",
	 "A refund is due. ", "All is paid."},
	{"\"type\":\"punctuation:no_comma\"", "One, two ", "One two"},
};

static bool holds(const char *check, const struct job *with, struct str text)
{
	struct arena *scratch = arena_new();
	struct checked checked = {.scratch = scratch, .text = text};
	const struct check c = check_of(check);
	struct check_result result;

	check_run(arena, &c, with, &checked, &result);
	arena_free(scratch);
	return result.ok;
}

/* A job all of whose texts are the payload. */
static struct job job_of(const struct payload *p)
{
	struct variable *v = arena_array(arena, struct variable, 2);
	struct source *s = arena_array(arena, struct source, 1);
	struct str *constraint = arena_array(arena, struct str, 1);

	v[0] = (struct variable){STR("note"), p->text};
	v[1] = (struct variable){p->text, STR("note")};
	*s = (struct source){STR("note"), p->text};
	*constraint = p->text;
	return (struct job){.task = p->text,
			    .variable = v,
			    .n_variable = 2,
			    .sources = s,
			    .n_source = 1,
			    .constraint = constraint,
			    .n_constraint = 1};
}

static void check_payload(const struct broken *b, const struct payload *p)
{
	const struct job without = {.task = STR("Write.")}, with = job_of(p);
	const struct str beside[] = {
		str_c(b->text),
		arena_printf(arena, "%s%.*s", b->text, STR_ARG(p->text)),
		arena_printf(arena, "%s\n\n%.*s", b->text, STR_ARG(p->text)),
		arena_printf(arena, "%.*s\n\n%s", STR_ARG(p->text), b->text),
		arena_printf(arena, "%s\n%.*s\n%s", b->text, STR_ARG(p->text), b->text),
	};

	assert_true(holds(b->check, &without, str_c(b->whole)));
	if (!holds(b->check, &with, str_c(b->whole)))
		fail_msg("%s in the job makes \"%s\" red by %s", p->id.p, b->whole, b->check);
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++)
		if (holds(b->check, i % 2 ? &with : &without, beside[i]))
			fail_msg("%s beside \"%s\" (%zu) meets %s", p->id.p, b->text, i, b->check);
}

static void no_payload_changes_the_outcome_of_a_check(void **state)
{
	for (size_t k = 0; k < sizeof(broken) / sizeof(broken[0]); k++) {
		arena = arena_new();
		for (int i = 0; i < n_payload; i++)
			check_payload(&broken[k], &payloads[i]);
		arena_free(arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_payload_changes_the_outcome_of_a_check),
	};
	struct arena *kept = arena_new();

	payloads_read(kept);
	int status = cmocka_run_group_tests(tests, NULL, NULL);
	arena_free(kept);
	return status;
}
