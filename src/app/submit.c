#include "submit_private.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/job.h"

enum {
	CHUNK = 500,	       /* jobs that are looked up and sent together.. */
	CHUNK_BYTES = 8 << 20, /* ..or so many bytes of theirs */
	QUEUED_MAX = 20 * CHUNK,
	STALL_MS = 30000, /* without a delivery report: the broker is not there */
	PROGRESS_MS = 2000,
	PROGRESS_IN_PLACE_MS = 200,
	TICK_MS = 100,
};

/* profile and batch are among the bytes */
#define NEW_JOB                                                                                    \
	"submit it under the same profile and batch, or as a new job by a higher revision or another --source"

static const char NOT_LOOKED_UP[] = "jobs that are known already may be sent again";

struct chunk { /* read, not sent yet */
	struct arena *a;
	size_t item[CHUNK]; /* index */
	struct str id[CHUNK], value[CHUNK];
	int n;
};

/* ---- telling ---- */

static void clear_line(struct submit *s)
{
	if (s->is_line_open)
		fputs("\r\033[K", stderr);
	s->is_line_open = false;
}

static const char *file_name(const struct submit *s, int file)
{
	return strcmp(s->c->file[file], "-") == 0 ? "stdin" : s->c->file[file];
}

void submit_say(struct submit *s, const struct item *item, const char *what, const char *why)
{
	struct page p = PAGE(false);

	if (item) {
		page_line(&p, str_c(file_name(s, item->file)));
		page_printf(&p, ":%lld: ", (long long)item->line_no);
	}
	page_line(&p, str_c(what));
	page_printf(&p, ": ");
	page_line(&p, str_c(why));
	page_printf(&p, "\n");
	clear_line(s);
	fputs(p.text.p, stderr);
	buf_release(&p.text);
}

static void refuse(struct submit *s, const struct item *where, const char *reason, const char *why)
{
	s->counts->n_invalid++;
	submit_say(s, where, reason, why);
}

static void put_bar(int percent)
{
	enum { CELLS = 25 };
	int n = percent < 100 ? percent * CELLS / 100 : CELLS;

	fprintf(stderr, "[%.*s%.*s] %3d %%  ", n, "#########################", CELLS - n,
		".........................", percent);
}

void submit_progress(struct submit *s, int64_t part, int64_t whole, const char *format, ...)
{
	int64_t now = clock_mono_ms(), each = s->in_place ? PROGRESS_IN_PLACE_MS : PROGRESS_MS;
	va_list args;

	if (now - s->told_mono_ms < each)
		return;
	s->told_mono_ms = now;
	clear_line(s);
	if (s->in_place && whole > 0)
		put_bar((int)(part * 100 / whole));
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	if (!s->in_place)
		fputc('\n', stderr);
	s->is_line_open = s->in_place;
}

static void tell_delivered(struct submit *s)
{
	int64_t read_bytes = s->done_bytes + (s->reading ? jobfile_bytes(s->reading) : 0);

	submit_progress(s, read_bytes, s->all_bytes, "%lld delivered, %lld under way",
			(long long)s->counts->n_sent, (long long)producer_queued(s->producer));
}

/* ---- the database: what is known already ---- */

bool submit_database(struct submit *s, struct err *err)
{
	return s->pg || pg_connect(s->c->settings->database_conninfo, "draftmill-submit", &s->pg,
				   err) == ST_OK;
}

void put_keys(struct buf *out, const struct item *const *item, int n)
{
	char text[UUID_TEXT + 1];

	buf_putc(out, '{');
	for (int i = 0; i < n; i++) {
		uuid_text(item[i]->key, text);
		buf_printf(out, "%s%s", i ? "," : "", text);
	}
	buf_putc(out, '}');
}

/* Arrays are compared with `any`, so that an index serves however the role's plans are set. */
static const char known_sql[] =
	"with k as materialized (select key, sha, job_no from draftmill.job_key where key = any($1::uuid[])), "
	"  j as (select job_no, profile, batch from draftmill.job where job_no = any(array(select job_no from k))) "
	"select encode(uuid_send(key), 'hex'), encode(sha, 'hex'), job_no, profile, batch from k left join j using (job_no)";

static void heed_known(struct submit *s, const struct pg_rows *rows, int row)
{
	uint8_t key[UUID_BYTES], sha[SHA_BYTES];
	struct err why;

	if (!hex_read(pg_text(rows, row, 0), key, sizeof(key)) ||
	    !hex_read(pg_text(rows, row, 1), sha, sizeof(sha)))
		BUG("job_key: no hex");
	struct item *item = &s->items.item[items_find(&s->items, key)];
	if (memcmp(sha, item->sha, SHA_BYTES) == 0) {
		item->state = ITEM_KNOWN;
		s->counts->n_duplicate++;
		return;
	}
	item->state = ITEM_INVALID;
	struct str batch = pg_text(rows, row, 4);
	(void)err_set(
		&why, ST_INVALID,
		"its identity is known with other bytes, as job %.*s (profile %.*s, %s%.*s); " NEW_JOB,
		STR_ARG(pg_text(rows, row, 2)), STR_ARG(pg_text(rows, row, 3)),
		batch.p ? "batch " : "no batch", STR_ARG(batch));
	refuse(s, item, dead_name(DEAD_conflict), why.text);
}

static void find_known(struct submit *s, const struct chunk *c)
{
	const struct item *item[CHUNK];
	struct buf keys = BUF(CHUNK * 64);
	struct pg_rows *rows;
	struct err err;

	for (int i = 0; i < c->n; i++)
		item[i] = &s->items.item[c->item[i]];
	put_keys(&keys, item, c->n);
	enum status status =
		pg_query(s->pg, known_sql, (const char *const[]){keys.p}, 1, &rows, &err);
	if (status == ST_OK) {
		for (int i = 0; i < pg_n(rows); i++)
			heed_known(s, rows, i);
		pg_rows_free(rows);
	} else {
		submit_say(s, NULL, NOT_LOOKED_UP, err.text);
		pg_free(s->pg);
		s->pg = NULL;
	}
	buf_release(&keys);
}

/* ---- the broker ---- */

static void tell_undelivered(struct submit *s, struct item *item, const char *why, const char *mend)
{
	struct err err;

	item->state = ITEM_UNDELIVERED;
	s->counts->n_undelivered++;
	(void)err_set(&err, ST_DOWN, "%s%s%s", why, *mend ? "; " : "", mend);
	submit_say(s, item, "not delivered", err.text);
}

static void on_delivery(void *owner, void *cookie, enum status status, const char *why,
			int32_t partition, int64_t offset)
{
	struct submit *s = owner;
	struct item *item = &s->items.item[(uintptr_t)cookie];

	s->reported_mono_ms = clock_mono_ms();
	if (status != ST_OK) {
		const char *mend = kafka_mend(why);
		tell_undelivered(s, item, why, *mend ? mend : "submit it again");
		return;
	}
	item->state = ITEM_DELIVERED;
	item->part = partition;
	item->offset = offset;
	s->counts->n_sent++;
}

/* Lets the broker work for a moment; false: it has been silent for too long. */
static bool breathe(struct submit *s)
{
	if (!producer_queued(s->producer))
		poll(NULL, 0, TICK_MS);
	else if (producer_flush(s->producer, TICK_MS) == ST_OK)
		return true;
	tell_delivered(s);
	s->stalled = clock_mono_ms() - s->reported_mono_ms > STALL_MS;
	return !s->stalled;
}

static void send_item(struct submit *s, size_t i, struct str id, struct str value)
{
	struct item *item = &s->items.item[i];
	enum status status = ST_AGAIN;
	struct err err = {"the broker does not answer"};

	if (!producer_queued(s->producer))
		s->reported_mono_ms = clock_mono_ms();
	item->state = ITEM_SENT;
	while (!s->stalled) {
		status = producer_send(s->producer, s->topic, id, value, NULL, 0,
				       (void *)(uintptr_t)i, &err);
		if (status != ST_AGAIN || !breathe(s))
			break;
	}
	if (status == ST_OK)
		return;
	tell_undelivered(s, item, err.text, "");
}

static void send_chunk(struct submit *s, struct chunk *c)
{
	if (c->n && s->pg)
		find_known(s, c);
	for (int i = 0; i < c->n; i++)
		if (s->items.item[c->item[i]].state == ITEM_READ)
			send_item(s, c->item[i], c->id[i], c->value[i]);
	while (producer_queued(s->producer) > QUEUED_MAX && !s->stalled && breathe(s))
		;
	arena_free(c->a);
	*c = (struct chunk){.a = arena_new()};
}

static void await_reports(struct submit *s)
{
	while (producer_queued(s->producer) && !s->stalled && breathe(s))
		;
	for (size_t i = 0; i < s->items.n; i++) {
		struct item *item = &s->items.item[i];
		if (item->state == ITEM_SENT)
			tell_undelivered(s, item, "the broker does not answer", "submit it again");
	}
}

/* ---- the input ---- */

/* The same identity twice in the input. */
static void meet_again(struct submit *s, const struct item *first, const struct item *now,
		       bool is_id_made)
{
	bool is_same = memcmp(first->sha, now->sha, SHA_BYTES) == 0;
	struct err err;

	(void)err_set(&err, ST_INVALID, "%s:%lld %s", file_name(s, first->file),
		      (long long)first->line_no,
		      is_same ? "is the same; to send both, give each an id"
			      : "has its identity with other bytes; " NEW_JOB);
	if (!is_same) {
		refuse(s, now, dead_name(DEAD_conflict), err.text);
		return;
	}
	s->counts->n_duplicate++;
	if (is_id_made)
		submit_say(s, now, "duplicate", err.text);
}

static void take_line(struct submit *s, struct chunk *c, struct item *item, struct str text)
{
	struct submit_line line = {.id = {NULL, 0}};
	struct err err = {""};
	enum dead_reason reason =
		submit_read_line(c->a, s->c->profiles, &s->c->defaults, text, &line, &err);

	if (reason != DEAD_NONE) {
		refuse(s, item, dead_name(reason), err.text);
		return;
	}
	memcpy(item->key, line.key, UUID_BYTES);
	memcpy(item->sha, line.sha, SHA_BYTES);
	int64_t first = items_find(&s->items, item->key);
	if (first >= 0) {
		meet_again(s, &s->items.item[first], item, line.is_id_made);
		return;
	}
	c->item[c->n] = items_add(&s->items, item);
	c->id[c->n] = line.id;
	c->value[c->n++] = line.value;
}

static void read_lines(struct submit *s, struct chunk *c, int file)
{
	struct item item = {.file = file, .state = ITEM_READ, .part = -1, .offset = -1};
	struct jobfile_line line;
	enum jobfile_got got;

	while ((got = jobfile_next(s->reading, &line)) == JOBFILE_JOB || got == JOBFILE_FAULTY) {
		s->counts->n_read++;
		item.line_no = line.line_no;
		if (got == JOBFILE_JOB)
			take_line(s, c, &item, line.text);
		else
			refuse(s, &item, line.fault, line.why.text);
		if (c->n == CHUNK || arena_bytes(c->a) > CHUNK_BYTES)
			send_chunk(s, c);
		tell_delivered(s);
	}
	if (got == JOBFILE_UNREAD) {
		s->counts->n_unread++;
		item.line_no = line.line_no;
		submit_say(s, &item, "cannot be read on", line.why.text);
	}
}

static void read_file(struct submit *s, struct chunk *c, int file, FILE *f)
{
	s->reading = jobfile_open(f, s->c->file[file], &s->c->form);
	struct str columns = jobfile_columns(s->reading);
	if (columns.n)
		submit_say(s, NULL, file_name(s, file), columns.p);
	read_lines(s, c, file);
	s->done_bytes += jobfile_bytes(s->reading);
	jobfile_close(s->reading);
	s->reading = NULL;
}

/* 0: not known, one is no plain file. */
static int64_t size_of_all(const struct submit_config *c)
{
	int64_t all_bytes = 0;
	struct stat st;

	for (int i = 0; i < c->n_file; i++) {
		bool is_stdin = strcmp(c->file[i], "-") == 0;
		if ((is_stdin ? fstat(STDIN_FILENO, &st) : stat(c->file[i], &st)) != 0 ||
		    !S_ISREG(st.st_mode))
			return 0;
		all_bytes += st.st_size;
	}
	return all_bytes;
}

static void read_files(struct submit *s)
{
	struct chunk *c = calloc(1, sizeof(*c));

	if (!c)
		BUG("out of memory");
	c->a = arena_new();
	s->all_bytes = size_of_all(s->c);
	for (int i = 0; i < s->c->n_file; i++) {
		bool is_stdin = strcmp(s->c->file[i], "-") == 0;
		FILE *f = is_stdin ? stdin : fopen(s->c->file[i], "re");
		if (!f) { /* it was there at the start */
			s->counts->n_unread++;
			submit_say(s, NULL, s->c->file[i], strerror(errno));
			continue;
		}
		read_file(s, c, i, f);
		if (!is_stdin)
			(void)fclose(f);
	}
	send_chunk(s, c);
	arena_free(c->a);
	free(c);
}

/* ---- the run ---- */

enum status submit_check(const struct submit_config *c, struct err *err)
{
	if (!profiles_named(c->profiles, c->defaults.profile, err)) {
		err_at(err, "--profile: ");
		return ST_INVALID;
	}
	for (int i = 0; i < c->n_file; i++)
		if (strcmp(c->file[i], "-") != 0 && access(c->file[i], R_OK) != 0)
			return err_set(err, ST_INVALID, "%s: %s", c->file[i], strerror(errno));
	return jobfile_check(&c->form, c->file, c->n_file, err);
}

enum status submit_run(const struct submit_config *config, struct submit_counts *counts,
		       struct err *err)
{
	const struct settings *set = config->settings;
	struct submit s = {.c = config,
			   .counts = counts,
			   .topic = config->topic,
			   .in_place = isatty(STDERR_FILENO),
			   .told_mono_ms = clock_mono_ms()};

	*counts = (struct submit_counts){0};
	if (!s.topic.p)
		s.topic = str_c(set->job_topic[0]);
	if (!submit_database(&s, err)) {
		if (config->wait)
			return ST_DOWN;
		submit_say(&s, NULL, NOT_LOOKED_UP, err->text);
	}
	struct reactor *reactor = reactor_new();
	enum status status = producer_open(reactor, set->kafka_brokers, set->kafka_option,
					   set->n_kafka_option, on_delivery, &s, &s.producer, err);
	if (status == ST_OK) {
		read_files(&s);
		await_reports(&s);
	}
	producer_free(s.producer);
	reactor_free(reactor);
	if (status == ST_OK && config->wait)
		submit_wait(&s);
	clear_line(&s);
	pg_free(s.pg);
	items_release(&s.items);
	return status;
}
