#include "core/refine.h"

#include "base/text.h"
#include "core/anchor.h"
#include "core/merge.h"
#include "core/particulars.h"
#include "core/revision.h"

enum { PLACES_MAX = 64 }; /* of one check */
enum { PLACES_WORK_MAX = CHECK_WORK_MAX / 4 };
enum { SAID_BYTES_MAX = 256 << 10 }; /* what is over it allows nothing more */

/* A draft's field, or all of one that has none, on its way to the next draft. */
struct part {
	struct field of;
	struct str before;
	struct merge merge;
	bool whole;	    /* it is flagged as a whole.. */
	struct span *place; /* ..and these places anyway; bytes of it */
	int n;
	struct str said; /* what the issues about the whole say */
};

/* ---- what the actionable issues flag ---- */

static bool is_all_of(const struct part *p, int64_t at, int64_t n)
{
	return at < 0 || (at == p->of.at && n == p->of.n);
}

static void flag(struct part *p, struct span s)
{
	const int64_t from = s.at > p->of.at ? s.at : p->of.at, end = p->of.at + p->of.n;
	const int64_t to = s.at + s.n < end ? s.at + s.n : end;

	if (from < to)
		p->place[p->n++] = (struct span){from - p->of.at, to - from};
}

/* The sentences where a check is red. */
static void flag_check(struct part *p, const struct job *job, const struct check_result *red,
		       int64_t *work)
{
	struct span place[PLACES_MAX];
	struct check_result r = *red;

	if (is_all_of(p, red->at, red->n)) {
		p->whole = true;
		return;
	}
	r.at -= p->of.at;
	if (r.at < 0 || r.at >= p->of.n)
		return;
	for (int i = check_places(&r, job, p->before, work, place, PLACES_MAX); i > 0; i--)
		p->place[p->n++] = anchor_sentence(p->before, place[i - 1]);
}

static void flag_issues(struct arena *a, struct part *p, const struct job *job,
			const struct issue *issue, int n)
{
	int64_t work = CHECK_WORK_MAX - PLACES_WORK_MAX;
	struct buf said = BUF(SAID_BYTES_MAX);

	p->place = arena_array(a, struct span, n * PLACES_MAX);
	for (int i = 0; i < n; i++) {
		if (is_all_of(p, issue[i].at, issue[i].n)) {
			buf_str(&said, issue[i].suggestion);
			buf_putc(&said, '\n');
		}
		if (issue[i].red)
			flag_check(p, job, issue[i].red, &work);
		else if (issue[i].at < 0)
			p->whole = true;
		else
			flag(p, (struct span){issue[i].at, issue[i].n});
	}
	p->said = arena_str(a, buf_view(&said));
	buf_release(&said);
}

/* ---- what is wrong with what came out ---- */

/* The hard check that @before met and @after does not; NULL: none. */
static const struct check *broken_check(const struct draft *before, const struct draft *after)
{
	for (int i = 0; i < after->n_result; i++)
		if (after->result[i].check->hard && !after->result[i].ok && before->result[i].ok)
			return after->result[i].check;
	return NULL;
}

static bool is_fragment(const struct part *p, const struct draft *before, const struct draft *after)
{
	if (p->merge.text.n >= p->before.n / 2)
		return false;
	for (int i = 0; i < after->n_result; i++)
		if (after->result[i].ok && !before->result[i].ok &&
		    is_all_of(p, before->result[i].at, before->result[i].n))
			return false;
	return true;
}

static struct str rejection(struct arena *a, const struct job *job, const struct part *part,
			    int n_part, const struct draft *before, const struct draft *after)
{
	static const char *const lost[] = {
		[PARTICULAR_number] = "number",	      [PARTICULAR_name] = "name",
		[PARTICULAR_address] = "address",     [PARTICULAR_quotation] = "quotation",
		[PARTICULAR_uncounted] = "uncounted", [PARTICULAR_none] = NULL};
	const struct check *broken = broken_check(before, after);
	const char *why = NULL;

	if (broken)
		return arena_printf(a, "check:%.*s", STR_ARG(broken->name));
	for (int i = 0; i < n_part && !why; i++) {
		const struct part *p = &part[i];
		if (p->whole && is_fragment(p, before, after))
			why = "fragment";
		else if (p->whole)
			why = lost[particulars_lost(job, p->before, p->place, p->n, p->merge.text,
						    p->said)];
	}
	return str_c(why);
}

const char *rejection_sentence(struct str rejected)
{
#define X(name, sentence)                                                                          \
	if (str_starts(rejected, #name))                                                           \
		return sentence;
	REJECTIONS(X)
#undef X
	return NULL;
}

/* ---- the merge ---- */

/* The next character that is no white space, as bytes; empty: there is none. */
static struct str next_visible(struct str s, size_t *at)
{
	struct str c;

	do {
		const size_t from = *at;
		text_next(s, at);
		c = str_sub(s, from, *at - from);
	} while (c.n > 0 && text_trim(c).n == 0);
	return c;
}

static bool differs_in_space_alone(struct str before, struct str after)
{
	size_t i = 0, j = 0;
	struct str c;

	if (str_eq(before, after))
		return true;
	do {
		c = next_visible(before, &i);
		if (!str_eq(c, next_visible(after, &j)))
			return false;
	} while (c.n > 0);
	return true;
}

static void merge_part(struct arena *a, struct part *p, struct str revision, struct refinement *out)
{
	const struct span everything = {0, (int64_t)p->before.n};

	revision = revision_text(a, revision, p->before);
	merge_flagged(a, p->before, revision, p->whole ? &everything : p->place,
		      p->whole ? 1 : p->n, &p->merge);
	out->n_kept += p->merge.n_kept;
	out->n_reverted += p->merge.n_reverted;
	if (!differs_in_space_alone(p->before, revision))
		out->rejected = STR_OF("unflagged"); /* unless some of it is taken */
}

/* The parts that @made merges with, and in *made what comes out. Returns how many they are. */
static int merge_parts(struct arena *a, const struct profile *profile, const struct job *job,
		       const struct draft *before, const struct issue *issue, int n,
		       struct answer *made, struct part part[FIELDS_MAX], struct refinement *out)
{
	const struct field all = {.n = (int64_t)before->text.n};
	struct str text[FIELDS_MAX];
	int n_part = before->n_field ? before->n_field : 1;

	for (int i = 0; i < n_part; i++) {
		part[i] = (struct part){.of = before->n_field ? before->field[i] : all};
		part[i].before = field_text(&part[i].of, before->text);
		flag_issues(a, &part[i], job, issue, n);
		merge_part(a, &part[i],
			   before->n_field ? field_text(&made->field[i], made->text) : made->text,
			   out);
		text[i] = part[i].merge.text;
	}
	if (before->n_field)
		answer_join(a, profile, text, made);
	else
		made->text = text[0];
	return n_part;
}

const struct draft *refine(struct history *h, struct arena *a, const struct profile *p,
			   const struct job *job, struct answer *made, int draft_no,
			   struct refinement *out)
{
	const struct draft *before = &h->draft[draft_no];
	struct draft *after;
	struct part part[FIELDS_MAX];
	int n;
	const struct issue *issue = history_actionable(h, a, p, draft_no, &n);

	*out = (struct refinement){.n_kept = 0};
	const int n_part = merge_parts(a, p, job, before, issue, n, made, part, out);
	if (out->rejected.p && out->n_kept == 0)
		return NULL;
	after = history_add_draft(h, a, p, job, made, draft_no,
				  n_part == 1 ? part[0].merge.run : NULL, part[0].merge.n_run);
	after->n_kept = out->n_kept;
	after->n_reverted = out->n_reverted;
	out->rejected = rejection(a, job, part, n_part, before, after);
	if (!out->rejected.p)
		return after;
	h->n_draft--;
	return NULL;
}
