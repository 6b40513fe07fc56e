#include "core/critique.h"
#include "core/similarity.h"

#include "base/text.h"

#include <math.h>

enum { SEVERITY_MIN = 1, SEVERITY_MAX = 5 };
enum { REPEATS_OVER_PERMILLE = 900, GRAM = 3 };
enum { COMPARED_BYTES_MAX = 32 << 10 }; /* of what a critique finds: more takes too long */

static const char *const reply_keys[] = {"issues", "score", "verdict", "reasons", NULL};
static const char *const issue_keys[] = {"category", "snippet", "suggestion", "severity", NULL};

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

static bool read_issue(struct arena *a, const struct json *in, struct str draft, struct issue *out,
		       struct err *err)
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
		return ERR_SET(err, false, "is %s, must be an object",
			       json_kind_name(json_kind(in)));
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		if (!copy_str(a, in, text[i].key, text[i].to))
			return ERR_SET(err, false, "%s is %s, must be a string", text[i].key,
				       kind_of(in, text[i].key));
	}
	if (!json_get_int(in, "severity", SEVERITY_MIN, SEVERITY_MAX, &out->severity))
		return ERR_SET(err, false, "severity must be an integer, %d to %d", SEVERITY_MIN,
			       SEVERITY_MAX);
	out->at = str_find(draft, out->snippet, 0);
	out->n = out->at < 0 ? 0 : (int64_t)out->snippet.n;
	return true;
}

static bool read_issues(struct arena *a, const struct json *in, struct str draft,
			struct critique *out, struct err *err)
{
	const struct json *array = json_get(in, "issues");
	size_t n = json_size(array);

	if (json_kind(array) != JSON_ARRAY)
		return ERR_SET(err, false, "issues is %s, must be an array", kind_of(in, "issues"));
	if (n > CRITIQUE_ISSUES_MAX)
		return ERR_SET(err, false, "%zu issues, at most %d", n, CRITIQUE_ISSUES_MAX);
	struct issue *issue = arena_array(a, struct issue, n);
	for (size_t i = 0; i < n; i++) {
		const struct json *item = json_item(array, i);
		if (!read_issue(a, item, draft, &issue[i], err)) {
			err_at(err, "issue %zu: ", i + 1);
			return false;
		}
		out->n_ignored += n_unknown(item, issue_keys);
	}
	out->issue = issue;
	out->n_issue = (int)n;
	return true;
}

/* To 0..100, rounded down: what is just under the bar stays under it. */
static bool read_score(const struct json *in, int64_t score_max, int64_t *out, struct err *err)
{
	const struct json *value = json_get(in, "score");
	enum json_kind kind = json_kind(value);

	if (kind != JSON_INT && kind != JSON_DOUBLE)
		return ERR_SET(err, false, "score is %s, must be a number", kind_of(in, "score"));
	double score = json_double(value);
	if (!(score >= 0 && score <= (double)score_max))
		return ERR_SET(err, false, "score is %g, must be 0 to %lld", score,
			       (long long)score_max);
	*out = (int64_t)floor(score * (100.0 / (double)score_max));
	return true;
}

static bool read_object(struct arena *a, const struct json *in, struct str draft, int64_t score_max,
			struct critique *out, struct err *err)
{
	struct str verdict;

	if (json_kind(in) != JSON_OBJECT)
		return ERR_SET(err, false, "the reply is %s, must be an object",
			       json_kind_name(json_kind(in)));
	if (!read_issues(a, in, draft, out, err) || !read_score(in, score_max, &out->score, err))
		return false;
	if (!json_get_str(in, "verdict", &verdict))
		return ERR_SET(err, false, "verdict is %s, must be a string",
			       kind_of(in, "verdict"));
	out->pass = str_is(verdict, "pass");
	if (!out->pass && !str_is(verdict, "fail"))
		return ERR_SET(err, false, "verdict is neither \"pass\" nor \"fail\"");
	if (json_get(in, "reasons") && !copy_str(a, in, "reasons", &out->reasons))
		return ERR_SET(err, false, "reasons is %s, must be a string or absent",
			       kind_of(in, "reasons"));
	out->n_ignored += n_unknown(in, reply_keys);
	return true;
}

void critique_read(struct arena *a, struct str reply, struct str draft, int64_t score_max,
		   struct critique *out)
{
	struct json *in = NULL;
	struct err err = {""};

	*out = (struct critique){.valid = true};
	if (json_read_sent(str_trim(reply), &in, &err) != JSON_FINE)
		err_at(&err, "not exactly one JSON object: ");
	if (err.text[0] || !read_object(a, in, draft, score_max, out, &err))
		*out = (struct critique){.fault = arena_str(a, str_c(err.text)), .score = -1};
	json_free(in);
}

struct issue issue_of_check(struct arena *a, const struct check_result *r, int64_t threshold)
{
	const struct check *c = r->check;
	const bool raised = c->hard && c->severity < threshold;

	return (struct issue){.category = arena_printf(a, "check:%.*s", STR_ARG(c->name)),
			      .suggestion = r->detail,
			      .severity = raised ? threshold : c->severity,
			      .at = r->at,
			      .n = r->n};
}

/* What a critique finds, as one text. */
static struct str issue_text(struct arena *scratch, const struct critique *c)
{
	size_t n = 0;

	for (int i = 0; i < c->n_issue; i++)
		n += c->issue[i].snippet.n + c->issue[i].suggestion.n + 2;
	struct buf all = BUF(n + 1);
	for (int i = 0; i < c->n_issue; i++) {
		buf_str(&all, c->issue[i].snippet);
		buf_putc(&all, '\n');
		buf_str(&all, c->issue[i].suggestion);
		buf_putc(&all, '\n');
	}
	struct str text = arena_str(scratch, str_cut(buf_view(&all), COMPARED_BYTES_MAX));
	buf_release(&all);
	return text;
}

bool critique_repeats(struct arena *a, const struct critique *before, const struct critique *now)
{
	struct str was = issue_text(a, before), is = issue_text(a, now);

	if (text_words(was) <= 1 || text_words(is) <= 1)
		return false;
	return similarity_permille(text_bare(a, was), text_bare(a, is), GRAM) >
	       REPEATS_OVER_PERMILLE;
}
