-- draftmill's database, for PostgreSQL 15 or later. `draftmill migrate` runs it once, in one transaction, as a superuser or,
-- where the four roles exist, as a member of draftmill_owner that may create a schema in this database. Everything lives in the
-- schema draftmill and belongs to draftmill_owner. Settings of the workers' sessions are in src/io/pg_loop.c.
--
-- Two kinds of table:
--   the trail        written once, never changed: the workers have insert and select, nothing else
--   the bookkeeping  changes all the time, and can be lost or rebuilt without losing a job
-- 21 tables; a new one needs another privilege, lifetime or cardinality than these have, else it is a column.

-- ---- roles ----
-- draftmill_owner   owns everything, cannot log in
-- draftmill_worker  `draftmill work`: adds to the trail, does the bookkeeping
-- draftmill_reader  reports and panels: reads everything but the salts
-- draftmill_reviewer  a person's tool: reads cases, adds decisions
-- They have no passwords: give them some, or certificates, by your own rules. Roles that exist already are left as they are.
do $$
declare
	name text;
begin
	foreach name in array array['draftmill_owner', 'draftmill_worker', 'draftmill_reader', 'draftmill_reviewer'] loop
		if not exists (select from pg_roles where rolname = name) then
			execute format('create role %I %s', name, case name when 'draftmill_owner' then 'nologin' else 'login' end);
		end if;
	end loop;
	if not pg_has_role(current_user, 'draftmill_owner', 'member') then
		execute format('grant draftmill_owner to %I', current_user);
	end if;
exception when insufficient_privilege then
	raise exception 'this user may not create the roles draftmill_owner, draftmill_worker, draftmill_reader and draftmill_reviewer, or is no member of draftmill_owner'
		using hint = 'run migrate as a superuser, or let one create the roles and grant draftmill_owner to this user';
end $$;

create schema draftmill authorization draftmill_owner;
set role draftmill_owner;
set search_path = draftmill;

-- ---- numbers and times ----
-- job_no: milliseconds since 2025-01-01 UTC << 20 | a sequence. One bigint is identity, partition key and roughly the age; a
-- row's partition follows from its job, never from the row's own clock. Dead letters draw theirs from the same numbers.
create function job_no_at(t timestamptz) returns bigint language sql immutable parallel safe as
$$ select ((extract(epoch from t) * 1000)::bigint - 1735689600000) << 20 $$;

create function job_time(n bigint) returns timestamptz language sql immutable parallel safe as
$$ select to_timestamp(((n >> 20) + 1735689600000) / 1000.0) $$;

-- A worker draws blocks of 4096 numbers ahead, by database time: 256 blocks fit into a millisecond.
create sequence job_block as bigint increment 4096 cache 1;

create function draw_block() returns bigint language sql volatile as
$$ select draftmill.job_no_at(clock_timestamp()) | (nextval('draftmill.job_block') & 1044480) $$;

-- The server's timeline: another one means that a standby was promoted, perhaps without the last commits.
create function timeline() returns text language sql volatile as
$$ select substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) $$;

-- ---- bookkeeping ----
create table migration (
	version int primary key,
	at      timestamptz not null default clock_timestamp(),
	sha     bytea not null                         -- SHA-256 of the file as it was run
);

-- One row an incarnation of a worker; changed once, when it ends. It is the fence: each commit of a worker holds a share lock
-- on its row, so that none can slip in after its death.
create table worker (
	worker_id bigint generated always as identity primary key,
	host      text not null,
	pid       int not null,
	version   text not null,
	timeline  text not null default draftmill.timeline(),
	born_at   timestamptz not null default clock_timestamp(),
	died_at   timestamptz,
	died_of   text
);

-- Apart from worker, so that a heartbeat never waits for a commit.
create table worker_lease (
	worker_id   bigint primary key,
	lease_until timestamptz not null
) with (fillfactor = 10, autovacuum_vacuum_threshold = 50);

-- The only global uniqueness: an identity (source, id, revision) becomes one job. The key is 128 bits of its SHA-256. It must
-- outlive the retention of the job topics.
create table job_key (
	key    uuid primary key,
	sha    bytea not null,                         -- SHA-256 of the record's value: tells a duplicate from a conflict
	job_no bigint not null
);
create index job_key_job_no on job_key (job_no);

-- The one queue. `what` is run for a job that has no outcome yet, else the kind of an event that is not on its topic yet.
-- It can be rebuilt from the trail: sql/0003_requeue.sql.
create table todo (
	job_no    bigint,
	what      text,
	worker_id bigint,                              -- null: an orphan, anyone may take it
	primary key (job_no, what)
) with (fillfactor = 80);
create index todo_orphan on todo (job_no) where worker_id is null;

-- What was in hand when a worker crashed: topic/partition/offset of a message, or a job's number. Three make poison.
create table strike (
	incident text primary key,                     -- one crash counts once
	what     text not null,
	at       timestamptz not null default clock_timestamp()
);
create index strike_what on strike (what);

-- All records of a partition under next_offset are settled in this database: intake starts there after a restore.
create table intake_mark (
	cluster     text,
	topic       text,
	part        int,
	next_offset bigint not null,
	primary key (cluster, topic, part)
) with (fillfactor = 10);

-- How a job can end, for reports; filled by migrate from the program's own list.
create table stop_reason (
	name    text primary key,
	outcome text not null,
	rank    smallint not null                      -- the lower one names the end when two meet
);

-- ---- the trail ----
-- Partitioned by ranges of job_no, cut by months. Each key begins with job_no; no foreign keys (they would triple the cost of
-- an insert and keep months from being detached). No check constraints either: a worker reads 23514 as a missing month,
-- which stops the work until it is made, and not as a fault of the row. No floats and no jsonb, so that the hash chain has one spelling of each value. Columns are
-- those of include/core/row.h, where it also says which of them enter the chain; scripts/check-trail-columns compares.

-- A resolved profile, named by the SHA-256 of its canonical JSON; all that a job ran under. Small, so not partitioned.
create table profile (
	profile_sha bytea primary key,
	name        text not null,
	body        text compression lz4 not null,
	at          timestamptz not null default clock_timestamp()
);

-- What a version's critic read in its first 20 calls, in input tokens a call, however long those jobs are kept: growth is told against it
-- (view v_critic_input). Small, so not partitioned.
create table critic_baseline (
	profile_sha bytea primary key,
	n_call      smallint not null,                 -- 20, from that many calls on
	tokens_in   bigint not null,                   -- mean of a call
	at          timestamptz not null default clock_timestamp()
);

create table job (
	job_no      bigint primary key,
	source      text not null,
	id          text not null,
	revision    bigint not null,
	batch       text,
	tenant      text,
	subject     text,                              -- the person written about
	tags        text,                              -- JSON array
	attributes  text,                              -- further CloudEvents attributes, JSON object
	traceparent text,
	profile     text not null,
	profile_sha bytea not null,
	arm         text,                              -- of an A/B comparison, chosen by the hash of the id (core/arm.h); null: the profile has none
	stakes      text not null,                     -- low normal high
	not_after   timestamptz,
	salt        bytea,                             -- 16 bytes; null once the person's texts are erased
	cluster     text not null,
	topic       text not null,
	part        int not null,
	"offset"    bigint not null,
	worker_id   bigint not null,
	at          timestamptz not null,
	payload     bytea compression lz4,             -- the record's value as received
	payload_sha bytea not null,
	stakes_by   text                               -- what set the stakes: job, profile, or the rule, as stakes_rules[0] VARIABLE
) partition by range (job_no);
create index job_id on job (id);                   -- `draftmill show ID`

-- The fact log. Fed in again, in order, it gives the same decisions.
create table step (
	job_no         bigint,
	step_no        int,
	fact           text not null,                  -- started replied call_failed resumed stopped
	profile_sha    bytea not null,                 -- the version of prompts, models and rules that it was made under: its job's, table profile
	call_no        smallint,
	worker_id      bigint not null,
	at             timestamptz not null,
	active_ms      bigint not null,
	stop           text,
	lost           smallint,
	n_maybe_billed smallint,
	intents        smallint,                       -- bit i: the i-th call of the action may have been sent after this commit
	role           text,
	model_asked    text,
	model          text,                           -- that answered, and is priced
	request_id     text,
	class          text,
	finish_reason  text,
	http_status    smallint,
	headers        text,
	whole          boolean,
	tokens_in      bigint,
	tokens_cached  bigint,
	tokens_out     bigint,
	cost_micro_usd bigint,
	latency_ms     bigint,
	n_kept         int,                            -- of a refiner's reply: hunks that touch what was flagged, and others
	n_reverted     int,
	rejected       text,                           -- why it did not become a draft: unflagged check:NAME fragment number name address quotation uncounted
	reply          bytea compression lz4,          -- the body as received
	reply_sha      bytea not null,                 -- of salt and body
	action         text not null,                  -- call ROLE CALLNO[, ROLE CALLNO] | wait | finish OUTCOME REASON
	digest         bytea not null,                 -- of the draft, critique and issues that the step made
	hash           bytea not null,                 -- of the step before it and this one: the chain
	better         text,                           -- of a critic's comparison of two candidates: first second tie, or invalid
	better_reasons text,                           -- the critic's; of an invalid comparison what is wrong with it
	chosen_draft_no smallint,                     -- the candidate that the loop goes on with
	chosen_by      text,                           -- alone equal checks both_orders one_order tie_rule
	primary key (job_no, step_no)
) partition by range (job_no);
create unique index step_call on step (job_no, call_no) where call_no is not null; -- a call has one stored reply, ever

create index step_critic on step (profile_sha, job_no, step_no) where role = 'critic'; -- first_critic_input()

-- The intent to send a call again, or late. The first intent of a call stands in the step that opens it.
create table attempt (
	job_no      bigint,
	call_no     smallint,
	attempt_no  int,
	worker_id   bigint not null,
	at          timestamptz not null,
	why         text not null,
	http_status smallint,                          -- these three: of the attempt before it
	latency_ms  bigint,
	detail      text,
	primary key (job_no, call_no, attempt_no)
) partition by range (job_no);

create table draft (
	job_no              bigint,
	draft_no            smallint,
	step_no             int not null,
	from_draft_no       smallint,                  -- the draft it refines
	body                text compression lz4,
	body_sha            bytea not null,
	checks              text compression lz4,      -- JSON array, one result a check
	checks_sha          bytea not null,
	n_hard_failed       int not null,
	n_failed            int not null,
	changed_permille    smallint,
	confidence_permille smallint,
	fields              text,                      -- where the profile names parts: JSON {NAME: [first byte in body, bytes]}
	primary key (job_no, draft_no)
) partition by range (job_no);

create table critique (
	job_no    bigint,
	step_no   int,
	draft_no  smallint not null,
	valid     boolean not null,
	fault     text,
	score     smallint,                            -- 0..100; null: not valid, or none is asked for
	verdict   text,
	reasons   text compression lz4,
	text_sha  bytea not null,
	n_issue   smallint not null,
	n_ignored int not null,
	shape     text,                                -- of the reply: whole fence prose thinking; copied: not valid
	n_cut     int not null default 0,              -- issues over five
	n_unconsidered smallint not null default 0,    -- categories without a line
	primary key (job_no, step_no)
) partition by range (job_no);

create table issue (
	job_no     bigint,
	step_no    int,
	n          smallint,
	category   text not null,
	severity   smallint not null,
	at         int,                                -- span in the draft, bytes
	length     int,
	snippet    text compression lz4,
	suggestion text compression lz4,
	text_sha   bytea not null,                     -- of the salt and these four texts
	source     text,                               -- id of the job's source that the critic cites
	miscited   text,                               -- what it cites instead, and the job has none of that id: against the critic
	primary key (job_no, step_no, n)
) partition by range (job_no);

create table outcome (
	job_no         bigint primary key,
	outcome        text not null,
	stop_reason    text not null,
	draft_no       smallint,
	score          smallint,
	n_iterations   smallint not null,
	n_calls        smallint not null,
	tokens_in      bigint not null,
	tokens_cached  bigint not null,
	tokens_out     bigint not null,
	cost_micro_usd bigint not null,
	active_ms      bigint not null,
	worker_id      bigint not null,
	at             timestamptz not null,
	head           bytea not null                  -- the chain's end
) partition by range (job_no);

-- Events to publish: of a job's end, or of a dead letter (job_no is then its letter_no).
create table outbox (
	job_no      bigint,
	kind        text,
	event_id    uuid not null,
	topic       text not null,
	key         bytea,
	payload     bytea compression lz4,             -- null for a dead letter: its row has the bytes
	payload_sha bytea not null,
	traceparent text,
	primary key (job_no, kind)
) partition by range (job_no);

create table outbox_sent (
	job_no   bigint,
	kind     text,
	part     int not null,
	"offset" bigint not null,
	at       timestamptz not null,
	primary key (job_no, kind)
) partition by range (job_no);

-- What people decide about escalated jobs.
create table decision (
	job_no      bigint,
	n           smallint,
	decision_id uuid not null,
	reviewer    text not null,
	verdict     text not null,
	score       smallint,
	body        text compression lz4,
	note        text,
	at          timestamptz not null default clock_timestamp(),
	primary key (job_no, n),
	unique (job_no, decision_id)
) partition by range (job_no);

-- Messages that are no jobs. Not partitioned: where a record stood in Kafka, with its SHA-256, makes one letter, ever.
create table dead_letter (
	letter_no    bigint primary key,
	cluster      text not null,
	topic        text not null,
	part         int not null,
	"offset"     bigint not null,
	value_sha    bytea not null,
	reason       text not null,
	detail       text,
	key          bytea compression lz4,
	value        bytea compression lz4,
	headers      text compression lz4,             -- JSON array of [key, hex of the value or null]
	source       text,
	id           text,
	revision     bigint,
	first_job_no bigint,                           -- conflict: the job that has the identity, and its payload's SHA-256
	first_sha    bytea,
	worker_id    bigint not null,
	at           timestamptz not null,
	unique (cluster, topic, part, "offset", value_sha)
);

-- ---- months ----
-- Makes the partitions of this month and of @ahead months after it, where they are missing; gives their number. A worker may
-- call it, and may make no other table. like + attach: `create table .. partition of` would wait for every open reader and
-- hold up all inserts behind it.
create function ensure_months(ahead int default 2) returns int
language plpgsql security definer set search_path = draftmill, pg_temp as $$
declare
	month timestamp;
	parent text;
	child text;
	low bigint;
	high bigint;
	n_made int := 0;
begin
	if ahead not between 0 and 24 then
		raise exception 'ahead is %, allowed is 0 to 24', ahead;
	end if;
	perform pg_advisory_xact_lock(hashtext('draftmill.ensure_months'));
	for i in 0..ahead loop
		month := date_trunc('month', now() at time zone 'UTC') + make_interval(months => i);
		low := job_no_at(month at time zone 'UTC');
		high := job_no_at((month + interval '1 month') at time zone 'UTC');
		for parent in
			select c.relname from pg_partitioned_table p join pg_class c on c.oid = p.partrelid
			where c.relnamespace = 'draftmill'::regnamespace order by 1
		loop
			child := parent || to_char(month, '_YYYY_MM');
			continue when to_regclass('draftmill.' || child) is not null;
			execute format('create table %I (like %I including all, constraint %I check (job_no >= %s and job_no < %s))',
				child, parent, child || '_range', low, high);
			execute format('alter table %I attach partition %I for values from (%s) to (%s)', parent, child, low, high);
			execute format('alter table %I drop constraint %I', child, child || '_range');
			n_made := n_made + 1;
		end loop;
	end loop;
	return n_made;
end $$;
select ensure_months();

-- ---- the critic's baseline ----
-- Of a version, the mean input tokens of its first critic calls that told them: of n_call, at most 20.
create function first_critic_input(version bytea, out n_call int, out tokens_in bigint) language sql stable as $$
	select count(*)::int, round(avg(c.tokens_in))::bigint from (
		select s.tokens_in from draftmill.step s
		where s.profile_sha = version and s.role = 'critic' and s.tokens_in is not null
		order by s.job_no, s.step_no limit 20) c
$$;

-- Stores the baselines of the versions that have had their calls by now, and gives their number. Workers call it once a day, before
-- any month can have gone.
create function note_baselines() returns bigint language sql volatile as $$
	with noted as (
		insert into draftmill.critic_baseline (profile_sha, n_call, tokens_in)
		select p.profile_sha, f.n_call, f.tokens_in
		from draftmill.profile p cross join lateral draftmill.first_critic_input(p.profile_sha) f
		where f.n_call = 20 and not exists (select from draftmill.critic_baseline b where b.profile_sha = p.profile_sha)
		on conflict do nothing returning 1)
	select count(*) from noted
$$;

-- ---- the fence ----
-- First statement of each commit of a worker. The share lock is held to the commit, and who wants to mark the worker dead
-- waits for it. A dead worker, or one that was born on another timeline, gets DM001 and its whole commit rolls back.
create function fence(id bigint) returns void language plpgsql as $$
begin
	perform from draftmill.worker w
		where w.worker_id = id and w.died_at is null and w.timeline = draftmill.timeline() for share;
	if not found then
		raise exception 'worker % is fenced', id using errcode = 'DM001';
	end if;
end $$;

-- ---- privileges: no more than the statements need ----
revoke all on all functions in schema draftmill from public;
grant usage on schema draftmill to draftmill_worker, draftmill_reader, draftmill_reviewer;
grant execute on function job_no_at(timestamptz), job_time(bigint) to draftmill_worker, draftmill_reader, draftmill_reviewer;
grant execute on function draw_block(), timeline(), ensure_months(int), note_baselines(), fence(bigint) to draftmill_worker;
grant execute on function first_critic_input(bytea) to draftmill_worker, draftmill_reader;
grant usage on sequence job_block to draftmill_worker;

grant select, insert on job_key, profile, critic_baseline, job, step, attempt, draft, critique, issue, outcome, outbox, outbox_sent, decision,
	dead_letter to draftmill_worker;
grant select, insert (host, pid, version), update (died_at, died_of) on worker to draftmill_worker;
grant select, insert, update (lease_until), delete on worker_lease to draftmill_worker;
grant select, insert, update (worker_id), delete on todo to draftmill_worker;
grant select, insert on strike to draftmill_worker;
grant select, insert, update (next_offset) on intake_mark to draftmill_worker;
grant select on migration, stop_reason to draftmill_worker;

grant select on migration, worker, worker_lease, job_key, todo, strike, intake_mark, stop_reason, profile, critic_baseline, step, attempt,
	draft, critique, issue, outcome, outbox, outbox_sent, decision, dead_letter to draftmill_reader;
-- All of job but the salt: who has it can try out guesses of an erased text.
grant select (job_no, source, id, revision, batch, tenant, subject, tags, attributes, traceparent, profile, profile_sha, arm, stakes,
	stakes_by, not_after, cluster, topic, part, "offset", worker_id, at, payload, payload_sha) on job to draftmill_reader, draftmill_reviewer;
grant select on profile, step, draft, critique, issue, outcome, outbox, decision, stop_reason to draftmill_reviewer;
grant insert on decision to draftmill_reviewer;

reset search_path;
reset role;
