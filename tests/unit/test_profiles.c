#include "app/profiles.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Each test has a folder of profiles with one file, note.yaml; all else is the shipped configuration. */
static char folder[64], path[96];
static struct arena *a;
static struct settings settings;
static char faults[4096]; /* one a line */

static void keep_fault(void *owner, const struct err *err)
{
	size_t n = strlen(faults);

	snprintf(faults + n, sizeof(faults) - n, "%s\n", err->text);
}

static int set_up(void **state)
{
	static const struct flag flag = {"profiles.dir", folder};

	strcpy(folder, "/tmp/profiles-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/note.yaml", folder);
	a = arena_new();
	assert_true(settings_read(a, "config/draftmill.yaml", &flag, 1, &settings,
				  &(struct faults){.tell = NULL}));
	return 0;
}

static int tear_down(void **state)
{
	unlink(path);
	rmdir(folder);
	arena_free(a);
	return 0;
}

/* Line 1 names it, 2-4 are the models, 5-6 its money, 7 its categories; @more follows from line 8 on. */
static void write_note(const char *more)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fprintf(f,
		"name: note\n"
		"models:\n"
		"  generator: drafting\n"
		"  critic: critiquing\n"
		"limits:\n"
		"  micro_usd: 100000\n"
		"categories: [fact, tone]\n"
		"%s",
		more);
	assert_int_equal(fclose(f), 0);
}

static int count_faults(void)
{
	struct faults f = {.tell = keep_fault};

	faults[0] = '\0';
	profiles_free(profiles_open(&settings, &f));
	return f.n;
}

static struct profiles *open_all(void)
{
	faults[0] = '\0';
	struct profiles *profiles = profiles_open(&settings, &(struct faults){.tell = keep_fault});
	assert_string_equal(faults, "");
	assert_non_null(profiles);
	return profiles;
}

static struct profiles *open_note(const char *more)
{
	write_note(more);
	return open_all();
}

/* That the file with @more has exactly one fault, told at @line as beginning with @what. */
static void assert_fault(const char *more, int line, const char *what)
{
	char want[600];

	write_note(more);
	assert_int_equal(count_faults(), 1);
	snprintf(want, sizeof(want), "%s:%d: %s", path, line, what);
	faults[strlen(want)] = '\0';
	assert_string_equal(faults, want);
}

static void the_shipped_profile_is_fine(void **state)
{
	settings.profiles_dir = "config/profiles";
	struct profiles *profiles = open_all();
	struct err err;
	const struct profile *p = profiles_named(profiles, STR_OF("customer-email"), &err);
	assert_non_null(p);
	assert_ptr_equal(profiles_at(profiles, 0), p);
	assert_null(profiles_named(profiles, STR_OF("customer-emial"), &err));
	assert_string_equal(
		err.text,
		"no profile is named \"customer-emial\"; did you mean \"customer-email\"?");
	assert_true(str_is(p->model[ROLE_REFINER].name, "drafting"));
	assert_true(str_is(p->model[ROLE_CRITIC].name, "critiquing"));
	assert_true(p->n_check > 0 && p->n_constraint > 0);
	assert_non_null(profiles_job_schema(profiles));
	profiles_free(profiles);
}

static void a_role_may_have_another_prompt(void **state)
{
	struct profiles *profiles = open_note("prompts:\n  critic: critic-sources\n");
	const struct profile *p = profiles_at(profiles, 0);

	assert_true(str_find(p->prompt[LANG_EN][ROLE_CRITIC], STR_OF("apart into its claims"), 0) >
		    0);
	assert_true(str_find(p->prompt[LANG_JA][ROLE_CRITIC], STR_OF("一つ一つの主張"), 0) > 0);
	assert_true(str_starts(p->prompt[LANG_EN][ROLE_GENERATOR], "You are the generator"));
	profiles_free(profiles);
	assert_fault("prompts:\n  critic: ../critic\n", 9, "prompts.critic: give a file's name");
	assert_fault("prompts:\n  critc: critic\n", 9,
		     "prompts.critc: unknown; did you mean critic");
	write_note("prompts:\n  critic: no-such\n");
	assert_int_equal(count_faults(), 2); /* in each language */
}

static void what_is_left_out_has_its_default(void **state)
{
	struct profiles *profiles = open_note("");
	const struct profile *p = profiles_named(profiles, STR_OF("note"), NULL);

	assert_int_equal(p->mode, MODE_CRITIC_REFINER);
	assert_int_equal(p->limits.iterations, 2);
	assert_int_equal(p->limits.tokens, 50000);
	assert_int_equal(p->limits.micro_usd, 100000);
	assert_int_equal(p->limits.active_ms, 30000);
	assert_int_equal(p->pass_score, 80);
	assert_int_equal(p->severity_threshold, 3);
	assert_int_equal(p->stakes, STAKES_NORMAL);
	assert_false(p->gate);
	assert_int_equal(p->n_check, 0);
	profiles_free(profiles);
}

static void scalars_have_the_type_of_their_key(void **state)
{
	struct profiles *profiles =
		open_note("gate_permille: 900\n"
			  "constraints: [42, true]\n"
			  "checks:\n"
			  "  - {name: short, type: words, max: 300, hard: false}\n"
			  "  - {name: year, type: forbidden, terms: [\"2025\"]}\n");
	const struct profile *p = profiles_named(profiles, STR_OF("note"), NULL);

	assert_true(p->gate);
	assert_int_equal(p->gate_permille, 900);
	assert_true(str_is(p->constraint[0], "42"));
	assert_true(str_is(p->constraint[1], "true"));
	assert_int_equal(p->n_check, 2);
	assert_false(p->check[0].hard);
	assert_true(p->check[1].hard);
	profiles_free(profiles);
}

static void model_rows_and_prompts_are_written_out(void **state)
{
	struct profiles *profiles = open_note("");
	const struct profile *p = profiles_named(profiles, STR_OF("note"), NULL);
	const struct model *row = settings_model(&settings, STR_OF("critiquing"));

	assert_true(str_eq(p->model[ROLE_CRITIC].id, row->id));
	assert_true(str_eq(p->model[ROLE_CRITIC].thinking, row->thinking));
	assert_int_equal(p->model[ROLE_CRITIC].sampling, row->sampling);
	assert_int_equal(p->model[ROLE_CRITIC].schema_mode, row->schema_mode);
	assert_int_equal(p->model[ROLE_CRITIC].price[0].out, row->price[0].out);
	assert_int_equal(p->model[ROLE_CRITIC].price[0].valid_from_ms, row->price[0].valid_from_ms);
	assert_true(p->prompt[LANG_JA][ROLE_CRITIC].n > 0);
	assert_true(p->rubric[LANG_EN].n > 0);
	profiles_free(profiles);
}

/* The critic's row says that its model goes, at @day. */
static void read_sunset(const char *day)
{
	struct flag flags[] = {{"profiles.dir", folder}, {"models.critiquing.sunset", day}};
	assert_true(settings_read(a, "config/draftmill.yaml", flags, 2, &settings,
				  &(struct faults){.tell = NULL}));
}

static void a_model_past_its_sunset_is_refused_where_it_is_used(void **state)
{
	read_sunset("2026-01-01");
	assert_fault("", 4, "models.critic: \"critiquing\" is past its sunset; name its successor");
	read_sunset("9000-01-01");
	profiles_free(open_note(""));
}

static void a_profile_is_named_by_what_it_says_not_by_how(void **state)
{
	struct profiles *plain = open_note("constraints: [Be kind.]\n");
	struct profiles *spelled =
		open_note("# kindness\npass_score: 80\nconstraints:\n  - Be kind.\n");
	struct profiles *other = open_note("constraints: [Be brief.]\n");

	assert_memory_equal(profiles_at(plain, 0)->sha, profiles_at(spelled, 0)->sha, SHA_BYTES);
	assert_memory_not_equal(profiles_at(plain, 0)->sha, profiles_at(other, 0)->sha, SHA_BYTES);
	profiles_free(plain);
	profiles_free(spelled);
	profiles_free(other);
}

static void in_mode_oneshot_a_critic_is_not_needed(void **state)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs("name: note\nmode: oneshot\nmodels: {generator: drafting}\nlimits: {micro_usd: 1}\n"
	      "categories: [fact]\n",
	      f);
	assert_int_equal(fclose(f), 0);
	struct profiles *profiles = open_all();
	assert_null(profiles_at(profiles, 0)->model[ROLE_CRITIC].id.p);
	profiles_free(profiles);
}

static void faults_have_file_line_and_mend(void **state)
{
	assert_fault("severity_treshold: 2\n", 8,
		     "severity_treshold: unknown; did you mean severity_threshold\n");
	assert_fault("output_tokens:\n  critc: 900\n", 9,
		     "output_tokens.critc: unknown; did you mean critic\n");
	assert_fault("mode: fast\n", 8, "mode: ");
	assert_fault("stakes: normal\npass_score: high\n", 9, "pass_score: ");
	assert_fault("constraints: Be kind.\n", 8, "constraints: give a list\n");
	assert_fault("stakes: [high]\n", 8, "stakes: give a single value\n");
	assert_fault("checks:\n"
		     "  - name: short\n"
		     "    type: words\n"
		     "    max: 9\n"
		     "  - name: long\n"
		     "    type: wrds\n",
		     12, "checks[1]: ");
}

static void all_faults_of_a_profile_are_told(void **state)
{
	write_note("severity_treshold: 2\nstakes: mid\npass_score: 101\n"
		   "limits: {tokens: 0}\nchecks:\n  - {name: a, type: wrds}\n");
	assert_int_equal(count_faults(), 1); /* two maps of limits are no YAML for us */
	write_note("severity_treshold: 2\nstakes: mid\npass_score: 101\n"
		   "output_tokens: {critic: 0}\nchecks:\n  - {name: a, type: wrds}\n");
	assert_int_equal(count_faults(), 5);
	assert_non_null(strstr(faults, "note.yaml:9: stakes: "));
	assert_non_null(strstr(faults, "note.yaml:10: pass_score: "));
	assert_non_null(strstr(faults, "note.yaml:11: output_tokens.critic: "));
	assert_non_null(strstr(faults, "note.yaml:13: checks[0]: "));
}

static void a_profile_bears_the_name_of_its_file(void **state)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs("mode: oneshot\nname: letter\nmodels: {generator: drafting}\nlimits: {micro_usd: 1}\n"
	      "categories: [fact]\n",
	      f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(count_faults(), 1);
	assert_non_null(strstr(faults, "/note.yaml:2: name: give it as the file has it: note\n"));
}

static void a_profile_is_a_map(void **state)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs("- name: note\n", f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(count_faults(), 1);
	assert_non_null(strstr(faults, "/note.yaml:1: give keys, as `name:`\n"));
}

static void models_must_exist_and_the_critic_be_another(void **state)
{
	const struct model *model = settings.model;

	settings.model = (const struct model[]){model[0]};
	settings.n_model = 1;
	assert_fault(
		"", 4,
		"models.critic: the settings have no model \"critiquing\"; add it to `models`\n");
}

/* An alias is another row with the same model, here or at another provider, as it is or in a dated version. */
static void no_alias_makes_the_generator_its_own_critic(void **state)
{
	static const char *const id[] = {"gpt-6.2-sol", "openai/gpt-6.2-sol", "GPT-6.2-Sol",
					 "gpt-6.2-sol-2026-11-05"};
	const struct model *model = settings.model;

	for (size_t i = 0; i < sizeof(id) / sizeof(id[0]); i++) {
		struct model same[2] = {model[0], model[1]};
		same[0].id = str_c(id[0]);
		same[1].id = str_c(id[i]);
		same[1].provider = STR_OF("elsewhere");
		settings.model = same;
		settings.n_model = 2;
		assert_fault(
			"", 4,
			"models.critic.id: the generator's model may not judge its own drafts; "
			"give the critic another one, or set mode: reflect");
	}
	settings.model = model;
}

static void missing_folders_and_prompts_are_named(void **state)
{
	faults[0] = '\0';
	settings.prompts_dir = "/nowhere";
	write_note("");
	assert_int_equal(count_faults(), N_LANGUAGES * (N_ROLES + 1));
	assert_non_null(strstr(faults, "/nowhere/ja/rubric.txt: cannot be opened"));
	settings.prompts_dir = "config/prompts";
	settings.profiles_dir = "config/schema";
	assert_int_equal(count_faults(), 1);
	assert_string_equal(faults,
			    "config/schema: there is no profile here; add one, NAME.yaml\n");
}

static void a_pinned_profile_outlives_its_file(void **state)
{
	struct profiles *before = open_note("pass_score: 90\n");
	struct profiles *after = open_note("pass_score: 70\n");
	const struct profile *old = profiles_at(before, 0), *pinned, *again;
	struct err err;

	assert_int_equal(profiles_pinned(after, old->sha, old->json, &pinned, &err), ST_OK);
	assert_int_equal(pinned->pass_score, 90);
	assert_ptr_not_equal(pinned, old);
	assert_int_equal(profiles_pinned(after, old->sha, old->json, &again, &err), ST_OK);
	assert_ptr_equal(again, pinned);
	assert_int_equal(
		profiles_pinned(after, profiles_at(after, 0)->sha, STR_OF("unread"), &again, &err),
		ST_OK);
	assert_ptr_equal(again, profiles_at(after, 0));

	uint8_t wrong[SHA_BYTES] = {1};
	assert_int_equal(profiles_pinned(after, wrong, old->json, &again, &err), ST_INVALID);
	assert_int_equal(profiles_pinned(after, wrong, STR_OF("{}"), &again, &err), ST_INVALID);
	profiles_free(before);
	profiles_free(after);
}

static void read_again_they_are_other_ones_and_the_old_live_while_held(void **state)
{
	struct profiles *before = open_note("pass_score: 90\n"), *held = profiles_hold(before);
	struct faults f = {.tell = keep_fault};

	write_note("pass_score: 70\n");
	struct profiles *after = profiles_again(&settings, &f);
	assert_non_null(after);
	assert_ptr_not_equal(profiles_settings(after), &settings);
	assert_string_equal(profiles_settings(after)->profiles_dir, folder); /* by the flag */
	profiles_free(before);
	assert_int_equal(profiles_at(held, 0)->pass_score, 90);
	assert_int_equal(profiles_at(after, 0)->pass_score, 70);
	profiles_free(held);
	profiles_free(after);

	write_note("pass_score: 7O\n");
	assert_null(profiles_again(&settings, &f));
	assert_non_null(strstr(f.first.text, "note.yaml:8: pass_score"));
}

/* ---- arms ---- */

#define ARMS "arms:\n  - {name: a, share: 50}\n  - {name: b, share: 50, pass_score: 90"

static void an_arm_is_the_profile_with_its_keys_put_over(void **state)
{
	struct profiles *profiles = open_note(
		"prompts: {critic: critic-sources}\noutput_tokens: {critic: 700, refiner: 800}\n" ARMS
		", output_tokens: {critic: 900}, prompts: {critic: critic}}\n");
	const struct profile *whole = profiles_named(profiles, STR_OF("note"), NULL),
			     *first = profiles_at(profiles, 0), *second = profiles_at(profiles, 1);

	assert_null(profiles_at(profiles, 2));
	assert_true(str_is(profiles_name_at(profiles, 0), "note/a"));
	assert_true(str_is(profiles_name_at(profiles, 1), "note/b"));
	assert_memory_equal(first->sha, whole->sha, SHA_BYTES); /* it differs in nothing */
	assert_memory_not_equal(second->sha, whole->sha, SHA_BYTES);
	assert_true(str_is(second->name, "note"));
	assert_int_equal(first->pass_score, 80);
	assert_int_equal(second->pass_score, 90);
	assert_int_equal(second->output_tokens[ROLE_CRITIC], 900);
	assert_int_equal(second->output_tokens[ROLE_REFINER], 800);
	assert_true(str_find(first->prompt[LANG_EN][ROLE_CRITIC], STR_OF("into its claims"), 0) >
		    0);
	assert_true(str_find(second->prompt[LANG_EN][ROLE_CRITIC], STR_OF("into its claims"), 0) <
		    0);
	profiles_free(profiles);
}

static void arms_change_no_version_of_what_they_leave(void **state)
{
	struct profiles *before = open_note("pass_score: 70\n");
	struct profiles *after = open_note("pass_score: 70\n" ARMS "}\n");

	assert_memory_equal(profiles_at(before, 0)->sha, profiles_at(after, 0)->sha, SHA_BYTES);
	profiles_free(before);
	profiles_free(after);
}

static void a_job_has_the_arm_of_its_id_each_time(void **state)
{
	struct profiles *profiles = open_note(ARMS "}\n"), *again = open_all();
	int n[2] = {0};
	struct str arm, same;
	char id[32];

	for (int i = 0; i < 1000; i++) {
		snprintf(id, sizeof(id), "job-%d", i);
		const struct profile *p =
			profiles_of_job(profiles, STR_OF("note"), str_c(id), &arm, NULL);
		const bool is_b = str_is(arm, "b");
		assert_ptr_equal(p, profiles_at(profiles, is_b));
		(void)profiles_of_job(again, STR_OF("note"), str_c(id), &same, NULL);
		assert_true(str_eq(arm, same));
		n[is_b]++;
	}
	assert_in_range(n[0], 440, 560); /* 4 standard deviations are 63 */
	struct err err;
	assert_int_equal(profiles_take_arm(profiles, STR_OF("b"), &err), ST_OK);
	for (int i = 0; i < 50; i++) {
		snprintf(id, sizeof(id), "job-%d", i);
		(void)profiles_of_job(profiles, STR_OF("note"), str_c(id), &arm, NULL);
		assert_true(str_is(arm, "b"));
	}
	assert_int_equal(profiles_take_arm(profiles, STR_OF("bb"), &err), ST_INVALID);
	assert_string_equal(err.text, "no profile has an arm \"bb\"; did you mean \"b\"?");
	profiles_free(profiles);
	profiles_free(again);
}

static void faults_of_arms_have_line_and_mend(void **state)
{
	assert_fault("arms: {a: 50}\n", 8, "arms: give a list of 2 to 8 maps");
	assert_fault("arms:\n  - {name: a, share: 1}\n", 9 - 1, "arms: give a list of 2 to 8 maps");
	assert_fault("arms:\n  - {name: a, share: 1}\n  - b\n", 9 - 1, "arms: give a list of");
	assert_fault("arms:\n  - {name: a, share: 0}\n  - {name: b, share: 1, pass_score: 1}\n", 9,
		     "arms[0].share: give an integer from 1 to 1000000\n");
	assert_fault("arms:\n  - {name: a}\n  - {name: b, share: 1, pass_score: 1}\n", 9,
		     "arms[0].share: give an integer");
	assert_fault("arms:\n  - {share: 1}\n  - {name: b, share: 1, pass_score: 1}\n", 9,
		     "arms[0].name: give 1 to 40 characters of a-z 0-9 - _\n");
	assert_fault("arms:\n  - {name: a, share: 1}\n  - {name: a, share: 1, pass_score: 1}\n", 10,
		     "arms[1].name: \"a\" is taken; give each arm its own\n");
	assert_fault("arms:\n  - {name: a, share: 1}\n  - {name: b, share: 1}\n", 10,
		     "arms[1]: it says the same as arm \"a\"; let it differ, or leave it out\n");
	assert_fault(ARMS ", pass_scor: 3}\n", 10,
		     "arm b: pass_scor: unknown; did you mean pass_score\n");
	assert_fault(ARMS ", arms: []}\n", 10, "arms[1].arms: leave it out\n");
	assert_fault(ARMS ", models: {generator: critiquing}}\n", 4,
		     "arm b: models.critic.id: the generator's model may not judge its own drafts");
	assert_fault("stakes: hihg\n" ARMS "}\n", 8, "stakes: "); /* once, not for each arm */
}

/* ---- the rubric is nobody's to change ---- */

static void no_key_of_a_profile_replaces_the_rubric(void **state)
{
	assert_fault("rubric: mine\n", 8, "rubric: unknown");
	assert_fault("prompts: {rubric: critic}\n", 8, "prompts.rubric: unknown");
	assert_fault(ARMS ", prompts: {rubric: critic}}\n", 10, "arm b: prompts.rubric: unknown");
	write_note("prompts: {critic: generator}\n"); /* nor leaves it out */
	assert_int_not_equal(count_faults(), 0);
	assert_non_null(strstr(faults, "prompts.en.critic: {{rubric}} is not shown"));
	assert_non_null(strstr(faults, "prompts.ja.critic: {{rubric}} is not shown"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_shipped_profile_is_fine),
		TEST(a_role_may_have_another_prompt),
		TEST(what_is_left_out_has_its_default),
		TEST(scalars_have_the_type_of_their_key),
		TEST(model_rows_and_prompts_are_written_out),
		TEST(a_model_past_its_sunset_is_refused_where_it_is_used),
		TEST(a_profile_is_named_by_what_it_says_not_by_how),
		TEST(in_mode_oneshot_a_critic_is_not_needed),
		TEST(faults_have_file_line_and_mend),
		TEST(all_faults_of_a_profile_are_told),
		TEST(a_profile_bears_the_name_of_its_file),
		TEST(a_profile_is_a_map),
		TEST(models_must_exist_and_the_critic_be_another),
		TEST(no_alias_makes_the_generator_its_own_critic),
		TEST(missing_folders_and_prompts_are_named),
		TEST(a_pinned_profile_outlives_its_file),
		TEST(read_again_they_are_other_ones_and_the_old_live_while_held),
		TEST(an_arm_is_the_profile_with_its_keys_put_over),
		TEST(arms_change_no_version_of_what_they_leave),
		TEST(a_job_has_the_arm_of_its_id_each_time),
		TEST(faults_of_arms_have_line_and_mend),
		TEST(no_key_of_a_profile_replaces_the_rubric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
