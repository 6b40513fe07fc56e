/*
 * core/tool.h - a command of the profile that examines each draft: what it is called, and how its answer is read.
 *
 * It gets the draft on standard input. Its answer, trimmed, is exactly one JSON array of findings, at most TOOL_FINDINGS_MAX; none is
 * `[]`. A finding is an object: `severity` (integer 1..5), one of `suggestion` and `message` (a text that is not empty), and if it likes
 * `snippet` (the place, copied from the draft; what is not in the draft tells no place) and `category` (a text). Further members are
 * ignored and counted. Any other answer is no answer: nothing passes on it.
 *
 * In a profile: {"name", "command": [program, argument..], "timeout_ms"}; "{tools}" at the beginning of a word of the command stands for the settings'
 * tools.dir. A run is a call of role `tool` that asks a model of no tokens and no price; what the command wrote is its reply.
 */
#ifndef CORE_TOOL_H
#define CORE_TOOL_H

#include "core/critique.h"
#include "core/profile.h"

enum { TOOLS_MAX = 4, /* of a profile */ TOOL_FINDINGS_MAX = 50 };

#define TOOLS_DIR "{tools}"

struct tool {
	struct str name;	   /* 1 to 40 of a-z 0-9 - _ */
	const struct str *command; /* program and arguments, without a shell */
	int n_command;
	struct model model; /* of a run: id "tool:NAME", timeout_ms of its own */
};

/* The wire format of a run: whole: it ended well, class complete; else its body says why, class rejected. */
extern const struct wire wire_tool;
bool model_is_tool(const struct model *);

/* A profile's tools; lives in @a. @array NULL: none. Faults are "tools[1].name: what is wrong; the mend". */
const struct tool *tools_read(struct arena *a, const struct json *array, int *n, struct faults *);

/* Reads a run's answer about @draft, as a critique without score and verdict; category "tool:NAME", or "tool:NAME/CATEGORY". Always
 * fills *out; look at `valid`. */
void findings_read(struct arena *a, const struct tool *, struct str answer, struct str draft,
		   struct critique *out);

#endif
