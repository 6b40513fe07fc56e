/*
 * tests/lib/loop_case.h - what the tests of the loop begin with: a profile, a job, and replies as they come over the wire.
 * They run in the root of the repository; what is wrong with the case itself ends the program.
 */
#ifndef TESTS_LIB_LOOP_CASE_H
#define TESTS_LIB_LOOP_CASE_H

#include "core/job.h"
#include "core/wire.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { CASE_BYTES_MAX = 4 << 20 };

_Noreturn PRINTF_LIKE(1, 2) static inline void case_die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("Bail out! ", stdout);
	vprintf(format, args);
	puts("");
	va_end(args);
	exit(1);
}

static inline struct str case_file(struct arena *a, const char *path)
{
	struct buf text = BUF(CASE_BYTES_MAX);
	FILE *file = fopen(path, "r");
	char part[4096];
	size_t n;

	if (!file)
		case_die("no file %s", path);
	while ((n = fread(part, 1, sizeof(part), file)) > 0)
		buf_put(&text, part, n);
	fclose(file);
	struct str all = arena_str(a, buf_view(&text));
	buf_release(&text);
	return all;
}

static inline struct json *case_json(struct str text)
{
	struct json *doc;
	struct err err;

	if (json_read(text, &doc, &err) != JSON_FINE)
		case_die("%s in %.*s", err.text, STR_ARG(text));
	return doc;
}

static inline void case_put(struct json_out *o, const char *key, const struct json *value)
{
	struct buf text = BUF(CASE_BYTES_MAX);

	json_print(value, &text);
	json_put_raw(o, key, buf_view(&text));
	buf_release(&text);
}

static inline void case_merge(struct arena *a, const struct json *base, const struct json *patch,
			      const char *at, struct json_out *o)
{
	const struct json *value;
	struct str key;

	if (json_kind(base) != JSON_OBJECT || json_kind(patch) != JSON_OBJECT) {
		case_put(o, at, patch ? patch : base);
		return;
	}
	json_open(o, at, '{');
	for (size_t i = 0; json_member(base, i, &key, &value); i++) {
		const char *name = arena_str(a, key).p;
		case_merge(a, value, json_get(patch, name), name, o);
	}
	for (size_t i = 0; json_member(patch, i, &key, &value); i++) {
		const char *name = arena_str(a, key).p;
		if (!json_get(base, name))
			case_put(o, name, value);
	}
	json_close(o, '}');
}

/* @base with the members of @patch in the place of its own, objects member by member; both JSON. */
static inline struct str case_patch(struct arena *a, struct str base, struct str patch)
{
	struct json *under = case_json(base), *over = case_json(patch);
	struct buf text = BUF(CASE_BYTES_MAX);
	struct json_out o = {&text, false};

	case_merge(a, under, over, NULL, &o);
	struct str all = arena_str(a, buf_view(&text));
	buf_release(&text);
	json_free(under);
	json_free(over);
	return all;
}

static inline const struct profile *case_profile(struct arena *a, struct str json)
{
	struct buf canonical = BUF(CASE_BYTES_MAX);
	struct json *doc = case_json(json);
	struct faults faults = {.tell = NULL};
	const struct profile *profile = NULL;

	if (json_canonical(doc, &canonical) == ST_OK)
		profile = profile_read(a, buf_view(&canonical), &faults);
	if (!profile)
		case_die("the profile: %s", faults.first.text);
	json_free(doc);
	buf_release(&canonical);
	return profile;
}

static inline struct job *case_job(struct arena *a, const struct profile *profile, struct str json)
{
	const struct record record = {.value = json};
	struct job *job = arena_alloc(a, sizeof(*job));
	const struct schema *schema;
	struct err err = {""};

	if (schema_read(a, case_file(a, "config/schema/job.schema.json"), &schema, &err) != ST_OK ||
	    job_read(a, &record, schema, job, &err) != DEAD_NONE ||
	    job_bind(job, profile, &err) != DEAD_NONE)
		case_die("the job: %s", err.text);
	memset(job->salt, 7, sizeof(job->salt));
	return job;
}

struct completion {
	struct str text;
	bool refused; /* the text is the provider's refusal */
	struct str finish_reason;
	struct str model;   /* that answered */
	struct usage usage; /* in -1: none is told */
};

static inline void case_usage(struct json_out *o, struct usage usage)
{
	json_open(o, "usage", '{');
	json_put_int(o, "prompt_tokens", usage.in);
	json_put_int(o, "completion_tokens", usage.out);
	json_open(o, "prompt_tokens_details", '{');
	json_put_int(o, "cached_tokens", usage.cached);
	json_close(o, '}');
	json_close(o, '}');
}

/* An answer of /chat/completions; lives in @a. */
static inline struct http_reply case_completion(struct arena *a, const struct completion *c)
{
	struct buf body = BUF(CASE_BYTES_MAX);
	struct json_out o = {&body, false};

	json_open(&o, NULL, '{');
	json_put_str(&o, "model", c->model);
	json_open(&o, "choices", '[');
	json_open(&o, NULL, '{');
	json_put_str(&o, "finish_reason", c->finish_reason);
	json_open(&o, "message", '{');
	json_put_str(&o, "content", c->refused ? str_c(NULL) : c->text);
	json_put_str(&o, "refusal", c->refused ? c->text : str_c(NULL));
	json_close(&o, '}');
	json_close(&o, '}');
	json_close(&o, ']');
	if (c->usage.in >= 0)
		case_usage(&o, c->usage);
	json_close(&o, '}');
	struct str text = arena_str(a, buf_view(&body));
	buf_release(&body);
	return (struct http_reply){200, STR("content-type: application/json\n"), text, true};
}

#endif
