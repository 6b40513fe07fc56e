/*
 * loop.c - a job under any profile, with any texts for replies: it ends, within its calls, and what it tells is whole.
 */
#include "../lib/fuzz.h"
#include "../lib/loop_case.h"

#include "core/event.h"
#include "core/loop.h"

enum { PROFILES = 5 };

/* In the place of the profile's own: all kinds of checks on a part in the middle, and on the whole. */
static const char *const patches[PROFILES] = {
	"{\"limits\":{\"iterations\":3}}",
	"{\"fields\":[\"subject\",\"body\",\"end\"],\"limits\":{\"iterations\":3}}",
	"{\"fields\":[\"subject\",\"body\",\"more\",\"end\"],\"gate_permille\":500}",
	"{\"candidates\":2,\"fields\":[\"subject\",\"body\",\"end\"]}",
	"{\"candidates\":2,\"limits\":{\"iterations\":3}}",
};
/* %s: nothing, or the part. */
static const char *const checks[] = {
	"{\"name\":\"named\",\"type\":\"must_include\",\"variables\":[\"customer\"]%s}",
	"{\"name\":\"words\",\"type\":\"words\",\"min\":1,\"max\":20%s}",
	"{\"name\":\"graphemes\",\"type\":\"graphemes\",\"max\":60%s}",
	"{\"name\":\"regex\",\"type\":\"regex\",\"pattern\":\"[0-9]+|\\\\\\\\p{Han}\"%s}",
	"{\"name\":\"terms\",\"type\":\"forbidden\",\"terms\":[\"guarantee\",\"保証\"]%s}",
	"{\"name\":\"left\",\"type\":\"leftover\"%s}",
	"{\"name\":\"capitals\",\"type\":\"change_case:capital_word_frequency\",\"capital_frequency\":2,"
	"\"capital_relation\":\"less than\"%s}",
	"{\"name\":\"bullets\",\"type\":\"detectable_format:number_bullet_lists\",\"num_bullets\":2%s}",
	"{\"name\":\"sentences\",\"type\":\"length_constraints:number_sentences\",\"num_sentences\":3,"
	"\"relation\":\"less than\"%s}",
};
static const struct str pieces[] = {
	STR("Dear Ms Tanaka,"),
	STR("R-2614"),
	STR("2026-12-01"),
	STR("田中様"),
	STR("5.25 USD"),
	STR("\n\n"),
	STR(" "),
	STR("。"),
	STR("We guarantee it. "),
	STR("https://a.example/x"),
	STR("“as agreed”"),
	STR("{{name}}"),
	STR("<<<"),
	STR("\xF0\x9F\x98\x80"),
	STR("e\xCC\x81"),
	STR("- one\n- two\n"),
	STR("```\n"),
	STR(""),
};

static struct arena *kept; /* over all rounds */
static const struct profile *profiles[PROFILES];
static const struct job *jobs[PROFILES];

/* ---- replies ---- */

/* Pieces, random signs, and some of what was said before. */
static struct str any_text(struct fuzz *f, const struct history *h)
{
	struct buf b = BUF(FUZZ_BYTES_MAX);

	for (int n = fuzz_draw(f, 8); n > 0; n--) {
		const struct str before =
			h->n_draft ? h->draft[fuzz_draw(f, h->n_draft)].text : STR_OF("");
		const size_t at = (size_t)fuzz_draw(f, (int)before.n + 1);

		switch (fuzz_draw(f, 3)) {
		case 0:
			buf_str(&b, FUZZ_PICK(f, pieces));
			break;
		case 1:
			buf_str(&b, fuzz_unicode(f, 6));
			break;
		default:
			buf_str(&b, str_sub(before, at, (size_t)fuzz_draw(f, 200)));
		}
	}
	return arena_str(f->a, text_to_utf8(f->a, fuzz_text_of(f, &b)));
}

static struct str any_draft(struct fuzz *f, const struct profile *p, const struct history *h,
			    enum role role)
{
	struct buf b = BUF(FUZZ_BYTES_MAX);
	struct json_out o = {&b, false};

	if (form_want(p, role) == WANT_TEXT || fuzz_chance(f, 3))
		return any_text(f, h);
	json_open(&o, NULL, '{');
	if (!p->n_field)
		json_put_str(&o, "text", any_text(f, h));
	for (int i = 0; i < p->n_field; i++)
		json_put_str(&o, p->field[i].p, any_text(f, h));
	json_put_raw(&o, "confidence", fuzz_chance(f, 80) ? STR_OF("0.4") : fuzz_token(f));
	json_close(&o, '}');
	return fuzz_text_of(f, &b);
}

static struct str any_critique(struct fuzz *f, const struct profile *p, const struct history *h)
{
	static const struct str scores[] = {STR("90"),	   STR("0"),	 STR("0.7e-10"),
					    STR("2.0E+9"), STR("1e400"), STR("79.999")};
	struct buf b = BUF(FUZZ_BYTES_MAX);
	struct json_out o = {&b, false};

	json_open(&o, NULL, '{');
	json_open(&o, "issues", '[');
	for (int n = fuzz_draw(f, 4); n > 0; n--) {
		json_open(&o, NULL, '{');
		json_put_str(&o, "category", p->category[fuzz_draw(f, p->n_category)]);
		json_put_str(&o, "snippet", any_text(f, h));
		json_put_str(&o, "suggestion", any_text(f, h));
		json_put_int(&o, "severity", 1 + fuzz_draw(f, 5));
		json_close(&o, '}');
	}
	json_close(&o, ']');
	json_put_str(&o, "reasons", any_text(f, h));
	json_put_raw(&o, "score", FUZZ_PICK(f, scores));
	json_put_str(&o, "verdict", fuzz_chance(f, 50) ? STR_OF("pass") : STR_OF("fail"));
	json_close(&o, '}');
	return fuzz_text_of(f, &b);
}

static struct str any_reply(struct fuzz *f, const struct profile *p, const struct history *h,
			    const struct call *c)
{
	static const struct str better[] = {STR("first"), STR("second"), STR("tie")};

	if (c->compares)
		return arena_printf(f->a, "{\"reasons\":\"\",\"better\":\"%.*s\"}",
				    STR_ARG(FUZZ_PICK(f, better)));
	return c->role == ROLE_CRITIC ? any_critique(f, p, h) : any_draft(f, p, h, c->role);
}

/* ---- what must hold ---- */

static void check_place(struct fuzz *f, struct str text, int64_t at, int64_t n)
{
	const struct str there = str_sub(text, (size_t)(at < 0 ? 0 : at), (size_t)n);

	FUZZ_TRUE(f, at >= -1);
	if (at >= 0)
		FUZZ_TRUE(f, (int64_t)there.n == n && text_is_utf8(there));
}

/* The parts are the text, one behind the other with a blank line between. */
static void check_parts(struct fuzz *f, const struct profile *p, const struct draft *d)
{
	struct buf b = BUF(FUZZ_BYTES_MAX);

	FUZZ_TRUE(f, d->n_field == p->n_field);
	for (int i = 0; i < d->n_field; i++) {
		buf_puts(&b, i ? "\n\n" : "");
		buf_str(&b, field_text(&d->field[i], d->text));
	}
	if (d->n_field)
		FUZZ_TRUE(f, str_eq(buf_view(&b), d->text));
	buf_release(&b);
}

static void check_step(struct fuzz *f, const struct profile *p, const struct loop_output *out,
		       const struct history *h)
{
	if (out->draft) {
		check_parts(f, p, out->draft);
		FUZZ_TRUE(f, text_is_utf8(out->draft->text));
		for (int i = 0; i < out->draft->n_result; i++)
			check_place(f, out->draft->text, out->draft->result[i].at,
				    out->draft->result[i].n);
	}
	if (out->critique)
		for (int i = 0; i < out->critique->n_issue; i++)
			check_place(f, h->draft[out->critique->draft_no].text,
				    out->critique->issue[i].at, out->critique->issue[i].n);
}

static void check_prompt(struct fuzz *f, const struct loop *l, const struct call *c)
{
	struct buf body = BUF(FUZZ_BYTES_MAX);
	struct prompt p = PROMPT;

	loop_prompt(l, c, &p);
	c->model->wire->request(c->model, &p, c->max_output_tokens, &body);
	FUZZ_TRUE(f, text_is_utf8(buf_view(&body)));
	json_free(case_json(buf_view(&body)));
	buf_release(&body);
	prompt_release(&p);
}

static void check_events(struct fuzz *f, const struct profile *p, const struct job *job,
			 const struct history *h, const struct outcome_row *outcome)
{
	struct ending e = {job, p, h, outcome, NULL, STR("")};
	int n;

	if (outcome->draft_no != ROW_NULL)
		e.best = &h->draft[outcome->draft_no];
	const struct outbox_row *row = event_rows(f->a, &e, STR_OF("mill."), &n);
	for (int i = 0; i < n; i++) {
		FUZZ_TRUE(f, text_is_utf8(row[i].payload));
		json_free(case_json(row[i].payload));
	}
}

/* ---- a round ---- */

static void reply(struct fuzz *f, const struct profile *p, const struct loop *l, struct fact *fact)
{
	const struct call *open[LOOP_CALLS];
	const struct call *c = open[fuzz_draw(f, loop_open(l, open))];

	check_prompt(f, l, c);
	const struct completion completion = {.text = any_reply(f, p, loop_history(l), c),
					      .finish_reason = fuzz_chance(f, 3) ? STR_OF("length")
										 : STR_OF("stop"),
					      .model = c->model->id,
					      .usage = {.in = 100, .out = 50}};
	fact->type = FACT_replied;
	fact->call_no = c->no;
	fact->http = case_completion(f->a, &completion);
	c->model->wire->reply(&fact->http, fact->at_ms, f->a, &fact->reply);
}

static void any_replies_end(struct fuzz *f)
{
	const int i = fuzz_draw(f, PROFILES);
	const struct profile *p = profiles[i];
	struct loop *l = loop_new(f->a, jobs[i], p);
	struct fact fact = {.type = FACT_started, .at_ms = 1700000000000, .call_no = -1};
	struct loop_output out = {.finished = false};
	uint8_t head[SHA_BYTES] = {0};
	struct step_rows rows;

	for (int n = 0; !out.finished; n++) {
		FUZZ_TRUE(f, n <= LOOP_CALLS_MAX);
		FUZZ_TRUE(f, loop_step(l, &fact, &out) == ST_OK);
		step_rows(f->a, jobs[i], p, loop_history(l), &fact, &out, 1, 1, 0, head, &rows);
		memcpy(head, rows.step.hash, SHA_BYTES);
		check_step(f, p, &out, loop_history(l));
		if (!out.finished)
			reply(f, p, l, &fact);
	}
	check_events(f, p, jobs[i], loop_history(l), rows.outcome);
}

/* All checks on the whole; where there are parts, on the second too. */
static struct str patch_of(const struct profile *bare)
{
	struct buf b = BUF(CASE_BYTES_MAX);
	const int n = (int)(sizeof(checks) / sizeof(*checks));

	buf_puts(&b, "{\"checks\":[");
	for (int i = 0; i < (bare->n_field ? 2 * n : n); i++) {
		const char *part = i < n ? "" : ",\"field\":\"body\"";
		const struct str check = arena_printf(kept, checks[i % n], part);
		const int64_t name = str_find(check, STR_OF("\",\"type"), 0);

		buf_printf(&b, "%s%.*s%d%s", i ? "," : "", (int)name, check.p, i, check.p + name);
	}
	buf_puts(&b, "]}");
	struct str patch = arena_str(kept, buf_view(&b));
	buf_release(&b);
	return patch;
}

int main(int argc, char **argv)
{
	static const struct fuzz_test tests[] = {
		{"any replies end", any_replies_end, 1500},
	};

	kept = arena_new();
	for (int i = 0; i < PROFILES; i++) {
		const struct str base =
			case_patch(kept, case_file(kept, "tests/data/profile.json"),
				   case_patch(kept, STR_OF("{\"iterations_over_3\":true}"),
					      str_c(patches[i])));
		profiles[i] = case_profile(kept, base);
		profiles[i] = case_profile(kept, case_patch(kept, base, patch_of(profiles[i])));
		jobs[i] = case_job(
			kept, profiles[i],
			STR_OF("{\"id\":\"a\",\"profile\":\"letter\",\"variables\":{\"customer\":\"田中\"},"
			       "\"sources\":[{\"id\":\"s1\",\"text\":\"R-2614 costs 5 USD.\"}]}"));
	}
	int status = FUZZ_MAIN(tests);
	arena_free(kept);
	return status;
}
