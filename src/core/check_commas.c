#include "check_family.h"
#include "check_parts.h"
#include "core/sentence.h"

#include "base/text.h"

#include <ctype.h>

enum { BYTE_WORK = 48, COMMAS_MAX = 1000, NAMED_MAX = 5 };

struct commas {
	int64_t max; /* in one sentence */
};

/* What is read so far, and what is wrong with it. */
struct reading {
	const struct commas *commas;
	struct str text;
	struct text_place place;
	struct buf faults;
	int n_fault;
	struct check_result *out;
};

static bool is_comma(struct str text, size_t at, size_t end, int32_t c)
{
	if (c == ',') /* not that of 1,000 */
		return !(at > 0 && end < text.n && isdigit((unsigned char)text.p[at - 1]) &&
			 isdigit((unsigned char)text.p[end]));
	return c >= 0x80 && is_among(c, "、，､");
}

/* Whether the line that begins at byte @from cannot go on with the sentence of the line before. */
static bool begins_anew(struct str text, size_t from)
{
	int64_t end = str_find(text, STR_OF("\n"), from);
	struct str line = str_sub(text, from, end < 0 ? text.n : (size_t)end - from);
	struct str s = str_trim(line);

	return s.n == 0 || item_mark(line) > 0 || str_starts(s, "#") || str_starts(s, ">") ||
	       str_starts(s, "|");
}

/* Whether a sentence ends at byte @end whatever its words are: its last character is @c, and @before the one before it. */
static bool ends_anyway(struct str text, size_t end, int32_t before, int32_t c)
{
	if (c == '\n')
		return before >= 0x2E80 || begins_anew(text, end);
	return c >= 0x80 && is_among(c, "。｡．！？");
}

static void count_in(struct reading *r, struct str sentence)
{
	const size_t from = (size_t)(sentence.p - r->text.p);
	int64_t n = 0;
	int32_t c;

	for (size_t at = from, end = from; end < from + sentence.n; at = end) {
		c = text_next(r->text, &end);
		n += is_comma(r->text, at, end, c);
	}
	if (n <= r->commas->max || r->n_fault++ >= NAMED_MAX)
		return;
	place_move(&r->place, r->text, from);
	buf_printf(&r->faults, "%s%lld in ", r->faults.n ? ", " : "", (long long)n);
	put_place(&r->faults, &r->place, sentence);
	if (r->n_fault == 1) {
		r->out->at = (int64_t)from;
		r->out->local = true;
		r->out->n = (int64_t)sentence.n;
	}
}

static void read_text(struct reading *r)
{
	int32_t c = 0, before = '\n';
	size_t begin = 0;

	for (size_t at = 0; at < r->text.n; before = c) {
		c = text_next(r->text, &at);
		if (at < r->text.n && !ends_anyway(r->text, at, before, c))
			continue;
		struct sentences all = sentences_of(str_sub(r->text, begin, at - begin));
		struct str sentence;
		while (sentence_next(&all, &sentence))
			count_in(r, text_trim(sentence));
		begin = at;
	}
}

static void run_commas(struct arena *scratch, const void *args, const struct job *job,
		       struct checked *checked, struct check_result *out)
{
	struct reading r = {.commas = args,
			    .text = checked->text,
			    .place = PLACE_BEGIN,
			    .faults = BUF(4 * CHECK_DETAIL_BYTES_MAX),
			    .out = out};

	if (!check_afford(checked, BYTE_WORK * (int64_t)r.text.n, out))
		return;
	read_text(&r);
	if (r.n_fault > 0) {
		out->ok = false;
		out->detail =
			arena_printf(scratch, "commas in one sentence, at most %lld wanted: %s%s",
				     (long long)r.commas->max, r.faults.p,
				     r.n_fault > NAMED_MAX ? ", and more" : "");
	}
	buf_release(&r.faults);
}

static enum status read_commas(struct arena *a, const struct json *spec, const void **args,
			       struct err *err)
{
	struct commas *commas = arena_alloc(a, sizeof(*commas));

	*args = commas;
	if (!json_get(spec, "max"))
		return err_set(err, ST_INVALID, "needs \"max\", the most commas in one sentence");
	return arg_int(spec, "max", 0, COMMAS_MAX, &commas->max, err);
}

static void phrase_commas(const void *args, const struct job *job, bool japanese, struct buf *out)
{
	const struct commas *commas = args;

	if (japanese)
		buf_printf(out, "一文の読点(、)は%lld個まで。", (long long)commas->max);
	else
		buf_printf(out, "At most %lld comma%s in one sentence.", (long long)commas->max,
			   commas->max == 1 ? "" : "s");
}

static const char *const keys[] = {"max", NULL};

const struct check_type check_commas_types[] = {
	{"commas", read_commas, run_commas, phrase_commas, keys},
	{0},
};
