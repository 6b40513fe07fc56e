#include "core/profile.h"

#include "core/prompt.h"
#include "core/wire.h"

#include <inttypes.h>
#include <stdio.h>

#define TOKENS_MAX INT64_C(1000000000)
#define MICRO_USD_MAX INT64_C(1000000000000)

enum { VERSION = 1, NAME_BYTES_MAX = 64, ITERATIONS_UNASKED_MAX = 3 };

/* By the values of their enums; NULL at the end. */
static const char *const mode_names[] = {"oneshot", "critic_refiner", NULL};
static const char *const role_names[] = {"generator", "critic", "refiner", NULL};
static const char *const stakes_names[] = {"low", "normal", "high", NULL};
static const char *const language_names[] = {"en", "ja", NULL};
static const char *const sampling_names[] = {"send", "omit", "reject", NULL};
static const char *const schema_mode_names[] = {"json_schema", "json_object", "openapi", "none",
						NULL};
static const char *const max_tokens_names[] = {"max_completion_tokens", "max_tokens", NULL};

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

/*
 * Each read_..() is true, or has set the error to "key: what is wrong; the mend". The one who calls it for a part puts the part's
 * path in front, so that a whole path is there at the end: "models.critic.prices[0].in: missing; ...".
 */
struct reader {
	struct arena *a;
	struct err *err;
};

#define REFUSE(r, ...) ERR_SET((r)->err, false, __VA_ARGS__)
#define IN(r, fine, ...) ((fine) || (err_at((r)->err, __VA_ARGS__), false))

static bool unfit(struct reader *r, const struct json *o, const char *key, const char *mend)
{
	const struct json *value = json_get(o, key);

	if (!value)
		return REFUSE(r, "%s: missing; give %s", key, mend);
	return REFUSE(r, "%s: this %s does not fit; give %s", key, json_kind_name(json_kind(value)),
		      mend);
}

static bool read_int(struct reader *r, const struct json *o, const char *key, int64_t min,
		     int64_t max, int64_t *out)
{
	char mend[80];

	if (json_get_int(o, key, min, max, out))
		return true;
	snprintf(mend, sizeof(mend), "an integer from %" PRId64 " to %" PRId64, min, max);
	return unfit(r, o, key, mend);
}

/* Copied, NUL-terminated. */
static bool read_text(struct reader *r, const struct json *o, const char *key, struct str *out)
{
	struct str s;

	if (!json_get_str(o, key, &s) || s.n == 0)
		return unfit(r, o, key, "a text that is not empty");
	*out = arena_str(r->a, s);
	return true;
}

static bool is_null(const struct json *o, const char *key)
{
	const struct json *value = json_get(o, key);

	return value && json_kind(value) == JSON_NULL;
}

/* One of @names, as its place among them. */
static bool read_word(struct reader *r, const struct json *o, const char *key,
		      const char *const *names, int *out)
{
	char mend[80] = "";
	struct str s = {NULL, 0};

	(void)json_get_str(o, key, &s);
	*out = str_among(s, names);
	if (*out >= 0)
		return true;
	for (int i = 0; names[i]; i++) {
		size_t n = strlen(mend);
		snprintf(mend + n, sizeof(mend) - n, "%s%s", i ? " or " : "", names[i]);
	}
	return unfit(r, o, key, mend);
}

/* @object has no other keys than @keys, NULL at their end. */
static bool only(struct reader *r, const struct json *object, const char *const *keys)
{
	struct str name;
	const struct json *value;

	for (size_t i = 0; json_member(object, i, &name, &value); i++) {
		if (str_among(name, keys) < 0)
			return REFUSE(r, "%.*s: unknown; leave it out", STR_ARG(name));
	}
	return true;
}

static bool read_object(struct reader *r, const struct json *o, const char *key,
			const char *const *keys, const struct json **out)
{
	*out = json_get(o, key);
	if (json_kind(*out) != JSON_OBJECT)
		return unfit(r, o, key, "an object");
	return IN(r, only(r, *out, keys), "%s.", key);
}

/* The member @key: an array of at least @min items. */
static bool read_array(struct reader *r, const struct json *o, const char *key, size_t min,
		       const struct json **out, int *n)
{
	const struct json *array = json_get(o, key);

	if (json_kind(array) != JSON_ARRAY || json_size(array) < min)
		return unfit(r, o, key, min ? "an array of one item or more" : "an array");
	*out = array;
	*n = (int)json_size(array);
	return true;
}

static bool read_texts(struct reader *r, const struct json *o, const char *key, size_t min,
		       const struct str **out, int *n)
{
	const struct json *array;

	if (!read_array(r, o, key, min, &array, n))
		return false;
	struct str *text = arena_array(r->a, struct str, *n);
	for (int i = 0; i < *n; i++) {
		const struct json *item = json_item(array, (size_t)i);
		if (json_kind(item) != JSON_STRING || json_str(item).n == 0)
			return REFUSE(r, "%s[%d]: give a text that is not empty", key, i);
		text[i] = arena_str(r->a, json_str(item));
	}
	*out = text;
	return true;
}

/* Integers of an object, by a table with no key at its end. */
struct int_key {
	const char *key;
	int64_t min, max;
	size_t offset; /* of an int64_t in the struct */
};

static bool read_ints(struct reader *r, const struct json *o, const struct int_key *k, void *base)
{
	for (; k->key; k++) {
		int64_t *field = (int64_t *)(void *)((char *)base + k->offset);
		if (!read_int(r, o, k->key, k->min, k->max, field))
			return false;
	}
	return true;
}

#define DAY_MS INT64_C(86400000)

static bool read_price(struct reader *r, const struct json *o, struct price *out)
{
	static const char *const keys[] = {"cache_write", "cached",	   "in",
					   "out",	  "valid_from_ms", NULL};
	static const struct int_key ints[] = {
		{"cached", 0, MICRO_USD_MAX, offsetof(struct price, cached)},
		{"in", 0, MICRO_USD_MAX, offsetof(struct price, in)},
		{"out", 0, MICRO_USD_MAX, offsetof(struct price, out)},
		{"valid_from_ms", 0, INT64_MAX, offsetof(struct price, valid_from_ms)},
		{0},
	};

	if (!only(r, o, keys) || !read_ints(r, o, ints, out))
		return false;
	out->cache_write = out->in; /* in profiles of before it had a price */
	return !json_get(o, "cache_write") ||
	       read_int(r, o, "cache_write", 0, MICRO_USD_MAX, &out->cache_write);
}

static bool read_prices(struct reader *r, const struct json *o, struct model *out)
{
	const struct json *array;

	if (!read_array(r, o, "prices", 1, &array, &out->n_price))
		return false;
	struct price *price = arena_array(r->a, struct price, out->n_price);
	for (int i = 0; i < out->n_price; i++) {
		const struct json *item = json_item(array, (size_t)i);
		if (json_kind(item) != JSON_OBJECT)
			return REFUSE(r, "prices[%d]: give an object", i);
		if (!IN(r, read_price(r, item, &price[i]), "prices[%d].", i))
			return false;
		if (i > 0 && price[i].valid_from_ms <= price[i - 1].valid_from_ms)
			return REFUSE(r,
				      "prices[%d].valid_from_ms: not after the row before; "
				      "order the rows by time",
				      i);
	}
	out->price = price;
	return true;
}

static bool read_wire(struct reader *r, const struct json *o, const struct wire **out)
{
	struct str name;

	if (!read_text(r, o, "wire", &name))
		return false;
	*out = wire_named(name);
	return *out ||
	       REFUSE(r,
		      "wire: there is no format \"%.*s\"; give one that wire.c lists, as \"openai\"",
		      STR_ARG(name));
}

static bool read_model(struct reader *r, const struct json *o, struct model *out)
{
	static const char *const keys[] = {"id",
					   "max_output_tokens",
					   "max_tokens_field",
					   "name",
					   "prices",
					   "provider",
					   "reasoning_effort",
					   "sampling",
					   "schema_mode",
					   "temperature_milli",
					   "thinking",
					   "timeout_ms",
					   "tokens_per_kb",
					   "wire",
					   NULL};
	static const struct int_key ints[] = {
		{"max_output_tokens", 1, TOKENS_MAX, offsetof(struct model, max_output_tokens)},
		{"temperature_milli", 0, 2000, offsetof(struct model, temperature_milli)},
		{"timeout_ms", 1, DAY_MS, offsetof(struct model, timeout_ms)},
		{"tokens_per_kb", 1, 100000, offsetof(struct model, tokens_per_kb)},
		{0},
	};
	/* What it was called before; a stored profile is read again as it is. */
	const char *thinking = json_get(o, "reasoning_effort") ? "reasoning_effort" : "thinking";
	int field, sampling, schema_mode;

	if (!only(r, o, keys) || !read_text(r, o, "id", &out->id) ||
	    !read_text(r, o, "name", &out->name) || !read_text(r, o, "provider", &out->provider) ||
	    !read_ints(r, o, ints, out) ||
	    !read_word(r, o, "max_tokens_field", max_tokens_names, &field) ||
	    !read_word(r, o, "sampling", sampling_names, &sampling) ||
	    !read_word(r, o, "schema_mode", schema_mode_names, &schema_mode) ||
	    !read_wire(r, o, &out->wire) || !read_prices(r, o, out))
		return false;
	out->max_tokens_field = str_c(max_tokens_names[field]);
	out->sampling = (enum sampling)sampling;
	out->schema_mode = (enum schema_mode)schema_mode;
	return is_null(o, thinking) || read_text(r, o, thinking, &out->thinking);
}

/* In mode oneshot nobody but the generator needs a model: null leaves the row empty. */
static bool read_models(struct reader *r, const struct json *o, struct profile *out)
{
	const struct json *models;

	if (!read_object(r, o, "models", role_names, &models))
		return false;
	for (int i = 0; i < N_ROLES; i++) {
		const struct json *row = json_get(models, role_names[i]);
		if (is_null(models, role_names[i]) && out->mode == MODE_ONESHOT &&
		    i != ROLE_GENERATOR)
			continue;
		if (json_kind(row) != JSON_OBJECT)
			return IN(r, unfit(r, models, role_names[i], "a model row"), "models.");
		if (!IN(r, read_model(r, row, &out->model[i]), "models.%s.", role_names[i]))
			return false;
	}
	return true;
}

static bool read_output_tokens(struct reader *r, const struct json *o, struct profile *out)
{
	static const struct int_key ints[] = {
		{"critic", 1, TOKENS_MAX, ROLE_CRITIC * sizeof(int64_t)},
		{"generator", 1, TOKENS_MAX, ROLE_GENERATOR * sizeof(int64_t)},
		{"refiner", 1, TOKENS_MAX, ROLE_REFINER * sizeof(int64_t)},
		{0},
	};
	const struct json *caps;

	return read_object(r, o, "output_tokens", role_names, &caps) &&
	       IN(r, read_ints(r, caps, ints, out->output_tokens), "output_tokens.");
}

static bool read_limits(struct reader *r, const struct json *o, struct limits *out)
{
	static const char *const keys[] = {"active_ms", "iterations", "micro_usd", "tokens", NULL};
	static const struct int_key ints[] = {
		{"active_ms", 1, DAY_MS, offsetof(struct limits, active_ms)},
		{"iterations", 1, ITERATIONS_MAX, offsetof(struct limits, iterations)},
		{"micro_usd", 1, MICRO_USD_MAX, offsetof(struct limits, micro_usd)},
		{"tokens", 1, TOKENS_MAX, offsetof(struct limits, tokens)},
		{0},
	};
	const struct json *limits;

	return read_object(r, o, "limits", keys, &limits) &&
	       IN(r, read_ints(r, limits, ints, out), "limits.");
}

/* A template that does not show what the role works on would make it judge or mend nothing. */
static bool read_template(struct reader *r, const struct json *o, enum role role, struct str *out)
{
	static const char *const must_show[N_ROLES][3] = {
		[ROLE_GENERATOR] = {"{{task}}", "{{constraints}}"},
		[ROLE_CRITIC] = {"{{draft}}", "{{constraints}}", "{{rubric}}"},
		[ROLE_REFINER] = {"{{draft}}", "{{issues}}"},
	};

	if (!read_text(r, o, role_names[role], out))
		return false;
	if (prompt_check(*out, r->err) != ST_OK)
		return IN(r, false, "%s: ", role_names[role]);
	for (int i = 0; i < 3 && must_show[role][i]; i++) {
		if (str_find(*out, str_c(must_show[role][i]), 0) < 0)
			return REFUSE(r, "%s: %s is not shown; put it where the role shall read it",
				      role_names[role], must_show[role][i]);
	}
	return true;
}

static bool read_prompts(struct reader *r, const struct json *o, struct profile *out)
{
	static const char *const keys[] = {"critic", "generator", "refiner", "rubric", NULL};
	const struct json *prompts, *texts;

	if (!read_object(r, o, "prompts", language_names, &prompts))
		return false;
	for (int lang = 0; lang < N_LANGUAGES; lang++) {
		const char *name = language_names[lang];
		bool fine = read_object(r, prompts, name, keys, &texts);
		if (!IN(r, fine, "prompts."))
			return false;
		for (int role = 0; fine && role < N_ROLES; role++)
			fine = read_template(r, texts, (enum role)role, &out->prompt[lang][role]);
		fine = fine && read_text(r, texts, "rubric", &out->rubric[lang]);
		if (!IN(r, fine, "prompts.%s.", name))
			return false;
	}
	return true;
}

static bool read_checks(struct reader *r, const struct json *o, struct profile *out)
{
	const struct json *array;

	if (!read_array(r, o, "checks", 0, &array, &out->n_check))
		return false;
	if (out->n_check > CHECKS_MAX)
		return REFUSE(r, "checks: more than %d; put terms of one kind into one check",
			      CHECKS_MAX);
	struct check *check = arena_array(r->a, struct check, out->n_check);
	for (int i = 0; i < out->n_check; i++) {
		if (check_read(r->a, json_item(array, (size_t)i), &check[i], r->err) != ST_OK)
			return IN(r, false, "checks[%d]: ", i);
		for (int k = 0; k < i; k++) {
			if (str_eq(check[k].name, check[i].name))
				return REFUSE(
					r,
					"checks[%d].name: \"%.*s\" is taken; give each check its own",
					i, STR_ARG(check[i].name));
		}
	}
	out->check = check;
	return true;
}

/* --- the whole --- */

static bool read_name(struct reader *r, const struct json *o, struct str *out)
{
	if (!read_text(r, o, "name", out))
		return false;
	return (out->n <= NAME_BYTES_MAX &&
		str_only(*out, "abcdefghijklmnopqrstuvwxyz0123456789_-")) ||
	       unfit(r, o, "name", "1 to 64 characters of a-z 0-9 - _");
}

static bool read_judgement(struct reader *r, const struct json *o, struct profile *out)
{
	static const struct int_key ints[] = {
		{"pass_score", 0, 100, offsetof(struct profile, pass_score)},
		{"score_max", 10, 100, offsetof(struct profile, score_max)},
		{"severity_threshold", 1, 5, offsetof(struct profile, severity_threshold)},
		{0},
	};
	int stakes;

	if (!read_ints(r, o, ints, out) || !read_word(r, o, "stakes", stakes_names, &stakes))
		return false;
	if (out->score_max != 10 && out->score_max != 100)
		return unfit(r, o, "score_max", "10 or 100");
	out->stakes = (enum stakes)stakes;
	out->gate = !is_null(o, "gate_permille");
	return !out->gate || read_int(r, o, "gate_permille", 0, 1000, &out->gate_permille);
}

/* What no single key can tell. */
static bool check_rules(struct reader *r, const struct json *o, const struct profile *p)
{
	bool over_3;

	if (!json_get_bool(o, "iterations_over_3", &over_3))
		return unfit(r, o, "iterations_over_3", "true or false");
	if (p->limits.iterations > ITERATIONS_UNASKED_MAX && !over_3)
		return REFUSE(
			r,
			"limits.iterations: over 3 seldom pays; lower it, or set iterations_over_3: true");
	if (p->mode != MODE_ONESHOT &&
	    str_eq(p->model[ROLE_CRITIC].id, p->model[ROLE_GENERATOR].id))
		return REFUSE(
			r, "models.critic.id: the generator's model may not judge its own drafts; "
			   "give the critic another one");
	for (int i = 0; i < N_ROLES; i++) {
		const struct model *m = &p->model[i];
		if (m->id.p && p->output_tokens[i] > m->max_output_tokens)
			return REFUSE(
				r,
				"output_tokens.%s: over the model's max_output_tokens; at most %" PRId64,
				role_names[i], m->max_output_tokens);
		if (m->id.p && p->output_tokens[i] <= model_thinking_tokens(m))
			return REFUSE(
				r,
				"output_tokens.%s: the model may use them all for thinking; give "
				"more than its thinking tokens, %" PRId64,
				role_names[i], model_thinking_tokens(m));
	}
	return true;
}

static bool read_profile(struct reader *r, const struct json *o, struct profile *out)
{
	static const char *const keys[] = {"categories",
					   "checks",
					   "constraints",
					   "gate_permille",
					   "iterations_over_3",
					   "limits",
					   "mode",
					   "models",
					   "name",
					   "output_tokens",
					   "pass_score",
					   "prompts",
					   "score_max",
					   "severity_threshold",
					   "stakes",
					   "version",
					   NULL};
	int64_t version;
	int mode;

	if (json_kind(o) != JSON_OBJECT)
		return REFUSE(r, "a profile is a JSON object");
	if (!read_int(r, o, "version", VERSION, VERSION, &version) || !only(r, o, keys) ||
	    !read_name(r, o, &out->name) || !read_word(r, o, "mode", mode_names, &mode))
		return false;
	out->mode = (enum mode)mode;
	return read_limits(r, o, &out->limits) && read_judgement(r, o, out) &&
	       read_models(r, o, out) && read_output_tokens(r, o, out) && read_prompts(r, o, out) &&
	       read_texts(r, o, "categories", 1, &out->category, &out->n_category) &&
	       read_texts(r, o, "constraints", 0, &out->constraint, &out->n_constraint) &&
	       read_checks(r, o, out) && check_rules(r, o, out);
}

/* Another text of the same meaning would have another hash. */
static bool is_canonical(struct reader *r, const struct json *root, struct str text)
{
	struct buf canonical = BUF(text.n);

	bool fine = json_canonical(root, &canonical) == ST_OK && str_eq(buf_view(&canonical), text);
	buf_release(&canonical);
	return fine ||
	       REFUSE(r,
		      "the text is not canonical JSON: keys sorted, no white space, integers only");
}

enum status profile_read(struct arena *a, struct str canonical_json, const struct profile **out,
			 struct err *err)
{
	struct reader r = {a, err};
	struct profile *profile = arena_array(a, struct profile, 1);
	struct json *root;

	if (json_read(canonical_json, &root, err) != JSON_FINE)
		return ST_INVALID;
	bool fine = is_canonical(&r, root, canonical_json) && read_profile(&r, root, profile);
	json_free(root);
	if (!fine)
		return ST_INVALID;
	profile->json = arena_str(a, canonical_json);
	sha256(profile->json, profile->sha);
	*out = profile;
	return ST_OK;
}
