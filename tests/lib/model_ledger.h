/*
 * model_ledger.h - what model_sim knows of the answers it gave: the ledger, in memory and as a file of JSON lines, and how
 * often each request body came. Included by model_sim.c only.
 */
#ifndef MODEL_LEDGER_H
#define MODEL_LEDGER_H

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "model_http.h"
#include "model_script.h"

static struct {
	char *lines; /* JSON objects with commas between them */
	size_t n_bytes, room;
	long n_answers, n_again; /* n_again: a body that was answered whole before */
	int fd;
} ledger = {.fd = -1};

struct seen {
	uint64_t request; /* hash of a request body */
	bool used;
	unsigned n_tries, n_answers;
};

/* How often each request came: an open hash table, its room a power of two, at most half full. */
static struct {
	struct seen *rows;
	size_t n, room;
} seen;

/* What the ledger will say of an answer. */
struct note {
	uint64_t request;
	json_object *line;
};

static const char *json_text(json_object *o)
{
	return json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
							 JSON_C_TO_STRING_NOSLASHESCAPE);
}

static void add_text(json_object *o, const char *name, const char *text)
{
	json_object_object_add(o, name, text ? json_object_new_string(text) : NULL);
}

static void add_int(json_object *o, const char *name, int64_t n)
{
	json_object_object_add(o, name, json_object_new_int64(n));
}

static json_object *add_object(json_object *o, const char *name)
{
	json_object *child = json_object_new_object();

	json_object_object_add(o, name, child);
	return child;
}

static struct seen *seen_row(uint64_t request)
{
	if (seen.n * 2 >= seen.room) {
		struct seen *old = seen.rows;
		size_t n_old = seen.room;

		seen.room = n_old ? n_old * 2 : 4096;
		seen.rows = calloc(seen.room, sizeof *seen.rows);
		seen.n = 0;
		for (size_t i = 0; i < n_old; i++)
			if (old[i].used)
				*seen_row(old[i].request) = old[i];
		free(old);
	}
	size_t at = request & (seen.room - 1);
	while (seen.rows[at].used && seen.rows[at].request != request)
		at = (at + 1) & (seen.room - 1);
	if (!seen.rows[at].used) {
		seen.rows[at] = (struct seen){.request = request, .used = true};
		seen.n++;
	}
	return &seen.rows[at];
}

/* The answer of @c goes out: the ledger knows it first. */
static void on_whole(struct client *c)
{
	struct note *note = c->note;
	struct timespec now;

	if (!note)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	add_int(note->line, "at_ms", (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);
	add_int(note->line, "seq", ++ledger.n_answers);
	char *text = format("%s\n", json_text(note->line));
	size_t n = strlen(text);
	if (ledger.fd >= 0 && write(ledger.fd, text, n) != (ssize_t)n) {
		perror("model_sim: ledger");
		exit(1); /* an answer nobody can account for must not go out */
	}
	if (ledger.n_bytes + n > ledger.room) {
		ledger.room = (ledger.room + n) * 2;
		ledger.lines = realloc(ledger.lines, ledger.room);
	}
	memcpy(ledger.lines + ledger.n_bytes, text, n);
	ledger.n_bytes += n;
	ledger.lines[ledger.n_bytes - 1] = ',';
	free(text);
	ledger.n_again += seen_row(note->request)->n_answers++ > 0;
	free_note(note);
	c->note = NULL;
}

static void free_note(void *data)
{
	struct note *note = data;

	if (note)
		json_object_put(note->line);
	free(note);
}

/* The @schema that came with the request is kept, but not the critic's, which is long and always the same. */
static struct note *note_for(uint64_t request, json_object *reply, const struct answer *a,
			     json_object *schema)
{
	struct note *note = malloc(sizeof *note);
	json_object *line = json_object_new_object(),
		    *usage = json_object_object_get(reply, "usage");
	char hex[17];

	json_object_object_add(line, "id", json_object_get(json_object_object_get(reply, "id")));
	snprintf(hex, sizeof hex, "%016llx", (unsigned long long)request);
	add_text(line, "request", hex);
	add_text(line, "reference", a->reference);
	add_text(line, "role", role_names[a->role]);
	add_text(line, "case", scene_names[a->scene]);
	json_object_object_add(line, "model",
			       json_object_get(json_object_object_get(reply, "model")));
	add_text(line, "finish_reason", a->finish_reason);
	if (a->role != CRITIC)
		json_object_object_add(line, "schema", json_object_get(schema));
	snprintf(hex, sizeof hex, "%016llx",
		 (unsigned long long)fnv1a(a->text, strlen(a->text), 0));
	add_text(line, "reply", hex);
	add_int(line, "prompt_tokens",
		json_object_get_int64(json_object_object_get(usage, "prompt_tokens")));
	add_int(line, "completion_tokens",
		json_object_get_int64(json_object_object_get(usage, "completion_tokens")));
	add_int(line, "body_bytes", (int64_t)strlen(json_text(reply)));
	*note = (struct note){.request = request, .line = line};
	return note;
}

static void ledger_tell(struct client *c)
{
	size_t n = ledger.n_bytes ? ledger.n_bytes - 1 : 0; /* without the last comma */
	char *text = format("[%.*s]", (int)n, n ? ledger.lines : "");

	client_answer(c, 200, text);
	free(text);
}

static FILE *prompts;

/* NULL: no such file is wanted. */
static void ledger_open(const char *path, const char *prompts_path)
{
	if (path && (ledger.fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) < 0) {
		perror(path);
		exit(1);
	}
	if (prompts_path && !(prompts = fopen(prompts_path, "a"))) {
		perror(prompts_path);
		exit(1);
	}
}

/* What was asked, before it is answered in whatever way. */
static void prompts_note(const struct question *q, const struct answer *a)
{
	json_object *line;

	if (!prompts)
		return;
	line = json_object_new_object();
	add_text(line, "role", role_names[a->role]);
	add_text(line, "system", q->system);
	add_text(line, "user", q->user);
	fprintf(prompts, "%s\n", json_text(line));
	fflush(prompts);
	json_object_put(line);
}

static void ledger_reset(void)
{
	free(seen.rows);
	memset(&seen, 0, sizeof seen);
	ledger.n_bytes = 0;
	ledger.n_answers = ledger.n_again = 0;
}

#endif
