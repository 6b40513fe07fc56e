#include "base/log.h"
#include "base/clock.h"
#include "base/json.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

/* One write of up to PIPE_BUF bytes is never mixed with another's. */
enum { LINE_BYTES = 4096, VALUE_BYTES = 512 };

static const char *const level_names[] = {"debug", "info", "warn", "error", NULL};

static atomic_int lowest = LOG_INFO;

void log_set_level(enum log_level level)
{
	atomic_store(&lowest, (int)level);
}

bool log_level_read(struct str name, enum log_level *out)
{
	int level = str_among(name, level_names);

	if (level >= 0)
		*out = (enum log_level)level;
	return level >= 0;
}

/* A field that the line has no room for is left out whole. */
static bool put_field(struct json_out *o, const struct log_field *field)
{
	size_t before = o->buf->n;

	if (field->is_int)
		json_put_int(o, field->key, field->number);
	else
		json_put_str(o, field->key, str_cut(field->text, VALUE_BYTES));
	if (!o->buf->full)
		return true;
	o->buf->n = before;
	o->buf->full = false;
	return false;
}

/* Only if it can be done at once: no waiting for a full pipe, no SIGPIPE from one that nobody reads. */
static void write_now(struct str line)
{
	struct pollfd err = {.fd = STDERR_FILENO, .events = POLLOUT};

	if (poll(&err, 1, 0) == 1 && err.revents == POLLOUT) {
		ssize_t ignored = write(STDERR_FILENO, line.p, line.n);
		(void)ignored;
	}
}

void log_write(enum log_level level, const char *event, const struct log_field *field,
	       size_t n_field)
{
	static const struct str tail = STR(",\"cut\":true}\n");
	char line[LINE_BYTES];
	/* Memory up to the ceiling is there from the start, so nothing is allocated. */
	struct buf b = {.p = line, .cap = sizeof(line), .max = sizeof(line) - 1 - tail.n};
	struct json_out o = {.buf = &b};
	bool whole = true;
	int saved_errno = errno;

	if ((int)level < atomic_load(&lowest))
		return;
	json_open(&o, NULL, '{');
	buf_puts(&b, "\"at\":\"");
	time_write(&b, clock_unix_ms());
	buf_putc(&b, '"');
	o.comma = true;
	json_put_str(&o, "level", str_c(level_names[level]));
	json_put_str(&o, "event", str_cut(str_c(event), VALUE_BYTES));
	for (size_t i = 0; i < n_field; i++)
		whole &= put_field(&o, &field[i]);
	b.max += tail.n;
	buf_str(&b, whole ? STR_OF("}\n") : tail);
	write_now(buf_view(&b));
	errno = saved_errno;
}
