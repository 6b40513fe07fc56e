/* `draftmill report`: what became of a batch. */
#include "command.h"

#include "app/report.h"

#include <unistd.h>

static int report(const struct command *self, const struct settings *settings, const char *batch,
		  bool as_json)
{
	struct page page = PAGE(!as_json && page_wants_colour(STDOUT_FILENO));
	struct pg *pg = NULL;
	struct json *figures;
	struct err err;
	int exit_status = 0;
	enum status status = pg_connect(settings->database_conninfo, "draftmill-report", &pg, &err);

	if (status == ST_OK)
		status = report_load(pg, batch, &figures, &err);
	pg_free(pg);
	if (status != ST_OK)
		return command_fail(self, EXIT_UNAVAILABLE, err.text);
	if (as_json)
		page_json(&page, figures);
	else
		report_text(figures, &page);
	if (page_write(STDOUT_FILENO, &page.text, &err) != ST_OK)
		exit_status = command_fail(self, EXIT_IO, err.text);
	json_free(figures);
	buf_release(&page.text);
	return exit_status;
}

static int run(const struct command *self, int argc, char **argv)
{
	bool as_json = false;
	const char *batch = NULL;
	const struct option options[] = {
		{.name = "batch", .value = "BATCH", .text = "only its jobs", .to = &batch},
		{.name = "json", .text = "as one JSON object", .on = &as_json},
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
			exit_status = report(self, &settings, batch, as_json);
	}
	command_line_release(&line);
	return exit_status;
}

const struct command report_command = {
	.name = "report",
	.usage = "[--batch BATCH] [--json]",
	.summary = "Counts outcomes, violations before and after, tokens, cost and times",
	.run = run,
};
