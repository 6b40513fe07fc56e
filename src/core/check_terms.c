#include "check_family.h"
#include "core/job.h"

#include "base/text.h"

/* Over what a job of MESSAGE_BYTES_MAX can name; check_run() keeps the beginning. */
enum { DETAIL_BYTES_MAX = 4 * MESSAGE_BYTES_MAX };

enum { WALK_WORK = 7, FOLD_WORK = 24, SLOW_FOLD_WORK = 100 };
enum { PIECE_BYTES = 1000 }; /* folded at once on the way to a place */
enum {
	WALKED_BYTES = 64 << 10
}; /* on all such ways in one text; further on the place is the whole text */

struct term {
	struct str text, folded;
};

struct terms {
	const struct term *term;
	int n_term;
	const struct str *variable; /* names; their values are terms too */
	int n_variable;
};

/* The strings at @key, none if it is absent. */
static enum status read_strings(struct arena *a, const struct json *spec, const char *key,
				const struct str **out, int *n, struct err *err)
{
	const struct json *array = json_get(spec, key);
	size_t n_item = json_size(array);
	struct str *item = arena_array(a, struct str, n_item);

	*out = item;
	*n = (int)n_item;
	if (!array)
		return ST_OK;
	if (json_kind(array) != JSON_ARRAY || n_item == 0)
		return err_set(err, ST_INVALID, "key \"%s\": must be a list of strings, not empty",
			       key);
	for (size_t i = 0; i < n_item; i++) {
		const struct json *value = json_item(array, i);
		if (json_kind(value) != JSON_STRING)
			return err_set(err, ST_INVALID, "key \"%s\", item %zu: must be a string",
				       key, i + 1);
		item[i] = arena_str(a, json_str(value));
	}
	return ST_OK;
}

static enum status read_terms(struct arena *a, const struct json *spec, const char *key,
			      struct terms *out, struct err *err)
{
	const struct str *text;
	enum status status = read_strings(a, spec, key, &text, &out->n_term, err);

	if (status != ST_OK)
		return status;
	struct term *term = arena_array(a, struct term, out->n_term);
	for (int i = 0; i < out->n_term; i++) {
		term[i] = (struct term){text[i], text_fold(a, text[i])};
		if (term[i].folded.n == 0)
			return err_set(err, ST_INVALID,
				       "key \"%s\", item %d: must have visible characters", key,
				       i + 1);
	}
	out->term = term;
	return ST_OK;
}

static enum status read_must_include(struct arena *a, const struct json *spec, const void **args,
				     struct err *err)
{
	struct terms *terms = arena_alloc(a, sizeof(*terms));
	enum status status = read_terms(a, spec, "values", terms, err);

	if (status == ST_OK)
		status = read_strings(a, spec, "variables", &terms->variable, &terms->n_variable,
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

/* False: too much work. */
static bool fold(struct arena *a, struct checked *checked, struct str text, struct str *folded,
		 struct check_result *out)
{
	if (!check_afford(checked, FOLD_WORK * (int64_t)text.n, out))
		return false;
	const int64_t most = (CHECK_WORK_MAX - checked->work) / SLOW_FOLD_WORK;
	int64_t left = most;
	*folded = text_fold_within(a, text, &left);
	if (check_afford(checked, SLOW_FOLD_WORK * (most - left), out))
		return true;
	checked->work = CHECK_WORK_MAX; /* nobody tries again */
	return false;
}

enum { NOWHERE = -1, UNDECIDED = -2 };

/* Where @term stands alone in the text, both folded; or NOWHERE. UNDECIDED: too much work. Each byte is passed once (Knuth, Morris, Pratt): a term of one letter, many
 * times, must not take time by the square. */
static int64_t find(struct arena *scratch, struct checked *checked, struct str term,
		    bool (*joins)(int32_t), struct check_result *out)
{
	if (!checked->folded.p &&
	    !fold(checked->scratch, checked, checked->text, &checked->folded, out))
		return UNDECIDED;
	if (!check_afford(checked, (int64_t)checked->folded.n, out))
		return UNDECIDED;
	const struct str text = checked->folded;
	int64_t at = str_find(text, term, 0);
	if (at < 0 || stands_alone(text, (size_t)at, term.n, joins))
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
		if (stands_alone(text, i + 1 - n, n, joins))
			return (int64_t)(i + 1 - n);
		n = border[n - 1];
	}
	return NOWHERE;
}

static void put_quoted(struct buf *out, struct str term, const char *before)
{
	buf_puts(out, before);
	buf_putc(out, '"');
	buf_str(out, term);
	buf_putc(out, '"');
}

/* @detail becomes the result's; nothing in it = the check is met, unless it could not be decided. */
static void set_detail(struct arena *a, struct buf *detail, struct check_result *out)
{
	if (detail->n)
		out->detail = arena_str(a, buf_view(detail));
	out->ok = out->ok && detail->n == 0;
	buf_release(detail);
}

static bool has_value(const struct job *job, struct str variable)
{
	return str_trim(job_variable(job, variable)).n > 0;
}

/* A digit more before or behind makes another number: 42 is not met by 00042, nor 30 by 300. */
static void run_must_include(struct arena *scratch, const void *args, const struct job *job,
			     struct checked *checked, struct check_result *out)
{
	const struct terms *terms = args;
	struct buf missing = BUF(DETAIL_BYTES_MAX), unknown = BUF(DETAIL_BYTES_MAX);

	for (int i = 0; i < terms->n_term; i++) {
		if (find(scratch, checked, terms->term[i].folded, is_digit, out) == NOWHERE)
			put_quoted(&missing, terms->term[i].text, missing.n ? ", " : "missing: ");
	}
	for (int i = 0; i < terms->n_variable; i++) {
		struct str value = job_variable(job, terms->variable[i]), folded;
		if (!has_value(job, terms->variable[i]))
			put_quoted(&unknown, terms->variable[i],
				   unknown.n ? ", " : "the job gives no value for: ");
		else if (fold(scratch, checked, value, &folded, out) &&
			 find(scratch, checked, folded, is_digit, out) == NOWHERE)
			put_quoted(&missing, value, missing.n ? ", " : "missing: ");
	}
	if (missing.n && unknown.n)
		buf_puts(&missing, "; ");
	buf_str(&missing, buf_view(&unknown));
	buf_release(&unknown);
	set_detail(scratch, &missing, out);
}

/* The end of some graphemes from @at on: of one, or of as many as begin within PIECE_BYTES. */
static size_t piece_end(struct str text, size_t at, bool one)
{
	size_t end = text_grapheme_end(text, at);

	while (!one && end < text.n && end - at < PIECE_BYTES)
		end = text_grapheme_end(text, end);
	return end;
}

/* The graphemes of the text whose folded forms hold bytes [at, at + n) of the folded text. The result stays "the whole text" should
 * folding piece by piece not give what folding at once gives, or if it is too far. */
static void locate(struct arena *scratch, struct checked *checked, size_t at, size_t n,
		   struct check_result *out)
{
	const struct str text = checked->text, folded = checked->folded;
	size_t begin = 0, from = 0, folded_n = 0;
	bool one = false; /* near the place, each grapheme is a piece */

	while (from < text.n && checked->n_walked < WALKED_BYTES) {
		size_t to = piece_end(text, from, one);
		checked->n_walked += (int64_t)(to - from);
		struct str piece = text_fold(scratch, str_sub(text, from, to - from));
		if (!one && folded_n + piece.n > at) {
			one = true;
			continue;
		}
		if (!str_eq(piece, str_sub(folded, folded_n, piece.n)))
			return;
		if (folded_n <= at)
			begin = from;
		folded_n += piece.n;
		if (folded_n >= at + n) {
			out->at = (int64_t)begin;
			out->n = (int64_t)(to - begin);
			return;
		}
		from = to;
	}
}

static void run_forbidden(struct arena *scratch, const void *args, const struct job *job,
			  struct checked *checked, struct check_result *out)
{
	const struct terms *terms = args;
	struct buf found = BUF(DETAIL_BYTES_MAX);

	for (int i = 0; i < terms->n_term; i++) {
		struct term term = terms->term[i];
		int64_t at = find(scratch, checked, term.folded, is_word, out);
		if (at < 0)
			continue;
		if (found.n == 0)
			locate(scratch, checked, (size_t)at, term.folded.n, out);
		put_quoted(&found, term.text, found.n ? ", " : "found: ");
	}
	set_detail(scratch, &found, out);
}

static void put_item(struct buf *out, struct str item, bool japanese, bool first)
{
	if (!first)
		buf_puts(out, japanese ? "、" : ", ");
	buf_puts(out, japanese ? "「" : "\"");
	buf_str(out, item);
	buf_puts(out, japanese ? "」" : "\"");
}

static void phrase_list(const struct terms *terms, const struct job *job, bool japanese,
			struct buf *out)
{
	for (int i = 0; i < terms->n_term; i++)
		put_item(out, terms->term[i].text, japanese, i == 0);
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
static const char *const forbidden_keys[] = {"terms", NULL};

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
