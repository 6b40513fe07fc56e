/*
 * core/job.h - a drafting job as its sender means it. JSON: config/schema/job.schema.json.
 *
 * Identity is (source, id, revision). Everything lives in the arena given.
 */
#ifndef CORE_JOB_H
#define CORE_JOB_H

#include "core/message.h"
#include "core/profile.h"
#include "core/row.h"
#include "core/schema.h"

enum { JOB_TAGS_MAX = 8, JOB_ID_BYTES_MAX = 512, JOB_SALT_BYTES = SALT_BYTES };
enum {
	JOB_SCHEMA_BYTES_MAX = 16 << 10
}; /* of all its checks together: they are compiled while other jobs wait, for up to 5 ms */

struct variable {
	struct str name, value;
};
struct source {
	struct str id, text;
};

struct job {
	struct str source, id; /* source may be empty, never absent */
	int64_t revision;      /* >= 0 */
	struct str profile_name;
	struct str task; /* absent = the profile's prompt says it all */
	enum language
		language; /* of "language": "ja", "ja-JP".. = LANG_JA; absent and all else = LANG_EN */
	const struct variable *variable;
	int n_variable;
	const struct str *constraint; /* the job's own, after the profile's */
	int n_constraint;
	const struct check *check; /* the job's own, after the profile's */
	int n_check;
	const struct source *sources;
	int n_source;
	struct limits limits; /* 0 = the profile's; after job_bind() the effective ones */
	enum stakes stakes;   /* after job_bind() the highest of job, profile and its rules */
	bool has_stakes;
	struct str stakes_by;		   /* after job_bind(): what set them, see core/stakes.h */
	int64_t not_after_ms;		   /* Unix time; 0 = none */
	struct str batch, tenant, subject; /* absent = none */
	struct str tag[JOB_TAGS_MAX];
	int n_tag;
	struct str attributes, traceparent; /* from the message */
	uint8_t salt[JOB_SALT_BYTES];	    /* drawn by the caller at intake, stored with the job */
};

/* A record's value to a job. DEAD_NONE, or the reason and in *err the place. *out copies what it needs into @a; the salt stays
 * zero. After a failure it holds id and source where they could be read, for the dead letter. @job_schema is that of
 * config/schema: its types are relied on. */
enum dead_reason job_read(struct arena *a, const struct record *, const struct schema *job_schema,
			  struct job *out, struct err *err) MUST_CHECK;

/* The same job again from its row, which has what stood in the envelope, and the salt. Needs no headers. */
enum dead_reason job_read_stored(struct arena *a, const struct job_row *,
				 const struct schema *job_schema, struct job *out,
				 struct err *err) MUST_CHECK;

/* Joins the job with its profile: effective limits, stakes (core/stakes.h). DEAD_limits_loosened if the job asks for more than the profile gives,
 * DEAD_out_of_range if a check of its own has the name of one of the profile's or looks at a field that it has not, DEAD_missing_field if a hard must_include of the
 * profile names a variable that the job gives no value. */
enum dead_reason job_bind(struct job *, const struct profile *, struct err *err) MUST_CHECK;

/* The value of a variable; absent if there is none. */
struct str job_variable(const struct job *, struct str name);

/* First 128 bits of SHA-256 over (label "draftmill/job_key/1", source, id, revision): the key that makes a job unique. */
void job_key(const struct job *, uint8_t out[UUID_BYTES]);

#endif
