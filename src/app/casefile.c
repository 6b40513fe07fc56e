#include "app/casefile.h"

#include "app/ask.h"
#include "core/outcome.h"

/* clang-format off */
/* $1 number or null, $2 name, $3 source or null. No `select *` from job: a reader may not see its salt. */
static const char candidates_sql[] =
	"select json_build_object( "
	"'jobs', (select coalesce(json_agg(x), '[]') from ( "
	"  select j.job_no::text, source, id, revision, j.at, batch, outcome "
	"  from draftmill.job j left join draftmill.outcome o on o.job_no = j.job_no "
	"  where (j.job_no = $1::bigint or id = $2) and ($3::text is null or source = $3) "
	"  order by j.job_no limit 100) x), "
	"'dead_letters', (select coalesce(json_agg(x), '[]') from ( "
	"  select letter_no::text, source, id, revision, l.at, reason, detail, l.topic, l.part as partition, l.\"offset\", "
	"    octet_length(value) as n_bytes, encode(value_sha, 'hex') as value_sha, first_job_no::text, "
	"    encode(first_sha, 'hex') as first_sha, event_id, s.at as sent_at "
	"  from draftmill.dead_letter l "
	"    left join draftmill.outbox b on b.job_no = letter_no "
	"    left join draftmill.outbox_sent s on s.job_no = letter_no "
	"  where (letter_no = $1::bigint or id = $2 or l.key = convert_to($2, 'UTF8')) and ($3::text is null or source = $3) "
	"  order by letter_no limit 100) x))";

/* $1 job number, $2 JSON object of sentences by stop reason. A call is opened by "call critic 1, critic 2" in a step's action. */
static const char case_sql[] =
	"select json_build_object( "
	"'job', (select row_to_json(x) from ( "
	"  select job_no::text, source, id, revision, batch, tenant, subject, tags::json, profile, "
	"    (select body::json ->> 'mode' from draftmill.profile p where p.profile_sha = job.profile_sha) as mode, "
	"    encode(profile_sha, 'hex') as profile_sha, arm, stakes, stakes_by, not_after, topic, part as partition, \"offset\", at, "
	"    encode(payload_sha, 'hex') as payload_sha "
	"  from draftmill.job where job_no = $1::bigint) x), "
	"'request', (select case when p -> 'specversion' is null then p else p -> 'data' end from ( "
	"  select ltrim(convert_from(payload, 'UTF8'), chr(65279))::json as p "
	"  from draftmill.job where job_no = $1::bigint) x), "
	"'drafts', (select coalesce(json_agg(x order by draft_no), '[]') from ( "
	"  select draft_no, step_no, from_draft_no, body as text, changed_permille, n_kept, n_reverted, confidence_permille, "
	"    n_failed, n_hard_failed, checks::json, fields::json "
	"  from draftmill.draft join draftmill.step using (job_no, step_no) where job_no = $1::bigint) x), "
	"'critiques', (select coalesce(json_agg(x order by step_no), '[]') from ( "
	"  select step_no, draft_no, valid, fault, verdict, score, reasons, n_issue, n_ignored, shape, n_cut, n_unconsidered, "
	"    (select model_asked from draftmill.step s where s.job_no = c.job_no and s.step_no = c.step_no and role = 'tool') as tool, "
	"    (select coalesce(json_agg(i order by n), '[]') from ( "
	"      select n, category, severity, at, length, snippet, suggestion, source, miscited "
	"      from draftmill.issue where job_no = c.job_no and step_no = c.step_no) i) as issues "
	"  from draftmill.critique c where job_no = $1::bigint) x), "
	"'comparisons', (select coalesce(json_agg(x order by step_no), '[]') from ( "
	"  select step_no, better, better_reasons, chosen_draft_no, chosen_by "
	"  from draftmill.step where job_no = $1::bigint and (better is not null or chosen_by is not null)) x), "
	"'calls', (select coalesce(json_agg(x order by call_no), '[]') from ( "
	"  select o.call_no, o.role, o.at as opened_at, model_asked, model, class, http_status, finish_reason, request_id, "
	"    tokens_in, tokens_cached, tokens_out, cost_micro_usd, latency_ms, n_kept, n_reverted, rejected, "
	"    (select count(*) from draftmill.v_intent i where i.job_no = $1::bigint and i.call_no = o.call_no) as n_attempts, "
	"    (select coalesce(json_agg(a order by attempt_no), '[]') from ( "
	"      select attempt_no, at, why, http_status, latency_ms, detail "
	"      from draftmill.attempt where job_no = $1::bigint and call_no = o.call_no) a) as attempts "
	"  from (select split_part(words, ' ', 2)::int as call_no, min(split_part(words, ' ', 1)) as role, min(at) as at "
	"      from draftmill.step, string_to_table(substr(action, 6), ', ') words "
	"      where job_no = $1::bigint and action like 'call %' group by 1) o "
	"    left join draftmill.step s on s.job_no = $1::bigint and s.call_no = o.call_no) x), "
	"'takeovers', (select coalesce(json_agg(x order by step_no), '[]') from ( "
	"  select step_no, at, worker_id, (lost & 255) + (lost >> 8) as n_lost, cost_micro_usd "
	"  from draftmill.step where job_no = $1::bigint and fact = 'resumed') x), "
	"'outcome', (select row_to_json(x) from ( "
	"  select outcome, stop_reason, $2::json ->> stop_reason as why, draft_no, score, n_iterations, n_calls, tokens_in, "
	"    tokens_cached, tokens_out, cost_micro_usd, active_ms, at, encode(head, 'hex') as chain_head "
	"  from draftmill.outcome where job_no = $1::bigint) x), "
	"'waits', (select row_to_json(x) from ( "
	"  select t.worker_id, host, w.worker_id is not null and died_at is null as alive "
	"  from draftmill.todo t left join draftmill.worker w using (worker_id) "
	"  where job_no = $1::bigint and what = 'run') x), "
	"'events', (select coalesce(json_agg(x order by kind), '[]') from ( "
	"  select kind, event_id, topic, part as partition, \"offset\", at "
	"  from draftmill.outbox left join draftmill.outbox_sent using (job_no, kind) "
	"  where job_no = $1::bigint) x), "
	"'conflicts', (select coalesce(json_agg(x order by letter_no), '[]') from ( "
	"  select letter_no::text, topic, part as partition, \"offset\", at "
	"  from draftmill.dead_letter where first_job_no = $1::bigint) x))";
/* clang-format on */

static void put_sentences(struct buf *out)
{
	struct json_out o = {.buf = out};

	json_open(&o, NULL, '{');
	for (int i = 0; i < N_STOP_REASONS; i++)
		json_put_str(&o, stop_name(i), str_c(stop_sentence(i, false)));
	json_close(&o, '}');
}

static enum status load_job(struct pg *pg, struct str job_no, struct json **out, struct err *err)
{
	struct buf number = BUF(64), sentences = BUF(1 << 14);

	buf_str(&number, job_no);
	put_sentences(&sentences);
	const char *param[] = {number.p, sentences.p};
	enum status status = ask(pg, case_sql, param, 2, out, err);
	buf_release(&number);
	buf_release(&sentences);
	return status;
}

enum status casefile_load(struct pg *pg, const char *name, const char *source, struct json **out,
			  struct err *err)
{
	int64_t number;
	bool is_number = str_to_int(str_c(name), 0, INT64_MAX, &number);
	const char *param[] = {is_number ? name : NULL, name, source};
	struct json *found;
	struct str job_no;
	enum status status = ask(pg, candidates_sql, param, 3, &found, err);

	if (status != ST_OK)
		return status;
	const struct json *jobs = json_get(found, "jobs");
	*out = found;
	if (json_size(jobs) != 1 || !json_get_str(json_item(jobs, 0), "job_no", &job_no))
		return ST_OK;
	status = load_job(pg, job_no, out, err);
	json_free(found);
	return status;
}

enum casefile casefile_kind(const struct json *file)
{
	size_t n_job = json_size(json_get(file, "jobs"));
	size_t n_letter = json_size(json_get(file, "dead_letters"));

	if (json_get(file, "job"))
		return CASEFILE_JOB;
	if (n_job + n_letter == 0)
		return CASEFILE_NONE;
	return n_job == 0 && n_letter == 1 ? CASEFILE_LETTER : CASEFILE_SEVERAL;
}
