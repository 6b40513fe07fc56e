/* `draftmill submit`: job messages from JSON lines or CSV. */
#include "job_form.h"

#include "app/submit.h"

#include <limits.h>

enum { WAIT_SECONDS_MAX = 30 * 24 * 3600 };

static void put_text(struct page *p, const struct submit_counts *n, bool waited)
{
	page_printf(p, "read %lld, sent %lld, duplicates %lld, invalid %lld", (long long)n->n_read,
		    (long long)n->n_sent, (long long)n->n_duplicate, (long long)n->n_invalid);
	if (n->n_undelivered)
		page_printf(p, ", NOT DELIVERED %lld", (long long)n->n_undelivered);
	page_printf(p, "\n");
	if (!waited)
		return;
	page_printf(p, "ended:");
	for (int i = 0; i < N_OUTCOMES; i++)
		page_printf(p, " %s %lld,", outcome_name(i), (long long)n->n_outcome[i]);
	page_printf(p, " dead letters %lld; still open %lld\n", (long long)n->n_dead,
		    (long long)n->n_open);
}

static void put_json(struct page *p, const struct submit_counts *n, bool waited)
{
	struct json_out o = {.buf = &p->text};

	json_open(&o, NULL, '{');
	json_put_int(&o, "read", n->n_read);
	json_put_int(&o, "sent", n->n_sent);
	json_put_int(&o, "duplicates", n->n_duplicate);
	json_put_int(&o, "invalid", n->n_invalid);
	json_put_int(&o, "undelivered", n->n_undelivered);
	if (waited) {
		json_open(&o, "ended", '{');
		for (int i = 0; i < N_OUTCOMES; i++)
			json_put_int(&o, outcome_name(i), n->n_outcome[i]);
		json_put_int(&o, "dead_letters", n->n_dead);
		json_close(&o, '}');
		json_put_int(&o, "open", n->n_open);
	}
	json_close(&o, '}');
	page_printf(p, "\n");
}

/* What is still to be done by whoever called comes before what he did wrong. */
static int exit_of(const struct submit_counts *n)
{
	if (n->n_undelivered || n->n_open || n->n_unread)
		return EXIT_TEMPORARY;
	return n->n_invalid || n->n_dead ? EXIT_DATA : 0;
}

static int submit(const struct command *self, const struct command_line *line,
		  struct submit_config *c)
{
	bool as_json = command_value(line, "json");
	struct page page = PAGE(false);
	struct submit_counts counts;
	struct err err;

	c->profiles = command_profiles(line);
	if (!c->profiles)
		return EXIT_CONFIG;
	bool fine = submit_check(c, &err) == ST_OK;
	int exit_status =
		fine ? command_exit(submit_run(c, &counts, &err), EXIT_CONFIG) : EXIT_USAGE;
	profiles_free(c->profiles);
	if (exit_status != 0)
		return command_fail(self, exit_status, err.text);
	(as_json ? put_json : put_text)(&page, &counts, c->wait);
	page_print(&page);
	buf_release(&page.text);
	return exit_of(&counts);
}

/* NULL, or what is wrong with the line. */
static const char *read_line(const struct command_line *line, struct submit_config *c)
{
	const char *timeout = command_value(line, "timeout");
	int64_t seconds = 0;

	c->settings = &line->settings;
	c->defaults = (struct submit_defaults){str_c(command_value(line, "profile")),
					       str_c(command_value(line, "batch")),
					       str_c(command_value(line, "source"))};
	c->topic = str_c(command_value(line, "topic"));
	c->form = job_form(line);
	c->wait = command_value(line, "wait");
	c->file = (const char *const *)line->operand;
	c->n_file = line->n_operand;
	if (!c->defaults.profile.p)
		return "--profile is missing: for jobs that name none";
	if (timeout && !c->wait)
		return "--timeout goes with --wait";
	if (timeout && !str_to_int(str_c(timeout), 1, WAIT_SECONDS_MAX, &seconds))
		return "--timeout: takes seconds, 1 to 2592000";
	c->timeout_ms = seconds * 1000;
	return NULL;
}

static int run(const struct command *self, const struct command_line *line)
{
	struct submit_config c = {.wait = false};
	const char *fault = read_line(line, &c);

	return fault ? command_fail(self, EXIT_USAGE, fault) : submit(self, line, &c);
}

static const struct option options[] = {
	{"profile", "PROFILE", "of jobs that name none"},
	{"batch", "BATCH", "of jobs that name none"},
	{"source", "SOURCE", "of jobs that name none"},
	{"topic", "TOPIC", "whole name; else the first of kafka.job_topics"},
	{"format", "csv|jsonl",
	 "of the files; else csv for names in .csv and .tsv, jsonl for all others"},
	JOB_FORM_OPTIONS,
	{"wait", NULL, "until each has its outcome or is a dead letter"},
	{"timeout", "SECONDS", "end the waiting then, with status 75"},
	{"json", NULL, "the counts as one JSON object"},
	{.name = NULL},
};

const struct command submit_command = {
	.name = "submit",
	.usage = "--profile PROFILE [--batch B] [--source S] [--topic T] " JOB_FORM_USAGE
		 " [--wait [--timeout SECONDS]] [--json] FILE...",
	.summary =
		"Sends jobs from JSON lines or CSV (- is standard input) to the job topic; tells what is invalid or known already",
	.option = options,
	.operands_min = 1,
	.operands_max = INT_MAX,
	.operands = "it takes files of JSON lines or CSV, or - for standard input",
	.run = run,
	.notes = JOB_FORM_NOTES,
};
