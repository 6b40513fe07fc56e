/* `draftmill profile new`, `profile test`: a profile to begin with, and whether its samples end as they should. */
#include "command.h"

#include "app/profile_new.h"
#include "app/profile_test.h"

#include <errno.h>
#include <stdio.h>

enum { JUNIT_BYTES_MAX = 256 << 20 };

/* --- profile new --- */

static int new (const struct command *self, const struct command_line *line)
{
	const char *from = command_value(line, "from"), *name = line->operand[0];
	const char *dir = line->settings.profiles_dir;
	struct err err;
	enum status status = profile_new(&line->settings, str_c(name),
					 str_c(from ? from : "customer-email"), &err);

	if (status != ST_OK)
		return command_fail(self, status == ST_INVALID ? EXIT_DATA : EXIT_IO, err.text);
	printf("%s/%s.yaml: the profile; edit it, then `draftmill check config --offline`\n"
	       "%s/%s: its sample jobs and what is expected of them; `draftmill profile test %s`\n",
	       dir, name, dir, name, name);
	return EXIT_DONE;
}

static const struct option new_options[] = {
	{"from", "PROFILE", "the one to copy, by its name in profiles.dir (customer-email)"},
	{.name = NULL},
};

const struct command profile_new_command = {
	.name = "profile new",
	.usage = "[--from PROFILE] NAME",
	.summary = "Writes a profile to begin with, with its sample jobs; overwrites nothing",
	.option = new_options,
	.operands_min = 1,
	.operands_max = 1,
	.operands = "it takes the name of the new profile",
	.run = new,
};

/* --- profile test --- */

static int write_report(const struct command *self, const char *path, struct str text)
{
	FILE *file = fopen(path, "we");
	bool wrote = file && fwrite(text.p, 1, text.n, file) == text.n;
	struct err err;

	if (file && fclose(file) != 0)
		wrote = false;
	if (wrote)
		return EXIT_DONE;
	(void)err_set(&err, ST_DOWN, "%s: %s", path, strerror(errno));
	return command_fail(self, EXIT_IO, err.text);
}

static int test(const struct command *self, const struct command_line *line)
{
	const char *path = command_value(line, "junit");
	struct buf junit = BUF(JUNIT_BYTES_MAX);
	struct profile_test t = {.name = str_c(line->n_operand ? line->operand[0] : NULL),
				 .junit = path ? &junit : NULL};
	struct err err;

	struct profiles *profiles = command_profiles(line);
	if (!profiles)
		return EXIT_CONFIG;
	t.profiles = profiles;
	int exit_status = EXIT_DATA;
	if (t.name.p && !profiles_named(profiles, t.name, &err))
		command_fail(self, exit_status, err.text);
	else
		exit_status = profile_test_run(&t);
	if (path && junit.n) {
		int written = write_report(self, path, buf_view(&junit));
		exit_status = written ? written : exit_status;
	}
	buf_release(&junit);
	profiles_free(profiles);
	return exit_status;
}

static const struct option test_options[] = {
	{"junit", "FILE", "write the report there, too, as JUnit's XML"},
	{.name = NULL},
};

const struct command profile_test_command = {
	.name = "profile test",
	.usage = "[--junit FILE] [PROFILE]",
	.summary =
		"Plays a profile's sample jobs, or all profiles', with their recorded replies; asks nobody, costs nothing",
	.option = test_options,
	.operands_max = 1,
	.operands = "it takes one profile; without it all",
	.run = test,
};
