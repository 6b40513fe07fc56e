/* `draftmill help`: the man page and bash's completion, from the tables that --help prints. */
#include "command.h"

#include <stdio.h>

/* --- the man page, in the macros of man(7) --- */

/* Text of @s in roff: no character of it is a command, and a - can be copied from the page and used. */
static void put_roff(const char *s)
{
	bool line_starts = true;

	for (; *s; s++) {
		if (line_starts && (*s == '.' || *s == '\''))
			fputs("\\&", stdout);
		if (*s == '\\')
			fputs("\\e", stdout);
		else if (*s == '-')
			fputs("\\-", stdout);
		else
			putchar(*s);
		line_starts = *s == '\n';
	}
}

static void put_paragraph(const char *s, const char *end)
{
	put_roff(s);
	fputs(end, stdout);
}

static void put_term(const char *name, const char *value)
{
	fputs(".TP\n\\fB", stdout);
	put_roff(name);
	fputs("\\fR", stdout);
	if (value) {
		fputs(" \\fI", stdout);
		put_roff(value);
		fputs("\\fR", stdout);
	}
	putchar('\n');
}

static void put_options(const struct option *option)
{
	for (; option && option->name; option++) {
		char name[60];
		snprintf(name, sizeof(name), "--%s", option->name);
		put_term(name, option->value);
		put_paragraph(option->text, "\n");
	}
}

static void put_command(const struct command *command)
{
	printf(".SS %s\n\\fBdraftmill\\ %s\\fR ", command->name, command->name);
	put_paragraph(command->usage, "\n.PP\n");
	put_paragraph(command->summary, ".\n");
	put_options(command->option);
	if (command->notes) {
		fputs(".PP\n", stdout);
		put_paragraph(command->notes, "\n");
	}
}

static void put_settings(void)
{
	const struct setting_doc *d;

	for (int i = 0; (d = setting_doc_at(i)); i++) {
		put_term(d->key, NULL);
		put_paragraph(d->text, "\n");
		printf("(%s%s%s", d->type, *d->unit ? " in " : "", d->unit);
		if (!d->fallback || *d->fallback) {
			fputs(d->fallback ? "; default " : "; required", stdout);
			put_roff(d->fallback ? d->fallback : "");
		}
		fputs(")\n", stdout);
	}
}

static void put_man(void)
{
	const struct command *command;

	fputs(".TH DRAFTMILL 1 \"\" \"draftmill " DRAFTMILL_VERSION "\" \"User commands\"\n"
	      ".SH NAME\ndraftmill \\- drafts texts with a critic in the loop, jobs from Kafka, trail in PostgreSQL\n"
	      ".SH SYNOPSIS\n\\fBdraftmill\\fR \\fICOMMAND\\fR ...\n.SH COMMANDS\n",
	      stdout);
	for (int i = 0; (command = command_at(i)); i++)
		put_command(command);
	fputs(".SH OPTIONS OF EVERY COMMAND\n", stdout);
	put_options(command_common_options);
	put_term("--KEY", "VALUE");
	fputs("A setting, as \\-\\-kafka.brokers \\fIHOST:PORT\\fR.\n.SH SETTINGS\n"
	      "Strongest first: the flag \\-\\-a.b, the variable DRAFTMILL_A_B, the file, the default.\n",
	      stdout);
	put_settings();
	fputs(".SH EXIT STATUS\n", stdout);
#define X(name, status, text)                                                                      \
	put_term(#status, NULL);                                                                   \
	put_paragraph(text, "\n");
	EXIT_STATUSES(X)
#undef X
	fputs(".SH ENVIRONMENT\n", stdout);
	put_term("DRAFTMILL_CONFIG", NULL);
	fputs("The settings file, where \\-\\-config names none.\n", stdout);
	put_term("DRAFTMILL_KEY", NULL);
	fputs("A setting: its name in capitals, with _ for each dot.\n", stdout);
	put_term("NO_COLOR", NULL);
	fputs("Print without colours.\n.SH FILES\n", stdout);
	put_term("config/draftmill.yaml", NULL);
	fputs("The settings file here, else the installed one.\n", stdout);
}

/* --- bash --- */

static void put_words_of(const struct command *command)
{
	printf("\t\"%s\") words='", command->name);
	for (const struct option *o = command->option; o && o->name; o++)
		printf("--%s ", o->name);
	for (const struct option *o = command_common_options; o->name; o++)
		printf("--%s%s", o->name, o[1].name ? " " : "");
	puts("' ;;");
}

/* A command of two words is completed word by word; after its options come files. */
static void put_bash(void)
{
	const struct command *command;

	puts("# bash completion of draftmill; made by `draftmill help --bash`\n"
	     "_draftmill()\n{\n"
	     "\tlocal now=${COMP_WORDS[COMP_CWORD]} name=${COMP_WORDS[1]} words=\n"
	     "\tCOMPREPLY=()\n"
	     "\tif [ \"$COMP_CWORD\" -eq 1 ]; then");
	fputs("\t\twords='--help --version", stdout);
	for (int i = 0; (command = command_at(i)); i++)
		printf(" %.*s", (int)strcspn(command->name, " "), command->name);
	puts("'\n\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$now\" | sort -u)\n"
	     "\t\treturn\n\tfi\n\tcase $name in");
	for (int i = 0; (command = command_at(i)); i++) {
		const char *second = strchr(command->name, ' ');
		if (second)
			printf("\t%.*s)\n\t\t[ \"$COMP_CWORD\" -gt 2 ] || words+=' %s'\n"
			       "\t\tname=\"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" ;;&\n",
			       (int)(second - command->name), command->name, second + 1);
	}
	puts("\tesac\n\tcase $name in");
	for (int i = 0; (command = command_at(i)); i++)
		put_words_of(command);
	puts("\tesac\n"
	     "\tif [ -n \"$words\" ] && { [[ $now == -* ]] || [ \"$COMP_CWORD\" -eq 2 ]; }; then\n"
	     "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$now\")\n"
	     "\telse\n"
	     "\t\tcompopt -o filenames\n"
	     "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$now\")\n"
	     "\tfi\n}\n"
	     "complete -F _draftmill draftmill");
}

static int help(const struct command *self, const struct command_line *line)
{
	bool man = command_value(line, "man"), bash = command_value(line, "bash");

	if (man == bash)
		return command_fail(
			self, EXIT_USAGE,
			"it takes --man or --bash; `draftmill --help` lists the commands");
	if (man)
		put_man();
	else
		put_bash();
	return EXIT_DONE;
}

static const struct option options[] = {
	{"man", NULL, "the man page, for man -l -"},
	{"bash", NULL, "the completion for bash, for source <(...)"},
	{.name = NULL},
};

const struct command help_command = {
	.name = "help",
	.usage = "--man | --bash",
	.summary = "Prints the man page or bash's completion",
	.option = options,
	.reads_settings = true,
	.run = help,
};
