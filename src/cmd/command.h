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

struct command {
	const char *name;    /* one word or two: "migrate", "check config" */
	const char *usage;   /* what follows the name: "[--json] JOB" */
	const char *summary; /* a sentence without its full stop */
	/* @argv: what follows the name; NULL at the end. Returns the exit status. */
	int (*run)(const struct command *, int argc, char **argv);
	void (*more_help)(void); /* NULL: none */
};

struct words {
	const char **word; /* the command line's; NULL: none */
	int n;
};

struct option {
	const char *name;  /* without "--"; NULL ends the list */
	const char *value; /* what it takes, as "FILE"; NULL: nothing */
	const char *text;
	bool *on;	   /* set when it is there */
	const char **to;   /* set to its value, the last one given */
	struct words *all; /* or to all values that are given */
};

struct command_line {
	struct arena *a;    /* the command's, freed by command_line_release() */
	const char *config; /* NULL: by default */
	const struct flag *flag;
	int n_flag;
	char *const *operand;
	int n_operand;
};

/* Options and operands in any order; "--" ends the options. @option NULL: none of its own. False: *exit_status is set, and help or the fault
 * was printed. Release it in any case. */
bool command_line_read(const struct command *, int argc, char **argv, const struct option *option,
		       struct command_line *out, int *exit_status) MUST_CHECK;
void command_line_release(struct command_line *);

/* The settings that the line asks for, and the log's level by them. False: the faults were printed; exit with EXIT_CONFIG. */
bool command_settings(const struct command_line *, struct settings *out) MUST_CHECK;

/* "draftmill NAME: text" on stderr; returns @exit_status. */
int command_fail(const struct command *, int exit_status, const char *text);
/* By how a function ended: ST_INVALID is @invalid, everything else is temporary. */
int command_exit(enum status, int invalid);

extern const struct command check_config_command, migrate_command, report_command, show_command,
	submit_command, try_command, work_command;

#endif
