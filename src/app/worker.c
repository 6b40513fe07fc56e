#include "app/worker.h"

#include "app/blame.h"
#include "app/drain.h"
#include "app/lease.h"
#include "app/marks.h"
#include "app/monitor.h"
#include "app/preflight.h"
#include "app/publish.h"
#include "app/reload.h"
#include "app/run.h"
#include "base/clock.h"
#include "base/log.h"
#include "io/cluster.h"
#include "io/notify.h"

#include <signal.h>
#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

enum {
	TICK_MS = 500,
	RECORDS_A_TURN = 64, /* so that a turn stays short */
	BYTES_A_TURN = 8 << 20,
	BYTES_QUEUED = 64 << 20, /* waiting for PostgreSQL; over it nothing is taken in */
	CLUSTER_WAIT_MS = 10000,
	LEAVE_MS = 5000,
	PROGRESS_TICKS = 20,
};

enum state { STARTING, WORKING, STOPPING, LEAVING };

struct worker {
	const struct settings *settings;
	struct profiles *profiles;
	enum state state;
	struct reactor *reactor;
	struct fleet *fleet;
	struct trail *trail;
	struct models *models;
	struct runs *runs;
	struct consumer *consumer;
	struct producer *producer;
	struct publisher *publisher;
	struct marks *marks;
	struct blame *blame;
	struct metrics *metrics;
	struct monitor *monitor;
	struct timer *watchdog, *tick, *limit; /* limit: of STOPPING, then of LEAVING */
	bool left, broker_is_silent;	       /* silent: it does not answer the farewell */
	struct arena *arena;		       /* of what lives as long as the worker */
	const char *cluster;

	bool drain, asks_drained;
	struct partition_end *end;
	int n_end;

	int n_tick;
	size_t turn_bytes;
	int n_uncounted; /* crashes found whose strikes are not committed */
	int64_t last_wake_mono_ms;
	int64_t n_settled[3], n_ended; /* by enum settled */
};

/* ---- a worker that slept past its lease must not act ---- */

static void on_fenced(void *owner, const char *why)
{
	const struct worker *w = owner;

	lease_lost(w->fleet ? fleet_worker_id(w->fleet) : 0, why);
}

/* A sleep without a signal (a paused machine) shows as a wake that comes late. */
static void guard(void *owner)
{
	struct worker *w = owner;
	const int64_t now = clock_mono_ms();

	if (w->state != STARTING && now - w->last_wake_mono_ms > w->settings->lease_ms)
		on_fenced(w, "the process slept longer than its lease");
	w->last_wake_mono_ms = now;
}

static bool may_act(void *owner)
{
	const struct worker *w = owner;

	return w->state != LEAVING && fleet_may_act(w->fleet);
}

/* ---- jobs ---- */

static int64_t new_number(void *owner)
{
	struct worker *w = owner;
	const int64_t n = fleet_number(w->fleet);

	if (!n)
		BUG("no job number left; intake asked for more than there are");
	return n;
}

static void in_hand(void *owner, const struct record *m, int64_t job_no)
{
	blame_set(((struct worker *)owner)->blame, m, job_no);
}

static void settled(void *owner, struct str topic, int32_t partition, int64_t offset,
		    enum settled how)
{
	struct worker *w = owner;

	w->n_settled[how]++;
	marks_settle(w->marks, topic, partition, offset);
}

static void ended(void *owner, const struct step_rows *last)
{
	struct worker *w = owner;
	const struct outcome_row *o = last->outcome;

	w->n_ended++;
	log_info("job_ended", L_INT("job_no", o->job_no), L_STRN("outcome", o->outcome),
		 L_STRN("stop_reason", o->stop_reason), L_INT("n_calls", o->n_calls),
		 L_INT("cost_micro_usd", o->cost_micro_usd));
	for (int i = 0; i < last->n_event; i++)
		publish(w->publisher, &last->event[i], NULL);
}

static void dead(void *owner, const struct outbox_row *event, const struct dead_letter_row *letter)
{
	publish(((struct worker *)owner)->publisher, event, letter);
}

static const struct run_hooks hooks = {
	.number = new_number,
	.may_act = may_act,
	.in_hand = in_hand,
	.settled = settled,
	.ended = ended,
	.dead = dead,
};

/* ---- consumer ---- */

static void on_record(void *owner, const struct record *m)
{
	struct worker *w = owner;

	w->turn_bytes += m->key.n + m->value.n;
	marks_begin(w->marks, m->topic, m->partition, m->offset);
	runs_message(w->runs, m, fleet_strikes(w->fleet, m->topic, m->partition, m->offset));
}

static int64_t on_assigned(void *owner, struct str topic, int32_t partition)
{
	struct worker *w = owner;

	return fleet_mark(w->fleet, w->cluster, topic, partition);
}

static void on_revoked(void *owner, struct str topic, int32_t partition)
{
	marks_drop(((struct worker *)owner)->marks, topic, partition);
}

static void on_end(void *owner, struct str topic, int32_t partition, int64_t next_offset)
{
	marks_pass(((struct worker *)owner)->marks, topic, partition, next_offset);
}

static const struct consumer_events consumer_events = {on_record, on_assigned, on_revoked, on_end};

static void on_raised(void *owner, struct str topic, int32_t partition, int64_t next_offset)
{
	struct worker *w = owner;

	trail_mark(w->trail, w->cluster, topic, partition, next_offset);
}

static blame_found_fn on_blame;

/* ---- trail and fleet ---- */

static void on_marked(void *owner, struct str topic, int32_t partition, int64_t next_offset)
{
	consumer_store(((struct worker *)owner)->consumer, topic, partition, next_offset);
}

static void on_committed(void *owner, int n_writes, int64_t ms)
{
	struct worker *w = owner;

	metrics_observe(w->metrics, commit_writes, n_writes, 0);
	metrics_observe(w->metrics, stage_seconds, ms, STAGE_commit);
}

static const struct trail_events trail_events = {on_fenced, on_marked, on_committed};

static void on_ready(void *owner, int64_t id)
{
	struct worker *w = owner;

	if (w->state != STARTING) /* told to stop meanwhile */
		return;
	log_info("worker_ready", L_INT("worker_id", id));
	trail_start(w->trail, id);
	w->last_wake_mono_ms = clock_mono_ms();
	w->state = WORKING;
	notify("READY=1");
	blame_collect(w->blame, on_blame, w);
}

static void on_orphan_job(void *owner, struct orphan_job *o)
{
	struct worker *w = owner;

	if (w->state == LEAVING || runs_has(w->runs, o->job->job_no)) {
		orphan_free(o);
		return;
	}
	log_info("job_taken_over", L_INT("job_no", o->job->job_no), L_INT("n_step", o->n_step));
	runs_orphan(w->runs, o);
}

static void on_orphan_event(void *owner, const struct orphan_event *o)
{
	struct worker *w = owner;

	if (w->state != LEAVING && !publisher_has(w->publisher, o->event->job_no, o->event->kind))
		publish(w->publisher, o->event, o->letter);
}

static const struct fleet_events fleet_events = {on_ready, on_fenced, on_orphan_job,
						 on_orphan_event};

static bool in_memory(void *owner, int64_t job_no, struct str what)
{
	struct worker *w = owner;

	if (w->state == LEAVING) /* whatever it is, it is for others now */
		return true;
	return str_is(what, "run") ? runs_has(w->runs, job_no)
				   : publisher_has(w->publisher, job_no, what);
}

/* ---- the end ---- */

static void end_loop(void *owner)
{
	reactor_stop(((struct worker *)owner)->reactor);
}

static void leave_fleet(void *owner)
{
	struct worker *w = owner;

	if (w->left)
		return;
	w->left = true;
	timer_stop(w->limit);
	fleet_leave(w->fleet, end_loop, w);
}

static void log_progress(const struct worker *w, const char *event)
{
	log_info(event, L_INT("n_in_flight", w->runs ? runs_count(w->runs) : 0),
		 L_INT("n_job", w->n_settled[SETTLED_JOB]),
		 L_INT("n_duplicate", w->n_settled[SETTLED_DUPLICATE]),
		 L_INT("n_dead_letter", w->n_settled[SETTLED_DEAD]), L_INT("n_ended", w->n_ended),
		 L_INT("n_unpublished", w->publisher ? publisher_count(w->publisher) : 0));
}

/* In this order: each would call the next. */
static void close_work(struct worker *w)
{
	monitor_free(w->monitor);
	producer_free(w->producer);
	publisher_free(w->publisher);
	trail_free(w->trail);
	runs_free(w->runs);
	w->monitor = NULL;
	w->producer = NULL;
	w->publisher = NULL;
	w->trail = NULL;
	w->runs = NULL;
}

/* What is in memory and not ended is left to others: it is all in the trail. So waiting for librdkafka's threads, which freeing the
 * producer does, holds up nothing. */
static void leave(struct worker *w)
{
	w->state = LEAVING;
	log_progress(w, "worker_leaving");
	close_work(w);
	timer_start(w->limit, LEAVE_MS, 0); /* a broker that is down does not answer the farewell */
	consumer_close(w->consumer, leave_fleet, w);
}

static void on_limit(void *owner)
{
	struct worker *w = owner;

	if (w->state == LEAVING) {
		w->broker_is_silent = true;
		leave_fleet(w);
	} else {
		leave(w);
	}
}

static void stop(struct worker *w, const char *why)
{
	if (w->state >= STOPPING)
		return;
	log_info("worker_stopping", L_STR("why", why), L_INT("n_in_flight", runs_count(w->runs)));
	w->state = STOPPING;
	runs_stop(w->runs);
	notify("STOPPING=1");
	monitor_stopping(w->monitor);
	timer_start(w->limit, w->settings->drain_ms, 0);
}

static void on_signal(void *owner, int signal_no)
{
	struct worker *w = owner;

	if (w->state >= STOPPING)
		_exit(EX_TEMPFAIL); /* the second time: at once, as safe as a crash */
	stop(w, strsignal(signal_no));
}

static void on_hangup(void *owner, int signal_no)
{
	struct worker *w = owner;

	if (w->state == WORKING)
		notify("RELOADING=1");
	if (w->state < STOPPING)
		reload(w->runs, w->settings);
	if (w->state == WORKING)
		notify("READY=1");
}

static void on_drained(void *owner, bool drained, int64_t n_left)
{
	struct worker *w = owner;

	w->asks_drained = false;
	if (drained)
		stop(w, "drained");
}

/* ---- turn and tick ---- */

/* An event that the broker does not take holds its place: memory has an end. */
static int64_t n_free(const struct worker *w)
{
	const int64_t n =
		w->settings->in_flight - runs_count(w->runs) - publisher_count(w->publisher);

	return n > 0 ? n : 0;
}

/* Free slots only, so Kafka holds the backlog; orphans go first. A conflict takes a second number. */
static int n_wanted(const struct worker *w)
{
	const int in_memory = runs_count(w->runs);
	int64_t n = n_free(w) - fleet_n_orphans(w->fleet);
	const int64_t numbers = (fleet_n_numbers(w->fleet) - in_memory) / 2;

	if (w->state != WORKING || w->n_uncounted || !trail_is_up(w->trail) ||
	    !fleet_may_act(w->fleet) || trail_bytes(w->trail) > BYTES_QUEUED)
		return 0;
	n = n < numbers ? n : numbers;
	n = n < RECORDS_A_TURN ? n : RECORDS_A_TURN;
	return runs_may_begin(w->runs, (int)n);
}

/* By bytes too: a record may be large. */
static void take_records(struct worker *w, int n)
{
	int n_taken = 0;

	w->turn_bytes = 0;
	if (n == 0)
		consumer_poll(w->consumer, 0);
	while (n_taken < n && w->turn_bytes < BYTES_A_TURN && consumer_poll(w->consumer, 1))
		n_taken++;
	if (n_taken && consumer_ready(w->consumer))
		reactor_again(w->reactor);
}

static void turn(void *owner)
{
	struct worker *w = owner;

	if (w->state == STARTING || w->state == LEAVING)
		return;
	lease_extend(fleet_lease_until_mono_ms(w->fleet));
	take_records(w, n_wanted(w));
	if (w->state == STOPPING && !runs_busy(w->runs) && !publisher_count(w->publisher) &&
	    trail_is_idle(w->trail))
		leave(w);
}

/* A crash is counted before its message or job may be in hand again: intake waits for it. */
struct counted {
	struct worker *worker;
	const char *incident;
};

static void on_counted(void *owner)
{
	struct counted *c = owner;

	blame_forget(c->worker->blame, c->incident);
	c->worker->n_uncounted--;
}

static void on_blame(void *owner, const struct strike *s, const char *incident)
{
	struct worker *w = owner;
	struct counted *c = arena_alloc(w->arena, sizeof(*c));

	*c = (struct counted){w, arena_str(w->arena, str_c(incident)).p};
	w->n_uncounted++;
	log_warn("crash_blamed", L_STRN("topic", s->topic), L_INT("partition", s->partition),
		 L_INT("offset_or_job", s->offset));
	fleet_strike(w->fleet, s, incident, on_counted, c);
}

static void tick(void *owner)
{
	struct worker *w = owner;

	if (w->state == STARTING || w->state == LEAVING)
		return;
	runs_set_fleet(w->runs, fleet_n_alive(w->fleet));
	runs_sweep(w->runs, clock_unix_ms());
	if (w->state == WORKING && !w->n_uncounted &&
	    publisher_count(w->publisher) < w->settings->in_flight)
		fleet_adopt(w->fleet, (int)n_free(w));
	if (++w->n_tick % 2 == 0 && !w->n_uncounted)
		blame_collect(w->blame, on_blame, w);
	if (w->n_tick % PROGRESS_TICKS == 0) {
		log_progress(w, "progress");
		marks_tell_again(w->marks); /* a drain may have lowered one under us */
	}
	if (w->drain && w->state == WORKING && !w->asks_drained) {
		w->asks_drained = true; /* one at a time: heartbeats wait behind it */
		fleet_drained(w->fleet, w->cluster, w->end, w->n_end, on_drained, w);
	}
}

/* ---- start ---- */

/* All that has to be waited for. */
static enum status ask_cluster(struct worker *w, struct err *err)
{
	const struct settings *s = w->settings;
	struct cluster *cluster = NULL;
	const char *id;
	enum status status = cluster_open(s->kafka_brokers, s->kafka_option, s->n_kafka_option,
					  CLUSTER_WAIT_MS, &cluster, err);

	if (status == ST_OK)
		status = cluster_id(cluster, &id, err);
	if (status == ST_OK) {
		w->cluster = arena_str(w->arena, str_c(id)).p;
		preflight_log(s, cluster);
	}
	if (status == ST_OK && w->drain)
		status = drain_start(s, cluster, w->arena, &w->end, &w->n_end, err);
	cluster_close(cluster);
	return status;
}

static enum status open_kafka(struct worker *w, struct err *err)
{
	const struct settings *s = w->settings;
	const struct consumer_config c = {.brokers = s->kafka_brokers,
					  .group = s->kafka_group,
					  .topic = s->job_topic,
					  .n_topic = s->n_job_topic,
					  .option = s->kafka_option,
					  .n_option = s->n_kafka_option};

	enum status status = ask_cluster(w, err);
	if (status != ST_OK)
		return status;
	if (consumer_open(w->reactor, &c, &consumer_events, w, &w->consumer, err) != ST_OK)
		return ST_INVALID;
	w->publisher = publisher_new(w->reactor, w->trail, w->metrics, may_act, w);
	if (producer_open(w->reactor, s->kafka_brokers, s->kafka_option, s->n_kafka_option,
			  publisher_delivered, w->publisher, &w->producer, err) != ST_OK)
		return ST_INVALID;
	publisher_use(w->publisher, w->producer);
	return ST_OK;
}

static void open_fleet(struct worker *w)
{
	static char host[256];
	const struct fleet_config c = {.conninfo = w->settings->database_conninfo,
				       .host = host,
				       .version = DRAFTMILL_VERSION,
				       .lease_ms = w->settings->lease_ms};

	gethostname(host, sizeof(host) - 1);
	w->fleet = fleet_open(w->reactor, &c, &fleet_events, w);
	fleet_knows(w->fleet, in_memory, w);
}

static enum status open_all(struct worker *w, struct err *err)
{
	struct runs_config c = {
		.settings = w->settings, .profiles = w->profiles, .hooks = &hooks, .owner = w};
	enum status s;

	w->arena = arena_new();
	w->metrics = c.metrics = metrics_new(w->settings);
	w->reactor = c.reactor = reactor_new();
	reactor_guard(w->reactor, guard, w);
	reactor_turn(w->reactor, turn,
		     w); /* before the trail's: what a turn makes goes out with it */
	w->trail = c.trail =
		trail_open(w->reactor, w->settings->database_conninfo, &trail_events, w);
	w->models = c.models = models_open(w->reactor, (int)w->settings->in_flight);
	w->marks = marks_new(on_raised, w);
	w->tick = timer_new(w->reactor, tick, w);
	w->limit = timer_new(w->reactor, on_limit, w);
	w->watchdog = notify_watchdog(w->reactor);
	if (blame_open(w->settings->state_dir, &w->blame, err) != ST_OK)
		return ST_INVALID;
	s = preflight_start(w->settings, w->profiles, err);
	if (s == ST_OK)
		s = open_kafka(w, err);
	if (s != ST_OK)
		return s;
	c.cluster = w->cluster;
	if (runs_new(&c, &w->runs, err) != ST_OK)
		return ST_INVALID;
	open_fleet(w);
	w->monitor =
		monitor_new(&(struct monitored){w->reactor, w->settings, w->metrics, w->runs,
						w->consumer, w->fleet, w->trail, w->publisher});
	return ST_OK;
}

static void close_all(struct worker *w)
{
	close_work(w);
	consumer_free(w->consumer);
	fleet_free(w->fleet);
	models_free(w->models);
	marks_free(w->marks);
	timer_close(w->tick);
	timer_close(w->limit);
	timer_close(w->watchdog);
	blame_close(w->blame);
	metrics_free(w->metrics);
	reactor_free(w->reactor);
	arena_free(w->arena);
}

int worker_run(const struct settings *s, struct profiles *profiles, bool drain)
{
	struct worker w = {.settings = s, .profiles = profiles, .drain = drain};
	struct err err = {""};
	enum status status = open_all(&w, &err);

	if (status == ST_OK) {
		signal(SIGPIPE, SIG_IGN);
		lease_watch();
		reactor_signal(w.reactor, SIGTERM, on_signal, &w);
		reactor_signal(w.reactor, SIGINT, on_signal, &w);
		reactor_signal(w.reactor, SIGHUP, on_hangup, &w);
		timer_start(w.tick, TICK_MS, TICK_MS);
		log_info("worker_starting", L_STR("version", DRAFTMILL_VERSION),
			 L_STR("cluster", w.cluster));
		reactor_run(w.reactor);
		log_progress(&w, "worker_ended");
		if (w.broker_is_silent) { /* librdkafka would wait for it, a minute long */
			blame_close(w.blame);
			_exit(EX_OK);
		}
	} else {
		log_error("worker_cannot_start", L_STR("why", err.text));
	}
	close_all(&w);
	return status == ST_OK ? EX_OK : status == ST_DOWN ? EX_TEMPFAIL : EX_CONFIG;
}
