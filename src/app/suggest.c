#include "app/suggest.h"

enum { WORD_BYTES_MAX = 100 };

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

/* Optimal string alignment, in bytes: a letter more, less or another counts one, and so do two that changed places. */
static size_t distance(struct str a, struct str b)
{
	size_t rows[3][WORD_BYTES_MAX + 1]; /* row i of the matrix is rows[i % 3] */

	for (size_t j = 0; j <= b.n; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= b.n; j++) {
			size_t change = above[j - 1] + (a.p[i - 1] != b.p[j - 1]);
			row[j] = min3(change, above[j] + 1, row[j - 1] + 1);
			if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1])
				row[j] = min3(row[j], above2[j - 2] + 1, row[j]);
		}
	}
	return rows[a.n % 3][b.n];
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
