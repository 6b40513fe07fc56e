/*
 * core/check.h - deterministic checks of a text, run on every draft before and after refinement.
 *
 * A check is {"name", "type", arguments, "severity" 1..5, "hard", "field"}; `hard` is true unless said otherwise, `severity` 4; `field`, where
 * the profile has them, is the part of a draft that it looks at; without it, the whole. A type is one row of
 * the table in its check_FAMILY.c; check.c lists the families. Types of today:
 *
 *	graphemes     min, max            length in grapheme clusters (UAX #29), of the text without white space at its ends
 *	words         min, max            length in words, see base/text.h
 *	must_include  values, variables   each value, and each named job variable's value, occurs (text_fold()); a digit more before or behind
 *	                                  makes another number. White space between two letters of Han or kana does not count; the
 *	                                  value of a variable that ends in an honorific (様 さま さん ちゃん くん 君 先生 御中 殿 氏) is met by
 *	                                  the same name with another one. Red, too, if the job gives a variable no value
 *	forbidden     terms, fold_kana    none of the terms occurs (text_fold()); a term that begins or ends in a Latin, Greek or Cyrillic
 *	                                  letter or a digit does not match inside a longer word. fold_kana true: hiragana is katakana
 *	regex         pattern, match,     PCRE2, UTF; match true: must be found, false: must not. Limits on match, depth, heap and on the
 *	              describe            work: a pattern that meets one is a red check that says so. `describe` stands for the
 *	                                  pattern in prompts
 *	number        pattern, min, max,  what the pattern's one group captures holds one decimal from min to max, in every match; not
 *	              describe            found is red. ASCII digits, also in full width; commas between groups of three; a point before
 *	                                  a fraction; a minus (-, U+2212) not behind a letter or digit. No 1.234,5, 1e5, 千, 1/2. Compared
 *	                                  digit by digit. min and max are integers, or decimals as strings
 *	register      style               Japanese sentences that end politely (敬体: です ます ました ません でした でしょう ましょう ませ ください)
 *	                                  and plainly (常体: だ, である, verbs and adjectives in plain form, also before よね, から and other
 *	                                  particles): style `either` (default) refuses both in one text, `polite` and `plain` the other one.
 *	                                  A sentence ends at 。．！？!?; a line that ends without one counts only if it ends politely (a plain
 *	                                  one may be a heading, or go on). Not counted: other ends (nouns, て, fragments); what stands in
 *	                                  「」『』“”（）【】; headings (#), quoted lines (>), tables (|), code; items of lists without a mark
 *	glyphs        language, allow     no character foreign to the language, ja or en (the job's by default). Nowhere foreign: Latin with
 *	                                  its marks, punctuation, numbers, symbols, emoji. Japanese has besides them kana, Greek, Cyrillic,
 *	                                  its punctuation, full and half width, and the Han of JIS X 0208, JIS X 0213 and CP932. All else is
 *	                                  foreign: other scripts, private use, U+FFFD, controls but tab and line ends. May stand all the
 *	                                  same: the characters of `allow`, and those of the job's variables (a customer 𠮷田)
 *	commas        max                 at most so many of , ， 、 ､ in one sentence, the comma in 1,000 aside. A sentence ends at 。．！？, at
 *	                                  a line end behind a CJK character and at one before an empty line, an item, a heading; in
 *	                                  between where core/sentence.h says
 *	markdown                          CommonMark (cmark) without what a reader would see as broken: code that never ends; ** __ ` left
 *	                                  in the words; ]( or ][ left, links to nowhere; a level of headings skipped; ##Heading without
 *	                                  blank; tables whose rule has other cells than the head, or a row more
 *	unlike        examples,           no near copy of an example: at most max_permille (800) by similarity_permille() of their
 *	              max_permille        text_bare() in 3-grams. For the few-shots of the prompt: give their texts here
 *	urls          hosts, mail         hosts of URLs are among `hosts` (none given: no URL) or sub-domains. A URL is SCHEME://, http: and
 *	                                  https: without slashes, www., //host as a link's target, and a bare host that ends in one of the
 *	                                  common top-level domains (com, net, jp, ..); javascript: and data: as a target are red, and
 *	                                  so is a user name before a host. Compared as written, folded: no Punycode is decoded. mail true:
 *	                                  hosts of mail addresses too
 *	leftover      allow               no placeholder: {{x}} {% %} <%= %> ${x} {name}, %NAME%, [NAME] [Your Name] <NAME> [CUSTOMER_ID],
 *	                                  【..入力..】 [..]様, 〇〇 ○○ △△ ●●, three X, XX円, TBD TBA TBC, marks of programmers for later,
 *	                                  lorem ipsum; but for those of `allow`, as they stand in the text
 *	json                              the whole text, trimmed, is one JSON value (base/json.h)
 *	json_schema   schema              it is one that fits this JSON Schema, given as a text of JSON; core/schema.h says which keywords
 *	                                  there are. Up to five faults are told, each by its place: "/items/3/price: is missing"
 *
 * And the instruction types of IFEval (Zhou et al. 2023, arXiv 2311.07911) by their ids and with their arguments, as "keywords:existence":
 * their verdicts are those of its evaluator (strict), odd cases included; a text of white space alone fails each. What that one draws at random
 * where an argument is missing is refused here. core/count.h, core/language.h and tests/data/ifeval have the details.
 *
 * All checks of a text share CHECK_WORK_MAX, so that no draft holds up other jobs: to fold it, once for all, costs 24 for each byte and
 * 100 more for one that is slow (base/text.h), so does the value of a variable; then must_include 16 a byte once, and fold_kana 4; a term
 * 1 for each byte of the text, 8 if it stands in longer words; a length 24 a byte of the text, `json` 8; `markdown` 40 and 3,000 a mark;
 * `unlike` 60 an example; `urls` 16 and 1,000 a URL; other types 4 to 64; IFEval's 8 to 128, and what language_work() says; a regex 400 a
 * search, 64 a step and 1 a byte passed; a schema 300 for each value that each of its schemas is asked about, and 32 a byte of what is
 * compared. A check that does not get by with what is left is red and says so. At 5 kB that is 3,000 terms, or 130 lengths.
 */
#ifndef CORE_CHECK_H
#define CORE_CHECK_H

#include "base/json.h"

struct job;
struct check_type;

enum {
	CHECKS_MAX = 100,	       /* of a profile; of a job as well (job.schema.json) */
	CHECK_DETAIL_BYTES_MAX = 1000, /* what is over it ends in "..." */
	CHECK_WORK_MAX = 16000000,     /* of all checks of one text: about 8 ms */
};

struct check {
	struct str name; /* [a-z0-9_-]{1,40}, one of its kind in a profile */
	const struct check_type *type;
	const void *args; /* compiled by the type; in the arena */
	int64_t severity;
	bool hard;
	struct str field; /* of the profile, that it looks at; absent: the whole draft */
};

/* A place in a text: bytes [at, at + n). */
struct span {
	int64_t at, n;
};

struct check_result {
	const struct check *check;
	bool ok;
	struct str detail; /* for a person and for the refiner: what is wrong; absent when ok */
	int64_t at, n;	   /* bytes of the text concerned; at -1 = the whole text */
	bool local; /* these make it red, whatever stands elsewhere: behind them may be others */
};

/* A text under all its checks, one after another. */
struct checked {
	struct arena *scratch; /* of what the checks share; freed by the caller */
	struct str text;
	/* Each made for the first check that asks: text_fold() of it; of that text_close_cjk() and text_katakana(). */
	struct str folded, closed, katakana;
	int64_t work;	    /* done so far, up to check_work_max() */
	int64_t extra_work; /* allowed over CHECK_WORK_MAX, where nobody else waits */
	int64_t n_walked;   /* bytes passed to tell where what was found stands */
};

struct check_type {
	const char *name;
	/* Reads the arguments of @spec into *args (arena). ST_INVALID: *err names the key and the mend; unknown keys are refused by check_read(). */
	enum status (*read)(struct arena *a, const struct json *spec, const void **args,
			    struct err *err);
	/* Sets ok, detail, at, n. What is in @scratch, the detail too, is gone after check_run(), which copies it. */
	void (*run)(struct arena *scratch, const void *args, const struct job *, struct checked *,
		    struct check_result *out);
	/* The constraint as one sentence for a prompt, without a final line end. */
	void (*phrase)(const void *args, const struct job *, bool japanese, struct buf *out);
	const char *const *keys; /* argument names, NULL at the end */
};

/* One check from JSON; lives in @a. */
enum status check_read(struct arena *a, const struct json *spec, struct check *out,
		       struct err *err) MUST_CHECK;

/* A list of them, no name twice. */
enum status check_read_list(struct arena *a, const struct json *array, const struct check **out,
			    int *n, struct err *err) MUST_CHECK;

/* NULL: none has the name. */
const struct check *check_named(const struct check *, int n, struct str name);

void check_run(struct arena *a, const struct check *, const struct job *, struct checked *,
	       struct check_result *out);

/* A variable that must_include wants the value of and that the job gives none; absent: there is no such. */
struct str check_lacks(const struct check *, const struct job *);

/* What all checks of the text may do, and what is left of it. */
int64_t check_work_max(const struct checked *);
int64_t check_work_left(const struct checked *);
/* For the types: takes @work from what is left. False, and the check is red: so much is not left. */
bool check_afford(struct checked *, int64_t work, struct check_result *out) MUST_CHECK;

/* Writes what the trail and the events tell of a result into an open object. */
void check_put(const struct check_result *, bool with_detail, struct json_out *);

/* The places of a red result that has one: its own and, if it is local, those behind it, as far as CHECK_WORK_MAX suffices, of which
 * *work is done; at most @max into @place. Returns how many. */
int check_places(const struct check_result *, const struct job *, struct str text, int64_t *work,
		 struct span *place, int max);

/* The table of types, for documentation and for suggestions; NULL past the end. */
const struct check_type *check_type_at(size_t i);

/* The foreign libraries' names and versions, for `draftmill --version`. */
void check_library(struct buf *out);

#endif
