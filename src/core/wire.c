#include "core/wire.h"

#include "base/clock.h"

#include <stdio.h>

/* The formats, one a line: wire_NAME.c defines wire_NAME. */
#define FORMATS(X) X(openai)

#define X(name) extern const struct wire wire_##name;
FORMATS(X)
#undef X

const struct wire *wire_named(struct str name)
{
#define X(name) &wire_##name,
	static const struct wire *const format[] = {FORMATS(X)};
#undef X

	for (size_t i = 0; i < sizeof(format) / sizeof(*format); i++) {
		if (str_is(name, format[i]->name))
			return format[i];
	}
	return NULL;
}

static const struct {
	const char *name;
	bool maybe_billed;
} classes[] = {
#define X(name, maybe_billed) {#name, maybe_billed},
	REPLY_CLASSES(X)
#undef X
};

const char *reply_class_name(enum reply_class class)
{
	return classes[class].name;
}

enum reply_class reply_class_read(struct str name)
{
	enum reply_class class = 0;

	while (class < N_REPLY_CLASSES && !str_is(name, classes[class].name))
		class ++;
	return class;
}

bool reply_maybe_billed(enum reply_class class)
{
	return classes[class].maybe_billed;
}

struct str http_header(struct str headers, const char *name)
{
	size_t n_name = strlen(name);

	while (headers.n > 0) {
		int64_t end = str_find(headers, STR_OF("\n"), 0);
		struct str line = str_sub(headers, 0, end < 0 ? headers.n : (size_t)end);
		if (str_starts(line, name) && line.n > n_name && line.p[n_name] == ':')
			return str_trim(str_sub(line, n_name + 1, line.n));
		headers = str_sub(headers, line.n + 1, headers.n);
	}
	return (struct str){NULL, 0};
}

/* Over a week is nonsense: nobody would wait that long. */
static const int64_t RETRY_AFTER_MAX_MS = 7 * 24 * 3600 * INT64_C(1000);

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "34" or "34.07" seconds; digits after the third are cut. -1: no such number, or over the maximum. */
static int64_t read_seconds_ms(struct str s)
{
	int64_t seconds = 0, ms = 0, weight_ms = 100;
	size_t i = 0;

	for (; i < s.n && is_digit(s.p[i]) && seconds <= RETRY_AFTER_MAX_MS; i++)
		seconds = seconds * 10 + (s.p[i] - '0');
	if (i == 0 || seconds > RETRY_AFTER_MAX_MS / 1000)
		return -1;
	if (i == s.n)
		return seconds * 1000;
	if (s.p[i] != '.' || i + 1 == s.n)
		return -1;
	for (i++; i < s.n; i++, weight_ms /= 10) {
		if (!is_digit(s.p[i]))
			return -1;
		ms += (s.p[i] - '0') * weight_ms;
	}
	return seconds * 1000 + ms;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" (IMF-fixdate of RFC 9110, 5.6.7; its two obsolete forms are not read). */
static bool read_http_date(struct str s, int64_t *unix_ms)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	char shape[32], iso[32];

	if (s.n != strlen("Sun, 06 Nov 1994 08:49:37 GMT"))
		return false;
	const char *day = s.p + 5, *month = s.p + 8, *year = s.p + 12, *time = s.p + 17;
	snprintf(shape, sizeof(shape), "%.3s, %.2s %.3s %.4s %.8s GMT", s.p, day, month, year,
		 time);
	int64_t at = str_find(STR_OF(months), (struct str){month, 3}, 0);
	if (!str_is(s, shape) || at < 0 || at % 3 != 0)
		return false;
	snprintf(iso, sizeof(iso), "%.4s-%02d-%.2sT%.8sZ", year, (int)at / 3 + 1, day, time);
	return time_read(str_c(iso), unix_ms);
}

int64_t http_retry_after_ms(struct str headers, int64_t received_ms)
{
	struct str value = http_header(headers, "retry-after");
	int64_t ms, date_ms;

	if (!value.p)
		return -1;
	ms = read_http_date(value, &date_ms) ? date_ms - received_ms : read_seconds_ms(value);
	return ms > 0 && ms <= RETRY_AFTER_MAX_MS ? ms : -1;
}

/* clang-format off */
#define ISSUE_SCHEMA \
	"{\"type\":\"object\",\"properties\":{" \
	"\"category\":{\"type\":\"string\"}," \
	"\"snippet\":{\"type\":\"string\"}," \
	"\"suggestion\":{\"type\":\"string\"}," \
	"\"severity\":{\"type\":\"integer\",\"enum\":[1,2,3,4,5]}}," \
	"\"required\":[\"category\",\"snippet\",\"suggestion\",\"severity\"],\"additionalProperties\":false}"

#define CRITIQUE_SCHEMA \
	"{\"type\":\"object\",\"properties\":{" \
	"\"issues\":{\"type\":\"array\",\"items\":" ISSUE_SCHEMA "}," \
	"\"reasons\":{\"type\":\"string\"}," \
	"\"score\":{\"type\":\"number\"}," \
	"\"verdict\":{\"type\":\"string\",\"enum\":[\"pass\",\"fail\"]}}," \
	"\"required\":[\"issues\",\"reasons\",\"score\",\"verdict\"],\"additionalProperties\":false}"

#define CONFIDENT_TEXT_SCHEMA \
	"{\"type\":\"object\",\"properties\":{" \
	"\"text\":{\"type\":\"string\"}," \
	"\"confidence\":{\"type\":\"number\"}}," \
	"\"required\":[\"text\",\"confidence\"],\"additionalProperties\":false}"
/* clang-format on */

/* As strict decoders take it: no bounds, every member required, and evidence before the judgement that rests on it. */
struct str want_schema(enum want want)
{
	switch (want) {
	case WANT_TEXT:
		return (struct str){NULL, 0};
	case WANT_CRITIQUE:
		return STR_OF(CRITIQUE_SCHEMA);
	case WANT_CONFIDENT_TEXT:
		return STR_OF(CONFIDENT_TEXT_SCHEMA);
	}
	BUG("no want %d", (int)want);
}
