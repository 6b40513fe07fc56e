#include "base/text.h"

enum { PIECE_BYTES = 250 }; /* folded at once where no place begins or ends */

/* How far a pass over a text and its folded form has come. */
struct pass {
	struct arena *scratch;
	struct str text, folded;
	struct str (*fold)(struct arena *, struct str);
	size_t at, folded_at;
};

/* The end of some graphemes from @at on: as many as begin within PIECE_BYTES. */
static size_t piece_end(struct str text, size_t at)
{
	size_t end = text_grapheme_end(text, at);

	while (end < text.n && end - at < PIECE_BYTES)
		end = text_grapheme_end(text, end);
	return end;
}

/* Bytes of the folded form of text [at, end), or -1: it is not what stands there. */
static int64_t folded_size(const struct pass *p, size_t end)
{
	struct str piece = p->fold(p->scratch, str_sub(p->text, p->at, end - p->at));

	return str_eq(piece, str_sub(p->folded, p->folded_at, piece.n)) ? (int64_t)piece.n : -1;
}

/* Whether a place begins or ends among the next @size folded bytes. */
static bool has_edge(const struct pass *p, size_t size, const struct stretch *place, int n)
{
	const size_t from = p->folded_at, to = from + size;

	for (int i = 0; i < n; i++) {
		const size_t end = place[i].at + place[i].n;
		if ((place[i].at >= from && place[i].at < to) || (end > from && end <= to))
			return true;
	}
	return false;
}

/* A grapheme that ends at @end became the next @size folded bytes. */
static void note(const struct pass *p, size_t end, size_t size, const struct stretch *place,
		 struct stretch *found, int n)
{
	const size_t from = p->folded_at, to = from + size;

	for (int i = 0; i < n; i++) {
		const size_t last = place[i].at + place[i].n - 1;
		if (place[i].at >= from && place[i].at < to)
			found[i].at = p->at;
		if (last >= from && last < to)
			found[i].n = end - found[i].at;
	}
}

/* On to @end, grapheme by grapheme. */
static bool walk_slowly(struct pass *p, size_t end, const struct stretch *place,
			struct stretch *found, int n)
{
	while (p->at < end) {
		const size_t next = text_grapheme_end(p->text, p->at);
		const int64_t size = folded_size(p, next);
		if (size < 0)
			return false;
		note(p, next, (size_t)size, place, found, n);
		p->at = next;
		p->folded_at += (size_t)size;
	}
	return true;
}

/* On to the end of the last place, unless it is over @max bytes away. */
static bool walk(struct pass *p, size_t max, const struct stretch *place, struct stretch *found,
		 int n)
{
	size_t last = 0;

	for (int i = 0; i < n; i++)
		last = place[i].at + place[i].n > last ? place[i].at + place[i].n : last;
	while (p->at < p->text.n && p->at < max && p->folded_at < last) {
		const size_t end = piece_end(p->text, p->at);
		const int64_t size = folded_size(p, end);
		if (size >= 0 && !has_edge(p, (size_t)size, place, n)) {
			p->at = end;
			p->folded_at += (size_t)size;
		} else if (!walk_slowly(p, end, place, found, n)) {
			return false;
		}
	}
	return p->folded_at >= last;
}

bool text_unfold(struct str text, struct str folded, struct str (*fold)(struct arena *, struct str),
		 size_t max, struct stretch *place, int n)
{
	struct pass pass = {.scratch = arena_new(), .text = text, .folded = folded, .fold = fold};
	struct stretch *found = arena_array(pass.scratch, struct stretch, n);
	bool ok = walk(&pass, max, place, found, n);

	if (ok)
		memcpy(place, found, sizeof(*place) * (size_t)n);
	arena_free(pass.scratch);
	return ok;
}
