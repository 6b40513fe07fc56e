#include "app/reload.h"

#include "base/log.h"

/* Sections that are used up at the start. */
static const char *const lasting[] = {"kafka.", "database.", "worker.", "web."};

static void tell_lasting(void *owner, const char *key)
{
	for (size_t i = 0; i < sizeof(lasting) / sizeof(*lasting); i++)
		if (str_starts(str_c(key), lasting[i]))
			log_warn("setting_waits_for_restart", L_STR("key", key));
}

static void take(const struct settings *start, const struct profiles *p)
{
	const struct settings *now = profiles_settings(p);
	enum log_level level;
	int n = 0;

	if (log_level_read(str_c(now->log_level), &level))
		log_set_level(level);
	settings_compare(start, now, tell_lasting, NULL);
	while (profiles_at(p, n))
		n++;
	log_info("reloaded", L_INT("n_profile", n), L_INT("n_model", now->n_model));
}

static void tell_fault(void *owner, const struct err *err)
{
	log_error("reload_refused", L_STR("why", err->text));
}

void reload(struct runs *runs, const struct settings *start)
{
	struct profiles *p = profiles_again(start, &(struct faults){.tell = tell_fault});
	struct err err;

	if (!p)
		return;
	if (runs_use(runs, p, &err) == ST_OK)
		take(start, p);
	else
		tell_fault(NULL, &err);
	profiles_free(p);
}
