/*
 * bench_text.h - texts at the caps, of scripts and forms that are known to take time. For bench_step.c and bench_check.c.
 */
#ifndef BENCH_TEXT_H
#define BENCH_TEXT_H

#include "base/buf.h"

#include <string.h>

enum { JOB_BYTES = 1 << 20, REPLY_BYTES = 256 << 10 };

static const struct kind {
	const char *name;
	const char *unit; /* varied by a number behind each hundredth */
} kinds[] = {
	{"English", "Dear customer, we are sorry that your order came late. "},
	{"Japanese", "お客様、このたびはご注文の品の到着が遅れまして誠に申し訳ございません。"},
	{"half-width kana", "ｶﾞｷﾞｸﾞﾊﾟﾋﾟｱｲｳ"},
	{"accents", "éàüñÉÀÜÑøß"},
	{"decomposed", "e\xCC\x81u\xCC\x88n\xCC\x83"},
	{"marks", "\xCC\x81\xCC\xA3\xCC\x88\xCC\xB1"},
	{"marks parted", "\xE2\x80\x8B\xCC\x81\xCC\xA3\xCC\x88\xCC\xB1"},
	{"Devanagari", "हमें खेद है कि आपका ऑर्डर देर से आया। "},
	{"Hangul", "안녕하세요 고객님 "},
	{"emoji", "😀👨‍👩‍👧👍🏽"},
	{"Thai", "สวัสดีครับลูกค้า"},
	{"expanding", "\xEF\xB7\xBA"},
	{"line ends", "\n"},
	{"controls", "\x01"},
};
enum { N_KINDS = sizeof(kinds) / sizeof(*kinds) };

static inline struct str text_of(struct arena *a, const char *unit, int seed, size_t n)
{
	struct buf all = BUF(n + 200);

	for (int i = seed; all.n < n; i++) {
		buf_puts(&all, unit);
		if (i % 100 == 0)
			buf_printf(&all, "%d", i);
	}
	struct str text = arena_str(a, str_cut(buf_view(&all), n));
	buf_release(&all);
	return text;
}

static inline struct str plain(struct arena *a, const char *before, const char *unit,
			       const char *after, size_t n)
{
	struct buf all = BUF(n + 200);

	buf_puts(&all, before);
	while (all.n + strlen(unit) + strlen(after) <= n)
		buf_puts(&all, unit);
	buf_puts(&all, after);
	struct str text = arena_str(a, buf_view(&all));
	buf_release(&all);
	return text;
}

/* @n words of @bytes each, behind each a @between; two texts of two seeds have some in common. */
static inline struct str tokens(struct arena *a, uint32_t seed, int n, int bytes, char between)
{
	struct buf all = BUF(REPLY_BYTES);

	for (int i = 0; i < n; i++) {
		seed = seed * 69069 + 1;
		buf_printf(&all, "%0*u%c", bytes - 1, (seed >> 16) % 3000, between);
	}
	struct str text = arena_str(a, buf_view(&all));
	buf_release(&all);
	return text;
}

#endif
