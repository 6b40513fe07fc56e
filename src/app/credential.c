#include "app/credential.h"

#include "app/file.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "io/child.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	COMMAND_MS = 30000,
	LOOK_MS = 1000,	    /* a file is looked at this often at most */
	AGAIN_MS = 10000,   /* after a command that failed */
	REFUSED_MS = 60000, /* from one run for a refused key to the next */
	VALUE_BYTES_MAX = 16 << 10,
	SECRET_BYTES_MIN = 8,
};

struct secret {
	const char *env, *file; /* where it comes from; NULL: not from there */
	bool is_login;		/* USER:PASSWORD, with blanks in it if they want */
	struct buf value;	/* empty: none is wanted */
	struct buf before;	/* the value that it took the place of */
	int no;			/* counts the values */
	struct stat seen;	/* of the file, when it was read */
	int64_t looked_mono_ms;
	bool told; /* that the file cannot be read any more */
};

struct credential {
	int n_holder;
	struct arena *arena; /* behind the provider */
	struct provider provider;
	struct reactor *reactor;
	struct secret key, proxy;
	struct child *child; /* the command, running */
	struct timer *timer; /* for its next run */
	bool awaited;	     /* calls wait for what it prints: the key before was refused */
	int64_t refused_mono_ms;
};

/* ---- a value ---- */

static void wipe(struct buf *b)
{
	if (b->p)
		explicit_bzero(b->p, b->n);
	buf_clear(b);
}

static void forget(struct secret *s)
{
	wipe(&s->value);
	wipe(&s->before);
	buf_release(&s->value);
	buf_release(&s->before);
}

/* @from: a variable, a file or a command, for the message. */
static enum status take(struct secret *s, struct str text, const char *from, struct err *err)
{
	const char *colon = memchr(text.p, ':', text.n);

	if (text.n > 0 && text.p[text.n - 1] == '\n')
		text.n--;
	if (text.n > 0 && text.p[text.n - 1] == '\r')
		text.n--;
	for (size_t i = 0; i < text.n; i++) {
		const unsigned char c = (unsigned char)text.p[i];
		if (c < 0x20 || c == 0x7F || (c == ' ' && !s->is_login))
			return err_set(err, ST_INVALID,
				       "the credential holds white space or a control character; "
				       "mend %s",
				       from);
	}
	if (text.n == 0)
		return err_set(err, ST_INVALID, "%s is empty; put the credential there", from);
	if (text.n > VALUE_BYTES_MAX)
		return err_set(err, ST_INVALID, "%s holds more than %d bytes; mend it", from,
			       VALUE_BYTES_MAX);
	if (s->is_login && (!colon || colon == text.p))
		return err_set(err, ST_INVALID, "%s holds no USER:PASSWORD; put the proxy's there",
			       from);
	if (s->value.n && str_eq(buf_view(&s->value), text))
		return ST_OK;
	wipe(&s->before);
	buf_str(&s->before, buf_view(&s->value));
	wipe(&s->value);
	buf_str(&s->value, text);
	s->no++;
	return ST_OK;
}

static enum status take_file(struct secret *s, struct err *err)
{
	struct arena *a = arena_new();
	struct str text;
	enum status status = ST_INVALID;

	if (stat(s->file, &s->seen) != 0)
		memset(&s->seen, 0, sizeof(s->seen));
	if (file_read(a, s->file, &text, err) == ST_OK) {
		status = take(s, text, s->file, err);
		explicit_bzero((char *)text.p, text.n);
	}
	arena_free(a);
	s->looked_mono_ms = clock_mono_ms();
	return status;
}

/* The variable counts if it is set, else the file. */
static enum status take_first(struct secret *s, bool may_lack, struct err *err)
{
	const char *value = s->env ? getenv(s->env) : NULL;

	buf_init(&s->value, VALUE_BYTES_MAX);
	buf_init(&s->before, VALUE_BYTES_MAX);
	if (value && *value) {
		s->file = NULL;
		return take(s, str_c(value), s->env, err);
	}
	if (s->file)
		return take_file(s, err);
	if (s->env && !may_lack)
		return err_set(err, ST_INVALID,
			       "the environment variable %s is not set; put the credential there",
			       s->env);
	return ST_OK;
}

/* A change is taken over; what cannot be read changes nothing, it may be half written. */
static void look(struct credential *c, struct secret *s)
{
	struct stat now;
	struct err err;

	s->looked_mono_ms = clock_mono_ms();
	if (stat(s->file, &now) == 0 && now.st_ino == s->seen.st_ino &&
	    now.st_size == s->seen.st_size && now.st_mtim.tv_sec == s->seen.st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == s->seen.st_mtim.tv_nsec)
		return;
	const int no = s->no;
	const bool failed = take_file(s, &err) != ST_OK;
	if (failed)
		memset(&s->seen, 0, sizeof(s->seen)); /* look again, whatever it shows */
	if (failed && !s->told)
		log_error("credential_failed", L_STRN("provider", c->provider.name),
			  L_STR("why", err.text));
	if (s->no != no)
		log_info("credential_renewed", L_STRN("provider", c->provider.name));
	s->told = failed;
}

/* ---- the command ---- */

/* Unix ms in *end; 0: none is told. False: what tells it makes no sense. */
static bool read_end(const struct json *doc, int64_t *end)
{
	struct str text;
	int64_t s;

	*end = 0;
	if (json_get_str(doc, "expires_at", &text))
		return time_read(text, end);
	if (json_get_int(doc, "expires_at", 0, INT64_MAX / 1000, &s))
		*end = s * 1000;
	else if (json_get_int(doc, "expires_in", 0, INT32_MAX, &s))
		*end = clock_unix_ms() + s * 1000;
	else
		return !json_get(doc, "expires_at") && !json_get(doc, "expires_in");
	return true;
}

static enum status read_token(struct credential *c, struct str output, int64_t *end,
			      struct err *err)
{
	const char *command = c->provider.key_command[0];
	struct json *doc = NULL;
	struct str token = str_trim(output);
	enum status status = ST_OK;

	*end = 0;
	if (str_starts(token, "{")) {
		if (json_read(token, &doc, NULL) != JSON_FINE ||
		    !json_get_str(doc, "token", &token) || !read_end(doc, end))
			status = err_set(err, ST_INVALID,
					 "the command %s printed no {\"token\": TEXT} with a good "
					 "expires_at or expires_in; mend it",
					 command);
		else if (*end && *end <= clock_unix_ms())
			status =
				err_set(err, ST_INVALID,
					"the command %s printed a token that has expired; mend it, "
					"or the clock",
					command);
	}
	if (status == ST_OK)
		status = take(&c->key, token, command, err);
	json_free(doc);
	return status;
}

/* Four fifths of what is left of a token's life. */
static void plan(struct credential *c, int64_t end)
{
	if (end && c->timer)
		timer_start(c->timer, (end - clock_unix_ms()) / 5 * 4, 0);
}

static void on_output(void *owner, enum status status, struct str output, const struct err *why)
{
	struct credential *c = owner;
	struct err err;
	int64_t end;

	c->child = NULL;
	if (status == ST_OK && read_token(c, output, &end, &err) == ST_OK) {
		log_info("credential_renewed", L_STRN("provider", c->provider.name));
		c->awaited = false;
		plan(c, end);
		return;
	}
	log_error("credential_failed", L_STRN("provider", c->provider.name),
		  L_STR("why", status == ST_OK ? err.text : why->text));
	c->awaited = !c->key.value.n; /* the old one goes on, if there is one */
	timer_start(c->timer, AGAIN_MS, 0);
}

static struct child_how command_of(const struct credential *c)
{
	return (struct child_how){.argv = c->provider.key_command, .limit_ms = COMMAND_MS};
}

static void run(void *owner)
{
	struct credential *c = owner;
	const struct child_how how = command_of(c);

	if (!c->child)
		c->child = child_start(c->reactor, &how, on_output, c);
}

static enum status run_first(struct credential *c, struct err *err)
{
	const struct child_how how = command_of(c);
	struct buf output = BUF(CHILD_OUTPUT_MAX);
	int64_t end;
	enum status status = child_run(&how, &output, err);

	if (status == ST_OK)
		status = read_token(c, buf_view(&output), &end, err);
	wipe(&output);
	buf_release(&output);
	if (status != ST_OK) {
		err_at(err, "key_command: ");
		return ST_INVALID;
	}
	plan(c, end);
	return ST_OK;
}

/* ---- both ---- */

static const char *copy(struct arena *a, const char *text)
{
	return arena_str(a, str_c(text)).p;
}

/* Of what says where it comes from: the settings may be read again. */
static struct provider copy_sources(struct arena *a, const struct provider *p)
{
	const char **argv = arena_array(a, const char *, p->n_key_command + 1);

	for (int i = 0; i < p->n_key_command; i++)
		argv[i] = copy(a, p->key_command[i]);
	return (struct provider){
		.name = arena_str(a, p->name),
		.key_env = copy(a, p->key_env),
		.key_file = copy(a, p->key_file),
		.key_command = argv,
		.n_key_command = p->n_key_command,
		.proxy_key_env = copy(a, p->proxy_key_env),
		.proxy_key_file = copy(a, p->proxy_key_file),
	};
}

static bool is_same(const char *a, const char *b)
{
	return str_eq(str_c(a), str_c(b));
}

bool credential_is_of(const struct credential *c, const struct provider *p)
{
	const struct provider *own = &c->provider;
	bool same = str_eq(own->name, p->name) && is_same(own->key_env, p->key_env) &&
		    is_same(own->key_file, p->key_file) &&
		    is_same(own->proxy_key_env, p->proxy_key_env) &&
		    is_same(own->proxy_key_file, p->proxy_key_file) &&
		    own->n_key_command == p->n_key_command;

	for (int i = 0; same && i < p->n_key_command; i++)
		same = is_same(own->key_command[i], p->key_command[i]);
	return same;
}

static enum status start_command(struct credential *c, bool waits, struct err *err)
{
	if (c->reactor)
		c->timer = timer_new(c->reactor, run, c);
	if (waits)
		return run_first(c, err);
	c->awaited = true;
	run(c);
	return ST_OK;
}

/* Of variables and files. */
static enum status take_all(struct credential *c, const struct provider *p, struct err *err)
{
	enum status status;

	c->key = (struct secret){.env = p->key_env, .file = p->key_file};
	c->proxy = (struct secret){
		.env = p->proxy_key_env, .file = p->proxy_key_file, .is_login = true};
	status = take_first(&c->proxy, false, err);
	return status == ST_OK ? take_first(&c->key, p->n_key_command > 0, err) : status;
}

enum status credential_look(const struct provider *p, struct err *err)
{
	struct credential c = {0};
	enum status status = take_all(&c, p, err);

	forget(&c.key);
	forget(&c.proxy);
	return status;
}

enum status credential_open(struct reactor *reactor, const struct provider *p, bool waits,
			    struct credential **out, struct err *err)
{
	struct credential *c = mem_new(struct credential);
	enum status status;

	c->n_holder = 1;
	c->reactor = reactor;
	c->arena = arena_new();
	c->provider = copy_sources(c->arena, p);
	p = &c->provider;
	status = take_all(c, p, err);
	if (status == ST_OK && !c->key.value.n && p->n_key_command)
		status = start_command(c, waits, err);
	*out = c;
	if (status == ST_OK)
		return ST_OK;
	credential_close(c);
	*out = NULL;
	return ST_INVALID;
}

struct credential *credential_hold(struct credential *c)
{
	c->n_holder++;
	return c;
}

void credential_close(struct credential *c)
{
	if (!c || --c->n_holder > 0)
		return;
	child_cancel(c->child);
	timer_close(c->timer);
	forget(&c->key);
	forget(&c->proxy);
	arena_free(c->arena);
	free(c);
}

bool credential_ready(const struct credential *c)
{
	return !c->awaited;
}

static struct str value_of(struct credential *c, struct secret *s)
{
	if (s->file && clock_mono_ms() - s->looked_mono_ms >= LOOK_MS)
		look(c, s);
	return s->value.n ? buf_view(&s->value) : str_c(NULL);
}

int credential_put(struct credential *c, struct endpoint *e)
{
	e->key = value_of(c, &c->key);
	e->proxy_login = value_of(c, &c->proxy);
	return c->key.no;
}

bool credential_refused(struct credential *c, int key_no)
{
	const int64_t now = clock_mono_ms();

	if (c->key.file)
		look(c, &c->key);
	if (c->key.no != key_no || c->awaited)
		return true;
	if (!c->timer || (c->refused_mono_ms && now - c->refused_mono_ms < REFUSED_MS))
		return false;
	c->refused_mono_ms = now;
	c->awaited = true;
	run(c);
	return true;
}

static bool quotes(struct str text, const struct buf *key)
{
	return key->n >= SECRET_BYTES_MIN && str_find(text, buf_view(key), 0) >= 0;
}

bool credential_is_quoted(const struct credential *c, struct str text)
{
	return quotes(text, &c->key.value) || quotes(text, &c->key.before);
}
