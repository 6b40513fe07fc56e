#include "app/profiles.h"

#include "app/file.h"
#include "app/suggest.h"
#include "base/clock.h"
#include "base/log.h"
#include "profile_file.h"

#define DAY_MS (24 * 3600 * INT64_C(1000))
#define SUNSET_WARN_MS (30 * DAY_MS)

struct kept { /* a profile that some job has pinned and that is not loaded */
	const struct profile *profile;
	struct kept *next;
};

struct profiles {
	struct arena *a;
	int n_hold;
	const struct settings *settings;
	struct profile_file *file;
	int n_file;
	struct kept *kept;
	const struct schema *job_schema;
};

static void read_job_schema(struct profiles *p, const struct settings *settings,
			    struct faults *faults)
{
	const char *path = file_path(p->a, settings->schema_dir, "job.schema.json");
	struct str text;
	struct err err;

	if (file_read(p->a, path, &text, &err) == ST_OK) {
		if (schema_read(p->a, text, &p->job_schema, &err) == ST_OK)
			return;
		err_at(&err, "%s: ", path);
	}
	faults_add(faults, NULL, "%s", err.text);
}

static void read_profiles(struct profiles *p, const struct settings *settings,
			  struct faults *faults)
{
	const char *const *name;
	struct prompt_texts texts;
	struct err err;
	int n;

	prompt_texts_read(p->a, settings, faults, &texts);
	if (file_list(p->a, settings->profiles_dir, ".yaml", &name, &n, &err) != ST_OK) {
		faults_add(faults, NULL, "%s", err.text);
		return;
	}
	if (n == 0)
		faults_add(faults, settings->profiles_dir,
			   "there is no profile here; add one, NAME.yaml");
	p->file = arena_array(p->a, struct profile_file, n);
	for (int i = 0; i < n; i++)
		p->n_file += profile_file_read(p->a, settings, &texts, name[i], &p->file[p->n_file],
					       faults);
}

struct profiles *profiles_hold(struct profiles *p)
{
	p->n_hold++;
	return p;
}

void profiles_free(struct profiles *p)
{
	if (p && --p->n_hold == 0)
		arena_free(p->a);
}

static bool is_used(const struct profiles *p, const struct model *model)
{
	const struct profile *profile;

	for (int i = 0; (profile = profiles_at(p, i)); i++) {
		for (int role = 0; role < N_ROLES; role++) {
			if (str_eq(profile->model[role].name, model->name))
				return true;
		}
	}
	return false;
}

/* Warns of models in use that will not be served for long; past the day their profiles are refused. */
static void tell_sunsets(const struct profiles *p, const struct settings *settings)
{
	const int64_t now = clock_unix_ms();

	for (int i = 0; i < settings->n_model; i++) {
		const struct model *m = &settings->model[i];
		if (m->sunset_ms && m->sunset_ms - now < SUNSET_WARN_MS && is_used(p, m))
			log_warn("model_sunset", L_STRN("model", m->name),
				 L_INT("days_left", (m->sunset_ms - now) / DAY_MS));
	}
}

static struct profiles *open_in(struct arena *a, const struct settings *settings,
				struct faults *faults)
{
	struct profiles *p = arena_array(a, struct profiles, 1);
	const int n_before = faults->n;

	*p = (struct profiles){.a = a, .n_hold = 1, .settings = settings};
	read_job_schema(p, settings, faults);
	read_profiles(p, settings, faults);
	if (faults->n > n_before) {
		profiles_free(p);
		return NULL;
	}
	tell_sunsets(p, settings);
	return p;
}

struct profiles *profiles_open(const struct settings *settings, struct faults *faults)
{
	return open_in(arena_new(), settings, faults);
}

struct profiles *profiles_again(const struct settings *old, struct faults *faults)
{
	struct arena *a = arena_new();
	struct settings *s = arena_array(a, struct settings, 1);

	if (settings_read(a, old->path, old->flag, old->n_flag, s, faults))
		return open_in(a, s, faults);
	arena_free(a);
	return NULL;
}

static struct profile_file *file_named(const struct profiles *p, struct str name, struct err *err)
{
	struct suggest near = {.wanted = name};

	for (int i = 0; i < p->n_file; i++) {
		if (str_eq(p->file[i].profile->name, name))
			return &p->file[i];
		suggest_offer(&near, p->file[i].profile->name);
	}
	return ERR_SET(err, NULL, "no profile is named \"%.*s\"%s%.*s%s", STR_ARG(name),
		       near.best.p ? "; did you mean \"" : "", STR_ARG(near.best),
		       near.best.p ? "\"?" : "");
}

const struct profile *profiles_named(const struct profiles *p, struct str name, struct err *err)
{
	const struct profile_file *f = file_named(p, name, err);

	return f ? f->profile : NULL;
}

const struct profile *profiles_of_job(const struct profiles *p, struct str name, struct str job_id,
				      struct str *arm, struct err *err)
{
	const struct profile_file *f = file_named(p, name, err);
	int64_t share[ARMS_MAX];

	*arm = str_c(NULL);
	if (!f || f->n_arm == 0)
		return f ? f->profile : NULL;
	for (int i = 0; i < f->n_arm; i++)
		share[i] = f->arm[i].share;
	const struct profile_arm *own = &f->arm[arm_of(name, job_id, share, f->n_arm)];
	*arm = own->name;
	return own->profile;
}

/* The @i-th of all that jobs may run under; *arm NULL: the file's own profile. */
static const struct profile_file *file_at(const struct profiles *p, int i,
					  const struct profile_arm **arm)
{
	*arm = NULL;
	for (const struct profile_file *f = p->file; f < p->file + p->n_file; f++) {
		const int n = f->n_arm ? f->n_arm : 1;
		if (i < n) {
			*arm = f->n_arm ? &f->arm[i] : NULL;
			return f;
		}
		i -= n;
	}
	return NULL;
}

const struct profile *profiles_at(const struct profiles *p, int i)
{
	const struct profile_arm *arm;
	const struct profile_file *f = file_at(p, i, &arm);

	return arm ? arm->profile : f ? f->profile : NULL;
}

struct str profiles_name_at(const struct profiles *p, int i)
{
	const struct profile_arm *arm;
	const struct profile_file *f = file_at(p, i, &arm);

	return arm ? arena_printf(p->a, "%.*s/%.*s", STR_ARG(f->profile->name), STR_ARG(arm->name))
		   : f->profile->name;
}

enum status profiles_take_arm(struct profiles *p, struct str arm, struct err *err)
{
	struct suggest near = {.wanted = arm};
	bool found = false;

	for (struct profile_file *f = p->file; f < p->file + p->n_file; f++) {
		int i = 0;
		for (; i < f->n_arm && !str_eq(f->arm[i].name, arm); i++)
			suggest_offer(&near, f->arm[i].name);
		found = found || i < f->n_arm;
		for (int k = 0; i < f->n_arm && k < f->n_arm; k++)
			f->arm[k].share = k == i;
	}
	if (found)
		return ST_OK;
	return err_set(err, ST_INVALID, "no profile has an arm \"%.*s\"%s%.*s%s", STR_ARG(arm),
		       near.best.p ? "; did you mean \"" : "", STR_ARG(near.best),
		       near.best.p ? "\"?" : "");
}

static bool is_named(const struct profile *profile, const uint8_t sha[SHA_BYTES])
{
	return memcmp(profile->sha, sha, SHA_BYTES) == 0;
}

/* Also one whose file has arms by now. */
static const struct profile *known(const struct profiles *p, const uint8_t sha[SHA_BYTES])
{
	for (const struct profile_file *f = p->file; f < p->file + p->n_file; f++) {
		if (is_named(f->profile, sha))
			return f->profile;
		for (int i = 0; i < f->n_arm; i++)
			if (is_named(f->arm[i].profile, sha))
				return f->arm[i].profile;
	}
	for (const struct kept *kept = p->kept; kept; kept = kept->next)
		if (is_named(kept->profile, sha))
			return kept->profile;
	return NULL;
}

enum status profiles_pinned(struct profiles *p, const uint8_t sha[SHA_BYTES], struct str json,
			    const struct profile **out, struct err *err)
{
	struct faults faults = {.tell = NULL};

	*out = known(p, sha);
	if (*out)
		return ST_OK;
	struct kept *kept = arena_array(p->a, struct kept, 1);
	kept->profile = profile_read(p->a, json, &faults);
	if (!kept->profile)
		return err_set(err, ST_INVALID, "%s", faults.first.text);
	if (memcmp(kept->profile->sha, sha, SHA_BYTES) != 0)
		return err_set(err, ST_INVALID,
			       "the stored profile is not the one that its hash names");
	kept->next = p->kept;
	p->kept = kept;
	*out = kept->profile;
	return ST_OK;
}

const struct schema *profiles_job_schema(const struct profiles *p)
{
	return p->job_schema;
}

const struct settings *profiles_settings(const struct profiles *p)
{
	return p->settings;
}
