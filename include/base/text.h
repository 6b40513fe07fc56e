/*
 * base/text.h - Unicode as people count it, over utf8proc. Input is valid UTF-8 (text_is_utf8() first) unless said otherwise.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/arena.h"
#include "base/buf.h"

/* Strict: no overlong form, no surrogate, nothing over U+10FFFF (Unicode 15, table 3-7). */
bool text_is_utf8(struct str);
/* The same bytes with each ill-formed byte replaced by U+FFFD. @s itself if it is well-formed. */
struct str text_to_utf8(struct arena *, struct str s);

/* Extended grapheme clusters (UAX #29); CRLF is one. */
int64_t text_graphemes(struct str);
/* End of the cluster that begins at byte @at; at < s.n. */
size_t text_grapheme_end(struct str s, size_t at);

/* Whether a cluster ends between two code points whatever stands around them; false, too, where that takes longer to know. */
bool text_apart(int32_t before, int32_t c);

/* Without white space of any script at both ends. */
struct str text_trim(struct str);

/* Runs of letters, marks, digits and joining ' or - between them. In scripts without spaces (Han, Hiragana, Katakana, Thai,
 * Lao, Khmer, Myanmar) each grapheme is a word: a stated approximation of UAX #29 without a dictionary. */
int64_t text_words(struct str);

/* For comparing terms: NFKC and full case folding; dropped is what is not to be seen (Default_Ignorable_Code_Point: zero-width
 * characters, soft hyphens, bidi controls, variation selectors; and U+FFF9..FFFB); wave dashes (U+301C, 3030, 223C) are the tilde that
 * the full-width one becomes. */
struct str text_fold(struct arena *, struct str);
/* The same in bounded time: most code points, and parts of a text (a letter and its marks) that it has had before, take a few ns a byte, all
 * else 50 to 120. Takes what is slow from *slow_bytes; absent: it was not enough. */
struct str text_fold_within(struct arena *, struct str, int64_t *slow_bytes);

/* Without the white space between two letters of Han or kana: 山田 太郎 is 山田太郎. */
struct str text_close_cjk(struct arena *, struct str);

/* Hiragana as the katakana of the same sound; each stands at the byte where it stood. */
struct str text_katakana(struct arena *, struct str);

/* For asking whether a text has changed: NFC, each run of white space one space, none at the ends. A text with more than 64 KiB that
 * are slow in the sense above stays in the form that it has. */
struct str text_squeeze(struct arena *, struct str);

/* Without white space. */
struct str text_close(struct arena *, struct str);
/* text_fold() without white space: what is cut into 3-grams to be compared. */
struct str text_bare(struct arena *, struct str);

/* Bytes [at, at + n) of a text; n > 0. */
struct stretch {
	size_t at, n;
};
/* Where the @n places in @folded, which is fold(@text), lie in @text: the graphemes that became them. One pass over the text. False,
 * and the places are as they were: folding grapheme by grapheme does not give what folding at once gave, or one is beyond @max bytes. */
bool text_unfold(struct str text, struct str folded, struct str (*fold)(struct arena *, struct str),
		 size_t max, struct stretch *place, int n);

/* Decodes one code point at *at and moves *at behind it; -1 at the end.
 * An ill-formed byte is U+FFFD. */
int32_t text_next(struct str, size_t *at);
/* Decodes the code point that ends at *at and moves *at to its begin; -1 at the beginning. */
int32_t text_before(struct str, size_t *at);

/* What a code point is: White_Space of the Unicode Character Database; a letter, a number of any kind or '_' (no marks); a decimal
 * digit of any script; cased letters as the properties Uppercase and Lowercase have them. -1 is none of these. */
bool text_is_space(int32_t);
bool text_is_word(int32_t);
bool text_is_digit(int32_t);
bool text_is_upper(int32_t);
bool text_is_lower(int32_t);

/* Letters in lower case, one by one, without the rule for a final sigma; \u0130 alone becomes two code points. */
struct str text_lower(struct arena *, struct str);
/* Each code point by one that stands for all its cases (simple folding), so that the n-th one of the result is made of the n-th one. */
struct str text_ignore_case(struct arena *, struct str);

/* utf8proc's name and version, for `draftmill --version`. */
void text_library(struct buf *out);

#endif
