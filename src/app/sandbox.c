#include "app/sandbox.h"

#include <stdlib.h>

static const char *const bubblewrap[] = {
	"bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
	/* what is there: programs and the tools' own files */
	"--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
	"--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--remount-ro",
	"/dev", "--size", "67108864", "--tmpfs", "/tmp", "--ro-bind-try", TOOLS_DIR, TOOLS_DIR,
	"--chdir", "/tmp", "--remount-ro", "/", "--",
	/* what each process may take; their number does not bind root */
	"prlimit", "--as=1073741824", "--cpu=60", "--fsize=67108864", "--core=0", "--nofile=256",
	"--nproc=64", "--"};
enum { N_BUBBLEWRAP = sizeof(bubblewrap) / sizeof(bubblewrap[0]) };

static const char *const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp",
					  "LANG=C.UTF-8", NULL};

/* A sandbox may start in another folder: the path is whole. */
static const char *whole_path(struct arena *a, const char *path)
{
	char *whole = realpath(path, NULL);
	const char *kept = arena_str(a, str_c(whole ? whole : path)).p;

	free(whole);
	return kept;
}

static const char *filled_in(struct arena *a, struct str word, const char *dir)
{
	if (!str_starts(word, TOOLS_DIR))
		return word.p;
	return arena_printf(a, "%s%s", dir, word.p + strlen(TOOLS_DIR)).p;
}

void sandbox_how(struct arena *a, const struct settings *s, const struct tool *tool,
		 struct child_how *out)
{
	const char *dir = whole_path(a, s->tools_dir);
	const char *const *before = s->n_sandbox ? s->sandbox : bubblewrap;
	const int n_before = s->n_sandbox ? s->n_sandbox : N_BUBBLEWRAP;
	const char **argv = arena_array(a, const char *, n_before + tool->n_command + 1);
	int n = 0;

	for (int i = 0; i < n_before; i++)
		argv[n++] = filled_in(a, str_c(before[i]), dir);
	for (int i = 0; i < tool->n_command; i++)
		argv[n++] = filled_in(a, tool->command[i], dir);
	out->argv = argv;
	out->environment = environment;
}

enum status sandbox_try(const struct settings *s, const struct tool *tool, struct err *err)
{
	struct arena *a = arena_new();
	struct buf answer = BUF(CHILD_OUTPUT_MAX);
	struct child_how how = {.limit_ms = tool->model.timeout_ms};
	struct critique found;

	sandbox_how(a, s, tool, &how);
	enum status status = child_run(&how, &answer, err) == ST_OK ? ST_OK : ST_INVALID;
	if (status == ST_OK) {
		findings_read(a, tool, buf_view(&answer), STR_OF(""), &found);
		if (!found.valid)
			status = err_set(err, ST_INVALID, "its answer: %.*s", STR_ARG(found.fault));
	}
	if (status != ST_OK)
		err_at(err,
		       "tool %.*s does not answer an empty text; mend its command or "
		       "tools.sandbox: ",
		       STR_ARG(tool->name));
	buf_release(&answer);
	arena_free(a);
	return status;
}
