/* `draftmill report`: what became of a batch. */
#include "command.h"

#include "app/ask.h"
#include "app/report.h"

static int report(const struct command *self, const struct command_line *line)
{
	const char *batch = command_value(line, "batch");
	struct pg *pg = command_connect(self, line);
	struct json *figures;
	struct err err;

	if (!pg)
		return EXIT_UNAVAILABLE;
	enum status status = report_load(pg, batch, &figures, &err);
	pg_free(pg);
	if (status != ST_OK)
		return command_fail(self, EXIT_UNAVAILABLE, err.text);
	int exit_status = batch && ask_number(figures, "n_jobs") == 0
				  ? command_fail(self, EXIT_DATA,
						 "--batch: no job of a batch of this name is known")
				  : command_print(self, line, figures, report_text);
	json_free(figures);
	return exit_status;
}

static const struct option options[] = {
	{"batch", "BATCH", "only its jobs"},
	{"json", NULL, "as one JSON object"},
	{.name = NULL},
};

const struct command report_command = {
	.name = "report",
	.usage = "[--batch BATCH] [--json]",
	.summary = "Counts outcomes, violations before and after, tokens, cost and times",
	.option = options,
	.run = report,
};
