#include "app/submit.h"

#include "core/job.h"

/* The same line always has the same id. 128 bits: nobody meets a second line of one. */
static struct str content_id(struct arena *a, struct str line)
{
	struct digest *d = digest_begin("draftmill/content_id/1");
	uint8_t sha[SHA_BYTES];
	char hex[2 * SHA_BYTES + 1];

	digest_bytes(d, line);
	digest_end(d, sha);
	hex_text(sha, SHA_BYTES, hex);
	return arena_printf(a, "content-%.32s", hex);
}

static void put_default(struct json_out *o, const struct json *body, const char *key,
			struct str value)
{
	if (value.p && !json_get(body, key))
		json_put_str(o, key, value);
}

/* What is missing comes in behind the first bracket; the rest stays as it is, byte by byte. */
static struct str with_defaults(struct arena *a, const struct submit_defaults *d, struct str line,
				struct str made_id)
{
	struct buf text = BUF(2 * MESSAGE_BYTES_MAX);
	struct json_out o = {.buf = &text};
	struct json *body;
	struct err err;

	if (json_read(line, &body, &err) != JSON_FINE)
		return line;
	if (json_kind(body) == JSON_OBJECT && !json_get(body, "specversion")) {
		json_open(&o, NULL, '{');
		put_default(&o, body, "profile", d->profile);
		put_default(&o, body, "batch", d->batch);
		put_default(&o, body, "source", d->source);
		put_default(&o, body, "id", made_id);
		if (o.comma && json_size(body))
			buf_putc(&text, ',');
		buf_str(&text, str_sub(line, (size_t)str_find(line, STR_OF("{"), 0) + 1, line.n));
		line = arena_str(a, buf_view(&text));
	}
	json_free(body);
	buf_release(&text);
	return line;
}

enum dead_reason submit_read_line(struct arena *a, const struct profiles *profiles,
				  const struct submit_defaults *d, struct str line,
				  struct submit_line *out, struct err *err)
{
	struct job job;

	struct str made_id = content_id(a, line);
	out->value = with_defaults(a, d, line, made_id);
	out->arm = str_c(NULL);
	enum dead_reason reason = job_read(a, &(struct record){.value = out->value},
					   profiles_job_schema(profiles), &job, err);
	if (reason != DEAD_NONE)
		return reason;
	const struct profile *profile =
		profiles_of_job(profiles, job.profile_name, job.id, &out->arm, err);
	if (!profile) {
		err_at(err, "#/profile: ");
		return DEAD_unknown_profile;
	}
	reason = job_bind(&job, profile, err);
	out->id = job.id;
	out->is_id_made = str_eq(job.id, made_id);
	job_key(&job, out->key);
	sha256(out->value, out->sha);
	return reason;
}
