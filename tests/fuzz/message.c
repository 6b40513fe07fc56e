/*
 * message.c - records made wrong on their way to a job: whatever the bytes, an end with a reason or a job that keeps the rules.
 */
#include "../lib/fuzz.h"
#include "../lib/loop_case.h"

static const struct str corpus[] = {
	STR("{\"id\":\"order-1/welcome\",\"profile\":\"letter\",\"source\":\"crm\",\"revision\":2,\"task\":\"Welcome them.\","
	    "\"language\":\"ja-JP\",\"variables\":{\"customer\":\"山田様\",\"plan\":\"Gold\"},\"constraints\":[\"Be brief.\"],"
	    "\"checks\":[{\"name\":\"n\",\"type\":\"must_include\",\"variables\":[\"customer\"],\"values\":[\"42\"]}]}"),
	STR("{\"id\":\"a\",\"profile\":\"letter\",\"sources\":[{\"id\":\"terms\",\"text\":\"14 days.\"}],\"limits\":{\"iterations\":1,"
	    "\"tokens\":40000,\"micro_usd\":90000,\"active_ms\":1000},\"stakes\":\"high\",\"not_after\":\"2026-12-01T09:00:00+09:00\","
	    "\"batch\":\"b\",\"tenant\":\"t\",\"subject\":\"s\",\"tags\":[\"x\",\"y\"]}"),
	STR("{\"id\":\"a\",\"profile\":\"letter\",\"checks\":[{\"name\":\"w\",\"type\":\"words\",\"min\":1,\"max\":9,\"hard\":false,"
	    "\"severity\":3},{\"name\":\"r\",\"type\":\"regex\",\"pattern\":\"^a+(b|c)*$\",\"match\":false,\"describe\":\"None.\"},"
	    "{\"name\":\"f\",\"type\":\"forbidden\",\"terms\":[\"絶対\",\"free\"]},{\"name\":\"j\",\"type\":\"json\"}]}"),
	STR("{\"specversion\":\"1.0\",\"id\":\"e-1\",\"source\":\"/crm\",\"type\":\"job\",\"time\":\"2026-11-30T00:00:00Z\",\"n\":7,"
	    "\"yes\":true,\"traceparent\":\"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\","
	    "\"data\":{\"profile\":\"letter\",\"task\":\"x\",\"limits\":{\"tokens\":1.0}}}"),
	STR("{\"profile\":\"letter\",\"stakes\":\"low\",\"variables\":{}}"),
	STR("\xEF\xBB\xBF{\"id\":\"a\",\"profile\":\"nobody\"} "),
};

static const struct str keys[] = {
	STR("ce_id"),	       STR("ce_source"),    STR("ce_type"), STR("ce_specversion"),
	STR("ce_traceparent"), STR("traceparent"),  STR("ce_"),	    STR("ce_あ"),
	STR("ce_\xFF"),	       STR("content-type"), STR("ce_id"),
};
static const struct str values[] = {
	STR("1.0"),
	STR("e-1"),
	STR(""),
	STR("a\0b"),
	STR("\xC3\x28"),
	STR("あ"),
	STR("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
	STR("00-00000000000000000000000000000000-b7ad6b7169203331-01"),
	{NULL, 0},
};

static struct arena *kept; /* over all rounds */
static const struct schema *schema;
static const struct profile *profile;

static struct record any_record(struct fuzz *f)
{
	struct header *header = arena_array(f->a, struct header, 80);
	struct record record = {.header = header, .topic = STR("jobs")};
	int most = fuzz_chance(f, 5) ? 80 : 4;

	record.n_header = fuzz_chance(f, 50) ? fuzz_draw(f, most) : 0;
	for (int i = 0; i < record.n_header; i++) {
		header[i].key = FUZZ_PICK(f, keys);
		header[i].value = FUZZ_PICK(f, values);
		if (most > 4)
			header[i].key = arena_printf(f->a, "ce_k%d", i);
	}
	record.value = fuzz_mutate(f, corpus, sizeof(corpus) / sizeof(*corpus));
	if (fuzz_chance(f, 1))
		record.value = (struct str){NULL, 0};
	return record;
}

static bool is_text(struct str s)
{
	return !s.p || (text_is_utf8(s) && !memchr(s.p, 0, s.n));
}

/* What the database takes, and what the schema promises. */
static void check_job(struct fuzz *f, const struct job *job)
{
	const struct str text[] = {job->source,	 job->id,	  job->profile_name,
				   job->task,	 job->batch,	  job->tenant,
				   job->subject, job->attributes, job->traceparent};

	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++)
		FUZZ_TRUE(f, is_text(text[i]));
	FUZZ_TRUE(f, job->id.n >= 1 && job->id.n <= JOB_ID_BYTES_MAX);
	FUZZ_TRUE(f, job->source.p && job->source.n <= JOB_ID_BYTES_MAX);
	FUZZ_TRUE(f, job->profile_name.n >= 1);
	FUZZ_TRUE(f, job->revision >= 0 && job->not_after_ms >= 0);
	FUZZ_TRUE(f, job->n_check <= CHECKS_MAX && job->n_tag <= JOB_TAGS_MAX);
	FUZZ_TRUE(f, !job->traceparent.p ||
			     str_eq(traceparent_read(job->traceparent), job->traceparent));
	for (int i = 0; i < job->n_variable; i++)
		FUZZ_TRUE(f, is_text(job->variable[i].name) && is_text(job->variable[i].value));
}

/* Attributes go into every event as they are: canonical JSON, strings only, no member of ours. */
static void check_attributes(struct fuzz *f, struct str attributes)
{
	struct buf canonical = BUF(ATTRIBUTES_BYTES_MAX);
	const struct json *value;
	struct json *doc;
	struct str key;
	struct err err;

	FUZZ_TRUE(f, json_read(attributes, &doc, &err) == JSON_FINE);
	FUZZ_TRUE(f, json_canonical(doc, &canonical) == ST_OK &&
			     str_eq(buf_view(&canonical), attributes));
	for (size_t i = 0; json_member(doc, i, &key, &value); i++) {
		FUZZ_TRUE(f, json_kind(value) == JSON_STRING);
		FUZZ_TRUE(f, !str_is(key, "id") && !str_is(key, "source") &&
				     !str_is(key, "traceparent"));
	}
	buf_release(&canonical);
	json_free(doc);
}

/* The job as it comes back from its row is the same job. */
static void check_stored(struct fuzz *f, const struct record *record, const struct job *job)
{
	struct job again;
	struct err err;

	const struct job_row row = {.payload = record->value,
				    .source = job->source,
				    .id = job->id,
				    .revision = job->revision,
				    .attributes = job->attributes,
				    .traceparent = job->traceparent};
	FUZZ_TRUE(f, job_read_stored(f->a, &row, schema, &again, &err) == DEAD_NONE);
	uint8_t key[UUID_BYTES], key_again[UUID_BYTES];
	job_key(job, key);
	job_key(&again, key_again);
	FUZZ_TRUE(f, memcmp(key, key_again, UUID_BYTES) == 0);
	FUZZ_TRUE(f, str_eq(again.task, job->task) && again.n_check == job->n_check);
	FUZZ_TRUE(f, str_eq(again.attributes, job->attributes));
	FUZZ_TRUE(f, again.not_after_ms == job->not_after_ms && again.stakes == job->stakes);
}

static void a_record_is_a_job_or_has_a_reason(struct fuzz *f)
{
	struct record record = any_record(f);
	struct err err = {""};
	struct job job;
	enum dead_reason reason = job_read(f->a, &record, schema, &job, &err);

	if (reason != DEAD_NONE) {
		FUZZ_TRUE(f, reason <= DEAD_out_of_range && err.text[0]);
		FUZZ_TRUE(f, text_is_utf8(str_c(err.text)));
		FUZZ_TRUE(f, is_text(job.id) && is_text(job.source));
		return;
	}
	check_job(f, &job);
	if (job.attributes.p)
		check_attributes(f, job.attributes);
	check_stored(f, &record, &job);
	reason = job_bind(&job, profile, &err);
	FUZZ_TRUE(f, reason == DEAD_NONE || reason == DEAD_limits_loosened ||
			     reason == DEAD_out_of_range);
	if (reason != DEAD_NONE)
		return;
	const struct limits *own = &job.limits, *most = &profile->limits;
	FUZZ_TRUE(f, own->iterations >= 1 && own->iterations <= most->iterations);
	FUZZ_TRUE(f, own->tokens >= 1 && own->tokens <= most->tokens);
	FUZZ_TRUE(f, own->micro_usd >= 1 && own->micro_usd <= most->micro_usd);
	FUZZ_TRUE(f, own->active_ms >= 1 && own->active_ms <= most->active_ms);
	FUZZ_TRUE(f, job.stakes >= profile->stakes && job.stakes_by.n > 0);
}

/* ---- the schema that guards the door ---- */

static void a_schema_holds_whatever_it_is_given(struct fuzz *f)
{
	static const struct str schemas[] = {
		STR("{\"type\":\"object\",\"required\":[\"id\"],\"additionalProperties\":false,\"maxProperties\":3,"
		    "\"properties\":{\"id\":{\"type\":[\"string\",\"null\"],\"minLength\":1,\"maxLength\":5},"
		    "\"n\":{\"type\":\"integer\",\"minimum\":-1.5,\"maximum\":10},\"l\":{\"$ref\":\"#/$defs/list\"}},"
		    "\"$defs\":{\"list\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":2,\"items\":{\"$ref\":\"#\"}}}}"),
		STR("{\"enum\":[1,\"a\",null,true,1.5],\"$comment\":\"x\",\"title\":\"t\"}"),
		STR("{\"additionalProperties\":{\"const\":\"x\"},\"type\":[\"object\",\"number\"]}"),
	};
	static const struct str texts[] = {
		STR("{\"id\":\"a\",\"n\":2.0,\"l\":[{\"id\":null}]}"),
		STR("1.5"),
		STR("{\"a\":\"x\"}"),
		STR("\"a\""),
		STR("[1,2,3]"),
		STR("{\"id\":\"ああああああ\"}"),
	};
	const struct schema *mutated;
	struct err err = {""};
	struct json *doc;
	struct str text = fuzz_mutate(f, texts, sizeof(texts) / sizeof(*texts));
	struct str json = fuzz_mutate(f, schemas, sizeof(schemas) / sizeof(*schemas));

	if (schema_read(f->a, json, &mutated, &err) != ST_OK) {
		FUZZ_TRUE(f, err.text[0] && text_is_utf8(str_c(err.text)));
		return;
	}
	if (json_read(text, &doc, &err) != JSON_FINE)
		return;
	err.text[0] = '\0';
	bool fits = schema_check(mutated, doc, NULL, &err) == SCHEMA_FITS;
	json_free(doc);
	FUZZ_TRUE(f, fits || (err.text[0] == '#' || str_starts(str_c(err.text), "..")));
	FUZZ_TRUE(f, text_is_utf8(str_c(err.text)));
}

int main(int argc, char **argv)
{
	static const struct fuzz_test tests[] = {
		{"a record is a job or has a reason", a_record_is_a_job_or_has_a_reason, 12000},
		{"a schema holds whatever it is given", a_schema_holds_whatever_it_is_given, 20000},
	};
	struct err err;

	kept = arena_new();
	profile = case_profile(
		kept,
		case_patch(kept, case_file(kept, "tests/data/profile.json"),
			   STR_OF("{\"stakes_rules\":[{\"variable\":\"customer\",\"at_most\":3,"
				  "\"stakes\":\"high\",\"absent\":\"normal\"}]}")));
	if (schema_read(kept, case_file(kept, "config/schema/job.schema.json"), &schema, &err) !=
	    ST_OK)
		case_die("%s", err.text);
	int status = FUZZ_MAIN(tests);
	arena_free(kept);
	return status;
}
