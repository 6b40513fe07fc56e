#include "app/suggest.h"

enum { WORD_BYTES_MAX = 100 };

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

/* Levenshtein's distance in bytes, one row of the matrix at a time. */
static size_t distance(struct str a, struct str b)
{
	size_t row[WORD_BYTES_MAX + 1];

	for (size_t j = 0; j <= b.n; j++)
		row[j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= b.n; j++) {
			size_t change = diagonal + (a.p[i - 1] != b.p[j - 1]);
			diagonal = row[j];
			row[j] = min3(change, row[j] + 1, row[j - 1] + 1);
		}
	}
	return row[b.n];
}

void suggest_offer(struct suggest *s, struct str word)
{
	if (s->wanted.n > WORD_BYTES_MAX || word.n > WORD_BYTES_MAX)
		return;
	size_t d = distance(s->wanted, word);
	size_t most = s->wanted.n < 3 ? 1 : s->wanted.n / 3;
	if (d > most || (s->best.p && d >= s->distance))
		return;
	s->best = word;
	s->distance = d;
}
