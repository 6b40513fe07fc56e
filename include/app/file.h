/*
 * app/file.h - small files and folders, read whole: configuration, prompts, migrations, credentials.
 */
#ifndef APP_FILE_H
#define APP_FILE_H

#include "base/arena.h"
#include "base/err.h"

enum { FILE_BYTES_MAX = 1 << 20 };

/* NUL-terminated, in @a. ST_INVALID: *err is "PATH: why; the mend". It does not wait for a pipe that nobody writes to: a worker reads files, too,
 * at a SIGHUP. */
enum status file_read(struct arena *a, const char *path, struct str *out,
		      struct err *err) MUST_CHECK;

/* The names in a folder that end in @suffix, sorted, in @a; hidden ones are left out. */
enum status file_list(struct arena *a, const char *folder, const char *suffix,
		      const char *const **name, int *n, struct err *err) MUST_CHECK;

/* "folder/name"; @name itself if it is absolute. */
const char *file_path(struct arena *a, const char *folder, const char *name);

#endif
