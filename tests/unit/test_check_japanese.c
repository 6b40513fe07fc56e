#include "check_world.h"

#include <iconv.h>

/* Register */

#define REGISTER "\"type\": \"register\""
#define POLITE REGISTER ", \"style\": \"polite\""
#define PLAIN REGISTER ", \"style\": \"plain\""

enum { POLITE_END = 1, PLAIN_END = 2, NO_END = 0 };

static const struct {
	const char *sentence;
	int end;
} sentences[] = {
	{"ご利用ありがとうございます。", POLITE_END},
	{"これは本です。", POLITE_END},
	{"送りました。", POLITE_END},
	{"できません！", POLITE_END},
	{"ありませんでした。", POLITE_END},
	{"よろしいでしょうか？", POLITE_END},
	{"行きましょうね。", POLITE_END},
	{"ご確認ください。", POLITE_END},
	{"お待ち下さい。", POLITE_END},
	{"いらっしゃいませ。", POLITE_END},
	{"本日は休みですので。", POLITE_END},
	{"来ますけれども。", POLITE_END},
	{"よろしくお願いします😊", POLITE_END},
	{"よろしくお願いいたします", POLITE_END}, /* no mark: polite ones count all the same */
	{"楽しいです（笑）。", POLITE_END},
	{"「そうだ」と思います。", POLITE_END},
	{"これは本だ。", PLAIN_END},
	{"吾輩は猫である。", PLAIN_END},
	{"名前はまだ無い。", PLAIN_END},
	{"確認する。", PLAIN_END},
	{"確認した。", PLAIN_END},
	{"料金は変わらない。", PLAIN_END},
	{"料金は変わらなかった。", PLAIN_END},
	{"本を読んだ。", PLAIN_END},
	{"海で泳いだ。", PLAIN_END},
	{"手紙を書く。", PLAIN_END},
	{"資料を見た。", PLAIN_END},
	{"明日に行う。", PLAIN_END},
	{"彼は死ぬ。", PLAIN_END},
	{"荷物を持つ。", PLAIN_END},
	{"友と遊ぶ。", PLAIN_END},
	{"本を読む。", PLAIN_END},
	{"道を急ぐ。", PLAIN_END},
	{"意見を話す。", PLAIN_END},
	{"値段が高い。", PLAIN_END},
	{"とても美しい。", PLAIN_END},
	{"そうだろう。", PLAIN_END},
	{"変更しよう。", PLAIN_END},
	{"行くのか？", PLAIN_END},
	{"そうだよね。", PLAIN_END},
	{"雨だから。", PLAIN_END},
	{"彼は「行きます」と言った。", PLAIN_END},
	{"社員を励ます。", PLAIN_END},
	{"以上。", NO_END},
	{"拝啓", NO_END},
	{"ありがとう。", NO_END},
	{"どうぞよろしく。", NO_END},
	{"取り急ぎお知らせまで。", NO_END},
	{"お願い。", NO_END},
	{"早く。", NO_END},
	{"まだ。", NO_END},
	{"とても静か。", NO_END},
	{"一つ。", NO_END},
	{"また。", NO_END},
	{"あなた。", NO_END},
	{"料金改定のお知らせ。", NO_END},
	{"変更は不要とのこと。", NO_END},
	{"しかし。", NO_END},
	{"新たな。", NO_END},
	{"「そうだ。」", NO_END},
	{"『これは本です。』", NO_END},
	{"（これは本です。）", NO_END},
	{"料金を改定する", NO_END}, /* no mark: a heading, or a line that goes on */
	{"Thank you. This is it!", NO_END},
	{"", NO_END},
};

/* Each sentence alone: a polite one is red where plain is wanted, a plain one where polite is, one that is neither is green in both. */
static void sentence_ends_tell_the_register(void **state)
{
	for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++) {
		bool polite = !result_of(PLAIN, sentences[i].sentence).ok;
		bool plain = !result_of(POLITE, sentences[i].sentence).ok;
		if (polite != (sentences[i].end == POLITE_END) ||
		    plain != (sentences[i].end == PLAIN_END))
			fail_msg("%s polite %d plain %d", sentences[i].sentence, polite, plain);
		assert_green(REGISTER, sentences[i].sentence);
	}
}

static void mixed_registers_are_red_and_the_rarer_one_is_shown(void **state)
{
	assert_red(REGISTER, "料金を改定します。\n詳細は次の通りである。ご確認ください。",
		   "1 in plain style (常体) among 2 in polite style (敬体): "
		   "line 2 \"詳細は次の通りである。\"",
		   "詳細は次の通りである。");
	assert_red(REGISTER, "猫である。名前はない。\n\nよろしくお願いします",
		   "1 in polite style (敬体) among 2 in plain style (常体): "
		   "line 3 \"よろしくお願いします\"",
		   "よろしくお願いします");
	assert_green(REGISTER, "料金を改定します。ご確認ください。");
	assert_green(REGISTER, "料金を改定する。確認すること。");
}

static void one_register_may_be_wanted(void **state)
{
	assert_red(POLITE, "確認した。返金する。",
		   "2 in plain style (常体) among 0 in polite style (敬体): line 1 \"確認した。\", "
		   "line 1 \"返金する。\"",
		   "確認した。");
	assert_red(PLAIN, "確認しました。",
		   "1 in polite style (敬体) among 0 in plain style (常体): line 1 "
		   "\"確認しました。\"",
		   "確認しました。");
}

static void what_is_no_running_text_does_not_count(void **state)
{
	static const char *const apart[] = {
		"# 料金を改定する。", "> 料金を改定した。",
		"| 改定する。 | 1 |", "```\n改定する。\n改定した。\n```",
		"- 料金を改定する",   "1. 料金を改定する",
		"・料金を改定する",   "■ご案内する",
		"  * 変更なし",	      "「料金を改定する。\n来月からだ。」",
		"① 改定する",
	};

	for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]); i++)
		assert_green(POLITE,
			     arena_printf(arena, "お知らせです。\n\n%s\n\n以上です。", apart[i]).p);
	assert_red(POLITE, "- 料金を改定する。",
		   "1 in plain style (常体) among 0 in polite style (敬体): line 1 "
		   "\"料金を改定する。\"",
		   "料金を改定する。");
	/* A quotation that never closes ends with its paragraph; a bracket with its line. */
	assert_false(result_of(POLITE, "「それは\n改定です\n\n改定する。").ok);
	assert_false(result_of(POLITE, "(注\n改定する。").ok);
	/* A wrapped line is no sentence. */
	assert_green(POLITE, "昨日ご連絡いただいた\n内容を確認しました。");
}

static void register_is_phrased(void **state)
{
	assert_phrase(REGISTER,
		      "Japanese sentences must be all polite (です・ます) or all plain "
		      "(だ・である), not mixed.",
		      "敬体(です・ます)と常体(だ・である)を混ぜないこと。");
	assert_phrase(POLITE, "Japanese sentences must be in polite style (です・ます).",
		      "敬体(です・ます)で書くこと。");
	assert_refused("{\"name\": \"c\", \"type\": \"register\", \"style\": \"formal\"}",
		       "check \"c\": key \"style\": must be either, polite or plain");
}

/* Glyphs */

#define JA "\"type\": \"glyphs\", \"language\": \"ja\""
#define EN "\"type\": \"glyphs\", \"language\": \"en\""

/* The text and the three characters are of a report; 審問検証 would be right. */
static void characters_of_no_japanese_set_are_named_with_their_places(void **state)
{
	assert_red(JA, "内容は审问官が検证いたします。",
		   "foreign to Japanese: \"审\" (U+5BA1) in line 1, character 4, "
		   "\"问\" (U+95EE) in line 1, character 5, \"证\" (U+8BC1) in line 1, character 9",
		   "审");
	assert_green(JA, "内容は審問官が検証いたします。");
	assert_red(JA, "一行目。\n二行目は한국어です。",
		   "foreign to Japanese: \"한\" (U+D55C) in line 2, character 5, "
		   "\"국\" (U+AD6D) in line 2, character 6, \"어\" (U+C5B4) in line 2, character 7",
		   "한");
}

static void what_a_language_is_written_with_is_not_foreign(void **state)
{
	static const struct {
		const char *text;
		bool ja, en;
	} cases[] = {
		{"Dear Zoë, “naïve” café – £5, 50 °C, µ, x² ≤ ½ … ™ → ✓", true, true},
		{"e\u0301 ﬁ 𝐛𝐨𝐥𝐝 👍🏽👨‍👩‍👧 🇯🇵 ①Ⅳ☎", true,
		 true},
		{"漢字、ひらがな、カタカナ、ｶﾅ、ＡＢＣ１２３！〒「」～〜", true, false},
		{"髙橋・﨑山・德川・鷗外・剝ぐ・𠮟る・葛󠄀城・㈱・㍿・㎡・〆切・々",
		 true, false},
		{"か\u3099 ヷ 〱 𛀂", true, false},
		{"α線、β版、Я", true, false},
		{"这个说明书", false, false},
		{"pаypal", true, false}, /* the second letter is Cyrillic */
		{"ไทย", false, false},
		{"שלום", false, false},
		{"٣", false, false},
		{"ㄅ", false, false},
		{"\uFFFD", false, false},
		{"\uE000", false, false},
		{"a\x01z", false, false},
		{"a\xC2\x85z", false, false},
		{"\tline\r\nline ~", true, true},
		{"", true, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (result_of(JA, cases[i].text).ok != cases[i].ja ||
		    result_of(EN, cases[i].text).ok != cases[i].en)
			fail_msg("%s", cases[i].text);
	}
}

static void foreign_characters_may_be_allowed(void **state)
{
	static const struct variable variable = {STR("name"), STR("𠮷田")};
	const struct job of_yoshida = {.variable = &variable, .n_variable = 1, .language = LANG_JA};
	struct checked checked = {.scratch = arena, .text = STR("𠮷田様")};
	struct check check = check_of("\"type\": \"glyphs\"");
	struct check_result result;

	check_run(arena, &check, &of_yoshida, &checked, &result);
	assert_true(result.ok);
	assert_red(JA, "𠮷田様", "foreign to Japanese: \"𠮷\" (U+20BB7) in line 1, character 1",
		   "𠮷");
	assert_green(JA ", \"allow\": \"习𠮷\"", "习氏と𠮷田氏");
	/* The job of the other tests names no language: English. */
	assert_red("\"type\": \"glyphs\"", "Dear 様",
		   "foreign to English: \"様\" (U+69D8) in line 1, character 6", "様");
}

static void many_foreign_characters_are_counted(void **state)
{
	struct check_result r = result_of(JA, "说说说说说说说说说说说说");

	assert_true(str_find(r.detail, STR_OF("character 10, and 2 more"), 0) > 0);
}

/* The table against iconv: a character of Han is in it if one of the two sets can say it. */
static void the_table_is_what_iconv_says(void **state)
{
	const char *const sets[] = {"EUC-JISX0213", "CP932"};
	iconv_t to[2];
	struct buf held = BUF(1 << 20), others = BUF(1 << 20);
	int n = 0;

	for (int i = 0; i < 2; i++)
		to[i] = iconv_open(sets[i], "UCS-4LE");
	for (uint32_t c = 0x3400; c < 0x2A6E0; c += c == 0x9FFF	  ? 0x5901
						    : c == 0xFAFF ? 0x10501
								  : 1) {
		bool is_held = false;
		char sign[5] = {0};
		for (int i = 0; i < 2; i++) {
			char from[4], out[8], *in = from, *end = out;
			size_t n_in = 4, n_out = 8;
			memcpy(from, &c, 4);
			is_held |= iconv(to[i], &in, &n_in, &end, &n_out) != (size_t)-1 &&
				   iconv(to[i], NULL, NULL, &end, &n_out) != (size_t)-1;
		}
		if (c < 0x10000)
			snprintf(sign, sizeof(sign), "%c%c%c", 0xE0 | c >> 12,
				 0x80 | (c >> 6 & 0x3F), 0x80 | (c & 0x3F));
		else
			snprintf(sign, sizeof(sign), "%c%c%c%c", 0xF0 | c >> 18,
				 0x80 | (c >> 12 & 0x3F), 0x80 | (c >> 6 & 0x3F),
				 0x80 | (c & 0x3F));
		buf_puts(is_held ? &held : &others, sign);
		n += !is_held;
	}
	assert_green(JA, held.p);
	struct str more = arena_printf(arena, ", and %d more", n - 10);
	assert_true(str_find(result_of(JA, others.p).detail, more, 0) > 0);
	buf_release(&held);
	buf_release(&others);
	for (int i = 0; i < 2; i++)
		iconv_close(to[i]);
}

static void glyphs_are_phrased(void **state)
{
	assert_phrase(EN, "Use no letters but Latin ones, and no Chinese or Japanese punctuation.",
		      "ラテン文字以外の文字や全角の約物を使わないこと。");
	assert_phrase(
		JA,
		"Use only characters that are written in Japanese: no simplified Chinese or other "
		"foreign characters.",
		"日本語で使わない文字(簡体字やハングルなど)を使わないこと。");
	assert_refused("{\"name\": \"c\", \"type\": \"glyphs\", \"language\": \"fr\"}",
		       "check \"c\": key \"language\": must be en or ja");
}

/* Commas */

#define TWO "\"type\": \"commas\", \"max\": 2"

static void commas_are_counted_by_the_sentence(void **state)
{
	assert_green(TWO, "春、夏、秋。冬、雪、氷！\n一、二、三\n四、五、六");
	assert_red(TWO, "はい。\n　春、夏，秋､冬です。次、です。",
		   "commas in one sentence, at most 2 wanted: 3 in line 2 \"春、夏，秋､冬です。\"",
		   "春、夏，秋､冬です。");
	assert_green(TWO, "One, two, three. Four, five, six! \"Seven, eight, nine?\" Ten, end");
	assert_red(
		TWO, "Yes. One, two, three,\nfour. Five.",
		"commas in one sentence, at most 2 wanted: 3 in line 1 \"One, two, three,\nfour.\"",
		"One, two, three,\nfour.");
	assert_red(TWO, "Ask Dr. Doe, Ms. Roe, Mr. Poe, or me.",
		   "commas in one sentence, at most 2 wanted: 3 in line 1 "
		   "\"Ask Dr. Doe, Ms. Roe, Mr. Poe, or me.\"",
		   "Ask Dr. Doe, Ms. Roe, Mr. Poe, or me.");
	assert_green(TWO, "It costs 1,000,000,000 yen, or 2,000, or 3.5.");
	assert_green(TWO, "a, b, c\n\nd, e, f\n- g, h, i\n2. j, k, l\n# m, n, o");
	assert_green(TWO, "");
	assert_green(TWO, ",,");
	assert_red("\"type\": \"commas\", \"max\": 0", "a,b\nc, d? e, f",
		   "commas in one sentence, at most 0 wanted: 2 in line 1 \"a,b\nc, d?\", "
		   "1 in line 2 \"e, f\"",
		   "a,b\nc, d?");
}

static void commas_are_phrased(void **state)
{
	assert_phrase(TWO, "At most 2 commas in one sentence.", "一文の読点(、)は2個まで。");
	assert_refused("{\"name\": \"c\", \"type\": \"commas\"}",
		       "check \"c\": needs \"max\", the most commas in one sentence");
	assert_refused("{\"name\": \"c\", \"type\": \"commas\", \"max\": -1}",
		       "check \"c\": key \"max\": must be an integer, 0 to 1000");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(sentence_ends_tell_the_register),
		T(mixed_registers_are_red_and_the_rarer_one_is_shown),
		T(one_register_may_be_wanted),
		T(what_is_no_running_text_does_not_count),
		T(register_is_phrased),
		T(characters_of_no_japanese_set_are_named_with_their_places),
		T(what_a_language_is_written_with_is_not_foreign),
		T(foreign_characters_may_be_allowed),
		T(many_foreign_characters_are_counted),
		T(the_table_is_what_iconv_says),
		T(glyphs_are_phrased),
		T(commas_are_counted_by_the_sentence),
		T(commas_are_phrased),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
