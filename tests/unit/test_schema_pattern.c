/* Patterns of ECMA-262 with flag u. What fits and what does not was taken from that standard's text, chapter "Pattern semantics". */
#include "../../src/core/regex.h"
#include "../../src/core/schema_pattern.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct {
	const char *pattern, *fits[6], *differs[6];
} cases[] = {
	{"a", {"a", "xax"}, {"", "A"}},
	{"^a*$", {"", "aa"}, {"b", "a\n", "\na"}},
	{"^.$", {"a", "日", "\xC2\x85", "😀"}, {"", "\n", "\r", "\u2028", "ab"}},
	{"^(?:ab|c)+?$", {"ab", "cab"}, {"", "a"}},
	{"^a{2,3}$", {"aa", "aaa"}, {"a", "aaaa"}},
	{"^a{2}b{1,}$", {"aab", "aabb"}, {"ab", "aa"}},
	{"^\\d+$", {"09"}, {"", "\u0669", "９"}},
	{"^\\D$", {"a", "９"}, {"9"}},
	{"^\\w+$", {"a_Z9"}, {"é", "-", "日"}},
	{"^\\W$", {"é", "😀", "-"}, {"_", "a"}},
	{"^\\s$", {" ", "\t", "\v", "\u00A0", "\uFEFF", "\u3000"}, {"\xC2\x85", "\u180E", "a"}},
	{"^\\S$", {"a", "\xC2\x85", "\u180E", "\u200B", "😀"}, {" ", "\uFEFF", "\u2029"}},
	{"^[^\\s\\d-]$", {"a", "😀"}, {"-", "1", "\u00A0"}},
	{"^[a-cx\\-\\]]+$", {"abc", "x-]"}, {"d", "\\"}},
	{"^[-a]$", {"-", "a"}, {"b"}},
	{"^[\\b]$", {"\b"}, {"b"}},
	{"^[[:alpha:]$", {"[", ":", "a"}, {"b"}},
	{"[]", {NULL}, {"", "a"}},
	{"^[^]$", {"\n", "a", "日"}, {""}},
	{"\\bfoo\\b", {"a foo.", "éfooé"}, {"food", "_foo"}},
	{"^\\Ba", {NULL}, {"a"}},
	{"^\\t\\n\\v\\f\\r\\x41\\u0042\\u{1F600}\\uD83D\\uDE00\\cA$",
	 {"\t\n\v\f\rAB😀😀\x01"},
	 {"\t\n\v\f\rAB😀\x01"}},
	{"^\\$\\.\\/\\-\\\"\\@$", {"$./-\"@"}, {NULL}},
	{"^\\p{Lu}\\P{L}[\\p{Nd}]$", {"É-9"}, {"é-9"}},
	{"^\\p{sc=Greek}\\p{Script_Extensions=Han}$", {"α日"}, {"a日"}},
	{"(?=a)(?!ab)a", {"ac", "a"}, {"ab"}},
	{"(?<=a)(?<!ba)c", {"ac"}, {"bac", "c"}},
	{"^🐲*$", {"", "🐲🐲"}, {"🐉"}},
	{"#x", {"#x"}, {"x"}},
	{"^(a|)$", {"", "a"}, {"b"}},
};

static void each_means_what_ecma_262_says(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct arena *a = arena_new();
		struct buf written = BUF(64 << 10);
		struct regex regex;
		struct regex_match match;
		int64_t work = 0;
		struct err err;
		if (schema_pattern_write(str_c(cases[i].pattern), &written, &err) != ST_OK ||
		    regex_compile(a, buf_view(&written), &regex, &err) != ST_OK)
			fail_msg("/%s/ %s", cases[i].pattern, err.text);
		for (int k = 0; k < 6 && cases[i].fits[k]; k++)
			if (regex_find(&regex, str_c(cases[i].fits[k]), 0, &work, INT64_MAX, &match,
				       &err) != REGEX_FOUND)
				fail_msg("/%s/ is not in \"%s\"", cases[i].pattern,
					 cases[i].fits[k]);
		for (int k = 0; k < 6 && cases[i].differs[k]; k++)
			if (regex_find(&regex, str_c(cases[i].differs[k]), 0, &work, INT64_MAX,
				       &match, &err) != REGEX_NOT_FOUND)
				fail_msg("/%s/ is in \"%s\"", cases[i].pattern,
					 cases[i].differs[k]);
		buf_release(&written);
		arena_free(a);
	}
}

/* No pattern with flag u, or one of another dialect, or not supported. */
static const char *const refused[] = {
	"*a",
	"a**",
	"a++",
	"a*+",
	"a{2}{3}",
	"(*ACCEPT)",
	"(*UCP)a",
	"^*",
	"\\b+",
	"(?=a)*",
	"(?!a){2}",
	"(?>a)",
	"(?|a)",
	"(?i)a",
	"(?i:a)",
	"(?#a)",
	"(?P<n>a)",
	"(?<n>a)",
	"(?<n>a)\\k<n>",
	"(a)\\1",
	"\\8",
	"(",
	")",
	"a)",
	"(a",
	"[",
	"[a",
	"[b-a]",
	"[\\d-a]",
	"[a-\\d]",
	"]",
	"}",
	"{",
	"a{",
	"a{,3}",
	"a{x}",
	"a{3,2}",
	"a{65536}",
	"a{100000}",
	"\\",
	"\\a",
	"\\e",
	"\\A",
	"\\Z",
	"\\z",
	"\\G",
	"\\K",
	"\\Q.\\E",
	"\\R",
	"\\X",
	"\\N",
	"\\h",
	"\\C",
	"\\i",
	"\\01",
	"\\x4",
	"\\x{41}",
	"\\u12",
	"\\uD800",
	"\\u{110000}",
	"\\u{}",
	"\\c1",
	"\\c",
	"\\p",
	"\\pL",
	"\\p{}",
	"\\p{Letter}",
	"\\p{L&}",
	"\\p{Xan}",
	"\\p{Any}",
	"\\p{^Lu}",
	"\\p{sc=L}",
	"\\é",
};

static void what_is_not_known_to_mean_the_same_is_refused(void **state)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct buf written = BUF(64 << 10);
		struct err err = {""};
		if (schema_pattern_write(str_c(refused[i]), &written, &err) == ST_OK)
			fail_msg("/%s/ is taken as /%s/", refused[i], buf_view(&written).p);
		assert_true(err.text[0]);
		buf_release(&written);
	}
}

static void groups_are_bounded(void **state)
{
	struct buf ecma = BUF(1000), written = BUF(64 << 10);
	struct err err;

	for (int i = 0; i < 65; i++)
		buf_putc(&ecma, '(');
	assert_int_equal(schema_pattern_write(buf_view(&ecma), &written, &err), ST_INVALID);
	assert_string_equal(err.text, "at byte 64, \"(\": more than 64 groups in one another");
	buf_release(&ecma);
	buf_release(&written);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_means_what_ecma_262_says),
		cmocka_unit_test(what_is_not_known_to_mean_the_same_is_refused),
		cmocka_unit_test(groups_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
