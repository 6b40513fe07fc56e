/*
 * command.h - a command of the program, and its command line. What the options are is the command's; that every command has
 * --config, --help and a flag for each setting is done here.
 */
#ifndef CMD_COMMAND_H
#define CMD_COMMAND_H

#include "app/page.h"
#include "app/profiles.h"
#include "io/pg.h"

/* Exit statuses, as in sysexits.h: one list for the code and the man page. */
/* clang-format off */
#define EXIT_STATUSES(X) \
	X(DONE, 0, "done") \
	X(NO, 1, "`try`: the job was escalated or failed. `check text`: a hard check is red. `topics`: one is missing or denied. `profile test`: a sample ended otherwise") \
	X(USAGE, 64, "wrong usage") \
	X(DATA, 65, "some input is invalid or became a dead letter; the rest was done. `show`, `report`: no such job or batch, or several. `profile`: no such profile or samples, or it is there already") \
	X(UNAVAILABLE, 69, "`migrate`, `show`, `report`: the database does not answer or has no schema. `topics`: no broker answers") \
	X(SOFTWARE, 70, "a fault of the program") \
	X(IO, 74, "the output could not be written") \
	X(TEMPORARY, 75, "`work`, `submit`: a dependency is down, a time limit passed, or this worker was declared dead: start it again. `try`: the provider gave no answer, eight attempts in a row or three that may cost") \
	X(CONFIG, 78, "configuration")
/* clang-format on */
#define X(name, status, text) EXIT_##name = status,
enum { EXIT_STATUSES(X) };
#undef X

struct option {
	const char *name;  /* without "--"; NULL ends the list */
	const char *value; /* what it takes, as "FILE"; NULL: nothing */
	const char *text;
};

struct command_line {
	struct arena *a; /* the command's */
	struct settings settings;
	const char *config;	   /* NULL: by default */
	const struct flag *option; /* of the command's own, as they stand there */
	int n_option;
	const struct flag *flag; /* settings */
	int n_flag;
	char *const *operand;
	int n_operand;
};

struct command {
	const char *name;	     /* one word or two: "migrate", "check config" */
	const char *usage;	     /* what follows the name: "[--json] JOB" */
	const char *summary;	     /* a sentence without its full stop */
	const struct option *option; /* NULL: none of its own */
	int operands_min, operands_max;
	const char *operands; /* told when their number is another: "it takes one job" */
	bool reads_settings;  /* by itself: the line's are empty */
	/* Returns the exit status. */
	int (*run)(const struct command *, const struct command_line *);
	const char *notes;   /* NULL: none */
	bool lists_settings; /* its help ends with them */
};

const struct command *command_at(int i);	     /* of the program; NULL past the end */
extern const struct option command_common_options[]; /* that every command has */

/* Reads the line, options and operands in any order ("--" ends the options), and the settings that it asks for, and runs the command
 * or prints its help or what is wrong. @argv: what follows the name; NULL at the end. Returns the exit status. */
int command_run(const struct command *, int argc, char **argv);

/* The value of the command's option, the last one given; "" if it takes none; NULL: not there. */
const char *command_value(const struct command_line *, const char *option);

/* All that is in profiles.dir; NULL: what is wrong was printed. */
struct profiles *command_profiles(const struct command_line *);
/* The database of the settings; NULL: why not was printed. */
struct pg *command_connect(const struct command *, const struct command_line *);
/* Prints @answer as @put_text puts it or, with the option --json, as it is. Returns the exit status. */
int command_print(const struct command *, const struct command_line *, const struct json *answer,
		  void (*put_text)(const struct json *, struct page *));

/* "draftmill NAME: text" on stderr; returns @exit_status. */
int command_fail(const struct command *, int exit_status, const char *text);
/* By how a function ended: ST_INVALID is @invalid, everything else is temporary. */
int command_exit(enum status, int invalid);

extern const struct command check_config_command, check_text_command, help_command, migrate_command,
	profile_new_command, profile_test_command, report_command, show_command, submit_command,
	topics_command, try_command, work_command;

#endif
