/*
 * count.h - what checks count in a text, each as IFEval's reference evaluator does (Zhou et al. 2023, arXiv 2311.07911): patterns of
 * Python's `re` over code points, odd cases included. Each takes time in proportion to the text.
 */
#ifndef COUNT_H
#define COUNT_H

#include "base/arena.h"
#include "base/text.h"

struct count {
	struct arena *scratch;
	struct str text, word; /* word: for those that need one */
	int64_t max;	       /* the first hit over it is one too many */
	int64_t n;	       /* hits so far */
	int64_t at, len;       /* bytes of the one too many; at -1: there is none */
	const char *fault;     /* the text cannot be counted; NULL: it can */
};

void count_words(
	struct count *); /* runs of letters, numbers and '_': "don't" and "3.5" are two each */
void count_sentences(struct count *);  /* core/sentence.h */
void count_capitals(struct count *);   /* tokens all in capitals, core/sentence.h */
void count_word(struct count *);       /* `word` in any case, inside of longer words too */
void count_letter(struct count *);     /* `word`, of ASCII, in any case */
void count_paragraphs(struct count *); /* parted by ***; a fault: one is empty, and not at an end */
void count_placeholders(struct count *); /* [ to the next ] of the line */
void count_bullets(struct count *); /* lines that begin with "-", or with "*" and not another one */
void count_highlights(struct count *); /* *x* and **x**, each of one line and not empty */
void count_sections(struct count *);   /* `word`, a white space or none, digits */

/* Bytes [at, at + n) of text_ignore_case(@text) as a place in @text. */
void count_locate(struct str text, struct str folded, size_t at, size_t n, int64_t *out_at,
		  int64_t *out_n);

#endif
