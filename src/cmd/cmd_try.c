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

static int try(const struct command *self, const struct command_line *line,
	       const struct settings *settings, const char *profile)
{
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
	if (profiles_open(settings, &profiles, &err) != ST_OK)
		return command_fail(self, EXIT_CONFIG, err.text);
	if (profile && !profiles_named(profiles, str_c(profile))) {
		profiles_free(profiles);
		return command_fail(self, EXIT_USAGE,
				    "--profile: there is no profile of that name in profiles.dir");
	}
	exit_status = try_job(settings, profiles, job, str_c(profile));
	profiles_free(profiles);
	return exit_status;
}

static int run(const struct command *self, int argc, char **argv)
{
	const char *profile = NULL;
	const struct option options[] = {
		{.name = "profile",
		 .value = "NAME",
		 .text = "for a job that names none",
		 .to = &profile},
		{.name = NULL},
	};
	struct command_line line;
	struct settings settings;
	int exit_status;

	if (command_line_read(self, argc, argv, options, &line, &exit_status)) {
		if (line.n_operand > 1)
			exit_status = command_fail(self, EXIT_USAGE, "it takes one job");
		else if (!command_settings(&line, &settings))
			exit_status = EXIT_CONFIG;
		else
			exit_status = try(self, &line, &settings, profile);
	}
	command_line_release(&line);
	return exit_status;
}

const struct command try_command = {
	.name = "try",
	.usage = "[--profile NAME] [FILE]",
	.summary =
		"Runs one job (JSON; standard input without FILE) and prints each step; keeps nothing",
	.run = run,
};
