#include "app/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum status file_read(struct arena *a, const char *path, struct str *out, struct err *err)
{
	FILE *file = fopen(path, "re");

	if (!file)
		return err_set(err, ST_INVALID, "%s: cannot be opened (%s); mend its path", path,
			       strerror(errno));
	char *text = malloc(FILE_BYTES_MAX + 1);
	if (!text)
		BUG("out of memory");
	size_t n = fread(text, 1, FILE_BYTES_MAX + 1, file);
	bool failed = ferror(file);
	int why = errno;
	(void)fclose(file);
	enum status status = ST_OK;
	if (failed)
		status = err_set(err, ST_INVALID, "%s: cannot be read (%s)", path, strerror(why));
	else if (n > FILE_BYTES_MAX)
		status = err_set(err, ST_INVALID, "%s: over 1 MiB; it is the wrong file", path);
	else
		*out = arena_str(a, (struct str){text, n});
	free(text);
	return status;
}

static bool is_wanted(const char *name, const char *suffix)
{
	size_t n = strlen(name), n_suffix = strlen(suffix);

	return name[0] != '.' && n > n_suffix && strcmp(name + n - n_suffix, suffix) == 0;
}

enum status file_list(struct arena *a, const char *folder, const char *suffix,
		      const char *const **name, int *n, struct err *err)
{
	struct dirent **entry;
	int n_entry = scandir(folder, &entry, NULL, alphasort);

	if (n_entry < 0)
		return err_set(err, ST_INVALID, "%s: cannot be listed (%s); mend its path", folder,
			       strerror(errno));
	const char **names = arena_array(a, const char *, n_entry);
	*n = 0;
	for (int i = 0; i < n_entry; i++) {
		if (is_wanted(entry[i]->d_name, suffix))
			names[(*n)++] = arena_str(a, str_c(entry[i]->d_name)).p;
		free(entry[i]);
	}
	free(entry);
	*name = names;
	return ST_OK;
}

const char *file_path(struct arena *a, const char *folder, const char *name)
{
	if (name[0] == '/')
		return name;
	return arena_printf(a, "%s/%s", folder, name).p;
}
