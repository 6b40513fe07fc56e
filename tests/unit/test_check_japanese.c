#include "check_world.h"

/* Register */

#define REGISTER "\"type\": \"register\""
#define POLITE REGISTER ", \"style\": \"polite\""
#define PLAIN REGISTER ", \"style\": \"plain\""

enum { POLITE_END = 1, PLAIN_END = 2, NO_END = 0 };

/* Each sentence alone: a polite one is red where plain is wanted, a plain one where polite is, one that is neither is green in both. */
static void sentence_ends_tell_the_register(void **state)
{
	static const struct {
		const char *sentence;
		int end;
	} cases[] = {
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
		{"よろしくお願いいたします",
		 POLITE_END}, /* no mark: polite ones count all the same */
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

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool polite = !result_of(PLAIN, cases[i].sentence).ok;
		bool plain = !result_of(POLITE, cases[i].sentence).ok;
		if (polite != (cases[i].end == POLITE_END) || plain != (cases[i].end == PLAIN_END))
			fail_msg("%s polite %d plain %d", cases[i].sentence, polite, plain);
		assert_green(REGISTER, cases[i].sentence);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(sentence_ends_tell_the_register),
		T(mixed_registers_are_red_and_the_rarer_one_is_shown),
		T(one_register_may_be_wanted),
		T(what_is_no_running_text_does_not_count),
		T(register_is_phrased),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
