-- Views for reports and panels. What can be computed from the trail is a view here, never a column. Read-only for all but the
-- owner; a view reads the trail as draftmill_owner, so a role needs no more than the view.
set role draftmill_owner;
set search_path = draftmill;

-- One row a call that has its stored reply, or that the worker gave up.
create view v_call as
select s.job_no, j.batch, j.profile, s.profile_sha, j.arm, s.call_no, s.step_no, s.fact, s.role, s.model_asked, s.model, s.class, s.finish_reason,
	s.http_status, s.request_id, s.latency_ms, s.tokens_in, s.tokens_cached, s.tokens_out, s.cost_micro_usd, s.n_maybe_billed,
	s.worker_id, s.at, s.n_kept, s.n_reverted, s.rejected, s.better, s.chosen_draft_no, s.chosen_by
from step s join job j using (job_no)
where s.call_no is not null;

-- One row an attempt that brought no answer: tried again, as the attempt after it tells, or the last of a call that was given up.
-- Of a call that is still open the model is not in a step yet; its job's profile has it, by the role that the call was opened for.
create view v_failure as
select s.job_no, j.batch, s.call_no, s.role, s.model_asked, s.class, s.http_status, s.at
from step s join job j using (job_no)
where s.fact = 'call_failed'
union all
select a.job_no, j.batch, a.call_no, c.role, p.body::json #>> array['models', c.role, 'id'], a.why, a.http_status, a.at
from attempt a join job j using (job_no)
left join profile p using (profile_sha)
left join lateral (
	select split_part(w.words, ' ', 1) as role
	from step s cross join lateral string_to_table(substr(s.action, 6), ', ') as w (words)
	where s.job_no = a.job_no and s.action like 'call %' and split_part(w.words, ' ', 2)::int = a.call_no
	order by s.step_no limit 1) c on true
where a.why <> 'waited';

-- One row an intent: from its commit on the call may have been sent. Of a step, for the i-th call of its action bit i of
-- intents; of an attempt, its row. attempt_no is 0 for a step's.
create view v_intent as
select s.job_no, s.step_no, split_part(c.words, ' ', 2)::int as call_no, 0 as attempt_no, split_part(c.words, ' ', 1) as role,
	s.worker_id, s.at
from step s
cross join lateral string_to_table(substr(s.action, 6), ', ') with ordinality as c (words, i)
where s.action like 'call %' and (s.intents >> (c.i::int - 1)) & 1 = 1
union all
select a.job_no, null, a.call_no, a.attempt_no, null, a.worker_id, a.at
from attempt a;

-- One row a critique that could be read: its issues, and how many of them quote what is not in the draft, or cite a source that the job
-- has not; both count against its critic.
create view v_critique as
select c.job_no, j.batch, j.profile, c.step_no, c.draft_no, s.model, c.verdict, c.score, c.n_issue,
	(select count(*)::int from issue i
		where i.job_no = c.job_no and i.step_no = c.step_no and i.at is null and i.snippet ~ '\S') as n_unanchored,
	(select count(i.miscited)::int from issue i where i.job_no = c.job_no and i.step_no = c.step_no) as n_miscited
from critique c join job j using (job_no) join step s using (job_no, step_no)
where c.valid;

-- One row a job that sent, or may have sent, more than it has replies for: retries, and calls lost in a crash.
create view v_unanswered as
select i.job_no, i.n_intent, coalesce(r.n_reply, 0) as n_reply, i.n_intent - coalesce(r.n_reply, 0) as n_unanswered
from (select job_no, count(*) as n_intent from v_intent group by job_no) i
left join (select job_no, count(*) as n_reply from step where fact = 'replied' group by job_no) r using (job_no)
where i.n_intent > coalesce(r.n_reply, 0);

-- One row a job, with its outcome if it has one. elapsed_ms runs from the record's reading to the end; model_ms is the part
-- that model calls took, and own_ms the rest: waiting for slots, pauses before retries, the database, ourselves.
create view v_job as
select j.job_no, j.source, j.id, j.revision, j.batch, j.tenant, j.subject, j.profile, j.profile_sha, j.arm, j.stakes, j.stakes_by,
	j.at as taken_at, o.at as ended_at,
	o.outcome, o.stop_reason, o.draft_no, o.score, o.n_iterations, o.n_calls, o.tokens_in, o.tokens_cached, o.tokens_out,
	o.cost_micro_usd, o.active_ms, c.model_ms, e.elapsed_ms, greatest(e.elapsed_ms - c.model_ms, 0) as own_ms
from job j
left join outcome o using (job_no)
cross join lateral (select (extract(epoch from o.at - j.at) * 1000)::bigint as elapsed_ms) e
cross join lateral (
	select coalesce((select sum(s.latency_ms) from step s where s.job_no = j.job_no), 0)::bigint
		+ coalesce((select sum(a.latency_ms) from attempt a where a.job_no = j.job_no), 0)::bigint as model_ms) c;

-- One row a job that has a draft: failed checks of the first draft, of two candidates the chosen one, and of the one its outcome names (without one: the latest).
create view v_violation as
select j.job_no, j.batch, j.profile, first.n_failed as first_n_failed, first.n_hard_failed as first_n_hard_failed,
	last.draft_no as last_draft_no, last.n_failed as last_n_failed, last.n_hard_failed as last_n_hard_failed
from job j
join draft first on first.job_no = j.job_no
	and first.draft_no = coalesce((select s.chosen_draft_no from step s where s.job_no = j.job_no and s.chosen_draft_no is not null), 0)
left join outcome o on o.job_no = j.job_no
cross join lateral (
	select d.draft_no, d.n_failed, d.n_hard_failed from draft d
	where d.job_no = j.job_no and d.draft_no = coalesce(o.draft_no, d.draft_no)
	order by d.draft_no desc limit 1) last;

-- Where the true share lies that k of n show, with 95 % confidence, in permille: Wilson's score interval (Wilson 1927).
create function share_interval(k bigint, n bigint, out low int, out high int) language sql immutable parallel safe as $$
	select round(1000 * greatest(0, (centre - spread) / (1 + z * z / n)))::int,
		round(1000 * least(1, (centre + spread) / (1 + z * z / n)))::int
	from (select 1.959964::float8 as z) c
	cross join lateral (select k / n::float8 + z * z / (2 * n) as centre,
		z * sqrt(k / n::float8 * (1 - k / n::float8) / n + z * z / (4::float8 * n * n)) as spread) s
	where n > 0
$$;

-- Arms of A/B comparisons side by side, of a batch or (null) of all jobs: a row for each version (profile_sha) of an arm, so that what
-- was changed on the way is not mixed. Shares are of ended jobs, in permille with their intervals: delivered is passed or direct; a red
-- check is one of the first draft (before), of the draft that the outcome names (after). Sums and p95_ms are of ended jobs, too.
create function arms(of_batch text) returns table (profile text, arm text, profile_sha bytea, n_jobs bigint, n_open bigint, n_passed bigint,
	n_direct bigint, n_escalated bigint, n_failed bigint, delivered_permille int, delivered_low int, delivered_high int, n_drafted bigint,
	n_red_before bigint, n_red_after bigint, red_after_permille int, red_after_low int, red_after_high int, tokens_in bigint,
	tokens_out bigint, cost_micro_usd bigint, cost_micro_usd_per_job bigint, p95_ms bigint) language sql stable as $$
	select a.profile, a.arm, a.profile_sha, a.n_jobs, a.n_jobs - a.n_ended, a.n_passed, a.n_direct, a.n_escalated, a.n_failed,
		1000 * (a.n_passed + a.n_direct) / nullif(a.n_ended, 0), d.low, d.high,
		a.n_drafted, a.n_red_before, a.n_red_after, 1000 * a.n_red_after / nullif(a.n_drafted, 0), r.low, r.high,
		a.tokens_in, a.tokens_out, a.cost_micro_usd, a.cost_micro_usd / nullif(a.n_ended, 0), a.p95_ms
	from (
		select j.profile, j.arm, j.profile_sha, count(*) as n_jobs, count(j.outcome) as n_ended,
			count(*) filter (where j.outcome = 'passed') as n_passed, count(*) filter (where j.outcome = 'direct') as n_direct,
			count(*) filter (where j.outcome = 'escalated') as n_escalated, count(*) filter (where j.outcome = 'failed') as n_failed,
			count(v.job_no) filter (where j.outcome is not null) as n_drafted,
			count(*) filter (where j.outcome is not null and v.first_n_failed > 0) as n_red_before,
			count(*) filter (where j.outcome is not null and v.last_n_failed > 0) as n_red_after,
			coalesce(sum(j.tokens_in), 0)::bigint as tokens_in, coalesce(sum(j.tokens_out), 0)::bigint as tokens_out,
			coalesce(sum(j.cost_micro_usd), 0)::bigint as cost_micro_usd,
			percentile_disc(0.95) within group (order by j.elapsed_ms) as p95_ms
		from draftmill.v_job j left join draftmill.v_violation v using (job_no)
		where j.arm is not null and (of_batch is null or j.batch = of_batch)
		group by 1, 2, 3) a
	left join lateral draftmill.share_interval(a.n_passed + a.n_direct, a.n_ended) d on true
	left join lateral draftmill.share_interval(a.n_red_after, a.n_drafted) r on true
$$;
create view v_arm as select * from arms(null);

-- What the critic reads, in input tokens a call, by version, of a batch or (null) of all jobs. baseline: of the version's first calls, all
-- batches together (critic_baseline; while it has had fewer than 20, of those there are). first: a job's first critique; later: those after
-- it, whose draft has been refined. last_day: the latest day, UTC, with a call. growth: that day's mean by the baseline, in permille.
create function critic_input(of_batch text) returns table (profile text, arm text, profile_sha bytea, n_calls bigint, baseline bigint,
	mean bigint, first_mean bigint, later_mean bigint, last_day date, last_day_mean bigint, growth_permille bigint) language sql stable as $$
	with c as (
		select v.profile, v.arm, v.profile_sha, v.tokens_in, (v.at at time zone 'UTC')::date as day,
			row_number() over (partition by v.job_no order by v.call_no) = 1 as is_first
		from draftmill.v_call v
		where v.role = 'critic' and v.tokens_in is not null and (of_batch is null or v.batch = of_batch)
	), d as (
		select c.profile, c.arm, c.profile_sha, c.day, count(*) as n, sum(c.tokens_in) as tokens,
			count(*) filter (where c.is_first) as n_first, coalesce(sum(c.tokens_in) filter (where c.is_first), 0) as first_tokens
		from c group by 1, 2, 3, 4
	), g as (
		select d.profile, d.arm, d.profile_sha, sum(d.n)::bigint as n_calls, round(sum(d.tokens) / sum(d.n))::bigint as mean,
			round(sum(d.first_tokens) / nullif(sum(d.n_first), 0))::bigint as first_mean,
			round(sum(d.tokens - d.first_tokens) / nullif(sum(d.n - d.n_first), 0))::bigint as later_mean, max(d.day) as last_day,
			(array_agg(round(d.tokens / d.n)::bigint order by d.day desc))[1] as last_day_mean
		from d group by 1, 2, 3
	)
	select g.profile, g.arm, g.profile_sha, g.n_calls, b.tokens_in, g.mean, g.first_mean, g.later_mean, g.last_day, g.last_day_mean,
		round(1000 * g.last_day_mean / nullif(b.tokens_in, 0)::numeric)::bigint
	from g
	left join draftmill.critic_baseline s using (profile_sha)
	cross join lateral (
		select coalesce(s.tokens_in, (draftmill.first_critic_input(g.profile_sha)).tokens_in) as tokens_in) b
$$;
create view v_critic_input as select * from critic_input(null);

-- One row a stored profile: what tells two of them apart where results stand side by side. Of one checks_sha are profiles with the same
-- checks on the same parts, so the same schema for drafts that use one.
create view v_profile as
select profile_sha, name, body::json ->> 'mode' as mode, coalesce(body::json ->> 'draft_schema', 'off') as draft_schema,
	sha256(convert_to(concat(body::json ->> 'checks', body::json ->> 'fields'), 'UTF8')) as checks_sha
from profile;

revoke all on function share_interval(bigint, bigint), arms(text), critic_input(text) from public;
grant execute on function share_interval(bigint, bigint), arms(text), critic_input(text) to draftmill_reader, draftmill_worker;
grant select on v_call, v_critique, v_failure, v_intent, v_unanswered, v_job, v_profile, v_violation, v_arm, v_critic_input to draftmill_reader, draftmill_worker;
grant select on v_call, v_job to draftmill_reviewer;

reset search_path;
reset role;
