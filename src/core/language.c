#include "core/language.h"

#include "base/text.h"

enum { MAIL_NAME_MAX = 64, LANGUAGES_MAX = 64 };

/* A trial draws until the odds of one language are 100,000 to 1, and shares out a whole by the odds there are then: STEPS of a
 * score double them. Trials go on until the leading language is so many wholes ahead that few more would turn it. */
enum { STEPS = 64, CERTAIN = 1063, DRAWS_MAX = 1000, DRAWS_A_LOOK = 5 };
enum { WHOLE = 1 << 16, LEAD = 8 * (WHOLE - WHOLE / 100), DRAWS_ALL_MAX = 12000 };

enum { BYTE_WORK = 4, CHARACTER_WORK = 240, DRAW_WORK = 130 }; /* see core/check.h */

/* ---- the profiles ---- */

/* The strings of 1 to 3 characters that tell languages apart, a tree. What is where, in little-endian numbers:
 * scripts/make-language-data. */
extern const unsigned char language_data[] __attribute__((visibility("hidden")));
__asm__(".pushsection .rodata\n"
	"language_data: .incbin \"src/core/language.data\"\n"
	".popsection\n");

enum { HEAD_BYTES = 16, CODE_BYTES = 8, ALIAS_BYTES = 4, NODE_BYTES = 8, ENTRY_BYTES = 2 };
enum { SCORE_BITS = 10 };
enum { ROOT = 0, NOWHERE = -1 }; /* of nodes */

struct table {
	int32_t n_language, n_alias;
	const unsigned char *code, *alias, *node, *entry;
};

static int32_t u16(const unsigned char *p)
{
	return p[0] | p[1] << 8;
}

static int32_t u24(const unsigned char *p)
{
	return u16(p) | p[2] << 16;
}

static struct table table_open(void)
{
	const unsigned char *p = language_data;
	struct table t = {.n_language = u24(p), .n_alias = u24(p + 4)};

	t.code = p + HEAD_BYTES;
	t.alias = t.code + t.n_language * CODE_BYTES;
	t.node = t.alias + t.n_alias * ALIAS_BYTES;
	t.entry = t.node + (u24(p + 8) + 1) * NODE_BYTES;
	return t;
}

/* Where @c stands among records [from, to) of @size bytes that begin with a character each, in the order of these. */
static int32_t find(const unsigned char *record, int size, int32_t from, int32_t to, int32_t c)
{
	if (to > from + c + 1) /* no two are equal, so this many are up to @c at most */
		to = from + c + 1;
	while (from < to) {
		int32_t middle = (from + to) / 2, there = u16(record + middle * size);
		if (there == c)
			return middle;
		if (there < c)
			from = middle + 1;
		else
			to = middle;
	}
	return NOWHERE;
}

/* The node of the string of @node and @c behind it; NOWHERE if there is none. */
static int32_t child(const struct table *t, int32_t node, int32_t c)
{
	const unsigned char *p = t->node + node * NODE_BYTES;

	return node == NOWHERE ? NOWHERE
			       : find(t->node, NODE_BYTES, u24(p + 2), u24(p + NODE_BYTES + 2), c);
}

/* What @node says of languages, up to *end. */
static const unsigned char *entries(const struct table *t, int32_t node, const unsigned char **end)
{
	const unsigned char *p = t->node + node * NODE_BYTES + 5;

	*end = t->entry + u24(p + NODE_BYTES) * ENTRY_BYTES;
	return t->entry + u24(p) * ENTRY_BYTES;
}

static bool has_entries(const struct table *t, int32_t node)
{
	const unsigned char *end;

	return node != NOWHERE && entries(t, node, &end) < end;
}

static void add_entries(const struct table *t, int32_t node, int32_t *score)
{
	const unsigned char *end;

	for (const unsigned char *p = entries(t, node, &end); p < end; p += ENTRY_BYTES)
		score[u16(p) >> SCORE_BITS] += u16(p) & ((1 << SCORE_BITS) - 1);
}

/* ---- the text ---- */

static bool is_letter(int32_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name(int32_t c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static bool is_mail(int32_t c)
{
	return is_name(c) || c == '.';
}

static bool is_url(int32_t c)
{
	return is_mail(c) || (c > 0 && c < 0x80 && strchr("?&~;+=/#", c));
}

/* How many bytes of @s from @at on are of a kind. */
static size_t run(struct str s, size_t at, bool (*is)(int32_t))
{
	size_t end = at;

	while (end < s.n && is((unsigned char)s.p[end]))
		end++;
	return end - at;
}

/* Bytes of the web address that @s begins with; 0: none. */
static size_t url_bytes(struct str s)
{
	size_t head = str_starts(s, "http://") ? 7 : str_starts(s, "https://") ? 8 : 0;
	size_t rest = head ? run(s, head, is_url) : 0;

	return rest ? head + rest : 0;
}

/* Bytes of the @ and the host that @s begins with; 0: none. */
static size_t host_bytes(struct str s)
{
	size_t n = run(s, 1, is_mail);

	return n >= 2 && is_name(s.p[1]) ? n + 1 : 0;
}

/* How many characters at the end of @n can be what stands before an @. */
static int mail_name(const int32_t *text, int n)
{
	int name = 0;

	while (name < n && name < MAIL_NAME_MAX && is_mail(text[n - 1 - name]))
		name++;
	return name;
}

/* The characters of @s, an address being a blank; returns how many, LANGUAGE_CHARACTERS_MAX at most. */
static int read_text(struct str s, int32_t *out)
{
	int n = 0;

	for (size_t at = 0; at < s.n && n < LANGUAGE_CHARACTERS_MAX;) {
		int name = s.p[at] == '@' ? mail_name(out, n) : 0;
		struct str rest = str_sub(s, at, s.n);
		size_t address = name ? host_bytes(rest) : s.p[at] == 'h' ? url_bytes(rest) : 0;
		if (address > 0) {
			n -= name;
			at += address;
			out[n++] = ' ';
		} else {
			out[n++] = text_next(s, &at);
		}
	}
	return n;
}

/* From the first letter of ASCII to the last: six marks are among them, as in the original. */
static bool is_latin(int32_t c)
{
	return c >= 'A' && c <= 'z';
}

static bool is_foreign(int32_t c)
{
	return c >= 0x300 && (c < 0x1E00 || c > 0x1EFF);
}

/* A text that is for the most part in another script loses its Latin letters. */
static int drop_latin(int32_t *text, int n)
{
	int n_latin = 0, n_foreign = 0, kept = 0;

	for (int i = 0; i < n; i++) {
		n_latin += is_latin(text[i]);
		n_foreign += is_foreign(text[i]);
	}
	if (2 * n_latin >= n_foreign)
		return n;
	for (int i = 0; i < n; i++) {
		if (!is_latin(text[i]))
			text[kept++] = text[i];
	}
	return kept;
}

/* What the profiles have in the place of @c. */
static int32_t profiled(const struct table *t, int32_t c)
{
	static const struct {
		int32_t first, last, as;
	} range[] = {
		{0xA0, 0xA0, ' '},	  {0xAB, 0xAB, ' '},	    {0xB0, 0xB0, ' '},
		{0xBB, 0xBB, ' '},	  {0x219, 0x219, 0x15F},    {0x21B, 0x21B, 0x163},
		{0x6CC, 0x6CC, 0x64A},	  {0x1EA0, 0x1EFF, 0x1EC3}, {0x2000, 0x206F, ' '},
		{0x3040, 0x309F, 0x3042}, {0x30A0, 0x30FF, 0x30A2}, {0x3100, 0x312F, 0x3105},
		{0x31A0, 0x31BF, 0x3105}, {0xAC00, 0xD7AF, 0xAC00},
	};

	if (c < 0x80)
		return is_letter(c) ? c : ' ';
	for (size_t i = 0; i < sizeof(range) / sizeof(range[0]) && c >= range[i].first; i++) {
		if (c <= range[i].last)
			return range[i].as;
	}
	int32_t alias = find(t->alias, ALIAS_BYTES, 0, t->n_alias, c);
	return alias == NOWHERE ? c : u16(t->alias + alias * ALIAS_BYTES + 2);
}

/* The nodes of the strings in @text that are in some profile; returns how many, 3 * n at most. In a word of capitals, only those
 * that end before its second letter or behind its last are counted. */
static int read_strings(const struct table *t, const int32_t *text, int n, int32_t *out)
{
	const int32_t blank = child(t, ROOT, ' ');
	int32_t node[3] = {blank, NOWHERE}; /* of the last 1, 2, 3 characters */
	int32_t before = ' ';
	bool capitals = false;
	int n_out = 0;

	for (int i = 0; i < n; i++) {
		int32_t c = profiled(t, text[i]);
		if (c == ' ' && before == ' ')
			continue;
		node[2] = before == ' ' ? NOWHERE : child(t, node[1], c);
		node[1] = child(t, node[0], c);
		node[0] = child(t, ROOT, c);
		capitals = text_is_upper(c) && (capitals || text_is_upper(before));
		before = c;
		for (int k = c == ' '; k < 3 && !capitals; k++) {
			if (has_entries(t, node[k]))
				out[n_out++] = node[k];
		}
	}
	return n_out;
}

/* ---- the guess ---- */

struct urn {
	struct table table;
	const int32_t *node;
	int n;
	uint64_t state;
};

/* As if at random, but always the same (the numbers of Knuth's MMIX). */
static int32_t draw(struct urn *urn)
{
	urn->state = urn->state * 6364136223846793005u + 1442695040888963407u;
	return urn->node[(urn->state >> 33) * (uint64_t)urn->n >> 31];
}

static int32_t highest(const int32_t *score)
{
	int32_t high = score[0];

	for (int i = 1; i < LANGUAGES_MAX; i++)
		high = score[i] > high ? score[i] : high;
	return high;
}

static int n_over(const int32_t *score, int32_t limit)
{
	int n = 0;

	for (int i = 0; i < LANGUAGES_MAX; i++)
		n += score[i] > limit;
	return n;
}

static int64_t odds(int32_t less)
{
	return less < 16 * STEPS ? WHOLE >> less / STEPS : 0;
}

/* Draws until one language is certain; returns how often. Adds to @share how likely each is then. */
static int try_once(struct urn *urn, int32_t *share)
{
	int32_t score[LANGUAGES_MAX] = {0}, high = 0;
	int64_t sum = 0;
	bool certain = false;
	int n = 0;

	while (!certain && n <= DRAWS_MAX) {
		add_entries(&urn->table, draw(urn), score);
		if (n++ % DRAWS_A_LOOK)
			continue;
		high = highest(score);
		certain = n_over(score, high - CERTAIN) == 1;
	}
	for (int i = 0; i < urn->table.n_language; i++)
		sum += odds(high - score[i]);
	for (int i = 0; i < urn->table.n_language; i++)
		share[i] += (int32_t)(WHOLE * odds(high - score[i]) / sum);
	return n;
}

/* The language that most trials end in. */
static size_t likeliest(struct urn *urn)
{
	int32_t share[LANGUAGES_MAX] = {0}, high = 0;
	size_t best = 0;

	for (int n = 0; n < DRAWS_ALL_MAX && n_over(share, high - LEAD) != 1;) {
		n += try_once(urn, share);
		high = highest(share);
	}
	while (share[best] < high)
		best++;
	return best;
}

const char *language_at(size_t i)
{
	struct table t = table_open();

	return i < (size_t)t.n_language ? (const char *)t.code + i * CODE_BYTES : NULL;
}

int64_t language_work(struct str s)
{
	const int64_t n = (int64_t)s.n;
	const int64_t read = n < LANGUAGE_CHARACTERS_MAX ? n : LANGUAGE_CHARACTERS_MAX;

	return BYTE_WORK * n + CHARACTER_WORK * read + DRAW_WORK * DRAWS_ALL_MAX;
}

const char *language_of(struct arena *scratch, struct str s)
{
	const size_t room = s.n < LANGUAGE_CHARACTERS_MAX ? s.n : LANGUAGE_CHARACTERS_MAX;
	int32_t *text = arena_array(scratch, int32_t, room);
	int n = drop_latin(text, read_text(s, text));
	int32_t *node = arena_array(scratch, int32_t, 3 * n);
	struct urn urn = {.table = table_open(), .node = node};

	urn.n = read_strings(&urn.table, text, n, node);
	return urn.n > 0 ? language_at(likeliest(&urn)) : NULL;
}
