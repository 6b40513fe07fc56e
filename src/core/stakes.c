#include "core/stakes.h"

#include "base/text.h"
#include "member.h"
#include "regex.h"

enum { BOUND_BYTES_MAX = 100, VALUE_BYTES_MAX = 200, VALUES_MAX = 100 };
enum { WORK_MAX = CHECK_WORK_MAX / 4 }; /* of the patterns of one job */

/* By the values of stakes_test; NULL at the end. */
static const char *const test_names[] = {"equals",   "one_of",	"matches",
					 "at_least", "at_most", NULL};

/* clang-format off */
static const struct member rule_fields[] = {
	STRING(stakes_rule, variable),
	ENUM(stakes_rule, stakes, stakes_names),
	FIELD(WORD, "absent", AT(stakes_rule, absent), .words = stakes_names, .optional = true),
	ALONE("equals"), ALONE("one_of"), ALONE("matches"), ALONE("at_least"), ALONE("at_most"),
	{.key = NULL},
};
/* clang-format on */

/* Whether @text is a number of JSON and nothing else. The decimal borrows from it. */
static bool read_number(struct str text, struct decimal *out)
{
	struct json *doc = NULL;
	struct err err;
	bool fine = text.n && str_only(text, "0123456789+-.eE") &&
		    json_read_exact(text, &doc, &err) == JSON_FINE;

	json_free(doc);
	return fine && decimal_read(text, out);
}

/* ---- rules of a profile ---- */

static bool read_values(const struct reader *r, const struct json *value, struct stakes_rule *out)
{
	const bool is_list = out->test == STAKES_ONE_OF;
	const int n = is_list ? (int)json_size(value) : 1;
	struct str *text = arena_array(r->a, struct str, n);

	if (is_list != (json_kind(value) == JSON_ARRAY) || n < 1 || n > VALUES_MAX)
		return false;
	for (int i = 0; i < n; i++) {
		const struct json *item = is_list ? json_item(value, (size_t)i) : value;
		if (json_kind(item) != JSON_STRING || json_str(item).n > VALUE_BYTES_MAX)
			return false;
		text[i] = text_fold(r->a, text_trim(json_str(item)));
		if (text[i].n == 0)
			return false;
	}
	out->value = text;
	out->n_value = n;
	return true;
}

static bool read_bound(const struct reader *r, const struct json *value, struct stakes_rule *out)
{
	struct str text = STR("");

	if (json_kind(value) == JSON_INT)
		text = arena_printf(r->a, "%lld", (long long)json_int(value));
	else if (json_kind(value) == JSON_STRING)
		text = arena_str(r->a, json_str(value));
	return text.n <= BOUND_BYTES_MAX && read_number(text, &out->bound);
}

static void read_pattern(const struct reader *r, const struct json *value, struct stakes_rule *out)
{
	struct regex *regex = arena_array(r->a, struct regex, 1);
	struct err err;

	if (json_kind(value) != JSON_STRING)
		REFUSE(r, "%s: give a pattern", test_names[STAKES_MATCHES]);
	else if (regex_compile(r->a, json_str(value), regex, &err) != ST_OK)
		REFUSE(r, "%s: %s", test_names[STAKES_MATCHES], err.text);
	out->regex = regex;
}

static void read_test(const struct reader *r, const struct json *value, struct stakes_rule *out)
{
	const char *name = test_names[out->test];

	if (out->test == STAKES_MATCHES)
		read_pattern(r, value, out);
	else if (out->test == STAKES_AT_LEAST || out->test == STAKES_AT_MOST) {
		if (!read_bound(r, value, out))
			REFUSE(r, "%s: give an integer, or a decimal as a string: \"0.5\"", name);
	} else if (!read_values(r, value, out)) {
		REFUSE(r, "%s: give %s of 1 to %d bytes, in quotes where it looks like a number",
		       name,
		       out->test == STAKES_ONE_OF ? "a list of 1 to 100 texts, each" : "a text",
		       VALUE_BYTES_MAX);
	}
}

/* @r: of the list. */
static void read_rule(const struct reader *r, const struct json *o, int no, struct stakes_rule *out)
{
	const struct reader part = PART(r, "stakes_rules[%d].", no);
	const struct json *value = NULL;
	int n_test = 0;

	if (json_kind(o) != JSON_OBJECT) {
		REFUSE(r, "stakes_rules[%d]: give keys, as variable and stakes", no);
		return;
	}
	for (int i = 0; test_names[i]; i++) {
		const struct json *given = json_get(o, test_names[i]);
		n_test += given != NULL;
		if (given)
			out->test = (enum stakes_test)i;
		value = given ? given : value;
	}
	members_read(&part, o, rule_fields, out);
	if (out->variable.n > VALUE_BYTES_MAX) /* it is told in every event */
		REFUSE(&part, "variable: a name of %d bytes at most", VALUE_BYTES_MAX);
	if (n_test == 1)
		read_test(&part, value, out);
	else
		REFUSE(r,
		       "stakes_rules[%d]: give one of equals, one_of, matches, at_least, at_most",
		       no);
	out->has_absent = json_get(o, "absent") != NULL;
	out->by = arena_printf(r->a, "stakes_rules[%d] %.*s", no, STR_ARG(out->variable));
	out->by_absence = arena_printf(r->a, "%.*s, absent", STR_ARG(out->by));
	out->by_doubt = arena_printf(r->a, "%.*s, not judged", STR_ARG(out->by));
}

const struct stakes_rule *stakes_rules_read(struct arena *a, const struct json *array, int *n,
					    struct faults *faults)
{
	const struct reader r = {a, faults, ""};
	struct stakes_rule *rule = arena_array(a, struct stakes_rule, json_size(array));

	*n = 0;
	if (array && (json_kind(array) != JSON_ARRAY || json_size(array) > STAKES_RULES_MAX))
		REFUSE(&r, "stakes_rules: give a list of at most %d", STAKES_RULES_MAX);
	else
		for (; *n < (int)json_size(array); ++*n)
			read_rule(&r, json_item(array, (size_t)*n), *n, &rule[*n]);
	return rule;
}

/* ---- a job under them ---- */

enum verdict { HOLDS_NOT, HOLDS, IN_DOUBT };

struct judging {
	struct arena *scratch;
	int64_t work;
};

static enum verdict verdict_of(bool holds)
{
	return holds ? HOLDS : HOLDS_NOT;
}

static enum verdict compare_texts(struct judging *j, const struct stakes_rule *rule,
				  struct str value)
{
	const struct str folded = text_fold(j->scratch, value);

	for (int i = 0; i < rule->n_value; i++)
		if (str_eq(rule->value[i], folded))
			return HOLDS;
	return HOLDS_NOT;
}

static enum verdict compare_numbers(const struct stakes_rule *rule, struct str value)
{
	struct decimal number;

	if (!read_number(value, &number))
		return IN_DOUBT;
	const int order = decimal_cmp(&number, &rule->bound);
	return verdict_of(rule->test == STAKES_AT_LEAST ? order >= 0 : order <= 0);
}

static enum verdict match(struct judging *j, const struct stakes_rule *rule, struct str value)
{
	struct regex_match found;
	struct err why;

	switch (regex_find(rule->regex, value, 0, &j->work, WORK_MAX, &found, &why)) {
	case REGEX_NOT_FOUND:
		return HOLDS_NOT;
	case REGEX_FOUND:
		return HOLDS;
	case REGEX_UNDECIDED:
		break;
	}
	return IN_DOUBT;
}

/* @value is not blank. */
static enum verdict judge(struct judging *j, const struct stakes_rule *rule, struct str value)
{
	if (rule->test == STAKES_MATCHES)
		return match(j, rule, value);
	value = text_trim(value);
	if (value.n > STAKES_VALUE_BYTES_MAX)
		return IN_DOUBT;
	return rule->test <= STAKES_ONE_OF ? compare_texts(j, rule, value)
					   : compare_numbers(rule, value);
}

static void raise_to(struct job *job, enum stakes stakes, struct str by)
{
	if (stakes <= job->stakes)
		return;
	job->stakes = stakes;
	job->stakes_by = by;
}

static void apply(struct judging *j, const struct stakes_rule *rule, struct job *job)
{
	const struct str value = job_variable(job, rule->variable);

	if (text_trim(value).n == 0) {
		if (rule->has_absent)
			raise_to(job, rule->absent, rule->by_absence);
		return;
	}
	const enum verdict verdict = judge(j, rule, value);
	if (verdict != HOLDS_NOT)
		raise_to(job, rule->stakes, verdict == HOLDS ? rule->by : rule->by_doubt);
}

void stakes_settle(struct job *job, const struct profile *p)
{
	struct judging j = {.scratch = arena_new()};
	const bool by_job = job->has_stakes && job->stakes >= p->stakes;

	job->stakes_by = by_job ? STR_OF("job") : STR_OF("profile");
	if (!by_job)
		job->stakes = p->stakes;
	for (int i = 0; i < p->n_stakes_rule; i++)
		apply(&j, &p->stakes_rule[i], job);
	arena_free(j.scratch);
}

void stakes_stored(struct arena *a, struct job *job, const struct job_row *row)
{
	const int stakes = str_among(row->stakes, stakes_names);

	job->stakes = stakes < 0 ? STAKES_HIGH : (enum stakes)stakes;
	job->stakes_by = arena_str(a, row->stakes_by);
}
