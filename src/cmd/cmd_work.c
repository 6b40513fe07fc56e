/* `draftmill work`: the worker. */
#include "command.h"

#include "app/worker.h"

static int work(const struct command *self, const struct command_line *line)
{
	struct profiles *profiles = command_profiles(line);

	if (!profiles)
		return EXIT_CONFIG;
	int exit_status =
		worker_run(&line->settings, profiles, command_value(line, "drain") != NULL);
	profiles_free(profiles);
	return exit_status;
}

static const struct option options[] = {
	{"drain", NULL, "end when all that is on the job topics now has its outcome"},
	{.name = NULL},
};

const struct command work_command = {
	.name = "work",
	.usage = "[--drain]",
	.summary =
		"Takes jobs from Kafka, runs the loop, stores every step, publishes what came of it",
	.option = options,
	.run = work,
};
