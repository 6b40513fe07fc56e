/* A connection on the event loop: connects by itself, again and again; then a pipeline of statements and syncs. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "io/child.h"
#include "pg_conn.h"

/* Of each session, whatever the role has; options in the conninfo come behind them and win. Plans are pinned, for a plan made while
 * a table is empty would else stay a sequential scan; with these, arrays are looked up by index and joined by hash. */
static const char session_settings[] =
	"-c statement_timeout=30s -c lock_timeout=5s -c idle_in_transaction_session_timeout=30s"
	" -c synchronous_commit=on -c search_path=draftmill -c timezone=UTC"
	" -c plan_cache_mode=force_generic_plan -c jit=off"
	" -c enable_seqscan=off -c enable_nestloop=off -c enable_mergejoin=off";

enum { OPTIONS_MAX = 10000 };
enum { CONNECT_MS = 10000, DELAY_MIN_MS = 100, DELAY_MAX_MS = 5000 };

struct resolving { /* outlives its connection: a look-up cannot be called off */
	struct pg *pg;
};

static void start(struct pg *pg);
static void on_watch(void *owner, int events);

/* ---- going down ---- */

static void disconnect(struct pg *pg)
{
	child_cancel(pg->child);
	pg->child = NULL;
	watch_close(pg->watch);
	pg->watch = NULL;
	PQfinish(pg->conn);
	pg->conn = NULL;
	pg->first = pg->end = 0;
	pg->n_prepared = 0;
	pg->error = (struct pg_error){"", ""};
}

/* The next try comes after 50 to 100 % of the delay; which, depends on the process: so a fleet does not come back as one. */
static void lose(struct pg *pg, const char *message)
{
	char why[400];
	pg_say(why, sizeof why, message && *message ? message : "the connection broke");
	disconnect(pg);
	pg->state = PG_WAITING;
	int64_t half = pg->delay_ms / 2;
	timer_start(pg->timer, half + (int64_t)((uint32_t)getpid() * 2654435761u % (uint32_t)half),
		    0);
	pg->delay_ms = pg->delay_ms * 2 > DELAY_MAX_MS ? DELAY_MAX_MS : pg->delay_ms * 2;
	pg->events.down(pg->owner, why);
}

/* From inside a call of the owner's: down() must come later, from the loop. The watch ends now, for libpq may have closed the socket:
 * libuv aborts on a change to a watch of no descriptor, and its number may be another's before the loop goes on. */
static void lose_later(struct pg *pg)
{
	watch_close(pg->watch);
	pg->watch = NULL;
	pg->state = PG_BROKEN;
	timer_start(pg->timer, 0, 0);
}

static void on_timer(void *owner)
{
	struct pg *pg = owner;
	if (pg->state == PG_WAITING)
		start(pg);
	else if (pg->state == PG_CONNECTING)
		lose(pg, "PostgreSQL did not answer within 10 s");
	else if (pg->state == PG_BROKEN)
		lose(pg, PQerrorMessage(pg->conn));
}

/* ---- coming up ---- */

/* With a standby that does not answer, an operator can make a commit succeed without it: the server then only warns. What is
 * not durable is not stored, so a warning within a batch is its error. */
static void on_notice(void *owner, const PGresult *notice)
{
	struct pg *pg = owner;
	const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
	if (pg->first == pg->end || pg->error.text[0] || !severity ||
	    strcmp(severity, "WARNING") != 0)
		return;
	pg_say(pg->error.sqlstate, sizeof pg->error.sqlstate, "01000");
	pg_say(pg->error.text, sizeof pg->error.text,
	       PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY));
}

static void watch(struct pg *pg, int events)
{
	pg->watch = watch_new(pg->reactor, PQsocket(pg->conn), on_watch, pg);
	watch_set(pg->watch, events);
}

static void connect_on(struct pg *pg)
{
	/* libpq may go on to another socket under the same number. */
	watch_close(pg->watch);
	pg->watch = NULL;
	switch (PQconnectPoll(pg->conn)) {
	case PGRES_POLLING_READING:
		watch(pg, WATCH_READ);
		return;
	case PGRES_POLLING_WRITING:
		watch(pg, WATCH_WRITE);
		return;
	case PGRES_POLLING_OK:
		break;
	default:
		lose(pg, PQerrorMessage(pg->conn));
		return;
	}
	if (PQsetnonblocking(pg->conn, 1) != 0 || !PQenterPipelineMode(pg->conn)) {
		lose(pg, PQerrorMessage(pg->conn));
		return;
	}
	timer_stop(pg->timer);
	pg->delay_ms = DELAY_MIN_MS;
	pg->state = PG_UP;
	watch(pg, WATCH_READ);
	pg->events.up(pg->owner);
}

/* @password NULL: libpq looks for one itself, and reads a file of passwords anew. */
static void connect_with(struct pg *pg, const char *password)
{
	struct pg_params params;
	struct buf options = BUF(OPTIONS_MAX);
	if (!params_init(&params, pg->conninfo, pg->application_name))
		BUG("a conninfo that could be read before");
	const char *own = params_get(&params, "options");
	if (!own)
		own = getenv("PGOPTIONS");
	buf_printf(&options, "%s %s", session_settings, own ? own : "");
	params_put(&params, "options", buf_view(&options).p);
	if (pg->hostaddr[0])
		params_default(&params, "hostaddr", pg->hostaddr);
	if (password)
		params_put(&params, "password", password);
	params_default(&params, "target_session_attrs", "read-write");
	pg->conn = PQconnectStartParams(params.key, params.value, 0);
	buf_release(&options);
	params_release(&params);
	if (PQstatus(pg->conn) == CONNECTION_BAD) {
		lose(pg, PQerrorMessage(pg->conn));
		return;
	}
	PQsetNoticeReceiver(pg->conn, on_notice, pg);
	pg->state = PG_CONNECTING;
	timer_start(pg->timer, CONNECT_MS, 0);
	watch(pg, WATCH_WRITE);
}

static void on_password(void *owner, enum status status, struct str output, const struct err *why)
{
	struct pg *pg = owner;
	char password[PASSWORD_MAX];
	struct err err;
	pg->child = NULL;
	if (status != ST_OK)
		lose(pg, why->text);
	else if (password_read(output, password, &err) != ST_OK)
		lose(pg, err.text);
	else
		connect_with(pg, password);
	explicit_bzero(password, sizeof password);
}

static void ask_password(struct pg *pg)
{
	if (!password_command()) {
		connect_with(pg, NULL);
		return;
	}
	pg->state = PG_ASKING;
	const struct child_how how = {.argv = password_command(), .limit_ms = PASSWORD_MS};
	pg->child = child_start(pg->reactor, &how, on_password, pg);
}

static void on_resolved(void *owner, struct str address)
{
	struct resolving *r = owner;
	struct pg *pg = r->pg;
	free(r);
	if (!pg)
		return;
	pg->resolving = NULL;
	if (!address.p) {
		lose(pg, "the host in database.conninfo has no address");
		return;
	}
	snprintf(pg->hostaddr, sizeof pg->hostaddr, "%.*s", STR_ARG(address));
	ask_password(pg);
}

/* A host that libpq would look up, and wait for. A list of hosts is left to it. */
static const char *host_to_resolve(const struct pg_params *params)
{
	const char *host = params_get(params, "host");
	uint8_t address[16];
	if (!host)
		host = getenv("PGHOST");
	if (!host || !*host || *host == '/' || *host == '@' || strchr(host, ',') ||
	    params_get(params, "hostaddr") || inet_pton(AF_INET, host, address) == 1 ||
	    inet_pton(AF_INET6, host, address) == 1)
		return NULL;
	return host;
}

static void start(struct pg *pg)
{
	struct pg_params params;
	if (!params_init(&params, pg->conninfo, pg->application_name)) {
		lose(pg, "database.conninfo is no libpq connection string");
		return;
	}
	const char *host = host_to_resolve(&params);
	pg->hostaddr[0] = '\0';
	if (host) {
		pg->state = PG_RESOLVING;
		pg->resolving = mem_must(malloc(sizeof *pg->resolving));
		pg->resolving->pg = pg;
		reactor_resolve(pg->reactor, host, on_resolved, pg->resolving);
	} else {
		ask_password(pg);
	}
	params_release(&params);
}

struct pg *pg_open(struct reactor *reactor, const char *conninfo, const char *application_name,
		   const struct pg_events *events, void *owner)
{
	struct pg *pg = mem_new(struct pg);
	pg->reactor = reactor;
	pg->events = *events;
	pg->owner = owner;
	pg->conninfo = mem_must(strdup(conninfo));
	pg->application_name = mem_must(strdup(application_name));
	pg->delay_ms = DELAY_MIN_MS;
	pg->state = PG_WAITING;
	pg->timer = timer_new(reactor, on_timer, pg);
	timer_start(pg->timer, 0, 0);
	return pg;
}

void pg_free(struct pg *pg)
{
	if (!pg)
		return;
	disconnect(pg);
	if (pg->resolving)
		pg->resolving->pg = NULL;
	timer_close(pg->timer);
	free(pg->conninfo);
	free(pg->application_name);
	free(pg->expected);
	free(pg->prepared);
	free(pg);
}

bool pg_is_up(const struct pg *pg)
{
	return pg->state == PG_UP;
}

/* ---- the pipeline: sending ---- */

static void expect(struct pg *pg, struct expected e)
{
	if (pg->end == pg->cap && pg->first) {
		memmove(pg->expected, pg->expected + pg->first,
			(pg->end - pg->first) * sizeof *pg->expected);
		pg->end -= pg->first;
		pg->first = 0;
	}
	mem_room(pg->expected, pg->end, pg->cap);
	pg->expected[pg->end++] = e;
}

static struct prepared *prepared_as(const struct pg *pg, const char *name)
{
	for (size_t i = 0; i < pg->n_prepared; i++) {
		if (strcmp(pg->prepared[i].name, name) == 0)
			return &pg->prepared[i];
	}
	return NULL;
}

static void on_prepared(struct pg *pg, const char *name, bool fine)
{
	struct prepared *p = prepared_as(pg, name);
	if (fine)
		p->sure = true;
	else
		*p = pg->prepared[--pg->n_prepared];
}

/* Whether the statement can be executed by @name. Not while an earlier batch that prepares it may still fail before it does. */
static bool can_name(const struct pg *pg, const char *name)
{
	const struct prepared *p = name ? prepared_as(pg, name) : NULL;
	return name && (!p || p->sure || p->batch == pg->batch);
}

static bool prepare(struct pg *pg, const char *name, const char *sql, const Oid *type, int n)
{
	if (prepared_as(pg, name))
		return true;
	if (!PQsendPrepare(pg->conn, name, sql, n, type))
		return false;
	mem_room(pg->prepared, pg->n_prepared, pg->cap_prepared);
	pg->prepared[pg->n_prepared++] = (struct prepared){name, pg->batch, false};
	expect(pg, (struct expected){EXPECT_PREPARED, name});
	return true;
}

void pg_send(struct pg *pg, const char *name, const char *sql, const struct pg_param *param, int n)
{
	enum { PARAMS_MAX = 64 };
	const char *value[PARAMS_MAX];
	int length[PARAMS_MAX], binary[PARAMS_MAX];
	Oid type[PARAMS_MAX];
	if (n > PARAMS_MAX)
		BUG("%d parameters", n);
	if (pg->state != PG_UP)
		return;
	for (int i = 0; i < n; i++) {
		value[i] = param[i].value.p;
		length[i] = (int)param[i].value.n;
		binary[i] = 1;
		type[i] = param[i].oid;
	}
	bool fine =
		can_name(pg, name)
			? prepare(pg, name, sql, type, n) &&
				  PQsendQueryPrepared(pg->conn, name, n, value, length, binary, 0)
			: PQsendQueryParams(pg->conn, sql, n, type, value, length, binary, 0);
	if (fine)
		expect(pg, (struct expected){EXPECT_ANSWER, NULL});
	else
		lose_later(pg);
}

/* What the socket does not take now goes out when it can be written. */
static bool flush(struct pg *pg)
{
	int left = PQflush(pg->conn);
	if (left >= 0)
		watch_set(pg->watch, left ? WATCH_READ | WATCH_WRITE : WATCH_READ);
	return left >= 0;
}

void pg_sync(struct pg *pg)
{
	if (pg->state != PG_UP)
		return;
	pg->batch++;
	if (PQpipelineSync(pg->conn))
		expect(pg, (struct expected){EXPECT_SYNC, NULL});
	else
		lose_later(pg);
	if (pg->state == PG_UP && !flush(pg))
		lose_later(pg);
}

/* ---- the pipeline: answers ---- */

static void note_error(struct pg *pg, const PGresult *r)
{
	if (pg->error.text[0])
		return;
	const char *sqlstate = PQresultErrorField(r, PG_DIAG_SQLSTATE);
	const char *text = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
	pg_say(pg->error.sqlstate, sizeof pg->error.sqlstate, sqlstate ? sqlstate : "");
	pg_say(pg->error.text, sizeof pg->error.text, text && *text ? text : "no reason given");
}

/* True: the owner has it now. */
static bool take_result(struct pg *pg, PGresult *r)
{
	struct expected e = pg->expected[pg->first];
	ExecStatusType status = PQresultStatus(r);
	bool fine = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
	if (e.what == EXPECT_SYNC && status != PGRES_PIPELINE_SYNC) {
		note_error(pg, r); /* the commit itself failed; the sync's own answer follows */
		return false;
	}
	if (e.what != EXPECT_SYNC && status == PGRES_PIPELINE_SYNC)
		BUG("answers of PostgreSQL out of order");
	pg->first++;
	if (pg->first == pg->end)
		pg->first = pg->end = 0;
	if (e.what == EXPECT_SYNC) {
		struct pg_error error = pg->error;
		pg->error = (struct pg_error){"", ""};
		pg->events.synced(pg->owner, error.text[0] ? &error : NULL);
		return false;
	}
	if (!fine)
		note_error(pg, r);
	if (e.what == EXPECT_PREPARED) {
		on_prepared(pg, e.name, fine);
		return false;
	}
	pg->events.answer(pg->owner, fine ? (struct pg_rows *)(void *)r : NULL);
	return fine;
}

static void read_results(struct pg *pg)
{
	/* Each statement's result is followed by one NULL; two mean that there is nothing more. */
	int n_null = 0;
	while (pg->state == PG_UP && pg->first < pg->end && n_null < 2 &&
	       PQstatus(pg->conn) == CONNECTION_OK && !PQisBusy(pg->conn)) {
		PGresult *r = PQgetResult(pg->conn);
		n_null = r ? 0 : n_null + 1;
		if (r && !take_result(pg, r))
			PQclear(r);
	}
}

static void on_watch(void *owner, int events)
{
	struct pg *pg = owner;
	if (pg->state == PG_CONNECTING) {
		connect_on(pg);
		return;
	}
	if (pg->state != PG_UP)
		return;
	bool alive = PQconsumeInput(pg->conn);
	read_results(pg);
	if (pg->state != PG_UP)
		return;
	if (!alive || PQstatus(pg->conn) != CONNECTION_OK || !flush(pg))
		lose(pg, PQerrorMessage(pg->conn));
}
