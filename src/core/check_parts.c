#include "check_parts.h"

#include "base/text.h"

enum { FOLD_WORK = 24, SLOW_FOLD_WORK = 100 };
enum { SHOWN_BYTES = 60 };
enum {
	WALKED_BYTES = 64 << 10
}; /* on all such ways in one text; further on the place is the whole text */

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

enum status arg_count(const struct json *spec, const char *key, int64_t min, int64_t *out,
		      struct err *err)
{
	if (!json_get(spec, key))
		return err_set(err, ST_INVALID, "key \"%s\": must be an integer, %d to %d", key,
			       (int)min, COUNT_MAX);
	return arg_int(spec, key, min, COUNT_MAX, out, err);
}

enum status arg_phrase(struct arena *a, const struct json *spec, const char *key, struct str *out,
		       struct err *err)
{
	struct str value;

	if (!json_get_str(spec, key, &value) || text_trim(value).n == 0)
		return err_set(err, ST_INVALID, "key \"%s\": must be a string, not empty", key);
	*out = arena_str(a, text_trim(value));
	return ST_OK;
}

enum status arg_none(struct arena *a, const struct json *spec, const void **args, struct err *err)
{
	return ST_OK;
}

void check_fail(struct check_result *out, const char *detail)
{
	out->ok = false;
	out->detail = str_c(detail);
}

bool check_begins(struct checked *checked, int64_t byte_work, struct check_result *out)
{
	if (!check_afford(checked, byte_work * (int64_t)checked->text.n, out))
		return false;
	if (text_trim(checked->text).n == 0)
		check_fail(out, "the text is empty");
	return out->ok;
}

bool check_fold(struct arena *a, struct checked *checked, struct str text, struct str *folded,
		struct check_result *out)
{
	if (!check_afford(checked, FOLD_WORK * (int64_t)text.n, out))
		return false;
	const int64_t most = check_work_left(checked) / SLOW_FOLD_WORK;
	int64_t left = most;
	*folded = text_fold_within(a, text, &left);
	if (check_afford(checked, SLOW_FOLD_WORK * (most - left), out))
		return true;
	checked->work += check_work_left(checked); /* nobody tries again */
	return false;
}

bool check_folded(struct checked *checked, struct check_result *out)
{
	return checked->folded.p ||
	       check_fold(checked->scratch, checked, checked->text, &checked->folded, out);
}

void put_quoted(struct buf *out, struct str term, const char *before)
{
	buf_puts(out, before);
	buf_putc(out, '"');
	buf_str(out, term);
	buf_putc(out, '"');
}

void put_item(struct buf *out, struct str item, bool japanese, bool first)
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
		put_item(out, item[i], japanese, i == 0);
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

void put_place(struct buf *out, const struct text_place *place, struct str there)
{
	struct str shown = str_cut(there, SHOWN_BYTES);

	buf_printf(out, "line %lld \"%.*s%s\"", (long long)place->line, STR_ARG(shown),
		   shown.n < there.n ? "..." : "");
}

bool is_among(int32_t c, const char *set)
{
	struct str s;
	int32_t one;

	if (c < 0x80) /* the most */
		return c > 0 && strchr(set, c);
	s = str_c(set);
	for (size_t at = 0; (one = text_next(s, &at)) >= 0;) {
		if (one == c)
			return true;
	}
	return false;
}

size_t ending_bytes(struct str s, const char *const *ends)
{
	for (; *ends; ends++) {
		size_t n = strlen(*ends);
		if (s.n >= n && memcmp(s.p + s.n - n, *ends, n) == 0)
			return n;
	}
	return 0;
}

bool begins_with(struct str s, const char *const *begins)
{
	for (; *begins; begins++) {
		if (str_starts(s, *begins))
			return true;
	}
	return false;
}

int sign_at(struct str s, size_t at)
{
	return at < s.n ? (unsigned char)s.p[at] : ' ';
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

void set_span(struct arena *scratch, struct checked *checked, size_t at, size_t n,
	      struct check_result *out)
{
	const int64_t left = WALKED_BYTES - checked->n_walked;
	struct stretch place = {at, n};

	if (left <= 0 ||
	    !text_unfold(checked->text, checked->folded, text_fold, (size_t)left, &place, 1)) {
		checked->n_walked = WALKED_BYTES;
		return;
	}
	checked->n_walked += (int64_t)(place.at + place.n);
	out->at = (int64_t)place.at;
	out->n = (int64_t)place.n;
	out->local = true;
}

void set_detail(struct arena *scratch, struct buf *detail, struct check_result *out)
{
	if (detail->n)
		out->detail = arena_str(scratch, buf_view(detail));
	out->ok = out->ok && detail->n == 0;
	buf_release(detail);
}
