/* `draftmill report`: what became of a batch. */
#include "command.h"

#include "app/report.h"

#include <unistd.h>

static int report(const struct command *self, const struct command_line *line)
{
	bool as_json = command_has(line, "json");
	struct page page = PAGE(!as_json && page_wants_colour(STDOUT_FILENO));
	struct pg *pg = NULL;
	struct json *figures;
	struct err err;
	int exit_status = 0;
	enum status status =
		pg_connect(line->settings.database_conninfo, "draftmill-report", &pg, &err);

	if (status == ST_OK)
		status = report_load(pg, command_value(line, "batch"), &figures, &err);
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
