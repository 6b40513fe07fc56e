/* The table of commands. A new one: cmd_NAME.c with its struct command, declared in command.h, and a line here. */
#include "command.h"

#include "app/suggest.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"
#include "base/yaml.h"
#include "core/check.h"
#include "io/consumer.h"
#include "io/model.h"
#include "io/pg.h"
#include "io/reactor.h"
#include "io/web.h"

#include <stdio.h>

/* clang-format off */
static const struct command *const commands[] = {
	&check_config_command,
	&check_text_command,
	&help_command,
	&migrate_command,
	&profile_new_command,
	&profile_test_command,
	&report_command,
	&show_command,
	&submit_command,
	&topics_command,
	&try_command,
	&work_command,
};
/* clang-format on */
enum { N_COMMANDS = sizeof(commands) / sizeof(*commands) };

const struct command *command_at(int i)
{
	return i < N_COMMANDS ? commands[i] : NULL;
}

static void print_help(FILE *out)
{
	fprintf(out,
		"usage: draftmill COMMAND ...\n\n"
		"Drafts texts with a critic in the loop: jobs from Kafka, every step in PostgreSQL, what does not\n"
		"pass to people.\n\ncommands:\n");
	for (int i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  %-14s %s\n", commands[i]->name, commands[i]->summary);
	fprintf(out,
		"\n`draftmill COMMAND --help` tells more; `draftmill --version` the versions.\n");
}

static void print_version(void)
{
	static void (*const libraries[])(struct buf *) = {
		consumer_library, model_library, pg_library,   reactor_library, check_library,
		digest_library,	  json_library,	 text_library, web_library,	yaml_library,
	};

	printf("draftmill %s\n", DRAFTMILL_VERSION);
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
		struct buf line = BUF(1000);
		libraries[i](&line);
		printf("%s\n", buf_view(&line).p);
		buf_release(&line);
	}
}

/* The command that @argv begins with; its name is @n_words of them. NULL: none. */
static const struct command *command_named(char **argv, int *n_words)
{
	char two[100];

	snprintf(two, sizeof(two), "%s %s", argv[0], argv[1] ? argv[1] : "");
	for (int i = 0; i < N_COMMANDS; i++) {
		*n_words = strcmp(commands[i]->name, two) == 0 ? 2 : 1;
		if (*n_words == 2 || strcmp(commands[i]->name, argv[0]) == 0)
			return commands[i];
	}
	return NULL;
}

static int refuse(char **argv)
{
	bool is_option = argv[0][0] == '-';
	char name[100];

	snprintf(name, sizeof(name), "%s%s%s", argv[0], argv[1] && !is_option ? " " : "",
		 argv[1] && !is_option ? argv[1] : "");
	struct str of_noun = {NULL, 0}; /* a command whose first word it is */
	struct suggest one = {.wanted = str_c(argv[0])}, two = {.wanted = str_c(name)};
	for (int i = 0; i < N_COMMANDS; i++) {
		struct str known = str_c(commands[i]->name);
		suggest_offer(&one, known);
		suggest_offer(&two, known);
		if (!of_noun.p && str_starts(known, argv[0]) && known.p[strlen(argv[0])] == ' ')
			of_noun = known;
	}
	struct str best = of_noun.p ? of_noun : one.best;
	if (two.best.p && (of_noun.p || !best.p))
		best = two.best;
	fprintf(stderr, "draftmill: there is no %s \"%s\"", is_option ? "option" : "command",
		argv[0]);
	if (best.p)
		fprintf(stderr, "; did you mean `draftmill %.*s`", STR_ARG(best));
	fprintf(stderr, "; `draftmill --help` lists the commands\n");
	return EXIT_USAGE;
}

static int run(int argc, char **argv)
{
	char **word = argv + 1;

	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(*word, "--help") == 0 || strcmp(*word, "-h") == 0 ||
	    (argc == 2 && strcmp(*word, "help") == 0)) {
		print_help(stdout);
		return EXIT_DONE;
	}
	if (strcmp(*word, "--version") == 0) {
		print_version();
		return EXIT_DONE;
	}
	int n_words;
	const struct command *command = command_named(word, &n_words);
	if (command)
		return command_run(command, argc - 1 - n_words, word + n_words);
	return refuse(word);
}

/* What was printed has to have arrived: a full disk is a fault. A reader that has gone ends the program, as it does others. */
int main(int argc, char **argv)
{
	int exit_status = run(argc, argv);

	if (fflush(stdout) == 0 && !ferror(stdout))
		return exit_status;
	fprintf(stderr, "draftmill: standard output cannot be written\n");
	return EXIT_IO;
}
