#include "base/clock.h"

#include <time.h>

static const int64_t LAST_MS = 253402300799999; /* 9999-12-31T23:59:59.999Z */

static int64_t read_ms(clockid_t id)
{
	struct timespec now;

	if (clock_gettime(id, &now) != 0)
		BUG("clock_gettime(%d) failed", (int)id);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_unix_ms(void)
{
	return read_ms(CLOCK_REALTIME);
}

int64_t clock_mono_ms(void)
{
	return read_ms(CLOCK_BOOTTIME);
}

/* Takes @n digits from the front of @s. */
static bool take_digits(struct str *s, size_t n, int *out)
{
	int value = 0;

	if (s->n < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (s->p[i] < '0' || s->p[i] > '9')
			return false;
		value = value * 10 + (s->p[i] - '0');
	}
	*s = str_sub(*s, n, s->n);
	*out = value;
	return true;
}

static bool take_char(struct str *s, const char *one_of)
{
	if (s->n == 0 || s->p[0] == '\0' || !strchr(one_of, s->p[0]))
		return false;
	*s = str_sub(*s, 1, s->n);
	return true;
}

/* ".5" is 500 ms; digits after the third are cut. No point: 0 ms. */
static bool take_fraction(struct str *s, int *ms)
{
	int digit, weight = 100;

	*ms = 0;
	if (!take_char(s, "."))
		return true;
	if (!take_digits(s, 1, &digit))
		return false;
	do {
		*ms += digit * weight;
		weight /= 10;
	} while (take_digits(s, 1, &digit));
	return true;
}

static bool take_offset(struct str *s, int *minutes)
{
	int hour, minute;

	*minutes = 0;
	if (take_char(s, "Zz"))
		return true;
	bool west = s->n && s->p[0] == '-';
	if (!take_char(s, "+-") || !take_digits(s, 2, &hour) || !take_char(s, ":") ||
	    !take_digits(s, 2, &minute) || hour > 23 || minute > 59)
		return false;
	*minutes = (west ? -1 : 1) * (hour * 60 + minute);
	return true;
}

bool time_read(struct str s, int64_t *unix_ms)
{
	struct tm t = {0};
	int year, month, ms, offset;

	if (!take_digits(&s, 4, &year) || !take_char(&s, "-") || !take_digits(&s, 2, &month) ||
	    !take_char(&s, "-") || !take_digits(&s, 2, &t.tm_mday) || !take_char(&s, "Tt") ||
	    !take_digits(&s, 2, &t.tm_hour) || !take_char(&s, ":") ||
	    !take_digits(&s, 2, &t.tm_min) || !take_char(&s, ":") ||
	    !take_digits(&s, 2, &t.tm_sec) || !take_fraction(&s, &ms) ||
	    !take_offset(&s, &offset) || s.n != 0)
		return false;
	t.tm_year = year - 1900;
	t.tm_mon = month - 1;
	struct tm said = t;
	/* timegm() turns February 30 into March 2: a field that moved was no date or time. A leap
	 * second moves too. */
	int64_t at = ((int64_t)timegm(&t) - (int64_t)offset * 60) * 1000 + ms;
	if (t.tm_mon != said.tm_mon || t.tm_mday != said.tm_mday || t.tm_hour != said.tm_hour ||
	    t.tm_min != said.tm_min || t.tm_sec != said.tm_sec || at < 0 || at > LAST_MS)
		return false;
	*unix_ms = at;
	return true;
}

void time_write(struct buf *b, int64_t unix_ms)
{
	time_t seconds = unix_ms / 1000;
	struct tm t;

	if (unix_ms < 0 || unix_ms > LAST_MS || !gmtime_r(&seconds, &t))
		BUG("time_write: %lld ms is no year from 1970 to 9999", (long long)unix_ms);
	buf_printf(b, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", t.tm_year + 1900, t.tm_mon + 1,
		   t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, (int)(unix_ms % 1000));
}
