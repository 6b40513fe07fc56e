#include "check_family.h"
#include "check_hint.h"
#include "check_parts.h"
#include "core/job.h"

#include "base/text.h"

/* Over what a job of MESSAGE_BYTES_MAX can name; check_run() keeps the beginning. */
enum { DETAIL_BYTES_MAX = 4 * MESSAGE_BYTES_MAX };

enum { WALK_WORK = 7, CLOSE_WORK = 16, KANA_WORK = 4 };

struct terms {
	const struct str *term, *folded; /* as given, and as they are searched for */
	int n_term;
	const struct str *variable; /* names; their values are terms too */
	int n_variable;
	bool fold_kana;
};

static enum status read_terms(struct arena *a, const struct json *spec, const char *key,
			      struct terms *out, struct err *err)
{
	enum status status = arg_strings(a, spec, key, &out->term, &out->n_term, err);
	struct str *folded = arena_array(a, struct str, out->n_term);

	for (int i = 0; status == ST_OK && i < out->n_term; i++) {
		folded[i] = text_fold(a, out->term[i]);
		if (folded[i].n == 0)
			status = err_set(err, ST_INVALID,
					 "key \"%s\", item %d: must have visible characters", key,
					 i + 1);
	}
	out->folded = folded;
	return status;
}

static enum status read_must_include(struct arena *a, const struct json *spec, const void **args,
				     struct err *err)
{
	struct terms *terms = arena_alloc(a, sizeof(*terms));
	enum status status = read_terms(a, spec, "values", terms, err);

	if (status == ST_OK)
		status = arg_strings(a, spec, "variables", &terms->variable, &terms->n_variable,
				     err);
	if (status == ST_OK && terms->n_term + terms->n_variable == 0)
		return err_set(err, ST_INVALID, "needs \"values\", \"variables\" or both");
	*args = terms;
	return status;
}

static enum status read_forbidden(struct arena *a, const struct json *spec, const void **args,
				  struct err *err)
{
	struct terms *terms = arena_alloc(a, sizeof(*terms));
	enum status status = read_terms(a, spec, "terms", terms, err);

	if (status == ST_OK)
		status = arg_bool(spec, "fold_kana", &terms->fold_kana, err);
	if (status == ST_OK && terms->n_term == 0)
		return err_set(err, ST_INVALID, "needs \"terms\", a list of strings");
	*args = terms;
	return status;
}

static bool is_digit(int32_t c)
{
	return c >= '0' && c <= '9';
}

/* Letters and marks of Latin, Greek and Cyrillic as they are after folding, and digits. */
static bool is_word(int32_t c)
{
	static const struct {
		int32_t first, last;
	} block[] = {
		{'a', 'z'},	  {0xDF, 0xF6},	    {0xF8, 0x24F},    {0x250, 0x2AF},
		{0x300, 0x373},	  {0x376, 0x37D},   {0x37F, 0x383},   {0x386, 0x386},
		{0x388, 0x481},	  {0x483, 0x52F},   {0x1AB0, 0x1AFF}, {0x1C80, 0x1C8F},
		{0x1D00, 0x1FFF}, {0x2C60, 0x2C7F}, {0x2DE0, 0x2DFF}, {0xA640, 0xA69F},
		{0xA720, 0xA7FF}, {0xAB30, 0xAB6F},
	};

	for (size_t i = 0; i < sizeof(block) / sizeof(block[0]); i++) {
		if (c >= block[i].first && c <= block[i].last)
			return true;
	}
	return is_digit(c);
}

/* The code point at the front; -1 if there is none. */
static int32_t first_of(struct str s)
{
	size_t at = 0;
	return text_next(s, &at);
}

static int32_t last_of(struct str s)
{
	size_t at = s.n;
	return text_before(s, &at);
}

/* Whether bytes [at, at + n) of @text are no part of a longer run of what @joins. */
static bool stands_alone(struct str text, size_t at, size_t n, bool (*joins)(int32_t))
{
	struct str before = str_sub(text, 0, at), there = str_sub(text, at, n);
	struct str after = str_sub(text, at + n, text.n);

	return !(joins(first_of(there)) && joins(last_of(before))) &&
	       !(joins(last_of(there)) && joins(first_of(after)));
}

/* Whether a term found at bytes [at, at + n) is one. */
typedef bool fits(struct str text, size_t at, size_t n);

static bool is_whole_word(struct str text, size_t at, size_t n)
{
	return stands_alone(text, at, n, is_word);
}

/* A digit more before or behind makes another number: 42 is not met by 00042, nor 30 by 300. */
static bool is_whole_number(struct str text, size_t at, size_t n)
{
	return stands_alone(text, at, n, is_digit);
}

/* What stands behind names in Japanese letters; the longest that they end or begin with. */
static const char *const honorifics[] = {"様",	 "さま", "さん", "ちゃん", "くん", "君",
					 "先生", "御中", "殿",	 "氏",	   NULL};

static bool is_with_honorific(struct str text, size_t at, size_t n)
{
	struct str after = text_trim(str_sub(text, at + n, 3 + sizeof("ちゃん")));

	return begins_with(after, honorifics) && is_whole_number(text, at, n);
}

/* The length of the longest beginning of @s, but not all of it, that ends each of its beginnings: [i] is of i + 1 bytes. */
static const size_t *borders(struct arena *scratch, struct str s)
{
	size_t *border = arena_array(scratch, size_t, s.n);

	for (size_t i = 1, n = 0; i < s.n; border[i++] = n) {
		while (n > 0 && s.p[i] != s.p[n])
			n = border[n - 1];
		n += s.p[i] == s.p[n];
	}
	return border;
}

/* The text as must_include searches it; false: too much work. */
static bool close_text(struct checked *checked, struct check_result *out)
{
	if (checked->closed.p)
		return true;
	if (!check_folded(checked, out) ||
	    !check_afford(checked, CLOSE_WORK * (int64_t)checked->folded.n, out))
		return false;
	checked->closed = text_close_cjk(checked->scratch, checked->folded);
	return true;
}

/* The text as `forbidden` searches it; absent: too much work. */
static struct str text_for(const struct terms *terms, struct checked *checked,
			   struct check_result *out)
{
	if (!check_folded(checked, out))
		return (struct str){0};
	if (!terms->fold_kana)
		return checked->folded;
	if (!checked->katakana.p &&
	    check_afford(checked, KANA_WORK * (int64_t)checked->folded.n, out))
		checked->katakana = text_katakana(checked->scratch, checked->folded);
	return checked->katakana;
}

enum { NOWHERE = -1, UNDECIDED = -2 };

/* Where in @text, one of @checked, @term stands and fits; or NOWHERE. UNDECIDED: too much work. Each byte is passed once (Knuth,
 * Morris, Pratt): a term of one letter, many times, must not take time by the square. */
static int64_t find(struct arena *scratch, struct checked *checked, struct str text,
		    struct str term, fits *fit, struct check_result *out)
{
	if (!check_afford(checked, (int64_t)text.n, out))
		return UNDECIDED;
	int64_t at = str_find(text, term, 0);
	if (at < 0 || fit(text, (size_t)at, term.n))
		return at < 0 ? NOWHERE : at;
	if (!check_afford(checked, WALK_WORK * (int64_t)text.n, out))
		return UNDECIDED;
	const size_t *border = borders(scratch, term);
	for (size_t i = (size_t)at, n = 0; i < text.n; i++) {
		while (n > 0 && text.p[i] != term.p[n])
			n = border[n - 1];
		n += text.p[i] == term.p[n];
		if (n < term.n)
			continue;
		if (fit(text, i + 1 - n, n))
			return (int64_t)(i + 1 - n);
		n = border[n - 1];
	}
	return NOWHERE;
}

static bool has_value(const struct job *job, struct str variable)
{
	return str_trim(job_variable(job, variable)).n > 0;
}

static bool lacks(struct arena *scratch, struct checked *checked, struct str folded,
		  struct check_result *out)
{
	struct str term = text_close_cjk(scratch, folded);

	return find(scratch, checked, checked->closed, term, is_whole_number, out) == NOWHERE;
}

/* A name that ends in an honorific is met by one with another. */
static bool lacks_value(struct arena *scratch, struct checked *checked, struct str value,
			struct check_result *out)
{
	struct str folded;

	if (!check_fold(scratch, checked, value, &folded, out))
		return false;
	folded = text_trim(folded);
	if (!lacks(scratch, checked, folded, out))
		return false;
	struct str name =
		text_trim(str_sub(folded, 0, folded.n - ending_bytes(folded, honorifics)));
	if (name.n == folded.n || name.n == 0)
		return true;
	return find(scratch, checked, checked->closed, text_close_cjk(scratch, name),
		    is_with_honorific, out) == NOWHERE;
}

static void run_must_include(struct arena *scratch, const void *args, const struct job *job,
			     struct checked *checked, struct check_result *out)
{
	const struct terms *terms = args;
	struct buf missing = BUF(DETAIL_BYTES_MAX), unknown = BUF(DETAIL_BYTES_MAX);
	const bool closed = close_text(checked, out);

	for (int i = 0; i < terms->n_term; i++) {
		if (closed && lacks(scratch, checked, terms->folded[i], out))
			put_quoted(&missing, terms->term[i], missing.n ? ", " : "missing: ");
	}
	for (int i = 0; i < terms->n_variable; i++) {
		struct str value = job_variable(job, terms->variable[i]);
		if (!has_value(job, terms->variable[i]))
			put_quoted(&unknown, terms->variable[i],
				   unknown.n ? ", " : "the job gives no value for: ");
		else if (closed && lacks_value(scratch, checked, value, out))
			put_quoted(&missing, value, missing.n ? ", " : "missing: ");
	}
	if (missing.n && unknown.n)
		buf_puts(&missing, "; ");
	buf_str(&missing, buf_view(&unknown));
	buf_release(&unknown);
	set_detail(scratch, &missing, out);
}

static void run_forbidden(struct arena *scratch, const void *args, const struct job *job,
			  struct checked *checked, struct check_result *out)
{
	const struct terms *terms = args;
	struct str text = text_for(terms, checked, out);
	struct buf found = BUF(DETAIL_BYTES_MAX);

	for (int i = 0; text.p && i < terms->n_term; i++) {
		struct str term = terms->folded[i];
		if (terms->fold_kana)
			term = text_katakana(scratch, term);
		int64_t at = find(scratch, checked, text, term, is_whole_word, out);
		if (at < 0)
			continue;
		if (found.n == 0)
			set_span(scratch, checked, (size_t)at, term.n, out);
		put_quoted(&found, terms->term[i], found.n ? ", " : "found: ");
	}
	set_detail(scratch, &found, out);
}

static void phrase_list(const struct terms *terms, const struct job *job, bool japanese,
			struct buf *out)
{
	put_list(out, terms->term, terms->n_term, japanese);
	for (int i = 0; i < terms->n_variable; i++) {
		struct str value = job_variable(job, terms->variable[i]);
		put_item(out, value.p ? value : terms->variable[i], japanese,
			 terms->n_term + i == 0);
	}
	buf_puts(out, japanese ? "。" : ".");
}

static void phrase_must_include(const void *args, const struct job *job, bool japanese,
				struct buf *out)
{
	buf_puts(out, japanese ? "次の語句をすべて含めること: " : "Must contain: ");
	phrase_list(args, job, japanese, out);
}

static void phrase_forbidden(const void *args, const struct job *job, bool japanese,
			     struct buf *out)
{
	buf_puts(out, japanese ? "次の語句を使わないこと: " : "Must not contain: ");
	phrase_list(args, job, japanese, out);
}

static const char *const must_include_keys[] = {"values", "variables", NULL};
static const char *const forbidden_keys[] = {"terms", "fold_kana", NULL};

const struct check_type check_terms_types[] = {
	{"must_include", read_must_include, run_must_include, phrase_must_include,
	 must_include_keys},
	{"forbidden", read_forbidden, run_forbidden, phrase_forbidden, forbidden_keys},
	{0},
};

struct str check_lacks(const struct check *c, const struct job *job)
{
	const struct terms *terms = c->args;
	const bool wants = c->type->run == run_must_include;

	for (int i = 0; wants && i < terms->n_variable; i++)
		if (!has_value(job, terms->variable[i]))
			return terms->variable[i];
	return (struct str){0};
}

void terms_hint(const struct check *c, const struct job *job, struct hint *hint)
{
	const struct terms *terms = c->args;

	if (c->type->run != run_must_include)
		return;
	for (int i = 0; i < terms->n_term; i++)
		hint_add_value(hint, terms->term[i]);
	for (int i = 0; i < terms->n_variable; i++)
		hint_add_value(hint, job_variable(job, terms->variable[i]));
}
