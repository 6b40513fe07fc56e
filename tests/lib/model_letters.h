/*
 * model_letters.h - the words of model_sim's scripted people: roles, scenes, and the sentences of a letter in English and
 * Japanese, each with the way it can go wrong; and how long a text is. Included by model_script.h only.
 */
#ifndef MODEL_LETTERS_H
#define MODEL_LETTERS_H

#include <string.h>

enum role { GENERATOR, CRITIC, REFINER, OTHER, N_ROLES };
enum language { ENGLISH, JAPANESE };

static const char *const role_names[N_ROLES] = {"generator", "critic", "refiner", "other"};

static const struct {
	const char *line;
	enum role role;
	enum language language;
} first_lines[] = {
	{"You are the generator.", GENERATOR, ENGLISH},
	{"あなたは起草者です。", GENERATOR, JAPANESE},
	{"You are the critic.", CRITIC, ENGLISH},
	{"あなたは批評者です。", CRITIC, JAPANESE},
	{"You are the refiner.", REFINER, ENGLISH},
	{"あなたは推敲者です。", REFINER, JAPANESE},
	{"You compare two drafts.", CRITIC, ENGLISH},
	{"あなたは、二つの草稿を比べます。", CRITIC, JAPANESE},
};

/* clang-format off */
enum scene {
	CLEAN, FORBIDDEN, MISSING, TONE, MINOR, STUBBORN, NAGGING, ECHOING, LOOPING, NONSENSE, NONSENSE_ONCE,
	CONTRADICTION, REFUSED, TRUNCATED, TRUNCATED_ONCE, REJECTED, SLOW, FRAGMENT, WRAPPED, MEDDLING, PARROT, N_SCENES
};
static const char *const scene_names[N_SCENES] = {
	"clean", "forbidden", "missing", "tone", "minor", "stubborn", "nagging", "echo", "loop", "nonsense", "nonsense_once",
	"contradiction", "refused", "truncated", "truncated_once", "rejected", "slow", "fragment", "wrapped", "meddling", "parrot",
};
/* How often each scene comes when the job names none; model_sim's --shares replaces it. */
static unsigned scene_shares[N_SCENES] = {
	[CLEAN] = 50, [FORBIDDEN] = 14, [MISSING] = 11, [TONE] = 11, [MINOR] = 8,
	[STUBBORN] = 3, [NAGGING] = 1, [ECHOING] = 1, [NONSENSE] = 1,
};

/* Each letter has a sentence for each of these, in its good form or in its bad one. The first three are real faults;
 * nobody but a stubborn critic minds the bad form of the others. */
enum flaw { F_FORBIDDEN, F_MISSING, F_TONE, F_PEDANTIC, N_FLAWS = F_PEDANTIC + 5 };

static const struct flaw_text {
	int severity;
	const char *category, *bad, *good, *suggestion;
} flaw_texts[2][N_FLAWS] = {
	[ENGLISH] = {
		{5, "forbidden_term", "In short, this is a {trap} offer with nothing to lose.",
		 "Nothing else about your contract changes.", "Do not use the word \"{trap}\"; say only what the contract says."},
		{4, "missing_item", "Everything has been prepared and is filed in our system.",
		 "Everything has been prepared and is filed under the reference {reference}.",
		 "Name the reference {reference}, so that the customer can quote it."},
		{4, "tone", "You should have read our last message before asking again.",
		 "We are glad to go through the details with you once more.", "Drop the reproach and offer help instead."},
		{4, "instruction_violation", "You will hear from us within two working days.",
		 "A named colleague will reply to you within two working days.", "Say who is going to answer."},
		{4, "clarity", "The settings page shows every option.", "On the settings page, under Plan, each option has its price.",
		 "Tell the reader where exactly to look, and for what."},
		{4, "completeness", "You can change your mind later.", "You can go back to the present terms by the end of the month.",
		 "Give the last date on which the choice can be undone."},
		{4, "factual", "Most customers finish this in a few minutes.", "The form has three fields.",
		 "No source supports this claim about other people; remove or prove it."},
		{4, "structure", "There is nothing you need to prepare.", "Before you begin, have your last invoice at hand.",
		 "State the prerequisites before the steps."},
	},
	[JAPANESE] = {
		{5, "forbidden_term", "{trap}にお得なご提案です。", "ご契約のその他の条件に変更はございません。",
		 "「{trap}」という語を使わず、契約上の事実だけを述べてください。"},
		{4, "missing_item", "お手続きの準備はすでに整っております。",
		 "お手続きの準備は、受付番号{reference}にて整っております。", "お客様が照会できるよう、受付番号{reference}を記載してください。"},
		{4, "tone", "前回のご案内をきちんと読んでいれば分かるはずです。",
		 "ご不明な点は、改めて丁寧にご説明いたします。", "責める表現をやめ、手助けを申し出てください。"},
		{4, "instruction_violation", "2営業日以内にご連絡を差し上げます。",
		 "担当の者が2営業日以内にお電話を差し上げます。", "誰が返答するのかを書いてください。"},
		{4, "clarity", "設定画面ですべての選択肢をご確認いただけます。",
		 "設定画面の「プラン」欄に、各選択肢と料金を掲載しております。", "どこを見ればよいか、具体的な場所を示してください。"},
		{4, "completeness", "後から変更することもできます。", "月末までは元の条件にお戻しいただけます。", "取り消せる期限の日付を明記してください。"},
		{4, "factual", "多くの方が数分で手続きを終えています。", "入力いただく項目は三つです。", "他の利用者についての主張に根拠がありません。"},
		{4, "structure", "事前のご準備は特に必要ございません。", "お手元に最新の請求書をご用意ください。", "手順の前に、必要な持ち物を述べること。"},
	},
};

static const struct letter {
	const char *greeting, *opening[3], *closing[3], *signature;
	const char *nag_suggestion, *undo_suggestion, *minor_suggestion, *preamble, *no_letter, *prose, *praise, *blame;
	const char *customer, *plan, *reference, *trap;		/* where the job has none */
} letters[2] = {
	[ENGLISH] = {
		.greeting = "Dear {customer},\n\n",
		.opening = {
			"Welcome, and thank you for choosing the {plan} plan. To help you settle in, we have put a short guide to the "
			"first week into your account, and the team that set it up is there for your questions.",
			"Thank you for staying with the {plan} plan. As a customer of long standing you keep your present price until "
			"the end of the term, and the new reports are open to you at once.",
			"We noticed that you have used the {plan} plan less in recent weeks, and we would like to make it worth your "
			"while again. A specialist can look through your set-up with you at no cost.",
		},
		.closing = {
			"If anything is unclear, simply answer this message; it reaches the people who know your account.",
			"Should you have a question, please write or call us on any working day between nine and five.",
			"Please let us know if another date suits you better, and we will arrange it with pleasure.",
		},
		.signature = "Kind regards,\nThe Customer Team",
		.nag_suggestion = "Promise an answer on the same day.",
		.undo_suggestion = "Too long now; go back to the brief wording.",
		.preamble = "Here is the revised letter:",
		.minor_suggestion = "A warmer word than \"option\" would read better.",
		.no_letter = "There is no letter to {customer} here; write it from greeting to signature.",
		.prose = "I have read the letter twice. It is friendly enough, though I would not sign it as it stands.",
		.praise = "Customer, plan and reference are right, and the tone is polite throughout.",
		.blame = "The letter cannot go out before the issues above are mended.",
		.customer = "customer", .plan = "standard", .reference = "general", .trap = "guarantee",
	},
	[JAPANESE] = {
		.greeting = "{customer}様\n\n",
		.opening = {
			"このたびは{plan}プランをお選びいただき、誠にありがとうございます。最初の一週間の使い方をまとめた短い手引きを、"
			"マイページにご用意いたしました。",
			"いつも{plan}プランをご利用いただき、誠にありがとうございます。長くご愛顧いただいているお客様には、"
			"契約期間の終わりまで現在の料金を据え置きいたします。",
			"最近、{plan}プランのご利用が少なくなっているとお見受けし、ご連絡を差し上げました。"
			"専門の担当者が設定の見直しをお手伝いいたします。",
		},
		.closing = {
			"ご不明な点がございましたら、このメールにそのままご返信ください。",
			"ご質問は、平日の9時から17時までお電話でも承っております。",
			"ご都合のよい日程がございましたら、お気軽にお知らせください。",
		},
		.signature = "今後ともどうぞよろしくお願いいたします。\nカスタマーサポート",
		.nag_suggestion = "当日中に返答すると約束してください。",
		.undo_suggestion = "今度は長すぎます。元の短い言い方に戻してください。",
		.preamble = "以下が修正版です。",
		.minor_suggestion = "もう少し柔らかい言葉のほうが自然です。",
		.no_letter = "{customer}様宛ての手紙がありません。宛名から署名まで書いてください。",
		.prose = "手紙を二度読みました。感じは悪くありませんが、このままでは署名できません。",
		.praise = "宛名、プラン、受付番号は正しく、敬体で統一されています。",
		.blame = "上記の指摘を直すまで送付できません。",
		.customer = "お客", .plan = "スタンダード", .reference = "一般", .trap = "絶対",
	},
};
/* clang-format on */

/* Tokens as a tokenizer might count them: four bytes of ASCII, or one other character, are a token. */
static long count_tokens(const char *text)
{
	long ascii = 0, others = 0;

	for (; *text; text++) {
		ascii += (unsigned char)*text < 0x80;
		others += (unsigned char)*text >= 0xc0;
	}
	return (ascii + 3) / 4 + others;
}

/* Cuts @text to about @tokens, never inside a character. */
static void cut_to_tokens(char *text, long tokens)
{
	long quarters = 0;
	char *p = text;

	for (; *p && quarters < tokens * 4; p++)
		quarters += (unsigned char)*p < 0x80 ? 1 : (unsigned char)*p >= 0xc0 ? 4 : 0;
	while (((unsigned char)*p & 0xc0) == 0x80)
		p++;
	*p = '\0';
}

/* What a critic answers who takes the first JSON object in his prompt for the answer: it, without what it stands in. */
static char *repeated(const char *prompt)
{
	const char *begin = strstr(prompt, "{\"issues\""), *end = begin ? strchr(begin, '}') : NULL;

	return end ? strndup(begin, (size_t)(end + 1 - begin)) : strdup("{}");
}

#endif
