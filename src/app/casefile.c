#include "app/casefile.h"

#include "app/ask.h"
#include "core/outcome.h"

/* $1 number or null, $2 name, $3 source or null. No `select *` from job: a reader may not see its salt. */
static const char candidates_sql[] =
	"select json_build_object("
	"'jobs', (select coalesce(json_agg(x order by x.job_no), '[]') from ("
	"  select j.job_no::text, j.source, j.id, j.revision, " ASK_TIME("j.at") " as at, j.batch, o.outcome"
	"  from draftmill.job j left join draftmill.outcome o on o.job_no = j.job_no"
	"  where (j.job_no = $1::bigint or j.id = $2) and ($3::text is null or j.source = $3)"
	"  order by j.job_no limit 100) x),"
	"'dead_letters', (select coalesce(json_agg(x order by x.letter_no), '[]') from ("
	"  select l.letter_no::text, l.source, l.id, l.revision, " ASK_TIME("l.at") " as at, l.reason, l.detail, l.topic,"
	"    l.part as partition, l.\"offset\", octet_length(l.value) as n_bytes, encode(l.value_sha, 'hex') as value_sha,"
	"    l.first_job_no::text, encode(l.first_sha, 'hex') as first_sha, b.event_id, b.topic as event_topic,"
	"    s.part as event_partition, s.\"offset\" as event_offset, " ASK_TIME("s.at") " as event_at"
	"  from draftmill.dead_letter l left join draftmill.outbox b on b.job_no = l.letter_no"
	"    left join draftmill.outbox_sent s on s.job_no = l.letter_no and s.kind = b.kind"
	"  where (l.letter_no = $1::bigint or l.id = $2) and ($3::text is null or l.source = $3)"
	"  order by l.letter_no limit 100) x))";

/* "call critic 1, critic 2" in `action`: the calls that a step opens, and by `intents` which of them it lets go. */
#define OPENED                                                                                     \
	"select s.at, split_part(w.word, ' ', 1) as role, split_part(w.word, ' ', 2)::int as call_no," \
	"  (s.intents::int >> (w.i - 1)::int) & 1 as intent"                                       \
	" from draftmill.step s, regexp_split_to_table(substr(s.action, 6), ', ') with ordinality w(word, i)" \
	" where s.job_no = $1::bigint and s.action like 'call %'"

#define LIST(key, order, query)                                                                    \
	"'" key "', (select coalesce(json_agg(x order by x." order "), '[]') from (" query ") x)"
#define ONE(key, query) "'" key "', (select row_to_json(x) from (" query ") x)"

/* $1 job number, $2 JSON object of sentences by stop reason. Two objects, for a function takes 100 arguments at most. */
static const char case_sql[] =
	"select json_build_object("
	ONE("job",
	    "select job_no::text, source, id, revision, batch, tenant, subject, tags::json, profile,"
	    "  encode(profile_sha, 'hex') as profile_sha, stakes, " ASK_TIME("not_after") " as not_after, topic,"
	    "  part as partition, \"offset\", " ASK_TIME("at") " as at, encode(payload_sha, 'hex') as payload_sha"
	    " from draftmill.job where job_no = $1::bigint") ","
	"'request', (select case when p -> 'specversion' is null then p else p -> 'data' end"
	"  from (select ltrim(convert_from(payload, 'UTF8'), chr(65279))::json as p"
	"    from draftmill.job where job_no = $1::bigint) x),"
	LIST("drafts", "draft_no",
	     "select draft_no, step_no, from_draft_no, body as text, changed_permille, confidence_permille, n_failed,"
	     "  n_hard_failed, checks::json from draftmill.draft where job_no = $1::bigint") ","
	LIST("critiques", "step_no",
	     "select step_no, draft_no, valid, fault, verdict, score, reasons, n_ignored,"
	     "  (select coalesce(json_agg(i order by i.n), '[]') from (select n, category, severity, at, length, snippet,"
	     "    suggestion from draftmill.issue where job_no = c.job_no and step_no = c.step_no) i) as issues"
	     " from draftmill.critique c where job_no = $1::bigint") ","
	LIST("calls", "call_no",
	     "select o.call_no, o.role, " ASK_TIME("o.at") " as opened_at, r.model_asked, r.model, r.class,"
	     "  r.http_status, r.finish_reason, r.request_id, r.tokens_in, r.tokens_cached, r.tokens_out,"
	     "  r.cost_micro_usd, r.latency_ms,"
	     "  o.n + (select count(*) from draftmill.attempt a where a.job_no = $1::bigint"
	     "    and a.call_no = o.call_no) as n_attempts,"
	     "  (select coalesce(json_agg(a order by a.attempt_no), '[]') from (select attempt_no, " ASK_TIME("at")
	     "    as at, why, http_status, latency_ms, detail from draftmill.attempt"
	     "    where job_no = $1::bigint and call_no = o.call_no) a) as attempts"
	     " from (select call_no, min(role) as role, min(at) as at, sum(intent) as n from (" OPENED ") w"
	     "    group by call_no) o"
	     "  left join draftmill.step r on r.job_no = $1::bigint and r.call_no = o.call_no") ","
	LIST("takeovers", "step_no",
	     "select step_no, " ASK_TIME("at") " as at, worker_id, (lost::int & 1) + (lost::int >> 1) as n_lost,"
	     "  cost_micro_usd from draftmill.step where job_no = $1::bigint and fact = 'resumed'") ","
	ONE("outcome",
	    "select outcome, stop_reason, $2::json ->> stop_reason as why, draft_no, score, n_iterations, n_calls,"
	    "  tokens_in, tokens_cached, tokens_out, cost_micro_usd, active_ms, " ASK_TIME("at") " as at,"
	    "  encode(head, 'hex') as chain_head from draftmill.outcome where job_no = $1::bigint") ","
	ONE("waits",
	    "select t.worker_id, w.host, w.died_at is null and w.worker_id is not null as alive from draftmill.todo t"
	    "  left join draftmill.worker w using (worker_id) where t.job_no = $1::bigint and t.what = 'run'") ","
	LIST("events", "kind",
	     "select b.kind, b.event_id, b.topic, s.part as partition, s.\"offset\", " ASK_TIME("s.at") " as at"
	     " from draftmill.outbox b left join draftmill.outbox_sent s using (job_no, kind)"
	     " where b.job_no = $1::bigint") ","
	LIST("conflicts", "letter_no",
	     "select letter_no::text, topic, part as partition, \"offset\", " ASK_TIME("at") " as at"
	     " from draftmill.dead_letter where first_job_no = $1::bigint") ")";

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
