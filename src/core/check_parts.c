#include "check_parts.h"
#include "base/text.h"

enum { PIECE_BYTES = 1000 }; /* folded at once on the way to a place */

enum status arg_int(const struct json *spec, const char *key, int64_t min, int64_t max,
		    int64_t *out, struct err *err)
{
	if (json_get(spec, key) && !json_get_int(spec, key, min, max, out))
		return err_set(err, ST_INVALID, "key \"%s\": must be an integer, %lld to %lld", key,
			       (long long)min, (long long)max);
	return ST_OK;
}

enum status arg_bool(const struct json *spec, const char *key, bool *out, struct err *err)
{
	if (json_get(spec, key) && !json_get_bool(spec, key, out))
		return err_set(err, ST_INVALID, "key \"%s\": must be true or false", key);
	return ST_OK;
}

enum status arg_text(struct arena *a, const struct json *spec, const char *key, size_t max_bytes,
		     struct str *out, struct err *err)
{
	struct str text;

	if (!json_get(spec, key))
		return ST_OK;
	if (!json_get_str(spec, key, &text) || text.n == 0 || text.n > max_bytes)
		return err_set(err, ST_INVALID, "key \"%s\": must be a string of 1 to %zu bytes",
			       key, max_bytes);
	*out = arena_str(a, text);
	return ST_OK;
}

enum status arg_strings(struct arena *a, const struct json *spec, const char *key,
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

enum status arg_choice(const struct json *spec, const char *key, const char *const *names, int *out,
		       struct err *err)
{
	struct str name;
	struct buf all = BUF(200);

	if (!json_get(spec, key))
		return ST_OK;
	int place = json_get_str(spec, key, &name) ? str_among(name, names) : -1;
	if (place >= 0) {
		*out = place;
		return ST_OK;
	}
	for (const char *const *n = names; *n; n++)
		buf_printf(&all, "%s%s", n == names ? "" : n[1] ? ", " : " or ", *n);
	enum status status =
		err_set(err, ST_INVALID, "key \"%s\": must be %s", key, buf_view(&all).p);
	buf_release(&all);
	return status;
}

void put_quoted(struct buf *out, struct str item, bool japanese, bool first)
{
	if (!first)
		buf_puts(out, japanese ? "、" : ", ");
	buf_puts(out, japanese ? "「" : "\"");
	buf_str(out, item);
	buf_puts(out, japanese ? "」" : "\"");
}

void put_list(struct buf *out, const struct str *item, int n, bool japanese)
{
	for (int i = 0; i < n; i++)
		put_quoted(out, item[i], japanese, i == 0);
}

void place_move(struct text_place *place, struct str text, size_t at)
{
	while (place->at < at) {
		bool line_end = text.p[place->at] == '\n';
		text_next(text, &place->at);
		place->line += line_end;
		place->character = line_end ? 1 : place->character + 1;
	}
}

void set_detail(struct arena *scratch, struct buf *detail, struct check_result *out)
{
	if (detail->n)
		out->detail = arena_str(scratch, buf_view(detail));
	out->ok = out->ok && detail->n == 0;
	buf_release(detail);
}

bool is_among(int32_t c, const char *set)
{
	struct str s = str_c(set);
	int32_t one;

	for (size_t at = 0; (one = text_next(s, &at)) >= 0;) {
		if (one == c)
			return true;
	}
	return false;
}

size_t item_mark(struct str line)
{
	size_t at = 0, end;
	int32_t c;

	while (at < line.n && (line.p[at] == ' ' || line.p[at] == '\t'))
		at++;
	end = at;
	c = text_next(line, &end);
	if (c >= 0x80 && is_among(c, "・•◦■□◆◇●○▼▲※◎★☆→"))
		return end;
	if (c == '-' || c == '*' || c == '+')
		return end < line.n && line.p[end] == ' ' ? end : 0;
	while (end < line.n && c >= '0' && c <= '9')
		c = text_next(line, &end);
	return end > at + 1 && is_among(c, ".)．）、") ? end : 0;
}

struct str checked_folded(struct checked *checked)
{
	if (!checked->folded.p)
		checked->folded = text_fold(checked->scratch, checked->text);
	return checked->folded;
}

/* The end of some graphemes from @at on: of one, or of as many as begin within PIECE_BYTES. */
static size_t piece_end(struct str text, size_t at, bool one)
{
	size_t end = text_grapheme_end(text, at);

	while (!one && end < text.n && end - at < PIECE_BYTES)
		end = text_grapheme_end(text, end);
	return end;
}

void set_span(struct arena *scratch, struct checked *checked, size_t at, size_t n,
	      struct check_result *out)
{
	struct str text = checked->text, folded = checked_folded(checked);
	size_t begin = 0, from = 0, folded_n = 0;
	bool one = false; /* near the place, each grapheme is a piece */

	while (from < text.n) {
		size_t to = piece_end(text, from, one);
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
