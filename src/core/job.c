#include "core/job.h"

#include "base/clock.h"
#include "core/stakes.h"

#include <inttypes.h>

static enum dead_reason out_of_range(const char *field, const char *fits, struct err *err)
{
	return ERR_SET(err, DEAD_out_of_range, "#/%s: must be %s", field, fits);
}

/* A string member in the arena; absent if there is none. */
static struct str text_of(struct arena *a, const struct json *object, const char *key)
{
	struct str s = {0};

	(void)json_get_str(object, key, &s);
	return arena_str(a, s);
}

/* An integer member, 0 if there is none. The schema lets 2.0 pass as 2 and keeps within what a double holds exactly. */
static int64_t integer_of(const struct json *object, const char *key)
{
	const struct json *value = json_get(object, key);

	if (json_kind(value) == JSON_DOUBLE)
		return (int64_t)json_double(value);
	return value ? json_int(value) : 0;
}

/* The part of a language tag before the first '-' decides (RFC 5646: in any case). */
static enum language language_of(struct str tag)
{
	bool ja = tag.n >= 2 && (tag.p[0] | 0x20) == 'j' && (tag.p[1] | 0x20) == 'a';

	return ja && (tag.n == 2 || tag.p[2] == '-') ? LANG_JA : LANG_EN;
}

static const struct str *texts_of(struct arena *a, const struct json *array, int *n)
{
	struct str *text = arena_array(a, struct str, json_size(array));

	*n = (int)json_size(array);
	for (int i = 0; i < *n; i++)
		text[i] = arena_str(a, json_str(json_item(array, (size_t)i)));
	return text;
}

static void read_variables(struct arena *a, const struct json *object, struct job *job)
{
	size_t n = json_size(object);
	struct variable *variable = arena_array(a, struct variable, n);
	const struct json *value;
	struct str name;

	for (size_t i = 0; i < n && json_member(object, i, &name, &value); i++)
		variable[i] = (struct variable){arena_str(a, name), arena_str(a, json_str(value))};
	job->variable = variable;
	job->n_variable = (int)n;
}

/* A critic cites a source by its id, white space around it aside: no two may have one. */
static enum dead_reason read_sources(struct arena *a, const struct json *array, struct job *job,
				     struct err *err)
{
	size_t n = json_size(array);
	struct source *source = arena_array(a, struct source, n);

	for (size_t i = 0; i < n; i++) {
		source[i].id = text_of(a, json_item(array, i), "id");
		source[i].text = text_of(a, json_item(array, i), "text");
		for (size_t k = 0; k < i; k++)
			if (str_eq(str_trim(source[k].id), str_trim(source[i].id)))
				return ERR_SET(
					err, DEAD_out_of_range,
					"#/sources/%zu/id: that of source %zu too; give each its own",
					i, k);
	}
	job->sources = source;
	job->n_source = (int)n;
	return DEAD_NONE;
}

static enum dead_reason read_checks(struct arena *a, const struct json *array, struct job *job,
				    struct err *err)
{
	size_t schema_bytes = 0;
	struct str schema;

	for (size_t i = 0; i < json_size(array); i++) {
		if (json_get_str(json_item(array, i), "schema", &schema))
			schema_bytes += schema.n;
		if (schema_bytes > JOB_SCHEMA_BYTES_MAX)
			return ERR_SET(err, DEAD_out_of_range,
				       "#/checks/%d/schema: more than %d bytes with those before; "
				       "put them into the profile",
				       (int)i, JOB_SCHEMA_BYTES_MAX);
	}
	if (check_read_list(a, array, &job->check, &job->n_check, err) == ST_OK)
		return DEAD_NONE;
	err_at(err, "#/checks");
	return DEAD_out_of_range;
}

static void read_limits(const struct json *limits, struct limits *out)
{
	out->iterations = integer_of(limits, "iterations");
	out->tokens = integer_of(limits, "tokens");
	out->micro_usd = integer_of(limits, "micro_usd");
	out->active_ms = integer_of(limits, "active_ms");
}

static void read_stakes(const struct json *body, struct job *job)
{
	struct str name;

	job->has_stakes = json_get_str(body, "stakes", &name);
	for (int i = 0; job->has_stakes && i < N_STAKES; i++)
		if (str_is(name, stakes_name(i)))
			job->stakes = i;
}

static void read_labels(struct arena *a, const struct json *body, struct job *job)
{
	const struct json *tags = json_get(body, "tags");

	job->batch = text_of(a, body, "batch");
	job->tenant = text_of(a, body, "tenant");
	job->subject = text_of(a, body, "subject");
	for (size_t i = 0; i < json_size(tags) && i < JOB_TAGS_MAX; i++)
		job->tag[job->n_tag++] = arena_str(a, json_str(json_item(tags, i)));
}

/* Each from the body, else from the envelope. The body may be one that the schema refuses. */
static enum dead_reason read_identity(struct arena *a, const struct message *m, struct job *job,
				      struct err *err)
{
	struct str source = m->source.p ? m->source : STR_OF(""), id = m->id;

	(void)json_get_str(m->body, "source", &source);
	(void)json_get_str(m->body, "id", &id);
	if (id.n < 1 || id.n > JOB_ID_BYTES_MAX)
		return out_of_range("id", "1 to 512 bytes", err);
	if (source.n > JOB_ID_BYTES_MAX)
		return out_of_range("source", "at most 512 bytes", err);
	job->source = arena_str(a, source);
	job->id = arena_str(a, id);
	return DEAD_NONE;
}

static enum dead_reason read_not_after(const struct json *body, struct job *job, struct err *err)
{
	struct str time;

	if (json_get_str(body, "not_after", &time) && !time_read(time, &job->not_after_ms))
		return out_of_range("not_after", "a time like 2026-11-30T12:00:00Z (RFC 3339)",
				    err);
	return DEAD_NONE;
}

static enum dead_reason read_body(struct arena *a, const struct message *m, struct job *job,
				  struct err *err)
{
	enum dead_reason reason = read_not_after(m->body, job, err);

	if (reason == DEAD_NONE)
		reason = read_checks(a, json_get(m->body, "checks"), job, err);
	if (reason == DEAD_NONE)
		reason = read_sources(a, json_get(m->body, "sources"), job, err);
	if (reason != DEAD_NONE)
		return reason;
	job->revision = integer_of(m->body, "revision");
	job->profile_name = text_of(a, m->body, "profile");
	job->task = text_of(a, m->body, "task");
	job->language = language_of(text_of(a, m->body, "language"));
	read_variables(a, json_get(m->body, "variables"), job);
	job->constraint = texts_of(a, json_get(m->body, "constraints"), &job->n_constraint);
	read_limits(json_get(m->body, "limits"), &job->limits);
	read_stakes(m->body, job);
	read_labels(a, m->body, job);
	job->attributes = arena_str(a, m->attributes);
	job->traceparent = arena_str(a, m->traceparent);
	return DEAD_NONE;
}

static enum dead_reason read_message(struct arena *a, const struct message *m,
				     const struct schema *job_schema, struct job *job,
				     struct err *err)
{
	static const enum dead_reason reasons[] = {
		[SCHEMA_TYPE] = DEAD_wrong_type,	[SCHEMA_MISSING] = DEAD_missing_field,
		[SCHEMA_UNKNOWN] = DEAD_unknown_field,	[SCHEMA_RANGE] = DEAD_out_of_range,
		[SCHEMA_UNDECIDED] = DEAD_out_of_range,
	};
	enum schema_fault fault = schema_check(job_schema, m->body, m->id.p ? "id" : NULL, err);

	enum dead_reason reason = read_identity(a, m, job, fault == SCHEMA_FITS ? err : NULL);

	if (fault != SCHEMA_FITS)
		return reasons[fault];
	return reason == DEAD_NONE ? read_body(a, m, job, err) : reason;
}

/* @row: of the job stored before; NULL: the record is new. */
static enum dead_reason read_record(struct arena *a, const struct record *record,
				    const struct job_row *row, const struct schema *job_schema,
				    struct job *out, struct err *err)
{
	struct message m;
	enum dead_reason reason = message_read(a, record, &m, err);

	*out = (struct job){0};
	if (reason != DEAD_NONE)
		return reason;
	if (row) {
		m.id = row->id;
		m.attributes = row->attributes;
		m.traceparent = row->traceparent;
	}
	reason = read_message(a, &m, job_schema, out, err);
	json_free(m.doc);
	return reason;
}

enum dead_reason job_read(struct arena *a, const struct record *record,
			  const struct schema *job_schema, struct job *out, struct err *err)
{
	return read_record(a, record, NULL, job_schema, out, err);
}

enum dead_reason job_read_stored(struct arena *a, const struct job_row *row,
				 const struct schema *job_schema, struct job *out, struct err *err)
{
	const struct record record = {.value = row->payload};
	enum dead_reason reason = read_record(a, &record, row, job_schema, out, err);

	out->source = arena_str(a, row->source);
	out->id = arena_str(a, row->id);
	out->revision = row->revision;
	memcpy(out->salt, row->salt, SALT_BYTES);
	return reason;
}

/* 0 in the job's own means the profile's. */
static bool bind_limit(const char *name, int64_t *own, int64_t allowed, struct err *err)
{
	if (*own > allowed)
		return ERR_SET(err, false,
			       "#/limits/%s: is %" PRId64 ", the profile allows at most %" PRId64,
			       name, *own, allowed);
	if (*own == 0)
		*own = allowed;
	return true;
}

/* Without it the check could not be met, whatever is bought. */
static enum dead_reason variable_missing(const struct job *job, const struct profile *profile,
					 struct err *err)
{
	for (int i = 0; i < profile->n_check; i++) {
		const struct check *c = &profile->check[i];
		const struct str name = c->hard ? check_lacks(c, job) : str_c(NULL);
		if (name.p)
			return ERR_SET(
				err, DEAD_missing_field,
				"#/variables/%.*s: has no value, the profile's check \"%.*s\" "
				"wants it in the text",
				STR_ARG(name), STR_ARG(c->name));
	}
	return DEAD_NONE;
}

enum dead_reason job_bind(struct job *job, const struct profile *profile, struct err *err)
{
	struct limits *own = &job->limits;
	const struct limits *allowed = &profile->limits;

	for (int i = 0; i < job->n_check; i++)
		if (check_named(profile->check, profile->n_check, job->check[i].name))
			return ERR_SET(err, DEAD_out_of_range, "#/checks/%d/name: is the profile's",
				       i);
	for (int i = 0; i < job->n_check; i++)
		if (job->check[i].field.p && !profile_has_field(profile, job->check[i].field))
			return ERR_SET(err, DEAD_out_of_range,
				       "#/checks/%d/field: the profile has no such field", i);
	if (!bind_limit("iterations", &own->iterations, allowed->iterations, err) ||
	    !bind_limit("tokens", &own->tokens, allowed->tokens, err) ||
	    !bind_limit("micro_usd", &own->micro_usd, allowed->micro_usd, err) ||
	    !bind_limit("active_ms", &own->active_ms, allowed->active_ms, err))
		return DEAD_limits_loosened;
	stakes_settle(job, profile);
	return variable_missing(job, profile, err);
}

struct str job_variable(const struct job *job, struct str name)
{
	for (int i = 0; i < job->n_variable; i++)
		if (str_eq(job->variable[i].name, name))
			return job->variable[i].value;
	return (struct str){0};
}

void job_key(const struct job *job, uint8_t out[UUID_BYTES])
{
	struct digest *d = digest_begin("draftmill/job_key/1");
	uint8_t sha[SHA_BYTES];

	digest_bytes(d, job->source);
	digest_bytes(d, job->id);
	digest_int(d, job->revision);
	digest_end(d, sha);
	memcpy(out, sha, UUID_BYTES);
}
