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
	struct json_out json; /* the report, written in either case */
};

static void put_line(const struct inspection *c, const char *before, const char *line)
{
	if (!c->as_json)
		printf("%s%s\n", before, line);
}

static void on_fault(void *owner, const struct err *err)
{
	struct inspection *c = owner;

	json_put_str(&c->json, NULL, str_c(err->text));
	put_line(c, "", err->text);
}

static void on_note(void *owner, const struct err *err)
{
	struct inspection *c = owner;

	json_put_str(&c->json, NULL, str_c(err->text));
	put_line(c, "note: ", err->text);
}

/* Settings first: profiles need them, and connections both. Gives the profiles, to be freed, or NULL. */
static struct profiles *check_all(const struct inspection *c, struct settings *s,
				  const struct command_line *line, struct faults *faults)
{
	if (!settings_read(line->a, line->config, line->flag, line->n_flag, s, faults)) {
		s->n_model = 0; /* what they would cost means nothing */
		put_line(c, "", "profiles and connections: not looked at; mend the settings first");
		return NULL;
	}
	struct profiles *profiles = profiles_open(s, faults);
	if (profiles)
		preflight_tools(s, profiles, faults);
	if (profiles)
		preflight_providers(s, profiles, c->offline, faults);
	if (c->offline) {
		put_line(c, "", "connections: not tried (--offline)");
		return profiles;
	}
	pg_password_command(s->password_command);
	preflight_database(s, faults);
	preflight_broker(s, faults);
	return profiles;
}

static void put_prices(struct inspection *c, const struct settings *s)
{
	const struct usage usage = {.in = REFERENCE_IN_TOKENS, .out = REFERENCE_OUT_TOKENS};

	json_open(&c->json, "models", '[');
	for (int i = 0; i < s->n_model; i++) {
		const struct model *m = &s->model[i];
		int64_t cost = cost_micro_usd(m, usage, clock_unix_ms());
		json_open(&c->json, NULL, '{');
		json_put_str(&c->json, "name", m->name);
		json_put_str(&c->json, "id", m->id);
		json_put_int(&c->json, "reference_call_micro_usd", cost);
		json_close(&c->json, '}');
		if (!c->as_json)
			printf("%.*s (%.*s): a call with %d tokens in and %d out costs %" PRId64
			       ".%06" PRId64 " USD\n",
			       STR_ARG(m->name), STR_ARG(m->id), REFERENCE_IN_TOKENS,
			       REFERENCE_OUT_TOKENS, cost / 1000000, cost % 1000000);
	}
	json_close(&c->json, ']');
}

static int check_config(const struct command *self, const struct command_line *line)
{
	struct buf report = BUF(REPORT_BYTES_MAX);
	struct inspection c = {
		.offline = command_value(line, "offline"),
		.as_json = command_value(line, "json"),
		.json = {.buf = &report},
	};
	struct faults faults = {.tell = on_fault, .owner = &c};
	struct faults notes = {.tell = on_note, .owner = &c};
	struct settings s;

	json_open(&c.json, NULL, '{');
	json_open(&c.json, "problems", '[');
	struct profiles *profiles = check_all(&c, &s, line, &faults);
	json_close(&c.json, ']');
	json_open(&c.json, "notes", '[');
	preflight_options(&s, &notes);
	if (profiles)
		preflight_profiles(profiles, &notes);
	profiles_free(profiles);
	json_close(&c.json, ']');
	put_prices(&c, &s);
	json_put_bool(&c.json, "connections_tried", !c.offline);
	json_put_str(&c.json, "file", str_c(s.path));
	json_close(&c.json, '}');
	if (c.as_json)
		printf("%s\n", buf_view(&report).p);
	else
		printf("%s: %d problem%s\n", s.path ? s.path : "defaults", faults.n,
		       faults.n == 1 ? "" : "s");
	buf_release(&report);
	return faults.n ? EXIT_CONFIG : EXIT_DONE;
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
