/*
 * command.h - a command of the program, and its command line. What the options are is the command's; that every command has
 * --config, --help and a flag for each setting is done here.
 */
#ifndef CMD_COMMAND_H
#define CMD_COMMAND_H

#include "app/settings.h"

/* Exit statuses, as in sysexits.h. 0: done. 1: done, and the answer is no. */
enum {
	EXIT_USAGE = 64,       /* the command line */
	EXIT_DATA = 65,	       /* the input */
	EXIT_UNAVAILABLE = 69, /* database, broker or model does not answer */
	EXIT_SOFTWARE = 70,    /* a fault of the program */
	EXIT_IO = 74,	       /* the output cannot be written */
	EXIT_TEMPORARY = 75,   /* start it again */
	EXIT_CONFIG = 78,      /* settings, profiles, prompts */
};

struct option {
	const char *name;  /* without "--"; NULL ends the list */
	const char *value; /* what it takes, as "FILE"; NULL: nothing */
	const char *text;
};

struct command_line {
	struct arena *a; /* the command's */
	struct settings settings;
	const char *config; /* NULL: by default */
	const struct flag
		*option; /* of the command's own, as they stand there; value NULL: takes none */
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
	void (*more_help)(void); /* NULL: none */
};

/* Reads the line, options and operands in any order ("--" ends the options), and the settings that it asks for, and runs the command
 * or prints its help or what is wrong. @argv: what follows the name; NULL at the end. Returns the exit status. */
int command_run(const struct command *, int argc, char **argv);

/* The value of the command's option, the last one given; NULL: not there. */
const char *command_value(const struct command_line *, const char *option);
bool command_has(const struct command_line *, const char *option);

/* "draftmill NAME: text" on stderr; returns @exit_status. */
int command_fail(const struct command *, int exit_status, const char *text);
/* By how a function ended: ST_INVALID is @invalid, everything else is temporary. */
int command_exit(enum status, int invalid);

extern const struct command check_config_command, migrate_command, report_command, show_command,
	submit_command, try_command, work_command;

#endif
