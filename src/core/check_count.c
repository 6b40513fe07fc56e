/* IFEval's types that count something and compare: one row of a table each. */
#include "check_family.h"
#include "check_parts.h"
#include "count.h"

enum { WORD_WORK = 2 }; /* for each byte of the word, too */

enum relation { AT_LEAST, LESS_THAN, EXACTLY, AS_ASKED };

struct counted {
	const char *type;
	void (*count)(struct count *);
	int64_t byte_work;
	const char *n_key, *relation_key, *word_key; /* NULL: it has none */
	enum relation relation;			     /* AS_ASKED: relation_key says it */
	const char *one, *many, *how;		     /* how: behind the words, in a prompt */
	const char *japanese;
};

/* clang-format off */
static const struct counted all[] = {
	{"keywords:frequency", count_word, 24, "frequency", "relation", "keyword", AS_ASKED,
	 "time", "times", "", "の出現回数"},
	{"keywords:letter_frequency", count_letter, 24, "let_frequency", "let_relation", "letter", AS_ASKED,
	 "time the letter", "times the letter", "", "の文字の出現回数"},
	{"length_constraints:number_words", count_words, 16, "num_words", "relation", NULL, AS_ASKED,
	 "word", "words", "", "単語の数"},
	{"length_constraints:number_sentences", count_sentences, 64, "num_sentences", "relation", NULL, AS_ASKED,
	 "sentence", "sentences", "", "文の数"},
	{"length_constraints:number_paragraphs", count_paragraphs, 16, "num_paragraphs", NULL, NULL, EXACTLY,
	 "paragraph", "paragraphs", ", parted by *** alone", "段落(***で区切る)の数"},
	{"detectable_content:number_placeholders", count_placeholders, 8, "num_placeholders", NULL, NULL, AT_LEAST,
	 "placeholder", "placeholders", " in square brackets, like [address]", "角括弧のプレースホルダー([address]など)の数"},
	{"detectable_format:number_bullet_lists", count_bullets, 8, "num_bullets", NULL, NULL, EXACTLY,
	 "bullet point", "bullet points", ", lines that begin with \"* \"", "箇条書き(「* 」で始まる行)の数"},
	{"detectable_format:number_highlighted_sections", count_highlights, 32, "num_highlights", NULL, NULL, AT_LEAST,
	 "highlighted passage", "highlighted passages", ", like *this*", "強調した箇所(*このように*)の数"},
	{"detectable_format:multiple_sections", count_sections, 8, "num_sections", NULL, "section_spliter", AT_LEAST,
	 "section with the heading", "sections with the heading", " and its number", "と番号を見出しとする節の数"},
	{"change_case:capital_word_frequency", count_capitals, 128, "capital_frequency", "capital_relation", NULL, AS_ASKED,
	 "word in all capitals", "words in all capitals", "", "すべて大文字の単語の数"},
};
/* clang-format on */

struct args {
	const struct counted *what;
	enum relation relation;
	int64_t n;
	struct str word; /* absent: it has none */
};

static const struct counted *counted_named(struct str type)
{
	const struct counted *what = all;

	while (!str_is(type, what->type))
		what++;
	return what;
}

static enum status read_relation(const struct json *spec, const char *key, enum relation *out,
				 struct err *err)
{
	static const char *const names[] = {"at least", "less than", NULL};
	struct str name;
	int i = json_get_str(spec, key, &name) ? str_among(name, names) : -1;

	if (i < 0)
		return err_set(err, ST_INVALID, "key \"%s\": must be \"at least\" or \"less than\"",
			       key);
	*out = (enum relation)i;
	return ST_OK;
}

static enum status read_word(struct arena *a, const struct counted *what, const struct json *spec,
			     struct str *out, struct err *err)
{
	enum status status = arg_phrase(a, spec, what->word_key, out, err);

	if (status == ST_OK && what->count == count_letter &&
	    (out->n != 1 || (out->p[0] | 0x20) < 'a' || (out->p[0] | 0x20) > 'z'))
		return err_set(err, ST_INVALID, "key \"%s\": must be a letter, a to z",
			       what->word_key);
	return status;
}

static enum status read_counted(struct arena *a, const struct json *spec, const void **out,
				struct err *err)
{
	struct args *args = arena_alloc(a, sizeof(*args));
	struct str type = {NULL, 0};

	(void)json_get_str(spec, "type", &type);
	args->what = counted_named(type);
	args->relation = args->what->relation;
	*out = args;
	enum status status = arg_count(spec, args->what->n_key, 0, &args->n, err);
	if (status == ST_OK && args->relation == AS_ASKED)
		status = read_relation(spec, args->what->relation_key, &args->relation, err);
	if (status == ST_OK && args->what->word_key)
		status = read_word(a, args->what, spec, &args->word, err);
	return status;
}

static void put_word(struct buf *out, const char *before, struct str word, const char *after)
{
	if (word.p)
		buf_printf(out, "%s%.*s%s", before, STR_ARG(word), after);
}

static void put_detail(const struct args *args, const struct count *c, struct buf *out)
{
	static const char *const wanted[] = {"at least", "less than", "exactly"};

	buf_number(out, c->n);
	buf_printf(out, " %s", c->n == 1 ? args->what->one : args->what->many);
	put_word(out, " \"", args->word, "\"");
	buf_printf(out, ", %s ", wanted[args->relation]);
	buf_number(out, args->n);
	buf_puts(out, " wanted");
}

static void run_counted(struct arena *scratch, const void *data, const struct job *job,
			struct checked *checked, struct check_result *out)
{
	const struct args *args = data;
	struct count c = {.scratch = scratch, .text = checked->text, .word = args->word, .at = -1};
	struct buf detail = BUF(CHECK_DETAIL_BYTES_MAX + 100);

	if (!check_begins(checked, args->what->byte_work + WORD_WORK * (int64_t)args->word.n, out))
		return;
	c.max = args->relation == AT_LEAST    ? INT64_MAX
		: args->relation == LESS_THAN ? args->n - 1
					      : args->n;
	args->what->count(&c);
	out->ok = !c.fault && (args->relation == LESS_THAN ? c.n < args->n
			       : args->relation == EXACTLY ? c.n == args->n
							   : c.n >= args->n);
	if (out->ok)
		return;
	if (c.fault)
		buf_puts(&detail, c.fault);
	else
		put_detail(args, &c, &detail);
	out->detail = arena_str(scratch, buf_view(&detail));
	out->at = c.at;
	out->n = c.len;
	buf_release(&detail);
}

static void phrase_counted(const void *data, const struct job *job, bool japanese, struct buf *out)
{
	static const char *const english[] = {"At least ", "Less than ", "Exactly "};
	static const char *const after[] = {"以上", "未満", ""};
	const struct args *args = data;
	const struct counted *what = args->what;

	if (japanese) {
		put_word(out, "「", args->word, "」");
		buf_printf(out, "%sは%s", what->japanese,
			   args->relation == EXACTLY ? "ちょうど" : "");
		buf_number(out, args->n);
		buf_printf(out, "%s。", after[args->relation]);
		return;
	}
	buf_puts(out, english[args->relation]);
	buf_number(out, args->n);
	buf_printf(out, " %s", args->n == 1 ? what->one : what->many);
	put_word(out, " \"", args->word, "\"");
	buf_printf(out, "%s.", what->how);
}

#define COUNTED(type, ...)                                                                         \
	{                                                                                          \
		type, read_counted, run_counted, phrase_counted, (const char *const[])             \
		{                                                                                  \
			__VA_ARGS__, NULL                                                          \
		}                                                                                  \
	}
const struct check_type check_count_types[] = {
	COUNTED("keywords:frequency", "keyword", "frequency", "relation"),
	COUNTED("keywords:letter_frequency", "letter", "let_frequency", "let_relation"),
	COUNTED("length_constraints:number_words", "num_words", "relation"),
	COUNTED("length_constraints:number_sentences", "num_sentences", "relation"),
	COUNTED("length_constraints:number_paragraphs", "num_paragraphs"),
	COUNTED("detectable_content:number_placeholders", "num_placeholders"),
	COUNTED("detectable_format:number_bullet_lists", "num_bullets"),
	COUNTED("detectable_format:number_highlighted_sections", "num_highlights"),
	COUNTED("detectable_format:multiple_sections", "section_spliter", "num_sections"),
	COUNTED("change_case:capital_word_frequency", "capital_frequency", "capital_relation"),
	{0},
};
