#include "core/profile.h"
#include "core/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define MODEL(id, name)                                                                                         \
	"{\"id\":\"" id                                                                                         \
	"\",\"max_output_tokens\":4096,\"max_tokens_field\":\"max_tokens\",\"name\":\"" name "\","              \
	"\"prices\":[{\"cached\":300000,\"in\":3000000,\"out\":15000000,\"valid_from_ms\":0}],"                 \
	"\"provider\":\"sim\",\"reasoning_effort\":null,\"sampling\":\"omit\",\"schema_mode\":\"json_schema\"," \
	"\"temperature_milli\":700,\"timeout_ms\":60000,\"tokens_per_kb\":400,\"wire\":\"openai\"}"
#define PROMPTS(rubric)                                                                                 \
	"{\"critic\":\"C {{rubric}} {{reply}} {{schema}}\\n--- user ---\\n{{constraints}} {{draft}}\"," \
	"\"generator\":\"G {{schema}}\\n--- user ---\\n{{task}} {{constraints}}\","                     \
	"\"refiner\":\"R {{schema}}\\n--- user ---\\n{{draft}} {{issues}}\",\"rubric\":\"" rubric       \
	"\"}"

static const char whole[] =
	"{\"categories\":[\"fact\",\"tone\"],\"checks\":[{\"max\":9,\"min\":1,\"name\":\"length\",\"type\":\"words\"}],"
	"\"constraints\":[\"Be kind.\"],\"gate_permille\":900,\"iterations_over_3\":false,"
	"\"limits\":{\"active_ms\":30000,\"iterations\":2,\"micro_usd\":200000,\"tokens\":50000},"
	"\"mode\":\"critic_refiner\",\"models\":{\"critic\":" MODEL("c-1", "cheap") ",\"generator\":" MODEL(
		"g-1",
		"strong") ",\"refiner\":" MODEL("g-1",
						"strong") "},\"name\":\"customer-email\","
							  "\"output_tokens\":{\"critic\":800,\"generator\":1200,\"refiner\":1300},\"pass_score\":80,"
							  "\"prompts\":{\"en\":" PROMPTS("5: wrong") ",\"ja\":" PROMPTS(
								  "5: 誤り") "},\"score_max\":100,"
									     "\"severity_threshold\":3,\"stakes\":\"low\",\"version\":1}";

static int new_arena(void **state)
{
	*state = arena_new();
	return 0;
}

static int free_arena(void **state)
{
	arena_free(*state);
	return 0;
}

static void assert_str(struct str got, const char *want)
{
	if (!str_is(got, want))
		fail_msg("'%.*s', not '%s'", STR_ARG(got), want);
}

/* The whole text with the first @from made @to. */
static struct str with(struct arena *a, const char *from, const char *to)
{
	struct str text = STR_OF(whole);
	int64_t at = str_find(text, str_c(from), 0);

	if (at < 0)
		fail_msg("the profile has no %s", from);
	struct str rest = str_sub(text, (size_t)at + strlen(from), text.n);
	return arena_printf(a, "%.*s%s%.*s", (int)at, text.p, to, STR_ARG(rest));
}

static const struct profile *read_good(struct arena *a, struct str text)
{
	struct faults faults = {.tell = NULL};
	const struct profile *p = profile_read(a, text, &faults);

	if (!p)
		fail_msg("%s", faults.first.text);
	return p;
}

static void refused(struct arena *a, const char *from, const char *to, const char *fault)
{
	struct faults faults = {.tell = NULL};

	assert_null(profile_read(a, with(a, from, to), &faults));
	assert_int_equal(faults.n, 1);
	if (!str_starts(str_c(faults.first.text), fault))
		fail_msg("'%s', not '%s'", faults.first.text, fault);
}

static void a_profile_is_read_whole(void **state)
{
	const struct profile *p = read_good(*state, STR_OF(whole));
	const struct model *critic = &p->model[ROLE_CRITIC];

	assert_str(p->name, "customer-email");
	assert_str(p->json, whole);
	assert_int_equal(p->mode, MODE_CRITIC_REFINER);
	assert_int_equal(p->limits.iterations, 2);
	assert_int_equal(p->limits.tokens, 50000);
	assert_int_equal(p->limits.micro_usd, 200000);
	assert_int_equal(p->limits.active_ms, 30000);
	assert_int_equal(p->severity_threshold, 3);
	assert_int_equal(p->pass_score, 80);
	assert_int_equal(p->score_max, 100);
	assert_true(p->gate);
	assert_int_equal(p->gate_permille, 900);
	assert_int_equal(p->stakes, STAKES_LOW);
	assert_int_equal(p->output_tokens[ROLE_GENERATOR], 1200);
	assert_int_equal(p->output_tokens[ROLE_CRITIC], 800);
	assert_int_equal(p->output_tokens[ROLE_REFINER], 1300);
	assert_int_equal(p->n_category, 2);
	assert_str(p->category[1], "tone");
	assert_int_equal(p->n_constraint, 1);
	assert_str(p->constraint[0], "Be kind.");
	assert_int_equal(p->n_check, 1);
	assert_str(p->check[0].name, "length");
	assert_str(p->prompt[LANG_EN][ROLE_GENERATOR],
		   "G {{schema}}\n--- user ---\n{{task}} {{constraints}}");
	assert_str(p->rubric[LANG_JA], "5: 誤り");
	assert_str(critic->name, "cheap");
	assert_str(critic->id, "c-1");
	assert_str(critic->provider, "sim");
	assert_ptr_equal(critic->wire, wire_named(STR_OF("openai")));
	assert_int_equal(critic->tokens_per_kb, 400);
	assert_int_equal(critic->max_output_tokens, 4096);
	assert_int_equal(critic->timeout_ms, 60000);
	assert_int_equal(critic->sampling, SAMPLING_OMIT);
	assert_int_equal(critic->temperature_milli, 700);
	assert_int_equal(critic->schema_mode, SCHEMA_MODE_JSON_SCHEMA);
	assert_str(critic->max_tokens_field, "max_tokens");
	assert_null(critic->thinking.p);
	assert_int_equal(critic->n_price, 1);
	assert_int_equal(critic->price[0].in, 3000000);
	assert_int_equal(critic->price[0].cached, 300000);
	assert_int_equal(critic->price[0].out, 15000000);
	assert_int_equal(critic->price[0].cache_write, 3000000); /* not told: as input */
}

static void the_hash_is_of_the_text(void **state)
{
	uint8_t sha[SHA_BYTES];

	sha256(STR_OF(whole), sha);
	assert_memory_equal(read_good(*state, STR_OF(whole))->sha, sha, SHA_BYTES);
}

static void nothing_is_borrowed_from_the_text(void **state)
{
	char *text = strdup(whole);
	const struct profile *p = read_good(*state, str_c(text));

	memset(text, 'x', sizeof(whole) - 1);
	free(text);
	assert_str(p->model[ROLE_GENERATOR].id, "g-1");
	assert_str(p->json, whole);
}

/* The profile with the critic's thinking by its name of today, where the order of keys wants it. */
#define THINKING(json)                                                                             \
	with(*state,                                                                               \
	     "\"reasoning_effort\":null,\"sampling\":\"omit\",\"schema_mode\":\"json_schema\","    \
	     "\"temperature_milli\":700,",                                                         \
	     "\"sampling\":\"omit\",\"schema_mode\":\"json_schema\",\"temperature_milli\":700,"    \
	     "\"thinking\":" json ",")

static void what_is_left_open_is_null(void **state)
{
	const struct profile *p =
		read_good(*state, with(*state, "\"gate_permille\":900", "\"gate_permille\":null"));

	assert_false(p->gate);
}

/* Jobs of before have profiles with the names of before. */
static void a_stored_profile_of_before_is_still_read(void **state)
{
	const struct profile *p =
		read_good(*state, with(*state, "\"reasoning_effort\":null,\"sampling\":\"omit\"",
				       "\"reasoning_effort\":\"low\",\"sampling\":\"omit\""));

	assert_str(p->model[ROLE_CRITIC].thinking, "low");
	p = read_good(*state, THINKING("\"high\""));
	assert_str(p->model[ROLE_CRITIC].thinking, "high");
	refused(*state, "\"reasoning_effort\":null,\"sampling\"", "\"sampling\"",
		"models.critic.thinking: missing; ");
	p = read_good(*state, with(*state, "[{\"cached\"", "[{\"cache_write\":3750000,\"cached\""));
	assert_int_equal(p->model[ROLE_CRITIC].price[0].cache_write, 3750000);
}

/* The cap of output is the sum of thoughts and text. */
static void thinking_leaves_room_for_a_text(void **state)
{
	const struct profile *p = read_good(*state, THINKING("\"799\""));
	struct faults faults = {.tell = NULL};

	assert_int_equal(model_thinking_tokens(&p->model[ROLE_CRITIC]), 799);
	assert_int_equal(model_thinking_tokens(&p->model[ROLE_GENERATOR]), -1);
	assert_null(profile_read(*state, THINKING("\"800\""), &faults));
	assert_true(str_starts(str_c(faults.first.text),
			       "output_tokens.critic: the model may use them all "));
}

/* The same meaning in other bytes would be another hash. */
static void only_canonical_text_is_a_profile(void **state)
{
	const char *fault = "the text is not canonical JSON";

	refused(*state, "{\"categories\"", "{ \"categories\"", fault);
	refused(*state, "\"pass_score\":80", "\"pass_score\":80.0", fault);
	refused(*state, "\"Be kind.\"", "\"Be \\u006bind.\"", fault);
	refused(*state, "\"max\":9,\"min\":1", "\"min\":1,\"max\":9", fault);
	refused(*state, "\"max\":9,\"min\":1", "\"max\":9,\"max\":9", "");
	assert_null(profile_read(*state, STR_OF(""), &(struct faults){.tell = NULL}));
	assert_null(profile_read(*state, STR_OF("[]"), &(struct faults){.tell = NULL}));
}

static void a_fault_is_told_by_its_path_and_mend(void **state)
{
	static const struct {
		const char *from, *to, *fault;
	} cases[] = {
		{"\"version\":1", "\"version\":2",
		 "version: this integer does not fit; give an integer from 1 to 1"},
		{"\"stakes\":\"low\"", "\"stakes\":\"mid\"",
		 "stakes: this string does not fit; give low or normal or high"},
		{"\"stakes\":\"low\",", "", "stakes: missing; give low or normal or high"},
		{"\"score_max\":100", "\"score_max\":50",
		 "score_max: this integer does not fit; give 10 or 100"},
		{"\"version\":1", "\"version\":1,\"zebra\":1", "zebra: unknown"},
		{"\"name\":\"customer-email\"", "\"name\":\"a b\"", "name: "},
		{"\"mode\":\"critic_refiner\"", "\"mode\":\"reflex\"", "mode: "},
		{"\"gate_permille\":900", "\"gate_permille\":1001", "gate_permille: "},
		{"\"gate_permille\":900,", "", "gate_permille: missing"},
		{"\"iterations_over_3\":false", "\"iterations_over_3\":0", "iterations_over_3: "},
		{"\"iterations\":2", "\"iterations\":6",
		 "limits.iterations: this integer does not fit; give an integer from 1 to 5"},
		{"\"tokens\":50000", "\"tokens\":0", "limits.tokens: "},
		{"\"tokens\":50000", "\"tokens\":50000,\"usd\":1", "limits.usd: unknown"},
		{"\"fact\",", "\"\",", "categories[0]: "},
		{"[\"fact\",\"tone\"]", "[]", "categories: "},
		{"[\"Be kind.\"]", "[7]", "constraints[0]: "},
		{"\"type\":\"words\"", "\"type\":\"sords\"", "checks[0]: "},
		{"{\"max\":9,", "{\"max\":9,\"name\":\"length\",\"type\":\"words\"},{\"max\":9,",
		 "checks[1].name: "},
		{"\"critic\":800", "\"critic\":0", "output_tokens.critic: "},
		{"\"models\":{\"critic\":" MODEL("c-1", "cheap"), "\"models\":{\"critic\":null",
		 "models.critic: "},
		{"\"id\":\"c-1\",", "", "models.critic.id: missing"},
		{"\"id\":\"c-1\",", "\"has\":1,\"id\":\"c-1\",", "models.critic.has: unknown"},
		{"\"temperature_milli\":700", "\"temperature_milli\":2001",
		 "models.critic.temperature_milli: "},
		{"\"wire\":\"openai\"", "\"wire\":\"gopher\"", "models.critic.wire: "},
		{"\"max_tokens\"", "\"tokens\"", "models.critic.max_tokens_field: "},
		{"[{\"cached\":300000,\"in\":3000000,\"out\":15000000,\"valid_from_ms\":0}]", "[]",
		 "models.critic.prices: "},
		{"\"in\":3000000,", "", "models.critic.prices[0].in: missing"},
		{"\"valid_from_ms\":0}",
		 "\"valid_from_ms\":0},{\"cached\":1,\"in\":1,\"out\":1,\"valid_from_ms\":0}",
		 "models.critic.prices[1].valid_from_ms: "},
		{"{{rubric}}", "{{rubrik}} {{rubric}}", "prompts.en.critic: line 1: "},
		{"{{rubric}}", "", "prompts.en.critic: {{rubric}} is not shown"},
		{"{{draft}} {{issues}}", "{{draft}}",
		 "prompts.en.refiner: {{issues}} is not shown"},
		{"\"rubric\":\"5: 誤り\"", "\"rubric\":\"\"", "prompts.ja.rubric: "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refused(*state, cases[i].from, cases[i].to, cases[i].fault);
}

/* Scale, schema, prompt and reader are of one mind, or the profile is none. */
static void what_the_critic_is_asked_fits_together(void **state)
{
	static const struct {
		const char *from, *to, *fault;
	} cases[] = {
		{"\"mode\":\"critic_refiner\"", "\"mode\":\"reflect\"", "models: in mode reflect"},
		{"\"constraints\":[\"Be kind.\"]", "\"constraints\":[],\"critique\":\"text\"",
		 "pass_rule: a text has neither"},
		{"\"constraints\":[\"Be kind.\"]", "\"constraints\":[],\"critique\":\"yaml\"",
		 "critique: "},
		{"\"pass_score\"", "\"pass_rule\":\"any\",\"pass_score\"", "pass_rule: "},
		{"\"fact\",\"tone\"", "\"fact\",\"fact\"", "categories[1]: "},
		{"{{reply}}", "", "prompts.en.critic: {{reply}} is not shown"},
		{"{{schema}}", "", "prompts.en.critic: {{schema}} is not shown"},
		{"{{reply}}", "{{reply}} 0 to 10", "prompts.en.critic: it tells of a scale"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refused(*state, cases[i].from, cases[i].to, cases[i].fault);
}

/* Only who sees sources, and has a member for them, can be asked to cite them. */
static void sources_are_cited_by_who_sees_them(void **state)
{
	static const char plain[] = "\"constraints\":[\"Be kind.\"]",
			  cite[] = "\"cite_sources\":true,\"constraints\":[],\"critique\":\"json\"",
			  shown[] = "{{constraints}} {{draft}}";
	struct str text = with(*state, plain, cite);
	struct faults faults = {.tell = NULL};

	assert_false(read_good(*state, STR_OF(whole))->cite_sources);
	refused(*state, plain, "\"cite_sources\":1,\"constraints\":[]",
		"cite_sources: this integer does not fit; give true or false");
	assert_null(profile_read(*state, text, &faults));
	assert_int_equal(faults.n, N_LANGUAGES);
	assert_true(
		str_starts(str_c(faults.first.text),
			   "cite_sources: the critic's prompt in en does not show {{sources}}"));
	for (const char *at; (at = strstr(text.p, shown));)
		text = arena_printf(*state, "%.*s{{constraints}} {{sources}} {{draft}}%s",
				    (int)(at - text.p), text.p, at + strlen(shown));
	assert_true(read_good(*state, text)->cite_sources);
	memcpy(strstr(text.p, "\"json\",\"gate"), "\"text\"", strlen("\"text\""));
	assert_null(profile_read(*state, text, &faults));
}

/* A schema that says more than the form: off unless named, and only for a model that follows it. */
static void a_draft_schema_needs_a_model_that_follows_it(void **state)
{
#define MODE "\"gate_permille\""
	struct arena *a = *state;
	const struct profile *p = read_good(a, STR_OF(whole));

	assert_int_equal(p->draft_schema, DRAFT_SCHEMA_OFF);
	assert_int_equal(p->model[ROLE_REFINER].schema_says, SCHEMA_SAYS_FORM);
	refused(a, MODE, "\"draft_schema\":\"on\"," MODE, "draft_schema: ");
	refused(a, MODE, "\"draft_schema\":\"always\"," MODE,
		"draft_schema: no model that writes here follows such a schema; give schema_says");
	refused(a, "\"schema_mode\":\"json_schema\"",
		"\"schema_mode\":\"json_schema\",\"schema_says\":\"much\"",
		"models.critic.schema_says: ");
	refused(a, MODE, "\"draft_schema\":\"refine\"," MODE, "draft_schema: no model");
	struct str text = with(a, MODE, "\"draft_schema\":\"refine\"," MODE);
	const char *row = strstr(strstr(text.p, "\"refiner\":{\"id\""), ",\"temperature_milli\"");
	text = arena_printf(a, "%.*s,\"schema_says\":\"values\"%s", (int)(row - text.p), text.p,
			    row);
	p = read_good(a, text);
	assert_int_equal(p->draft_schema, DRAFT_SCHEMA_REFINE);
	assert_int_equal(p->model[ROLE_REFINER].schema_says, SCHEMA_SAYS_VALUES);
#undef MODE
}

static void checks_are_a_hundred_at_most(void **state)
{
	struct buf checks = BUF(16 << 10);

	for (int i = 0; i < 99; i++)
		buf_printf(&checks, "{\"name\":\"c%d\",\"type\":\"json\"},", i);
	buf_puts(&checks, "{\"max\":9,");
	(void)read_good(*state, with(*state, "{\"max\":9,", checks.p));
	buf_puts(&checks, "\"name\":\"c\",\"type\":\"words\"},{\"max\":9,");
	refused(*state, "{\"max\":9,", checks.p, "checks: more than 100");
	buf_release(&checks);
}

static void parts_have_names_that_prompts_and_checks_know(void **state)
{
#define GATE "\"gate_permille\""
	const struct profile *p =
		read_good(*state, with(*state, GATE, "\"fields\":[\"text\"]," GATE));

	assert_int_equal(p->n_field, 1);
	assert_true(profile_has_field(p, STR_OF("text")));
	assert_false(profile_has_field(p, STR_OF("tex")));
	refused(*state, GATE, "\"fields\":[]," GATE, "fields: ");
	refused(*state, GATE, "\"fields\":[\"a\",\"a\"]," GATE, "fields[1]: ");
	refused(*state, GATE, "\"fields\":[\"A\"]," GATE, "fields[0]: ");
	refused(*state, GATE, "\"fields\":[\"confidence\"]," GATE, "fields[0]: ");
	refused(*state, "{\"max\":9,", "{\"field\":\"body\",\"max\":9,", "checks[0].field: ");
#undef GATE
}

static void the_critic_is_another_model_than_the_generator(void **state)
{
	refused(*state, "\"c-1\"", "\"g-1\"", "models.critic.id: ");
}

static void in_mode_reflect_one_model_plays_all_roles(void **state)
{
	struct arena *a = *state;
	struct str text = with(a, "\"c-1\"", "\"g-1\"");
	const char *mode = strstr(text.p, "critic_refiner");
	struct str reflects = arena_printf(a, "%.*sreflect%s", (int)(mode - text.p), text.p,
					   mode + strlen("critic_refiner"));

	assert_int_equal(read_good(a, reflects)->mode, MODE_REFLECT);
}

static void more_than_three_iterations_are_asked_for_twice(void **state)
{
	refused(*state, "\"iterations\":2", "\"iterations\":4", "limits.iterations: ");
	struct str text =
		with(*state,
		     "\"iterations_over_3\":false,\"limits\":{\"active_ms\":30000,\"iterations\":2",
		     "\"iterations_over_3\":true,\"limits\":{\"active_ms\":30000,\"iterations\":5");
	assert_int_equal(read_good(*state, text)->limits.iterations, 5);
}

static void a_first_cap_is_within_the_models(void **state)
{
	refused(*state, "\"refiner\":1300", "\"refiner\":4097", "output_tokens.refiner: ");
	(void)read_good(*state, with(*state, "\"refiner\":1300", "\"refiner\":4096"));
}

#define ROLE_MS(object) "\"role_ms\":" object ",\"score_max\":100"

/* Of 30 s: draft, critique, refinement and critique; an eighth for each that has no time of its own. */
static void the_times_of_the_roles_fit_into_the_jobs(void **state)
{
	static const char role_ms[] =
		"role_ms: draft, critique and mend exceed limits.active_ms; lower";
	static const char *const fits[] = {
		ROLE_MS("{}"),
		ROLE_MS("{\"critic\":null,\"generator\":null,\"refiner\":null}"),
		ROLE_MS("{\"generator\":18750}"),
		ROLE_MS("{\"critic\":6000,\"generator\":8000,\"refiner\":10000}"),
	};
	static const char *const fits_not[] = {
		ROLE_MS("{\"generator\":18751}"),
		ROLE_MS("{\"critic\":6000,\"generator\":8000,\"refiner\":10001}"),
		ROLE_MS("{\"critic\":13125}"),
	};

	for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++)
		(void)read_good(*state, with(*state, "\"score_max\":100", fits[i]));
	for (size_t i = 0; i < sizeof(fits_not) / sizeof(fits_not[0]); i++)
		refused(*state, "\"score_max\":100", fits_not[i], role_ms);
	refused(*state, "\"score_max\":100", ROLE_MS("{\"critic\":0}"), "role_ms.critic: ");
	refused(*state, "\"score_max\":100", ROLE_MS("{\"judge\":1}"), "role_ms.judge: unknown");
	const struct profile *p = read_good(
		*state, with(*state, "\"score_max\":100", ROLE_MS("{\"generator\":9000}")));
	assert_int_equal(p->role_ms[ROLE_GENERATOR], 9000);
	assert_int_equal(p->role_ms[ROLE_CRITIC], 0);
}

static void oneshot_needs_no_critic_and_no_refiner(void **state)
{
	struct str text =
		with(*state, "\"critic_refiner\",\"models\":{\"critic\":" MODEL("c-1", "cheap"),
		     "\"oneshot\",\"models\":{\"critic\":null");
	const struct profile *p = read_good(*state, text);

	assert_int_equal(p->mode, MODE_ONESHOT);
	assert_null(p->model[ROLE_CRITIC].id.p);
	assert_str(p->model[ROLE_GENERATOR].id, "g-1");
}

static void words_are_named(void **state)
{
	assert_string_equal(role_name(ROLE_REFINER), "refiner");
	assert_string_equal(stakes_name(STAKES_HIGH), "high");
	assert_string_equal(language_name(LANG_JA), "ja");
}

#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, new_arena, free_arena)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_ARENA(a_profile_is_read_whole),
		WITH_ARENA(the_hash_is_of_the_text),
		WITH_ARENA(nothing_is_borrowed_from_the_text),
		WITH_ARENA(what_is_left_open_is_null),
		WITH_ARENA(a_stored_profile_of_before_is_still_read),
		WITH_ARENA(thinking_leaves_room_for_a_text),
		WITH_ARENA(only_canonical_text_is_a_profile),
		WITH_ARENA(a_fault_is_told_by_its_path_and_mend),
		WITH_ARENA(what_the_critic_is_asked_fits_together),
		WITH_ARENA(sources_are_cited_by_who_sees_them),
		WITH_ARENA(a_draft_schema_needs_a_model_that_follows_it),
		WITH_ARENA(checks_are_a_hundred_at_most),
		WITH_ARENA(parts_have_names_that_prompts_and_checks_know),
		WITH_ARENA(the_critic_is_another_model_than_the_generator),
		WITH_ARENA(in_mode_reflect_one_model_plays_all_roles),
		WITH_ARENA(more_than_three_iterations_are_asked_for_twice),
		WITH_ARENA(a_first_cap_is_within_the_models),
		WITH_ARENA(the_times_of_the_roles_fit_into_the_jobs),
		WITH_ARENA(oneshot_needs_no_critic_and_no_refiner),
		cmocka_unit_test(words_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
