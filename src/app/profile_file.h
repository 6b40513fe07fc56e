/*
 * profile_file.h - one profile file, with prompts and model rows put in, as the canonical JSON that core/profile.h reads.
 */
#ifndef PROFILE_FILE_H
#define PROFILE_FILE_H

#include "app/settings.h"
#include "core/arm.h"

struct prompt_texts { /* of all profiles; prompts_dir/LANG/ROLE.txt and rubric.txt */
	struct str text[N_LANGUAGES][N_ROLES];
	struct str rubric[N_LANGUAGES];
	bool is_faulty; /* some file is, which was told */
};

/* Faults are told with their file and line. */
void prompt_texts_read(struct arena *, const struct settings *, struct faults *,
		       struct prompt_texts *out);

struct profile_arm { /* the profile with the arm's keys put over its own: whole, with a hash of its own */
	struct str name;
	int64_t share; /* 1..ARM_SHARE_MAX; see core/arm.h */
	const struct profile *profile;
};

struct profile_file {
	const struct profile *profile; /* without its arms */
	struct profile_arm arm[ARMS_MAX];
	int n_arm; /* 0, or 2..ARMS_MAX, no two of one name or one hash */
};

/* False: faults were told with file and line. Lives in @a. @name is the file's, "customer-email.yaml". */
bool profile_file_read(struct arena *a, const struct settings *, const struct prompt_texts *,
		       const char *name, struct profile_file *out, struct faults *) MUST_CHECK;

#endif
