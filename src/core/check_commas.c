#include "check_family.h"
#include "check_parts.h"

#include "base/text.h"

#include <ctype.h>

enum { BYTE_WORK = 16, COMMAS_MAX = 1000, NAMED_MAX = 5 };

struct commas {
	int64_t max; /* in one sentence */
};

/* The sentence that is being read. */
struct sentence {
	int64_t begin; /* byte; -1: none yet */
	int64_t n_comma;
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

/* Where a sentence ends whose last character is @c, of bytes up to @end, @before being the one before it; 0: it does not end there. */
static size_t sentence_end(struct str text, size_t end, int32_t before, int32_t c)
{
	if (c == '\n')
		return before >= 0x2E80 || begins_anew(text, end) ? end : 0;
	if (c >= 0x80)
		return is_among(c, "。｡．！？") ? end : 0;
	if (c != '.' && c != '!' && c != '?')
		return 0;
	size_t at = end, next = end;
	while (is_among(c = text_next(text, &next), "\"')]”’」』）"))
		at = next;
	return c < 0 || isspace(c) ? at : 0;
}

static void put_fault(struct buf *out, struct str text, const struct sentence *s, size_t end,
		      const struct text_place *place)
{
	struct str sentence = text_trim(str_sub(text, (size_t)s->begin, end - (size_t)s->begin));

	buf_printf(out, "%s%lld in ", out->n ? ", " : "", (long long)s->n_comma);
	put_place(out, place, sentence);
}

static void run_commas(struct arena *scratch, const void *args, const struct job *job,
		       struct checked *checked, struct check_result *out)
{
	const struct commas *commas = args;
	struct str text = checked->text;
	struct buf faults = BUF(4 * CHECK_DETAIL_BYTES_MAX);
	struct text_place place = PLACE_BEGIN;
	struct sentence s = {-1, 0};
	int32_t c = 0, before = '\n';
	int n_fault = 0;

	if (!check_afford(checked, BYTE_WORK * (int64_t)text.n, out))
		return;
	for (size_t from = 0, at = 0; from < text.n; from = at, before = c) {
		c = text_next(text, &at);
		if (s.begin < 0 && c > ' ' && c != 0x3000)
			s.begin = (int64_t)from;
		s.n_comma += is_comma(text, from, at, c);
		size_t end = at < text.n ? sentence_end(text, at, before, c) : at;
		if (end == 0)
			continue;
		if (s.n_comma > commas->max && n_fault++ < NAMED_MAX) {
			place_move(&place, text, (size_t)s.begin);
			put_fault(&faults, text, &s, end, &place);
			if (n_fault == 1) {
				out->at = s.begin;
				out->n = (int64_t)end - s.begin;
			}
		}
		at = end;
		s = (struct sentence){-1, 0};
	}
	if (n_fault > 0) {
		out->ok = false;
		out->detail = arena_printf(
			scratch, "commas in one sentence, at most %lld wanted: %s%s",
			(long long)commas->max, faults.p, n_fault > NAMED_MAX ? ", and more" : "");
	}
	buf_release(&faults);
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
