/* `draftmill work`: the worker. */
#include "command.h"

#include "app/worker.h"

static int work(const struct command *self, const struct settings *settings, bool drain)
{
	struct profiles *profiles;
	struct err err;
	int exit_status;

	if (profiles_open(settings, &profiles, &err) != ST_OK)
		return command_fail(self, EXIT_CONFIG, err.text);
	exit_status = worker_run(settings, profiles, drain);
	profiles_free(profiles);
	return exit_status;
}

static int run(const struct command *self, int argc, char **argv)
{
	bool drain = false;
	const struct option options[] = {
		{.name = "drain",
		 .text = "end when all that is on the job topics now has its outcome",
		 .on = &drain},
		{.name = NULL},
	};
	struct command_line line;
	struct settings settings;
	int exit_status;

	if (command_line_read(self, argc, argv, options, &line, &exit_status)) {
		if (line.n_operand > 0)
			exit_status = command_fail(self, EXIT_USAGE, "it takes no operands");
		else if (!command_settings(&line, &settings))
			exit_status = EXIT_CONFIG;
		else
			exit_status = work(self, &settings, drain);
	}
	command_line_release(&line);
	return exit_status;
}

const struct command work_command = {
	.name = "work",
	.usage = "[--drain]",
	.summary =
		"Takes jobs from Kafka, runs the loop, stores every step, publishes what came of it",
	.run = run,
};
