#include "app/profile_test.h"

#include "app/page.h"
#include "app/sample.h"

#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

enum { DIFFERENCE_BYTES_MAX = 1 << 20, CASES_BYTES_MAX = 64 << 20 };

struct suite {
	const struct profile_test *test;
	struct str profile;
	struct page page;
	struct buf cases; /* of JUnit */
	int n, n_different, n_fault;
};

/* Characters that XML 1.0 has no place for become a question mark. */
static void put_xml(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		const char c = s.p[i];

		if (c == '<' || c == '>' || c == '&' || c == '"')
			buf_printf(out, "&#%d;", c);
		else
			buf_putc(out, (unsigned char)c < ' ' && c != '\n' && c != '\t' ? '?' : c);
	}
}

/* @what: failure or error; NULL: it went well. */
static void put_case(struct suite *s, struct str name, const char *what, struct str why)
{
	buf_puts(&s->cases, "<testcase classname=\"");
	put_xml(&s->cases, s->profile);
	buf_puts(&s->cases, "\" name=\"");
	put_xml(&s->cases, name);
	buf_puts(&s->cases, what ? "\">" : "\"/>\n");
	if (!what)
		return;
	buf_printf(&s->cases, "<%s message=\"", what);
	put_xml(&s->cases, str_cut(why, 300));
	buf_puts(&s->cases, "\">");
	put_xml(&s->cases, why);
	buf_printf(&s->cases, "</%s></testcase>\n", what);
}

static void on_fault(void *owner, const struct err *err)
{
	struct suite *s = owner;

	page_line(&s->page, str_c(err->text));
	page_printf(&s->page, "\n");
	put_case(s, STR_OF("samples"), "error", str_c(err->text));
	s->n_fault++;
}

static void play(struct suite *s, const struct profile *profile, const struct sample *sample)
{
	struct buf difference = BUF(DIFFERENCE_BYTES_MAX);
	const bool ok = sample_play(s->test->profiles, profile, sample, &difference);

	s->n++;
	s->n_different += !ok;
	put_case(s, sample->id, ok ? NULL : "failure", buf_view(&difference));
	if (!ok) {
		page_printf(&s->page, "%s: ", sample->place);
		page_line(&s->page, sample->id);
		page_printf(&s->page, ": ");
		page_line(&s->page, buf_view(&difference));
		page_printf(&s->page, "\n");
	}
	buf_release(&difference);
}

static void put_suite(struct suite *s)
{
	struct buf *out = s->test->junit;

	if (!out)
		return;
	buf_puts(out, "<testsuite name=\"");
	put_xml(out, s->profile);
	buf_printf(out, "\" tests=\"%d\" failures=\"%d\" errors=\"%d\">\n", s->n + s->n_fault,
		   s->n_different, s->n_fault);
	buf_str(out, buf_view(&s->cases));
	buf_puts(out, "</testsuite>\n");
}

/* One profile, or one arm of it by its @name, which has samples; returns the exit status. */
static int test_profile(const struct profile_test *t, const struct profile *profile,
			struct str name)
{
	struct suite s = {
		.test = t, .profile = name, .page = PAGE(false), .cases = BUF(CASES_BYTES_MAX)};
	struct faults faults = {.tell = on_fault, .owner = &s};
	struct arena *a = arena_new();
	const struct sample *sample;
	int n;

	if (samples_read(a, t->profiles, profile, &sample, &n, &faults)) {
		for (int i = 0; i < n; i++)
			play(&s, profile, &sample[i]);
		page_printf(&s.page, "%.*s: %d of %d as expected\n", STR_ARG(name),
			    s.n - s.n_different, s.n);
	} else {
		page_printf(&s.page, "%.*s: not played\n", STR_ARG(name));
	}
	put_suite(&s);
	page_print(&s.page);
	buf_release(&s.page.text);
	buf_release(&s.cases);
	arena_free(a);
	return s.n_fault ? EX_DATAERR : s.n_different > 0;
}

static bool has_samples(const struct profile_test *t, const struct profile *profile)
{
	struct arena *a = arena_new();
	bool is_there =
		access(sample_folder(a, profiles_settings(t->profiles), profile->name), F_OK) == 0;

	arena_free(a);
	if (!is_there && !t->name.p)
		printf("%.*s: has no samples\n", STR_ARG(profile->name));
	return is_there || t->name.p;
}

int profile_test_run(const struct profile_test *t)
{
	const struct profile *profile;
	int exit_status = EX_OK;

	if (t->junit)
		buf_puts(t->junit, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	for (int i = 0; (profile = profiles_at(t->profiles, i)); i++) {
		if ((t->name.p && !str_eq(t->name, profile->name)) || !has_samples(t, profile))
			continue;
		int status = test_profile(t, profile, profiles_name_at(t->profiles, i));
		exit_status = status > exit_status ? status : exit_status;
	}
	if (t->junit)
		buf_puts(t->junit, "</testsuites>\n");
	return exit_status;
}
