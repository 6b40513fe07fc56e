/*
 * core/language.h - which language a text is in, for the checks that must judge as langdetect 1.0.9 does.
 *
 * The method is that of Nakatani Shuyo, "Language Detection Library" (2010): naive Bayes over the strings of 1 to 3 characters, with
 * a profile of each language (language.data; where it comes from: NOTICE). It looks at the first LANGUAGE_CHARACTERS_MAX characters, drops addresses
 * of mail and web, takes digits and marks for blanks, drops Latin letters from a text that is mostly something else, and passes
 * over words in capitals but for what stands at their begin and end.
 *
 * The original draws strings at random until one language is certain, seven times over, so that a text near a border is told
 * differently from run to run. Here the drawing repeats itself: always the same numbers, as often as it takes until one language
 * leads clearly. The result is what the original tells most often.
 */
#ifndef CORE_LANGUAGE_H
#define CORE_LANGUAGE_H

#include "base/arena.h"
#include "base/str.h"

enum { LANGUAGE_CHARACTERS_MAX = 10000 };

/* The codes of the languages in order: ISO 639-1, but for "zh-cn" and "zh-tw". NULL past the end. */
const char *language_at(size_t i);

/* The code of the language that @text is in; NULL: it has no letters of any. @scratch: freed by the caller. */
const char *language_of(struct arena *scratch, struct str text);

/* What language_of() takes at most, as core/check.h counts work: at 256 KiB 2.5 ms. */
int64_t language_work(struct str text);

#endif
