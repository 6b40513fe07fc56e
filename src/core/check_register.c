#include "check_family.h"
#include "check_parts.h"

#include "base/text.h"

enum { BYTE_WORK = 12, TAIL = 12, SAMPLES = 5, PARTICLES = 4 };

enum style { STYLE_EITHER, STYLE_POLITE, STYLE_PLAIN };
static const char *const style_names[] = {"either", "polite", "plain", NULL};

/* How a sentence ends. */
enum ending { ENDING_POLITE, ENDING_PLAIN, N_ENDINGS, ENDING_NONE = N_ENDINGS };

static bool is_kanji(int32_t c)
{
	return (c >= 0x3400 && c <= 0x9FFF) || c == 0x3005;
}

/* Kanji of adjectives: 高い is one, 願い is a noun; 早く is how, 書く is a verb. */
static const char adjectives[] = "高安良善悪長短多早速遅強弱重軽深浅近遠広狭若古暑寒熱冷痛辛甘苦"
				 "旨低薄厚太細無赤青白黒丸暗明臭怖眠鋭鈍固硬堅緩尊賢";

/* Of a word of kana and kanji, what its last two characters say: a verb or adjective in its plain form. */
static bool is_plain_word(int32_t before, int32_t last)
{
	switch (last) {
	case 0x308B: /* る */
		return before >= 0;
	case 0x305F: /* た: past forms have one of these before it */
		return is_among(before, "っいしれせけげてねべめえきぎちにびみりじ") ||
		       (is_kanji(before) && before != 0x65B0); /* not 新た */
	case 0x3046:					       /* う */
	case 0x3050:					       /* ぐ */
	case 0x3059:					       /* す */
	case 0x306C:					       /* ぬ */
	case 0x3076:					       /* ぶ */
	case 0x3080:					       /* む */
		return is_kanji(before);
	case 0x304F: /* く */
		return is_kanji(before) && !is_among(before, adjectives) &&
		       !is_among(before, "全暫漸如");
	case 0x3064: /* つ */
		return is_kanji(before) && !is_among(before, "一二三四五六七八九幾");
	case 0x3044: /* い */
		return is_among(before, adjectives);
	default:
		return false;
	}
}

static enum ending ending_of(struct str s)
{
	static const char *const polite[] = {"です",	 "ます",     "ました",	 "ません",
					     "でした",	 "でしょう", "ましょう", "ませ",
					     "ください", "下さい",   NULL};
	static const char *const neither[] = {"まだ", "ただ", "あした", "みたい", NULL};
	static const char *const plain[] = {
		"だ",	  "だろう",   "であろう", "なろう", "しよう", "ていこう", "でいこう",
		"ない",	  "たい",     "しい",	  "にくい", "やすい", "づらい",	  "がたい",
		"よい",	  "いい",     "すごい",	  "ひどい", "うまい", "っぽい",	  "いう",
		"もらう", "しまう",   "ていく",	  "でいく", "ておく", "でおく",	  "いただく",
		"いたす", "もたらす", "もつ",	  NULL};
	static const char *const verbs[] = {"励ます", "悩ます", "済ます", "覚ます", "冷ます", NULL};
	size_t at = s.n;

	if (ending_bytes(s, verbs) > 0)
		return ENDING_PLAIN;
	if (ending_bytes(s, polite) > 0)
		return ENDING_POLITE;
	if (ending_bytes(s, neither) > 0)
		return ENDING_NONE;
	int32_t last = text_before(s, &at), before = text_before(s, &at);
	return ending_bytes(s, plain) > 0 || is_plain_word(before, last) ? ENDING_PLAIN
									 : ENDING_NONE;
}

/* Without the particle at its end: ですよね is です, 行くから is 行く. */
static bool drop_particle(struct str *s)
{
	static const char *const particles[] = {
		"けれども", "けれど", "から", "ので", "のに", "けど", "って", "よ", "ね", "か",
		"な",	    "わ",     "ぞ",   "ぜ",   "の",   "さ",   "が",   "し", NULL};

	size_t n = ending_bytes(*s, particles);

	s->n -= n;
	return n > 0;
}

struct reading {
	struct str text;
	/* The sentence that is being read: its first byte (-1: none yet), and its last letters outside of quotations. */
	int64_t begin;
	int32_t tail[TAIL];
	int n_tail; /* letters so far */
	int quoted, bracketed;
	bool item; /* a line of a list */
	int64_t n_found[N_ENDINGS];
	int64_t at[N_ENDINGS][SAMPLES], n[N_ENDINGS][SAMPLES];
};

static bool is_letter(int32_t c)
{
	if (c >= 0xFF10 && c <= 0xFF5A) /* in full width */
		c -= 0xFF10 - '0';
	return is_kanji(c) || (c >= 0x3041 && c <= 0x30FF && c != 0x30FB) ||
	       (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Of one that is_letter(): 1 or 3 bytes. */
static size_t put_utf8(char *out, int32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	out[0] = (char)(0xE0 | c >> 12);
	out[1] = (char)(0x80 | (c >> 6 & 0x3F));
	out[2] = (char)(0x80 | (c & 0x3F));
	return 3;
}

static enum ending read_ending(const struct reading *r)
{
	char tail[3 * TAIL];
	struct str s = {tail, 0};
	enum ending ending;
	int i = r->n_tail > TAIL ? r->n_tail - TAIL : 0;

	if (r->tail[(r->n_tail - 1) % TAIL] < 0x80) /* no Japanese ends so */
		return ENDING_NONE;
	for (; i < r->n_tail; i++)
		s.n += put_utf8(tail + s.n, r->tail[i % TAIL]);
	for (int n = 0; (ending = ending_of(s)) == ENDING_NONE && n < PARTICLES; n++) {
		if (!drop_particle(&s) || s.n == 0)
			break;
	}
	return ending;
}

/* @marked: by a full stop or the like; else by the end of its line. */
static void end_sentence(struct reading *r, size_t end, bool marked)
{
	enum ending ending = r->n_tail > 0 ? read_ending(r) : ENDING_NONE;

	if (ending != ENDING_NONE && (marked || (ending == ENDING_POLITE && !r->item))) {
		int64_t no = r->n_found[ending]++;
		if (no < SAMPLES) {
			r->at[ending][no] = r->begin;
			r->n[ending][no] = (int64_t)end - r->begin;
		}
	}
	r->begin = -1;
	r->n_tail = 0;
}

static void read_letter(struct reading *r, int32_t c, size_t at)
{
	if (r->quoted + r->bracketed == 0)
		r->tail[r->n_tail++ % TAIL] = c;
	if (r->begin < 0)
		r->begin = (int64_t)at;
}

static void read_sign(struct reading *r, int32_t c, size_t at, size_t end)
{
	if (is_among(c, "「『“")) {
		if (r->begin < 0)
			r->begin = (int64_t)at;
		r->quoted++;
	} else if (is_among(c, "」』”")) {
		r->quoted -= r->quoted > 0;
	} else if (is_among(c, "（(【")) {
		r->bracketed++;
	} else if (is_among(c, "）)】")) {
		r->bracketed -= r->bracketed > 0;
	} else if (r->quoted + r->bracketed == 0 && is_among(c, "。｡．！？!?")) {
		end_sentence(r, end, true);
	}
}

/* What a reader does not take for running text: headings, quoted lines, rows of tables, code. */
static bool is_apart(struct str line, bool *in_code)
{
	struct str s = text_trim(line);

	if (str_starts(s, "```") || str_starts(s, "~~~")) {
		*in_code = !*in_code;
		return true;
	}
	return *in_code || str_starts(s, "#") || str_starts(s, ">") || str_starts(s, "|");
}

static void read_line(struct reading *r, size_t from, size_t to)
{
	struct str line = str_sub(r->text, 0, to);
	size_t mark = item_mark(str_sub(r->text, from, to - from)), at = from + mark, end = at;
	int32_t c;

	r->item = mark > 0;
	r->bracketed = 0;
	if (r->item)
		r->quoted = 0;
	for (; (c = text_next(line, &end)) >= 0; at = end) {
		if (is_letter(c))
			read_letter(r, c, at);
		else if (c > ' ')
			read_sign(r, c, at, end);
	}
	if (r->quoted == 0)
		end_sentence(r, to, false);
}

static void read_text(struct reading *r)
{
	bool in_code = false;

	for (size_t from = 0, to; from < r->text.n; from = to + 1) {
		int64_t line_end = str_find(r->text, STR_OF("\n"), from);
		to = line_end < 0 ? r->text.n : (size_t)line_end;
		struct str line = str_sub(r->text, from, to - from);
		if (str_trim(line).n > 0 && !is_apart(line, &in_code)) {
			read_line(r, from, to);
			continue;
		}
		r->quoted = 0; /* a quotation ends with its paragraph */
		r->begin = -1;
		r->n_tail = 0;
	}
}

struct register_args {
	int style; /* of enum style */
};

static enum status read_register(struct arena *a, const struct json *spec, const void **args,
				 struct err *err)
{
	struct register_args *wanted = arena_alloc(a, sizeof(*wanted));

	*args = wanted;
	return arg_choice(spec, "style", style_names, &wanted->style, err);
}

/* The wrong ending: the one that is not wanted; where either will do, the rarer one. */
static enum ending wrong_ending(const struct reading *r, int style)
{
	if (style != STYLE_EITHER)
		return style == STYLE_POLITE ? ENDING_PLAIN : ENDING_POLITE;
	if (r->n_found[ENDING_POLITE] == 0 || r->n_found[ENDING_PLAIN] == 0)
		return ENDING_NONE;
	return r->n_found[ENDING_PLAIN] <= r->n_found[ENDING_POLITE] ? ENDING_PLAIN : ENDING_POLITE;
}

static void run_register(struct arena *scratch, const void *args, const struct job *job,
			 struct checked *checked, struct check_result *out)
{
	const struct register_args *wanted = args;
	struct reading *r = arena_alloc(scratch, sizeof(*r));
	struct buf detail = BUF(4 * CHECK_DETAIL_BYTES_MAX);
	struct text_place place = PLACE_BEGIN;

	if (!check_afford(checked, BYTE_WORK * (int64_t)checked->text.n, out))
		return;
	r->text = checked->text;
	r->begin = -1;
	read_text(r);
	enum ending wrong = wrong_ending(r, wanted->style);
	if (wrong == ENDING_NONE || r->n_found[wrong] == 0)
		return;
	buf_printf(&detail, "%lld %s among %lld %s: ", (long long)r->n_found[wrong],
		   wrong == ENDING_PLAIN ? "in plain style (常体)" : "in polite style (敬体)",
		   (long long)r->n_found[!wrong],
		   wrong == ENDING_PLAIN ? "in polite style (敬体)" : "in plain style (常体)");
	for (int i = 0; i < SAMPLES && i < r->n_found[wrong]; i++) {
		place_move(&place, r->text, (size_t)r->at[wrong][i]);
		buf_puts(&detail, i ? ", " : "");
		put_place(&detail, &place,
			  str_sub(r->text, (size_t)r->at[wrong][i], (size_t)r->n[wrong][i]));
	}
	out->at = r->at[wrong][0];
	out->n = r->n[wrong][0];
	set_detail(scratch, &detail, out);
}

static void phrase_register(const void *args, const struct job *job, bool japanese, struct buf *out)
{
	static const char *const sentences[][2] = {
		{"Japanese sentences must be all polite (です・ます) or all plain (だ・である), "
		 "not mixed.",
		 "敬体(です・ます)と常体(だ・である)を混ぜないこと。"},
		{"Japanese sentences must be in polite style (です・ます).",
		 "敬体(です・ます)で書くこと。"},
		{"Japanese sentences must be in plain style (だ・である).",
		 "常体(だ・である)で書くこと。"},
	};

	buf_puts(out, sentences[((const struct register_args *)args)->style][japanese]);
}

static const char *const keys[] = {"style", NULL};

const struct check_type check_register_types[] = {
	{"register", read_register, run_register, phrase_register, keys},
	{0},
};
