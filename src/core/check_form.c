/* IFEval's types of how a text is built: its parts, and what must or must not be in it. */
#include "check_family.h"
#include "check_parts.h"

#include "base/text.h"

enum { WORK = 16 };

static int64_t find(struct str text, const char *what)
{
	return str_find(text, str_c(what), 0);
}

static bool is_blank(struct str s)
{
	return text_trim(s).n == 0;
}

/* ---- the first word of a paragraph ---- */

struct first_word {
	int64_t n_paragraph, nth; /* nth from 1 */
	struct str word, lower;
};

static enum status read_first_word(struct arena *a, const struct json *spec, const void **args,
				   struct err *err)
{
	struct first_word *first = arena_alloc(a, sizeof(*first));
	enum status status = arg_count(spec, "num_paragraphs", 1, &first->n_paragraph, err);

	*args = first;
	if (status == ST_OK)
		status = arg_count(spec, "nth_paragraph", 1, &first->nth, err);
	if (status == ST_OK && first->nth > first->n_paragraph)
		return err_set(err, ST_INVALID,
			       "\"nth_paragraph\" must not be over \"num_paragraphs\"");
	if (status == ST_OK)
		status = arg_phrase(a, spec, "first_word", &first->word, err);
	if (status == ST_OK)
		first->lower = text_lower(a, first->word);
	return status;
}

/* Without a ', then a ", before it, and without what is behind it. */
static struct str first_word_of(struct str s)
{
	size_t from = 0, to, at;

	s = text_trim(s);
	while (from < s.n && s.p[from] == '\'')
		from++;
	while (from < s.n && s.p[from] == '"')
		from++;
	for (to = at = from; at < s.n; to = at) {
		int32_t c = text_next(s, &at);
		if (text_is_space(c) || (c < 0x80 && strchr(".,?!'\"", c)))
			break;
	}
	return str_sub(s, from, to - from);
}

/* What is between two line ends, empty or not. An empty one counts for which is the nth, but not for how many there are. */
static void run_first_word(struct arena *scratch, const void *args, const struct job *job,
			   struct checked *checked, struct check_result *out)
{
	const struct first_word *wanted = args;
	const struct str text = checked->text;
	struct str nth = STR("");
	int64_t n = 0, i = 1;

	if (!check_begins(checked, WORK, out))
		return;
	for (size_t from = 0; from <= text.n; i++) {
		int64_t end = str_find(text, STR_OF("\n\n"), from);
		struct str part = str_sub(text, from, (end < 0 ? text.n : (size_t)end) - from);
		n += !is_blank(part);
		if (i == wanted->nth)
			nth = part;
		from = end < 0 ? text.n + 1 : (size_t)end + 2;
	}
	struct str word = first_word_of(nth);
	out->ok = n == wanted->n_paragraph && str_eq(text_lower(scratch, word), wanted->lower);
	if (n != wanted->n_paragraph) {
		out->detail = arena_printf(scratch, "%lld paragraphs, exactly %lld wanted",
					   (long long)n, (long long)wanted->n_paragraph);
	} else if (!out->ok) {
		out->detail = arena_printf(
			scratch, "paragraph %lld begins with \"%.*s\", not with \"%.*s\"",
			(long long)wanted->nth, STR_ARG(word), STR_ARG(wanted->word));
		out->at = word.p - text.p;
		out->n = (int64_t)word.n;
	}
}

static void phrase_first_word(const void *args, const struct job *job, bool japanese,
			      struct buf *out)
{
	const struct first_word *first = args;

	buf_printf(
		out,
		japanese
			? "空行で区切ったちょうど%lld個の段落にし、第%lld段落を「%.*s」で始めること。"
			: "Exactly %lld paragraphs, parted by an empty line; paragraph %lld begins with the word \"%.*s\".",
		(long long)first->n_paragraph, (long long)first->nth, STR_ARG(first->word));
}

/* ---- parts and marks ---- */

static void run_constrained(struct arena *scratch, const void *args, const struct job *job,
			    struct checked *checked, struct check_result *out)
{
	if (check_begins(checked, WORK, out) && find(checked->text, "My answer is yes.") < 0 &&
	    find(checked->text, "My answer is no.") < 0 &&
	    find(checked->text, "My answer is maybe.") < 0)
		check_fail(out,
			   "none of \"My answer is yes.\", \"My answer is no.\" and \"My answer is "
			   "maybe.\" is in it");
}

static void phrase_constrained(const void *args, const struct job *job, bool japanese,
			       struct buf *out)
{
	buf_puts(out, japanese ? "次のいずれかで答えること: " : "Answer with one of: ");
	buf_puts(out, "\"My answer is yes.\", \"My answer is no.\", \"My answer is maybe.\"");
}

/* From the first << of a line to its last >>. */
static bool has_title(struct str line)
{
	int64_t from = find(line, "<<");
	size_t to = line.n;

	while (to >= 2 && !(line.p[to - 1] == '>' && line.p[to - 2] == '>'))
		to--;
	if (from < 0 || (size_t)from + 5 > to)
		return false;
	while ((size_t)from < to && line.p[from] == '<')
		from++;
	while (to > (size_t)from && line.p[to - 1] == '>')
		to--;
	return !is_blank(str_sub(line, (size_t)from, to - (size_t)from));
}

static void run_title(struct arena *scratch, const void *args, const struct job *job,
		      struct checked *checked, struct check_result *out)
{
	const struct str text = checked->text;

	if (!check_begins(checked, WORK, out))
		return;
	for (size_t from = 0; from < text.n;) {
		int64_t end = str_find(text, STR_OF("\n"), from);
		size_t to = end < 0 ? text.n : (size_t)end;
		if (has_title(str_sub(text, from, to - from)))
			return;
		from = to + 1;
	}
	check_fail(out, "has no title in double angle brackets, like <<title>>");
}

static void phrase_title(const void *args, const struct job *job, bool japanese, struct buf *out)
{
	buf_puts(out, japanese ? "二重の山括弧で囲んだ題名(<<題名>>)を付けること。"
			       : "It needs a title in double angle brackets, like <<title>>.");
}

static void run_two_responses(struct arena *scratch, const void *args, const struct job *job,
			      struct checked *checked, struct check_result *out)
{
	const struct str text = checked->text, mark = STR("******");
	struct str two[2] = {STR(""), STR("")};
	int64_t n = 0, end = 0;

	if (!check_begins(checked, WORK, out))
		return;
	for (size_t from = 0; end >= 0; from = (size_t)end + mark.n) {
		end = str_find(text, mark, from);
		struct str part =
			text_trim(str_sub(text, from, (end < 0 ? text.n : (size_t)end) - from));
		if (part.n && n < 2)
			two[n] = part;
		else if (!part.n && from > 0 && end >= 0)
			check_fail(out, "an empty response stands between two ******");
		n += part.n > 0;
	}
	if (out->ok && n != 2) {
		out->ok = false;
		out->detail = arena_printf(
			scratch, "%lld responses parted by ******, exactly 2 wanted", (long long)n);
	} else if (out->ok && str_eq(two[0], two[1])) {
		check_fail(out, "the two responses are the same");
	}
}

static void phrase_two_responses(const void *args, const struct job *job, bool japanese,
				 struct buf *out)
{
	buf_puts(
		out,
		japanese
			? "異なる二つの回答を書き、その間だけを ****** で区切ること。"
			: "Exactly two different responses, parted by ****** and by nothing else.");
}

static void run_no_comma(struct arena *scratch, const void *args, const struct job *job,
			 struct checked *checked, struct check_result *out)
{
	if (!check_begins(checked, WORK, out))
		return;
	int64_t at = find(checked->text, ",");
	if (at < 0)
		return;
	check_fail(out, "has a comma");
	out->at = at;
	out->n = 1;
}

static void phrase_no_comma(const void *args, const struct job *job, bool japanese, struct buf *out)
{
	buf_puts(out, japanese ? "半角コンマ(,)を使わないこと。" : "No commas.");
}

static const char *const first_word_keys[] = {"num_paragraphs", "nth_paragraph", "first_word",
					      NULL},
			 *const no_keys[] = {NULL};

const struct check_type check_form_types[] = {
	{"combination:two_responses", arg_none, run_two_responses, phrase_two_responses, no_keys},
	{"detectable_format:constrained_response", arg_none, run_constrained, phrase_constrained,
	 no_keys},
	{"detectable_format:title", arg_none, run_title, phrase_title, no_keys},
	{"length_constraints:nth_paragraph_first_word", read_first_word, run_first_word,
	 phrase_first_word, first_word_keys},
	{"punctuation:no_comma", arg_none, run_no_comma, phrase_no_comma, no_keys},
	{0},
};
