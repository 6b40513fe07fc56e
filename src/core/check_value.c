#include "check_family.h"
#include "check_parts.h"
#include "regex.h"

#include "base/decimal.h"
#include "base/text.h"

#include <ctype.h>

enum { BOUND_BYTES_MAX = 40 };

struct range {
	struct regex regex;
	struct str min_text, max_text; /* absent: no such bound */
	struct decimal min, max;
};

static bool is_digit(struct str s, size_t at)
{
	return at < s.n && s.p[at] >= '0' && s.p[at] <= '9';
}

static size_t digits_end(struct str s, size_t at)
{
	while (is_digit(s, at))
		at++;
	return at;
}

/* Behind the whole part that begins at @at: digits, or 1 to 3 of them and groups of three behind commas. */
static size_t whole_end(struct str s, size_t at)
{
	size_t end = digits_end(s, at);

	if (end - at > 3)
		return end;
	while (end < s.n && s.p[end] == ',' && digits_end(s, end + 1) - end == 4)
		end += 4;
	return end;
}

/* Of the number that begins at @at: a hyphen before it is one unless it joins it to a word. */
static bool is_negative(struct str s, size_t at)
{
	return at > 0 && s.p[at - 1] == '-' && (at == 1 || !isalnum((unsigned char)s.p[at - 2]));
}

/* One byte a code point: ASCII as it is and in full width, the minus sign, a space for all else. */
static struct str ascii_of(struct arena *a, struct str s)
{
	char *ascii = arena_alloc(a, s.n);
	size_t n = 0, at = 0;
	int32_t c;

	while ((c = text_next(s, &at)) >= 0) {
		if (c >= 0xFF01 && c <= 0xFF5E)
			c -= 0xFF01 - '!';
		else if (c == 0x2212)
			c = '-';
		ascii[n++] = c < 0x80 ? (char)c : ' ';
	}
	return (struct str){ascii, n};
}

/* The only number in @text; false: there is none, or more, or digits that are no decimal as core/check.h says. */
static bool read_decimal(struct arena *a, struct str text, struct decimal *out)
{
	struct str s = ascii_of(a, text);
	size_t at = 0;

	while (at < s.n && !is_digit(s, at))
		at++;
	size_t end = whole_end(s, at), fraction_end = end;
	if (end < s.n && s.p[end] == '.')
		fraction_end = digits_end(s, end + 1);
	if (end == at || (at > 0 && (s.p[at - 1] == '.' || s.p[at - 1] == ',')))
		return false;
	for (size_t i = fraction_end; i < s.n; i++) {
		if (is_digit(s, i))
			return false;
	}
	struct buf number = BUF(s.n + 2);
	buf_puts(&number, is_negative(s, at) ? "-" : "");
	for (size_t i = at; i < fraction_end; i++) {
		if (s.p[i] != ',')
			buf_putc(&number, s.p[i]);
	}
	struct str kept = arena_str(a, buf_view(&number));
	buf_release(&number);
	return decimal_read(kept, out);
}

/* A bound is an integer, or a string that is nothing but a decimal; canonical JSON has no other numbers. */
static enum status read_bound(struct arena *a, const struct json *spec, const char *key,
			      struct str *text, struct decimal *out, struct err *err)
{
	const struct json *value = json_get(spec, key);

	if (!value)
		return ST_OK;
	if (json_kind(value) == JSON_INT)
		*text = arena_printf(a, "%lld", (long long)json_int(value));
	else if (json_kind(value) == JSON_STRING)
		*text = arena_str(a, json_str(value));
	if (!text->p || text->n > BOUND_BYTES_MAX || !str_only(*text, "0123456789.-") ||
	    !read_decimal(a, *text, out) || str_find(*text, STR_OF("-"), 1) >= 0 ||
	    !is_digit(*text, text->n - 1))
		return err_set(err, ST_INVALID,
			       "key \"%s\": must be an integer, or a decimal as a string: \"0.5\"",
			       key);
	return ST_OK;
}

static enum status read_range(struct arena *a, const struct json *spec, const void **args,
			      struct err *err)
{
	struct range *range = arena_alloc(a, sizeof(*range));
	enum status status = regex_read(a, spec, &range->regex, err);

	if (status == ST_OK && range->regex.n_group != 1)
		status = err_set(err, ST_INVALID,
				 "key \"pattern\": must have one (group), around the number; "
				 "others are written (?:so)");
	if (status == ST_OK)
		status = read_bound(a, spec, "min", &range->min_text, &range->min, err);
	if (status == ST_OK)
		status = read_bound(a, spec, "max", &range->max_text, &range->max, err);
	if (status != ST_OK)
		return status;
	if (!range->min_text.p && !range->max_text.p)
		return err_set(err, ST_INVALID, "needs \"min\", \"max\" or both");
	if (range->min_text.p && range->max_text.p && decimal_cmp(&range->min, &range->max) > 0)
		return err_set(err, ST_INVALID, "\"min\" must not be over \"max\"");
	*args = range;
	return ST_OK;
}

/* What is wrong with a captured text; absent: nothing is. */
static struct str fault_of(struct arena *scratch, const struct range *range, struct str captured)
{
	struct decimal value;

	if (!read_decimal(scratch, captured, &value))
		return arena_printf(scratch, "\"%.*s\" is no decimal number", STR_ARG(captured));
	if (range->min_text.p && decimal_cmp(&value, &range->min) < 0)
		return arena_printf(scratch, "%.*s, at least %.*s wanted", STR_ARG(captured),
				    STR_ARG(range->min_text));
	if (range->max_text.p && decimal_cmp(&value, &range->max) > 0)
		return arena_printf(scratch, "%.*s, at most %.*s wanted", STR_ARG(captured),
				    STR_ARG(range->max_text));
	return (struct str){0};
}

static void judge(struct arena *scratch, const struct range *range, struct str text,
		  const struct regex_match *match, struct check_result *out)
{
	bool took_part = match->at[1] >= 0;
	struct str captured =
		took_part ? str_sub(text, (size_t)match->at[1], (size_t)match->n[1]) : STR_OF("");

	out->detail = fault_of(scratch, range, captured);
	out->ok = !out->detail.p;
	if (out->ok)
		return;
	if (range->regex.describe.p)
		out->detail = arena_printf(scratch, "%.*s: %.*s", STR_ARG(range->regex.describe),
					   STR_ARG(out->detail));
	out->at = match->at[took_part];
	out->n = match->n[took_part];
}

static void run_number(struct arena *scratch, const void *args, const struct job *job,
		       struct checked *checked, struct check_result *out)
{
	const struct range *range = args;
	enum regex_result result = REGEX_NOT_FOUND;
	struct regex_match match;
	size_t from = 0;
	int n_found = 0;

	while (out->ok && from <= checked->text.n &&
	       (result = regex_check(scratch, &range->regex, checked, from, &match, out)) ==
		       REGEX_FOUND) {
		n_found++;
		judge(scratch, range, checked->text, &match, out);
		from = (size_t)(match.at[0] + match.n[0]);
		if (match.n[0] == 0 && text_next(checked->text, &from) < 0)
			break;
	}
	if (result == REGEX_NOT_FOUND && n_found == 0)
		regex_fail(scratch, &range->regex, "is not found", out);
}

static void phrase_number(const void *args, const struct job *job, bool japanese, struct buf *out)
{
	const struct range *range = args;
	struct str min = range->min_text, max = range->max_text;

	if (range->regex.describe.p)
		buf_printf(out, "%.*s (", STR_ARG(range->regex.describe));
	else if (japanese)
		buf_printf(out, "正規表現 /%.*s/ で取り出す数値の範囲 (",
			   STR_ARG(range->regex.pattern));
	else
		buf_printf(out, "The number that the pattern /%.*s/ captures must be in range (",
			   STR_ARG(range->regex.pattern));
	if (min.p)
		buf_printf(out, japanese ? "%.*s以上" : "at least %.*s", STR_ARG(min));
	if (min.p && max.p)
		buf_puts(out, japanese ? "、" : ", ");
	if (max.p)
		buf_printf(out, japanese ? "%.*s以下" : "at most %.*s", STR_ARG(max));
	buf_puts(out, japanese ? ")。" : ").");
}

static const char *const keys[] = {"pattern", "min", "max", "describe", NULL};

const struct check_type check_value_types[] = {
	{"number", read_range, run_number, phrase_number, keys},
	{0},
};
