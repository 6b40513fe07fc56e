/*
 * app/monitor.h - what a worker tells those who watch it, at `web.listen`: /metrics, /healthz (the loop turns), /readyz (it can take
 * jobs in; else 503 and what is missing).
 */
#ifndef APP_MONITOR_H
#define APP_MONITOR_H

#include "app/metrics.h"
#include "app/publish.h"
#include "app/run.h"

struct monitor;

struct monitored { /* all borrowed */
	struct reactor *reactor;
	const struct settings *settings;
	struct metrics *metrics;
	const struct runs *runs;
	struct consumer *consumer;
	const struct fleet *fleet;
	const struct trail *trail;
	const struct publisher *publisher;
};

/* Listens, if the settings say so; a port that another worker has is tried again, it may come free. */
struct monitor *monitor_new(const struct monitored *);
void monitor_free(struct monitor *); /* before what it watches; NULL is fine */

void monitor_stopping(struct monitor *); /* from now on not ready */

#endif
