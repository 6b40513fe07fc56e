#include "app/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Up to @max bytes; -1 is a failure, by errno. Opened so that it does not wait for a pipe's writer; it waits for what one that is there writes. */
static ssize_t read_up_to(int fd, char *to, size_t max)
{
	size_t n = 0;

	while (n < max) {
		const ssize_t got = read(fd, to + n, max - n);
		if (got == 0)
			break;
		if (got > 0)
			n += (size_t)got;
		else if (errno == EAGAIN)
			(void)fcntl(fd, F_SETFL, 0);
		else if (errno != EINTR)
			return -1;
	}
	return (ssize_t)n;
}

static bool is_pipe(int fd)
{
	struct stat seen;

	return fstat(fd, &seen) == 0 && S_ISFIFO(seen.st_mode);
}

enum status file_read(struct arena *a, const char *path, struct str *out, struct err *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return err_set(err, ST_INVALID, "%s: cannot be opened (%s); mend its path", path,
			       strerror(errno));
	char *text = malloc(FILE_BYTES_MAX + 1);
	if (!text)
		BUG("out of memory");
	const ssize_t n = read_up_to(fd, text, FILE_BYTES_MAX + 1);
	enum status status = ST_OK;
	if (n < 0)
		status = err_set(err, ST_INVALID, "%s: cannot be read (%s); mend its path", path,
				 strerror(errno));
	else if (n > FILE_BYTES_MAX)
		status = err_set(err, ST_INVALID, "%s: over 1 MiB; it is the wrong file", path);
	else if (n == 0 && is_pipe(fd))
		status = err_set(err, ST_INVALID,
				 "%s: is a pipe that nobody writes to; give a file", path);
	else
		*out = arena_str(a, (struct str){text, (size_t)n});
	(void)close(fd);
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
