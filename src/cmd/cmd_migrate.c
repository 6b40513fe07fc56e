/* `draftmill migrate`: brings the database's schema to that of this program. */
#include "command.h"

#include "app/migrate.h"

#include <stdio.h>

enum { SCRIPT_BYTES_MAX = 64 << 20 };

static void say_migrated(void *owner, const struct migration *m)
{
	int *n_run = owner;

	(*n_run)++;
	printf("%s\n", m->name);
}

static int print_script(const struct migration *migration, int n)
{
	struct buf script = BUF(SCRIPT_BYTES_MAX);

	migrate_print(migration, n, &script);
	fwrite(buf_view(&script).p, 1, buf_view(&script).n, stdout);
	buf_release(&script);
	return 0;
}

static int migrate(const struct command *self, const struct command_line *line)
{
	const struct settings *settings = &line->settings;
	const struct migration *migration;
	struct err err;
	int n, n_run = 0;

	if (migrations_read(settings->arena, settings->sql_dir, &migration, &n, &err) != ST_OK)
		return command_fail(self, EXIT_CONFIG, err.text);
	if (command_value(line, "print"))
		return print_script(migration, n);
	struct pg *pg = command_connect(self, line);
	if (!pg)
		return EXIT_UNAVAILABLE;
	enum status status = migrate_run(pg, migration, n, say_migrated, &n_run, &err);
	pg_free(pg);
	if (status != ST_OK)
		return command_fail(self, status == ST_INVALID ? EXIT_CONFIG : EXIT_UNAVAILABLE,
				    err.text);
	printf("%d of %d migrations run; the schema is at %d\n", n_run, n, n);
	return 0;
}

static const struct option options[] = {
	{"print", NULL, "print the SQL for an empty database, for psql"},
	{.name = NULL},
};

const struct command migrate_command = {
	.name = "migrate",
	.usage = "[--print] [--database.conninfo CONNINFO]",
	.summary = "Brings the database to the schema of this program, as an owner or superuser",
	.option = options,
	.run = migrate,
};
