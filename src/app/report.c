#include "app/report.h"

#include <stdio.h>

#include "app/ask.h"
#include "core/row.h"

/* clang-format off */
/* $1 batch or null. Critiques that are not valid have no score and stay out of its mean. */
static const char report_sql[] =
	"with j as materialized (select * from draftmill.v_job where $1::text is null or batch = $1), "
	"  o as (select * from j where outcome is not null) "
	"select json_build_object( "
	"'batch', $1::text, "
	"'n_jobs', (select count(*) from j), "
	"'n_open', (select count(*) from j where outcome is null), "
	"'outcomes', (select coalesce(json_agg(x order by rank, stop_reason), '[]') from ( "
	"  select o.outcome, stop_reason, count(*) as n, min(rank) as rank "
	"  from o left join draftmill.stop_reason on name = stop_reason group by 1, 2) x), "
	"'dead_letters', (select coalesce(json_agg(x order by n desc, reason), '[]') from ( "
	"  select reason, count(*) as n from draftmill.dead_letter group by 1) x), "
	"'violations', (select row_to_json(x) from ( "
	"  select count(*) as n_jobs, count(*) filter (where first_n_failed > 0) as n_before, "
	"    count(*) filter (where last_n_failed > 0) as n_after "
	"  from o join draftmill.v_violation using (job_no)) x), "
	"'critiques', (select row_to_json(x) from ( "
	"  select count(*) filter (where valid) as n_valid, count(*) filter (where not valid) as n_invalid, "
	"    round(avg(c.score) filter (where valid) * 10)::bigint as score_mean_tenths "
	"  from j join draftmill.critique c using (job_no)) x), "
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
	"'elapsed', (select row_to_json(x) from ( "
	"  select count(*) as n, percentile_disc(0.5) within group (order by elapsed_ms) as p50_ms, "
	"    percentile_disc(0.95) within group (order by elapsed_ms) as p95_ms from o) x), "
	"'own', (select row_to_json(x) from ( "
	"  select count(*) as n, percentile_disc(0.5) within group (order by own_ms) as p50_ms, "
	"    percentile_disc(0.95) within group (order by own_ms) as p95_ms from o) x))";
/* clang-format on */

enum status report_load(struct pg *pg, const char *batch, struct json **out, struct err *err)
{
	return ask(pg, report_sql, &batch, 1, out, err);
}

/* ---- as text: a name, then figures in columns ---- */

enum { NAME_WIDTH = 36, FIGURE_WIDTH = 12, MILLION = 1000000 };

/* @unit: the columns' heads, NULL at the end. */
static void put_head(struct page *p, const char *name, const char *const *unit)
{
	page_printf(p, "\n");
	page_ink(p, INK_BOLD);
	page_printf(p, "%-*s", NAME_WIDTH, name);
	page_ink(p, INK_PLAIN);
	for (; *unit; unit++)
		page_printf(p, "%*s", FIGURE_WIDTH, *unit);
	page_printf(p, "\n");
}
#define HEAD(p, name, ...) put_head((p), (name), (const char *const[]){__VA_ARGS__, NULL})

static void put_name(struct page *p, const char *name)
{
	page_printf(p, "  %-*s", NAME_WIDTH - 2, name);
}

static void put_figure(struct page *p, int64_t n)
{
	if (n == ROW_NULL)
		page_printf(p, "%*s", FIGURE_WIDTH, "-");
	else
		page_printf(p, "%*lld", FIGURE_WIDTH, (long long)n);
}

static void put_figures(struct page *p, const struct json *j, const char *const *key)
{
	for (; *key; key++)
		put_figure(p, ask_number(j, *key));
	page_printf(p, "\n");
}
#define FIGURES(p, j, ...) put_figures((p), (j), (const char *const[]){__VA_ARGS__, NULL})

static void put_share(struct page *p, const char *name, int64_t n, int64_t of)
{
	int64_t permille = of > 0 ? (n * 1000 + of / 2) / of : 0;

	put_name(p, name);
	put_figure(p, n);
	page_printf(p, "%*lld.%lld %%\n", FIGURE_WIDTH - 4, (long long)permille / 10,
		    (long long)permille % 10);
}

static void put_usd(struct page *p, const char *name, int64_t micro_usd)
{
	if (micro_usd == ROW_NULL)
		micro_usd = 0;
	put_name(p, name);
	page_printf(p, "%*lld.%06lld\n", FIGURE_WIDTH - 7, (long long)micro_usd / MILLION,
		    (long long)micro_usd % MILLION);
}

static void put_jobs(struct page *p, const struct json *report)
{
	const struct json *outcomes = json_get(report, "outcomes");
	const struct json *letters = json_get(report, "dead_letters");
	int64_t n_job = ask_number(report, "n_jobs");

	HEAD(p, "JOBS", "jobs", "share");
	for (size_t i = 0; i < json_size(outcomes); i++) {
		const struct json *o = json_item(outcomes, i);
		char name[64];
		snprintf(name, sizeof(name), "%-9s %s", ask_text(o, "outcome").p,
			 ask_text(o, "stop_reason").p);
		put_share(p, name, ask_number(o, "n"), n_job);
	}
	put_share(p, "still running", ask_number(report, "n_open"), n_job);
	put_name(p, "all");
	FIGURES(p, report, "n_jobs");
	HEAD(p,
	     json_kind(json_get(report, "batch")) == JSON_STRING ? "DEAD LETTERS of all batches"
								 : "DEAD LETTERS",
	     "messages");
	for (size_t i = 0; i < json_size(letters); i++) {
		put_name(p, ask_text(json_item(letters, i), "reason").p);
		FIGURES(p, json_item(letters, i), "n");
	}
	if (!json_size(letters))
		page_printf(p, "  none\n");
}

static void put_texts(struct page *p, const struct json *report)
{
	const struct json *texts = json_get(report, "violations");
	const struct json *critiques = json_get(report, "critiques");
	int64_t of = ask_number(texts, "n_jobs"), mean = ask_number(critiques, "score_mean_tenths");

	char title[64];

	snprintf(title, sizeof(title), "TEXTS WITH A RED CHECK, of %lld", (long long)of);
	HEAD(p, title, "jobs", "share");
	put_share(p, "before: the first draft", ask_number(texts, "n_before"), of);
	put_share(p, "after: the draft named at the end", ask_number(texts, "n_after"), of);
	HEAD(p, "CRITIQUES", "critiques", "mean score");
	put_name(p, "valid");
	put_figure(p, ask_number(critiques, "n_valid"));
	if (mean == ROW_NULL)
		page_printf(p, "%*s\n", FIGURE_WIDTH, "-");
	else
		page_printf(p, "%*lld.%lld\n", FIGURE_WIDTH - 2, (long long)mean / 10,
			    (long long)mean % 10);
	put_name(p, "invalid, left out of the mean");
	FIGURES(p, critiques, "n_invalid");
}

static void put_spent(struct page *p, const struct json *spent)
{
	HEAD(p, "SPENT by jobs that have ended", "tokens");
	put_name(p, "in");
	FIGURES(p, spent, "tokens_in");
	put_name(p, "of these cached");
	FIGURES(p, spent, "tokens_cached");
	put_name(p, "out");
	FIGURES(p, spent, "tokens_out");
	HEAD(p, "", "USD");
	put_usd(p, "in all", ask_number(spent, "cost_micro_usd"));
	put_usd(p, "a job", ask_number(spent, "cost_micro_usd_per_job"));
}

static void put_times(struct page *p, const struct json *report)
{
	const struct json *calls = json_get(report, "calls");

	HEAD(p, "CALLS by role", "calls", "failed", "p50 ms", "p95 ms", "micro-USD");
	for (size_t i = 0; i < json_size(calls); i++) {
		put_name(p, ask_text(json_item(calls, i), "role").p);
		FIGURES(p, json_item(calls, i), "n", "n_failed", "p50_ms", "p95_ms",
			"cost_micro_usd");
	}
	HEAD(p, "TIME OF A JOB, intake to outcome", "jobs", "p50 ms", "p95 ms");
	put_name(p, "in all");
	FIGURES(p, json_get(report, "elapsed"), "n", "p50_ms", "p95_ms");
	put_name(p, "without its model calls");
	FIGURES(p, json_get(report, "own"), "n", "p50_ms", "p95_ms");
}

void report_text(const struct json *report, struct page *p)
{
	struct str batch;

	page_ink(p, INK_BOLD);
	page_printf(p, "REPORT of ");
	if (json_get_str(report, "batch", &batch)) {
		page_printf(p, "batch ");
		page_line(p, batch);
	} else {
		page_printf(p, "all batches");
	}
	page_ink(p, INK_PLAIN);
	page_printf(p, "\n");
	put_jobs(p, report);
	put_texts(p, report);
	put_spent(p, json_get(report, "spent"));
	put_times(p, report);
}
