#include "check_family.h"
#include "check_parts.h"

#include "base/text.h"

#include <cmark.h>
#include <ctype.h>

/* cmark looks at each bracket with each other one, and takes a microsecond or two for what might be a mark. */
enum { BYTE_WORK = 40, LINE_WORK = 2000, MARK_WORK = 3000, BRACKETS_WORK = 8 };
enum { NAMED_MAX = 5, LABEL_BYTES_MAX = 200 };

struct document {
	struct arena *scratch;
	struct str text;
	struct str
		plain; /* the same with ".." for each escaped mark: what is left of marks in its words was not meant so */
	const size_t *line; /* where each line begins, from 1; one more behind the last */
	int n_line;
	int level; /* of the last heading; 0: there was none */
	struct check_result *out;
	struct buf faults;
	int n_fault;
};

static int64_t work_of(struct str s)
{
	int64_t work = BYTE_WORK * (int64_t)s.n, n_bracket = 0;

	for (size_t i = 0; i < s.n; i++) {
		n_bracket += s.p[i] == '[';
		if (s.p[i] == '\n')
			work += LINE_WORK;
		else if (s.p[i] && strchr("*_[]!<>&\\`+-", s.p[i]))
			work += MARK_WORK;
	}
	return work + BRACKETS_WORK * n_bracket * n_bracket;
}

static void read_lines(struct document *d)
{
	int n = 1;

	for (size_t i = 0; i < d->text.n; i++)
		n += d->text.p[i] == '\n';
	size_t *line = arena_array(d->scratch, size_t, n + 2);
	d->n_line = n;
	n = 1;
	for (size_t i = 0; i < d->text.n; i++) {
		if (d->text.p[i] == '\n')
			line[++n] = i + 1;
	}
	line[n + 1] = d->text.n + 1;
	d->line = line;
}

/* Not of "\\`": in code a backslash escapes nothing. */
static void hide_escapes(struct document *d)
{
	struct str s = arena_str(d->scratch, d->text);
	char *p = (char *)(uintptr_t)s.p;

	for (size_t i = 0; i + 1 < s.n; i++) {
		if (p[i] != '\\' || !ispunct((unsigned char)p[i + 1]))
			continue;
		if (strchr("*_[]", p[i + 1]))
			p[i] = p[i + 1] = '.';
		i++;
	}
	d->plain = s;
}

/* A line without its end, and without blanks and marks of quotations at its front. */
static struct str line_of(const struct document *d, int no)
{
	if (no < 1 || no > d->n_line)
		return STR_OF("");
	struct str s = str_trim(str_sub(d->plain, d->line[no], d->line[no + 1] - 1 - d->line[no]));
	while (str_starts(s, ">"))
		s = str_trim(str_sub(s, 1, s.n));
	return s;
}

/* @mark, or else all of line @no, is what the refiner has to look at; it is searched for from byte @from of the line on. */
static void fault(struct document *d, int no, size_t from, const char *mark, const char *why)
{
	size_t begin = d->line[no], end = d->line[no + 1] - 1;

	if (d->n_fault++ >= NAMED_MAX)
		return;
	if (d->n_fault == 1) {
		int64_t at = str_find(str_sub(d->plain, 0, end), str_c(mark), begin + from);
		d->out->at = at < 0 ? (int64_t)begin : at;
		d->out->n = at < 0 ? (int64_t)(end - begin) : (int64_t)strlen(mark);
	}
	buf_puts(&d->faults, d->n_fault > 1 ? "; " : "");
	buf_printf(&d->faults, *mark ? "line %d: \"%s\" %s" : "line %d: %s%s", no, mark, why);
}

static void read_heading(struct document *d, cmark_node *node)
{
	int level = cmark_node_get_heading_level(node);

	if (d->level > 0 && level > d->level + 1)
		fault(d, cmark_node_get_start_line(node), 0, "",
		      arena_printf(d->scratch, "a heading of level %d below one of level %d", level,
				   d->level)
			      .p);
	d->level = level;
}

/* cmark closes an open fence by itself, at the end of the text or of what it stands in. */
static void read_code(struct document *d, cmark_node *node)
{
	int first = cmark_node_get_start_line(node), last = cmark_node_get_end_line(node);
	size_t column = (size_t)cmark_node_get_start_column(node) - 1, n = 0;
	struct str open = str_sub(d->plain, d->line[first] + column,
				  d->line[first + 1] - 1 - d->line[first] - column);
	struct str close = line_of(d, last);
	const char *sign = str_starts(open, "```") ? "```" : "~~~";
	bool fenced = str_starts(open, sign) && !str_starts(str_c(cmark_node_get_literal(node)),
							    arena_str(d->scratch, open).p);

	while (n < open.n && open.p[n] == sign[0])
		n++;
	if (fenced && (first == last || close.n < n || !str_only(close, sign)))
		fault(d, first, column, sign, "opens code that never ends");
}

static void read_target(struct document *d, cmark_node *node)
{
	const char *url = cmark_node_get_url(node);

	if (!url || !*url)
		fault(d, cmark_node_get_start_line(node), 0, "]()", "is a link to nowhere");
}

/* Whether the ']' at @at ends what was to be the text of a link: a[1][2] and f[0](x) are none. */
static bool ends_label(struct str s, size_t at)
{
	size_t least = at > LABEL_BYTES_MAX ? at - LABEL_BYTES_MAX : 0, i = at;

	while (i > least && s.p[i - 1] != '[')
		i--;
	return i == least || !isalnum(i > 1 ? sign_at(s, i - 2) : ' ');
}

/* A run of 2 or 3 of a mark of emphasis that is left as it is, but for 2 ** 3, snake__case and ____. */
static bool is_left_mark(struct str s, size_t at, size_t n)
{
	int before = at > 0 ? sign_at(s, at - 1) : ' ', behind = sign_at(s, at + n);

	if (n < 2 || n > 3 || (isspace(before) && isspace(behind)))
		return false;
	return s.p[at] == '*' || !isalnum(before) || !isalnum(behind);
}

/* Words as they are shown, with the marks that marked nothing still in them. */
static void read_words(struct document *d, cmark_node *node)
{
	struct str s = str_c(cmark_node_get_literal(node));
	int line = cmark_node_get_start_line(node);
	size_t from = (size_t)cmark_node_get_start_column(node) - 1;

	for (size_t at = 0, n; at < s.n; at += n) {
		for (n = 1; at + n < s.n && s.p[at + n] == s.p[at] && strchr("*_", s.p[at]); n++)
			;
		if (s.p[at] == '*' && is_left_mark(s, at, n))
			fault(d, line, from, "**", "marks nothing");
		else if (s.p[at] == '_' && is_left_mark(s, at, n))
			fault(d, line, from, "__", "marks nothing");
		else if (s.p[at] == '`' && str_find(line_of(d, line), STR_OF("\\`"), 0) < 0)
			fault(d, line, from, "`", "marks nothing");
		else if (s.p[at] == ']' && sign_at(s, at + 1) == '(' && ends_label(s, at))
			fault(d, line, from, "](", "is a link that is broken");
		else if (s.p[at] == ']' && sign_at(s, at + 1) == '[' && ends_label(s, at))
			fault(d, line, from, "][", "refers to nothing");
	}
}

/* Cells of a row of a table; 0: it is none. *is_rule: of dashes and colons alone, as under the head. */
static int cells_of(struct str row, bool *is_rule)
{
	int n = 1;

	*is_rule = str_only(row, "|-: ") && memchr(row.p, '-', row.n);
	if (!memchr(row.p, '|', row.n))
		return 0;
	for (size_t i = 1; i + 1 < row.n; i++)
		n += row.p[i] == '|' && row.p[i - 1] != '\\';
	return n;
}

/* CommonMark has no tables; where they are known (GFM), a rule unlike its head leaves bars and dashes, and cells too many are lost. */
static void read_paragraph(struct document *d, cmark_node *node)
{
	int first = cmark_node_get_start_line(node), last = cmark_node_get_end_line(node);
	int before = 0,
	    head = 0; /* cells of the line before; of the table's head, 0: no table yet */

	for (int no = first; no <= last && no <= d->n_line; no++) {
		struct str line = line_of(d, no);
		bool is_rule;
		int n_cell = cells_of(line, &is_rule);
		if (is_rule && before > 0 && head == 0) {
			head = before;
			if (n_cell != head)
				fault(d, no, 0, "",
				      "the rule of a table with other cells than its head");
		} else if (head > 0 && n_cell > head) {
			fault(d, no, 0, "", "a row of a table with more cells than its head");
		}
		before = n_cell;
		size_t n_hash = 0;
		while (sign_at(line, n_hash) == '#')
			n_hash++;
		if (n_hash >= 2 && n_hash <= 6 && sign_at(line, n_hash) != ' ')
			fault(d, no, 0, "##", "is no heading without a blank behind it");
	}
}

static void read_node(struct document *d, cmark_node *node)
{
	switch (cmark_node_get_type(node)) {
	case CMARK_NODE_HEADING:
		read_heading(d, node);
		break;
	case CMARK_NODE_CODE_BLOCK:
		read_code(d, node);
		break;
	case CMARK_NODE_PARAGRAPH:
		read_paragraph(d, node);
		break;
	case CMARK_NODE_LINK:
	case CMARK_NODE_IMAGE:
		read_target(d, node);
		break;
	case CMARK_NODE_TEXT:
		read_words(d, node);
		break;
	default:
		break;
	}
}

static void read_document(struct document *d)
{
	cmark_node *root = cmark_parse_document(d->plain.p, d->plain.n, CMARK_OPT_DEFAULT);
	cmark_iter *iter = cmark_iter_new(root);
	cmark_event_type event;

	cmark_consolidate_text_nodes(root);
	while ((event = cmark_iter_next(iter)) != CMARK_EVENT_DONE) {
		if (event == CMARK_EVENT_ENTER)
			read_node(d, cmark_iter_get_node(iter));
	}
	cmark_iter_free(iter);
	cmark_node_free(root);
}

static void run_markdown(struct arena *scratch, const void *args, const struct job *job,
			 struct checked *checked, struct check_result *out)
{
	struct document d = {.scratch = scratch,
			     .text = checked->text,
			     .out = out,
			     .faults = BUF(4 * CHECK_DETAIL_BYTES_MAX)};

	if (!check_afford(checked, work_of(d.text), out))
		return;
	read_lines(&d);
	hide_escapes(&d);
	read_document(&d);
	if (d.n_fault > NAMED_MAX)
		buf_puts(&d.faults, "; and more");
	set_detail(scratch, &d.faults, out);
}

static void phrase_markdown(const void *args, const struct job *job, bool japanese, struct buf *out)
{
	buf_puts(out, japanese
			      ? "正しいMarkdownであること(閉じていないコードや強調、壊れたリンク、"
				"見出しの段飛ばしは不可)。"
			      : "Must be sound Markdown: code and emphasis closed, links whole, no "
				"level of headings skipped.");
}

static const char *const keys[] = {NULL};

const struct check_type check_markdown_types[] = {
	{"markdown", arg_none, run_markdown, phrase_markdown, keys},
	{0},
};

void markdown_library(struct buf *out)
{
	buf_printf(out, "cmark %s", cmark_version_string());
}
