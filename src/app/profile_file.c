#include "profile_file.h"

#include "app/file.h"
#include "app/suggest.h"
#include "base/clock.h"
#include "base/text.h"
#include "core/prompt.h"

#include <stdlib.h>

enum { JSON_BYTES_MAX = 4 << 20, ARM_NAME_BYTES_MAX = 40 };

enum kind {
	TEXT,
	PLAIN, /* an integer or a boolean */
	TEXTS,
	MAPS,	 /* checks or tools, who know their keys */
	MODEL,	 /* the name of a model row, which takes its place */
	SECTION, /* a map of the keys under it */
	PROMPTS, /* a map of roles to the names of their files */
	ARMS,	 /* no part of a profile: each makes one of its own */
};

/* The keys of a profile file; NULL at the end. */
struct profile_key {
	const char *key;
	enum kind kind;
	const char *fallback; /* NULL: null, or an empty list */
	bool optional;	      /* not written where the file has none */
	const struct profile_key *under;
};

/* clang-format off */
#define KEY(name, k, default) {.key = (name), .kind = (k), .fallback = (default)}
#define END {.key = NULL}

static const struct profile_key limits[] = {
	KEY("iterations", PLAIN, "2"), KEY("tokens", PLAIN, "50000"), KEY("micro_usd", PLAIN, NULL), KEY("active_ms", PLAIN, "30000"), END,
};
static const struct profile_key output_tokens[] = {
	KEY("generator", PLAIN, "2000"), KEY("critic", PLAIN, "1000"), KEY("refiner", PLAIN, "2000"), END,
};
static const struct profile_key role_ms[] = {
	KEY("generator", PLAIN, NULL), KEY("critic", PLAIN, NULL), KEY("refiner", PLAIN, NULL), END,
};
static const struct profile_key models[] = {
	KEY("generator", MODEL, NULL), KEY("critic", MODEL, NULL), KEY("refiner", MODEL, NULL), END,
};
static const struct profile_key prompts[] = {
	KEY("generator", TEXT, NULL), KEY("critic", TEXT, NULL), KEY("refiner", TEXT, NULL),
	KEY("approach_1", TEXT, NULL), KEY("approach_2", TEXT, NULL), KEY("compare", TEXT, NULL), END,
};
static const struct profile_key keys[] = {
	KEY("name", TEXT, NULL),
	KEY("mode", TEXT, "critic_refiner"),
	KEY("critique", TEXT, "json"),
	KEY("pass_rule", TEXT, "verdict_and_score"),
	{.key = "draft_schema", .kind = TEXT, .optional = true},
	KEY("pass_score", PLAIN, "80"),
	KEY("score_max", PLAIN, "100"),
	KEY("severity_threshold", PLAIN, "3"),
	KEY("stakes", TEXT, "normal"),
	KEY("gate_permille", PLAIN, NULL),
	KEY("iterations_over_3", PLAIN, "false"),
	KEY("categories", TEXTS, NULL),
	KEY("constraints", TEXTS, NULL),
	KEY("checks", MAPS, NULL),
	KEY("tools", MAPS, NULL),
	{.key = "fields", .kind = TEXTS, .optional = true},
	{.key = "cite_sources", .kind = PLAIN, .optional = true},
	{.key = "candidates", .kind = PLAIN, .optional = true},
	{.key = "stakes_rules", .kind = MAPS, .optional = true},
	{.key = "limits", .kind = SECTION, .under = limits},
	{.key = "output_tokens", .kind = SECTION, .under = output_tokens},
	{.key = "role_ms", .kind = SECTION, .under = role_ms},
	{.key = "models", .kind = SECTION, .under = models},
	{.key = "prompts", .kind = PROMPTS, .under = prompts},
	KEY("arms", ARMS, NULL),
	END,
};
/* clang-format on */

struct reader {
	struct arena *a;
	const struct settings *settings;
	struct faults *faults;
	const struct prompt_texts *texts;
	const char *path;
	const struct yaml *root;
	struct str arm; /* whose profile this is; absent: the file's own */
	struct json_out json;
	bool is_whole; /* each value is in the JSON; an unknown key takes nothing from it */
};

static const char *place(const struct reader *r, int line)
{
	return r->arm.p ? arena_printf(r->a, "%s:%d: arm %.*s", r->path, line, STR_ARG(r->arm)).p
			: arena_printf(r->a, "%s:%d", r->path, line).p;
}

/* --- values --- */

/* A plain scalar is the integer, boolean or text that it looks like, unless only a text is wanted: profile_read() knows what may be. */
static void put_value(struct reader *r, const char *key, const struct yaml *y, bool is_text)
{
	bool is_plain = y->kind == YAML_SCALAR && !y->quoted && !is_text;
	int64_t number;

	if (is_plain && str_to_int(y->text, INT64_MIN, INT64_MAX, &number)) {
		json_put_int(&r->json, key, number);
	} else if (is_plain && (str_is(y->text, "true") || str_is(y->text, "false"))) {
		json_put_bool(&r->json, key, str_is(y->text, "true"));
	} else if (y->kind == YAML_SCALAR) {
		json_put_str(&r->json, key, y->text);
	} else {
		json_open(&r->json, key, y->kind == YAML_MAP ? '{' : '[');
		for (const struct yaml *child = y->child; child; child = child->next)
			put_value(r, child->key.p, child, is_text);
		json_close(&r->json, y->kind == YAML_MAP ? '}' : ']');
	}
}

/* The refiner is the generator's model unless another is named; in mode reflect so is the critic. */
static void put_model(struct reader *r, const char *role, const struct yaml *y)
{
	const struct yaml *mode = yaml_get(r->root, "mode");
	bool reflects = mode && str_is(mode->text, "reflect");

	if (!y && (reflects || strcmp(role, "refiner") == 0))
		y = yaml_get(yaml_get(r->root, "models"), "generator");
	if (!y) {
		json_put_null(&r->json, role);
		return;
	}
	const struct model *model = settings_model(r->settings, y->text);
	if (model && (!model->sunset_ms || clock_unix_ms() < model->sunset_ms)) {
		model_put(&r->json, role, model);
		return;
	}
	struct suggest s = {.wanted = y->text};
	for (int i = 0; i < r->settings->n_model; i++)
		suggest_offer(&s, r->settings->model[i].name);
	r->is_whole = false;
	if (model)
		faults_add(r->faults, place(r, y->line),
			   "models.%s: \"%.*s\" is past its sunset; name its successor", role,
			   STR_ARG(y->text));
	else
		faults_add(r->faults, place(r, y->line),
			   "models.%s: the settings have no model \"%.*s\"; %s%.*s", role,
			   STR_ARG(y->text), s.best.p ? "did you mean " : "add it to `models`",
			   STR_ARG(s.best));
}

/* --- prompts --- */

/* What a file of prompts_dir holds. */
enum prompt_text { TEMPLATE, RUBRIC, APPROACH };

static struct str read_prompt(struct arena *a, const struct settings *settings,
			      enum language language, const char *name, enum prompt_text kind,
			      struct faults *faults)
{
	const char *file = arena_printf(a, "%s/%s.txt", language_name(language), name).p;
	const char *path = file_path(a, settings->prompts_dir, file);
	struct str text = STR("");
	struct err err;

	if (file_read(a, path, &text, &err) != ST_OK)
		faults_add(faults, NULL, "%s", err.text);
	else if (!text_is_utf8(text))
		faults_add(faults, path, "it is not UTF-8; save it as such");
	else if (kind == TEMPLATE ? prompt_check(text, &err) != ST_OK
		 : kind == RUBRIC ? prompt_check_rubric(text, language, &err) != ST_OK
				  : false)
		faults_add(faults, path, "%s", err.text);
	return text;
}

/* Whether each role's file is named so that it lies in prompts_dir. */
static bool prompts_are_named(struct reader *r, const struct yaml *map)
{
	bool fine = true;

	for (const struct yaml *y = map ? map->child : NULL; y; y = y->next) {
		if (y->kind == YAML_SCALAR && y->text.n &&
		    str_only(y->text, "abcdefghijklmnopqrstuvwxyz0123456789_-"))
			continue;
		fine = false;
		faults_add(r->faults, place(r, y->line),
			   "prompts.%s: give a file's name without folder and .txt: a-z 0-9 - _",
			   y->key.p);
	}
	return fine;
}

static bool has_candidates(const struct reader *r)
{
	const struct yaml *y = yaml_get(r->root, "candidates");

	return y && y->kind == YAML_SCALAR && str_is(y->text, "2");
}

/* What only a profile of two candidates needs, so that the others keep their hash. */
static void put_candidates(struct reader *r, enum language language, const struct yaml *named)
{
	static const struct {
		const char *key, *file;
		enum prompt_text kind;
	} texts[] = {{"approach_1", "approach-1", APPROACH},
		     {"approach_2", "approach-2", APPROACH},
		     {"compare", "compare", TEMPLATE}};

	for (int i = 0; i < 3; i++) {
		const struct yaml *y = yaml_get(named, texts[i].key);
		const char *file = y ? arena_str(r->a, y->text).p : texts[i].file;
		json_put_str(
			&r->json, texts[i].key,
			read_prompt(r->a, r->settings, language, file, texts[i].kind, r->faults));
	}
}

/* Of each role the text that all profiles share, or that of the file named here. */
static void put_prompts(struct reader *r, const struct yaml *named)
{
	const int n_before = r->faults->n;

	json_open(&r->json, "prompts", '{');
	for (int i = 0; i < N_LANGUAGES; i++) {
		enum language language = (enum language)i;
		json_open(&r->json, language_name(language), '{');
		for (int role = 0; role < N_ROLES; role++) {
			const char *name = role_name((enum role)role);
			const struct yaml *y = yaml_get(named, name);
			json_put_str(&r->json, name,
				     y ? read_prompt(r->a, r->settings, language,
						     arena_str(r->a, y->text).p, TEMPLATE,
						     r->faults)
				       : r->texts->text[language][role]);
		}
		json_put_str(&r->json, "rubric", r->texts->rubric[language]);
		if (has_candidates(r))
			put_candidates(r, language, named);
		json_close(&r->json, '}');
	}
	json_close(&r->json, '}');
	r->is_whole = r->is_whole && r->faults->n == n_before;
}

/* --- keys --- */

static void put_keys(struct reader *r, const struct profile_key *list, const struct yaml *map,
		     const char *path);

static void refuse_unknown(struct reader *r, const struct profile_key *list, const struct yaml *map,
			   const char *path)
{
	for (const struct yaml *y = map ? map->child : NULL; y; y = y->next) {
		const struct profile_key *k = list;
		struct suggest s = {.wanted = y->key};
		for (; k->key && !str_is(y->key, k->key); k++)
			suggest_offer(&s, str_c(k->key));
		if (!k->key)
			faults_add(r->faults, place(r, y->line), "%s%s: unknown; %s%.*s", path,
				   y->key.p, s.best.p ? "did you mean " : "leave it out",
				   STR_ARG(s.best));
	}
}

static void put_key(struct reader *r, const struct profile_key *k, const struct yaml *y,
		    const char *path)
{
	static const enum yaml_kind kinds[] = {[TEXTS] = YAML_LIST,
					       [MAPS] = YAML_LIST,
					       [SECTION] = YAML_MAP,
					       [PROMPTS] = YAML_MAP,
					       [ARMS] = YAML_LIST}; /* else scalars */
	static const char *const wanted[] = {"a single value", "a list", "keys under it"};
	const struct yaml none = {.kind = kinds[k->kind], .text = str_c(k->fallback)};

	if ((!y && k->optional) || k->kind == ARMS)
		return;
	if (y && y->kind != none.kind) {
		faults_add(r->faults, place(r, y->line), "%s%s: give %s", path, k->key,
			   wanted[none.kind]);
		r->is_whole = false;
	} else if (k->kind == SECTION) {
		json_open(&r->json, k->key, '{');
		put_keys(r, k->under, y, arena_printf(r->a, "%s.", k->key).p);
		json_close(&r->json, '}');
	} else if (k->kind == PROMPTS) {
		refuse_unknown(r, k->under, y, "prompts.");
		r->is_whole = prompts_are_named(r, y) && r->is_whole;
		put_prompts(r, r->is_whole ? y : NULL);
	} else if (k->kind == MODEL) {
		put_model(r, k->key, y);
	} else if (y || none.kind == YAML_LIST || k->fallback) {
		put_value(r, k->key, y ? y : &none, k->kind == TEXT || k->kind == TEXTS);
	} else {
		json_put_null(&r->json, k->key);
	}
}

/* @map NULL: all by default. */
static void put_keys(struct reader *r, const struct profile_key *list, const struct yaml *map,
		     const char *path)
{
	refuse_unknown(r, list, map, path);
	for (const struct profile_key *k = list; k->key; k++)
		put_key(r, k, yaml_get(map, k->key), path);
}

/* --- the file --- */

static void put_profile(struct reader *r, struct str stem)
{
	const struct yaml *name = yaml_get(r->root, "name");

	if (!name || !str_eq(name->text, stem))
		faults_add(r->faults, place(r, name ? name->line : 1),
			   "name: give it as the file has it: %.*s", STR_ARG(stem));
	r->is_whole = name && name->kind == YAML_SCALAR;
	json_open(&r->json, NULL, '{');
	json_put_int(&r->json, "version", 1);
	put_keys(r, keys, r->root, "");
	json_close(&r->json, '}');
}

/* The line of what a message of profile_read() begins with: "checks[2].severity: ...". As far as the file has it. */
static int line_of(const struct reader *r, const char *text)
{
	const struct yaml *y = r->root, *next = y;

	while (next) {
		y = next;
		size_t n = strcspn(text, ".[:");
		char *end = NULL;
		next = NULL;
		if (*text == '[') {
			next = y->child;
			for (long i = strtol(text + 1, &end, 10); next && i > 0; i--)
				next = next->next;
			text = end + strspn(end, "].");
			continue;
		}
		for (const struct yaml *c = y->child; c && y->kind == YAML_MAP; c = c->next)
			next = c->key.n == n && memcmp(c->key.p, text, n) == 0 ? c : next;
		text += n + (text[n] == '.');
	}
	return y->line;
}

static void add_line(void *owner, const struct err *err)
{
	const struct reader *r = owner;

	if (!r->texts->is_faulty || !str_starts(str_c(err->text), "prompts."))
		faults_add(r->faults, place(r, line_of(r, err->text)), "%s", err->text);
}

/* By the canonical text: equal meaning, equal hash. */
static const struct profile *resolve(struct reader *r, struct str text)
{
	struct faults faults = {.tell = add_line, .owner = r};
	struct buf canonical = BUF(JSON_BYTES_MAX);
	struct json *root;
	struct err err;

	if (json_read(text, &root, &err) != JSON_FINE) { /* a NUL in a text */
		faults_add(r->faults, place(r, 1), "as JSON: %s", err.text);
		return NULL;
	}
	if (json_canonical(root, &canonical) != ST_OK)
		BUG("a profile written by ourselves has a number that is no integer");
	json_free(root);
	const struct profile *profile = profile_read(r->a, buf_view(&canonical), &faults);
	buf_release(&canonical);
	return profile;
}

/* The profile that r->root says; NULL: faults were told. */
static const struct profile *read_whole(struct reader *r, struct str stem)
{
	const struct profile *profile = NULL;
	struct buf json = BUF(JSON_BYTES_MAX);

	r->json = (struct json_out){.buf = &json};
	put_profile(r, stem);
	if (json.full)
		faults_add(r->faults, place(r, 1),
			   "with its prompts it is over 4 MiB; shorten them");
	else if (r->is_whole)
		profile = resolve(r, buf_view(&json));
	buf_release(&json);
	return profile;
}

/* --- arms --- */

/* Its name and share, each arm's own. */
static bool read_arm_head(const struct reader *r, const struct yaml *item,
			  const struct profile_file *out, struct profile_arm *arm)
{
	const struct yaml *name = yaml_get(item, "name"), *share = yaml_get(item, "share"),
			  *arms = yaml_get(item, "arms");
	const int i = out->n_arm, n_before = r->faults->n;

	*arm = (struct profile_arm){.name = name ? name->text : str_c(NULL)};
	if (arm->name.n == 0 || arm->name.n > ARM_NAME_BYTES_MAX ||
	    !str_only(arm->name, "abcdefghijklmnopqrstuvwxyz0123456789_-"))
		faults_add(r->faults, place(r, name ? name->line : item->line),
			   "arms[%d].name: give 1 to %d characters of a-z 0-9 - _", i,
			   ARM_NAME_BYTES_MAX);
	if (!share || !str_to_int(share->text, 1, ARM_SHARE_MAX, &arm->share))
		faults_add(r->faults, place(r, share ? share->line : item->line),
			   "arms[%d].share: give an integer from 1 to %d", i, ARM_SHARE_MAX);
	if (arms)
		faults_add(r->faults, place(r, arms->line), "arms[%d].arms: leave it out", i);
	for (int k = 0; arm->name.p && k < i; k++)
		if (str_eq(out->arm[k].name, arm->name))
			faults_add(r->faults, place(r, name->line),
				   "arms[%d].name: \"%.*s\" is taken; give each arm its own", i,
				   STR_ARG(arm->name));
	return r->faults->n == n_before;
}

/* Arms that are the same under two names would compare nothing. */
static void refuse_equal(const struct reader *r, const struct yaml *item,
			 const struct profile_file *out, const struct profile_arm *arm)
{
	for (int k = 0; k < out->n_arm; k++)
		if (memcmp(out->arm[k].profile->sha, arm->profile->sha, SHA_BYTES) == 0)
			faults_add(r->faults, place(r, item->line),
				   "arms[%d]: it says the same as arm \"%.*s\"; let it differ, or "
				   "leave it out",
				   out->n_arm, STR_ARG(out->arm[k].name));
}

static void read_arms(const struct reader *file, struct str stem, struct profile_file *out)
{
	static const char *const head[] = {"name", "share", NULL};
	const struct yaml *arms = yaml_get(file->root, "arms");
	int n = 0;

	for (const struct yaml *y = arms ? arms->child : NULL; y; y = y->next)
		n += y->kind == YAML_MAP ? 1 : ARMS_MAX + 1;
	if (arms && (arms->kind != YAML_LIST || n < 2 || n > ARMS_MAX)) {
		faults_add(
			file->faults, place(file, arms->line),
			"arms: give a list of 2 to %d maps, each with name, share and the keys in "
			"which it differs",
			ARMS_MAX);
		return;
	}
	for (const struct yaml *y = arms ? arms->child : NULL; y; y = y->next) {
		struct profile_arm *arm = &out->arm[out->n_arm];
		struct reader r = *file;

		if (!read_arm_head(file, y, out, arm))
			return;
		r.arm = arm->name;
		r.root = yaml_over(r.a, file->root, yaml_without(r.a, y, head));
		if (!(arm->profile = read_whole(&r, stem)))
			return;
		refuse_equal(file, y, out, arm);
		out->n_arm++;
	}
}

bool profile_file_read(struct arena *a, const struct settings *settings,
		       const struct prompt_texts *texts, const char *name, struct profile_file *out,
		       struct faults *faults)
{
	const struct str stem = {name, strlen(name) - strlen(".yaml")};
	const int n_before = faults->n;
	struct reader r = {
		.a = a,
		.settings = settings,
		.faults = faults,
		.texts = texts,
		.path = file_path(a, settings->profiles_dir, name),
	};
	struct str text;
	struct err err;

	*out = (struct profile_file){.profile = NULL};
	if (file_read(a, r.path, &text, &err) != ST_OK ||
	    yaml_read(a, r.path, text, &r.root, &err) != ST_OK) {
		faults_add(faults, NULL, "%s", err.text);
		return false;
	}
	if (r.root->kind != YAML_MAP) {
		faults_add(faults, place(&r, r.root->line), "give keys, as `name:`");
		return false;
	}
	out->profile = read_whole(&r, stem);
	if (out->profile)
		read_arms(&r, stem, out);
	return out->profile && faults->n == n_before;
}

void prompt_texts_read(struct arena *a, const struct settings *settings, struct faults *faults,
		       struct prompt_texts *out)
{
	const int n_before = faults->n;

	for (int i = 0; i < N_LANGUAGES; i++) {
		enum language language = (enum language)i;
		for (int role = 0; role < N_ROLES; role++)
			out->text[i][role] =
				read_prompt(a, settings, language, role_name((enum role)role),
					    TEMPLATE, faults);
		out->rubric[i] = read_prompt(a, settings, language, "rubric", RUBRIC, faults);
	}
	out->is_faulty = faults->n > n_before;
}
