/*
 * test_hint.c - random checks, variables and texts against what core/hint.h promises: a text that all checks accept fits the schema
 * made from them, but for the exceptions it names; and the schema refuses something. SEED=n plays others.
 */
#include "core/hint.h"

#include "../lib/loop_case.h"
#include "base/text.h"
#include "core/schema.h"
#include "core/wire.h"

#include <setjmp.h>

#include <cmocka.h>

enum { GAMES = 20000, SEED_DEFAULT = 20261201 };

static uint64_t seed_of_run(void)
{
	const char *text = getenv("SEED");

	return text ? strtoull(text, NULL, 10) : SEED_DEFAULT;
}

struct game {
	uint64_t random;
	struct arena *a;
	struct model model;
	struct profile profile;
	struct job job;
	struct variable variable[2];
	struct str text;
};

static int draw(struct game *g, int n)
{
	g->random ^= g->random << 13;
	g->random ^= g->random >> 7;
	g->random ^= g->random << 17;
	return (int)(g->random % (uint64_t)n);
}

static const char *const words[] = {"Baker", "Team",   "kerTeam",  "R-2001",
				    "ke",    "R",      "a(b)*",	   "c:\\d",
				    "\"q\"", "佐藤様", "か\u3099", "e\u0301",
				    "yes",   "no",     "100 %",	   "a|b",
				    " ",     "\n",     "\t",	   "👨‍👩‍👧",
				    "/",     "\r\n",   "x"};
enum { N_WORDS = sizeof(words) / sizeof(*words) };

/* The first of them share letters. */
static const char *word(struct game *g)
{
	return words[draw(g, draw(g, 2) ? N_WORDS : 4)];
}

static struct str taken(struct game *g, struct buf *b)
{
	struct str s = arena_str(g->a, buf_view(b));

	buf_release(b);
	return s;
}

/* ---- checks ---- */

static void put_values(struct game *g, struct json_out *o)
{
	json_put_str(o, "type", STR_OF("must_include"));
	json_open(o, "values", '[');
	for (int i = draw(g, 3); i >= 0; i--) {
		const struct str w = str_c(word(g));
		json_put_str(o, NULL, text_trim(w).n ? w : STR_OF("Team"));
	}
	json_close(o, ']');
	json_put_raw(o, "variables",
		     draw(g, 2) ? STR_OF("[\"customer\"]") : STR_OF("[\"customer\",\"plan\"]"));
}

static void put_choice(struct game *g, struct json_out *o)
{
	static const char *const patterns[] = {"^(?:yes|no)$", "\\A(yes|n\\\\o|a\\(b\\)\\*)\\z",
					       "^yes$",	       "^yes|no$",
					       "^[yn]",	       "^(yes)|(no)$",
					       "^(|yes)$",     "^yes\\$"};

	json_put_str(o, "type", STR_OF("regex"));
	json_put_str(o, "pattern", str_c(patterns[draw(g, 8)]));
}

static void put_check(struct game *g, int i, struct json_out *o)
{
	json_open(o, NULL, '{');
	json_put_str(o, "name", arena_printf(g->a, "c%d", i));
	const int kind = draw(g, 5);
	if (kind == 0) {
		put_choice(g, o);
	} else if (kind < 3) {
		put_values(g, o);
	} else {
		const int min = draw(g, 12);
		json_put_str(o, "type", STR_OF("graphemes"));
		json_put_int(o, "min", min);
		json_put_int(o, "max", min + draw(g, draw(g, 2) ? 30 : 300));
	}
	json_close(o, '}');
}

static void draw_checks(struct game *g)
{
	struct buf text = BUF(1 << 16);
	struct json_out o = {.buf = &text};
	struct err err;

	json_open(&o, NULL, '[');
	for (int i = draw(g, 3); i >= 0; i--)
		put_check(g, i, &o);
	json_close(&o, ']');
	struct json *doc = case_json(buf_view(&text));
	if (check_read_list(g->a, doc, &g->profile.check, &g->profile.n_check, &err) != ST_OK)
		case_die("%s in %s", err.text, text.p);
	json_free(doc);
	buf_release(&text);
}

/* ---- a game ---- */

static struct str draw_text(struct game *g, int n)
{
	struct buf text = BUF(1 << 16);

	if (draw(g, 4) == 0)
		buf_puts(&text, draw(g, 2) ? "yes" : "n\\o");
	for (int i = draw(g, 4) ? draw(g, n) : 0; i > 0; i--) {
		buf_puts(&text, word(g));
		buf_puts(&text, draw(g, 2) ? " " : "");
	}
	return taken(g, &text);
}

static void begin(struct game *g, int no)
{
	*g = (struct game){.random = (seed_of_run() + 1) * 0x9E3779B97F4A7C15u +
				     (uint64_t)no * 0xD1342543DE82EF95u,
			   .a = arena_new()};
	for (int i = 0; i < 8; i++)
		draw(g, 2);
	g->model = (struct model){.wire = wire_named(STR_OF("openai")),
				  .schema_says = (enum schema_says)(1 + draw(g, 3))};
	g->variable[0] = (struct variable){STR_OF("customer"), str_c(word(g))};
	g->variable[1] = (struct variable){STR_OF("plan"), str_c(word(g))};
	g->job = (struct job){.variable = g->variable, .n_variable = 2};
	draw_checks(g);
	g->text = draw_text(g, 12);
}

static bool passes(struct game *g)
{
	struct checked checked = {.scratch = arena_new(), .text = g->text};
	struct check_result r;
	bool ok = text_trim(g->text).n > 0; /* blank is no draft */

	for (int i = 0; ok && i < g->profile.n_check; i++) {
		check_run(g->a, &g->profile.check[i], &g->job, &checked, &r);
		ok = r.ok;
	}
	arena_free(checked.scratch);
	return ok;
}

static int64_t code_points(struct str s)
{
	int64_t n = 0;

	for (size_t at = 0; text_next(s, &at) >= 0;)
		n++;
	return n;
}

/* What core/hint.h names, and nothing else. */
static bool is_excepted(const struct game *g, const struct hint *h)
{
	if (code_points(g->text) > h->max)
		return true;
	for (int i = 0; i < h->n_value; i++)
		if (str_find(g->text, h->value[i], 0) < 0)
			return true;
	return h->n_choice > 0 && g->text.n > 0 && g->text.p[g->text.n - 1] == '\n';
}

static bool fits(struct game *g, struct str schema, struct str text)
{
	const struct schema *compiled;
	struct buf json = BUF(1 << 17);
	struct json_out o = {.buf = &json};
	struct err err;

	if (schema_read(g->a, schema, &compiled, &err) != ST_OK)
		case_die("%s in %.*s", err.text, STR_ARG(schema));
	json_put_str(&o, NULL, text);
	struct json *value = case_json(buf_view(&json));
	const enum schema_fault fault = schema_check(compiled, value, NULL, &err);
	assert_int_not_equal(fault, SCHEMA_UNDECIDED);
	json_free(value);
	buf_release(&json);
	return fault == SCHEMA_FITS;
}

/* The text as its JSON has it, between the quotation marks. */
static struct str written(struct game *g, struct str text)
{
	struct buf json = BUF(1 << 17);
	struct json_out o = {.buf = &json};

	json_put_str(&o, NULL, text);
	struct str all = taken(g, &json);
	return str_sub(all, 1, all.n - 2);
}

static struct str schema_of(struct game *g, const struct hint *h)
{
	struct buf schema = BUF(1 << 17);
	struct json_out o = {.buf = &schema};

	json_open(&o, NULL, '{');
	hint_put(h, &g->model, &o);
	json_close(&o, '}');
	return taken(g, &schema);
}

static void what_the_checks_accept_fits(void **state)
{
	int n_passed = 0, n_fit = 0, n_refused = 0;

	for (int no = 0; no < GAMES; no++) {
		struct game g;
		struct hint h;

		begin(&g, no);
		hint_of(g.a, &g.profile, &g.job, str_c(NULL), &h);
		const struct str schema = schema_of(&g, &h);
		const bool by_json = g.model.schema_says == SCHEMA_SAYS_ALL_WRITTEN &&
				     str_find(schema, STR_OF("\"pattern\""), 0) >= 0;
		const bool fit = fits(&g, schema, by_json ? written(&g, g.text) : g.text);
		const bool pass = passes(&g);
		n_passed += pass;
		n_refused += !fit;
		n_fit += fit && pass;
		if (pass && !fit && !is_excepted(&g, &h))
			fail_msg("game %d: \"%.*s\" does not fit %.*s", no, STR_ARG(g.text),
				 STR_ARG(schema));
		arena_free(g.a);
	}
	assert_true(n_passed > GAMES / 50);
	assert_true(n_fit > n_passed / 2);
	assert_true(n_refused > GAMES / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_checks_accept_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
