#include "core/profile.h"

#include "core/form.h"
#include "core/prompt.h"
#include "core/tool.h"
#include "core/wire.h"
#include "role_time.h"

#include <inttypes.h>
#include <stdio.h>

#define TOKENS_MAX INT64_C(1000000000)
#define MICRO_USD_MAX INT64_C(1000000000000)
#define DAY_MS INT64_C(86400000)

enum { VERSION = 1, NAME_BYTES_MAX = 64, FIELD_BYTES_MAX = 40, ITERATIONS_UNASKED_MAX = 3 };

/* By the values of their enums; NULL at the end. */
static const char *const mode_names[] = {"oneshot", "critic_refiner", "reflect", NULL};
static const char *const critique_names[] = {"json", "plain_issues", "text", NULL};
static const char *const pass_names[] = {"verdict_and_score", "no_actionable_issues", NULL};
static const char *const role_names[] = {"generator", "critic", "refiner", "tool", NULL};
static const char *const stakes_names[] = {"low", "normal", "high", NULL};
static const char *const language_names[] = {"en", "ja", NULL};
const char *const sampling_names[] = {"send", "omit", "reject", NULL};
const char *const schema_mode_names[] = {"json_schema", "json_object", "openapi", "none", NULL};
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

/* --- the members of an object and where they go --- */

enum member_kind {
	INTEGER, /* int64_t */
	TEXT,	 /* struct str */
	WORD,	 /* enum: the place among `words` */
	WIRE,	 /* const struct wire * */
	OTHER,	 /* read and written by itself */
};

struct member {
	const char *key; /* NULL ends the list */
	enum member_kind kind;
	size_t offset;
	int64_t min, max;
	const char *const *words; /* also of a text that is one of few */
	bool nullable, optional;
};

/* clang-format off */
#define FIELD(k, name, ...) {.key = (name), .kind = k, __VA_ARGS__}
#define AT(s, field) .offset = offsetof(struct s, field)
#define OF(role, type) .offset = ROLE_##role * sizeof(type)
#define RANGE(least, most) .min = (least), .max = (most)
#define INT(s, field, least, most) FIELD(INTEGER, #field, AT(s, field), RANGE(least, most))
#define STRING(s, field) FIELD(TEXT, #field, AT(s, field))
#define ENUM(s, field, list) FIELD(WORD, #field, AT(s, field), .words = (list))
#define ALONE(name) FIELD(OTHER, name, .offset = 0)

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
	INT(profile, pass_score, 0, 100),
	INT(profile, score_max, 10, 100),
	INT(profile, severity_threshold, 1, 5),
	FIELD(INTEGER, "gate_permille", AT(profile, gate_permille), RANGE(0, 1000), .nullable = true),
	ALONE("categories"), ALONE("checks"), ALONE("constraints"), ALONE("fields"), ALONE("iterations_over_3"), ALONE("limits"),
	ALONE("models"), ALONE("output_tokens"), ALONE("prompts"), ALONE("role_ms"), ALONE("tools"), ALONE("version"),
	{.key = NULL},
};
static const struct member role_fields[] = {ALONE("generator"), ALONE("critic"), ALONE("refiner"), {.key = NULL}};
static const struct member language_fields[] = {ALONE("en"), ALONE("ja"), {.key = NULL}};
static const struct member prompt_fields[] = {
	FIELD(TEXT, "generator", OF(GENERATOR, struct str)),
	FIELD(TEXT, "critic", OF(CRITIC, struct str)),
	FIELD(TEXT, "refiner", OF(REFINER, struct str)),
	ALONE("rubric"),
	{.key = NULL},
};
static const struct member rubric_field = FIELD(TEXT, "rubric", .offset = 0);
static const struct member version_field = FIELD(INTEGER, "version", RANGE(VERSION, VERSION));
/* clang-format on */

struct reader {
	struct arena *a;
	struct faults *faults;
	const char *path; /* of the object, as "models.critic." */
};

#define REFUSE(r, format, ...) faults_add((r)->faults, NULL, "%s" format, (r)->path, __VA_ARGS__)
#define PART(r, format, ...)                                                                       \
	((struct reader){(r)->a, (r)->faults,                                                      \
			 arena_printf((r)->a, "%s" format, (r)->path, __VA_ARGS__).p})

static void unfit(const struct reader *r, const struct json *o, const char *key, const char *mend)
{
	const struct json *value = json_get(o, key);

	if (value)
		REFUSE(r, "%s: this %s does not fit; give %s", key,
		       json_kind_name(json_kind(value)), mend);
	else
		REFUSE(r, "%s: missing; give %s", key, mend);
}

static void unfit_field(const struct reader *r, const struct json *o, const struct member *f)
{
	struct buf mend = BUF(200);

	if (f->kind == INTEGER)
		buf_printf(&mend, "an integer from %" PRId64 " to %" PRId64, f->min, f->max);
	for (int i = 0; f->words && f->words[i]; i++)
		buf_printf(&mend, "%s%s", i ? " or " : "", f->words[i]);
	unfit(r, o, f->key, mend.n ? mend.p : "a text that is not empty");
	buf_release(&mend);
}

static void read_field(const struct reader *r, const struct json *o, const struct member *f,
		       void *base)
{
	const struct json *value = json_get(o, f->key);
	void *to = (char *)base + f->offset;
	struct str text = {NULL, 0};
	int place = 0;

	if (f->kind == OTHER || (f->optional && !value) ||
	    (f->nullable && value && json_kind(value) == JSON_NULL))
		return;
	if (f->kind == INTEGER) {
		if (!json_get_int(o, f->key, f->min, f->max, to))
			unfit_field(r, o, f);
		return;
	}
	(void)json_get_str(o, f->key, &text);
	if (f->words)
		place = str_among(text, f->words);
	if (text.n == 0 || place < 0)
		unfit_field(r, o, f);
	else if (f->kind == WORD)
		*(int *)to = place;
	else if (f->kind == TEXT)
		*(struct str *)to = arena_str(r->a, text);
	else if (!(*(const struct wire **)to = wire_named(text)))
		REFUSE(r,
		       "%s: there is no format \"%.*s\"; give one that wire.c lists, as \"openai\"",
		       f->key, STR_ARG(text));
}

/* No member but those of the list. */
static void read_fields(const struct reader *r, const struct json *o, const struct member *list,
			void *base)
{
	const struct json *value;
	const struct member *f;
	struct str name;

	for (size_t i = 0; json_member(o, i, &name, &value); i++) {
		for (f = list; f->key && !str_is(name, f->key);)
			f++;
		if (!f->key)
			REFUSE(r, "%.*s: unknown; leave it out", STR_ARG(name));
	}
	for (f = list; f->key; f++)
		read_field(r, o, f, base);
}

/* The member @key, an object with these fields; NULL: it is none. */
static const struct json *read_object(const struct reader *r, const struct json *o, const char *key,
				      const struct member *list, void *base)
{
	const struct json *object = json_get(o, key);

	if (json_kind(object) != JSON_OBJECT) {
		unfit(r, o, key, "an object");
		return NULL;
	}
	read_fields(&PART(r, "%s.", key), object, list, base);
	return object;
}

/* The member @key, an array of at least @min items; else one of none. */
static const struct json *read_array(const struct reader *r, const struct json *o, const char *key,
				     size_t min, int *n)
{
	const struct json *array = json_get(o, key);
	bool fine = json_kind(array) == JSON_ARRAY && json_size(array) >= min;

	if (!fine)
		unfit(r, o, key, min ? "an array of one item or more" : "an array");
	*n = fine ? (int)json_size(array) : 0;
	return array;
}

static const struct str *read_texts(const struct reader *r, const struct json *o, const char *key,
				    size_t min, int *n)
{
	const struct json *array = read_array(r, o, key, min, n);
	struct str *text = arena_array(r->a, struct str, *n);

	for (int i = 0; i < *n; i++) {
		const struct json *item = json_item(array, (size_t)i);
		if (json_kind(item) == JSON_STRING && json_str(item).n)
			text[i] = arena_str(r->a, json_str(item));
		else
			REFUSE(r, "%s[%d]: give a text that is not empty", key, i);
	}
	return text;
}

/* --- models --- */

static void read_prices(const struct reader *r, const struct json *o, struct model *out)
{
	const struct json *array = read_array(r, o, "prices", 1, &out->n_price);
	struct price *price = arena_array(r->a, struct price, out->n_price);

	for (int i = 0; i < out->n_price; i++) {
		const struct json *item = json_item(array, (size_t)i);
		if (json_kind(item) != JSON_OBJECT) {
			REFUSE(r, "prices[%d]: give an object", i);
			continue;
		}
		read_fields(&PART(r, "prices[%d].", i), item, price_fields, &price[i]);
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
	read_fields(r, o, model_fields, out);
	if (json_get(o, old_thinking.key))
		read_field(r, o, &old_thinking, out);
	else if (!json_get(o, "thinking"))
		unfit(r, o, "thinking", "a text that is not empty, or null");
	read_prices(r, o, out);
}

/* In mode oneshot nobody but the generator needs a model: null leaves the row empty. */
static void read_models(const struct reader *r, const struct json *o, struct profile *out)
{
	const struct json *models = read_object(r, o, "models", role_fields, NULL);

	for (int i = 0; models && i < N_ROLES; i++) {
		const struct json *row = json_get(models, role_names[i]);
		if (json_kind(row) == JSON_OBJECT)
			read_model(&PART(r, "models.%s.", role_names[i]), row, &out->model[i]);
		else if (!row || json_kind(row) != JSON_NULL || out->mode != MODE_ONESHOT ||
			 i == ROLE_GENERATOR)
			unfit(&PART(r, "%s.", "models"), models, role_names[i], "a model row");
	}
}

static void put_fields(struct json_out *o, const struct member *f, const void *base)
{
	for (; f->key; f++) {
		const void *from = (const char *)base + f->offset;
		if (f->kind == INTEGER)
			json_put_int(o, f->key, *(const int64_t *)from);
		else if (f->kind == TEXT)
			json_put_str(o, f->key, *(const struct str *)from);
		else if (f->kind == WORD)
			json_put_str(o, f->key, str_c(f->words[*(const int *)from]));
		else if (f->kind == WIRE)
			json_put_str(o, f->key, str_c((*(const struct wire *const *)from)->name));
	}
}

void model_put(struct json_out *o, const char *key, const struct model *m)
{
	json_open(o, key, '{');
	put_fields(o, model_fields, m);
	json_open(o, "prices", '[');
	for (int i = 0; i < m->n_price; i++) {
		json_open(o, NULL, '{');
		put_fields(o, price_fields, &m->price[i]);
		json_close(o, '}');
	}
	json_close(o, ']');
	json_close(o, '}');
}

/* --- prompts --- */

/* A template that does not show what the role works on would make it judge or mend nothing. */
static void check_template(const struct reader *r, enum role role, struct str text)
{
	enum { N_SHOWN = 5 };
	static const char *const must_show[N_ROLES][N_SHOWN] = {
		[ROLE_GENERATOR] = {"{{task}}", "{{constraints}}"},
		[ROLE_CRITIC] = {"{{draft}}", "{{constraints}}", "{{rubric}}", "{{reply}}",
				 "{{schema}}"},
		[ROLE_REFINER] = {"{{draft}}", "{{issues}}"},
	};
	struct err err;

	if (prompt_check(text, &err) != ST_OK) {
		REFUSE(r, "%s: %s", role_names[role], err.text);
		return;
	}
	for (int i = 0; i < N_SHOWN && must_show[role][i]; i++) {
		if (str_find(text, str_c(must_show[role][i]), 0) < 0)
			REFUSE(r, "%s: %s is not shown; put it where the role shall read it",
			       role_names[role], must_show[role][i]);
	}
}

static void read_prompts(const struct reader *r, const struct json *o, struct profile *out)
{
	const struct json *prompts = read_object(r, o, "prompts", language_fields, NULL);

	for (int lang = 0; prompts && lang < N_LANGUAGES; lang++) {
		const char *name = language_names[lang];
		const struct json *texts = read_object(&PART(r, "%s.", "prompts"), prompts, name,
						       prompt_fields, out->prompt[lang]);
		struct reader part = PART(r, "prompts.%s.", name);
		if (!texts)
			continue;
		read_field(&part, texts, &rubric_field, &out->rubric[lang]);
		for (int role = 0; role < N_ROLES; role++) {
			if (out->prompt[lang][role].p)
				check_template(&part, (enum role)role, out->prompt[lang][role]);
		}
	}
}

/* --- the whole --- */

static void read_checks(const struct reader *r, const struct json *o, struct profile *out)
{
	const struct json *array = read_array(r, o, "checks", 0, &out->n_check);
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

/* Who is to reply in named parts must be told their names. */
static void check_form(const struct reader *r, const struct profile *p, enum language lang,
		       enum role role)
{
	if (p->n_field && role != ROLE_CRITIC &&
	    str_find(p->prompt[lang][role], STR_OF("{{schema}}"), 0) < 0)
		REFUSE(r,
		       "prompts.%s.%s: {{schema}} is not shown, which names the fields; put it where "
		       "the form of the reply is told",
		       language_names[lang], role_names[role]);
}

/* Absent in profiles of one text. */
static void check_fields(const struct reader *r, const struct profile *p)
{
	if (p->n_field > FIELDS_MAX)
		REFUSE(r, "fields: more than %d; a draft of so many is several jobs", FIELDS_MAX);
	for (int i = 0; i < p->n_field; i++) {
		struct profile before = {.field = p->field, .n_field = i};

		if (p->field[i].n > FIELD_BYTES_MAX ||
		    !str_only(p->field[i], "abcdefghijklmnopqrstuvwxyz0123456789_") ||
		    str_is(p->field[i], "confidence") || profile_has_field(&before, p->field[i]))
			REFUSE(r,
			       "fields[%d]: give each its own name of 1 to %d characters of a-z 0-9 _, "
			       "not \"confidence\"",
			       i, FIELD_BYTES_MAX);
	}
	for (int lang = 0; lang < N_LANGUAGES; lang++)
		for (int role = 0; role < N_ROLES; role++)
			check_form(r, p, (enum language)lang, (enum role)role);
	for (int i = 0; i < p->n_check; i++)
		if (p->check[i].field.p && !profile_has_field(p, p->check[i].field))
			REFUSE(r, "checks[%d].field: there is no \"%.*s\" among the fields", i,
			       STR_ARG(p->check[i].field));
}

/* Who judges: another model than the writer's, or in mode reflect the same. */
static void check_judge(const struct reader *r, const struct profile *p)
{
	const struct model *m = p->model;
	const bool same = str_eq(m[ROLE_CRITIC].id, m[ROLE_GENERATOR].id);

	if (p->mode == MODE_CRITIC_REFINER && same)
		REFUSE(r,
		       "%s: the generator's model may not judge its own drafts; give the critic "
		       "another one, or set mode: reflect",
		       "models.critic.id");
	if (p->mode == MODE_REFLECT && (!same || !str_eq(m[ROLE_REFINER].id, m[ROLE_GENERATOR].id)))
		REFUSE(r, "%s: in mode reflect one model plays all roles; name the generator alone",
		       "models");
}

/* What is asked of the critic, and what its prompt says. */
static void check_critique(const struct reader *r, const struct profile *p)
{
	struct err err;

	if (p->critique == CRITIQUE_TEXT && p->pass_rule == PASS_VERDICT_AND_SCORE)
		REFUSE(r, "%s: a text has neither; give no_actionable_issues", "pass_rule");
	for (int lang = 0; lang < N_LANGUAGES; lang++)
		if (form_check(p, p->prompt[lang][ROLE_CRITIC], &err) != ST_OK)
			REFUSE(r, "prompts.%s.critic: %s", language_names[lang], err.text);
	for (int i = 0; i < p->n_category; i++)
		for (int k = 0; k < i; k++)
			if (str_eq(p->category[i], p->category[k]))
				REFUSE(r, "categories[%d]: \"%.*s\" stands there already", i,
				       STR_ARG(p->category[i]));
}

/* What no single key can tell. */
static void check_rules(const struct reader *r, const struct json *o, const struct profile *p)
{
	bool over_3;

	if (!json_get_bool(o, "iterations_over_3", &over_3))
		unfit(r, o, "iterations_over_3", "true or false");
	else if (p->limits.iterations > ITERATIONS_UNASKED_MAX && !over_3)
		REFUSE(r,
		       "limits.iterations: over %d seldom pays; lower it, or set "
		       "iterations_over_3: true",
		       ITERATIONS_UNASKED_MAX);
	if (p->name.n > NAME_BYTES_MAX ||
	    !str_only(p->name, "abcdefghijklmnopqrstuvwxyz0123456789_-"))
		unfit(r, o, "name", "1 to 64 characters of a-z 0-9 - _");
	if (p->score_max != 10 && p->score_max != 100)
		unfit(r, o, "score_max", "10 or 100");
	check_judge(r, p);
	check_critique(r, p);
	if (role_time_end_ms(p, &p->limits, ROLE_GENERATOR, 0) <
	    (p->role_ms[ROLE_GENERATOR] ? p->role_ms[ROLE_GENERATOR] : 1))
		REFUSE(r, "%s: draft, critique and mend exceed limits.active_ms; lower them",
		       "role_ms");
	for (int i = 0; i < N_ROLES; i++) {
		const struct model *m = &p->model[i];
		if (m->id.p && p->output_tokens[i] > m->max_output_tokens)
			REFUSE(r,
			       "output_tokens.%s: over the model's max_output_tokens; at most %" PRId64,
			       role_names[i], m->max_output_tokens);
		if (m->id.p && p->output_tokens[i] <= model_thinking_tokens(m))
			REFUSE(r,
			       "output_tokens.%s: the model may use them all for thinking; give "
			       "more than its thinking tokens, %" PRId64,
			       role_names[i], model_thinking_tokens(m));
	}
}

static void read_all(const struct reader *r, const struct json *o, struct profile *out)
{
	const int n_before = r->faults->n;
	int64_t version;

	read_field(r, o, &version_field, &version);
	read_fields(r, o, profile_fields, out);
	out->gate = json_kind(json_get(o, "gate_permille")) == JSON_INT;
	(void)read_object(r, o, "limits", limits_fields, &out->limits);
	(void)read_object(r, o, "output_tokens", output_fields, out->output_tokens);
	if (json_get(o, "role_ms")) /* profiles of before have none */
		(void)read_object(r, o, "role_ms", role_ms_fields, out->role_ms);
	read_models(r, o, out);
	read_prompts(r, o, out);
	out->category = read_texts(r, o, "categories", 1, &out->n_category);
	out->constraint = read_texts(r, o, "constraints", 0, &out->n_constraint);
	if (json_get(o, "fields"))
		out->field = read_texts(r, o, "fields", 1, &out->n_field);
	read_checks(r, o, out);
	out->tool = tools_read(r->a, json_get(o, "tools"), &out->n_tool, r->faults);
	if (r->faults->n == n_before)
		check_fields(r, out);
	if (r->faults->n == n_before)
		check_rules(r, o, out);
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
