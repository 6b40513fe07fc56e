#include "core/profile.h"

#include "core/prompt.h"
#include "core/stakes.h"
#include "core/tool.h"
#include "core/wire.h"
#include "member.h"
#include "profile_rules.h"

#define TOKENS_MAX INT64_C(1000000000)
#define MICRO_USD_MAX INT64_C(1000000000000)
#define DAY_MS INT64_C(86400000)

enum { VERSION = 1 };

/* By the values of their enums; NULL at the end. */
static const char *const mode_names[] = {"oneshot", "critic_refiner", "reflect", NULL};
static const char *const critique_names[] = {"json", "plain_issues", "text", NULL};
static const char *const pass_names[] = {"verdict_and_score", "no_actionable_issues", NULL};
static const char *const draft_schema_names[] = {"off", "refine", "always", NULL};
static const char *const role_names[] = {"generator", "critic", "refiner", "tool", NULL};
const char *const stakes_names[] = {"low", "normal", "high", NULL};
static const char *const language_names[] = {"en", "ja", NULL};
const char *const sampling_names[] = {"send", "omit", "reject", NULL};
const char *const schema_mode_names[] = {"json_schema", "json_object", "openapi", "none", NULL};
const char *const schema_says_names[] = {"form", "values", "all", "all_written", NULL};
const char *const max_tokens_names[] = {"max_completion_tokens", "max_tokens", NULL};

const char *role_name(enum role role)
{
	return role_names[role];
}

const char *stakes_name(enum stakes stakes)
{
	return stakes_names[stakes];
}

const char *language_name(enum language language)
{
	return language_names[language];
}

int64_t model_thinking_tokens(const struct model *m)
{
	int64_t tokens;

	return m->thinking.p && str_to_int(m->thinking, 0, TOKENS_MAX, &tokens) ? tokens : -1;
}

/* clang-format off */
static const struct member price_fields[] = {
	INT(price, cached, 0, MICRO_USD_MAX),
	INT(price, in, 0, MICRO_USD_MAX),
	INT(price, out, 0, MICRO_USD_MAX),
	INT(price, valid_from_ms, 0, INT64_MAX),
	FIELD(INTEGER, "cache_write", AT(price, cache_write), RANGE(0, MICRO_USD_MAX), .optional = true), /* profiles of before have none */
	{.key = NULL},
};
static const struct member model_fields[] = {
	STRING(model, id),
	STRING(model, name),
	STRING(model, provider),
	INT(model, max_output_tokens, 1, TOKENS_MAX),
	INT(model, temperature_milli, 0, 2000),
	INT(model, timeout_ms, 1, DAY_MS),
	INT(model, tokens_per_kb, 1, 100000),
	FIELD(TEXT, "max_tokens_field", AT(model, max_tokens_field), .words = max_tokens_names),
	ENUM(model, sampling, sampling_names),
	ENUM(model, schema_mode, schema_mode_names),
	FIELD(WORD, "schema_says", AT(model, schema_says), .words = schema_says_names, .optional = true),
	FIELD(WIRE, "wire", AT(model, wire)),
	FIELD(TEXT, "thinking", AT(model, thinking), .nullable = true, .optional = true),
	ALONE("prices"),
	ALONE("reasoning_effort"),
	{.key = NULL},
};
/* What `thinking` was called before; a stored profile is read again as it is. */
static const struct member old_thinking = FIELD(TEXT, "reasoning_effort", AT(model, thinking), .nullable = true);

static const struct member limits_fields[] = {
	INT(limits, active_ms, 1, DAY_MS),
	INT(limits, iterations, 1, ITERATIONS_MAX),
	INT(limits, micro_usd, 1, MICRO_USD_MAX),
	INT(limits, tokens, 1, TOKENS_MAX),
	{.key = NULL},
};
#define EACH_ROLE(most, ...) \
	FIELD(INTEGER, "generator", OF(GENERATOR, int64_t), RANGE(1, most), __VA_ARGS__), \
	FIELD(INTEGER, "critic", OF(CRITIC, int64_t), RANGE(1, most), __VA_ARGS__), \
	FIELD(INTEGER, "refiner", OF(REFINER, int64_t), RANGE(1, most), __VA_ARGS__), {.key = NULL}
static const struct member output_fields[] = {EACH_ROLE(TOKENS_MAX, .optional = false)};
static const struct member role_ms_fields[] = {EACH_ROLE(DAY_MS, .nullable = true, .optional = true)};
static const struct member profile_fields[] = {
	STRING(profile, name),
	ENUM(profile, mode, mode_names),
	ENUM(profile, stakes, stakes_names),
	FIELD(WORD, "critique", AT(profile, critique), .words = critique_names, .optional = true),
	FIELD(WORD, "pass_rule", AT(profile, pass_rule), .words = pass_names, .optional = true),
	FIELD(WORD, "draft_schema", AT(profile, draft_schema), .words = draft_schema_names, .optional = true),
	INT(profile, pass_score, 0, 100),
	INT(profile, score_max, 10, 100),
	INT(profile, severity_threshold, 1, 5),
	FIELD(INTEGER, "candidates", AT(profile, candidates), RANGE(1, CANDIDATES_MAX), .optional = true),
	FIELD(INTEGER, "gate_permille", AT(profile, gate_permille), RANGE(0, 1000), .nullable = true),
	ALONE("categories"), ALONE("checks"), ALONE("cite_sources"), ALONE("constraints"), ALONE("fields"), ALONE("iterations_over_3"), ALONE("limits"),
	ALONE("models"), ALONE("output_tokens"), ALONE("prompts"), ALONE("role_ms"), ALONE("stakes_rules"), ALONE("tools"), ALONE("version"),
	{.key = NULL},
};
static const struct member role_fields[] = {ALONE("generator"), ALONE("critic"), ALONE("refiner"), {.key = NULL}};
static const struct member language_fields[] = {ALONE("en"), ALONE("ja"), {.key = NULL}};
static const struct member prompt_fields[] = {
	FIELD(TEXT, "generator", OF(GENERATOR, struct str)),
	FIELD(TEXT, "critic", OF(CRITIC, struct str)),
	FIELD(TEXT, "refiner", OF(REFINER, struct str)),
	ALONE("rubric"), ALONE("approach_1"), ALONE("approach_2"), ALONE("compare"),
	{.key = NULL},
};
/* Beside them where there are two candidates. */
static const struct member candidate_fields[] = {
	FIELD(TEXT, "approach_1", AT(candidate_texts, approach[0])),
	FIELD(TEXT, "approach_2", AT(candidate_texts, approach[1])),
	STRING(candidate_texts, compare),
	{.key = NULL},
};
static const struct member rubric_field = FIELD(TEXT, "rubric", .offset = 0);
static const struct member version_field = FIELD(INTEGER, "version", RANGE(VERSION, VERSION));
/* clang-format on */

/* --- models --- */

static void read_prices(const struct reader *r, const struct json *o, struct model *out)
{
	const struct json *array = member_array(r, o, "prices", 1, &out->n_price);
	struct price *price = arena_array(r->a, struct price, out->n_price);

	for (int i = 0; i < out->n_price; i++) {
		const struct json *item = json_item(array, (size_t)i);
		if (json_kind(item) != JSON_OBJECT) {
			REFUSE(r, "prices[%d]: give an object", i);
			continue;
		}
		members_read(&PART(r, "prices[%d].", i), item, price_fields, &price[i]);
		if (!json_get(item, "cache_write"))
			price[i].cache_write = price[i].in;
		if (i > 0 && price[i].valid_from_ms <= price[i - 1].valid_from_ms)
			REFUSE(r,
			       "prices[%d].valid_from_ms: not after the row before; order the rows "
			       "by time",
			       i);
	}
	out->price = price;
}

static void read_model(const struct reader *r, const struct json *o, struct model *out)
{
	members_read(r, o, model_fields, out);
	if (json_get(o, old_thinking.key))
		member_read(r, o, &old_thinking, out);
	else if (!json_get(o, "thinking"))
		member_unfit(r, o, "thinking", "a text that is not empty, or null");
	read_prices(r, o, out);
}

/* In mode oneshot nobody but the generator needs a model: null leaves the row empty. */
static void read_models(const struct reader *r, const struct json *o, struct profile *out)
{
	const struct json *models = member_object(r, o, "models", role_fields, NULL);

	for (int i = 0; models && i < N_ROLES; i++) {
		const struct json *row = json_get(models, role_names[i]);
		if (json_kind(row) == JSON_OBJECT)
			read_model(&PART(r, "models.%s.", role_names[i]), row, &out->model[i]);
		else if (!row || json_kind(row) != JSON_NULL || out->mode != MODE_ONESHOT ||
			 i == ROLE_GENERATOR)
			member_unfit(&PART(r, "%s.", "models"), models, role_names[i],
				     "a model row");
	}
}

void model_put(struct json_out *o, const char *key, const struct model *m)
{
	json_open(o, key, '{');
	members_put(o, model_fields, m);
	json_open(o, "prices", '[');
	for (int i = 0; i < m->n_price; i++) {
		json_open(o, NULL, '{');
		members_put(o, price_fields, &m->price[i]);
		json_close(o, '}');
	}
	json_close(o, ']');
	json_close(o, '}');
}

/* --- prompts --- */

/* A template that does not show what is worked on would have it judged or mended unseen. @name: its key. */
static void check_template(const struct reader *r, const char *name, struct str text,
			   const char *const *must_show)
{
	struct err err;

	if (prompt_check(text, &err) != ST_OK) {
		REFUSE(r, "%s: %s", name, err.text);
		return;
	}
	for (; *must_show; must_show++) {
		if (str_find(text, str_c(*must_show), 0) < 0)
			REFUSE(r, "%s: %s is not shown; put it where the role shall read it", name,
			       *must_show);
	}
}

static void read_candidates(const struct reader *r, const struct json *texts,
			    struct candidate_texts *out)
{
	static const char *const shown[] = {"{{draft}}", "{{other}}", "{{schema}}", NULL};

	for (const struct member *f = candidate_fields; f->key; f++)
		member_read(r, texts, f, out);
	if (out->compare.p)
		check_template(r, "compare", out->compare, shown);
	if (out->approach[0].p && str_eq(str_trim(out->approach[0]), str_trim(out->approach[1])))
		REFUSE(r, "%s: the same as approach_1; let them differ, or the candidates will not",
		       "approach_2");
}

static void read_prompts(const struct reader *r, const struct json *o, struct profile *out)
{
	static const char *const shown[N_ROLES][6] = {
		[ROLE_GENERATOR] = {"{{task}}", "{{constraints}}"},
		[ROLE_CRITIC] = {"{{draft}}", "{{constraints}}", "{{rubric}}", "{{reply}}",
				 "{{schema}}"},
		[ROLE_REFINER] = {"{{draft}}", "{{issues}}"},
	};
	const struct json *prompts = member_object(r, o, "prompts", language_fields, NULL);

	for (int lang = 0; prompts && lang < N_LANGUAGES; lang++) {
		const char *name = language_names[lang];
		const struct json *texts = member_object(&PART(r, "%s.", "prompts"), prompts, name,
							 prompt_fields, out->prompt[lang]);
		struct reader part = PART(r, "prompts.%s.", name);
		if (!texts)
			continue;
		member_read(&part, texts, &rubric_field, &out->rubric[lang]);
		for (int role = 0; role < N_ROLES; role++) {
			if (out->prompt[lang][role].p)
				check_template(&part, role_names[role], out->prompt[lang][role],
					       shown[role]);
		}
		if (out->candidates > 1)
			read_candidates(&part, texts, &out->candidate[lang]);
	}
}

/* --- the whole --- */

static void read_checks(const struct reader *r, const struct json *o, struct profile *out)
{
	const struct json *array = member_array(r, o, "checks", 0, &out->n_check);
	struct err err;

	if (out->n_check > CHECKS_MAX) {
		REFUSE(r, "checks: more than %d; put terms of one kind into one check", CHECKS_MAX);
		return;
	}
	struct check *check = arena_array(r->a, struct check, out->n_check);
	for (int i = 0; i < out->n_check; i++) {
		if (check_read(r->a, json_item(array, (size_t)i), &check[i], &err) != ST_OK)
			REFUSE(r, "checks[%d]: %s", i, err.text);
		for (int k = 0; check[i].name.p && k < i; k++) {
			if (str_eq(check[k].name, check[i].name))
				REFUSE(r,
				       "checks[%d].name: \"%.*s\" is taken; give each check its own",
				       i, STR_ARG(check[i].name));
		}
	}
	out->check = check;
}

bool profile_has_field(const struct profile *p, struct str name)
{
	for (int i = 0; i < p->n_field; i++)
		if (str_eq(p->field[i], name))
			return true;
	return false;
}

static void read_all(const struct reader *r, const struct json *o, struct profile *out)
{
	const int n_before = r->faults->n;
	int64_t version;

	member_read(r, o, &version_field, &version);
	members_read(r, o, profile_fields, out);
	out->candidates = out->candidates ? out->candidates : 1;
	out->gate = json_kind(json_get(o, "gate_permille")) == JSON_INT;
	(void)member_object(r, o, "limits", limits_fields, &out->limits);
	(void)member_object(r, o, "output_tokens", output_fields, out->output_tokens);
	if (json_get(o, "cite_sources") && !json_get_bool(o, "cite_sources", &out->cite_sources))
		member_unfit(r, o, "cite_sources", "true or false");
	if (json_get(o, "role_ms")) /* profiles of before have none */
		(void)member_object(r, o, "role_ms", role_ms_fields, out->role_ms);
	read_models(r, o, out);
	read_prompts(r, o, out);
	out->category = member_texts(r, o, "categories", 1, &out->n_category);
	out->constraint = member_texts(r, o, "constraints", 0, &out->n_constraint);
	if (json_get(o, "fields"))
		out->field = member_texts(r, o, "fields", 1, &out->n_field);
	read_checks(r, o, out);
	out->stakes_rule = stakes_rules_read(r->a, json_get(o, "stakes_rules"), &out->n_stakes_rule,
					     r->faults);
	out->tool = tools_read(r->a, json_get(o, "tools"), &out->n_tool, r->faults);
	if (r->faults->n == n_before)
		profile_check_fields(r, out);
	if (r->faults->n == n_before)
		profile_check_rules(r, o, out);
}

/* Another text of the same meaning would have another hash. */
static bool is_canonical(const struct json *root, struct str text)
{
	struct buf canonical = BUF(text.n);

	bool fine = json_canonical(root, &canonical) == ST_OK && str_eq(buf_view(&canonical), text);
	buf_release(&canonical);
	return fine;
}

const struct profile *profile_read(struct arena *a, struct str canonical_json,
				   struct faults *faults)
{
	const struct reader r = {a, faults, ""};
	const int n_before = faults->n;
	struct profile *profile = arena_array(a, struct profile, 1);
	struct json *root;
	struct err err;

	if (json_read(canonical_json, &root, &err) != JSON_FINE) {
		faults_add(faults, NULL, "%s", err.text);
		return NULL;
	}
	if (!is_canonical(root, canonical_json))
		faults_add(
			faults, NULL,
			"the text is not canonical JSON: keys sorted, no white space, integers only");
	else if (json_kind(root) != JSON_OBJECT)
		faults_add(faults, NULL, "a profile is a JSON object");
	else
		read_all(&r, root, profile);
	json_free(root);
	if (faults->n > n_before)
		return NULL;
	profile->json = arena_str(a, canonical_json);
	sha256(profile->json, profile->sha);
	return profile;
}
