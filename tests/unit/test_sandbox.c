/* tests/unit/test_sandbox.c - tools in bubblewrap: the shipped ones do what they say, and none can do more than it may. */
#include "app/sandbox.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { LIMIT_MS = 60000 };

static struct settings settings = {.tools_dir = "config/tools"};

/* The command's own output, whatever it is; "" and @why if it failed. */
static struct str run(struct arena *a, const char *json_command, const char *text, struct err *why)
{
	struct child_how how = {.input = str_c(text), .limit_ms = LIMIT_MS};
	struct buf out = BUF(CHILD_OUTPUT_MAX);
	struct faults faults = {.tell = NULL};
	struct json *json;
	int n;

	const char *spec = arena_printf(a, "[{\"name\":\"it\",\"command\":%s}]", json_command).p;
	assert_int_equal(json_read(str_c(spec), &json, why), JSON_FINE);
	const struct tool *tool = tools_read(a, json, &n, &faults);
	json_free(json);
	assert_int_equal(faults.n, 0);
	sandbox_how(a, &settings, tool, &how);
	why->text[0] = '\0';
	(void)!child_run(&how, &out, why);
	struct str said = arena_str(a, buf_view(&out));
	buf_release(&out);
	return said;
}

static bool works;

/* Whether bubblewrap can do its work here: in some containers it cannot. */
static int look_for_bubblewrap(void **state)
{
	struct arena *a = arena_new();
	struct err why;

	works = str_is(run(a, "[\"echo\",\"fine\"]", "", &why), "fine\n");
	if (!works)
		printf("# SKIPPED, nothing is tested: %s\n", why.text);
	arena_free(a);
	return 0;
}

#define NEEDS_BUBBLEWRAP()                                                                         \
	do {                                                                                       \
		if (!works)                                                                        \
			skip();                                                                    \
	} while (0)

/* What a shell in the sandbox prints. */
static void expect(const char *script, const char *text, const char *output)
{
	struct arena *a = arena_new();
	struct err why;
	struct str said = run(a, arena_printf(a, "[\"sh\",\"-c\",\"%s\"]", script).p, text, &why);

	if (!str_is(said, output))
		fail_msg("%s: expected %s, it printed %.*s (%s)", script, output, STR_ARG(said),
			 why.text);
	arena_free(a);
}

static void it_sees_the_draft_and_nothing_of_ours(void **state)
{
	NEEDS_BUBBLEWRAP();
	expect("cat; pwd", "a draft\n", "a draft\n/tmp\n");
	setenv("OPENAI_API_KEY", "secret", 1);
	expect("env | grep -v ^PWD= | sort", "",
	       "HOME=/tmp\nLANG=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin\n");
	expect("ls -d /etc /home /root /run /var /srv 2>/dev/null", "", "");
	expect("ls /proc | grep -c ^[0-9]", "", "4\n"); /* bubblewrap, sh, ls and grep */
}

static void it_cannot_write_but_in_tmp(void **state)
{
	NEEDS_BUBBLEWRAP();
	expect("for d in / /usr /dev /dev/shm; do touch $d/x 2>/dev/null && echo $d; done; echo a "
	       ">/tmp/x; cat /tmp/x",
	       "", "a\n");
	expect("ls /tmp/x 2>/dev/null", "", ""); /* not that of the run before */
	expect("head -c 100000000 /dev/zero 2>/dev/null >/tmp/x; stat -c %s /tmp/x", "",
	       "67108864\n");
}

static void it_has_no_network(void **state)
{
	NEEDS_BUBBLEWRAP();
	expect("cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' '", "", "lo\n");
	expect("python3 -c 'import socket; socket.create_connection((\\\"127.0.0.1\\\", 22), 1)' "
	       "2>/dev/null || echo unreachable",
	       "", "unreachable\n");
}

static void its_memory_has_a_limit(void **state)
{
	NEEDS_BUBBLEWRAP();
	expect("python3 -c 'bytearray(500 << 20)' && echo enough", "", "enough\n");
	expect("python3 -c 'bytearray(2 << 30)' 2>/dev/null || echo too much", "", "too much\n");
}

static void its_failures_are_told(void **state)
{
	struct arena *a = arena_new();
	struct err why;

	if (works) {
		(void)run(a, "[\"sh\",\"-c\",\"echo no schema >&2; exit 3\"]", "", &why);
		assert_string_equal(why.text, "the command bwrap ended with status 3: no schema");
		(void)run(a, "[\"yes\"]", "", &why);
		assert_string_equal(why.text,
				    "the command bwrap printed more than 65536 bytes; mend it");
		(void)run(a, "[\"nowhere\"]", "", &why);
		assert_non_null(strstr(why.text, "nowhere"));
	}
	arena_free(a);
	NEEDS_BUBBLEWRAP();
}

/* ---- the shipped ones ---- */

struct looked { /* at a text */
	struct arena *a;
	struct critique found;
};

static struct looked look(const char *json_command, const char *text)
{
	const struct tool tool = {.name = STR("it"), .model = {.id = STR("tool:it")}};
	struct looked l = {.a = arena_new()};
	struct err why;

	struct str said = run(l.a, json_command, text, &why);
	findings_read(l.a, &tool, said, str_c(text), &l.found);
	if (!l.found.valid)
		fail_msg("%s: %.*s (%s)", text, STR_ARG(l.found.fault), why.text);
	return l;
}

/* @snippet NULL: it finds nothing; else one fault, there. */
static void finds(const char *json_command, const char *text, const char *snippet, const char *why)
{
	struct looked l = look(json_command, text);
	const struct issue *i = l.found.issue;

	if (l.found.n_issue != (snippet || why))
		fail_msg("%s: %d findings", text, l.found.n_issue);
	if (snippet && (!str_is(i->snippet, snippet) || i->at < 0))
		fail_msg("%s: found at \"%.*s\"", text, STR_ARG(i->snippet));
	if (why && str_find(i->suggestion, str_c(why), 0) < 0)
		fail_msg("%s: %.*s", text, STR_ARG(i->suggestion));
	arena_free(l.a);
}

#define SUMS "[\"python3\",\"{tools}/arithmetic.py\"]"

static void arithmetic_is_recomputed(void **state)
{
	NEEDS_BUBBLEWRAP();
	finds(SUMS, "", NULL, NULL);
	finds(SUMS, "3 seats at $12: 3 x 12 = 36, and 1,200 / 7 = 171.43.", NULL, NULL);
	finds(SUMS, "So 12 x 3 = 38 in all.", "12 x 3 = 38", "12 x 3 is 36, not 38");
	finds(SUMS, "2 + 3 x 4 = 20", "2 + 3 x 4 = 20", "is 14");
	finds(SUMS, "100 - 5% = 95 and 50 x 20% = 10", NULL, NULL);
	finds(SUMS,
	      "12\xc3\x97"
	      "3\xef\xbc\x9d"
	      "38",
	      "12\xc3\x97"
	      "3\xef\xbc\x9d"
	      "38",
	      "36"); /* × ＝ */
	finds(SUMS, "On 2026-12-01, version 1.2.3, 24/7: x = 2.", NULL, NULL);
	finds(SUMS, "- seats: 10\n- support: 12.50\n- Total: 22.50\n", NULL, NULL);
	finds(SUMS, "- seats: 10\n- support: 12.50\n- Total: 23\n", "- Total: 23", "22.5");
	finds(SUMS, "| a | 10 |\n|---|----|\n| b | 20 |\n| Total | 31 |\n", "| Total | 31 |", "30");
	finds(SUMS, "- net 100\n- fee 10\n- Subtotal 110\n- tax 11\n- Total 121\n", NULL, NULL);
}

static void sql_is_explained(void **state)
{
	char dir[] = "/tmp/draftmill-tools-XXXXXX";
	const char *sql = "[\"python3\",\"{tools}/sql_explain.py\",\"{tools}/shop.sql\"]";
	char command[300];

	NEEDS_BUBBLEWRAP();
	assert_non_null(mkdtemp(dir));
	snprintf(command, sizeof(command),
		 "cp config/tools/*.py %s; echo 'create table orders (id integer, total numeric);' "
		 ">%s/shop.sql",
		 dir, dir);
	assert_int_equal(system(command), 0);
	settings.tools_dir = dir;
	finds(sql, "", NULL, NULL);
	finds(sql, "SELECT sum(total) FROM orders", NULL, NULL);
	finds(sql, "Here:\n```sql\nSELECT totl FROM orders;\n```\n", "SELECT totl FROM orders",
	      "no such column: totl");
	finds(sql, "```sql\nDELETE FROM orders;\n```\n", "DELETE FROM orders", "more than read");
	finds(sql, "```sql\nATTACH '/tmp/x' AS x;\n```\n", "ATTACH '/tmp/x' AS x",
	      "more than read");
	finds(sql, "```sql\nSELECT 1; SELECT 'a;b'\n```\n", NULL, NULL);
	settings.tools_dir = "config/tools";
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

#define C_TESTS "[\"python3\",\"{tools}/c_tests.py\"]"
#define BLOCK(code) "The program:\n```c\n" code "\n```\n"

static void c_is_compiled_and_run(void **state)
{
	NEEDS_BUBBLEWRAP();
	finds(C_TESTS, "", NULL, NULL);
	finds(C_TESTS, BLOCK("int main(void) { return 0; }"), NULL, NULL);
	finds(C_TESTS, BLOCK("int main(void)\n{\n\treturn 0\n}"), "return 0", "error: expected");
	finds(C_TESTS, BLOCK("int main(void) { return 3; }"), NULL, "ended with status 3");
	finds(C_TESTS, BLOCK("int main(void) { for (;;) ; }"), NULL, "did not end within 5 s");
	finds(C_TESTS, "No program.", NULL, "no block");
	/* A program that wants to answer in the tool's place. */
	finds(C_TESTS,
	      BLOCK("#include <stdio.h>\n#include <unistd.h>\nint main(void)\n{\n"
		    "char path[99];\nsprintf(path, \"/proc/%d/fd/1\", getppid());\n"
		    "FILE *f = fopen(path, \"w\");\n"
		    "if (!f) return 9;\nfputs(\"[]\", f);\nreturn 0;\n}"),
	      NULL, "ended with status 9");
}

/* ---- another sandbox, and none ---- */

static void the_settings_may_name_another(void **state)
{
	static const char *const none[] = {"env", NULL}, *const broken[] = {"false", NULL};
	struct arena *a = arena_new();
	struct err err;

	settings.sandbox = none;
	settings.n_sandbox = 1;
	expect("cat", "a draft", "a draft");
	expect("env | grep -c OPENAI", "", ""); /* our keys are nobody's */
	const struct str sums = STR("echo");
	const struct tool tool = {.name = STR("it"),
				  .command = &sums,
				  .n_command = 1,
				  .model = {.timeout_ms = LIMIT_MS}};
	assert_int_equal(sandbox_try(&settings, &tool, &err), ST_INVALID);
	assert_non_null(strstr(err.text, "its answer: not exactly one JSON array"));
	settings.sandbox = broken;
	assert_int_equal(sandbox_try(&settings, &tool, &err), ST_INVALID);
	assert_string_equal(err.text, "tool it does not answer an empty text; mend its command or "
				      "tools.sandbox: the command false ended with status 1");
	settings.sandbox = NULL;
	settings.n_sandbox = 0;
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_sees_the_draft_and_nothing_of_ours),
		cmocka_unit_test(it_cannot_write_but_in_tmp),
		cmocka_unit_test(it_has_no_network),
		cmocka_unit_test(its_memory_has_a_limit),
		cmocka_unit_test(its_failures_are_told),
		cmocka_unit_test(arithmetic_is_recomputed),
		cmocka_unit_test(sql_is_explained),
		cmocka_unit_test(c_is_compiled_and_run),
		cmocka_unit_test(the_settings_may_name_another),
	};

	return cmocka_run_group_tests(tests, look_for_bubblewrap, NULL);
}
