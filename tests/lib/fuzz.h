/*
 * tests/lib/fuzz.h - what the fuzz tests share: rounds that can be played again, valid texts made wrong, random Unicode.
 *
 * A round is played by one of two:
 *	by chance	it draws from SEED, the test and its own number, so each can be played alone: SEED=n ROUND=n. SECONDS=n plays each test for
 *			so long instead of its own number of rounds. A test runs in a child: a crash is a failure that names its round.
 *	by an input	a file of texts, each behind the first after a line of %%, and behind the last one the bytes that it draws from, one to four
 *			a draw; when either is used up, chance goes on from a fixed state. So the files of tests/fuzz/corpus/PROGRAM/TEST/
 *			are played before all else, and so libFuzzer, which looks for new ones by the code that they reach, plays in a build
 *			with FUZZ_GUIDED: scripts/fuzz.
 * TEST=name is one test alone, its name with - for its blanks.
 */
#ifndef TESTS_LIB_FUZZ_H
#define TESTS_LIB_FUZZ_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/text.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEED_DEFAULT = 20261130, ROUND_LIMIT_S = 30, FUZZ_BYTES_MAX = 1 << 20 };

struct fuzz {
	uint64_t random;
	struct arena *a;  /* of the round */
	struct str input; /* shown when the round fails */
	struct str texts,
		draws; /* what is left of the input that it is played by; by chance: none */
};

struct fuzz_test {
	const char *name;
	void (*round)(struct fuzz *);
	int n_rounds;
};

/* ---- drawing ---- */

static inline int fuzz_draw(struct fuzz *f, int n)
{
	const size_t bytes = n > 1 << 16 ? 4 : n > 1 << 8 ? 2 : 1;
	uint32_t drawn = 0;

	if (f->draws.n >= bytes) {
		memcpy(&drawn, f->draws.p, bytes);
		f->draws = str_sub(f->draws, bytes, SIZE_MAX);
		return (int)(drawn % (uint32_t)n);
	}
	f->random ^= f->random << 13;
	f->random ^= f->random >> 7;
	f->random ^= f->random << 17;
	return (int)((f->random >> 20) % (uint64_t)n);
}

static inline bool fuzz_chance(struct fuzz *f, int percent)
{
	return fuzz_draw(f, 100) < percent;
}

#define FUZZ_PICK(f, array) ((array)[fuzz_draw((f), (int)(sizeof(array) / sizeof(*(array))))])

/* ---- failing ---- */

_Noreturn static inline void fuzz_fail(const struct fuzz *f, const char *file, int line,
				       const char *what)
{
	printf("# %s:%d: %s\n# input: ", file, line, what);
	for (size_t i = 0; i < f->input.n; i++) {
		unsigned char c = (unsigned char)f->input.p[i];
		printf(c >= 0x20 && c < 0x7F && c != '\\' ? "%c" : "\\x%02x", c);
	}
	puts("");
	fflush(stdout);
#ifdef FUZZ_GUIDED
	abort(); /* libFuzzer keeps the input */
#endif
	_exit(1);
}

#define FUZZ_TRUE(f, condition)                                                                    \
	((condition) ? (void)0 : fuzz_fail((f), __FILE__, __LINE__, #condition))

/* ---- making ---- */

static inline struct str fuzz_text_of(struct fuzz *f, struct buf *b)
{
	struct str text = arena_str(f->a, buf_view(b));

	buf_release(b);
	return text;
}

static inline void fuzz_put_code_point(struct buf *b, int32_t c)
{
	if (c < 0x80) {
		buf_putc(b, (char)c);
		return;
	}
	int n = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3; /* bytes behind the first */
	buf_putc(b, (char)((0xF0 << (3 - n) & 0xF0) | c >> 6 * n));
	while (n-- > 0)
		buf_putc(b, (char)(0x80 | (c >> 6 * n & 0x3F)));
}

/* Where texts go wrong: joiners, marks, folds that grow, right to left, noncharacters, all kinds of white space. */
static inline int32_t fuzz_code_point(struct fuzz *f)
{
	static const struct {
		int32_t first, last;
	} block[] = {
		{'a', 'f'},	    {'a', 'f'},		{'A', 'Z'},	    {'0', '9'},
		{' ', '~'},	    {1, 0x20},		{0x80, 0xFF},	    {0xDF, 0xDF},
		{0x130, 0x131},	    {0x300, 0x36F},	{0x370, 0x3FF},	    {0x5D0, 0x64B},
		{0x900, 0x97F},	    {0xE00, 0xE7F},	{0x1100, 0x11FF},   {0x1F00, 0x1FFF},
		{0x2000, 0x206F},   {0x200B, 0x200F},	{0x3000, 0x303F},   {0x301C, 0x301C},
		{0x3041, 0x30FF},   {0x3041, 0x30FF},	{0x4E00, 0x4E20},   {0xAC00, 0xD7A3},
		{0xE000, 0xE001},   {0xF900, 0xFAD9},	{0xFB00, 0xFB06},   {0xFDFA, 0xFDFA},
		{0xFE00, 0xFE0F},   {0xFF01, 0xFF9F},	{0xFFF0, 0xFFFF},   {0x1F1E6, 0x1F1FF},
		{0x1F3FB, 0x1F469}, {0x1D400, 0x1D7FF}, {0xE0100, 0xE01EF}, {0x10FFFE, 0x10FFFF},
	};
	int i = fuzz_draw(f, (int)(sizeof(block) / sizeof(*block)));

	return block[i].first + fuzz_draw(f, block[i].last - block[i].first + 1);
}

/* Valid UTF-8 of at most @max code points, without NUL. */
static inline struct str fuzz_unicode(struct fuzz *f, int max)
{
	struct buf b = BUF(FUZZ_BYTES_MAX);

	for (int n = fuzz_draw(f, max + 1); n > 0; n--) {
		int32_t c = fuzz_code_point(f);
		for (int again = fuzz_chance(f, 5) ? fuzz_draw(f, 20) : 0; again >= 0; again--)
			fuzz_put_code_point(&b, c);
	}
	return fuzz_text_of(f, &b);
}

/* What the formats make something of, and what they must refuse. */
static const struct str fuzz_tokens[] = {
	STR("{"),
	STR("}"),
	STR("["),
	STR("]"),
	STR(","),
	STR(":"),
	STR("\""),
	STR("\\"),
	STR("'"),
	STR("\n"),
	STR("\r\n"),
	STR("\t"),
	STR(" "),
	STR("- "),
	STR("? "),
	STR("#"),
	STR("&a "),
	STR("*a"),
	STR("!!str "),
	STR("|\n"),
	STR("---\n"),
	STR("%YAML 1.1\n"),
	STR("null"),
	STR("true"),
	STR("false"),
	STR("{}"),
	STR("[]"),
	STR("\"\""),
	STR("NaN"),
	STR("-Infinity"),
	STR("0"),
	STR("-0"),
	STR("-1"),
	STR("1.0"),
	STR("01"),
	STR("0.5"),
	STR("1e308"),
	STR("1e309"),
	STR("1e-400"),
	STR("9007199254740993"),
	STR("9223372036854775807"),
	STR("9223372036854775808"),
	STR("-9223372036854775809"),
	STR("\\u0000"),
	STR("\\ud83d"),
	STR("\\ud83d\\ude00"),
	STR("\\udc00"),
	STR("\\u00e9"),
	STR("\\x"),
	STR("\\0"),
	STR("\xEF\xBB\xBF"),
	STR("\xC0\x80"),
	STR("\xED\xA0\x80"),
	STR("\xFF"),
	STR("\xE3\x81"),
	STR("\xF4\x90\x80\x80"),
	STR("あ"),
	STR("\xF0\x9F\x91\xA9"),
	STR("\xE2\x80\x8D"),
	STR("\xCC\x81"),
	STR("\xE3\x80\x80"),
	STR("//"),
	STR("/**/"),
	STR("\"id\":"),
	STR("\"$ref\":\"#\""),
	STR("{{draft}}"),
	STR("specversion"),
};

static inline struct str fuzz_token(struct fuzz *f)
{
	return FUZZ_PICK(f, fuzz_tokens);
}

/* @s with [at, at + n) in the place of which @put stands. */
static inline struct str fuzz_splice(struct fuzz *f, struct str s, size_t at, size_t n,
				     struct str put)
{
	struct buf b = BUF(FUZZ_BYTES_MAX);

	buf_str(&b, str_sub(s, 0, at));
	buf_str(&b, put);
	buf_str(&b, str_sub(s, at + n, s.n));
	return fuzz_text_of(f, &b);
}

static inline struct str fuzz_mutate_once(struct fuzz *f, struct str s, struct str other)
{
	size_t at = (size_t)fuzz_draw(f, (int)s.n + 1), n = (size_t)fuzz_draw(f, 20);
	size_t from = (size_t)fuzz_draw(f, (int)other.n + 1);
	char byte = (char)fuzz_draw(f, 256);

	switch (fuzz_draw(f, 8)) {
	case 0:
		return fuzz_splice(f, s, at, 1, (struct str){&byte, 1});
	case 1:
		return fuzz_splice(f, s, at, n, STR_OF(""));
	case 2: /* once more, and elsewhere */
		return fuzz_splice(f, s, at, 0, str_sub(s, from, 10 * n));
	case 3:
		return fuzz_splice(f, s, at, n, str_sub(other, from, 10 * n));
	case 4:
		return fuzz_chance(f, 10) ? str_sub(s, 0, at) : s;
	case 5:
		return fuzz_splice(f, s, at, 0, fuzz_unicode(f, 5));
	case 6:
		return fuzz_splice(f, s, at, n, fuzz_token(f));
	default:
		return fuzz_splice(f, s, at, 0, fuzz_token(f));
	}
}

/* The next text of the input; false: there is none. */
static inline bool fuzz_given(struct fuzz *f, struct str *text)
{
	static const struct str line = STR("\n%%\n");

	if (!f->texts.p)
		return false;
	const int64_t end = str_find(f->texts, line, 0);
	*text = end < 0 ? f->texts : str_sub(f->texts, 0, (size_t)end);
	f->texts =
		end < 0 ? (struct str){NULL, 0} : str_sub(f->texts, (size_t)end + line.n, SIZE_MAX);
	return true;
}

/* SEEDS=folder: what a round begins with is kept there, for an engine to begin with. */
static inline void fuzz_keep(struct str text)
{
	const char *folder = getenv("SEEDS");
	uint64_t name = 1469598103934665603u; /* FNV-1a */
	char path[4096];

	for (size_t i = 0; i < text.n; i++)
		name = (name ^ (unsigned char)text.p[i]) * 1099511628211u;
	if (!folder)
		return;
	snprintf(path, sizeof(path), "%s/%016llx", folder, (unsigned long long)name);
	FILE *file = fopen(path, "w");
	if (!file || fwrite(text.p, 1, text.n, file) != text.n || fclose(file) != 0)
		exit(1);
}

/* The next text of the input, else one of @corpus, untouched now and then, mostly wrong in a few places. It is what the round shows if it
 * fails. */
static inline struct str fuzz_mutate(struct fuzz *f, const struct str *corpus, int n_corpus)
{
	struct str s;

	if (fuzz_given(f, &s)) {
		f->input = arena_str(f->a, s);
		return f->input;
	}
	s = corpus[fuzz_draw(f, n_corpus)];
	fuzz_keep(s);
	for (int i = fuzz_draw(f, 5); i > 0; i--)
		s = fuzz_mutate_once(f, s, corpus[fuzz_draw(f, n_corpus)]);
	f->input = arena_str(f->a, s);
	return f->input;
}

/* ---- running ---- */

static inline int64_t fuzz_setting(const char *name, int64_t otherwise)
{
	const char *value = getenv(name);

	return value ? strtoll(value, NULL, 10) : otherwise;
}

/* TEST is its name, with - for blanks; or there is no TEST. */
static inline bool fuzz_is_wanted(const struct fuzz_test *test)
{
	const char *wanted = getenv("TEST"), *name = test->name;

	while (wanted && *wanted && (*wanted == *name || (*wanted == '-' && *name == ' '))) {
		wanted++;
		name++;
	}
	return !wanted || (!*wanted && !*name);
}

static inline void fuzz_round_by(const struct fuzz_test *test, struct str input)
{
	static const struct str line = STR("\n%%\n");
	struct fuzz f = {.a = arena_new(), .random = 1, .texts = input};

	for (int64_t at = 0; (at = str_find(input, line, (size_t)at)) >= 0; at += (int64_t)line.n) {
		f.texts = str_sub(input, 0, (size_t)at);
		f.draws = str_sub(input, (size_t)at + line.n, SIZE_MAX);
	}
	f.texts.p = f.texts.p ? f.texts.p : "";
	test->round(&f);
	arena_free(f.a);
}

/* All kept inputs of a test, of tests/fuzz/@program.c. */
static inline void fuzz_replay(const struct fuzz_test *test, const char *program)
{
	char folder[512], path[1024],
		*end = folder + snprintf(folder, sizeof(folder), "tests/fuzz/corpus/%s/", program);
	char *bytes = malloc(FUZZ_BYTES_MAX);

	for (const char *name = test->name; *name; name++)
		*end++ = *name == ' ' ? '-' : *name;
	*end = '\0';
	DIR *dir = opendir(folder);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		FILE *file = fopen(path, "r");
		if (!file)
			exit(1);
		size_t n = fread(bytes, 1, FUZZ_BYTES_MAX, file);
		fclose(file);
		alarm(ROUND_LIMIT_S);
		printf("# %s\n", path);
		fflush(stdout);
		fuzz_round_by(test, (struct str){bytes, n});
	}
	if (dir)
		closedir(dir);
	free(bytes);
}

static inline void fuzz_round(const struct fuzz_test *test, int i_test, int64_t round)
{
	uint64_t seed = (uint64_t)fuzz_setting("SEED", SEED_DEFAULT);
	struct fuzz f = {.a = arena_new()};

	f.random = (seed * 1000003 + (uint64_t)i_test) * 1000000007 + (uint64_t)round + 1;
	for (int i = 0; i < 8; i++) /* neighbours part */
		(void)fuzz_draw(&f, 2);
	alarm(ROUND_LIMIT_S);
	test->round(&f);
	arena_free(f.a);
}

/* All rounds of a test; *at is the one being played. */
static inline void fuzz_rounds(const struct fuzz_test *test, int i_test, int64_t *at)
{
	int64_t seconds = fuzz_setting("SECONDS", 0), only = fuzz_setting("ROUND", -1);
	int64_t end_ms = clock_mono_ms() + 1000 * seconds;

	if (only >= 0) {
		*at = only;
		fuzz_round(test, i_test, only);
		return;
	}
	for (; seconds ? clock_mono_ms() < end_ms : *at < test->n_rounds; ++*at)
		fuzz_round(test, i_test, *at);
}

/* Prints TAP; the exit status of main(). @file: __FILE__ of the tests. */
static inline int fuzz_main(const struct fuzz_test *test, int n_test, const char *file)
{
	int64_t *at =
		mmap(NULL, sizeof(*at), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status, n_failed = 0;
	char program[64];

	snprintf(program, sizeof(program), "%s", strrchr(file, '/') + 1);
	*strrchr(program, '.') = '\0';
	printf("1..%d\n# SEED=%lld\n", n_test, (long long)fuzz_setting("SEED", SEED_DEFAULT));
	for (int i = 0; i < n_test; i++) {
		*at = -1;
		fflush(stdout);
		pid_t child = fork();
		if (child == 0) {
			if (!fuzz_is_wanted(&test[i]))
				exit(0);
			if (fuzz_setting("ROUND", -1) < 0)
				fuzz_replay(&test[i], program);
			*at = 0;
			fuzz_rounds(&test[i], i, at);
			exit(0);
		}
		if (child < 0 || waitpid(child, &status, 0) != child)
			return 1;
		if (status != 0 && *at >= 0)
			printf("# round %lld, wait status %d\n", (long long)*at, status);
		else if (status != 0)
			printf("# by the last file named above, wait status %d\n", status);
		printf("%s %d - %s\n", status == 0 ? "ok" : "not ok", i + 1, test[i].name);
		n_failed += status != 0;
	}
	return n_failed > 0;
}

#ifdef FUZZ_GUIDED
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*play)(const uint8_t *bytes, size_t n));

static const struct fuzz_test *fuzz_guided;

static inline int fuzz_play(const uint8_t *bytes, size_t n)
{
	fuzz_round_by(fuzz_guided, (struct str){(const char *)bytes, n});
	return 0;
}

/* Without TEST: their names. With SEEDS: some rounds by chance, for what they begin with. Else libFuzzer, with its arguments. */
static inline int fuzz_drive(const struct fuzz_test *test, int n_test, int argc, char **argv)
{
	enum { N_SEED_ROUNDS = 300 };

	for (int i = 0; i < n_test; i++) {
		if (!getenv("TEST"))
			puts(test[i].name);
		else if (fuzz_is_wanted(&test[i])) {
			for (int round = 0; getenv("SEEDS") && round < N_SEED_ROUNDS; round++)
				fuzz_round(&test[i], i, round);
			fuzz_guided = &test[i];
			return getenv("SEEDS") ? 0 : LLVMFuzzerRunDriver(&argc, &argv, fuzz_play);
		}
	}
	return getenv("TEST") ? 1 : 0;
}
#define FUZZ_MAIN(tests) fuzz_drive((tests), (int)(sizeof(tests) / sizeof(*(tests))), argc, argv)
#else
#define FUZZ_MAIN(tests)                                                                           \
	((void)argc, (void)argv,                                                                   \
	 fuzz_main((tests), (int)(sizeof(tests) / sizeof(*(tests))), __FILE__))
#endif

#endif
