#include "check_family.h"
#include "check_hint.h"
#include "check_parts.h"

#include "base/text.h"

enum { BYTE_WORK = 24 };

struct length {
	int64_t min, max; /* both included; max INT64_MAX = none is set */
};

struct unit {
	const char *one, *many, *japanese;
	int64_t (*count)(struct str);
};

static const struct unit graphemes = {"character", "characters", "文字", text_graphemes};
static const struct unit words = {"word", "words", "語", text_words};

static enum status read_length(struct arena *a, const struct json *spec, const void **args,
			       struct err *err)
{
	struct length *length = arena_alloc(a, sizeof(*length));

	length->max = INT64_MAX;
	if (!json_get(spec, "min") && !json_get(spec, "max"))
		return err_set(err, ST_INVALID, "needs \"min\", \"max\" or both");
	enum status status = arg_int(spec, "min", 0, COUNT_MAX, &length->min, err);
	if (status == ST_OK)
		status = arg_int(spec, "max", 0, COUNT_MAX, &length->max, err);
	if (status != ST_OK)
		return status;
	if (length->min > length->max)
		return err_set(err, ST_INVALID, "\"min\" must not be over \"max\"");
	*args = length;
	return ST_OK;
}

static void run_length(struct arena *a, const void *args, struct checked *checked,
		       const struct unit *unit, struct check_result *out)
{
	const struct length *length = args;
	struct buf detail = BUF(100);

	if (!check_afford(checked, BYTE_WORK * (int64_t)checked->text.n, out))
		return;
	int64_t n = unit->count(text_trim(checked->text));
	out->ok = n >= length->min && n <= length->max;
	if (out->ok)
		return;
	buf_number(&detail, n);
	buf_printf(&detail, " %s, %s ", n == 1 ? unit->one : unit->many,
		   n < length->min ? "at least" : "at most");
	buf_number(&detail, n < length->min ? length->min : length->max);
	buf_puts(&detail, " wanted");
	out->detail = arena_str(a, buf_view(&detail));
	buf_release(&detail);
}

static void phrase_english(const struct length *length, const struct unit *unit, struct buf *out)
{
	bool exact = length->min == length->max, open = length->max == INT64_MAX;
	int64_t last = open ? length->min : length->max;

	buf_puts(out, "Length: ");
	if (exact)
		buf_puts(out, "exactly ");
	else if (open)
		buf_puts(out, "at least ");
	else if (length->min == 0)
		buf_puts(out, "at most ");
	if (!exact && !open && length->min > 0) {
		buf_number(out, length->min);
		buf_puts(out, " to ");
	}
	buf_number(out, last);
	buf_printf(out, " %s.", last == 1 ? unit->one : unit->many);
}

static void phrase_japanese(const struct length *length, const struct unit *unit, struct buf *out)
{
	bool exact = length->min == length->max, open = length->max == INT64_MAX;

	buf_puts(out, exact ? "長さはちょうど" : "長さは");
	if (!exact && !open && length->min > 0) {
		buf_number(out, length->min);
		buf_puts(out, "〜");
	}
	buf_number(out, open ? length->min : length->max);
	buf_puts(out, unit->japanese);
	if (!exact && open)
		buf_puts(out, "以上");
	else if (!exact && length->min == 0)
		buf_puts(out, "以下");
	buf_puts(out, "。");
}

static void run_graphemes(struct arena *a, const void *args, const struct job *job,
			  struct checked *checked, struct check_result *out)
{
	run_length(a, args, checked, &graphemes, out);
}

static void run_words(struct arena *a, const void *args, const struct job *job,
		      struct checked *checked, struct check_result *out)
{
	run_length(a, args, checked, &words, out);
}

static void phrase_graphemes(const void *args, const struct job *job, bool japanese,
			     struct buf *out)
{
	(japanese ? phrase_japanese : phrase_english)(args, &graphemes, out);
}

static void phrase_words(const void *args, const struct job *job, bool japanese, struct buf *out)
{
	(japanese ? phrase_japanese : phrase_english)(args, &words, out);
}

static const char *const keys[] = {"min", "max", NULL};

const struct check_type check_length_types[] = {
	{"graphemes", read_length, run_graphemes, phrase_graphemes, keys},
	{"words", read_length, run_words, phrase_words, keys},
	{0},
};

void length_hint(const struct check *c, struct hint *hint)
{
	const struct length *length = c->args;

	if (c->type->run != run_graphemes)
		return;
	hint->min = length->min > hint->min ? length->min : hint->min;
	hint->max = length->max < hint->max ? length->max : hint->max;
}
