#include "core/critique.h"
#include "core/anchor.h"
#include "core/similarity.h"

#include "base/text.h"

#include <math.h>

enum { SEVERITY_MIN = 1, SEVERITY_MAX = 5 };
enum { REPEATS_OVER_PERMILLE = 900, GRAM = 3 };
/* Of what a critique finds, and of one issue: each round is compared with all before it, each issue with each. */
enum { COMPARED_BYTES_MAX = 8 << 10, ISSUE_BYTES_MAX = 500 };

static const char *const scored_keys[] = {"issues",  "reasons", "considered",
					  "verdict", "score",	NULL};
static const char *const unscored_keys[] = {"issues", "reasons", "considered", NULL};
static const char *const issue_keys[] = {"category", "snippet", "suggestion", "severity", NULL};
static const char *const citing_issue_keys[] = {"category", "snippet", "suggestion",
						"severity", "source",  NULL};
static const struct str text_category = STR("text"); /* of an issue that has none of its own */

/* A reply being read. */
struct reading {
	struct arena *a;
	const struct profile *profile;
	const struct job *job;
	struct str draft;
	struct critique *out;
	struct err *err;
};

/* Members that are none of @keys. */
static int n_unknown(const struct json *object, const char *const *keys)
{
	int n = (int)json_size(object);

	for (; *keys; keys++)
		n -= json_get(object, *keys) != NULL;
	return n;
}

static bool copy_str(struct arena *a, const struct json *object, const char *key, struct str *out)
{
	if (!json_get_str(object, key, out))
		return false;
	*out = arena_str(a, *out);
	return true;
}

static const char *kind_of(const struct json *object, const char *key)
{
	const struct json *value = json_get(object, key);
	return value ? json_kind_name(json_kind(value)) : "absent";
}

static bool is_scored(const struct profile *p)
{
	return p->pass_rule == PASS_VERDICT_AND_SCORE;
}

/* About the whole text, for the refiner to be told. */
static struct issue plain_issue(const struct reading *r, struct str text)
{
	return (struct issue){.category = text_category,
			      .suggestion = arena_str(r->a, text),
			      .severity = r->profile->severity_threshold,
			      .at = -1};
}

/* See the header. */
static bool read_citation(const struct reading *r, const struct json *in, struct issue *out)
{
	const struct json *value = json_get(in, "source");
	struct str id;

	if (!value || json_kind(value) == JSON_NULL)
		return true;
	if (json_kind(value) != JSON_STRING)
		return ERR_SET(r->err, false, "source is %s, must be a string or absent",
			       kind_of(in, "source"));
	id = text_trim(json_str(value));
	for (int i = 0; i < r->job->n_source && !out->source.p; i++)
		if (str_eq(r->job->sources[i].id, id))
			out->source = r->job->sources[i].id;
	if (id.n && !out->source.p)
		out->miscited = arena_str(r->a, str_cut(id, ISSUE_MISCITED_BYTES_MAX));
	return true;
}

static bool read_issue(const struct reading *r, const struct json *in, struct issue *out)
{
	struct {
		const char *key;
		struct str *to;
	} text[] = {
		{"category", &out->category},
		{"snippet", &out->snippet},
		{"suggestion", &out->suggestion},
	};

	if (json_kind(in) != JSON_OBJECT)
		return ERR_SET(r->err, false, "is %s, must be an object",
			       json_kind_name(json_kind(in)));
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		if (!copy_str(r->a, in, text[i].key, text[i].to))
			return ERR_SET(r->err, false, "%s is %s, must be a string", text[i].key,
				       kind_of(in, text[i].key));
	}
	if (!json_get_int(in, "severity", SEVERITY_MIN, SEVERITY_MAX, &out->severity))
		return ERR_SET(r->err, false, "severity must be an integer, %d to %d", SEVERITY_MIN,
			       SEVERITY_MAX);
	r->out->n_ignored +=
		n_unknown(in, r->profile->cite_sources ? citing_issue_keys : issue_keys);
	return !r->profile->cite_sources || read_citation(r, in, out);
}

/* The most severe, those of one severity in their order. */
static void keep_issues(const struct reading *r, const struct issue *all, int n)
{
	struct issue *kept = arena_array(r->a, struct issue, FORM_ISSUES_MAX);
	int n_kept = 0;

	for (int64_t severity = SEVERITY_MAX; severity >= SEVERITY_MIN; severity--)
		for (int i = 0; i < n && n_kept < FORM_ISSUES_MAX; i++)
			if (all[i].severity == severity)
				kept[n_kept++] = all[i];
	anchor_issues(r->draft, kept, n_kept);
	r->out->issue = kept;
	r->out->n_issue = n_kept;
	r->out->n_cut = n - n_kept;
}

static bool read_issues(const struct reading *r, const struct json *in)
{
	const bool plain = r->profile->critique == CRITIQUE_PLAIN_ISSUES || !is_scored(r->profile);
	const struct json *array = json_get(in, "issues");
	int n = (int)json_size(array);
	struct issue *issue = arena_array(r->a, struct issue, n);

	if (json_kind(array) != JSON_ARRAY)
		return ERR_SET(r->err, false, "issues is %s, must be an array",
			       kind_of(in, "issues"));
	for (int i = 0; i < n; i++) {
		const struct json *item = json_item(array, (size_t)i);
		if (plain && json_kind(item) == JSON_STRING) {
			issue[i] = plain_issue(r, json_str(item));
		} else if (!read_issue(r, item, &issue[i])) {
			err_at(r->err, "issue %d: ", i + 1);
			return false;
		}
	}
	keep_issues(r, issue, n);
	return true;
}

/* To 0..100, rounded down: what is just under the bar stays under it. */
static bool read_score(const struct reading *r, const struct json *in)
{
	const struct json *value = json_get(in, "score");
	const int64_t max = r->profile->score_max;
	enum json_kind kind = json_kind(value);

	if (kind != JSON_INT && kind != JSON_DOUBLE)
		return ERR_SET(r->err, false, "score is %s, must be a number",
			       kind_of(in, "score"));
	double score = json_double(value);
	if (!(score >= 0 && score <= (double)max))
		return ERR_SET(r->err, false, "score is %g, must be 0 to %lld", score,
			       (long long)max);
	r->out->score = (int64_t)floor(score * (100.0 / (double)max));
	return true;
}

static bool read_verdict(const struct reading *r, const struct json *in)
{
	struct str verdict;

	if (!json_get_str(in, "verdict", &verdict))
		return ERR_SET(r->err, false, "verdict is %s, must be a string",
			       kind_of(in, "verdict"));
	r->out->pass = str_is(verdict, "pass");
	return r->out->pass || str_is(verdict, "fail")
		       ? true
		       : ERR_SET(r->err, false, "verdict is neither \"pass\" nor \"fail\"");
}

static bool read_considered(const struct reading *r, const struct json *in)
{
	const struct json *lines = json_get(in, "considered"), *line;
	const struct profile *p = r->profile;
	struct str name;

	if (lines && json_kind(lines) != JSON_OBJECT)
		return ERR_SET(r->err, false, "considered is %s, must be an object or absent",
			       kind_of(in, "considered"));
	for (size_t i = 0; lines && json_member(lines, i, &name, &line); i++)
		if (json_kind(line) != JSON_STRING)
			return ERR_SET(r->err, false, "considered: a line is %s, must be a string",
				       json_kind_name(json_kind(line)));
	for (int i = 0; i < p->n_category; i++)
		r->out->n_unconsidered += !lines || !json_get(lines, p->category[i].p);
	return true;
}

static bool read_object(const struct reading *r, const struct json *in)
{
	const bool scored = is_scored(r->profile);
	struct critique *out = r->out;

	if (!read_issues(r, in) || (scored && (!read_score(r, in) || !read_verdict(r, in))) ||
	    !read_considered(r, in))
		return false;
	if (json_get(in, "reasons") && !copy_str(r->a, in, "reasons", &out->reasons))
		return ERR_SET(r->err, false, "reasons is %s, must be a string or absent",
			       kind_of(in, "reasons"));
	if (!scored)
		out->pass = out->n_issue == 0 ||
			    out->issue[0].severity < r->profile->severity_threshold;
	out->n_ignored += n_unknown(in, scored ? scored_keys : unscored_keys);
	return true;
}

static bool read_json(const struct reading *r, struct str reply)
{
	struct json *in;
	struct str text;
	bool fine;

	if (!unwrap_object(reply, &in, &text, &r->out->shape, r->err))
		return false;
	if (str_find(r->draft, text, 0) < 0) {
		fine = read_object(r, in);
	} else {
		r->out->shape = SHAPE_copied;
		fine = ERR_SET(r->err, false, "the JSON object stands in the draft itself");
	}
	json_free(in);
	return fine;
}

static bool read_text(const struct reading *r, struct str reply)
{
	struct issue *issue = arena_array(r->a, struct issue, 1);

	reply = text_trim(reply);
	r->out->shape = SHAPE_whole;
	r->out->pass = str_is(reply, FORM_NO_DEFECTS);
	if (r->out->pass)
		return true;
	if (reply.n == 0)
		return ERR_SET(r->err, false, "the reply is empty");
	if (str_find(reply, STR_OF(FORM_NO_DEFECTS), 0) >= 0)
		return ERR_SET(r->err, false, "more than " FORM_NO_DEFECTS " alone");
	*issue = plain_issue(r, reply);
	r->out->issue = issue;
	r->out->n_issue = 1;
	return true;
}

void critique_read(struct arena *a, const struct profile *profile, const struct job *job,
		   struct str reply, struct str draft, struct critique *out)
{
	struct err err = {""};
	const struct reading r = {a, profile, job, draft, out, &err};

	*out = (struct critique){.valid = true, .score = -1, .shape = N_SHAPES};
	if (!(profile->critique == CRITIQUE_TEXT ? read_text : read_json)(&r, reply))
		*out = (struct critique){.fault = arena_str(a, str_c(err.text)),
					 .score = -1,
					 .shape = out->shape == SHAPE_copied ? SHAPE_copied
									     : N_SHAPES};
}

void critique_refuse_copy(struct critique *c)
{
	*c = (struct critique){
		.fault = STR("copied: the verdict stands in what the critic was given"),
		.score = -1,
		.shape = SHAPE_copied};
}

bool critique_passes(const struct profile *p, const struct critique *c)
{
	return c->pass && (!is_scored(p) || c->score >= p->pass_score);
}

struct issue issue_of_check(struct arena *a, const struct check_result *r, struct str draft,
			    int64_t threshold)
{
	const struct check *c = r->check;
	const bool raised = c->hard && c->severity < threshold;
	struct issue issue = {.category = arena_printf(a, "check:%.*s", STR_ARG(c->name)),
			      .suggestion = r->detail,
			      .severity = raised ? threshold : c->severity,
			      .at = -1,
			      .red = r};

	if (r->at >= 0) {
		const struct span s = anchor_sentence(draft, (struct span){r->at, r->n});
		issue.at = s.at;
		issue.n = s.n;
		issue.snippet = str_sub(draft, (size_t)s.at, (size_t)s.n);
	}
	return issue;
}

/* What issues say, as one text, up to @max bytes. */
static struct str issue_text(struct arena *scratch, const struct issue *issue, int n_issue,
			     size_t max)
{
	size_t n = 0;

	for (int i = 0; i < n_issue; i++)
		n += issue[i].snippet.n + issue[i].suggestion.n + 2;
	struct buf all = BUF(n + 1);
	for (int i = 0; i < n_issue; i++) {
		buf_str(&all, issue[i].snippet);
		buf_putc(&all, '\n');
		buf_str(&all, issue[i].suggestion);
		buf_putc(&all, '\n');
	}
	struct str text = arena_str(scratch, str_cut(buf_view(&all), max));
	buf_release(&all);
	return text;
}

static bool is_alike(struct arena *a, struct str was, struct str is)
{
	if (text_words(was) <= 1 || text_words(is) <= 1)
		return false;
	return similarity_permille(text_bare(a, was), text_bare(a, is), GRAM) >
	       REPEATS_OVER_PERMILLE;
}

bool critique_repeats(struct arena *a, const struct critique *before, const struct critique *now)
{
	return is_alike(a, issue_text(a, before->issue, before->n_issue, COMPARED_BYTES_MAX),
			issue_text(a, now->issue, now->n_issue, COMPARED_BYTES_MAX));
}

bool issue_repeats(struct arena *a, const struct issue *before, const struct issue *now)
{
	return is_alike(a, issue_text(a, before, 1, ISSUE_BYTES_MAX),
			issue_text(a, now, 1, ISSUE_BYTES_MAX));
}
