#include "jobfile_private.h"

#include "app/suggest.h"
#include "base/json.h"

/* Members of a job that one value can fill, and those that it cannot: a column of such a name is a mistake. */
static const char *const members[] = {"id",    "source",   "revision", "profile",
				      "task",  "language", "stakes",   "not_after",
				      "batch", "tenant",   "subject",  NULL};
static const char *const structures[] = {"variables", "constraints", "checks", "sources",
					 "limits",    "tags",	     NULL};

enum { COLUMNS_MAX = 1000 }; /* more than any job can hold */

/* "NAME=COLUMN"; jobfile_check() has seen the "=". */
static struct str map_name(const char *map)
{
	return (struct str){map, (size_t)(strchr(map, '=') - map)};
}

static struct str map_column(const char *map)
{
	return str_c(strchr(map, '=') + 1);
}

static enum status add(struct columns *c, int field, struct str name, struct err *err)
{
	for (int i = 0; i < c->n_target; i++)
		if (str_eq(c->target[i].name, name))
			return err_set(err, ST_INVALID,
				       "two columns are named \"%.*s\"; rename one by --map",
				       STR_ARG(name));
	if (str_among(name, structures) >= 0)
		return err_set(
			err, ST_INVALID,
			"a column cannot hold a job's %.*s; rename it by --map, or send JSON lines",
			STR_ARG(name));
	c->target[c->n_target++] = (struct target){name, field, str_among(name, members) >= 0};
	return ST_OK;
}

/* The names of one column: those that the map gives it, else its own. */
static enum status add_column(struct columns *c, int field, const struct jobfile_form *form,
			      struct err *err)
{
	struct str own = c->field[field];
	enum status status = ST_OK;
	int n = 0;

	if (own.n == 0)
		return err_set(err, ST_INVALID, "column %d of the header has no name", field + 1);
	for (int i = 0; i < field; i++)
		if (str_eq(c->field[i], own))
			return err_set(err, ST_INVALID, "the header names \"%.*s\" twice",
				       STR_ARG(own));
	for (int i = 0; i < form->n_map && status == ST_OK; i++) {
		if (!str_eq(map_column(form->map[i]), own))
			continue;
		status = add(c, field, map_name(form->map[i]), err);
		n++;
	}
	return n || status != ST_OK ? status : add(c, field, own, err);
}

static enum status find_mapped(const struct columns *c, const char *map, struct err *err)
{
	struct str column = map_column(map);
	struct suggest near = {.wanted = column};

	for (int i = 0; i < c->n_field; i++) {
		if (str_eq(c->field[i], column))
			return ST_OK;
		suggest_offer(&near, c->field[i]);
	}
	return err_set(err, ST_INVALID, "--map %s: the header has no such column%s%.*s%s", map,
		       near.best.p ? "; did you mean \"" : "", STR_ARG(near.best),
		       near.best.p ? "\"?" : "");
}

static void split(const struct columns *c, const struct csv_row *row)
{
	struct str rest = row->text;

	for (int i = 0; i < c->n_field; i++)
		c->field[i] = csv_field(&rest);
}

enum status columns_read(struct arena *a, const struct csv_row *header,
			 const struct jobfile_form *form, struct columns *out, struct err *err)
{
	struct csv_row row = *header;
	enum status status = ST_OK;

	if (row.n_field == 0)
		return err_set(err, ST_INVALID, "the file is empty: a header is missing");
	if (row.is_too_long || row.has_stray_quote)
		return err_set(err, ST_INVALID, "the header %s",
			       row.is_too_long ? "is over 1 MiB"
					       : "has a quote inside a plain name");
	if (row.n_field > COLUMNS_MAX)
		return err_set(err, ST_INVALID, "the header has %d columns, at most %d can be",
			       row.n_field, COLUMNS_MAX);
	row.text = arena_str(a, row.text);
	if (row.n_field == 1 &&
	    (str_find(row.text, str_c(";"), 0) >= 0 || str_find(row.text, str_c("\t"), 0) >= 0))
		return err_set(err, ST_INVALID,
			       "the header is one column: name the delimiter by --delimiter");
	*out = (struct columns){
		.n_field = row.n_field,
		.target = arena_array(a, struct target, row.n_field + form->n_map),
		.field = arena_array(a, struct str, row.n_field),
	};
	split(out, &row);
	for (int i = 0; i < form->n_map && status == ST_OK; i++)
		status = find_mapped(out, form->map[i], err);
	for (int i = 0; i < out->n_field && status == ST_OK; i++)
		status = add_column(out, i, form, err);
	return status;
}

static void tell(const struct columns *c, bool is_member, const char *what, struct buf *out)
{
	const char *between = what;

	for (int i = 0; i < c->n_target; i++) {
		if (c->target[i].is_member != is_member)
			continue;
		buf_printf(out, "%s%.*s", between, STR_ARG(c->target[i].name));
		between = ", ";
	}
}

void columns_tell(const struct columns *c, struct buf *out)
{
	tell(c, true, "of the job: ", out);
	tell(c, false, out->n ? "; variables: " : "variables: ", out);
}

static void put_member(struct json_out *o, const struct target *t, struct str value)
{
	int64_t number;

	if (str_is(t->name, "revision") && str_to_int(value, 0, INT64_MAX, &number))
		json_put_int(o, "revision", number);
	else if (value.n || str_is(t->name, "id"))
		json_put_pair(o, t->name, value);
}

enum status columns_job(const struct columns *c, const struct csv_row *row, struct buf *job,
			struct err *err)
{
	struct json_out o = {.buf = job};

	if (row->n_field != c->n_field)
		return err_set(err, ST_INVALID, "%d fields, but the header has %d", row->n_field,
			       c->n_field);
	split(c, row);
	json_open(&o, NULL, '{');
	for (int i = 0; i < c->n_target; i++)
		if (c->target[i].is_member)
			put_member(&o, &c->target[i], c->field[c->target[i].field]);
	json_open(&o, "variables", '{');
	for (int i = 0; i < c->n_target; i++)
		if (!c->target[i].is_member)
			json_put_pair(&o, c->target[i].name, c->field[c->target[i].field]);
	json_close(&o, '}');
	json_close(&o, '}');
	return ST_OK;
}
