/* `draftmill show JOB`: the case file of one job: why was this sent? */
#include "command.h"

#include "app/casefile.h"

static int show(const struct command *self, const struct command_line *line)
{
	struct pg *pg = command_connect(self, line);
	struct json *file;
	struct err err;

	if (!pg)
		return EXIT_UNAVAILABLE;
	enum status status =
		casefile_load(pg, line->operand[0], command_value(line, "source"), &file, &err);
	pg_free(pg);
	if (status != ST_OK)
		return command_fail(self, EXIT_UNAVAILABLE, err.text);
	enum casefile kind = casefile_kind(file);
	int exit_status = kind == CASEFILE_NONE
				  ? command_fail(self, EXIT_DATA,
						 "no job and no dead letter has this number or id")
				  : command_print(self, line, file, casefile_text);
	if (exit_status == 0 && kind == CASEFILE_SEVERAL)
		exit_status = command_fail(
			self, EXIT_DATA,
			"several have this id: name one by its number, or give --source");
	json_free(file);
	return exit_status;
}

static const struct option options[] = {
	{"source", "SOURCE", "only a job of this source"},
	{"json", NULL, "as one JSON object"},
	{.name = NULL},
};

const struct command show_command = {
	.name = "show",
	.usage = "[--source SOURCE] [--json] JOB",
	.summary =
		"Shows all that is known of one job, by its number or id: task, drafts, critiques, calls, why it ended",
	.option = options,
	.operands_min = 1,
	.operands_max = 1,
	.operands = "it takes one job: its number or its id",
	.run = show,
};
