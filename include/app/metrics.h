/*
 * app/metrics.h - what a worker counts since its start, for Prometheus: one table, from which the text of /metrics follows, and
 * which README.md is checked against (scripts/check-metrics). Plain memory of the loop's thread.
 *
 * Label values come from closed lists and from the settings alone, so their number has a bound and no text of a job is among them. A
 * model's name is one of its own from when it is first met, as the settings may change under a worker.
 */
#ifndef APP_METRICS_H
#define APP_METRICS_H

#include "app/settings.h"

/* clang-format off */
/* A time of a stage, for the histogram. */
#define STAGES(X) \
	X(slot)      /* a call waits for its slot */ \
	X(generator) /* an attempt's request and reply, by role */ \
	X(critic) \
	X(refiner) \
	X(tool)      /* a run */ \
	X(commit)    /* a batch of writes, sent until its commit is answered */ \
	X(publish)   /* an event, committed until the broker has it */ \
	X(job)       /* all active time of a job, at its end */

#define READY_PARTS(X) X(database) X(broker) X(months) X(worker)

#define METRICS(X) \
	/* name, type, what is counted in 1 of the unit told, labels, what it tells */ \
	X(build_info,              gauge,     1,       (VERSION), "always 1; the program's version") \
	X(start_time_seconds,      gauge,     1000,    (NONE), "Unix time of the worker's start") \
	X(cpu_seconds_total,       counter,   1000000, (NONE), "processor time of the process, all threads") \
	X(ready,                   gauge,     1,       (PART), "1 for each part that is ready: database, broker, months, worker") \
	X(messages_total,          counter,   1,       (RESULT), "records of the job topics whose row is committed") \
	X(jobs_taken_over_total,   counter,   1,       (NONE), "jobs that another worker left") \
	X(jobs_ended_total,        counter,   1,       (OUTCOME_AND_STOP_REASON), "jobs whose outcome this worker has committed") \
	X(jobs_in_flight,          gauge,     1,       (NONE), "jobs and messages in memory") \
	X(jobs_parked,             gauge,     1,       (NONE), "of these, jobs that wait for a slot, the time of a retry, or leave to send") \
	X(calls_total,             counter,   1,       (MODEL, ROLE, CLASS), "attempts of calls that have ended, retried ones too, by the class of the reply") \
	X(calls_open,              gauge,     1,       (MODEL), "slots taken: calls on the wire or just before") \
	X(breaker,                 gauge,     1,       (MODEL), "0: closed, 1: one call at a time probes, 2: open, no call is sent") \
	X(tokens_total,            counter,   1,       (MODEL, KIND), "tokens that replies told; cached ones are part of the input") \
	X(cost_usd_total,          counter,   1000000, (MODEL), "money charged to jobs; model \"\": reserves of attempts that a crash or an end cut off") \
	X(stage_seconds,           histogram, 1000,    (STAGE), "time of a call's wait for its slot, of an attempt by role, of a commit, of an event's way to its topic, of all calls of a job") \
	X(commit_writes,           histogram, 1,       (NONE), "writes in one commit of the trail") \
	X(trail_waiting_bytes,     gauge,     1,       (NONE), "bytes of writes that wait for PostgreSQL, about") \
	X(events_unpublished,      gauge,     1,       (NONE), "events committed and not on their topic yet") \
	X(partitions_assigned,     gauge,     1,       (TOPIC), "partitions that this worker reads") \
	X(queue_lag_records,       gauge,     1,       (TOPIC), "records of these that are not taken in, by the last fetch; stands still while the worker is full") \
	X(workers_alive,           gauge,     1,       (NONE), "workers with a lease, by the last heartbeat") \
	X(jobs_orphaned,           gauge,     1,       (NONE), "jobs that wait for a worker to take them over") \
	X(fences_total,            counter,   1,       (NONE), "workers that this one ended because their lease had run out")
/* clang-format on */

#define X(name, ...) METRIC_##name,
enum metric { METRICS(X) N_METRICS };
#undef X
#define X(name) STAGE_##name,
enum stage { STAGES(X) N_STAGES };
#undef X
#define X(name) READY_##name,
enum ready_part { READY_PARTS(X) N_READY_PARTS };
#undef X
enum token_kind { TOKENS_INPUT, TOKENS_CACHED, TOKENS_OUTPUT };

enum { METRIC_LABELS = 3 };

struct metrics;

struct metrics *metrics_new(const struct settings *); /* borrowed: the topics are told from it */
void metrics_free(struct metrics *);

/* The place of a model's name as a label's value; of none, and of those past the 200th, that of "". */
int metrics_model(struct metrics *, const struct model *);

/* Behind the number: by label, the place of its value. @m NULL: nobody counts. */
#define metrics_add(m, name, n, ...)                                                               \
	metrics_add_at(m, METRIC_##name, n, (int[METRIC_LABELS]){__VA_ARGS__})
#define metrics_set(m, name, n, ...)                                                               \
	metrics_set_at(m, METRIC_##name, n, (int[METRIC_LABELS]){__VA_ARGS__})
#define metrics_observe(m, name, n, ...)                                                           \
	metrics_observe_at(m, METRIC_##name, n, (int[METRIC_LABELS]){__VA_ARGS__})
void metrics_add_at(struct metrics *m, enum metric, int64_t n, const int *label);
void metrics_set_at(struct metrics *m, enum metric, int64_t n, const int *label);
void metrics_observe_at(struct metrics *m, enum metric, int64_t n, const int *label);

/* All of it in Prometheus' text format 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats/). Of metrics with two labels or more zeros are left out. */
void metrics_render(const struct metrics *, struct buf *out);

#endif
