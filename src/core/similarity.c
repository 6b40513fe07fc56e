#include "core/similarity.h"
#include "base/text.h"

enum { CODE_POINT_BITS = 21, N_MAX = 3 }; /* 3 * 21 bits: an n-gram is one integer */
enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

struct grams {
	uint64_t *gram; /* sorted */
	size_t n;
};

/* Radix sort: the same work whatever the numbers are. @spare is as large as @x. Returns the one that holds the result. */
static uint64_t *sort(uint64_t *x, uint64_t *spare, size_t n)
{
	for (int shift = 0; shift < N_MAX * CODE_POINT_BITS; shift += DIGIT_BITS) {
		size_t end[DIGITS + 1] = {0};
		for (size_t i = 0; i < n; i++)
			end[(x[i] >> shift) % DIGITS + 1]++;
		for (size_t d = 1; d <= DIGITS; d++)
			end[d] += end[d - 1];
		for (size_t i = 0; i < n; i++)
			spare[end[(x[i] >> shift) % DIGITS]++] = x[i];
		uint64_t *sorted = spare;
		spare = x;
		x = sorted;
	}
	return x;
}

static struct grams grams_of(struct arena *scratch, struct str s, int n)
{
	uint64_t *gram = arena_array(scratch, uint64_t, s.n), *spare;
	uint64_t last = 0, mask = (UINT64_C(1) << (n * CODE_POINT_BITS)) - 1;
	size_t at = 0, n_gram = 0;
	int32_t c;

	for (int n_read = 1; (c = text_next(s, &at)) >= 0; n_read += n_read < n) {
		last = (last << CODE_POINT_BITS | (uint64_t)c) & mask;
		if (n_read == n)
			gram[n_gram++] = last;
	}
	spare = arena_array(scratch, uint64_t, n_gram);
	return (struct grams){sort(gram, spare, n_gram), n_gram};
}

/* How often the gram at @at occurs; moves @at behind it. */
static uint64_t take_count(const struct grams *g, size_t *at)
{
	size_t first = (*at)++;

	while (*at < g->n && g->gram[*at] == g->gram[first])
		++*at;
	return *at - first;
}

static unsigned __int128 dot(const struct grams *x, const struct grams *y)
{
	unsigned __int128 sum = 0;
	size_t i = 0, j = 0;

	while (i < x->n && j < y->n) {
		if (x->gram[i] < y->gram[j]) {
			i++;
		} else if (x->gram[i] > y->gram[j]) {
			j++;
		} else {
			uint64_t in_x = take_count(x, &i);
			sum += in_x * take_count(y, &j);
		}
	}
	return sum;
}

int64_t similarity_permille(struct str x, struct str y, int n)
{
	struct arena *scratch = arena_new();

	if (n < 1 || n > N_MAX)
		BUG("similarity of %d-grams", n);
	struct grams in_x = grams_of(scratch, x, n), in_y = grams_of(scratch, y, n);
	unsigned __int128 xy = dot(&in_x, &in_y), norms = dot(&in_x, &in_x) * dot(&in_y, &in_y);
	arena_free(scratch);
	/* The greatest p with p / 1000 <= xy / sqrt(norms). In 128 bits for texts under 64 MiB. */
	int64_t low = 0, high = 1000;
	while (low < high) {
		int64_t p = (low + high + 1) / 2;
		if (norms && (unsigned __int128)(p * p) * norms <= xy * xy * 1000000)
			low = p;
		else
			high = p - 1;
	}
	return low;
}
