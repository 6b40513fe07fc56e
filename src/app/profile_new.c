#include "app/profile_new.h"

#include "app/file.h"
#include "app/sample.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_BYTES_MAX = 40 };

/* The same with the line `name: ...` for the new one, the rest byte by byte. */
static enum status rename_profile(struct arena *a, struct str yaml, struct str name,
				  struct str *out, struct err *err)
{
	int64_t at = str_starts(yaml, "name:") ? 0 : str_find(yaml, STR_OF("\nname:"), 0) + 1;

	if (at == 0 && !str_starts(yaml, "name:"))
		return err_set(err, ST_INVALID, "it has no line `name: ...`");
	int64_t end = str_find(yaml, STR_OF("\n"), (size_t)at);
	struct str rest = str_sub(yaml, end < 0 ? yaml.n : (size_t)end, yaml.n);
	*out = arena_printf(a, "%.*sname: %.*s%.*s", (int)at, yaml.p, STR_ARG(name), STR_ARG(rest));
	return ST_OK;
}

static enum status write_new(const char *path, struct str text, struct err *err)
{
	FILE *file = fopen(path, "wxe");
	bool wrote = file && fwrite(text.p, 1, text.n, file) == text.n;

	if (file && fclose(file) != 0)
		wrote = false;
	return wrote ? ST_OK
		     : err_set(err, ST_DOWN, "%s: cannot be written (%s)", path, strerror(errno));
}

static enum status copy_samples(struct arena *a, const char *from, const char *to, struct err *err)
{
	static const char *const names[] = {SAMPLE_JOBS, SAMPLE_EXPECTED};
	struct str text[2];
	enum status status = ST_OK;

	for (int i = 0; i < 2 && status == ST_OK; i++)
		status = file_read(a, file_path(a, from, names[i]), &text[i], err);
	if (status == ST_OK && mkdir(to, 0777) != 0)
		status = err_set(err, ST_INVALID, "%s: cannot be made (%s)", to, strerror(errno));
	for (int i = 0; i < 2 && status == ST_OK; i++)
		status = write_new(file_path(a, to, names[i]), text[i], err);
	return status;
}

static enum status make(struct arena *a, const struct settings *s, struct str name, struct str from,
			struct err *err)
{
	const char *folder = sample_folder(a, s, name), *model = sample_folder(a, s, from);
	const char *path = arena_printf(a, "%s.yaml", folder).p;
	const char *model_path = arena_printf(a, "%s.yaml", model).p;
	struct str yaml;

	if (access(path, F_OK) == 0 || access(folder, F_OK) == 0)
		return err_set(err, ST_INVALID, "%s: is there already; take another name", path);
	if (file_read(a, model_path, &yaml, err) != ST_OK)
		return ST_INVALID;
	if (rename_profile(a, yaml, name, &yaml, err) != ST_OK) {
		err_at(err, "%s: ", model_path);
		return ST_INVALID;
	}
	enum status status = copy_samples(a, model, folder, err);
	return status == ST_OK ? write_new(path, yaml, err) : status;
}

enum status profile_new(const struct settings *s, struct str name, struct str from, struct err *err)
{
	if (!name.n || name.n > NAME_BYTES_MAX ||
	    !str_only(name, "abcdefghijklmnopqrstuvwxyz0123456789-_"))
		return err_set(err, ST_INVALID, "a profile's name is 1 to %d of a-z, 0-9, - and _",
			       NAME_BYTES_MAX);
	struct arena *a = arena_new();
	enum status status = make(a, s, name, from, err);
	arena_free(a);
	return status;
}
