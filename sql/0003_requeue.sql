-- Rebuilds the queue from the trail, as after a restore without it: the todo table holds nothing that the trail does not say.
-- For the owner alone, while no worker is alive: `set role draftmill_owner; select draftmill.requeue();` gives the number of
-- rows made. All of them are orphans; the next workers take them over. Rows that are there stay as they are.
set role draftmill_owner;

create function draftmill.requeue() returns bigint
language plpgsql set search_path = draftmill, pg_temp as $$
declare
	n_made bigint;
begin
	lock table todo in share row exclusive mode; -- a commit under way is waited for, and seen below
	if exists (select from worker join worker_lease using (worker_id)
		where died_at is null and lease_until > clock_timestamp()) then
		raise exception 'a worker is alive' using hint = 'stop all workers first; a killed one counts until its lease has run out';
	end if;
	insert into todo (job_no, what)
	select j.job_no, 'run' from job j
		where not exists (select from outcome o where o.job_no = j.job_no)
	union all
	select e.job_no, e.kind from outbox e
		where not exists (select from outbox_sent s where s.job_no = e.job_no and s.kind = e.kind)
	on conflict do nothing;
	get diagnostics n_made = row_count;
	return n_made;
end $$;
revoke all on function draftmill.requeue() from public;

reset role;
