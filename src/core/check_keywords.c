/* IFEval's types of words that must, or must not, be in a text. Case does not count; a keyword is found inside of longer words too. */
#include "check_family.h"
#include "check_parts.h"
#include "count.h"

enum { FOLD_WORK = 8, WORD_WORK = 8 };
enum { DETAIL_BYTES_MAX = 1 << 20 };

struct words {
	const struct str *word;
	int n;
};

static enum status read_words(struct arena *a, const struct json *spec, const char *key,
			      const void **args, struct err *err)
{
	struct words *words = arena_alloc(a, sizeof(*words));
	enum status status = arg_strings(a, spec, key, &words->word, &words->n, err);

	if (status == ST_OK && words->n == 0)
		return err_set(err, ST_INVALID, "needs \"%s\", a list of strings", key);
	for (int i = 0; status == ST_OK && i < words->n; i++) {
		if (words->word[i].n == 0)
			return err_set(err, ST_INVALID, "key \"%s\", item %d: must not be empty",
				       key, i + 1);
	}
	*args = words;
	return status;
}

static enum status read_existence(struct arena *a, const struct json *spec, const void **args,
				  struct err *err)
{
	return read_words(a, spec, "keywords", args, err);
}

static enum status read_forbidden_words(struct arena *a, const struct json *spec, const void **args,
					struct err *err)
{
	return read_words(a, spec, "forbidden_words", args, err);
}

static void run_existence(struct arena *scratch, const void *args, const struct job *job,
			  struct checked *checked, struct check_result *out)
{
	const struct words *words = args;
	struct buf missing = BUF(DETAIL_BYTES_MAX);

	if (!check_begins(checked, FOLD_WORK + words->n, out))
		return;
	struct str text = text_ignore_case(scratch, checked->text);
	for (int i = 0; i < words->n; i++) {
		struct str word = text_ignore_case(scratch, words->word[i]);
		if (str_find(text, word, 0) < 0)
			put_quoted(&missing, words->word[i], missing.n ? ", " : "missing: ");
	}
	set_detail(scratch, &missing, out);
}

/* As \b of regular expressions: one side is in a word, the other is not. */
static bool is_boundary(struct str s, size_t at)
{
	size_t before = at, behind = at;

	return text_is_word(text_before(s, &before)) != text_is_word(text_next(s, &behind));
}

/* Where @word stands between boundaries, or -1. */
static int64_t find_word(struct str text, struct str word)
{
	int64_t found = 0;

	while ((found = str_find(text, word, (size_t)found)) >= 0) {
		size_t at = (size_t)found;
		if (is_boundary(text, at) && is_boundary(text, at + word.n))
			break;
		do
			(void)text_next(text, &at);
		while (at < text.n && !is_boundary(text, at));
		found = (int64_t)at;
	}
	return found;
}

static void run_forbidden_words(struct arena *scratch, const void *args, const struct job *job,
				struct checked *checked, struct check_result *out)
{
	const struct words *words = args;
	struct buf found = BUF(DETAIL_BYTES_MAX);

	if (!check_begins(checked, FOLD_WORK + WORD_WORK * words->n, out))
		return;
	struct str text = text_ignore_case(scratch, checked->text);
	for (int i = 0; i < words->n; i++) {
		struct str word = text_ignore_case(scratch, words->word[i]);
		int64_t at = find_word(text, word);
		if (at < 0)
			continue;
		if (found.n == 0)
			count_locate(checked->text, text, (size_t)at, word.n, &out->at, &out->n);
		put_quoted(&found, words->word[i], found.n ? ", " : "found: ");
	}
	set_detail(scratch, &found, out);
}

static void phrase_words(const struct words *words, bool japanese, const char *before,
			 struct buf *out)
{
	buf_puts(out, before);
	put_list(out, words->word, words->n, japanese);
	buf_puts(out, japanese ? "。" : ".");
}

static void phrase_existence(const void *args, const struct job *job, bool japanese,
			     struct buf *out)
{
	phrase_words(args, japanese,
		     japanese ? "次の語をすべて含めること: " : "Must contain the keywords: ", out);
}

static void phrase_forbidden_words(const void *args, const struct job *job, bool japanese,
				   struct buf *out)
{
	phrase_words(args, japanese,
		     japanese ? "次の単語を使わないこと: " : "Must not contain the words: ", out);
}

static const char *const existence_keys[] = {"keywords", NULL};
static const char *const forbidden_words_keys[] = {"forbidden_words", NULL};

const struct check_type check_keywords_types[] = {
	{"keywords:existence", read_existence, run_existence, phrase_existence, existence_keys},
	{"keywords:forbidden_words", read_forbidden_words, run_forbidden_words,
	 phrase_forbidden_words, forbidden_words_keys},
	{0},
};
