#include "command.h"

#include "app/suggest.h"
#include "base/log.h"

#include <stdio.h>

static const struct option common[] = {
	{.name = "config", .value = "FILE", .text = "settings file (config/draftmill.yaml)"},
	{.name = "help", .text = "this text"},
	{.name = NULL},
};

struct line_reader {
	const struct command *command;
	const struct option *option;
	char **argv;
	struct command_line *out;
	struct flag *flag;
	char **operand;
	int argc;
	int exit_status;
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

static void print_help(const struct command *command, const struct option *option)
{
	printf("usage: draftmill %s%s%s\n\n%s.\n\noptions:\n", command->name,
	       *command->usage ? " " : "", command->usage, command->summary);
	print_options(option);
	print_options(common);
	printf("  %-18s %s\n", "--KEY VALUE",
	       "a setting, as --kafka.brokers HOST:PORT; `draftmill check config --help` lists them");
	if (command->more_help)
		command->more_help();
}

/* --- reading --- */

static bool usage_fault(struct line_reader *r, const char *what, struct str name, struct str best)
{
	fprintf(stderr, "draftmill %s: --%.*s%s%s%.*s; see `draftmill %s --help`\n",
		r->command->name, STR_ARG(name), what, best.p ? "; did you mean --" : "",
		STR_ARG(best), r->command->name);
	r->exit_status = EXIT_USAGE;
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

static void add_word(struct line_reader *r, struct words *to, const char *word)
{
	if (!to->word)
		to->word = arena_array(r->out->a, const char *, r->argc);
	to->word[to->n++] = word;
}

/* Moves *i to the last word that was used. */
static bool read_option(struct line_reader *r, int *i)
{
	const char *word = r->argv[*i] + 2, *equals = strchr(word, '=');
	struct str name = {word, equals ? (size_t)(equals - word) : strlen(word)};
	bool is_setting = memchr(name.p, '.', name.n) != NULL;
	struct suggest s = {.wanted = name};
	const struct option *option = option_named(r->option, name, &s);
	const struct str none = {NULL, 0};

	if (!option)
		option = option_named(common, name, &s);
	if (!option && !is_setting)
		return usage_fault(r, ": unknown", name, s.best);
	if (option && !option->value) {
		if (equals)
			return usage_fault(r, ": takes no value", name, none);
		if (option->on)
			*option->on = true;
		return true;
	}
	const char *value = equals ? equals + 1 : r->argv[*i + 1];
	if (!value)
		return usage_fault(r, ": a value is missing", name, none);
	*i += !equals;
	if (is_setting)
		r->flag[r->out->n_flag++] = (struct flag){arena_str(r->out->a, name).p, value};
	else if (option->all)
		add_word(r, option->all, value);
	else if (option->to)
		*option->to = value;
	else
		r->out->config = value;
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

bool command_line_read(const struct command *command, int argc, char **argv,
		       const struct option *option, struct command_line *out, int *exit_status)
{
	*out = (struct command_line){.a = arena_new()};
	struct line_reader r = {
		.command = command,
		.option = option,
		.argv = argv,
		.out = out,
		.flag = arena_array(out->a, struct flag, argc),
		.operand = arena_array(out->a, char *, argc + 1),
		.argc = argc,
	};

	if (asks_for_help(argv)) {
		print_help(command, option);
		*exit_status = 0;
		return false;
	}
	out->flag = r.flag;
	out->operand = r.operand;
	if (read_line(&r))
		return true;
	*exit_status = r.exit_status;
	return false;
}

void command_line_release(struct command_line *line)
{
	arena_free(line->a);
}

/* --- settings --- */

static void print_fault(void *owner, const struct err *err)
{
	fprintf(stderr, "%s\n", err->text);
}

bool command_settings(const struct command_line *line, struct settings *out)
{
	enum log_level level;

	if (settings_faults(line->a, line->config, line->flag, line->n_flag, out, print_fault,
			    NULL))
		return false;
	if (log_level_read(str_c(out->log_level), &level))
		log_set_level(level);
	return true;
}
