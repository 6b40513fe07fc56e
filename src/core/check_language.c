#include "check_family.h"
#include "check_parts.h"
#include "core/language.h"

#include "base/text.h"

enum { CASE_WORK = 16, LIST_BYTES_MAX = 400 };

static void guess(struct arena *scratch, struct checked *checked, const char *wanted,
		  struct check_result *out)
{
	if (!check_afford(checked, language_work(checked->text), out))
		return;
	const char *code = language_of(scratch, checked->text);
	out->ok = !code || strcmp(code, wanted) == 0;
	if (!out->ok)
		out->detail = arena_printf(
			scratch, "the language looks like \"%s\", \"%s\" is wanted", code, wanted);
}

static enum status read_language(struct arena *a, const struct json *spec, const void **args,
				 struct err *err)
{
	struct str wanted = {0};
	struct buf all = BUF(LIST_BYTES_MAX);
	const char *code;

	(void)json_get_str(spec, "language", &wanted);
	for (size_t i = 0; (code = language_at(i)) && !str_is(wanted, code); i++) {
		buf_puts(&all, i ? ", " : "");
		buf_puts(&all, code);
	}
	*args = code;
	enum status status =
		code ? ST_OK
		     : err_set(err, ST_INVALID, "key \"language\": must be one of %s", all.p);
	buf_release(&all);
	return status;
}

static void run_language(struct arena *scratch, const void *args, const struct job *job,
			 struct checked *checked, struct check_result *out)
{
	if (check_begins(checked, 0, out))
		guess(scratch, checked, args, out);
}

static void phrase_language(const void *args, const struct job *job, bool japanese, struct buf *out)
{
	buf_printf(out,
		   japanese ? "全文を言語「%s」(ISO 639-1)で書くこと。"
			    : "The whole text is in the language \"%s\" (ISO 639-1).",
		   (const char *)args);
}

struct letters {
	const char *name, *japanese;
	bool (*good)(int32_t), (*bad)(int32_t);
};

static enum status read_capital(struct arena *a, const struct json *spec, const void **args,
				struct err *err)
{
	static const struct letters capital = {"capital", "大文字", text_is_upper, text_is_lower};

	*args = &capital;
	return ST_OK;
}

static enum status read_lowercase(struct arena *a, const struct json *spec, const void **args,
				  struct err *err)
{
	static const struct letters small = {"lower-case", "小文字", text_is_lower, text_is_upper};

	*args = &small;
	return ST_OK;
}

/* Letters without a case are free. */
static void run_letters(struct arena *scratch, const void *args, const struct job *job,
			struct checked *checked, struct check_result *out)
{
	const struct letters *letters = args;
	bool any = false;
	int32_t c;

	if (!check_begins(checked, CASE_WORK, out))
		return;
	for (size_t at = 0, end = 0; (c = text_next(checked->text, &end)) >= 0; at = end) {
		any = any || letters->good(c);
		if (!letters->bad(c))
			continue;
		out->at = (int64_t)at;
		out->n = (int64_t)(end - at);
		any = false;
		break;
	}
	out->ok = any;
	if (any)
		guess(scratch, checked, "en", out);
	else
		out->detail = arena_printf(scratch, "not all in %s letters", letters->name);
}

static void phrase_letters(const void *args, const struct job *job, bool japanese, struct buf *out)
{
	const struct letters *letters = args;

	buf_printf(out,
		   japanese ? "全文を英語の%sだけで書くこと。"
			    : "The whole text is in English and in %s letters alone.",
		   japanese ? letters->japanese : letters->name);
}

static const char *const language_keys[] = {"language", NULL}, *const no_keys[] = {NULL};

const struct check_type check_language_types[] = {
	{"language:response_language", read_language, run_language, phrase_language, language_keys},
	{"change_case:english_capital", read_capital, run_letters, phrase_letters, no_keys},
	{"change_case:english_lowercase", read_lowercase, run_letters, phrase_letters, no_keys},
	{0},
};
