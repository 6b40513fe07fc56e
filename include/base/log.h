/*
 * base/log.h - one JSON line an event on stderr, never a prompt, a draft or a key.
 *
 *	log_info("worker_started", L_INT("worker_id", id), L_STR("host", host));
 *	{"at":"2026-11-30T12:00:00.123Z","level":"info","event":"worker_started","worker_id":7,"host":"a"}
 *
 * Values are escaped and cut at 512 bytes each. A line that cannot be written is dropped: logging never blocks or
 * ends the work.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/str.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

struct log_field {
	const char *key;
	bool is_int;
	struct str text;
	int64_t number;
};

#define L_STR(k, c)                                                                                \
	(struct log_field)                                                                         \
	{                                                                                          \
		(k), false, str_c(c), 0                                                            \
	}
#define L_STRN(k, s)                                                                               \
	(struct log_field)                                                                         \
	{                                                                                          \
		(k), false, (s), 0                                                                 \
	}
#define L_INT(k, n)                                                                                \
	(struct log_field)                                                                         \
	{                                                                                          \
		(k), true, {NULL, 0}, (n)                                                          \
	}

/* Lines under @level are not written. Default LOG_INFO. */
void log_set_level(enum log_level level);
bool log_level_read(struct str name, enum log_level *out); /* debug info warn error */

void log_write(enum log_level, const char *event, const struct log_field *field, size_t n_field);

#define LOG_FIELDS(...)                                                                            \
	(const struct log_field[])                                                                 \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define LOG_AT(level, event, ...)                                                                  \
	log_write((level), (event), LOG_FIELDS({0}, ##__VA_ARGS__) + 1,                            \
		  sizeof(LOG_FIELDS({0}, ##__VA_ARGS__)) / sizeof(struct log_field) - 1)
#define log_debug(event, ...) LOG_AT(LOG_DEBUG, event, ##__VA_ARGS__)
#define log_info(event, ...) LOG_AT(LOG_INFO, event, ##__VA_ARGS__)
#define log_warn(event, ...) LOG_AT(LOG_WARN, event, ##__VA_ARGS__)
#define log_error(event, ...) LOG_AT(LOG_ERROR, event, ##__VA_ARGS__)

#endif
