/* `draftmill check text`: the checks of a profile alone, on texts that lie in files. */
#include "command.h"

#include "app/check_text.h"

#include <limits.h>

static int check_files(const struct command *self, const struct command_line *line,
		       const struct check_text *c)
{
	static const char *const standard_input[] = {"-"};
	const char *const *file =
		line->n_operand ? (const char *const *)line->operand : standard_input;
	const int n_file = line->n_operand ? line->n_operand : 1;
	int exit_status = EXIT_DONE;
	struct err err;

	for (int i = 0; i < n_file; i++) {
		bool green = false;
		if (check_text_run(c, file[i], &green, &err) != ST_OK)
			exit_status = command_fail(self, EXIT_DATA, err.text);
		else if (!green && exit_status == EXIT_DONE)
			exit_status = EXIT_NO;
	}
	return exit_status;
}

static int check_text(const struct command *self, const struct command_line *line)
{
	const char *profile = command_value(line, "profile"), *job = command_value(line, "job"),
		   *checks = command_value(line, "checks");
	struct check_text c = {.as_json = command_value(line, "json")};
	struct profiles *profiles = NULL;
	struct err err;

	if (!profile && !job && !checks)
		return command_fail(self, EXIT_USAGE,
				    "which checks? it takes --profile, --job or --checks");
	if (profile || job) {
		profiles = command_profiles(line);
		if (!profiles)
			return EXIT_CONFIG;
	}
	int exit_status;
	if (check_text_read(line->a, profiles, profile, job, checks, &c, &err) == ST_OK)
		exit_status = check_files(self, line, &c);
	else
		exit_status = command_fail(self, EXIT_USAGE, err.text);
	profiles_free(profiles);
	return exit_status;
}

static const struct option options[] = {
	{"profile", "NAME", "the checks of this profile"},
	{"job", "FILE", "the checks of this job, and its variables; its profile's too"},
	{"checks", "FILE", "the checks in this JSON array"},
	{"json", NULL, "a line of JSON for each text"},
	{.name = NULL},
};

const struct command check_text_command = {
	.name = "check text",
	.usage = "[--profile NAME] [--job FILE] [--checks FILE] [--json] [FILE...]",
	.summary =
		"Runs checks on texts and prints which are red, why and where; needs no model, database or broker",
	.option = options,
	.operands_max = INT_MAX,
	.run = check_text,
	.notes =
		"Without FILE, or for -, standard input. A text is UTF-8 of at most 64 MiB; a place is line:column. A profile\n"
		"with fields wants a JSON object of them, as {\"subject\": \"..\", \"body\": \"..\"}; places are those of the field. README lists the\n"
		"types of checks; those with a colon in their name are IFEval's.",
};
