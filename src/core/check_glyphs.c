#include "check_family.h"
#include "check_parts.h"
#include "core/job.h"

#include "base/text.h"

#include "glyphs.data"

#include <stdlib.h>

enum { BYTE_WORK = 6, NAMED_MAX = 10, ALLOW_BYTES_MAX = 4096 };

struct range {
	int32_t first, last;
};

/* What is foreign nowhere (Unicode 15, Blocks.txt): Latin with its marks, punctuation, numbers, symbols, emoji. */
static const struct range
	common[] =
		{
			{'\t', '\n'},	    {'\r', '\r'},
			{' ', '~'},	    {0xA0, 0x36F},
			{0x1AB0, 0x1AFF}, /* marks */
			{0x1D00, 0x1EFF}, /* phonetic letters, Latin additional */
			{0x2000, 0x2BFF}, /* from punctuation to arrows */
			{0x2C60, 0x2C7F},   {0x2E00, 0x2E7F},
			{0xA720, 0xA7FF},   {0xAB30, 0xAB6F},
			{0xFB00, 0xFB06},   {0xFE00, 0xFE0F}, /* ligatures, variation selectors */
			{0xFE20, 0xFE2F},   {0xFEFF, 0xFEFF},
			{0x1D400, 0x1D7FF}, /* mathematical letters */
			{0x1F000, 0x1F1FF}, {0x1F300, 0x1FAFF},
			{0xE0020, 0xE007F}, /* emoji, and the tags of flags */
};
/* Besides these in Japanese: the letters of its character sets, and forms made of them. */
static const struct range japanese[] = {
	{0x391, 0x3C9},	    {0x401, 0x451},	{0x3000, 0x303F}, /* Greek, Cyrillic, punctuation */
	{0x3041, 0x30FF},   {0x3190, 0x319F},	{0x31F0, 0x31FF}, /* kana, marks beside Chinese */
	{0x3220, 0x325F},   {0x3280, 0x33FF},	{0xFE30, 0xFE4F}, /* enclosed, squared, vertical */
	{0xFF01, 0xFF9F},   {0xFFE0, 0xFFE6},	{0x1B000, 0x1B16F},
	{0x1F200, 0x1F2FF}, {0xE0100, 0xE01EF}, /* variation selectors of Han */
};

static bool is_in(int32_t c, const struct range *range, size_t n)
{
	for (size_t i = 0; i < n && c >= range[i].first; i++) {
		if (c <= range[i].last)
			return true;
	}
	return false;
}

static int by_number(const void *x, const void *y)
{
	int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;

	return (a > b) - (a < b);
}

static bool is_japanese_han(int32_t c)
{
	if (c >= 0x4E00 && c <= 0x9FFF)
		return han_block[(c - 0x4E00) / 64] >> ((c - 0x4E00) % 64) & 1;
	return bsearch(&c, han_others, sizeof(han_others) / sizeof(han_others[0]),
		       sizeof(han_others[0]), by_number);
}

static bool is_foreign(int32_t c, enum language language)
{
	if (c >= ' ' && c <= '~')
		return false;
	if (language == LANG_JA &&
	    (is_in(c, japanese, sizeof(japanese) / sizeof(japanese[0])) || is_japanese_han(c)))
		return false;
	return !is_in(c, common, sizeof(common) / sizeof(common[0]));
}

struct glyphs {
	int language; /* of enum language; N_LANGUAGES: the job's */
	struct str allow;
};

static enum status read_glyphs(struct arena *a, const struct json *spec, const void **args,
			       struct err *err)
{
	static const char *const languages[] = {"en", "ja", NULL};
	struct glyphs *glyphs = arena_alloc(a, sizeof(*glyphs));
	enum status status;

	glyphs->language = N_LANGUAGES;
	*args = glyphs;
	status = arg_choice(spec, "language", languages, &glyphs->language, err);
	if (status == ST_OK)
		status = arg_text(a, spec, "allow", ALLOW_BYTES_MAX, &glyphs->allow, err);
	return status;
}

static enum language language_of(const struct glyphs *glyphs, const struct job *job)
{
	return glyphs->language == N_LANGUAGES ? job->language : (enum language)glyphs->language;
}

enum { CODE_POINTS = 0x110000, WORD_BITS = 64 };

/* The foreign characters that may stand, one bit each: of `allow`, and of the job's variables, a customer's name for one. */
static const uint64_t *allowed_of(struct arena *scratch, const struct glyphs *glyphs,
				  const struct job *job)
{
	uint64_t *allowed = arena_array(scratch, uint64_t, CODE_POINTS / WORD_BITS);
	int32_t c;

	for (int i = -1; i < job->n_variable; i++) {
		struct str s = i < 0 ? glyphs->allow : job->variable[i].value;
		for (size_t at = 0; (c = text_next(s, &at)) >= 0;)
			allowed[c / WORD_BITS] |= UINT64_C(1) << c % WORD_BITS;
	}
	return allowed;
}

static void put_glyph(struct buf *out, struct str sign, int32_t c, const struct text_place *place,
		      bool first)
{
	buf_printf(out, "%s\"%.*s\" (U+%04X) in line %lld, character %lld", first ? "" : ", ",
		   STR_ARG(sign), (unsigned)c, (long long)place->line, (long long)place->character);
}

static void run_glyphs(struct arena *scratch, const void *args, const struct job *job,
		       struct checked *checked, struct check_result *out)
{
	const struct glyphs *glyphs = args;
	const enum language language = language_of(glyphs, job);
	struct str text = checked->text;
	struct buf detail = BUF(4 * CHECK_DETAIL_BYTES_MAX);
	struct text_place place = PLACE_BEGIN;
	size_t n_bytes = glyphs->allow.n;
	int32_t c;
	int n = 0;

	for (int i = 0; i < job->n_variable; i++)
		n_bytes += job->variable[i].value.n;
	if (!check_afford(checked, BYTE_WORK * (int64_t)(text.n + n_bytes), out))
		return;
	const uint64_t *allowed = allowed_of(scratch, glyphs, job);
	for (size_t at = 0, from = 0; (c = text_next(text, &at)) >= 0; from = at) {
		if (!is_foreign(c, language) || allowed[c / WORD_BITS] >> c % WORD_BITS & 1 ||
		    n++ >= NAMED_MAX)
			continue;
		if (n == 1) {
			buf_printf(&detail,
				   "foreign to %s: ", language == LANG_JA ? "Japanese" : "English");
			out->at = (int64_t)from;
			out->local = true;
			out->n = (int64_t)(at - from);
		}
		place_move(&place, text, from);
		put_glyph(&detail, str_sub(text, from, at - from), c, &place, n == 1);
	}
	if (n > NAMED_MAX)
		buf_printf(&detail, ", and %d more", n - NAMED_MAX);
	set_detail(scratch, &detail, out);
}

static void phrase_glyphs(const void *args, const struct job *job, bool japanese_prompt,
			  struct buf *out)
{
	static const char *const sentences[][2] = {
		{"Use no letters but Latin ones, and no Chinese or Japanese punctuation.",
		 "ラテン文字以外の文字や全角の約物を使わないこと。"},
		{"Use only characters that are written in Japanese: no simplified Chinese or other "
		 "foreign characters.",
		 "日本語で使わない文字(簡体字やハングルなど)を使わないこと。"},
	};

	buf_puts(out, sentences[language_of(args, job)][japanese_prompt]);
}

static const char *const keys[] = {"language", "allow", NULL};

const struct check_type check_glyphs_types[] = {
	{"glyphs", read_glyphs, run_glyphs, phrase_glyphs, keys},
	{0},
};
