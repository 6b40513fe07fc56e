-- What must hold of the database at any time. Each query gives one row a breach, and none if all is well. Run it after every
-- storm: psql -f sql/invariants.sql. What Kafka or a model's ledger must agree with is checked by the tests.
set search_path = draftmill;

-- I2: one outcome a job (its key sees to not more), or a todo row. When drained, todo is empty as well
select 'I2' as invariant, j.job_no, 'no outcome, and not in todo' as breach from job j
where not exists (select from outcome o where o.job_no = j.job_no)
	and not exists (select from todo t where t.job_no = j.job_no and t.what = 'run');
select 'I2' as invariant, job_no, 'todo row `run` of an ended job' as breach from todo
join outcome using (job_no) where what = 'run';
select 'I2' as invariant, job_no, 'outcome, step or key without a job' as breach from (
	select job_no from outcome union select job_no from step union select job_no from job_key) x
where not exists (select from job j where j.job_no = x.job_no);
select 'I2' as invariant, j.job_no, 'job without its key' as breach from job j
where not exists (select from job_key k where k.job_no = j.job_no and k.sha = j.payload_sha);

-- I3: no reply stored twice, step numbers from 0 without gaps, one stored version
select 'I3' as invariant, job_no, 'call ' || call_no || ' has two replies' as breach from step
where call_no is not null group by job_no, call_no having count(*) > 1;
select 'I3' as invariant, job_no, 'a gap in the steps' as breach from step
group by job_no having count(*) <> max(step_no) + 1 or min(step_no) <> 0;
select 'I3' as invariant, job_no, 'the first step is not `started`, or a later one is' as breach from step
where (step_no = 0) <> (fact = 'started') and not (step_no = 0 and fact = 'stopped');

select 'I3' as invariant, s.job_no, 'step ' || s.step_no || ' of another version than its job' as breach from step s
join job j using (job_no) where s.profile_sha <> j.profile_sha;
select 'I3' as invariant, j.job_no, 'its version is not stored' as breach from job j
where not exists (select from profile p where p.profile_sha = j.profile_sha);

select 'I3' as invariant, null::bigint as job_no, 'a baseline of no version' as breach from critic_baseline b
where not exists (select from profile p where p.profile_sha = b.profile_sha);

-- I4: each critique judges a stored draft, each refined draft comes from one that had a red check or a critique
select 'I4' as invariant, job_no, 'critique of a draft that is not there' as breach from critique c
where not exists (select from draft d where d.job_no = c.job_no and d.draft_no = c.draft_no);
select 'I4' as invariant, d.job_no, 'draft ' || d.draft_no || ' refined without a critique or a red check' as breach from draft d
where d.from_draft_no is not null
	and not exists (select from critique c where c.job_no = d.job_no and c.draft_no = d.from_draft_no)
	and not exists (select from draft f where f.job_no = d.job_no and f.draft_no = d.from_draft_no and f.n_failed > 0);
select 'I4' as invariant, job_no, 'n_issue of step ' || step_no || ' is not the number of its issues' as breach from critique c
where valid and n_issue <> (select count(*) from issue i where i.job_no = c.job_no and i.step_no = c.step_no);
select 'I4' as invariant, i.job_no, 'an issue of step ' || step_no || ' cites a source that the job has not, or is also miscited' as breach
from issue i join job j using (job_no)
cross join lateral (select ltrim(convert_from(j.payload, 'UTF8'), chr(65279))::json as m) x
where i.source is not null and j.payload is not null and (i.miscited is not null or not exists (
	select from json_array_elements(coalesce(m -> 'sources', m -> 'data' -> 'sources')) s where s ->> 'id' = i.source));
select 'I4' as invariant, c.job_no, 'more critiques that count than iterations allowed' as breach
from critique c join job j using (job_no) join profile p using (profile_sha)
where c.valid group by c.job_no, p.body
having count(distinct c.draft_no) > (p.body::json -> 'limits' ->> 'iterations')::int;

-- I5: another worker's step only after it took over or ended the job, none after the worker's death
select 'I5' as invariant, job_no, 'step ' || step_no || ' by another worker' as breach from (
	select job_no, step_no, fact, worker_id, lag(worker_id) over (partition by job_no order by step_no) as before from step) s
where before <> worker_id and fact not in ('resumed', 'stopped');
select 'I5' as invariant, s.job_no, 'step ' || s.step_no || ' after its worker''s death' as breach
from step s join worker w using (worker_id) where s.at > w.died_at;

-- I6: an outcome's cost and tokens are the sum of its steps'
select 'I6' as invariant, o.job_no, 'cost of the outcome is not that of its steps' as breach from outcome o
where cost_micro_usd <> (select coalesce(sum(s.cost_micro_usd), 0) from step s where s.job_no = o.job_no);

-- I7: an outcome has its events, an event is sent or still to do, a dead letter has its event
select 'I7' as invariant, o.job_no, 'no event `outcome`' as breach from outcome o
where not exists (select from outbox b where b.job_no = o.job_no and b.kind = 'outcome');
select 'I7' as invariant, o.job_no, 'event `opened` is there or not, against the outcome' as breach from outcome o
where (outcome = 'escalated') <> exists (select from outbox b where b.job_no = o.job_no and b.kind = 'opened');
select 'I7' as invariant, b.job_no, 'event `' || kind || '` neither sent nor in todo, or both' as breach from outbox b
where exists (select from outbox_sent s where s.job_no = b.job_no and s.kind = b.kind)
	= exists (select from todo t where t.job_no = b.job_no and t.what = b.kind);
select 'I7' as invariant, letter_no as job_no, 'dead letter without an event' as breach from dead_letter
where not exists (select from outbox b where b.job_no = letter_no);
select 'I7' as invariant, min(job_no) as job_no, 'event_id ' || event_id || ' twice' as breach from outbox
group by event_id having count(*) > 1;

-- I8: passed means passed
select 'I8' as invariant, o.job_no, 'shipped with a red hard check, or without its draft' as breach from outcome o
left join draft d using (job_no, draft_no)
where o.outcome in ('passed', 'direct') and d.n_hard_failed is distinct from 0;
select 'I8' as invariant, o.job_no, 'shipped with high stakes' as breach from outcome o join job j using (job_no)
where o.outcome in ('passed', 'direct') and j.stakes = 'high';
select 'I8' as invariant, o.job_no, 'passed without a critique that says so' as breach
from outcome o join job j using (job_no) join profile p using (profile_sha)
left join lateral (select * from critique c where c.job_no = o.job_no and c.draft_no = o.draft_no
	order by c.step_no desc limit 1) c on true
where o.outcome = 'passed' and (c.valid and c.verdict = 'pass'
	and (p.body::json ->> 'pass_rule' = 'no_actionable_issues' or c.score >= (p.body::json ->> 'pass_score')::int)
	and not exists (select from issue i where i.job_no = c.job_no and i.step_no = c.step_no
		and i.severity >= (p.body::json ->> 'severity_threshold')::int)) is not true;
select 'I8' as invariant, o.job_no, 'passed over what a tool found' as breach
from outcome o join job j using (job_no) join profile p using (profile_sha)
join critique c on c.job_no = o.job_no and c.draft_no = o.draft_no
join issue i on i.job_no = c.job_no and i.step_no = c.step_no
where o.outcome in ('passed', 'direct') and starts_with(i.category, 'tool:')
	and i.severity >= (p.body::json ->> 'severity_threshold')::int;

-- I9: nothing ships over a critique that could not be read, or a call that failed
select 'I9' as invariant, o.job_no, 'shipped although its last critique was invalid' as breach from outcome o
where o.outcome in ('passed', 'direct') and (select not valid from critique c where c.job_no = o.job_no
	order by c.step_no desc limit 1);
select 'I9' as invariant, o.job_no, 'shipped although a call failed' as breach from outcome o
where o.outcome in ('passed', 'direct') and exists (select from step s where s.job_no = o.job_no and s.fact = 'call_failed');

-- I11: the worker's role may add to the trail and read it, nothing else
select 'I11' as invariant, null::bigint as job_no, t || ': ' || p as breach
from unnest(array['job_key', 'profile', 'critic_baseline', 'job', 'step', 'attempt', 'draft', 'critique', 'issue', 'outcome', 'outbox', 'outbox_sent',
	'decision', 'dead_letter']) as t, unnest(array['update', 'delete', 'truncate', 'references', 'trigger']) as p
where has_table_privilege('draftmill_worker', 'draftmill.' || t, p)
	or (p in ('update', 'references') and has_any_column_privilege('draftmill_worker', 'draftmill.' || t, p));
select 'I11' as invariant, null::bigint as job_no, rolname || ' is superuser, bypasses row security or is the owner' as breach
from pg_roles where rolname in ('draftmill_worker', 'draftmill_reader', 'draftmill_reviewer')
	and (rolsuper or rolbypassrls or pg_has_role(rolname, 'draftmill_owner', 'member'));

-- I14: an outcome names a stored draft
select 'I14' as invariant, o.job_no, 'draft ' || o.draft_no || ' is not there' as breach from outcome o
where o.draft_no is not null
	and not exists (select from draft d where d.job_no = o.job_no and d.draft_no = o.draft_no);

-- I15: each call that may have been sent got its answer, or a worker took the job over or ended it. A reply answers an intent
select 'I15' as invariant, i.job_no, 'call ' || i.call_no || ' was never answered' as breach from v_intent i
join outcome o using (job_no)
where not exists (select from step s where s.job_no = i.job_no and s.call_no = i.call_no)
	and not exists (select from step s where s.job_no = i.job_no and s.fact in ('resumed', 'stopped')
		and s.step_no > coalesce(i.step_no, 0));
select 'I15' as invariant, s.job_no, 'a reply to call ' || s.call_no || ' that has no intent' as breach from step s
where s.fact = 'replied' and not exists (select from v_intent i where i.job_no = s.job_no and i.call_no = s.call_no);
select 'I15' as invariant, o.job_no, 'its last step is no finish' as breach from outcome o
where not exists (select from step s where s.job_no = o.job_no and s.action = 'finish ' || o.outcome || ' ' || o.stop_reason);

reset search_path;
