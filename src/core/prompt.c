#include "core/prompt.h"

#include <inttypes.h>

/* A message being written. */
struct rendering {
	const struct profile *profile;
	const struct job *job;
	const struct prompt_parts *parts;
	enum role role;
	enum want want;
	bool japanese;
	char key[FENCE_KEY_DIGITS + 1]; /* of the fences */
	int n_fence;			/* fences written so far */
	struct buf *out;
};

static void say(struct rendering *r, const char *english, const char *japanese)
{
	buf_puts(r->out, r->japanese ? japanese : english);
}

static void say_none(struct rendering *r)
{
	say(r, "(none)", "（なし）");
}

static void open_fence(struct rendering *r)
{
	buf_printf(r->out, "<<<%s\n", r->key);
	r->n_fence++;
}

static void close_fence(struct rendering *r)
{
	buf_printf(r->out, "\n%s>>>", r->key);
}

static void put_fenced(struct rendering *r, struct str text)
{
	if (!text.p) {
		say_none(r);
		return;
	}
	open_fence(r);
	buf_str(r->out, text);
	close_fence(r);
}

/* --- what stands for the static variables --- */

static void put_rubric(struct rendering *r)
{
	buf_str(r->out, str_trim(r->profile->rubric[r->job->language]));
}

static void put_categories(struct rendering *r)
{
	for (int i = 0; i < r->profile->n_category; i++) {
		buf_puts(r->out, i ? ", " : "");
		buf_str(r->out, r->profile->category[i]);
	}
}

/* 85 of 100 is 8.5 of 10. */
static void put_pass_score(struct rendering *r)
{
	buf_decimal(r->out, r->profile->pass_score * r->profile->score_max, 100);
}

static void put_score_max(struct rendering *r)
{
	buf_printf(r->out, "%" PRId64, r->profile->score_max);
}

static void put_severity_threshold(struct rendering *r)
{
	buf_printf(r->out, "%" PRId64, r->profile->severity_threshold);
}

static void put_reply(struct rendering *r)
{
	form_words(r->profile, r->japanese, r->out);
}

/* @job: NULL, the form alone, which is the same for all jobs. */
static void write_schema(const struct rendering *r, const struct job *job, enum dialect dialect,
			 struct buf *out)
{
	if (r->want == WANT_COMPARISON)
		form_comparison_schema(dialect, out);
	else
		form_schema(r->profile, r->role, job, dialect, out);
}

static void put_schema(struct rendering *r)
{
	if (r->want == WANT_TEXT)
		return;
	say(r,
	    "Your whole reply is exactly one JSON object that fits this JSON Schema, with nothing before or after it",
	    "返答全体は、次の JSON Schema に合う JSON オブジェクトちょうど一つとし、その前後に何も書かないこと");
	if (r->profile->n_field && r->role != ROLE_CRITIC)
		say(r, "; each part of the text stands under its name",
		    "。本文の各部分を、それぞれの名前の下に書くこと");
	else if (r->role != ROLE_CRITIC)
		say(r, "; `text` is the text itself", "。`text` は本文そのものとする");
	if (r->profile->gate && r->role == ROLE_GENERATOR)
		say(r,
		    "; `confidence` from 0 to 1 tells how sure you are that it keeps every constraint",
		    "。`confidence` は本文がすべての条件を満たしているという確信の度合い（0 から 1）とする");
	buf_puts(r->out, ":\n");
	write_schema(r, NULL, DIALECT_FULL, r->out);
}

/* --- what stands for the job's variables --- */

static void put_task(struct rendering *r)
{
	put_fenced(r, r->job->task);
}

static void put_variables(struct rendering *r)
{
	const struct variable *v = r->job->variable;

	if (r->job->n_variable == 0) {
		say_none(r);
		return;
	}
	open_fence(r);
	for (int i = 0; i < r->job->n_variable; i++) {
		buf_puts(r->out, i ? "\n" : "");
		buf_str(r->out, v[i].name);
		buf_puts(r->out, ": ");
		buf_str(r->out, v[i].value);
	}
	close_fence(r);
}

static void put_item(struct rendering *r, bool first)
{
	buf_puts(r->out, first ? "- " : "\n- ");
}

static void put_phrases(struct rendering *r, const struct check *check, int n, bool first)
{
	for (int i = 0; i < n; i++) {
		put_item(r, first && i == 0);
		buf_str(r->out, check[i].field);
		buf_puts(r->out, check[i].field.p ? ": " : "");
		check[i].type->phrase(check[i].args, r->job, r->japanese, r->out);
	}
}

/* The profile's own sentences are ours; all else here quotes the job. */
static void put_constraints(struct rendering *r)
{
	const struct profile *p = r->profile;
	const struct job *job = r->job;
	bool quotes = job->n_constraint + p->n_check + job->n_check > 0;

	if (p->n_constraint == 0 && !quotes)
		say_none(r);
	for (int i = 0; i < p->n_constraint; i++) {
		put_item(r, i == 0);
		buf_str(r->out, p->constraint[i]);
	}
	if (!quotes)
		return;
	buf_puts(r->out, p->n_constraint ? "\n" : "");
	open_fence(r);
	for (int i = 0; i < job->n_constraint; i++) {
		put_item(r, i == 0);
		buf_str(r->out, job->constraint[i]);
	}
	put_phrases(r, p->check, p->n_check, job->n_constraint == 0);
	put_phrases(r, job->check, job->n_check, job->n_constraint + p->n_check == 0);
	close_fence(r);
}

static void put_sources(struct rendering *r)
{
	if (r->job->n_source == 0)
		say_none(r);
	for (int i = 0; i < r->job->n_source; i++) {
		buf_puts(r->out, i ? "\n" : "");
		open_fence(r);
		buf_puts(r->out, "id: ");
		buf_str(r->out, r->job->sources[i].id);
		buf_puts(r->out, "\n\n");
		buf_str(r->out, r->job->sources[i].text);
		close_fence(r);
	}
}

static void put_text_of(struct rendering *r, struct str text, const struct field *field)
{
	if (!r->parts->n_field)
		put_fenced(r, text);
	for (int i = 0; i < r->parts->n_field; i++) {
		buf_printf(r->out, "%s%.*s:\n", i ? "\n" : "", STR_ARG(field[i].name));
		put_fenced(r, field_text(&field[i], text));
	}
}

static void put_draft(struct rendering *r)
{
	put_text_of(r, r->parts->draft, r->parts->field);
}

static void put_other(struct rendering *r)
{
	put_text_of(r, r->parts->other, r->parts->other_field);
}

static void put_approach(struct rendering *r)
{
	buf_str(r->out, str_trim(r->parts->approach));
}

static void put_red_checks(struct rendering *r, bool *first)
{
	for (int i = 0; i < r->parts->n_result; i++) {
		const struct check_result *result = &r->parts->result[i];
		if (result->ok)
			continue;
		put_item(r, *first);
		*first = false;
		buf_printf(r->out, "%.*s (%sseverity %" PRId64 "): ", STR_ARG(result->check->name),
			   result->check->hard ? "hard, " : "", result->check->severity);
		buf_str(r->out, result->detail);
	}
}

static void put_finding(struct rendering *r, const struct issue *issue, bool *first)
{
	put_item(r, *first);
	*first = false;
	buf_str(r->out, issue->category);
	buf_printf(r->out, " (severity %" PRId64 "): ", issue->severity);
	buf_str(r->out, issue->suggestion);
	if (!issue->snippet.n)
		return;
	buf_puts(r->out, "\n  snippet: ");
	buf_str(r->out, issue->snippet);
}

/* The i-th examination, if it is of the draft shown. */
static const struct critique *examination(const struct rendering *r, int i)
{
	const struct critique *e = &r->parts->examination[i];

	return e->draft_no == r->parts->draft_no ? e : NULL;
}

/* The tools are the profile's, so their names are ours. */
static void put_tools_content(struct rendering *r)
{
	const struct critique *e;
	int n = 0;

	for (int i = 0; i < r->parts->n_examination; i++) {
		if (!(e = examination(r, i)) || e->n_issue)
			continue;
		if (n++ == 0)
			say(r, "\nTools that found nothing: ", "\n指摘のなかったツール: ");
		else
			buf_puts(r->out, ", ");
		buf_str(r->out, e->tool);
	}
}

/* Evidence for the critic: what machines found wrong, and which looked and found nothing. */
static void put_checks(struct rendering *r)
{
	const struct prompt_parts *parts = r->parts;
	const struct critique *e;
	bool first = true;
	int n = parts->n_result;

	for (int i = 0; i < parts->n_result; i++)
		n -= parts->result[i].ok;
	for (int i = 0; i < parts->n_examination; i++)
		n += (e = examination(r, i)) ? e->n_issue : 0;
	if (n == 0) {
		say(r, "All checks are green.", "すべてのチェックに合格しています。");
		put_tools_content(r);
		return;
	}
	open_fence(r);
	put_red_checks(r, &first);
	for (int i = 0; i < parts->n_examination; i++)
		for (int k = 0; (e = examination(r, i)) && k < e->n_issue; k++)
			put_finding(r, &e->issue[k], &first);
	close_fence(r);
	put_tools_content(r);
}

static void put_issues(struct rendering *r)
{
	if (r->parts->n_issue == 0) {
		say_none(r);
		return;
	}
	open_fence(r);
	for (int i = 0; i < r->parts->n_issue; i++) {
		const struct issue *issue = &r->parts->issue[i];
		buf_printf(r->out, "%s%d. severity: %" PRId64 "\n   category: ", i ? "\n" : "",
			   i + 1, issue->severity);
		buf_str(r->out, issue->category);
		buf_puts(r->out, "\n   snippet: ");
		if (issue->snippet.n)
			buf_str(r->out, issue->snippet);
		else
			say(r, "(the whole text)", "（全文）");
		if (issue->source.p) {
			buf_puts(r->out, "\n   source: ");
			buf_str(r->out, issue->source);
		}
		buf_puts(r->out, "\n   suggestion: ");
		buf_str(r->out, issue->suggestion);
	}
	close_fence(r);
}

static void put_again(struct rendering *r)
{
	if (!r->parts->again)
		return;
	buf_puts(r->out, "again: 1\n");
	say(r,
	    "Your last reply could not be used: it broke off, was empty, contradicted itself or did not keep the form",
	    "前回の返答は、途中で切れた、空であった、矛盾していた、または形式に合わなかった");
	if (r->role == ROLE_REFINER)
		say(r,
		    "; or it mended nothing that is listed, broke a constraint, or lost a number, a name, an address, a quotation or a part of the text",
		    "か、挙げられた指摘を直していない、条件に違反した、または数値、氏名、アドレス、引用、本文の一部を失った");
	say(r, ". ", "ため、使用できませんでした。");
	if (r->role == ROLE_CRITIC && r->want == WANT_TEXT)
		say(r, "Reply again in the given form and with nothing else.",
		    "指定した形式だけで、改めて返答してください。");
	else if (r->want == WANT_TEXT)
		say(r, "Reply again with the whole text and nothing else.",
		    "本文全体だけを、改めて返答してください。");
	else
		say(r,
		    "Reply again with exactly one JSON object of the given schema and nothing else.",
		    "指定したスキーマの JSON オブジェクト一つだけを、改めて返答してください。");
}

/* --- templates --- */

static const struct slot {
	const char *name;
	bool of_job; /* stands in the part for the job */
	void (*put)(struct rendering *);
} slots[] = {
	{"{{rubric}}", false, put_rubric},
	{"{{categories}}", false, put_categories},
	{"{{pass_score}}", false, put_pass_score},
	{"{{score_max}}", false, put_score_max},
	{"{{severity_threshold}}", false, put_severity_threshold},
	{"{{reply}}", false, put_reply},
	{"{{schema}}", false, put_schema},
	{"{{task}}", true, put_task},
	{"{{variables}}", true, put_variables},
	{"{{constraints}}", true, put_constraints},
	{"{{sources}}", true, put_sources},
	{"{{draft}}", true, put_draft},
	{"{{other}}", true, put_other},
	{"{{approach}}", true, put_approach},
	{"{{checks}}", true, put_checks},
	{"{{issues}}", true, put_issues},
	{"{{again}}", true, put_again},
};
enum { N_SLOTS = sizeof(slots) / sizeof(slots[0]) };

static const struct str SEPARATOR = STR("\n--- user ---\n");

static bool split(struct str text, struct str *system, struct str *user)
{
	int64_t at = str_find(text, SEPARATOR, 0);

	if (at < 0)
		return false;
	*system = str_sub(text, 0, (size_t)at);
	*user = str_sub(text, (size_t)at + SEPARATOR.n, text.n);
	return true;
}

/* Cuts from *text what stands before the next "{{name}}", and that itself; without its "}}" it is the whole rest. False: there is
 * none. */
static bool next_slot(struct str *text, struct str *before, struct str *name)
{
	int64_t at = str_find(*text, STR_OF("{{"), 0);

	if (at < 0)
		return false;
	int64_t end = str_find(*text, STR_OF("}}"), (size_t)at);
	size_t next = end < 0 ? text->n : (size_t)end + 2;
	*before = str_sub(*text, 0, (size_t)at);
	*name = str_sub(*text, (size_t)at, next - (size_t)at);
	*text = str_sub(*text, next, text->n);
	return true;
}

static int slot_named(struct str name)
{
	int i = 0;

	while (i < N_SLOTS && !str_is(name, slots[i].name))
		i++;
	return i;
}

static enum status check_part(struct str whole, struct str part, bool of_job, struct err *err)
{
	struct str before, name;
	bool seen[N_SLOTS] = {false};

	while (next_slot(&part, &before, &name)) {
		int line = 1, i = slot_named(name);
		for (const char *p = whole.p; p < name.p; p++)
			line += *p == '\n';
		struct str shown = str_cut(name, 40);
		if (i == N_SLOTS)
			return err_set(
				err, ST_INVALID,
				"line %d: there is no variable %.*s; core/prompt.h lists them",
				line, STR_ARG(shown));
		if (slots[i].of_job != of_job)
			return err_set(err, ST_INVALID,
				       "line %d: %.*s belongs %s the line \"--- user ---\"", line,
				       STR_ARG(shown), slots[i].of_job ? "behind" : "before");
		if (of_job && seen[i])
			return err_set(
				err, ST_INVALID,
				"line %d: %.*s stands here for the second time; once is enough",
				line, STR_ARG(shown));
		seen[i] = true;
	}
	return ST_OK;
}

enum status prompt_check(struct str text, struct err *err)
{
	struct str system, user;

	if (!split(text, &system, &user))
		return err_set(err, ST_INVALID,
			       "there is no line \"--- user ---\"; put it between the part "
			       "that is the same for all jobs and the part of the job");
	enum status st = check_part(text, system, false, err);
	return st == ST_OK ? check_part(text, user, true, err) : st;
}

enum status prompt_check_rubric(struct str rubric, enum language language, struct err *err)
{
	static const struct str examples[] = {
		[LANG_EN] = STR("Example: "), [LANG_JA] = STR("例: ")};
	enum { LINES = 5 };
	struct str rest = str_trim(rubric);

	for (int i = 1; i <= LINES; i++) {
		const char begin[] = {(char)('0' + LINES + 1 - i), ':', ' ', '\0'};
		int64_t end = str_find(rest, STR_OF("\n"), 0);
		struct str line = str_sub(rest, 0, end < 0 ? rest.n : (size_t)end);
		if (!str_starts(line, begin) || str_find(line, examples[language], 0) < 0 ||
		    (end < 0) != (i == LINES))
			return err_set(
				err, ST_INVALID,
				"line %d: the rubric is five lines, 5 to 1; give this one as "
				"\"%s.. %.*s..\"",
				i, begin, STR_ARG(examples[language]));
		rest = str_sub(rest, end < 0 ? rest.n : (size_t)end + 1, rest.n);
	}
	return ST_OK;
}

static void render(struct rendering *r, struct str text)
{
	struct str before, name;

	while (next_slot(&text, &before, &name)) {
		buf_str(r->out, before);
		size_t n = r->out->n;
		slots[slot_named(name)].put(r);
		bool begins_line = n == 0 || r->out->p[n - 1] == '\n';
		if (r->out->n == n && begins_line && text.n > 0 && text.p[0] == '\n')
			text = str_sub(text, 1, text.n);
	}
	buf_str(r->out, text);
}

static void make_key(const struct job *job, int call_no, int counter,
		     char key[FENCE_KEY_DIGITS + 1])
{
	uint8_t sha[SHA_BYTES];
	struct digest *d = digest_begin("draftmill/fence/1");

	digest_bytes(d, (struct str){(const char *)job->salt, JOB_SALT_BYTES});
	digest_int(d, call_no);
	digest_int(d, counter);
	digest_end(d, sha);
	hex_text(sha, FENCE_KEY_DIGITS / 2, key);
}

static int occurrences(struct str text, const char *key)
{
	int n = 0;

	for (int64_t at = -1; (at = str_find(text, str_c(key), (size_t)(at + 1))) >= 0;)
		n++;
	return n;
}

/* Takes the first key that stands nowhere but in the fences. */
static void render_user(struct rendering *r, int call_no, struct str text)
{
	for (int counter = 0;; counter++) {
		buf_clear(r->out);
		r->n_fence = 0;
		make_key(r->job, call_no, counter, r->key);
		render(r, text);
		if (r->out->full || occurrences(buf_view(r->out), r->key) == 2 * r->n_fence)
			return;
	}
}

void prompt_release(struct prompt *p)
{
	buf_release(&p->system);
	buf_release(&p->user);
	buf_release(&p->schema);
}

void prompt_write(const struct profile *profile, const struct job *job, enum role role, int call_no,
		  const struct prompt_parts *parts, struct prompt *out)
{
	struct rendering r = {.profile = profile,
			      .job = job,
			      .parts = parts,
			      .want = parts->compares ? WANT_COMPARISON : form_want(profile, role),
			      .role = role,
			      .japanese = job->language == LANG_JA};
	const struct str text = parts->compares ? profile->candidate[job->language].compare
						: profile->prompt[job->language][role];
	struct str system, user;

	if (!split(text, &system, &user))
		BUG("a template of %s without its separator", role_name(role));
	out->want = r.want;
	write_schema(&r, job, wire_dialect(&profile->model[role]), &out->schema);
	r.out = &out->system;
	render(&r, system);
	r.out = &out->user;
	render_user(&r, call_no, user);
}
