/* `draftmill check config`: everything that can be wrong before the first job, each problem as "place: what is wrong; the mend". */
#include "command.h"

#include "app/preflight.h"
#include "base/clock.h"
#include "core/cost.h"
#include "io/pg.h"

#include <inttypes.h>
#include <stdio.h>

enum { REFERENCE_IN_TOKENS = 1000, REFERENCE_OUT_TOKENS = 200, REPORT_BYTES_MAX = 1 << 20 };

struct inspection {
	bool offline, as_json;
	int n_problem;
	struct json_out json; /* the report, written in either case */
};

static void on_fault(void *owner, const struct err *err)
{
	struct inspection *c = owner;

	c->n_problem++;
	if (c->as_json)
		json_put_str(&c->json, NULL, str_c(err->text));
	else
		printf("%s\n", err->text);
}

static void on_note(void *owner, const struct err *err)
{
	struct inspection *c = owner;

	if (c->as_json)
		json_put_str(&c->json, NULL, str_c(err->text));
	else
		printf("note: %s\n", err->text);
}

static void say(const struct inspection *c, const char *line)
{
	if (!c->as_json)
		printf("%s\n", line);
}

/* Settings first: profiles need them, and connections both. */
static void check_all(struct inspection *c, struct settings *s, const struct command_line *line)
{
	struct profiles *profiles;
	struct err err;

	if (settings_faults(line->a, line->config, line->flag, line->n_flag, s, on_fault, c)) {
		s->n_model = 0; /* what they would cost means nothing */
		say(c, "profiles and connections: not looked at; mend the settings first");
		return;
	}
	if (profiles_faults(s, on_fault, c) == 0) {
		if (profiles_open(s, &profiles, &err) != ST_OK)
			BUG("profiles without a fault: %s", err.text);
		if (!c->offline)
			preflight_providers(s, profiles, on_fault, c);
		profiles_free(profiles);
	}
	if (c->offline) {
		say(c, "connections: not tried (--offline)");
		return;
	}
	pg_password_command(s->password_command);
	preflight_database(s, on_fault, c);
	preflight_broker(s, on_fault, c);
}

static int64_t reference_micro_usd(const struct model *model)
{
	struct usage usage = {.in = REFERENCE_IN_TOKENS, .out = REFERENCE_OUT_TOKENS};

	return cost_micro_usd(model, usage, clock_unix_ms());
}

static void print_prices(const struct settings *s)
{
	for (int i = 0; i < s->n_model; i++) {
		const struct model *m = &s->model[i];
		int64_t cost = reference_micro_usd(m);
		printf("%.*s (%.*s): a call with %d tokens in and %d out costs %" PRId64
		       ".%06" PRId64 " USD\n",
		       STR_ARG(m->name), STR_ARG(m->id), REFERENCE_IN_TOKENS, REFERENCE_OUT_TOKENS,
		       cost / 1000000, cost % 1000000);
	}
}

static void put_prices(struct json_out *o, const struct settings *s)
{
	json_open(o, "models", '[');
	for (int i = 0; i < s->n_model; i++) {
		const struct model *m = &s->model[i];
		json_open(o, NULL, '{');
		json_put_str(o, "name", m->name);
		json_put_str(o, "id", m->id);
		json_put_int(o, "reference_call_micro_usd", reference_micro_usd(m));
		json_close(o, '}');
	}
	json_close(o, ']');
}

static int check_config(const struct command *self, const struct command_line *line)
{
	struct inspection inspection = {
		.offline = command_has(line, "offline"),
		.as_json = command_has(line, "json"),
	};
	struct inspection *c = &inspection;
	struct buf report = BUF(REPORT_BYTES_MAX);
	struct settings s;

	c->json.buf = &report;
	json_open(&c->json, NULL, '{');
	json_open(&c->json, "problems", '[');
	check_all(c, &s, line);
	json_close(&c->json, ']');
	json_open(&c->json, "notes", '[');
	preflight_options(&s, on_note, c);
	json_close(&c->json, ']');
	put_prices(&c->json, &s);
	json_put_bool(&c->json, "connections_tried", !c->offline);
	json_put_str(&c->json, "file", str_c(s.path));
	json_close(&c->json, '}');
	if (c->as_json) {
		printf("%s\n", buf_view(&report).p);
	} else {
		print_prices(&s);
		printf("%s: %d problem%s\n", s.path ? s.path : "defaults", c->n_problem,
		       c->n_problem == 1 ? "" : "s");
	}
	buf_release(&report);
	return c->n_problem ? EXIT_CONFIG : 0;
}

static const struct option options[] = {
	{"offline", NULL, "try no connections"},
	{"json", NULL, "as one JSON object"},
	{.name = NULL},
};

const struct command check_config_command = {
	.name = "check config",
	.usage = "[--offline] [--json]",
	.summary = "Tells what is wrong with settings, profiles, prompts, prices and connections",
	.option = options,
	.reads_settings = true,
	.run = check_config,
	.lists_settings = true,
};
