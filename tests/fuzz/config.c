/*
 * config.c - configuration made wrong: YAML, settings files and resolved profiles are refused in a sentence, or keep the rules.
 */
#include "../lib/fuzz.h"
#include "../lib/loop_case.h"

#include "app/settings.h"
#include "core/prompt.h"

static struct arena *kept; /* over all rounds */
static char folder[] = "/tmp/fuzz-config-XXXXXX";
static struct str shipped[3], profiles[2];

/* ---- YAML ---- */

static const struct str tricky[] = {
	STR("a: 1\nb:\n  - x\n  - {c: d, e: [1, 2]}\n'q': \"\\x41\\u3042\"\n"),
	STR("text: |\n  one\n  two\nfold: >-\n  a\n  b\nempty:\n? key\n: value\n"),
	STR("---\n\"k\": 'it''s'\n...\n"),
	STR("[a, [b, [c, [d]]], {e: {f: g}}]"),
	STR("a: \"x\\0y\"\n\"k\\0\": 1\n"),
	STR("a: &x 1\nb: *x\nc: !!int 3\n"),
};

/* A text is UTF-8 that ends at its NUL, for all who take it as a C string. */
static bool is_text(struct str s)
{
	return s.p && strlen(s.p) == s.n && text_is_utf8(s);
}

static void check_tree(struct fuzz *f, const struct yaml *y, int depth)
{
	FUZZ_TRUE(f, y->line >= 1 && depth <= 32);
	FUZZ_TRUE(f, y->kind == YAML_SCALAR ? is_text(y->text) && !y->child : !y->text.p);
	for (const struct yaml *c = y->child; c; c = c->next) {
		FUZZ_TRUE(f, y->kind == YAML_MAP ? is_text(c->key) : !c->key.p);
		FUZZ_TRUE(f, y->kind != YAML_MAP || yaml_get(y, c->key.p) == c);
		check_tree(f, c, depth + 1);
	}
}

static void yaml_is_a_tree_of_texts_or_refused(struct fuzz *f)
{
	struct str text = fuzz_chance(f, 60)
				  ? fuzz_mutate(f, tricky, sizeof(tricky) / sizeof(*tricky))
				  : fuzz_mutate(f, shipped, sizeof(shipped) / sizeof(*shipped));
	const struct yaml *root;
	struct err err = {""};

	if (yaml_read(f->a, "x.yaml", text, &root, &err) == ST_OK)
		check_tree(f, root, 0);
	else
		FUZZ_TRUE(f,
			  str_starts(str_c(err.text), "x.yaml:") && text_is_utf8(str_c(err.text)));
}

/* ---- settings ---- */

static const char *write_settings(struct fuzz *f, struct str text)
{
	const char *path = arena_printf(f->a, "%s/s.yaml", folder).p;
	FILE *file = fopen(path, "w");

	if (!file || fwrite(text.p, 1, text.n, file) != text.n || fclose(file) != 0)
		case_die("%s cannot be written", path);
	return path;
}

static void check_fault(void *owner, const struct err *err)
{
	struct fuzz *f = owner;

	FUZZ_TRUE(f, err->text[0] && text_is_utf8(str_c(err->text)));
}

static bool is_name(struct str s)
{
	return s.n > 0 && strspn(s.p, "abcdefghijklmnopqrstuvwxyz0123456789-") == s.n;
}

static void check_settings(struct fuzz *f, const struct settings *s)
{
	struct endpoint endpoint;
	struct err err;

	FUZZ_TRUE(f, s->in_flight >= 1 && s->lease_ms >= 1 && s->drain_ms >= 0);
	FUZZ_TRUE(f, s->n_job_topic >= 1 && s->kafka_brokers[0] && s->kafka_group[0]);
	for (int i = 0; i < s->n_provider; i++) {
		endpoint = (struct endpoint){
			.url = s->provider[i].base_url ? s->provider[i].base_url : "https://x"};
		FUZZ_TRUE(f, is_name(s->provider[i].name));
		FUZZ_TRUE(f, endpoint_check(&endpoint, &err) == ST_OK);
	}
	for (int i = 0; i < s->n_model; i++) {
		const struct model *m = &s->model[i];
		FUZZ_TRUE(f, is_name(m->name) && m->id.n > 0 && m->wire && m->n_price >= 1);
		FUZZ_TRUE(f, settings_provider(s, m->provider) != NULL);
		FUZZ_TRUE(f,
			  m->tokens_per_kb >= 1 && m->max_output_tokens >= 1 && m->timeout_ms >= 1);
		for (int k = 0; k < m->n_price; k++) {
			const struct price *p = &m->price[k];
			FUZZ_TRUE(f, p->in >= 0 && p->cached >= 0 && p->out >= 0);
			FUZZ_TRUE(f, k == 0 || p->valid_from_ms > p[-1].valid_from_ms);
		}
	}
}

static void settings_are_whole_or_have_faults(struct fuzz *f)
{
	struct str text = fuzz_mutate(f, shipped, fuzz_chance(f, 90) ? 2 : 3);
	const char *path = write_settings(f, text);
	struct settings s;
	struct faults faults = {.tell = check_fault, .owner = f};
	bool fine = settings_read(f->a, path, NULL, 0, &s, &faults);

	FUZZ_TRUE(f, fine == (faults.n == 0));
	if (fine)
		check_settings(f, &s);
}

/* ---- profiles ---- */

static struct str canonical(struct arena *a, struct str text)
{
	struct buf b = BUF(FUZZ_BYTES_MAX);
	struct json *doc;
	struct err err;

	if (json_read(text, &doc, &err) != JSON_FINE)
		return text;
	struct str s = json_canonical(doc, &b) == ST_OK ? arena_str(a, buf_view(&b)) : text;
	json_free(doc);
	buf_release(&b);
	return s;
}

static void check_profile(struct fuzz *f, const struct profile *p, struct str text)
{
	uint8_t sha[SHA_BYTES];
	struct err err;

	sha256(text, sha);
	FUZZ_TRUE(f, memcmp(sha, p->sha, SHA_BYTES) == 0 && str_eq(p->json, text));
	FUZZ_TRUE(f, str_eq(canonical(f->a, text), text));
	FUZZ_TRUE(f, p->limits.iterations >= 1 && p->limits.iterations <= ITERATIONS_MAX);
	FUZZ_TRUE(f, p->limits.iterations <= 3 ||
			     str_find(text, STR_OF("\"iterations_over_3\":true"), 0) >= 0);
	FUZZ_TRUE(f, p->limits.tokens >= 1 && p->limits.micro_usd >= 1 && p->limits.active_ms >= 1);
	FUZZ_TRUE(f, p->severity_threshold >= 1 && p->severity_threshold <= 5 &&
			     p->n_check <= CHECKS_MAX);
	FUZZ_TRUE(f, p->pass_score >= 0 && p->pass_score <= 100 && p->n_category >= 1);
	FUZZ_TRUE(f, p->mode == MODE_ONESHOT ||
			     !str_eq(p->model[ROLE_CRITIC].id, p->model[ROLE_GENERATOR].id));
	for (int role = 0; role < N_ROLES; role++) {
		const struct model *m = &p->model[role];
		FUZZ_TRUE(f, m->id.p ? m->wire && m->n_price >= 1
				     : p->mode == MODE_ONESHOT && role > 0);
		FUZZ_TRUE(f, !m->id.p || p->output_tokens[role] <= m->max_output_tokens);
		for (int lang = 0; lang < N_LANGUAGES; lang++)
			FUZZ_TRUE(f, prompt_check(p->prompt[lang][role], &err) == ST_OK);
	}
}

/* What no change of single bytes finds: values that fit alone. */
static struct str fit_values(struct fuzz *f, struct str text)
{
	static const struct {
		struct str from, to;
	} change[] = {
		{STR("judge-1"), STR("writer-1")},
		{STR("\"iterations\":2"), STR("\"iterations\":4")},
		{STR("\"iterations_over_3\":false"), STR("\"iterations_over_3\":true")},
		{STR("\"critic\":500"), STR("\"critic\":5000")},
		{STR("critic_refiner"), STR("oneshot")},
		{STR("{{draft}}"), STR("{{task}}")},
	};
	int i = fuzz_draw(f, (int)(sizeof(change) / sizeof(*change)));
	int64_t at = str_find(text, change[i].from, 0);

	return at < 0 ? text : fuzz_splice(f, text, (size_t)at, change[i].from.n, change[i].to);
}

static void a_profile_keeps_the_rules_or_is_refused(struct fuzz *f)
{
	struct str text = fuzz_mutate(f, profiles, sizeof(profiles) / sizeof(*profiles));
	struct faults faults = {.tell = check_fault, .owner = f};

	for (int i = fuzz_draw(f, 3); i > 0; i--)
		text = fit_values(f, text);
	if (fuzz_chance(f, 80))
		text = canonical(f->a, text);
	const struct profile *profile = profile_read(f->a, text, &faults);
	FUZZ_TRUE(f, (profile != NULL) == (faults.n == 0));
	if (profile)
		check_profile(f, profile, text);
}

int main(int argc, char **argv)
{
	static const struct fuzz_test tests[] = {
		{"YAML is a tree of texts or refused", yaml_is_a_tree_of_texts_or_refused, 12000},
		{"settings are whole or have faults", settings_are_whole_or_have_faults, 1500},
		{"a profile keeps the rules or is refused", a_profile_keeps_the_rules_or_is_refused,
		 4000},
	};
	static const char *const ours[] = {"OPENAI_BASE_URL", "DRAFTMILL_CONFIG"};

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		unsetenv(ours[i]);
	if (!mkdtemp(folder))
		case_die("no folder under /tmp");
	kept = arena_new();
	shipped[0] = case_file(kept, "config/draftmill.yaml");
	shipped[1] = (struct str)STR(
		"kafka: {brokers: 'a:1,b:2', job_topics: [x, y]}\nworker: {in_flight: 7}\n"
		"providers: {here: {base_url: 'http://127.0.0.1:8080/v1'}}\n"
		"models:\n  m: {id: m-1, provider: here, sampling: send, temperature: 0.5, prices: "
		"[{valid_from: 2026-01-01, in_usd_per_mtok: 0.1, out_usd_per_mtok: 2}]}\n");
	shipped[2] = case_file(kept, "config/profiles/customer-letter.yaml");
	profiles[0] = canonical(kept, case_file(kept, "tests/data/profile.json"));
	profiles[1] = canonical(
		kept,
		case_patch(
			kept, profiles[0],
			STR_OF("{\"mode\":\"oneshot\",\"gate_permille\":900,"
			       "\"stakes\":\"low\",\"models\":{\"critic\":null,\"refiner\":null}}")));
	int status = FUZZ_MAIN(tests);
	(void)unlink(arena_printf(kept, "%s/s.yaml", folder).p);
	(void)rmdir(folder);
	arena_free(kept);
	return status;
}
