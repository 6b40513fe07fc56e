#include "command.h"

#include "app/suggest.h"
#include "base/log.h"
#include "io/pg.h"

#include <stdio.h>
#include <unistd.h>

const struct option command_common_options[] = {
	{.name = "config", .value = "FILE", .text = "settings file (config/draftmill.yaml)"},
	{.name = "help", .text = "this text"},
	{.name = NULL},
};

struct line_reader {
	const struct command *command;
	char **argv;
	struct command_line *out;
	struct flag *option, *flag;
	char **operand;
};

int command_fail(const struct command *command, int exit_status, const char *text)
{
	fprintf(stderr, "draftmill %s: %s\n", command->name, text);
	return exit_status;
}

int command_exit(enum status status, int invalid)
{
	if (status == ST_OK)
		return 0;
	return status == ST_INVALID ? invalid : EXIT_TEMPORARY;
}

/* --- help --- */

static void print_options(const struct option *option)
{
	for (; option && option->name; option++) {
		char left[60];
		snprintf(left, sizeof(left), "--%s%s%s", option->name, option->value ? " " : "",
			 option->value ? option->value : "");
		printf("  %-18s %s\n", left, option->text);
	}
}

/* The table of settings, as the sample file has it. */
static void print_settings(void)
{
	const struct setting_doc *d;

	printf("\nsettings; stronger than the file is the environment (DRAFTMILL_KAFKA_BROKERS for kafka.brokers), and\n"
	       "over it a flag (--kafka.brokers=...):\n");
	for (int i = 0; (d = setting_doc_at(i)); i++) {
		printf("  %s\n      %s%s%s", d->key, d->type, *d->unit ? " in " : "", d->unit);
		if (!d->fallback)
			printf(", required");
		else if (*d->fallback)
			printf(", default \"%s\"", d->fallback);
		printf(": %s\n", d->text);
	}
}

static void print_help(const struct command *command)
{
	printf("usage: draftmill %s%s%s\n\n%s.\n\noptions:\n", command->name,
	       *command->usage ? " " : "", command->usage, command->summary);
	print_options(command->option);
	print_options(command_common_options);
	printf("  %-18s %s\n", "--KEY VALUE",
	       "a setting, as --kafka.brokers HOST:PORT; `draftmill check config --help` lists them");
	if (command->notes)
		printf("\n%s\n", command->notes);
	if (command->lists_settings)
		print_settings();
}

/* --- reading --- */

static bool usage_fault(struct line_reader *r, const char *what, struct str name, struct str best)
{
	fprintf(stderr, "draftmill %s: --%.*s%s%s%.*s; see `draftmill %s --help`\n",
		r->command->name, STR_ARG(name), what, best.p ? "; did you mean --" : "",
		STR_ARG(best), r->command->name);
	return false;
}

static const struct option *option_named(const struct option *option, struct str name,
					 struct suggest *s)
{
	for (; option && option->name; option++) {
		if (str_is(name, option->name))
			return option;
		suggest_offer(s, str_c(option->name));
	}
	return NULL;
}

/* Moves *i to the last word that was used. */
static bool read_option(struct line_reader *r, int *i)
{
	const char *word = r->argv[*i] + 2, *equals = strchr(word, '=');
	struct str name = {word, equals ? (size_t)(equals - word) : strlen(word)};
	bool is_setting = memchr(name.p, '.', name.n) != NULL;
	struct suggest s = {.wanted = name};
	const struct str none = {NULL, 0};
	const struct option *own = option_named(r->command->option, name, &s);
	const struct option *option = own ? own : option_named(command_common_options, name, &s);

	if (!option && !is_setting)
		return usage_fault(r, ": unknown", name, s.best);
	if (option && !option->value && equals)
		return usage_fault(r, ": takes no value", name, none);
	bool has_value = !option || option->value;
	const char *value = equals ? equals + 1 : has_value ? r->argv[*i + 1] : NULL;
	if (has_value && !value)
		return usage_fault(r, ": a value is missing", name, none);
	*i += has_value && !equals;
	if (own)
		r->option[r->out->n_option++] = (struct flag){own->name, value ? value : ""};
	else if (option)
		r->out->config = value;
	else
		r->flag[r->out->n_flag++] = (struct flag){arena_str(r->out->a, name).p, value};
	return true;
}

static bool asks_for_help(char **argv)
{
	for (; *argv && strcmp(*argv, "--") != 0; argv++) {
		if (strcmp(*argv, "--help") == 0 || strcmp(*argv, "-h") == 0)
			return true;
	}
	return false;
}

static bool read_line(struct line_reader *r)
{
	bool is_over = false;

	for (int i = 0; r->argv[i]; i++) {
		const char *word = r->argv[i];
		if (!is_over && strcmp(word, "--") == 0)
			is_over = true;
		else if (!is_over && strncmp(word, "--", 2) == 0) {
			if (!read_option(r, &i))
				return false;
		} else
			r->operand[r->out->n_operand++] = r->argv[i];
	}
	return true;
}

static bool command_line_read(const struct command *command, int argc, char **argv,
			      struct command_line *out)
{
	struct line_reader r = {
		.command = command,
		.argv = argv,
		.out = out,
		.option = arena_array(out->a, struct flag, argc),
		.flag = arena_array(out->a, struct flag, argc),
		.operand = arena_array(out->a, char *, argc + 1),
	};

	out->option = r.option;
	out->flag = r.flag;
	out->operand = r.operand;
	return read_line(&r);
}

const char *command_value(const struct command_line *line, const char *option)
{
	const char *value = NULL;

	for (int i = 0; i < line->n_option; i++) {
		if (strcmp(line->option[i].key, option) == 0)
			value = line->option[i].value;
	}
	return value;
}

/* --- settings --- */

static void print_fault(void *owner, const struct err *err)
{
	fprintf(stderr, "%s\n", err->text);
}

/* False: the faults were printed. */
static bool read_settings(struct command_line *line)
{
	struct faults faults = {.tell = print_fault};
	enum log_level level;

	if (!settings_read(line->a, line->config, line->flag, line->n_flag, &line->settings,
			   &faults))
		return false;
	if (log_level_read(str_c(line->settings.log_level), &level))
		log_set_level(level);
	pg_password_command(line->settings.password_command);
	return true;
}

struct profiles *command_profiles(const struct command_line *line)
{
	return profiles_open(&line->settings, &(struct faults){.tell = print_fault});
}

/* --- the database --- */

struct pg *command_connect(const struct command *command, const struct command_line *line)
{
	char name[40];
	struct pg *pg;
	struct err err;

	snprintf(name, sizeof(name), "draftmill-%s", command->name);
	if (pg_connect(line->settings.database_conninfo, name, &pg, &err) == ST_OK)
		return pg;
	command_fail(command, EXIT_UNAVAILABLE, err.text);
	return NULL;
}

int command_print(const struct command *command, const struct command_line *line,
		  const struct json *answer, void (*put_text)(const struct json *, struct page *))
{
	bool as_json = command_value(line, "json");
	struct page page = PAGE(!as_json && page_wants_colour(STDOUT_FILENO));

	(as_json ? page_json : put_text)(answer, &page);
	bool fine = page_print(&page);
	buf_release(&page.text);
	return fine ? EXIT_DONE : command_fail(command, EXIT_IO, "the output is over 256 MiB");
}

/* --- the whole --- */

static int run(const struct command *command, int argc, char **argv, struct command_line *line)
{
	if (!command_line_read(command, argc, argv, line))
		return EXIT_USAGE;
	if (line->n_operand < command->operands_min || line->n_operand > command->operands_max)
		return command_fail(command, EXIT_USAGE,
				    command->operands ? command->operands : "it takes no operands");
	if (!command->reads_settings && !read_settings(line))
		return EXIT_CONFIG;
	return command->run(command, line);
}

int command_run(const struct command *command, int argc, char **argv)
{
	if (asks_for_help(argv)) {
		print_help(command);
		return 0;
	}
	struct command_line line = {.a = arena_new()};
	int exit_status = run(command, argc, argv, &line);
	arena_free(line.a);
	return exit_status;
}
