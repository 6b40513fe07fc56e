/*
 * core/sentence.h - sentences of English text, and those of its words that are all capitals, as NLTK 3.9 finds them: Punkt (Kiss and Strunk
 * 2006, "Unsupervised multilingual sentence boundary detection") with its English abbreviations and sentence starters, and word_tokenize().
 *
 * A sentence ends at '?' and '!', and at a '.' that does not make an abbreviation, an initial or an ellipsis, when white space or a mark
 * as of quotation follows; closing quotation marks and brackets belong to it. A line end is white space, no end. So a heading without a
 * stop joins the next sentence, the number of a list ("1.") is one of its own, and Japanese text is a single one. Punkt also knows from
 * newspapers how 20,000 words are written inside of sentences: that table is left out, which moves a boundary in one text of a hundred.
 *
 * Both take time in proportion to the text.
 */
#ifndef CORE_SENTENCE_H
#define CORE_SENTENCE_H

#include "base/str.h"

struct piece {
	size_t from, to;
};

struct sentences {
	struct str text;
	size_t at, chunk;   /* looked at so far; what is between white space begins there */
	struct piece ahead; /* not given yet: what it begins with may belong to the one before */
	size_t behind;	    /* begin of what is behind it */
	bool is_last, over; /* nothing is behind it; it was given */
};

struct sentences sentences_of(struct str text);
/* The next sentence, a part of the text without white space at its ends; false: there is none. */
bool sentence_next(struct sentences *, struct str *out);

/* Tokens of a sentence in which all cased letters are upper case and at least one is cased: "U.S.", "COVID-19"; of "DON'T" there are
 * two, "DO" and "N'T". */
int64_t sentence_capitals(struct str sentence);

#endif
