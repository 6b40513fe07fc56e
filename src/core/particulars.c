#include "core/particulars.h"

#include "base/text.h"

#include <stdlib.h>

enum { PARTICULARS_MAX = 10000, FOLDED_BYTES_MAX = 400 };
enum {
	SEARCH_WORK_MAX = 16000000,
	FOLD_WORK = 8
}; /* bytes passed; one that is folded is so many */

struct item {
	enum particular kind;
	struct str text; /* as it stands; its folded form once all are found */
};

/* A text being read. */
struct reading {
	struct str text;
	bool all_capitals; /* capitalised words are names at the beginning of a sentence, too */
	struct item *item;
	int n;
	bool full;
	bool has_address; /* somewhere, it seems */
	size_t run_end, address_at,
		address_end; /* of the latest run of bytes that addresses are made of */
};

static void add(struct reading *r, enum particular kind, size_t at, size_t n)
{
	if (r->n == PARTICULARS_MAX)
		r->full = true;
	else
		r->item[r->n++] = (struct item){kind, str_sub(r->text, at, n)};
}

static int32_t char_at(struct str s, size_t at)
{
	return text_next(s, &at);
}

static int32_t char_before(struct str s, size_t at)
{
	return text_before(s, &at);
}

static bool is_one_of(int32_t c, const char *set)
{
	const struct str all = str_c(set);

	if (c < 0x80)
		return c > 0 && memchr(all.p, c, all.n);
	for (size_t at = 0; at < all.n;)
		if (text_next(all, &at) == c)
			return true;
	return false;
}

/* ---- words of Latin letters and digits ---- */

static bool is_digit(int32_t c)
{
	return (c >= '0' && c <= '9') || (c >= 0xFF10 && c <= 0xFF19);
}

static bool is_capital(int32_t c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7) ||
	       (c >= 0xFF21 && c <= 0xFF3A);
}

static bool is_letter(int32_t c)
{
	return is_capital(c) || (c >= 'a' && c <= 'z') || (c >= 0xDF && c <= 0x24F && c != 0xF7) ||
	       (c >= 0xFF41 && c <= 0xFF5A);
}

static bool joins(int32_t before, int32_t c, struct str s, size_t behind)
{
	switch (c) {
	case '.':
	case ',':
	case ':':
	case '/':
	case 0xFF0E: /* the same, full width */
	case 0xFF0C:
	case 0xFF1A:
	case 0xFF0F:
		return is_digit(before) && is_digit(char_at(s, behind));
	case '-':
	case '_':
	case '\'':
	case 0x2019: /* ’ */
	case 0x2010: /* hyphens */
	case 0x2011:
		c = char_at(s, behind);
		return is_digit(c) || is_letter(c);
	default:
		return false;
	}
}

/* The end of the word that begins at @at; @at: none does. */
static size_t word_end(struct str s, size_t at, bool *has_digit)
{
	int32_t before = 0, c;

	for (size_t next = at; (c = text_next(s, &next)) >= 0; at = next, before = c) {
		if (!is_digit(c) && !is_letter(c) && (before == 0 || !joins(before, c, s, next)))
			break;
		*has_digit = *has_digit || is_digit(c);
	}
	return at;
}

static void add_number(struct reading *r, size_t from, size_t to)
{
	const struct str s = r->text;
	size_t before = from, end = to;

	if (is_one_of(text_before(s, &before), "$€£¥￥-+−±#") && !is_letter(char_before(s, before)))
		from = before;
	while (is_one_of(text_next(s, &end), "%％‰百千万億兆"))
		to = end;
	add(r, PARTICULAR_number, from, to - from);
}

/* "I" alone, "I'll" */
static bool is_pronoun(struct str s, size_t from, size_t to)
{
	return s.p[from] == 'I' && (to - from == 1 || is_one_of(char_at(s, from + 1), "'’"));
}

/* ---- addresses ---- */

static bool is_of_address(char c)
{
	return c > ' ' && c < 0x7F && !strchr("<>\"`|\\^{}", c);
}

/* Where in @run, bytes of addresses, one begins; its end if none does. */
static size_t address_begin(struct str run)
{
	static const char mail_box[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.%+-_";
	const int64_t web = str_find(run, STR_OF("://"), 0), mail = str_find(run, STR_OF("@"), 0);
	const int64_t www = str_find(run, STR_OF("www."), 0);
	size_t at = web >= 0 ? (size_t)web : mail >= 0 ? (size_t)mail : 0;
	const size_t end = at;

	while (at > 0 && strchr(mail_box, run.p[at - 1]))
		at--;
	if (at < end)
		return at;
	return www >= 0 ? (size_t)www : run.n;
}

/* The next run of bytes of addresses from @at on, and the first address in it. */
static void find_address(struct reading *r, size_t at)
{
	const struct str s = r->text;
	size_t end = at;

	while (end < s.n && is_of_address(s.p[end]))
		end++;
	r->run_end = end;
	r->address_at = at + address_begin(str_sub(s, at, end - at));
	while (end > r->address_at && strchr(".,:;!?'*_)]", s.p[end - 1]))
		end--;
	r->address_end = end;
}

/* ---- Japanese ---- */

static bool is_han_or_katakana(int32_t c)
{
	return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || c == 0x3005 ||
	       (c >= 0x30A1 && c <= 0x30FE);
}

/* 佐藤 of 佐藤様, of a run of Han and katakana [from, to). */
static void add_name_with_title(struct reading *r, size_t from, size_t to)
{
	const struct str s = r->text, behind = str_sub(s, to, s.n);
	size_t end = from;

	for (size_t at = from; at < to; end = at) {
		struct str rest = str_sub(s, at, to - at);
		int32_t c = text_next(s, &at);
		if (end > from && (is_one_of(c, "様氏殿") || str_starts(rest, "御中")))
			break;
	}
	if (end == to && !str_starts(behind, "さん") && !str_starts(behind, "さま"))
		return;
	if (end - from > strlen("客") || !is_one_of(char_at(s, from), "同仕模多一異有客皆子神王奥"))
		add(r, PARTICULAR_name, from, end - from);
}

static const char numerals[] = "〇一二三四五六七八九十百千万億兆";

static size_t read_japanese(struct reading *r, size_t at)
{
	const struct str s = r->text;
	size_t end = at, numeral = at;
	bool counts = true;

	for (size_t next = at; is_han_or_katakana(text_next(s, &next)); end = next) {
		counts = counts && is_one_of(char_at(s, end), numerals);
		numeral = counts ? next : numeral;
	}
	if (numeral > at && is_one_of(char_at(s, numeral), "円年月日時分秒人名件個回本台割"))
		add(r, PARTICULAR_number, at, numeral - at);
	add_name_with_title(r, at, end);
	return end;
}

/* ---- all but quotations ---- */

/* Whether the next word begins a sentence, after @c at @at; @starts: whether it did before @c. */
static bool starts_after(struct str s, size_t at, int32_t c, bool starts, size_t last_word)
{
	switch (c) {
	case '.': /* not after "Ms", "Dr", "J" */
		return !(is_capital(char_at(s, last_word)) && at - last_word <= 3);
	case '\n':
	case '!':
	case '?':
	case ':':
	case 0x3002: /* the same, full width */
	case 0xFF01:
	case 0xFF1F:
	case 0xFF1A:
		return true;
	case 0xAB:   /* « */
	case 0x2013: /* dashes */
	case 0x2014:
	case 0x2018: /* ‘ */
	case 0x201C: /* “ */
	case 0x2022: /* bullets */
	case 0x30FB:
	case 0x3000: /* the wide blank */
	case 0x300C: /* 「『【（ */
	case 0x300E:
	case 0x3010:
	case 0xFF08:
		return starts;
	default:
		return starts && c < 0x80;
	}
}

static void read_word(struct reading *r, size_t from, size_t to, bool has_digit, bool starts)
{
	if (has_digit)
		add_number(r, from, to);
	else if (is_capital(char_at(r->text, from)) && (!starts || r->all_capitals) &&
		 !is_pronoun(r->text, from, to))
		add(r, PARTICULAR_name, from, to - from);
}

static void read_words(struct reading *r)
{
	const struct str s = r->text;
	size_t last_word = 0;
	bool starts = true;

	for (size_t at = 0; at < s.n && !r->full;) {
		bool has_digit = false;
		size_t end = word_end(s, at, &has_digit), next = at;
		if (r->has_address && at >= r->run_end && is_of_address(s.p[at]))
			find_address(r, at);
		if (at < r->address_end && end > r->address_at && at <= r->address_at) {
			add(r, PARTICULAR_address, r->address_at, r->address_end - r->address_at);
			next = r->address_end;
			starts = false;
		} else if (end > at) {
			read_word(r, at, end, has_digit, starts);
			last_word = at;
			next = end;
			starts = false;
		} else if (is_han_or_katakana(char_at(s, at))) {
			next = read_japanese(r, at);
			starts = false;
		} else {
			int32_t c = text_next(s, &next);
			starts = starts_after(s, at, c, starts, last_word);
		}
		at = next;
	}
}

/* ---- quotations ---- */

static void read_quotations(struct reading *r)
{
	static const struct {
		int32_t open, close;
	} pair[] = {{'"', '"'}, {0x201C, 0x201D}, {0xAB, 0xBB}, {0x300C, 0x300D}, {0x300E, 0x300F}};
	enum { N_PAIRS = sizeof(pair) / sizeof(pair[0]) };
	size_t inside[N_PAIRS] = {0}; /* where an open one begins; 0: none is open */
	int32_t c, before = 0;

	for (size_t at = 0, from = 0; (c = text_next(r->text, &at)) >= 0; from = at, before = c) {
		if (c == '\n' && before == '\n')
			memset(inside, 0, sizeof(inside));
		if (c != '"' && (c < 0xAB || c > 0x300F))
			continue;
		for (int i = 0; i < N_PAIRS; i++) {
			if (c == pair[i].close && inside[i]) {
				if (from > inside[i])
					add(r, PARTICULAR_quotation, inside[i], from - inside[i]);
				inside[i] = 0;
			} else if (c == pair[i].open) {
				inside[i] = at;
			}
		}
	}
}

/* ---- comparing ---- */

static int by_kind_and_text(const void *x, const void *y)
{
	const struct item *a = x, *b = y;
	return a->kind != b->kind ? (int)a->kind - (int)b->kind : str_cmp(a->text, b->text);
}

static void read_text(struct arena *scratch, struct str text, bool all_capitals, struct reading *r)
{
	*r = (struct reading){.text = text,
			      .all_capitals = all_capitals,
			      .has_address = address_begin(text) < text.n,
			      .item = arena_array(scratch, struct item, PARTICULARS_MAX)};
	read_words(r);
	read_quotations(r);
}

/* Takes out what overlaps a place. */
static void free_places(struct reading *r, const struct span *place, int n)
{
	int n_left = 0;

	for (int i = 0; i < r->n; i++) {
		const int64_t at = r->item[i].text.p - r->text.p,
			      end = at + (int64_t)r->item[i].text.n;
		bool hit = false;
		for (int j = 0; j < n && !hit; j++)
			hit = at < place[j].at + place[j].n && end > place[j].at;
		if (!hit)
			r->item[n_left++] = r->item[i];
	}
	r->n = n_left;
}

/* What has no such length in what people write is compared as it stands. */
static struct str folded(struct arena *scratch, const struct item *item)
{
	if (item->text.n > FOLDED_BYTES_MAX)
		return item->text;
	return item->kind == PARTICULAR_quotation ? text_squeeze(scratch, item->text)
						  : text_fold(scratch, item->text);
}

static void fold_and_sort(struct arena *scratch, struct reading *r)
{
	for (int i = 0; i < r->n; i++)
		r->item[i].text = folded(scratch, &r->item[i]);
	qsort(r->item, (size_t)r->n, sizeof(*r->item), by_kind_and_text);
}

static bool has(const struct reading *r, const struct item *item)
{
	return bsearch(item, r->item, (size_t)r->n, sizeof(*item), by_kind_and_text) != NULL;
}

/* All sorted. @said: what issues name may go, and for each new one of a kind that they name, one of that kind. */
static enum particular compare(const struct reading *before, const struct reading *after,
			       const struct reading *said)
{
	int may_go[PARTICULAR_none] = {0}, j = 0;

	for (int i = 0; i < after->n; i++)
		may_go[after->item[i].kind] +=
			has(said, &after->item[i]) && !has(before, &after->item[i]);
	for (int i = 0; i < before->n; i++) {
		const struct item *item = &before->item[i];
		while (j < after->n && by_kind_and_text(&after->item[j], item) < 0)
			j++;
		if (j < after->n && by_kind_and_text(&after->item[j], item) == 0)
			j += item->kind != PARTICULAR_name;
		else if (!has(said, item) && may_go[item->kind]-- <= 0)
			return item->kind;
	}
	return PARTICULAR_none;
}

static bool stands_folded(struct arena *scratch, struct str value, struct str text)
{
	return str_find(text_fold(scratch, text), text_fold(scratch, value), 0) >= 0;
}

/* The values of the job's variables. */
static enum particular compare_variables(struct arena *scratch, const struct job *job,
					 struct str before, struct str after, struct str said)
{
	size_t work = 0;

	for (int i = 0; i < job->n_variable; i++) {
		const struct str value = text_trim(job->variable[i].value);
		if (str_only(value, "abcdefghijklmnopqrstuvwxyz -"))
			continue;
		work += before.n + after.n;
		if (work > SEARCH_WORK_MAX)
			return PARTICULAR_uncounted;
		if (str_find(before, value, 0) < 0 || str_find(after, value, 0) >= 0 ||
		    str_find(said, value, 0) >= 0)
			continue;
		if (!stands_folded(scratch, value, after))
			return PARTICULAR_name;
		work += FOLD_WORK * after.n;
	}
	return PARTICULAR_none;
}

enum particular particulars_lost(const struct job *job, struct str before, const struct span *free,
				 int n, struct str after, struct str said)
{
	struct arena *scratch = arena_new();
	struct reading was, is, named;
	enum particular lost = PARTICULAR_uncounted;

	read_text(scratch, before, false, &was);
	read_text(scratch, after, true, &is);
	read_text(scratch, said, true, &named);
	free_places(&was, free, n);
	if (!was.full && !is.full) {
		fold_and_sort(scratch, &was);
		fold_and_sort(scratch, &is);
		fold_and_sort(scratch, &named);
		lost = compare(&was, &is, &named);
	}
	if (lost == PARTICULAR_none)
		lost = compare_variables(scratch, job, before, after, said);
	arena_free(scratch);
	return lost;
}
