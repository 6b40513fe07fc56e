/* `draftmill try`: jobs without Kafka and without a database. */
#include "job_form.h"

#include "app/try.h"

#include <errno.h>
#include <stdio.h>

enum { FIRST = 10, FIRST_MAX = 1000 };

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), n_end = strlen(end);

	return n >= n_end && strcmp(name + n - n_end, end) == 0;
}

/* A file of one job may be written over many lines, so only its name or --format makes it a file of jobs. */
static bool is_of_rows(const char *name, const struct jobfile_form *form)
{
	return form->format || ends_with(name, ".csv") || ends_with(name, ".tsv") ||
	       ends_with(name, ".jsonl");
}

static int open_and_try(const struct command *self, struct try_config *c)
{
	bool is_stdin = strcmp(c->name, "-") == 0;
	FILE *file = is_stdin ? stdin : fopen(c->name, "r");
	struct err err;

	if (!file) {
		(void)err_set(&err, ST_INVALID, "%s: %s", c->name, strerror(errno));
		return command_fail(self, EXIT_DATA, err.text);
	}
	if (is_stdin)
		c->name = "stdin";
	int exit_status = try_file(c, file);
	if (!is_stdin)
		fclose(file);
	return exit_status;
}

static int try(const struct command *self, const struct command_line *line)
{
	const char *profile = command_value(line, "profile"), *first = command_value(line, "first"),
		   *arm = command_value(line, "arm");
	struct try_config c = {
		.settings = &line->settings,
		.profile = str_c(profile),
		.name = line->n_operand ? line->operand[0] : "-",
		.form = job_form(line),
	};
	int64_t n = FIRST;
	struct err err;

	c.rows = is_of_rows(c.name, &c.form);
	if (first && (!c.rows || !str_to_int(str_c(first), 1, FIRST_MAX, &n)))
		return command_fail(self, EXIT_USAGE,
				    "--first: takes 1 to 1000, of a file of jobs");
	c.n_job_max = (int)n;
	if (c.rows && jobfile_check(&c.form, &c.name, 1, &err) != ST_OK)
		return command_fail(self, EXIT_USAGE, err.text);
	c.profiles = command_profiles(line);
	if (!c.profiles)
		return EXIT_CONFIG;
	int exit_status = EXIT_USAGE;
	if (profile && !profiles_named(c.profiles, c.profile, &err)) {
		err_at(&err, "--profile: ");
		command_fail(self, exit_status, err.text);
	} else if (arm && profiles_take_arm(c.profiles, str_c(arm), &err) != ST_OK) {
		err_at(&err, "--arm: ");
		command_fail(self, exit_status, err.text);
	} else {
		exit_status = open_and_try(self, &c);
	}
	profiles_free(c.profiles);
	return exit_status;
}

static const struct option options[] = {
	{"profile", "NAME", "for jobs that name none"},
	{"arm", "NAME",
	 "all jobs under this arm of their profile; else each under the one that its id gives"},
	{"first", "N", "of a file of jobs: so many of them; else 10"},
	{"format", "csv|jsonl",
	 "a file of jobs; else by its name in .csv, .tsv or .jsonl; all others hold one job"},
	JOB_FORM_OPTIONS,
	{.name = NULL},
};

const struct command try_command = {
	.name = "try",
	.usage = "[--profile NAME] [--arm NAME] [--first N] " JOB_FORM_USAGE " [FILE]",
	.summary =
		"Runs a job, or the first ones of a file, without Kafka or database and prints each step; keeps nothing",
	.option = options,
	.operands_max = 1,
	.operands = "it takes one file; without it standard input",
	.run = try,
	.notes = JOB_FORM_NOTES,
};
