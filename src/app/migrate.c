#include "app/migrate.h"

#include "app/file.h"
#include "core/outcome.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { SCRIPT_BYTES_MAX = 2 << 20 };

/* Held to the end of each transaction: also behind a connection pool. */
static const char begin[] =
	"begin;\nselect pg_advisory_xact_lock(hashtext('draftmill.migrate'));\n";

/* --- files --- */

enum status migrations_read(struct arena *a, const char *sql_dir, const struct migration **out,
			    int *n, struct err *err)
{
	const char *const *name;
	int n_name;

	if (file_list(a, sql_dir, ".sql", &name, &n_name, err) != ST_OK)
		return ST_INVALID;
	struct migration *list = arena_array(a, struct migration, n_name);
	*n = 0;
	for (int i = 0; i < n_name; i++) {
		if (!isdigit((unsigned char)name[i][0]))
			continue;
		struct migration *m = &list[(*n)++];
		*m = (struct migration){.version = (int)strtol(name[i], NULL, 10), .name = name[i]};
		if (m->version != *n)
			return err_set(err, ST_INVALID,
				       "%s/%s: number %d is wanted here; number the files "
				       "0001, 0002 and so on",
				       sql_dir, name[i], *n);
		if (file_read(a, file_path(a, sql_dir, name[i]), &m->sql, err) != ST_OK)
			return ST_INVALID;
		sha256(m->sql, m->sha);
	}
	*out = list;
	if (*n == 0)
		return err_set(err, ST_INVALID,
			       "%s: there are no migrations here; set database.sql_dir", sql_dir);
	return ST_OK;
}

/* --- scripts --- */

static void put_migration(const struct migration *m, struct buf *out)
{
	buf_str(out, m->sql);
	buf_printf(out,
		   "\n;\nset local role draftmill_owner;\n"
		   "insert into draftmill.migration (version, sha) values (%d, '\\x",
		   m->version);
	buf_hex(out, m->sha, SHA_BYTES);
	buf_puts(out, "');\ncommit;\n");
}

/* A reason that this program does not know any more stays: old jobs ended so. */
static void put_stop_reasons(const struct migration *unused, struct buf *out)
{
	buf_puts(out, "set local role draftmill_owner;\n"
		      "insert into draftmill.stop_reason (name, outcome, rank) values");
	for (int i = 0; i < N_STOP_REASONS; i++) {
		enum stop_reason reason = (enum stop_reason)i;
		buf_printf(out, "%s\n\t('%s', '%s', %d)", i ? "," : "", stop_name(reason),
			   outcome_name(outcome_of(reason)), i + 1);
	}
	buf_puts(out, "\non conflict (name) do update set outcome = excluded.outcome, "
		      "rank = excluded.rank;\ncommit;\n");
}

void migrate_print(const struct migration *m, int n, struct buf *out)
{
	buf_puts(out, "\\set ON_ERROR_STOP on\n");
	for (int i = 0; i < n; i++) {
		buf_printf(out, "\n-- %s\n%s", m[i].name, begin);
		put_migration(&m[i], out);
	}
	buf_printf(out, "\n-- stop reasons\n%s", begin);
	put_stop_reasons(NULL, out);
}

/* --- what the database has --- */

/* Not to_regclass(): it trusts a cache, which does not hear of what another migrate did while this one waited for the lock. */
#define HAS_MIGRATIONS                                                                             \
	"exists (select from pg_class c join pg_namespace s on s.oid = c.relnamespace"             \
	" where s.nspname = 'draftmill' and c.relname = 'migration')"

enum found { MISSING, PRESENT, CHANGED };

static enum status find(struct pg *pg, const struct migration *m, enum found *out, struct err *err)
{
	struct pg_rows *rows;
	char version[16], sha[2 * SHA_BYTES + 1];

	*out = MISSING;
	enum status status = pg_query(pg, "select 1 where " HAS_MIGRATIONS, NULL, 0, &rows, err);
	if (status != ST_OK)
		return status;
	bool is_new = pg_n(rows) == 0;
	pg_rows_free(rows);
	if (is_new)
		return ST_OK;
	snprintf(version, sizeof(version), "%d", m->version);
	status = pg_query(pg,
			  "select encode(sha, 'hex') from draftmill.migration where version = $1",
			  (const char *const[]){version}, 1, &rows, err);
	if (status != ST_OK)
		return status;
	hex_text(m->sha, SHA_BYTES, sha);
	if (pg_n(rows) > 0)
		*out = str_is(pg_text(rows, 0, 0), sha) ? PRESENT : CHANGED;
	pg_rows_free(rows);
	return ST_OK;
}

static enum status refuse_changed(const struct migration *m, struct err *err)
{
	return err_set(err, ST_INVALID,
		       "%s was changed after it was run; put it back, and write what is new into "
		       "a file with the next number",
		       m->name);
}

/* Later migrations and the stop reasons are the owner's to write. The first one makes the owner, and says itself what that takes. */
static enum status refuse_stranger(struct pg *pg, struct err *err)
{
	struct pg_rows *rows;
	enum status status =
		pg_query(pg,
			 "select current_user where case when " HAS_MIGRATIONS
			 " then not pg_has_role(current_user, 'draftmill_owner', 'member') end",
			 NULL, 0, &rows, err);

	if (status != ST_OK)
		return status;
	if (pg_n(rows) > 0)
		status =
			err_set(err, ST_INVALID,
				"user %.*s is no member of draftmill_owner; connect as one or as a "
				"superuser, by --database.conninfo",
				STR_ARG(pg_text(rows, 0, 0)));
	pg_rows_free(rows);
	return status;
}

static enum status refuse_newer(struct pg *pg, int n, struct err *err)
{
	struct pg_rows *rows;
	enum status status =
		pg_query(pg, "select max(version) from draftmill.migration", NULL, 0, &rows, err);

	if (status != ST_OK)
		return status;
	int64_t version = pg_int(rows, 0, 0);
	pg_rows_free(rows);
	if (version > n)
		return err_set(err, ST_INVALID,
			       "the database is of a newer program: its schema is at %d, the "
			       "migrations here end at %d; take the newer program",
			       (int)version, n);
	return ST_OK;
}

/* --- running --- */

static enum status run_script(struct pg *pg, void (*put)(const struct migration *, struct buf *),
			      const struct migration *m, struct err *err)
{
	struct buf script = BUF(SCRIPT_BYTES_MAX);

	put(m, &script);
	if (script.full)
		BUG("%s is over its size", m ? m->name : "the list of stop reasons");
	enum status status = pg_script(pg, buf_view(&script).p, err);
	buf_release(&script);
	return status;
}

static enum status run_one(struct pg *pg, const struct migration *m, bool *was_run, struct err *err)
{
	enum found found;
	enum status status = pg_script(pg, begin, err);

	if (status == ST_OK)
		status = find(pg, m, &found, err);
	if (status != ST_OK)
		return status;
	*was_run = found == MISSING;
	if (found == CHANGED)
		return refuse_changed(m, err);
	if (found == PRESENT)
		return pg_script(pg, "commit", err);
	status = run_script(pg, put_migration, m, err);
	if (status != ST_OK)
		err_at(err, "%s: ", m->name);
	return status;
}

enum status migrate_run(struct pg *pg, const struct migration *m, int n, migrated_fn *done,
			void *owner, struct err *err)
{
	enum status status = refuse_stranger(pg, err);
	bool was_run;

	for (int i = 0; i < n && status == ST_OK; i++) {
		status = run_one(pg, &m[i], &was_run, err);
		if (status == ST_OK && was_run)
			done(owner, &m[i]);
	}
	if (status == ST_OK)
		status = pg_script(pg, begin, err);
	if (status == ST_OK)
		status = refuse_newer(pg, n, err);
	if (status == ST_OK)
		status = run_script(pg, put_stop_reasons, NULL, err);
	return status;
}

enum status migrate_check(struct pg *pg, const struct migration *m, int n, struct err *err)
{
	enum found found;

	for (int i = 0; i < n; i++) {
		enum status status = find(pg, &m[i], &found, err);
		if (status != ST_OK)
			return status;
		if (found == CHANGED)
			return refuse_changed(&m[i], err);
		if (found == MISSING)
			return err_set(err, ST_INVALID,
				       "the schema lacks %s; run `draftmill migrate`", m[i].name);
	}
	return refuse_newer(pg, n, err);
}
