#include "settings_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char folder[64], path[96];
struct arena *a;
struct settings settings;
char faults[4096];

void keep_fault(void *owner, const struct err *err)
{
	size_t n = strlen(faults);

	snprintf(faults + n, sizeof(faults) - n, "%s\n", err->text);
}

void write_file(const char *name, const char *text)
{
	char file[128];

	snprintf(file, sizeof(file), "%s/%s", folder, name);
	FILE *f = fopen(file, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

int read_text_with(const char *text, const struct flag *flag, int n_flag)
{
	faults[0] = '\0';
	write_file("s.yaml", text);
	struct faults f = {.tell = keep_fault};
	bool fine = settings_read(a, path, flag, n_flag, &settings, &f);
	assert_int_equal(fine, f.n == 0);
	return f.n;
}

int read_text(const char *text)
{
	return read_text_with(text, NULL, 0);
}

/* That @text has exactly one fault, which is told at @line of the file as @what. */
void assert_fault(const char *text, int line, const char *what)
{
	char want[600];

	assert_int_equal(read_text(text), 1);
	snprintf(want, sizeof(want), "%s:%d: %s\n", path, line, what);
	assert_string_equal(faults, want);
}

int set_up(void **state)
{
	static const char *const ours[] = {"OPENAI_BASE_URL", "DRAFTMILL_CONFIG",
					   "DRAFTMILL_KAFKA_BROKERS"};

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		unsetenv(ours[i]);
	strcpy(folder, "/tmp/settings-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/s.yaml", folder);
	a = arena_new();
	return 0;
}

int tear_down(void **state)
{
	char key[128];

	snprintf(key, sizeof(key), "%s/key", folder);
	unlink(key);
	unlink(path);
	rmdir(folder);
	arena_free(a);
	return 0;
}

const char a_model[] = "providers:\n"
		       "  openai:\n"
		       "    key_env: TEST_KEY\n"
		       "models:\n"
		       "  drafting:\n"
		       "    id: m-1\n"
		       "    provider: openai\n"
		       "    prices:\n"
		       "      - valid_from: 2026-11-17\n"
		       "        in_usd_per_mtok: 2.00\n"
		       "        out_usd_per_mtok: 10\n";
