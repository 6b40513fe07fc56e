/*
 * app/sandbox.h - a tool's command inside its sandbox: what is really run.
 *
 * The settings' tools.sandbox stands before the command; without it bubblewrap: no network, no process but its own, /usr and tools.dir read-only,
 * nothing else but an empty /tmp of 64 MiB; a process may take 1 GiB of memory and 60 s of processor time. The
 * environment is empty but for PATH, HOME and LANG, whatever the sandbox: there are keys in ours. The time limit is the call's, the limit of
 * the output CHILD_OUTPUT_MAX.
 */
#ifndef APP_SANDBOX_H
#define APP_SANDBOX_H

#include "app/settings.h"
#include "core/tool.h"
#include "io/child.h"

/* Everything but input and time limit; in @a. */
void sandbox_how(struct arena *a, const struct settings *, const struct tool *,
		 struct child_how *out);

/* Whether the tool answers an empty text, run here and now. ST_INVALID: *err tells what is wrong with it or its sandbox, and the mend. */
enum status sandbox_try(const struct settings *, const struct tool *, struct err *err) MUST_CHECK;

#endif
