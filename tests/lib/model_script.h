/*
 * model_script.h - what the scripted people of model_sim say: a pure function from the two prompts of a request to the
 * text of its reply. Included by model_sim.c only.
 *
 * The first line of the system prompt names the role and, by its language, the language of the letter. The user prompt
 * carries the job's variables as lines "name: value". The variable "case" chooses the scene below; without it the scene
 * follows from a hash of the reference. The critic judges the letter that really stands in its prompt, and the refiner
 * mends that letter, so that a loop converges (or does not) by its texts alone and an equal request has an equal reply.
 */
#ifndef MODEL_SCRIPT_H
#define MODEL_SCRIPT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_compare.h"
#include "model_letters.h"
#include "model_parts.h"

struct question {
	const char *system, *user;
	uint64_t seed;
	long max_tokens;     /* 0 = none asked for */
	bool wants_json;     /* it came with a response_format */
	json_object *schema; /* of the reply that it asks for, or NULL */
};

struct answer {
	enum role role;
	enum scene scene;
	char *reference; /* as the prompt has it, or "" */
	char *text;	 /* NULL: the request is to be refused, see @refusal */
	const char *refusal;
	const char *finish_reason;
	int delay_ms; /* on top of the role's latency */
};

/* The job as one prompt shows it. */
struct cast {
	enum role role;
	enum language language;
	enum scene scene;
	char *customer, *plan, *reference, *segment, *trap, *confidence;
	const struct letter *letter;
};

static uint64_t fnv1a(const void *bytes, size_t n, uint64_t hash)
{
	const unsigned char *p = bytes;

	for (hash ^= 0xcbf29ce484222325u; n; n--)
		hash = (hash ^ *p++) * 0x100000001b3u;
	return hash;
}

/* The last step of splitmix64: spreads what fnv1a leaves in the low bits. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* The value of the first line "name: value" (or "- name: value"), or NULL. The caller frees it. */
static char *line_value(const char *text, const char *name)
{
	size_t n_name = strlen(name);

	for (const char *line = text; *line; line += *line == '\n') {
		size_t n = strcspn(line, "\r\n"), skip = strspn(line, " \t-*");

		if (n > skip + n_name && !strncmp(line + skip, name, n_name) &&
		    line[skip + n_name] == ':') {
			const char *value = line + skip + n_name + 1;

			value += *value == ' ';
			return strndup(value, (size_t)(line + n - value));
		}
		line += n + (line[n] == '\r');
	}
	return NULL;
}

static char *line_value_or(const char *text, const char *name, const char *otherwise)
{
	char *value = line_value(text, name);

	if (value && *value)
		return value;
	free(value);
	return strdup(otherwise);
}

/* The pattern with {customer} {plan} {reference} {trap} filled in. The caller frees it. */
static char *fill(const struct cast *c, const char *pattern)
{
	const struct {
		const char *name, *value;
	} holes[] = {{"{customer}", c->customer},
		     {"{plan}", c->plan},
		     {"{reference}", c->reference},
		     {"{trap}", c->trap}};
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	while (*pattern) {
		size_t i = 0, n_holes = sizeof holes / sizeof *holes;

		while (i < n_holes && strncmp(pattern, holes[i].name, strlen(holes[i].name)))
			i++;
		if (i < n_holes) {
			fputs(holes[i].value, out);
			pattern += strlen(holes[i].name);
		} else {
			fputc(*pattern++, out);
		}
	}
	fclose(out);
	return text;
}

static void put(const struct cast *c, FILE *out, const char *pattern, const char *then)
{
	char *text = fill(c, pattern);

	fprintf(out, "%s%s", text, then);
	free(text);
}

static const struct flaw_text *flaw_text(const struct cast *c, enum flaw flaw)
{
	return &flaw_texts[c->language][flaw];
}

static char *flaw_bad(const struct cast *c, enum flaw flaw)
{
	return fill(c, flaw_text(c, flaw)->bad);
}

/* --- the generator --- */

/* The fault that a scene's first letter has; N_FLAWS = none. */
static enum flaw scene_flaw(enum scene scene)
{
	switch (scene) {
	case FORBIDDEN:
		return F_FORBIDDEN;
	case MISSING:
		return F_MISSING;
	case TONE:
	case ECHOING:
	case FRAGMENT:
	case WRAPPED:
	case MEDDLING:
		return F_TONE;
	default:
		return N_FLAWS;
	}
}

static void put_sentence(const struct cast *c, FILE *out, enum flaw flaw, enum flaw in_bad_form,
			 const char *then)
{
	const struct flaw_text *t = flaw_text(c, flaw);

	put(c, out, flaw == in_bad_form || flaw >= F_PEDANTIC ? t->bad : t->good, then);
}

static char *write_letter(const struct cast *c, enum flaw flaw, uint64_t seed)
{
	const char *gap = c->language == ENGLISH ? " " : "", *key = c->reference;
	uint64_t variant = mix(fnv1a(key, strlen(key), seed));
	int opening = !strcmp(c->segment, "new") ? 0 : !strcmp(c->segment, "churn-risk") ? 2 : 1;
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	put(c, out, c->letter->greeting, "");
	put(c, out, c->letter->opening[opening], gap);
	put_sentence(c, out, F_MISSING, flaw, "\n\n");
	for (int i = 0; i < N_FLAWS - F_PEDANTIC; i++) /* all of them, beginning anywhere */
		put_sentence(c, out,
			     F_PEDANTIC +
				     (enum flaw)((variant + (unsigned)i) % (N_FLAWS - F_PEDANTIC)),
			     flaw, gap);
	put_sentence(c, out, F_FORBIDDEN, flaw, "\n\n");
	put_sentence(c, out, F_TONE, flaw, gap);
	put(c, out, c->letter->closing[variant / 8 % 3], "\n\n");
	put(c, out, c->letter->signature, "");
	fclose(out);
	return text;
}

/* --- the critic --- */

/* The last letter to this customer in the prompt, from greeting to signature, or NULL. The caller frees it. */
static char *find_letter(const struct cast *c, const char *prompt)
{
	char *greeting = fill(c, c->letter->greeting), *letter = NULL;
	const char *signature = c->letter->signature, *start = NULL, *end;

	greeting[strcspn(greeting, "\n")] = '\0';
	for (const char *p = prompt; (p = strstr(p, greeting)); p++)
		if ((p == prompt || p[-1] == '\n') && strstr(p, signature))
			start = p;
	if (start && (end = strstr(start, signature)))
		letter = strndup(start, (size_t)(end - start) + strlen(signature));
	free(greeting);
	return letter;
}

static void add_issue(json_object *issues, const char *category, const char *snippet,
		      const char *suggestion, int severity)
{
	json_object *issue = json_object_new_object();

	json_object_object_add(issue, "category", json_object_new_string(category));
	json_object_object_add(issue, "snippet", json_object_new_string(snippet));
	json_object_object_add(issue, "suggestion", json_object_new_string(suggestion));
	json_object_object_add(issue, "severity", json_object_new_int(severity));
	json_object_array_add(issues, issue);
}

static void add_flaw(const struct cast *c, json_object *issues, enum flaw flaw, const char *snippet)
{
	const struct flaw_text *t = flaw_text(c, flaw);
	char *suggestion = fill(c, t->suggestion);

	add_issue(issues, t->category, snippet, suggestion, t->severity);
	free(suggestion);
}

/* The faults that are really there. What only a bad sentence shows quotes it; else the term itself, or nothing. */
static void find_flaws(const struct cast *c, const char *letter, json_object *issues)
{
	const bool found[] = {
		[F_FORBIDDEN] = strstr(letter, c->trap) != NULL,
		[F_MISSING] = strstr(letter, c->reference) == NULL,
		[F_TONE] = strstr(letter, flaw_text(c, F_TONE)->bad) != NULL,
	};

	for (enum flaw flaw = F_FORBIDDEN; flaw < F_PEDANTIC; flaw++) {
		char *bad = flaw_bad(c, flaw);

		if (found[flaw])
			add_flaw(c, issues, flaw,
				 strstr(letter, bad)   ? bad
				 : flaw == F_FORBIDDEN ? c->trap
						       : "");
		free(bad);
	}
}

/* What critics say who are never content. */
static void find_fault_anyway(const struct cast *c, const char *letter, json_object *issues)
{
	const struct flaw_text *first = flaw_text(c, F_PEDANTIC);

	if (c->scene == NAGGING) {
		add_issue(issues, first->category, "", c->letter->nag_suggestion, 4);
	} else if (c->scene == LOOPING) {
		if (strstr(letter, first->good))
			add_issue(issues, "style", first->good, c->letter->undo_suggestion, 4);
		else
			add_flaw(c, issues, F_PEDANTIC, first->bad);
	} else if (c->scene == STUBBORN) {
		enum flaw flaw = F_PEDANTIC;

		while (flaw < N_FLAWS - 1 && !strstr(letter, flaw_text(c, flaw)->bad))
			flaw++;
		add_flaw(c, issues, flaw, flaw_text(c, flaw)->bad);
	} else if (c->scene == MINOR) {
		const struct flaw_text *t = flaw_text(c, F_PEDANTIC + 1);

		if (strstr(letter, t->bad))
			add_issue(issues, "wording", t->bad, c->letter->minor_suggestion, 2);
	}
}

/* The top of the scale that the schema states, else 100. */
static int score_max(json_object *schema)
{
	json_object *score = property(schema, "score");
	const char *words = json_object_get_string(json_object_object_get(score, "description"));
	int max = json_object_get_int(json_object_object_get(score, "maximum"));

	if (max == 0 && words)
		sscanf(words, "0 to %d", &max);
	return max > 0 ? max : 100;
}

/* A line for each category that the schema names. */
static json_object *considered(json_object *schema)
{
	json_object *lines = json_object_new_object();
	json_object *names = json_object_object_get(property(schema, "considered"), "properties");

	if (!names)
		return lines;
	json_object_object_foreach(names, name, type)
	{
		(void)type;
		json_object_object_add(lines, name, json_object_new_string("Looked at."));
	}
	return lines;
}

/* Where the schema, or a prompt without one, wants texts, an issue is its suggestion. */
static json_object *as_texts(json_object *issues)
{
	json_object *texts = json_object_new_array();

	for (size_t i = 0; i < json_object_array_length(issues); i++)
		json_object_array_add(texts,
				      json_object_get(json_object_object_get(
					      json_object_array_get_idx(issues, i), "suggestion")));
	return texts;
}

/* A critic who answers in text. Takes @issues. */
static char *told(json_object *issues)
{
	json_object *texts = as_texts(issues);
	size_t n_text = json_object_array_length(texts), n;
	char *text;
	FILE *out = open_memstream(&text, &n);

	for (size_t i = 0; i < n_text; i++)
		fprintf(out, "%s%s", i ? "\n" : "",
			json_object_get_string(json_object_array_get_idx(texts, i)));
	fputs(n_text ? "" : "NO_DEFECTS", out);
	fclose(out);
	json_object_put(texts);
	json_object_put(issues);
	return text;
}

/* Where the schema asks for sources, each issue cites what the variable "cites" says. */
static void cite(json_object *issues, json_object *items, const char *prompt)
{
	char *id = property(items, "source") ? line_value(prompt, "cites") : NULL;

	for (size_t i = 0; id && i < json_object_array_length(issues); i++)
		json_object_object_add(json_object_array_get_idx(issues, i), "source",
				       json_object_new_string(id));
	free(id);
}

static char *critique(const struct cast *c, const struct question *q)
{
	const char *prompt = q->user;
	char *letter = find_letter(c, prompt), *text;
	json_object *reply, *issues = json_object_new_array();
	json_object *items = json_object_object_get(property(q->schema, "issues"), "items");
	const char *type = json_object_get_string(json_object_object_get(items, "type"));
	bool pass;

	if (!letter) {
		text = fill(c, c->letter->no_letter);
		add_issue(issues, "format", "", text, 5);
		free(text);
	} else if (c->scene != CONTRADICTION) {
		find_flaws(c, letter, issues);
		find_fault_anyway(c, letter, issues);
	}
	cite(issues, items, prompt);
	if (strstr(q->system, "NO_DEFECTS")) {
		free(letter);
		return told(issues);
	}
	size_t n = json_object_array_length(issues);
	pass = n == 0 || c->scene == MINOR;
	int score = c->scene == CONTRADICTION ? 40 : !pass ? 65 - 5 * (int)n : n ? 86 : 92;
	reply = json_object_new_object();
	if (q->schema)
		json_object_object_add(reply, "considered", considered(q->schema));
	if (type && !strcmp(type, "string")) {
		json_object *texts = as_texts(issues);
		json_object_put(issues);
		issues = texts;
	}
	json_object_object_add(reply, "issues", issues);
	json_object_object_add(reply, "reasons",
			       json_object_new_string(pass ? c->letter->praise : c->letter->blame));
	if (!q->schema || property(q->schema, "score")) {
		json_object_object_add(reply, "score",
				       json_object_new_int(score * score_max(q->schema) / 100));
		json_object_object_add(reply, "verdict",
				       json_object_new_string(pass ? "pass" : "fail"));
	}
	text = strdup(json_object_to_json_string_ext(
		reply, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(reply);
	free(letter);
	return text;
}

/* --- the refiner --- */

/* @text with the first @from in it made @to; takes and returns what the caller frees. */
static char *replace(char *text, const char *from, const char *to)
{
	char *at = strstr(text, from), *whole;

	if (!at)
		return text;
	if (asprintf(&whole, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) < 0)
		abort();
	free(text);
	return whole;
}

static char *mend(const struct cast *c, enum flaw flaw, char *letter)
{
	char *bad = flaw_bad(c, flaw), *good = fill(c, flaw_text(c, flaw)->good);

	letter = replace(letter, bad, good);
	free(bad);
	free(good);
	return letter;
}

/* What refiners do who do not keep to the form: the mended sentence alone, unless asked once more; a fence and a preamble; more mended. */
static char *misbehave(const struct cast *c, char *letter, bool again)
{
	char *reply = NULL;

	if (c->scene == MEDDLING)
		return mend(c, F_PEDANTIC, letter);
	if (c->scene == FRAGMENT && !again)
		reply = strdup(flaw_text(c, F_TONE)->good);
	if (c->scene == WRAPPED &&
	    asprintf(&reply, "%s\n\n```text\n%s\n```", c->letter->preamble, letter) < 0)
		abort();
	if (reply)
		free(letter);
	return reply ? reply : letter;
}

static char *refine(const struct cast *c, const char *prompt, uint64_t seed, bool again)
{
	char *letter = find_letter(c, prompt);
	const struct flaw_text *first = flaw_text(c, F_PEDANTIC);

	if (!letter)
		return write_letter(c, N_FLAWS, seed);
	if (c->scene == ECHOING)
		return letter;
	for (enum flaw flaw = F_FORBIDDEN; flaw < F_PEDANTIC; flaw++)
		letter = mend(c, flaw, letter);
	if (c->scene == NAGGING)
		return mend(c, F_PEDANTIC, letter);
	if (c->scene == LOOPING) {
		if (strstr(letter, first->good))
			return replace(letter, first->good, first->bad);
		return mend(c, F_PEDANTIC, letter);
	}
	if (c->scene == STUBBORN) {
		enum flaw flaw = F_PEDANTIC;

		while (flaw < N_FLAWS - 1 && !strstr(letter, flaw_text(c, flaw)->bad))
			flaw++;
		letter = mend(c, flaw, letter);
	}
	return misbehave(c, letter, again);
}

/* --- who is asked what --- */

static enum scene scene_by_share(const char *key, uint64_t seed)
{
	unsigned total = 0, at;
	int scene = 0;

	for (int i = 0; i < N_SCENES; i++)
		total += scene_shares[i];
	at = total ? (unsigned)(mix(fnv1a(key, strlen(key), seed + 1)) % total) : 0;
	while (scene < N_SCENES - 1 && at >= scene_shares[scene])
		at -= scene_shares[scene++];
	return total ? (enum scene)scene : CLEAN;
}

/* Reads role, language and variables; NULL, or what is wrong with the request. */
static const char *read_cast(const struct question *q, struct cast *c)
{
	char *name = line_value(q->user, "case");
	int scene = 0;

	c->role = OTHER;
	c->language = ENGLISH;
	for (size_t i = 0; i < sizeof first_lines / sizeof *first_lines; i++)
		if (!strncmp(q->system, first_lines[i].line, strlen(first_lines[i].line))) {
			c->role = first_lines[i].role;
			c->language = first_lines[i].language;
		}
	c->letter = &letters[c->language];
	c->customer = line_value_or(q->user, "customer", c->letter->customer);
	c->plan = line_value_or(q->user, "plan", c->letter->plan);
	c->reference = line_value_or(q->user, "reference", c->letter->reference);
	c->segment = line_value_or(q->user, "segment", "continuing");
	c->trap = line_value_or(q->user, "trap", c->letter->trap);
	c->confidence = line_value(q->user, "confidence");
	if (!name) {
		const char *key =
			strcmp(c->reference, c->letter->reference) ? c->reference : c->customer;

		c->scene = scene_by_share(key, q->seed);
		return NULL;
	}
	while (scene < N_SCENES && strcmp(name, scene_names[scene]))
		scene++;
	free(name);
	c->scene = scene < N_SCENES ? (enum scene)scene : CLEAN;
	return scene < N_SCENES ? NULL : "the script has no such case";
}

/* A generator or refiner that is asked for JSON gives its text with its confidence in it, or in parts. */
static char *as_json(const struct cast *c, json_object *schema, char *text)
{
	json_object *o = json_object_new_object();
	double confidence = c->confidence ? atof(c->confidence) : c->scene == CLEAN ? 0.95 : 0.55;

	if (!add_parts(o, schema, text)) {
		json_object_object_add(o, "text", json_object_new_string(text));
		json_object_object_add(o, "confidence", json_object_new_double(confidence));
	}
	free(text);
	text = strdup(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
								JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
	return text;
}

static char *speak(const struct cast *c, const struct question *q)
{
	char *line = line_value(q->user, "again"), *text;
	const bool again = line != NULL;
	const bool prose = c->scene == NONSENSE || (c->scene == NONSENSE_ONCE && !again);

	free(line);
	switch (c->role) {
	case CRITIC:
		if (c->scene == PARROT)
			return repeated(q->user);
		text = compare(q->system, q->user);
		return text ? text : prose ? strdup(c->letter->prose) : critique(c, q);
	case GENERATOR:
		if (c->scene == REFUSED)
			return strdup("");
		text = write_letter(c, scene_flaw(c->scene), q->seed);
		break;
	case REFINER:
		text = refine(c, q->user, q->seed, again);
		break;
	default:
		return strdup("Ready.");
	}
	return q->wants_json ? as_json(c, q->schema, text) : text;
}

static void script_answer(const struct question *q, struct answer *a)
{
	struct cast c = {0};
	long cap = q->max_tokens;

	*a = (struct answer){.finish_reason = "stop", .refusal = read_cast(q, &c)};
	a->role = c.role;
	a->scene = c.scene;
	a->delay_ms = c.scene == SLOW ? 3000 : 0;
	if (c.scene == REJECTED)
		a->refusal = "this prompt is not acceptable";
	if (!a->refusal)
		a->text = speak(&c, q);
	if (c.role == GENERATOR && c.scene == REFUSED)
		a->finish_reason = "content_filter";
	if (c.role == GENERATOR &&
	    (c.scene == TRUNCATED || (c.scene == TRUNCATED_ONCE && cap < 1500)))
		cap = 40;
	if (a->text && cap > 0 && count_tokens(a->text) > cap) {
		cut_to_tokens(a->text, cap);
		a->finish_reason = "length";
	}
	a->reference = c.reference;
	free(c.customer);
	free(c.plan);
	free(c.segment);
	free(c.trap);
	free(c.confidence);
}

#endif
