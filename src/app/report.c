#include "app/report.h"

#include "app/ask.h"

#define P50_P95(value, p50, p95)                                                                   \
	"percentile_disc(0.5) within group (order by " value ") as " p50                           \
	", percentile_disc(0.95) within group (order by " value ") as " p95
#define LIST(key, query) "'" key "', (select coalesce(json_agg(x), '[]') from (" query ") x)"
#define ONE(key, query) "'" key "', (select row_to_json(x) from (" query ") x)"

/* $1 batch or null. Critiques that are not valid have no score and stay out of its mean. */
static const char sql[] =
	"with j as (select job_no, at from draftmill.job where $1::text is null or batch = $1),"
	" o as (select o.*, extract(epoch from o.at - j.at) * 1000 as wall_ms from j join draftmill.outcome o using (job_no)),"
	" s as (select s.* from j join draftmill.step s using (job_no) where s.call_no is not null),"
	" spent as (select job_no, sum(latency_ms) as ms from (select job_no, latency_ms from s"
	"   union all select a.job_no, a.latency_ms from j join draftmill.attempt a using (job_no)) x group by job_no)"
	" select json_build_object("
	"'batch', $1::text, 'n_jobs', (select count(*) from j),"
	"'n_open', (select count(*) from j where not exists (select from o where o.job_no = j.job_no)),"
	LIST("outcomes",
	     "select o.outcome, o.stop_reason, count(*) as n from o left join draftmill.stop_reason r on r.name = o.stop_reason"
	     " group by 1, 2, r.rank order by r.rank") ","
	LIST("dead_letters", "select reason, count(*) as n from draftmill.dead_letter group by 1 order by 2 desc, 1") ","
	ONE("violations",
	    "select count(*) as n_jobs, count(*) filter (where first.n_failed > 0) as n_before,"
	    "  count(*) filter (where last.n_failed > 0) as n_after"
	    " from o join draftmill.draft first on first.job_no = o.job_no and first.draft_no = 0"
	    "  join draftmill.draft last on last.job_no = o.job_no and last.draft_no = o.draft_no") ","
	ONE("spent",
	    "select count(*) as n_jobs, coalesce(sum(tokens_in), 0)::bigint as tokens_in,"
	    "  coalesce(sum(tokens_cached), 0)::bigint as tokens_cached,"
	    "  coalesce(sum(tokens_out), 0)::bigint as tokens_out, coalesce(sum(cost_micro_usd), 0)::bigint as cost_micro_usd,"
	    "  round(avg(cost_micro_usd))::bigint as cost_micro_usd_per_job from o") ","
	LIST("calls",
	     "select role, count(*) as n, count(*) filter (where fact <> 'replied') as n_failed,"
	     "  coalesce(sum(tokens_in), 0)::bigint as tokens_in, coalesce(sum(tokens_out), 0)::bigint as tokens_out,"
	     "  coalesce(sum(cost_micro_usd), 0)::bigint as cost_micro_usd, " P50_P95("latency_ms", "p50_ms", "p95_ms")
	     " from s group by role order by min(call_no), role") ","
	ONE("wall", "select count(*) as n, " P50_P95("wall_ms::bigint", "p50_ms", "p95_ms") " from o") ","
	ONE("besides",
	    "select count(*) as n, " P50_P95("(wall_ms - coalesce(ms, 0))::bigint", "p50_ms", "p95_ms")
	    " from o left join spent using (job_no)") ","
	ONE("critiques",
	    "select count(*) filter (where valid) as n_valid, count(*) filter (where not valid) as n_invalid,"
	    "  round(avg(score) filter (where valid) * 10)::bigint as score_mean_tenths"
	    " from j join draftmill.critique using (job_no)") ")";

enum status report_load(struct pg *pg, const char *batch, struct json **out, struct err *err)
{
	return ask(pg, sql, &batch, 1, out, err);
}

/* ---- as text: a name, then figures in columns ---- */

enum { NAME_WIDTH = 30, FIGURE_WIDTH = 11 };

static int64_t number_of(const struct json *j, const char *key)
{
	int64_t n = -1;

	(void)json_get_int(j, key, INT64_MIN, INT64_MAX, &n);
	return n;
}

static void put_name(struct page *p, struct str a, struct str b)
{
	page_printf(p, "  %-10.*s %-*.*s", STR_ARG(a), NAME_WIDTH - 13, STR_ARG(b));
}

static void put_head(struct page *p, const char *name, const char *const *unit)
{
	page_title(p, "%-*s", NAME_WIDTH, name);
	p->text.n -= p->text.n > 0; /* the units stand on the title's line */
	for (; *unit; unit++)
		page_printf(p, "%*s", FIGURE_WIDTH, *unit);
	page_printf(p, "\n");
}
