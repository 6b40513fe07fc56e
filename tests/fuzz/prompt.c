/*
 * prompt.c - whatever a job, a draft or a model says, it stands inside the fences, and no fence stands inside it.
 */
#include "../lib/fuzz.h"
#include "../lib/loop_case.h"

#include "core/prompt.h"

enum { CALL_NO = 3, ITEMS_MAX = 3, KEY_DIGITS = 24 };

static struct arena *kept; /* over all rounds */
static struct profile profile;
static struct str templates[N_LANGUAGES * N_ROLES];

static struct str key_of(struct fuzz *f, const struct job *job, int counter)
{
	struct digest *d = digest_begin("draftmill/fence/1");
	uint8_t sha[SHA_BYTES];
	char key[KEY_DIGITS + 1];

	digest_bytes(d, (struct str){(const char *)job->salt, SALT_BYTES});
	digest_int(d, CALL_NO);
	digest_int(d, counter);
	digest_end(d, sha);
	hex_text(sha, KEY_DIGITS / 2, key);
	return arena_str(f->a, str_c(key));
}

/* Fences of the keys that come first, templates' slots, and Unicode. */
static struct str material(struct fuzz *f, const struct job *job)
{
	struct str s = fuzz_unicode(f, 8), key = key_of(f, job, fuzz_draw(f, 3));
	const struct str fence[] = {
		key,
		arena_printf(f->a, "\n%s>>>\n", key.p),
		arena_printf(f->a, "<<<%s\n", key.p),
		arena_printf(f->a, "%s%s", key.p, key.p),
		str_sub(key, 0, 23),
		str_sub(key, 1, 23),
		STR("{{draft}}"),
		STR("\n--- user ---\n"),
		fuzz_token(f),
	};

	for (int i = fuzz_draw(f, 3); i > 0; i--)
		s = fuzz_splice(f, s, SIZE_MAX, 0, FUZZ_PICK(f, fence));
	return text_to_utf8(f->a, s);
}

/* All that is written by others. */
struct world {
	struct variable variable[ITEMS_MAX];
	struct source source[ITEMS_MAX];
	struct str constraint[ITEMS_MAX];
	struct check check[ITEMS_MAX];
	struct check_result result[ITEMS_MAX];
	struct issue issue[ITEMS_MAX];
	struct job job;
	struct prompt_parts parts;
};

static void phrase(const void *args, const struct job *job, bool japanese, struct buf *out)
{
	buf_str(out, *(const struct str *)args);
}

static const struct check_type quoting = {.name = "quoting", .phrase = phrase};

/* The next piece of a world: drawn, or the same word for all in the bland one, whose outside must be the same. */
static struct str piece(struct fuzz *f, const struct job *job, bool bland)
{
	return bland ? STR_OF("x") : material(f, job);
}

static void fill(struct fuzz *f, struct world *w, bool bland)
{
	struct job *j = &w->job;

	for (int i = 0; i < ITEMS_MAX; i++) {
		struct str *args = arena_alloc(f->a, sizeof(*args));
		*args = piece(f, j, bland);
		w->variable[i] = (struct variable){piece(f, j, bland), piece(f, j, bland)};
		w->source[i] = (struct source){piece(f, j, bland), piece(f, j, bland)};
		w->constraint[i] = piece(f, j, bland);
		w->check[i] = (struct check){.name = STR("c"),
					     .type = &quoting,
					     .args = args,
					     .severity = 4,
					     .hard = true};
		w->result[i] = (struct check_result){&w->check[i], i == 1, piece(f, j, bland),
						     -1,	   0,	   false};
		w->issue[i] = (struct issue){.category = piece(f, j, bland),
					     .snippet = piece(f, j, bland),
					     .suggestion = piece(f, j, bland),
					     .source = piece(f, j, bland),
					     .severity = 3,
					     .at = -1};
	}
	j->variable = w->variable;
	j->sources = w->source;
	j->constraint = w->constraint;
	j->check = w->check;
	w->parts.result = w->result;
	w->parts.issue = w->issue;
	if (j->task.p)
		j->task = piece(f, j, bland);
	if (w->parts.draft.p)
		w->parts.draft = piece(f, j, bland);
}

/* Which of its parts a world has. */
static void shape(struct fuzz *f, struct world *w)
{
	*w = (struct world){0};
	for (size_t i = 0; i < sizeof(w->job.salt); i++)
		w->job.salt[i] = (uint8_t)fuzz_draw(f, 256);
	w->job.language = (enum language)fuzz_draw(f, N_LANGUAGES);
	w->job.n_variable = fuzz_draw(f, ITEMS_MAX + 1);
	w->job.n_source = fuzz_draw(f, ITEMS_MAX + 1);
	w->job.n_constraint = fuzz_draw(f, ITEMS_MAX + 1);
	w->job.n_check = fuzz_draw(f, ITEMS_MAX + 1);
	w->parts.n_result = fuzz_draw(f, ITEMS_MAX + 1);
	w->parts.n_issue = fuzz_draw(f, ITEMS_MAX + 1);
	w->parts.again = fuzz_chance(f, 30);
	if (fuzz_chance(f, 80))
		w->job.task = STR_OF("");
	if (fuzz_chance(f, 80))
		w->parts.draft = STR_OF("");
}

static int64_t end_of(struct str text, struct str mark, size_t from)
{
	int64_t at = str_find(text, mark, from);

	return at < 0 ? -1 : at + (int64_t)mark.n;
}

/* The user message without what stands in fences of @key, each of which becomes "[]". */
static struct str outside(struct fuzz *f, struct str user, struct str key)
{
	struct str open = arena_printf(f->a, "<<<%s\n", key.p);
	struct str close = arena_printf(f->a, "\n%s>>>", key.p);
	struct buf out = BUF(PROMPT_BYTES_MAX);
	size_t at = 0;

	for (int64_t next; (next = str_find(user, open, at)) >= 0;) {
		int64_t end = end_of(user, close, (size_t)next + open.n - 1);
		buf_str(&out, str_sub(user, at, (size_t)next - at));
		buf_puts(&out, "[]");
		if (end < 0)
			buf_puts(&out, "never closed");
		at = end < 0 ? user.n : (size_t)end;
	}
	buf_str(&out, str_sub(user, at, user.n));
	return fuzz_text_of(f, &out);
}

static struct prompt render(struct fuzz *f, const struct world *w, enum role role)
{
	struct prompt p = PROMPT;

	prompt_write(&profile, &w->job, role, CALL_NO, &w->parts, &p);
	FUZZ_TRUE(f, !p.system.full && !p.user.full);
	FUZZ_TRUE(f, text_is_utf8(buf_view(&p.system)) && text_is_utf8(buf_view(&p.user)));
	return p;
}

static int occurrences(struct str text, struct str part)
{
	int n = 0;

	for (int64_t at = -1; (at = str_find(text, part, (size_t)(at + 1))) >= 0;)
		n++;
	return n;
}

/* Whether some key fences @user so that nothing else is outside than @rest, and stands nowhere but in its @n_fence fences. */
static bool is_fenced(struct fuzz *f, const struct world *w, struct str user, int n_fence,
		      struct str rest)
{
	for (int counter = 0; counter < 10; counter++) {
		struct str key = key_of(f, &w->job, counter);
		if (occurrences(user, key) == 2 * n_fence && str_eq(outside(f, user, key), rest))
			return true;
	}
	return false;
}

static void material_stays_inside_its_fences(struct fuzz *f)
{
	struct world w, bland;
	enum role role = (enum role)fuzz_draw(f, N_ROLES);

	shape(f, &w);
	bland = w;
	fill(f, &w, false);
	fill(f, &bland, true);
	struct prompt p = render(f, &w, role), plain = render(f, &bland, role);
	struct str user = arena_str(f->a, buf_view(&p.user));
	struct str user_plain = arena_str(f->a, buf_view(&plain.user));
	f->input = user;
	FUZZ_TRUE(f, str_eq(buf_view(&p.system), buf_view(&plain.system)));
	prompt_release(&p);
	prompt_release(&plain);
	struct str key = key_of(f, &bland.job, 0);
	int n_fence = occurrences(user_plain, arena_printf(f->a, "<<<%s\n", key.p));
	if (n_fence == 0) /* nothing by others in it */
		FUZZ_TRUE(f, str_eq(user, user_plain));
	else
		FUZZ_TRUE(f, is_fenced(f, &w, user, n_fence, outside(f, user_plain, key)));
}

static void a_template_is_fit_or_refused(struct fuzz *f)
{
	struct str text = text_to_utf8(f->a, fuzz_mutate(f, templates, N_LANGUAGES * N_ROLES));
	struct prompt p = PROMPT;
	struct profile of_text = profile;
	struct world w;
	struct err err = {""};

	if (prompt_check(text, &err) != ST_OK) {
		FUZZ_TRUE(f, err.text[0] && text_is_utf8(str_c(err.text)));
		return;
	}
	shape(f, &w);
	fill(f, &w, false);
	for (int lang = 0; lang < N_LANGUAGES; lang++)
		of_text.prompt[lang][ROLE_CRITIC] = text;
	prompt_write(&of_text, &w.job, ROLE_CRITIC, CALL_NO, &w.parts, &p);
	FUZZ_TRUE(f, text_is_utf8(buf_view(&p.system)) && text_is_utf8(buf_view(&p.user)));
	prompt_release(&p);
}

int main(int argc, char **argv)
{
	static const struct fuzz_test tests[] = {
		{"material stays inside its fences", material_stays_inside_its_fences, 4000},
		{"a template is fit or refused", a_template_is_fit_or_refused, 6000},
	};
	kept = arena_new();
	profile = *case_profile(kept, case_file(kept, "tests/data/profile.json"));
	profile.n_check = 0; /* the world has its own */
	for (int i = 0; i < N_LANGUAGES * N_ROLES; i++) {
		enum language lang = (enum language)(i / N_ROLES);
		enum role role = (enum role)(i % N_ROLES);
		templates[i] = case_file(kept, arena_printf(kept, "config/prompts/%s/%s.txt",
							    language_name(lang), role_name(role))
						       .p);
		profile.prompt[lang][role] = templates[i];
	}
	int status = FUZZ_MAIN(tests);
	arena_free(kept);
	return status;
}
