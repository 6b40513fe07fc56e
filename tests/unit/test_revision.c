/* What of a refiner's reply is the text: the draft, the reply, what is left. */
#include "core/revision.h"

#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *const cases[][3] = {
	/* nothing to take off */
	{"Dear A,\n\nb", "Dear A,\n\nc", "Dear A,\n\nc"},
	/* a fence, with a preamble and without */
	{"Dear A", "```\nDear B\n```", "Dear B"},
	{"Dear A", "```text\nDear B\n```\n", "Dear B"},
	{"Dear A", "Here is the text:\n\n```\nDear B\n```\nI changed the name.", "Dear B"},
	/* a block among words is of the text, and so is one that the draft has */
	{"Run it.", "Run this now.\n```\nls\n```\nThen stop.",
	 "Run this now.\n```\nls\n```\nThen stop."},
	{"```\nls\n```", "```\nls -l\n```", "```\nls -l\n```"},
	/* a preamble */
	{"Dear A", "Sure, here is the revised text:\nDear B", "Dear B"},
	{"Dear A", "The revised version:\n\nDear B", "Dear B"},
	{"田中様", "以下が修正版です。\n佐藤様", "佐藤様"},
	{"田中様", "修正した文章はこちら：\n佐藤様", "佐藤様"},
	/* the draft's own words are none */
	{"Here is your plan:\nBasic", "Here is your plan:\nTeam", "Here is your plan:\nTeam"},
	{"Dear A", "Here is what you asked\nDear B", "Here is what you asked\nDear B"},
	/* white space at the ends is the draft's */
	{"\nDear A\n\n", "Dear B", "\nDear B\n\n"},
	{"Dear A", "  Dear B\n", "Dear B"},
};

static void only_the_wrapping_is_taken_off(void **state)
{
	struct arena *a = arena_new();

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct str text = revision_text(a, str_c(cases[i][1]), str_c(cases[i][0]));
		if (!str_is(text, cases[i][2]))
			fail_msg("of \"%s\" is left \"%.*s\"", cases[i][1], STR_ARG(text));
	}
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_wrapping_is_taken_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
