#include "app/check_text.h"

#include "app/file.h"
#include "app/page.h"
#include "app/submit.h"
#include "base/decode.h"
#include "base/text.h"
#include "core/answer.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* In the loop, others wait while a draft is checked; here nobody does: so much work again for each so many bytes. */
enum { WORK_BYTES = 4096 };

/* ---- what is to be run ---- */

static void add(struct check_text *c, const struct check *check, int n)
{
	for (int i = 0; i < n; i++)
		c->check[c->n_check++] = &check[i];
}

static enum status read_list(struct arena *a, const char *path, const struct check **out, int *n,
			     struct err *err)
{
	struct json *array = NULL;
	struct str text;
	enum status status = file_read(a, path, &text, err);

	if (status != ST_OK)
		return status;
	if (json_read(text, &array, err) != JSON_FINE)
		status = ST_INVALID;
	else if (json_kind(array) != JSON_ARRAY)
		status = err_set(err, ST_INVALID, "must be a JSON array of checks");
	else
		status = check_read_list(a, array, out, n, err);
	if (status != ST_OK)
		err_at(err, "%s: ", path);
	json_free(array);
	return status;
}

static enum status read_job(struct arena *a, const struct profiles *profiles, const char *profile,
			    const char *path, struct job *job, const struct profile **bound,
			    struct err *err)
{
	const struct submit_defaults defaults = {.profile = str_c(profile)};
	struct submit_line line;
	struct str text;
	enum status status = file_read(a, path, &text, err);

	if (status != ST_OK)
		return status;
	enum dead_reason dead =
		submit_read_line(a, profiles, &defaults, str_trim(text), &line, err);
	if (dead == DEAD_NONE)
		dead = job_read(a, &(struct record){.value = line.value},
				profiles_job_schema(profiles), job, err);
	if (dead != DEAD_NONE) {
		err_at(err, "%s: no valid job: ", path);
		return ST_INVALID;
	}
	*bound = profiles_of_job(profiles, job->profile_name, job->id, &line.arm, err);
	return *bound ? ST_OK : ST_INVALID;
}

enum status check_text_read(struct arena *a, const struct profiles *profiles, const char *profile,
			    const char *job_path, const char *checks_path, struct check_text *out,
			    struct err *err)
{
	const struct profile *bound = NULL;
	const struct check *listed = NULL;
	int n_listed = 0;
	enum status status = ST_OK;

	if (job_path)
		status = read_job(a, profiles, profile, job_path, &out->job, &bound, err);
	else if (profile && !(bound = profiles_named(profiles, str_c(profile), err)))
		status = ST_INVALID;
	if (status == ST_OK && checks_path)
		status = read_list(a, checks_path, &listed, &n_listed, err);
	if (status != ST_OK)
		return status;
	const int n_bound = bound ? bound->n_check : 0;
	out->profile = bound;
	out->check = arena_array(a, const struct check *, n_bound + out->job.n_check + n_listed);
	if (bound)
		add(out, bound->check, n_bound);
	add(out, out->job.check, out->job.n_check);
	add(out, listed, n_listed);
	return ST_OK;
}

/* ---- one text ---- */

static enum status read_text(const char *name, struct buf *text, struct err *err)
{
	const bool is_stdin = strcmp(name, "-") == 0;
	FILE *file = is_stdin ? stdin : fopen(name, "re");
	enum status status = ST_OK;
	struct str piece;

	if (!file)
		return err_set(err, ST_INVALID, "cannot be opened (%s); mend its path",
			       strerror(errno));
	struct decode *decode = decode_new(file, "UTF-8");
	while ((status = decode_next(decode, &piece, err)) == ST_OK && piece.n > 0)
		buf_str(text, piece);
	decode_free(decode);
	if (!is_stdin)
		(void)fclose(file);
	if (status == ST_OK && text->full)
		return err_set(err, ST_INVALID, "over %d MiB; check it in parts",
			       CHECK_TEXT_BYTES_MAX >> 20);
	return status == ST_OK ? ST_OK : ST_INVALID;
}

/* The text as the checks see it: of a profile with fields, the JSON object that a model would answer. */
static enum status read_parts(struct arena *a, const struct profile *p, struct str read,
			      struct answer *out, struct err *err)
{
	struct str part[FIELDS_MAX];
	struct json *doc = NULL;
	enum status status = ST_OK;

	*out = (struct answer){.text = read};
	if (!p || !p->n_field)
		return ST_OK;
	if (json_read(str_trim(read), &doc, err) != JSON_FINE) {
		err_at(err,
		       "is no JSON, and the profile has fields (\"%.*s\", ..): write {\"%.*s\": text, ..}: ",
		       STR_ARG(p->field[0]), STR_ARG(p->field[0]));
		status = ST_INVALID;
	}
	for (int i = 0; status == ST_OK && i < p->n_field; i++)
		if (!json_get_str(doc, p->field[i].p, &part[i]))
			status = err_set(err, ST_INVALID,
					 "has no text \"%.*s\", a field of the profile",
					 STR_ARG(p->field[i]));
	if (status == ST_OK)
		answer_join(a, p, part, out);
	json_free(doc);
	return status;
}

/* The part that @check looks at, else the whole. */
static struct str seen_by(const struct check *check, const struct answer *answer)
{
	for (int i = 0; check->field.p && i < answer->n_field; i++)
		if (str_eq(answer->field[i].name, check->field))
			return field_text(&answer->field[i], answer->text);
	return answer->text;
}

struct place {
	int64_t line, column;
};

/* Both from 1. */
static struct place place_of(struct str text, int64_t at)
{
	struct str before = str_sub(text, 0, (size_t)at);
	const char *end = before.n ? memrchr(before.p, '\n', before.n) : NULL;
	size_t line_begin = end ? (size_t)(end + 1 - before.p) : 0;
	struct place place = {1, 1 + text_graphemes(str_sub(before, line_begin, before.n))};

	for (size_t i = 0; i < before.n; i++)
		place.line += before.p[i] == '\n';
	return place;
}

static void print_result(struct page *p, const struct answer *answer, const struct check_result *r)
{
	page_printf(p, "  ");
	page_ink(p, r->ok ? INK_GREEN : INK_RED);
	page_printf(p, r->ok ? "ok" : "red");
	page_ink(p, INK_PLAIN);
	page_printf(p, r->ok ? "   " : "  ");
	if (answer->n_field && r->check->field.p) {
		page_line(p, r->check->field);
		page_printf(p, ": ");
	}
	page_line(p, r->check->name);
	page_printf(p, r->check->hard ? "" : " (soft)");
	if (!r->ok) {
		page_printf(p, ": ");
		page_line(p, r->detail);
	}
	if (r->at >= 0) {
		const struct place place = place_of(seen_by(r->check, answer), r->at);
		page_printf(p, ", at %lld:%lld", (long long)place.line, (long long)place.column);
	}
	page_printf(p, "\n");
}

static void put_result(struct json_out *o, const struct answer *answer,
		       const struct check_result *r)
{
	json_open(o, NULL, '{');
	check_put(r, true, o);
	if (r->at >= 0) {
		const struct place place = place_of(seen_by(r->check, answer), r->at);
		json_put_int(o, "line", place.line);
		json_put_int(o, "column", place.column);
		json_put_int(o, "at", r->at);
		json_put_int(o, "bytes", r->n);
	}
	json_close(o, '}');
}

static void print_page(const char *name, const struct answer *answer,
		       const struct check_result *result, int n)
{
	struct page p = PAGE(page_wants_colour(STDOUT_FILENO));
	int n_red = 0;

	for (int i = 0; i < n; i++)
		n_red += !result[i].ok;
	page_line(&p, str_c(name));
	page_printf(&p, ": %d of %d checks red\n", n_red, n);
	for (int i = 0; i < n; i++)
		print_result(&p, answer, &result[i]);
	(void)page_print(&p);
	buf_release(&p.text);
}

static void print_json(const char *name, const struct answer *answer,
		       const struct check_result *result, int n, bool green)
{
	struct buf line = BUF(PAGE_BYTES_MAX);
	struct json_out o = {.buf = &line};

	json_open(&o, NULL, '{');
	json_put_str(&o, "file", str_c(name));
	json_put_bool(&o, "ok", green);
	json_open(&o, "checks", '[');
	for (int i = 0; i < n; i++)
		put_result(&o, answer, &result[i]);
	json_close(&o, ']');
	json_close(&o, '}');
	printf("%s\n", buf_view(&line).p);
	buf_release(&line);
}

/* Each check has the work of its own part. True: no hard one is red. */
static bool run(struct arena *a, const struct check_text *c, const struct answer *answer,
		struct check_result *result)
{
	struct checked whole = {.scratch = a, .text = answer->text}, part[FIELDS_MAX];
	bool green = true;

	whole.extra_work = (int64_t)(answer->text.n / WORK_BYTES) * CHECK_WORK_MAX;
	for (int i = 0; i < answer->n_field; i++) {
		part[i] = whole;
		part[i].text = field_text(&answer->field[i], answer->text);
	}
	for (int i = 0; i < c->n_check; i++) {
		struct checked *seen = &whole;
		for (int k = 0; c->check[i]->field.p && k < answer->n_field; k++)
			if (str_eq(answer->field[k].name, c->check[i]->field))
				seen = &part[k];
		check_run(a, c->check[i], &c->job, seen, &result[i]);
		green = green && (result[i].ok || !result[i].check->hard);
	}
	return green;
}

enum status check_text_run(const struct check_text *c, const char *name, bool *green,
			   struct err *err)
{
	struct buf text = BUF(CHECK_TEXT_BYTES_MAX);
	struct arena *a = arena_new();
	struct answer answer;
	enum status status = read_text(name, &text, err);

	if (status == ST_OK)
		status = read_parts(a, c->profile, buf_view(&text), &answer, err);
	if (status == ST_OK) {
		struct check_result *result = arena_array(a, struct check_result, c->n_check);
		*green = run(a, c, &answer, result);
		if (c->as_json)
			print_json(name, &answer, result, c->n_check, *green);
		else
			print_page(name, &answer, result, c->n_check);
	} else {
		err_at(err, "%s: ", name);
	}
	arena_free(a);
	buf_release(&text);
	return status;
}
