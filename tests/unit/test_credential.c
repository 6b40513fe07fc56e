/*
 * tests/unit/test_credential.c - a key comes from where the settings say, and changes without a restart: when its file does, before a token
 * expires, and once after it was refused.
 */
#include "app/credential.h"

#include "base/clock.h"
#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64], file[96], script[96];
static struct reactor *reactor;
static struct provider provider;
static const char *argv[] = {"sh", script, NULL};
static struct credential *c;
static struct endpoint e;
static struct err err;

static void write_to(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int set_up(void **state)
{
	strcpy(folder, "/tmp/credential-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/key", folder);
	snprintf(script, sizeof(script), "%s/script", folder);
	unsetenv("TEST_KEY");
	reactor = reactor_new();
	provider = (struct provider){.name = STR_OF("p")};
	c = NULL;
	return 0;
}

static int tear_down(void **state)
{
	credential_close(c);
	reactor_free(reactor);
	unlink(file);
	unlink(script);
	return rmdir(folder);
}

static void open_fine(void)
{
	enum status status = credential_open(reactor, &provider, true, &c, &err);

	if (status != ST_OK)
		fail_msg("%s", err.text);
}

/* Refused for this reason, which does not quote "secret". */
static void open_fails(const char *why)
{
	assert_int_equal(credential_open(reactor, &provider, true, &c, &err), ST_INVALID);
	assert_null(c);
	if (!strstr(err.text, why) || strstr(err.text, "secret"))
		fail_msg("%s", err.text);
}

/* The key of now is @want; gives its number. */
static int expect_key(const char *want)
{
	int no = credential_put(c, &e);

	assert_true(str_is(e.key, want));
	return no;
}

static void turn_off(void *owner)
{
	reactor_stop(reactor);
}

static void let_pass(int64_t ms)
{
	struct timer *t = timer_new(reactor, turn_off, NULL);

	timer_start(t, ms, 0);
	reactor_run(reactor);
	timer_close(t);
}

/* Until the key is @want. */
static int wait_key(const char *want)
{
	const int64_t end = clock_mono_ms() + 10000;
	int no;

	while (no = credential_put(c, &e), !str_is(e.key, want)) {
		assert_true(clock_mono_ms() < end);
		let_pass(20);
	}
	return no;
}

static void command(const char *text)
{
	write_to(script, text);
	provider.key_command = argv;
	provider.n_key_command = 2;
}

/* --- where it comes from --- */

static void none_is_wanted(void **state)
{
	open_fine();
	assert_int_equal(credential_put(c, &e), 0);
	assert_null(e.key.p);
	assert_null(e.proxy_login.p);
	assert_true(credential_ready(c));
	assert_false(credential_refused(c, 0));
}

static void the_environment_comes_before_the_file_before_the_command(void **state)
{
	provider.key_env = "TEST_KEY";
	open_fails("the environment variable TEST_KEY is not set; put the credential there");
	command("echo k-command\n");
	open_fine();
	expect_key("k-command");
	credential_close(c);
	write_to(file, "k-file\r\n");
	provider.key_file = file;
	open_fine();
	expect_key("k-file");
	credential_close(c);
	setenv("TEST_KEY", "k-env", 1);
	open_fine();
	assert_false(credential_refused(c, expect_key("k-env")));
}

static void what_is_no_key_is_refused_and_not_shown(void **state)
{
	provider.key_file = file;
	open_fails("cannot be opened");
	write_to(file, "secret\nX-Other: secret\n");
	open_fails("white space or a control character; mend /tmp/");
	write_to(file, "\n");
	open_fails("is empty");
}

static void a_proxys_login_is_user_and_password(void **state)
{
	provider.proxy_key_env = "TEST_KEY";
	setenv("TEST_KEY", "secret", 1);
	open_fails("TEST_KEY holds no USER:PASSWORD");
	setenv("TEST_KEY", ":secret", 1);
	open_fails("TEST_KEY holds no USER:PASSWORD");
	setenv("TEST_KEY", "me:a b:c", 1);
	open_fine();
	credential_put(c, &e);
	assert_true(str_is(e.proxy_login, "me:a b:c"));
	assert_null(e.key.p);
}

/* --- a file --- */

static void a_file_that_changes_is_read_again(void **state)
{
	provider.key_file = file;
	write_to(file, "k-1\n");
	open_fine();
	int first = expect_key("k-1");
	assert_false(credential_refused(c, first));
	write_to(file, "k-2\n");
	assert_true(credential_refused(c, first)); /* at once, not only at the next look */
	int second = expect_key("k-2");
	assert_int_not_equal(second, first);
	assert_false(credential_refused(c, second));
	write_to(file, "k-3\n");
	wait_key("k-3");
	write_to(file, "");
	let_pass(1100);
	expect_key("k-3"); /* half written: the old one goes on */
	unlink(file);
	let_pass(1100);
	expect_key("k-3");
	write_to(file, "k-4");
	wait_key("k-4");
}

/* --- a command --- */

static void each_form_of_a_token_is_read(void **state)
{
	static const char *const forms[] = {
		"echo k",
		"printf k",
		"printf '  k \\r\\n'",
		"echo '{\"token\": \"k\"}'",
		"echo '{\"token\": \"k\", \"expires_in\": 3600, \"type\": \"Bearer\"}'",
		"echo '{\"expires_at\": 4102444800, \"token\": \"k\"}'",
		"echo '{\"token\": \"k\", \"expires_at\": \"2099-12-31T23:59:59+09:00\"}'",
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		command(forms[i]);
		open_fine();
		expect_key("k");
		credential_close(c);
	}
	c = NULL;
}

static void what_is_no_token_is_refused_and_not_shown(void **state)
{
	static const struct {
		const char *script, *why;
	} cases[] = {
		{"echo secret; exit 3", "key_command: the command sh ended with status 3"},
		{"", "is empty"},
		{"echo secret; echo secret", "white space"},
		{"echo '{\"token\": \"secret'", "printed no {\"token\": TEXT}"},
		{"echo '{\"access\": \"secret\"}'", "printed no {\"token\": TEXT}"},
		{"echo '{\"token\": \"secret\", \"expires_at\": \"tomorrow\"}'",
		 "a good expires_at"},
		{"echo '{\"token\": \"secret\", \"expires_in\": -1}'", "a good expires_at"},
		{"echo '{\"token\": \"secret\", \"expires_at\": 1700000000}'", "has expired"},
		{"echo '{\"token\": \"secret\", \"expires_in\": 0}'", "has expired"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		command(cases[i].script);
		open_fails(cases[i].why);
	}
	provider.key_command = (const char *const[]){"/no/such/program", NULL};
	provider.n_key_command = 1;
	open_fails("the command /no/such/program cannot be run");
}

static void a_token_is_renewed_before_it_expires(void **state)
{
	command("echo '{\"token\": \"k-1\", \"expires_in\": 4}'\n");
	open_fine();
	const int64_t begin_ms = clock_mono_ms();
	expect_key("k-1");
	write_to(script, "echo k-2\n");
	wait_key("k-2");
	assert_in_range(clock_mono_ms() - begin_ms, 3000, 4000); /* four fifths of 4 s */
}

static void a_refused_token_is_renewed_once(void **state)
{
	command("echo k-1\n");
	open_fine();
	int first = expect_key("k-1");
	write_to(script, "sleep 0.1; echo k-2\n");
	assert_true(credential_refused(c, first));
	assert_false(credential_ready(c));
	assert_true(credential_refused(c, first)); /* others that were under way with it */
	int second = wait_key("k-2");
	assert_true(credential_ready(c));
	assert_true(credential_refused(c, first)); /* late */
	assert_true(credential_ready(c));
	write_to(script, "echo k-3\n");
	assert_false(credential_refused(c, second)); /* within the minute: that is no way out */
	let_pass(100);
	expect_key("k-2");
}

static void the_old_token_goes_on_when_none_is_printed(void **state)
{
	command("echo k-1\n");
	open_fine();
	int first = expect_key("k-1");
	write_to(script, "echo secret; exit 1\n");
	assert_true(credential_refused(c, first));
	while (!credential_ready(c))
		let_pass(10);
	assert_int_equal(expect_key("k-1"), first);
	assert_false(credential_refused(c, first));
}

static void a_quoted_key_is_known(void **state)
{
	provider.key_file = file;
	write_to(file, "key-one-");
	open_fine();
	assert_false(credential_is_quoted(c, STR_OF("Incorrect key: key-one")));
	assert_true(credential_is_quoted(c, STR_OF("Incorrect key: key-one-.")));
	write_to(file, "key-two-");
	assert_true(credential_refused(c, expect_key("key-one-")));
	assert_true(
		credential_is_quoted(c, STR_OF("Incorrect key: key-one-."))); /* it may be late */
	assert_true(credential_is_quoted(c, STR_OF("key-two-")));
	assert_false(credential_is_quoted(c, str_c(NULL)));
	credential_close(c);
	write_to(file, "none");
	open_fine();
	assert_false(credential_is_quoted(c, STR_OF("none of it")));
}

static void calls_wait_for_a_command_that_runs_on_the_loop(void **state)
{
	command("echo '{\"token\": \"k-1\", \"expires_in\": 3600}'\n");
	assert_int_equal(credential_open(reactor, &provider, false, &c, &err), ST_OK);
	assert_false(credential_ready(c));
	wait_key("k-1");
	assert_true(credential_ready(c));
	credential_close(c);
	write_to(script, "exit 1\n");
	assert_int_equal(credential_open(reactor, &provider, false, &c, &err), ST_OK);
	let_pass(500);
	assert_false(credential_ready(c)); /* nothing goes out without a key */
}

static void it_is_of_a_provider_with_the_same_sources(void **state)
{
	static const char *other[] = {"sh", "other", NULL};

	command("echo k-1\n");
	open_fine();
	struct provider p = provider;
	assert_true(credential_is_of(c, &p));
	p.ca_file = "ca.pem"; /* no source of it */
	assert_true(credential_is_of(c, &p));
	p.key_command = other;
	assert_false(credential_is_of(c, &p));
	p = provider;
	p.proxy_key_file = file;
	assert_false(credential_is_of(c, &p));
	p = provider;
	p.name = STR_OF("q");
	assert_false(credential_is_of(c, &p));
	credential_close(credential_hold(c));
	expect_key("k-1");
}

static void it_can_be_closed_while_a_command_runs(void **state)
{
	command("echo k-1\n");
	open_fine();
	write_to(script, "sleep 60\n");
	assert_true(credential_refused(c, expect_key("k-1")));
}

static void to_look_renews_nothing(void **state)
{
	command("echo '{\"token\": \"k-1\", \"expires_in\": 1}'\n");
	assert_int_equal(credential_open(NULL, &provider, true, &c, &err), ST_OK);
	assert_false(credential_refused(c, expect_key("k-1")));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(none_is_wanted),
		TEST(the_environment_comes_before_the_file_before_the_command),
		TEST(what_is_no_key_is_refused_and_not_shown),
		TEST(a_proxys_login_is_user_and_password),
		TEST(a_file_that_changes_is_read_again),
		TEST(each_form_of_a_token_is_read),
		TEST(what_is_no_token_is_refused_and_not_shown),
		TEST(a_token_is_renewed_before_it_expires),
		TEST(a_refused_token_is_renewed_once),
		TEST(the_old_token_goes_on_when_none_is_printed),
		TEST(a_quoted_key_is_known),
		TEST(calls_wait_for_a_command_that_runs_on_the_loop),
		TEST(it_is_of_a_provider_with_the_same_sources),
		TEST(it_can_be_closed_while_a_command_runs),
		TEST(to_look_renews_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
