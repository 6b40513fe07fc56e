#include "base/decode.h"
#include "utf8.h"

#include <errno.h>
#include <iconv.h>
#include <stdlib.h>

enum { IN_BYTES = 1 << 16, OUT_BYTES = 1 << 17 };

struct decode {
	FILE *f;
	const char *encoding;
	iconv_t iconv;
	int64_t done_bytes; /* of the file: what is in front of `in` */
	bool begun;	    /* the place of a byte order mark is behind us */
	size_t n_in;
	char in[IN_BYTES]; /* read, not decoded yet */
	char out[OUT_BYTES];
};

/* What follows a slash asks iconv to replace or drop characters; no name at all is the locale's. */
static iconv_t open_strict(const char *encoding)
{
	if (!*encoding || strchr(encoding, '/'))
		return (iconv_t)-1;
	return iconv_open("UTF-8", encoding);
}

bool decode_knows(const char *encoding)
{
	iconv_t probe = open_strict(encoding);

	if (probe == (iconv_t)-1)
		return false;
	(void)iconv_close(probe);
	return true;
}

struct decode *decode_new(FILE *f, const char *encoding)
{
	struct decode *d = calloc(1, sizeof(*d));

	if (!d)
		BUG("out of memory");
	d->f = f;
	d->encoding = encoding;
	d->iconv = open_strict(encoding);
	if (d->iconv == (iconv_t)-1)
		BUG("encoding '%s'", encoding);
	return d;
}

void decode_free(struct decode *d)
{
	if (!d)
		return;
	(void)iconv_close(d->iconv);
	free(d);
}

/* One run of iconv over what was read, with so much room: the bytes that came out, and where it stopped. */
static size_t run_iconv(struct decode *d, size_t n_room, char **from, size_t *result)
{
	char *to = d->out;
	size_t n_left = d->n_in;

	*from = d->in;
	*result = iconv(d->iconv, from, &n_left, &to, &n_room);
	if (d->n_in == 0) /* the end: what a stateful encoding still holds */
		(void)iconv(d->iconv, NULL, NULL, &to, &n_room);
	return (size_t)(to - d->out);
}

/* The bytes that came out. EINVAL (a character that goes on in the next piece) and E2BIG are no faults. iconv lets code points over U+10FFFF
 * pass: it runs again, up to the first of them. */
static size_t convert(struct decode *d, bool *is_stuck)
{
	char *from;
	size_t result, n = run_iconv(d, sizeof(d->out), &from, &result);
	size_t n_fine = utf8_valid_prefix((struct str){d->out, n});

	*is_stuck = result == (size_t)-1 && (errno == EILSEQ || (errno == EINVAL && feof(d->f)));
	if (n_fine < n) {
		(void)run_iconv(d, n_fine, &from, &result);
		*is_stuck = n_fine == 0;
	}
	d->n_in -= (size_t)(from - d->in);
	d->done_bytes += from - d->in;
	memmove(d->in, from, d->n_in);
	return n_fine;
}

enum status decode_next(struct decode *d, struct str *out, struct err *err)
{
	bool is_stuck = false, is_end;

	*out = STR_OF("");
	do {
		d->n_in += fread(d->in + d->n_in, 1, sizeof(d->in) - d->n_in, d->f);
		if (ferror(d->f))
			return err_set(err, ST_DOWN, "%s", strerror(errno));
		is_end = d->n_in == 0;
		*out = (struct str){d->out, convert(d, &is_stuck)};
		if (out->n && !d->begun) {
			d->begun = true;
			if (str_starts(*out, "\xEF\xBB\xBF"))
				*out = str_sub(*out, 3, out->n);
		}
	} while (out->n == 0 && !is_end && !is_stuck);
	if (out->n || !is_stuck)
		return ST_OK;
	return err_set(err, ST_INVALID,
		       "byte %lld of the file (0x%02x) is not %s; name the encoding that it is in",
		       (long long)d->done_bytes, (unsigned char)d->in[0], d->encoding);
}

int64_t decode_bytes(const struct decode *d)
{
	return d->done_bytes;
}
