#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* Standard error goes into a pipe, and what was written there comes out of said(). */
static int pipe_fd[2], real_stderr;

static int catch_stderr(void **state)
{
	assert_int_equal(pipe2(pipe_fd, O_NONBLOCK), 0);
	real_stderr = dup(STDERR_FILENO);
	dup2(pipe_fd[1], STDERR_FILENO);
	log_set_level(LOG_INFO);
	return 0;
}

static int release_stderr(void **state)
{
	dup2(real_stderr, STDERR_FILENO);
	close(real_stderr);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
	return 0;
}

static const char *said(void)
{
	static char line[65536];
	ssize_t n = read(pipe_fd[0], line, sizeof(line) - 1);

	line[n < 0 ? 0 : n] = '\0';
	return line;
}

/* Said without its time, which must be one of now. */
static const char *said_after_time(void)
{
	const char *line = said();
	int64_t at_ms;

	assert_true(str_starts(str_c(line), "{\"at\":\""));
	assert_true(time_read(str_sub(str_c(line), 7, 24), &at_ms));
	assert_in_range(clock_unix_ms() - at_ms, 0, 5000);
	return line + 7 + 24;
}

static void an_event_is_one_line(void **state)
{
	log_info("worker_started", L_INT("worker_id", 7), L_STR("host", "a"));
	assert_string_equal(said_after_time(), "\",\"level\":\"info\",\"event\":\"worker_started\","
					       "\"worker_id\":7,\"host\":\"a\"}\n");
	log_error("over");
	assert_string_equal(said_after_time(), "\",\"level\":\"error\",\"event\":\"over\"}\n");
}

static void values_are_escaped(void **state)
{
	log_warn("odd", L_STR("text", "a\"b\nc\x01\xFF"), L_STR("none", NULL),
		 L_STRN("part", ((struct str){"xyz", 2})));
	assert_string_equal(said_after_time(), "\",\"level\":\"warn\",\"event\":\"odd\",\"text\":"
					       "\"a\\\"b\\nc\\u0001\xEF\xBF\xBD\","
					       "\"none\":null,\"part\":\"xy\"}\n");
}

static void a_value_is_cut_at_512_bytes_between_characters(void **state)
{
	char text[600];
	struct json *line;
	struct str value;

	memset(text, 'x', sizeof(text));
	memcpy(text + 510, "\xE6\x95\xAC", 3);
	log_info("long", L_STRN("text", ((struct str){text, sizeof(text)})));
	assert_int_equal(json_read(str_c(said()), &line, NULL), JSON_FINE);
	assert_true(json_get_str(line, "text", &value));
	assert_int_equal(value.n, 510);
	json_free(line);
}

static void fields_without_room_are_left_out_and_the_line_says_so(void **state)
{
	char text[512];
	struct json *line;
	bool is_cut = false;
	int64_t n = 0;

	memset(text, 1, sizeof(text)); /* each byte becomes six */
	struct str control = {text, sizeof(text)};
	log_info("full", L_STRN("a", control), L_STRN("b", control), L_INT("c", 5));
	struct str said_line = str_c(said());
	assert_true(said_line.n <= 4096);
	assert_int_equal(json_read(said_line, &line, NULL), JSON_FINE);
	assert_non_null(json_get(line, "a"));
	assert_null(json_get(line, "b"));
	assert_true(json_get_int(line, "c", 5, 5, &n));
	assert_true(json_get_bool(line, "cut", &is_cut) && is_cut);
	json_free(line);
}

static void lines_under_the_level_are_not_written(void **state)
{
	enum log_level level = LOG_ERROR;

	log_debug("quiet");
	assert_string_equal(said(), "");
	assert_true(log_level_read(str_c("debug"), &level));
	log_set_level(level);
	log_debug("loud");
	assert_string_not_equal(said(), "");
	log_set_level(LOG_ERROR);
	log_warn("quiet");
	assert_string_equal(said(), "");
}

static void the_names_of_levels_are_read(void **state)
{
	enum log_level level = LOG_DEBUG;

	assert_true(log_level_read(str_c("info"), &level) && level == LOG_INFO);
	assert_true(log_level_read(str_c("warn"), &level) && level == LOG_WARN);
	assert_true(log_level_read(str_c("error"), &level) && level == LOG_ERROR);
	assert_false(log_level_read(str_c("INFO"), &level));
	assert_false(log_level_read(str_c(""), &level));
	assert_int_equal(level, LOG_ERROR);
}

/* The pipe holds 64 KiB; 2,000 lines are more. With a blocking pipe this would hang. */
static void a_full_pipe_neither_blocks_nor_splits_a_line(void **state)
{
	size_t n_bytes = 0;
	struct str s;

	fcntl(pipe_fd[1], F_SETFL, 0);
	for (int i = 0; i < 2000; i++)
		log_info("again", L_STR("text", "0123456789012345678901234567890123456789"));
	while ((s = str_c(said())).n > 0) {
		n_bytes += s.n;
		assert_int_equal(s.p[s.n - 1], '\n');
	}
	assert_in_range(n_bytes, 4096, 65536);
}

static void nobody_reading_is_no_end(void **state)
{
	close(pipe_fd[0]);
	errno = ERANGE;
	log_info("unheard");
	assert_int_equal(errno, ERANGE);
}

#define LOG_TEST(f) cmocka_unit_test_setup_teardown(f, catch_stderr, release_stderr)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOG_TEST(an_event_is_one_line),
		LOG_TEST(values_are_escaped),
		LOG_TEST(a_value_is_cut_at_512_bytes_between_characters),
		LOG_TEST(fields_without_room_are_left_out_and_the_line_says_so),
		LOG_TEST(lines_under_the_level_are_not_written),
		LOG_TEST(the_names_of_levels_are_read),
		LOG_TEST(a_full_pipe_neither_blocks_nor_splits_a_line),
		LOG_TEST(nobody_reading_is_no_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
