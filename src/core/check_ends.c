/* IFEval's types of what a text begins and ends with: a request, a phrase, a postscript, quotation marks. */
#include "check_family.h"
#include "check_parts.h"

#include "base/text.h"

enum { WORK = 8, LOWER_WORK = 16, STEPS_WORK = 32 };

struct phrase {
	struct str text, lower;
};

static enum status read_phrase(struct arena *a, const struct json *spec, const char *key,
			       const void **args, struct err *err)
{
	struct phrase *phrase = arena_alloc(a, sizeof(*phrase));
	enum status status = arg_phrase(a, spec, key, &phrase->text, err);

	*args = phrase;
	if (status == ST_OK)
		phrase->lower = text_lower(a, phrase->text);
	return status;
}

static void put_phrase(struct buf *out, const char *before, const struct phrase *phrase,
		       const char *after)
{
	buf_printf(out, "%s%.*s%s", before, STR_ARG(phrase->text), after);
}

static enum status read_repeat(struct arena *a, const struct json *spec, const void **args,
			       struct err *err)
{
	return read_phrase(a, spec, "prompt_to_repeat", args, err);
}

static void run_repeat(struct arena *scratch, const void *args, const struct job *job,
		       struct checked *checked, struct check_result *out)
{
	const struct phrase *prompt = args;

	if (!check_begins(checked, LOWER_WORK, out))
		return;
	struct str text = text_lower(scratch, text_trim(checked->text));
	if (!str_eq(str_sub(text, 0, prompt->lower.n), prompt->lower))
		check_fail(out, "does not begin with the request, word for word");
}

static void phrase_repeat(const void *args, const struct job *job, bool japanese, struct buf *out)
{
	put_phrase(out,
		   japanese ? "最初に次の依頼文を一字一句そのまま繰り返すこと: 「"
			    : "Begin by repeating this request word for word: \"",
		   args, japanese ? "」。" : "\".");
}

static enum status read_end(struct arena *a, const struct json *spec, const void **args,
			    struct err *err)
{
	return read_phrase(a, spec, "end_phrase", args, err);
}

static void run_end(struct arena *scratch, const void *args, const struct job *job,
		    struct checked *checked, struct check_result *out)
{
	const struct phrase *end = args;

	if (!check_begins(checked, LOWER_WORK, out))
		return;
	struct str text = text_trim(checked->text);
	while (text.n && text.p[text.n - 1] == '"')
		text.n--;
	text = text_lower(scratch, text);
	if (text.n >= end->lower.n &&
	    str_eq(str_sub(text, text.n - end->lower.n, end->lower.n), end->lower))
		return;
	out->ok = false;
	out->detail = arena_printf(scratch, "does not end with \"%.*s\"", STR_ARG(end->text));
}

static void phrase_end(const void *args, const struct job *job, bool japanese, struct buf *out)
{
	put_phrase(out,
		   japanese ? "次の言葉で終え、その後に何も書かないこと: 「"
			    : "End with exactly this and nothing behind it: \"",
		   args, japanese ? "」。" : "\".");
}

static enum status read_postscript(struct arena *a, const struct json *spec, const void **args,
				   struct err *err)
{
	return read_phrase(a, spec, "postscript_marker", args, err);
}

/* The steps one after another, a white space or none between two of them. */
static bool has_steps(struct str text, const char *const *step)
{
	for (int64_t found = 0; (found = str_find(text, str_c(step[0]), (size_t)found)) >= 0;
	     found++) {
		size_t at = (size_t)found + strlen(step[0]);
		int i = 1;
		for (; step[i]; i++) {
			size_t next = at;
			if (text_is_space(text_next(text, &next)))
				at = next;
			if (!str_starts(str_sub(text, at, text.n), step[i]))
				break;
			at += strlen(step[i]);
		}
		if (!step[i])
			return true;
	}
	return false;
}

static void run_postscript(struct arena *scratch, const void *args, const struct job *job,
			   struct checked *checked, struct check_result *out)
{
	static const char *const ps[] = {"p.", "s.", NULL}, *const pps[] = {"p.", "p.", "s", NULL};
	const struct phrase *marker = args;

	if (!check_begins(checked, STEPS_WORK, out))
		return;
	struct str text = text_lower(scratch, checked->text);
	if (str_is(marker->text, "P.S."))
		out->ok = has_steps(text, ps);
	else if (str_is(marker->text, "P.P.S"))
		out->ok = has_steps(text, pps);
	else
		out->ok = str_find(text, marker->lower, 0) >= 0;
	if (!out->ok)
		out->detail = arena_printf(scratch, "has no postscript that begins with \"%.*s\"",
					   STR_ARG(marker->text));
}

static void phrase_postscript(const void *args, const struct job *job, bool japanese,
			      struct buf *out)
{
	put_phrase(out, japanese ? "最後に「" : "Add a postscript at the end that begins with \"",
		   args, japanese ? "」で始まる追伸を付けること。" : "\".");
}

static void run_quotation(struct arena *scratch, const void *args, const struct job *job,
			  struct checked *checked, struct check_result *out)
{
	if (!check_begins(checked, WORK, out))
		return;
	struct str text = text_trim(checked->text);
	if (text.n < 2 || text.p[0] != '"' || text.p[text.n - 1] != '"')
		check_fail(out, "is not wrapped in double quotation marks");
}

static void phrase_quotation(const void *args, const struct job *job, bool japanese,
			     struct buf *out)
{
	buf_puts(out, japanese ? "全文を半角の二重引用符 \" で囲むこと。"
			       : "The whole text stands in double quotation marks (\").");
}

static const char *const repeat_keys[] = {"prompt_to_repeat", NULL},
			 *const end_keys[] = {"end_phrase", NULL},
			 *const postscript_keys[] = {"postscript_marker", NULL},
			 *const no_keys[] = {NULL};

const struct check_type check_ends_types[] = {
	{"combination:repeat_prompt", read_repeat, run_repeat, phrase_repeat, repeat_keys},
	{"detectable_content:postscript", read_postscript, run_postscript, phrase_postscript,
	 postscript_keys},
	{"startend:end_checker", read_end, run_end, phrase_end, end_keys},
	{"startend:quotation", arg_none, run_quotation, phrase_quotation, no_keys},
	{0},
};
