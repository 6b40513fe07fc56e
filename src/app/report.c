#include "app/report.h"

#include "app/ask.h"

/* clang-format off */
/* $1 batch or null. Critiques that are not valid have no score and stay out of its mean. */
static const char report_sql[] =
	"with j as materialized (select * from draftmill.v_job where $1::text is null or batch = $1), "
	"  o as (select * from j where outcome is not null), "
	"  p as materialized (select * from draftmill.v_profile) " /* which reads each body, once */
	"select json_build_object( "
	"'batch', $1::text, "
	"'n_jobs', (select count(*) from j), "
	"'n_open', (select count(*) from j where outcome is null), "
	"'n_reflect', (select count(*) from o where o.outcome = 'passed' and profile_sha in ( "
	"  select profile_sha from draftmill.profile where body::json ->> 'mode' = 'reflect')), "
	"'outcomes', (select coalesce(json_agg(x order by rank, stop_reason), '[]') from ( "
	"  select o.outcome, stop_reason, count(*) as n, min(rank) as rank "
	"  from o left join draftmill.stop_reason on name = stop_reason group by 1, 2) x), "
	"'dead_letters', (select coalesce(json_agg(x order by n desc, reason), '[]') from ( "
	"  select reason, count(*) as n from draftmill.dead_letter group by 1) x), "
	"'violations', (select row_to_json(x) from ( "
	"  select count(*) as n_jobs, count(*) filter (where first_n_failed > 0) as n_before, "
	"    count(*) filter (where last_n_failed > 0) as n_after "
	"  from o join draftmill.v_violation using (job_no)) x), "
	"'profiles', (select coalesce(json_agg(x order by checks, profile, mode, draft_schema), '[]') from ( "
	"  select p.name as profile, p.mode, p.draft_schema, encode(p.checks_sha, 'hex') as checks, count(*) as n_jobs, "
	"    count(first_n_failed) as n_texts, count(*) filter (where first_n_failed > 0) as n_before, "
	"    count(*) filter (where last_n_failed > 0) as n_after, round(avg(tokens_in + tokens_out))::bigint as tokens_per_job, "
	"    round(avg(cost_micro_usd))::bigint as cost_micro_usd_per_job, "
	"    percentile_disc(0.95) within group (order by elapsed_ms) as p95_ms, "
	"    case when p.mode <> 'oneshot' and p.draft_schema <> 'off' and not exists ( "
	"      select from o join p c using (profile_sha) "
	"      where c.mode = 'oneshot' and c.draft_schema = 'always' and c.checks_sha = p.checks_sha) then p.name end as uncontrolled "
	"  from o join p using (profile_sha) "
	"    left join draftmill.v_violation v using (job_no) "
	"  group by p.name, p.mode, p.draft_schema, p.checks_sha) x), "
	"'critiques', (select row_to_json(x) from ( "
	"  select count(*) filter (where valid) as n_valid, count(*) filter (where not valid) as n_invalid, "
	"    count(*) filter (where shape = 'fence') as n_fence, count(*) filter (where shape = 'prose') as n_prose, "
	"    count(*) filter (where shape = 'thinking') as n_thinking, count(*) filter (where shape = 'copied') as n_copied, "
	"    count(*) filter (where n_cut > 0) as n_cut, count(*) filter (where n_unconsidered > 0) as n_silent, "
	"    count(*) filter (where valid and c.score is null) as n_unscored, "
	"    round(avg(c.score) filter (where valid) * 10)::bigint as score_mean_tenths, "
	"    (select coalesce(sum(n_unanchored), 0)::bigint from draftmill.v_critique "
	"      where $1::text is null or batch = $1) as n_unanchored, "
	"    (select coalesce(sum(n_miscited), 0)::bigint from draftmill.v_critique "
	"      where $1::text is null or batch = $1) as n_miscited "
	"  from j join draftmill.critique c using (job_no)) x), "
	"'revisions', (select row_to_json(x) from ( "
	"  select count(*) filter (where rejected is null) as n_taken, count(rejected) as n_rejected, "
	"    coalesce(sum(n_kept) filter (where rejected is null), 0)::bigint as n_kept, "
	"    coalesce(sum(n_reverted) filter (where rejected is null), 0)::bigint as n_reverted "
	"  from draftmill.v_call where n_kept is not null and ($1::text is null or batch = $1)) x), "
	"'spent', (select row_to_json(x) from ( "
	"  select count(*) as n_jobs, coalesce(sum(tokens_in), 0)::bigint as tokens_in, "
	"    coalesce(sum(tokens_cached), 0)::bigint as tokens_cached, coalesce(sum(tokens_out), 0)::bigint as tokens_out, "
	"    coalesce(sum(cost_micro_usd), 0)::bigint as cost_micro_usd, "
	"    round(avg(cost_micro_usd))::bigint as cost_micro_usd_per_job from o) x), "
	"'calls', (select coalesce(json_agg(x order by first), '[]') from ( "
	"  select role, count(*) as n, count(*) filter (where fact <> 'replied') as n_failed, "
	"    coalesce(sum(tokens_in), 0)::bigint as tokens_in, coalesce(sum(tokens_out), 0)::bigint as tokens_out, "
	"    coalesce(sum(cost_micro_usd), 0)::bigint as cost_micro_usd, min(call_no) as first, "
	"    percentile_disc(0.5) within group (order by latency_ms) as p50_ms, "
	"    percentile_disc(0.95) within group (order by latency_ms) as p95_ms "
	"  from draftmill.v_call where $1::text is null or batch = $1 group by role) x), "
	"'failures', (select coalesce(json_agg(x order by model, n desc, class), '[]') from ( "
	"  select coalesce(model_asked, role) as model, class, count(*) as n "
	"  from draftmill.v_failure where $1::text is null or batch = $1 group by 1, 2) x), "
	"'elapsed', (select row_to_json(x) from ( "
	"  select count(*) as n, percentile_disc(0.5) within group (order by elapsed_ms) as p50_ms, "
	"    percentile_disc(0.95) within group (order by elapsed_ms) as p95_ms from o) x), "
	"'critic_input', (select coalesce(json_agg(x order by profile, arm, n_calls desc), '[]') from ( "
	"  select c.*, encode(profile_sha, 'hex') as version from draftmill.critic_input($1) c) x), "
	"'arms', (select coalesce(json_agg(x order by profile, arm, n_jobs desc), '[]') from ( "
	"  select a.*, encode(profile_sha, 'hex') as version from draftmill.arms($1) a) x), "
	"'own', (select row_to_json(x) from ( "
	"  select count(*) as n, percentile_disc(0.5) within group (order by own_ms) as p50_ms, "
	"    percentile_disc(0.95) within group (order by own_ms) as p95_ms from o) x))";
/* clang-format on */

enum status report_load(struct pg *pg, const char *batch, struct json **out, struct err *err)
{
	return ask(pg, report_sql, &batch, 1, out, err);
}

/* ---- as text: a name in 36 columns, then figures in 12 each ---- */

static void put_share(struct page *p, int64_t n, int64_t of)
{
	int64_t permille = of > 0 ? (n * 1000 + of / 2) / of : 0;

	page_printf(p, "%12lld%8lld.%lld %%\n", (long long)n, (long long)permille / 10,
		    (long long)permille % 10);
}

static void put_jobs(struct page *p, const struct json *report, bool of_all)
{
	const struct json *outcomes = json_get(report, "outcomes");
	const struct json *letters = json_get(report, "dead_letters");
	int64_t n_job = ask_number(report, "n_jobs");

	page_fill(p, report, "\n*JOBS                                *        jobs       share\n");
	for (size_t i = 0; i < json_size(outcomes); i++) {
		const struct json *o = json_item(outcomes, i);
		page_fill(p, o, "  {outcome:-9} {stop_reason:-24}");
		put_share(p, ask_number(o, "n"), n_job);
	}
	page_printf(p, "  still running                     ");
	put_share(p, ask_number(report, "n_open"), n_job);
	page_fill(p, report,
		  "  all                               {n_jobs:12}\n"
		  "[  passed by their own writer alone  {n_reflect:11}  (mode reflect)\n]");
	page_fill(p, report,
		  of_all ? "\n*DEAD LETTERS                        *    messages\n"
			 : "\n*DEAD LETTERS of all batches         *    messages\n");
	if (!json_size(letters))
		page_printf(p, "  none\n");
	page_fill_each(p, letters, "  {reason:-34}{n:12}\n");
}

static void put_texts(struct page *p, const struct json *texts)
{
	int64_t of = ask_number(texts, "n_jobs");

	page_fill(p, texts,
		  "\n*TEXTS WITH A RED CHECK, of {n_jobs:-9}*        jobs       share\n"
		  "  before: the first draft           ");
	put_share(p, ask_number(texts, "n_before"), of);
	page_printf(p, "  after: the draft named at the end ");
	put_share(p, ask_number(texts, "n_after"), of);
}

static const char profile_form[] =
	"  {profile:-34}{n_jobs:12}{n_texts:12}{n_before:12}{n_after:12}{tokens_per_job:12}"
	"{cost_micro_usd_per_job/6:12}{p95_ms:12}  {mode}, draft_schema {draft_schema}\n";
static const char control_form[] =
	"[  {uncontrolled}: its control is missing. The same schema may do as much without a loop: run the jobs once\n"
	"  more under a profile of the same checks with mode: oneshot and draft_schema: always\n]";

/* Side by side where there are several; and whatever the loop did under a schema stands beside what the schema does alone, or that is asked for. */
static void put_profiles(struct page *p, const struct json *profiles)
{
	bool lacks = false;

	for (size_t i = 0; i < json_size(profiles); i++)
		lacks = lacks || ask_text(json_item(profiles, i), "uncontrolled").p;
	if (json_size(profiles) < 2 && !lacks)
		return;
	page_fill(p, profiles,
		  "\n*PROFILES side by side               *        jobs       texts  red before"
		  "   red after  tokens/job     USD/job  p95 ms/job\n");
	page_fill_each(p, profiles, profile_form);
	page_fill_each(p, profiles, control_form);
}

static const char critiques_form[] =
	"\n*CRITIQUES                           *   critiques  mean score\n"
	"  valid                             {n_valid:12}{score_mean_tenths/1:12}\n"
	"  invalid, left out of the mean     {n_invalid:12}\n"
	"[  of these read out of the prompt   {n_copied:11}\n]"
	"[  without a score, by their profile {n_unscored:11}\n]"
	"[  repaired: taken out of a fence    {n_fence:11}\n]"
	"[  repaired: taken out of prose      {n_prose:11}\n]"
	"[  repaired: behind a thinking block {n_thinking:11}\n]"
	"[  cut to five issues                {n_cut:11}\n]"
	"[  silent on a category              {n_silent:11}\n]"
	"[  issues that quote what is nowhere {n_unanchored:12}\n]"
	"[  issues that cite what is nowhere  {n_miscited:12}\n]";
static const char revisions_form[] =
	"\n*REVISIONS                           *   revisions     changes\n"
	"  taken: of what was flagged        {n_taken:12}{n_kept:12}\n"
	"  reverted: what was not            {n_reverted:24}\n"
	"  rejected                          {n_rejected:12}\n";
static const char spent_form[] =
	"\n*SPENT by jobs that have ended       *      tokens\n"
	"  in                                {tokens_in:12}\n"
	"  of these cached                   {tokens_cached:12}\n"
	"  out                               {tokens_out:12}\n"
	"\n*                                    *         USD\n"
	"  in all                            {cost_micro_usd/6:12}\n"
	"  a job                             {cost_micro_usd_per_job/6:12}\n";
static const char call_form[] =
	"  {role:-34}{n:12}{n_failed:12}{p50_ms:12}{p95_ms:12}{cost_micro_usd:12}\n";

/* With those of calls that were answered at last. */
static void put_failures(struct page *p, const struct json *failures)
{
	page_fill(p, failures, "\n*ATTEMPTS THAT FAILED, by model       *   attempts  class\n");
	if (!json_size(failures))
		page_printf(p, "  none\n");
	page_fill_each(p, failures, "  {model:-34}{n:12}  {class}\n");
}

/* Each arm's outcomes, then what they cost. */
static void put_arms(struct page *p, const struct json *arms)
{
	if (!json_size(arms))
		return;
	page_fill(p, arms,
		  "\n*ARMS                                *        jobs delivered %        95 %"
		  "   red first    red last        95 %\n");
	page_fill_each(
		p, arms,
		"  {profile:-18} {arm:-8} {version.6}"
		"{n_jobs:12}{delivered_permille/1:12}{delivered_low/1:6}-{delivered_high/1:5}"
		"{n_red_before:12}{n_red_after:12}{red_after_low/1:6}-{red_after_high/1:5}\n");
	page_fill(p, arms,
		  "\n*                                    *   tokens in         out   micro-USD"
		  "   ... a job      p95 ms\n");
	page_fill_each(
		p, arms,
		"  {profile:-18} {arm:-8} {version.6}"
		"{tokens_in:12}{tokens_out:12}{cost_micro_usd:12}{cost_micro_usd_per_job:12}{p95_ms:12}\n");
}

static void put_critic_input(struct page *p, const struct json *versions)
{
	if (!json_size(versions))
		return;
	page_fill(p, versions,
		  "\n*CRITIC'S INPUT, tokens a call        *       calls    baseline       first"
		  "       later    last day   of base %\n");
	page_fill_each(p, versions,
		       "  {profile:-18} {arm:-8} {version.6}"
		       "{n_calls:12}{baseline:12}{first_mean:12}{later_mean:12}{last_day_mean:12}"
		       "{growth_permille/1:12}\n");
}

void report_text(const struct json *report, struct page *p)
{
	bool of_all = json_kind(json_get(report, "batch")) != JSON_STRING;

	page_fill(p, report, of_all ? "*REPORT of all batches*\n" : "*REPORT of batch {batch}*\n");
	put_jobs(p, report, of_all);
	put_texts(p, json_get(report, "violations"));
	put_profiles(p, json_get(report, "profiles"));
	page_fill(p, json_get(report, "critiques"), critiques_form);
	page_fill(p, json_get(report, "revisions"), revisions_form);
	page_fill(p, json_get(report, "spent"), spent_form);
	page_fill(p, report,
		  "\n*CALLS by role                       *"
		  "       calls      failed      p50 ms      p95 ms   micro-USD\n");
	page_fill_each(p, json_get(report, "calls"), call_form);
	put_critic_input(p, json_get(report, "critic_input"));
	put_failures(p, json_get(report, "failures"));
	put_arms(p, json_get(report, "arms"));
	page_fill(p, json_get(report, "elapsed"),
		  "\n*TIME OF A JOB, intake to outcome    *        jobs      p50 ms      p95 ms\n"
		  "  in all                            {n:12}{p50_ms:12}{p95_ms:12}\n");
	page_fill(p, json_get(report, "own"),
		  "  without its model calls           {n:12}{p50_ms:12}{p95_ms:12}\n");
}
