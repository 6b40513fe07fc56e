/* Where the snippet of an issue stands: a draft, a snippet, and what is there. What any texts must keep: tests/fuzz/merge.c. */
#include "core/anchor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct anchored {
	const char *draft, *snippet;
	int64_t at; /* -1: nowhere, or the whole */
	const char *there;
} found[] = {
	/* its very bytes, the first of them */
	{"It comes on Monday.", "on Monday", 9, "on Monday"},
	{"one two one", "one", 0, "one"},
	{"ご注文の品は12月1日に届きます。", "12月1日", 18, "12月1日"},
	/* a later place with the very bytes goes before an earlier one that is only alike */
	{"say “no” or \"no\"", "\"no\"", 16, "\"no\""},
	/* white space and line ends */
	{"arrives on\r\n Monday, you pay", "arrives on Monday", 0, "arrives on\r\n Monday"},
	{"届き ます。代金", "届きます", 0, "届き ます"},
	/* quotation marks, in the text and the critic's own at the ends */
	{"it’s “as agreed”.", "it's \"as agreed\"", 0, "it’s “as agreed”"},
	{"It comes on Monday.", "“on Monday”", 9, "on Monday"},
	{"「明日」に届く", "『明日』に", 0, "「明日」に"},
	/* NFC, both ways; the place ends behind the whole character */
	{"a cafe\xCC\x81 at noon", "café", 2, "cafe\xCC\x81"},
	{"a café at noon", "cafe\xCC\x81 at", 2, "café at"},
	/* of two that are alike the first */
	{"a  b, a\nb", "a b", 0, "a  b"},
};

static void a_snippet_is_found_as_it_is_or_nearly(void **state)
{
	for (size_t i = 0; i < sizeof(found) / sizeof(*found); i++) {
		const struct anchored *t = &found[i];
		struct issue issue = {.snippet = str_c(t->snippet)};
		anchor_issues(str_c(t->draft), &issue, 1);
		if (issue.at != t->at ||
		    !str_is(str_sub(str_c(t->draft), (size_t)issue.at, (size_t)issue.n), t->there))
			fail_msg("\"%s\" in \"%s\": at %lld, %lld bytes", t->snippet, t->draft,
				 (long long)issue.at, (long long)issue.n);
		assert_false(issue_is_unanchored(&issue));
	}
}

static void what_is_nowhere_is_unanchored(void **state)
{
	static const char *const nowhere[][2] = {
		{"It comes on Monday.", "on Tuesday"},
		{"It comes on Monday.", "monday"}, /* case tells words apart */
		{"5.25 USD", "525 USD"},
		{"", "x"},
		{"届きます", "届いた"},
	};

	for (size_t i = 0; i < sizeof(nowhere) / sizeof(*nowhere); i++) {
		struct issue issue = {.snippet = str_c(nowhere[i][1])};
		anchor_issues(str_c(nowhere[i][0]), &issue, 1);
		assert_int_equal(issue.at, -1);
		assert_true(issue_is_unanchored(&issue));
	}
}

static void an_empty_snippet_is_about_the_whole(void **state)
{
	static const char *const empty[] = {"", " ", "\n\t"};

	for (size_t i = 0; i < sizeof(empty) / sizeof(*empty); i++) {
		struct issue issue = {.snippet = str_c(empty[i])};
		anchor_issues(STR_OF("any"), &issue, 1);
		assert_int_equal(issue.at, -1);
		assert_false(issue_is_unanchored(&issue));
	}
}

static void unanchored_ones_are_counted_by_their_severity(void **state)
{
	struct issue issue[] = {{.snippet = STR("x"), .severity = 5},
				{.snippet = STR("z"), .severity = 2},
				{.snippet = STR("any"), .severity = 5}};
	struct critique critique = {.valid = true, .issue = issue, .n_issue = 3};

	anchor_issues(STR_OF("any"), issue, 3);
	assert_int_equal(anchor_missing(&critique, 3), 1);
	assert_int_equal(anchor_missing(&critique, 2), 2);
}

static void the_mend_of_a_word_is_about_its_sentence(void **state)
{
	const struct str text = STR("One. We guarantee it! Two.\n明日届きます。必ず届く。");
	const struct span english = anchor_sentence(text, (struct span){8, 9});
	const struct span japanese =
		anchor_sentence(text, (struct span){str_find(text, STR_OF("必ず"), 0), 6});

	assert_true(
		str_is(str_sub(text, (size_t)english.at, (size_t)english.n), "We guarantee it!"));
	assert_true(str_is(str_sub(text, (size_t)japanese.at, (size_t)japanese.n), "必ず届く。"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_snippet_is_found_as_it_is_or_nearly),
		cmocka_unit_test(what_is_nowhere_is_unanchored),
		cmocka_unit_test(an_empty_snippet_is_about_the_whole),
		cmocka_unit_test(unanchored_ones_are_counted_by_their_severity),
		cmocka_unit_test(the_mend_of_a_word_is_about_its_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
