#include "check_world.h"

static const struct variable people[] = {
	{STR("spaced"), STR("山田 太郎")}, {STR("titled"), STR("山田 太郎 様")},
	{STR("latin"), STR("Smith様")},	   {STR("title"), STR("様")},
	{STR("code"), STR("1 234")},	   {STR("room"), STR("12号様")},
};

static struct check_result with(const char *arguments, const char *text)
{
	const struct job of_people = {.variable = people,
				      .n_variable = sizeof(people) / sizeof(people[0])};
	struct checked checked = {.scratch = arena, .text = str_c(text)};
	struct check check = check_of(arguments);
	struct check_result result;

	check_run(arena, &check, &of_people, &checked, &result);
	return result;
}

static void names_are_met_as_people_write_them(void **state)
{
	static const struct {
		const char *variable, *text;
		bool ok;
	} cases[] = {
		{"spaced", "山田太郎様", true},
		{"spaced", "山田\u3000太郎様", true},
		{"spaced", "山田 太郎さん", true},
		{"spaced", "山\n田太郎です", true},
		{"spaced", "山田二郎様", false},
		{"spaced", "山田、太郎様", false},
		{"spaced", "山田様", false},
		{"titled", "山田太郎様", true},
		{"titled", "山田太郎さん、", true},
		{"titled", "山田　太郎　殿", true},
		{"titled", "山田太郎先生", true},
		{"titled", "山田太郎は、山田太郎 さまに", true},
		{"titled", "山田太郎は", false},
		{"titled", "山田花子様", false},
		{"latin", "Smith 様", true},
		{"latin", "ＳＭＩＴＨさん", true},
		{"latin", "Mr. Smith", false},
		{"title", "さん", false},
		{"title", "様", true},
		{"code", "1 234", true},
		{"code", "1234", false},
		{"code", "11 234", false},
		{"room", "12号さん", true},
		{"room", "112号さん", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str arguments =
			arena_printf(arena, "\"type\": \"must_include\", \"variables\": [\"%s\"]",
				     cases[i].variable);
		if (with(arguments.p, cases[i].text).ok != cases[i].ok)
			fail_msg("%s in %s", cases[i].variable, cases[i].text);
	}
}

/* What the profile itself says is meant to the letter. */
static void literal_values_keep_their_honorific(void **state)
{
	assert_green("\"type\": \"must_include\", \"values\": [\"お客 様\"]", "お客様へ");
	assert_red("\"type\": \"must_include\", \"values\": [\"お客様\"]", "お客さんへ",
		   "missing: \"お客様\"", NULL);
}

#define FORBIDDEN "\"type\": \"forbidden\", \"terms\": "

static void kana_are_told_apart_unless_asked_otherwise(void **state)
{
	assert_green(FORBIDDEN "[\"らーめん\"]", "ラーメンとﾗｰﾒﾝ");
	assert_red(FORBIDDEN "[\"らーめん\"], \"fold_kana\": true", "A①ラーメンです",
		   "found: \"らーめん\"", "ラーメン");
	assert_red(FORBIDDEN "[\"バカ\"], \"fold_kana\": true", "㍿ は\u3099\u200Bか",
		   "found: \"バカ\"", "は\u3099\u200Bか");
	assert_green(FORBIDDEN "[\"バカ\"], \"fold_kana\": true", "はか");
	assert_refused("{\"name\": \"c\", \"type\": \"forbidden\", \"terms\": [\"a\"], "
		       "\"fold_kana\": 1}",
		       "check \"c\": key \"fold_kana\": must be true or false");
}

static void disguises_are_folded(void **state)
{
	static const char *const disguised[] = {
		"Ｆｒｅｅ!",	    "FR\u200BEE", "f\u00ADr\u2060ee", "f\uFEFFree", "𝐟𝐫𝐞𝐞",
		"fre\u202Ee\u202C", "ⓕⓡⓔⓔ",	  "f\uFFF9ree",	      "fr\uFE0Fee", "f\u034Free",
		"free\u3164",
	};

	for (size_t i = 0; i < sizeof(disguised) / sizeof(disguised[0]); i++) {
		if (result_of(FORBIDDEN "[\"free\"]", disguised[i]).ok)
			fail_msg("%s is green", disguised[i]);
	}
	assert_red(FORBIDDEN "[\"1~2日\"]", "約1〰2日", "found: \"1~2日\"", "1〰2日");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(names_are_met_as_people_write_them),
		T(literal_values_keep_their_honorific),
		T(kana_are_told_apart_unless_asked_otherwise),
		T(disguises_are_folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
