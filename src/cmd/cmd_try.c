/* `draftmill try`: one job, without Kafka and without a database. */
#include "command.h"

#include "app/file.h"
#include "app/try.h"

#include <unistd.h>

/* The whole of standard input; absent: over the cap of a job, or it cannot be read. */
static struct str read_input(struct arena *a)
{
	struct buf text = BUF(MESSAGE_BYTES_MAX);
	struct str job = {NULL, 0};
	char piece[65536];
	ssize_t n;

	while ((n = read(STDIN_FILENO, piece, sizeof(piece))) > 0)
		buf_put(&text, piece, (size_t)n);
	if (n == 0 && !text.full)
		job = arena_str(a, buf_view(&text));
	buf_release(&text);
	return job;
}

static int try(const struct command *self, const struct command_line *line)
{
	const char *profile = command_value(line, "profile");
	const char *file = line->n_operand ? line->operand[0] : "-";
	struct profiles *profiles;
	struct str job = {NULL, 0};
	struct err err;
	int exit_status;

	if (strcmp(file, "-") == 0)
		job = read_input(line->a);
	else if (file_read(line->a, file, &job, &err) != ST_OK)
		return command_fail(self, EXIT_DATA, err.text);
	if (!job.p)
		return command_fail(self, EXIT_DATA,
				    "standard input cannot be read, or is over 1 MiB");
	if (profiles_open(&line->settings, &profiles, &err) != ST_OK)
		return command_fail(self, EXIT_CONFIG, err.text);
	if (profile && !profiles_named(profiles, str_c(profile))) {
		profiles_free(profiles);
		return command_fail(self, EXIT_USAGE,
				    "--profile: there is no profile of that name in profiles.dir");
	}
	exit_status = try_job(&line->settings, profiles, job, str_c(profile));
	profiles_free(profiles);
	return exit_status;
}

static const struct option options[] = {
	{"profile", "NAME", "for a job that names none"},
	{.name = NULL},
};

const struct command try_command = {
	.name = "try",
	.usage = "[--profile NAME] [FILE]",
	.summary =
		"Runs one job (JSON; standard input without FILE) and prints each step; keeps nothing",
	.option = options,
	.operands_max = 1,
	.operands = "it takes one job",
	.run = try,
};
