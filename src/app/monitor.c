#include "app/monitor.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "io/web.h"

#include <sys/resource.h>

enum { AGAIN_MS = 5000 };

struct monitor {
	struct monitored of;
	struct web *web;
	struct timer *again;
	bool is_told; /* that it cannot listen */
	bool stopping;
};

/* ---- /readyz ---- */

#define X(name) #name,
static const char *const part_name[] = {READY_PARTS(X)};
#undef X

static bool trail_has_begun(const struct monitor *m)
{
	return trail_worker_id(m->of.trail) != 0;
}

/* NULL: it is ready. */
static const char *lacking(const struct monitor *m, enum ready_part part)
{
	const struct monitored *of = &m->of;

	switch (part) {
	case READY_database:
		if (trail_has_begun(m) && !trail_is_up(of->trail))
			return "not connected";
		return fleet_may_act(of->fleet) ? NULL : "no heartbeat answered within the lease";
	case READY_broker:
		return consumer_is_assigned(of->consumer) ? NULL
							  : "the group has assigned nothing yet";
	case READY_months:
		return fleet_has_next_month(of->fleet, clock_unix_ms())
			       ? NULL
			       : "next month's partitions are missing";
	default:
		if (m->stopping)
			return "told to stop";
		return trail_has_begun(m) ? NULL : "starting";
	}
}

static int tell_ready(const struct monitor *m, struct buf *body)
{
	int status = 200;

	for (int i = 0; i < N_READY_PARTS; i++) {
		const char *why = lacking(m, (enum ready_part)i);

		buf_printf(body, "%s: %s\n", part_name[i], why ? why : "ok");
		if (why)
			status = 503;
	}
	return status;
}

/* ---- /metrics: what is not counted on the way is looked up now ---- */

static int64_t cpu_us(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * INT64_C(1000000) +
	       use.ru_utime.tv_usec + use.ru_stime.tv_usec;
}

static void look_up(const struct monitor *m)
{
	const struct monitored *of = &m->of;
	const int n_in_flight = runs_count(of->runs);

	metrics_set(of->metrics, cpu_seconds_total, cpu_us(), 0);
	metrics_set(of->metrics, jobs_in_flight, n_in_flight, 0);
	metrics_set(of->metrics, jobs_parked, n_in_flight - runs_busy(of->runs), 0);
	metrics_set(of->metrics, trail_waiting_bytes, (int64_t)trail_bytes(of->trail), 0);
	metrics_set(of->metrics, events_unpublished, publisher_count(of->publisher), 0);
	metrics_set(of->metrics, workers_alive, fleet_n_alive(of->fleet), 0);
	metrics_set(of->metrics, jobs_orphaned, fleet_n_orphans(of->fleet), 0);
	metrics_set(of->metrics, fences_total, fleet_n_ended(of->fleet), 0);
	for (int i = 0; i < N_READY_PARTS; i++)
		metrics_set(of->metrics, ready, !lacking(m, (enum ready_part)i), i);
	const struct limit *limit;
	const struct model *model;
	for (int i = 0; (limit = runs_limit(of->runs, i, &model)); i++) {
		const int name = metrics_model(of->metrics, model);

		metrics_set(of->metrics, calls_open, limit_n_out(limit), name);
		metrics_set(of->metrics, breaker, limit_breaker(limit), name);
	}
	for (int i = 0; i < of->settings->n_job_topic; i++) {
		int64_t n_behind;
		const int n = consumer_lag(of->consumer, of->settings->job_topic[i], &n_behind);

		metrics_set(of->metrics, partitions_assigned, n, i);
		metrics_set(of->metrics, queue_lag_records, n_behind, i);
	}
}

/* ---- the server ---- */

static int answer(void *owner, const char *path, struct buf *body)
{
	struct monitor *m = owner;

	if (strcmp(path, "/readyz") == 0)
		return tell_ready(m, body);
	if (strcmp(path, "/metrics") == 0) {
		look_up(m);
		metrics_render(m->of.metrics, body);
		return body->full ? 500 : 200;
	}
	if (strcmp(path, "/healthz") == 0) {
		buf_puts(body, "ok\n"); /* who answers is alive, and so is the loop */
		return 200;
	}
	buf_puts(body, "there are /metrics, /healthz and /readyz\n");
	return 404;
}

static void listen_now(void *owner)
{
	struct monitor *m = owner;
	struct err err;

	if (web_open(m->of.reactor, m->of.settings->web_listen, answer, m, &m->web, &err) == ST_OK)
		return;
	if (!m->is_told)
		log_warn("web_not_listening", L_STR("why", err.text));
	m->is_told = true;
	timer_start(m->again, AGAIN_MS, 0);
}

void monitor_stopping(struct monitor *m)
{
	m->stopping = true;
}

struct monitor *monitor_new(const struct monitored *of)
{
	struct monitor *m = mem_new(struct monitor);

	m->of = *of;
	m->again = timer_new(of->reactor, listen_now, m);
	metrics_set(of->metrics, start_time_seconds, clock_unix_ms(), 0);
	if (of->settings->web_listen)
		listen_now(m);
	return m;
}

void monitor_free(struct monitor *m)
{
	if (!m)
		return;
	web_free(m->web);
	timer_close(m->again);
	free(m);
}
