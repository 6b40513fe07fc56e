/*
 * profile_file.h - one profile file, with prompts and model rows put in, as the canonical JSON that core/profile.h reads.
 */
#ifndef PROFILE_FILE_H
#define PROFILE_FILE_H

#include "app/settings.h"

struct prompt_texts { /* of all profiles; prompts_dir/LANG/ROLE.txt and rubric.txt */
	struct str text[N_LANGUAGES][N_ROLES];
	struct str rubric[N_LANGUAGES];
	bool is_faulty; /* some file is, which was told */
};

/* Faults are told with their file and line. */
void prompt_texts_read(struct arena *, const struct settings *, struct faults *,
		       struct prompt_texts *out);

/* NULL: faults were told with file and line. Lives in @a. @name is the file's, "customer-email.yaml". */
const struct profile *profile_file_read(struct arena *a, const struct settings *,
					const struct prompt_texts *, const char *name,
					struct faults *);

#endif
