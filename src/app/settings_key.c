#include "settings_table.h"

/* Cuts the part before the first dot off. */
static struct str next_part(struct str *key)
{
	const char *dot = memchr(key->p, '.', key->n);
	size_t n = dot ? (size_t)(dot - key->p) : key->n;
	struct str part = str_sub(*key, 0, n);

	*key = str_sub(*key, n + 1, key->n);
	return part;
}

/* How @key stands to a row's key: the same, or a beginning of it, or something else. */
enum relation { OTHER, BEGINNING, SAME };

static enum relation relate(const struct setting *setting, struct str key)
{
	struct str pattern = str_c(setting->doc.key);

	while (key.n > 0) {
		if (pattern.n == 0)
			return setting->kind == SETTING_OPTIONS ? SAME : OTHER;
		struct str want = next_part(&pattern), part = next_part(&key);
		if (part.n == 0 || !(str_is(want, "NAME") || str_eq(want, part)))
			return OTHER;
	}
	return pattern.n || setting->kind == SETTING_OPTIONS ? BEGINNING : SAME;
}

int setting_index(struct str key)
{
	for (int i = 0; setting_at(i); i++) {
		if (relate(setting_at(i), key) == SAME)
			return i;
	}
	return -1;
}

bool setting_is_section(struct str key)
{
	for (int i = 0; setting_at(i); i++) {
		if (relate(setting_at(i), key) == BEGINNING)
			return true;
	}
	return false;
}

struct str setting_name(struct str key)
{
	struct str section = next_part(&key);

	if (!str_is(section, "providers") && !str_is(section, "models"))
		return (struct str){NULL, 0};
	return next_part(&key);
}

struct str setting_key(struct arena *a, const struct setting *setting, struct str name)
{
	struct str key = str_c(setting->doc.key);
	int64_t at = str_find(key, STR_OF("NAME"), 0);

	if (at < 0)
		return key;
	return arena_printf(a, "%.*s%.*s%s", (int)at, key.p, STR_ARG(name), key.p + at + 4);
}
