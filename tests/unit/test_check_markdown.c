#include "base/clock.h"
#include "check_world.h"

#define MARKDOWN "\"type\": \"markdown\""

static void sound_markdown_is_green(void **state)
{
	static const char *const green[] = {
		"",
		"Plain words, 2 ** 3 = 8, 5 * 3, a_b, snake__case, *note, ____ and [x].",
		"# One\n## Two\n### Three\n## Two\n# One\n",
		"### Three first\n#### Four\n",
		"**bold**, *it*, ***both***, __bold__, `code`, ``a ` b``.",
		"これは**強調**です。\n",
		"\\*\\*no bold\\*\\*, \\`no code\\`, \\[no link\\](x), \\_\\_x",
		"a path `C:\\` and `**` in code",
		"```c\nint a[1][2]; **p;\n```\n",
		"~~~~\n```\n~~~~\n",
		"> ```\n> code\n> ```\n",
		"- item\n  ```\n  code\n  ```\n- next\n",
		"    ``` indented\n",
		"\tcode\n  \tcode\n\n- a\n\n      code\n\nb\n\n\t~~~ code\n",
		"[a](https://a.example \"t\"), ![i](i.png), <https://a.example>",
		"[a][b], [b], [b][].\n\n[b]: https://b.example\n",
		"a[1][2], f[0](x), [ ] box, [1], [^1]",
		"| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 |\n",
		"a | b\n-|-\n1 | 2\n",
		"1. one\n2. two\n   - three\n\n---\n",
		"#tag and #other\n",
		"Title\n=====\n\nSub\n---\n",
		"<b>bold</b> &amp; <!-- ** -->",
	};

	for (size_t i = 0; i < sizeof(green) / sizeof(green[0]); i++)
		assert_green(MARKDOWN, green[i]);
}

static void what_a_reader_would_see_as_broken_is_red(void **state)
{
	static const struct {
		const char *text, *detail, *place;
	} red[] = {
		{"text\n\n```c\nint a;\n", "line 3: \"```\" opens code that never ends", "```"},
		{"```", "line 1: \"```\" opens code that never ends", "```"},
		{"````\ncode\n```\n", "line 1: \"```\" opens code that never ends", "```"},
		{"~~~\ncode\n\n", "line 1: \"~~~\" opens code that never ends", "~~~"},
		{"> ```\n> code\n\nafter\n", "line 1: \"```\" opens code that never ends", "```"},
		{"a **bold and no end", "line 1: \"**\" marks nothing", "**"},
		{"one\ntwo** three", "line 2: \"**\" marks nothing", "**"},
		{"a ** bold** b", "line 1: \"**\" marks nothing", "**"},
		/* CommonMark: between a letter and a bracket the mark neither opens nor closes. */
		{"これは**「強調」**です。",
		 "line 1: \"**\" marks nothing; line 1: \"**\" marks nothing", "**"},
		{"__重要 です", "line 1: \"__\" marks nothing", "__"},
		{"some `code here", "line 1: \"`\" marks nothing", "`"},
		{"see [this](http://a b)", "line 1: \"](\" is a link that is broken", "]("},
		{"see [this](http://a.example", "line 1: \"](\" is a link that is broken", "]("},
		{"see [this][that]", "line 1: \"][\" refers to nothing", "]["},
		{"see [this]() and", "line 1: \"]()\" is a link to nowhere", "]()"},
		{"![]()", "line 1: \"]()\" is a link to nowhere", "]()"},
		{"# A\n\n### B\n", "line 3: a heading of level 3 below one of level 1", "### B"},
		{"A\n=\n\n#### B\n", "line 4: a heading of level 4 below one of level 1", "#### B"},
		{"##見出し\n", "line 1: \"##\" is no heading without a blank behind it", "##"},
		{"| a | b | c |\n|---|---|\n| 1 | 2 |\n",
		 "line 2: the rule of a table with other cells than its head", "|---|---|"},
		{"| a | b |\n|---|---|\n| 1 | 2 | 3 |\n",
		 "line 3: a row of a table with more cells than its head", "| 1 | 2 | 3 |"},
	};

	for (size_t i = 0; i < sizeof(red) / sizeof(red[0]); i++)
		assert_red(MARKDOWN, red[i].text, red[i].detail, red[i].place);
}

static void up_to_five_faults_are_told(void **state)
{
	assert_red(MARKDOWN, "[]()\n\n[]()\n\n[]()\n\n[]()\n\n[]()\n\n[]()",
		   "line 1: \"]()\" is a link to nowhere; line 3: \"]()\" is a link to nowhere; "
		   "line 5: \"]()\" is a link to nowhere; line 7: \"]()\" is a link to nowhere; "
		   "line 9: \"]()\" is a link to nowhere; and more",
		   "]()");
}

/* cmark takes half a minute for these: their work is known before. */
static void what_takes_long_is_not_begun(void **state)
{
	static char text[250001];

	for (size_t i = 0; i + 1 < sizeof(text); i++)
		text[i] = "![[]()"[i % 6];
	int64_t begin_ms = clock_mono_ms();
	assert_red(MARKDOWN, text, "could not be decided: too many checks for so long a text",
		   NULL);
	assert_true(clock_mono_ms() - begin_ms < 1000);
}

static void markdown_is_phrased(void **state)
{
	assert_phrase(MARKDOWN,
		      "Must be sound Markdown: code and emphasis closed, links whole, no level of "
		      "headings skipped.",
		      "正しいMarkdownであること(閉じていないコードや強調、壊れたリンク、"
		      "見出しの段飛ばしは不可)。");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(sound_markdown_is_green),    T(what_a_reader_would_see_as_broken_is_red),
		T(up_to_five_faults_are_told), T(what_takes_long_is_not_begun),
		T(markdown_is_phrased),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
