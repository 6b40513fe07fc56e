/*
 * core/particulars.h - what a text must not lose by being refined: its numbers, names, addresses and quotations. Found by rules that
 * know no dictionary: they protect a word too many rather than a name too few.
 *
 *	number     a run of letters and digits with a digit in it, also joined by - _ ' or, between digits, by . , : /; with a sign or currency
 *	           before it and a per cent sign or 百千万億兆 behind it. Kanji numerals before a counter (円年月日時分秒人名件個回本台割)
 *	name       a capitalised word that begins no sentence and no line, except "I"; Han or katakana before 様 氏 殿 御中 さん さま (but for
 *	           common words such as お客様, 仕様); the value of a variable of the job, as the job writes it,
 *	           unless it is all lower-case ASCII
 *	address    of the web (with :// or www.) or of mail
 *	quotation  what stands between “” «» 「」 『』 or two " of one paragraph
 *
 * Compared after text_fold(), quotations after text_squeeze(), over 400 bytes as they stand. A name has to stay once (a pronoun may stand for it), the others as often as
 * they stood.
 */
#ifndef CORE_PARTICULARS_H
#define CORE_PARTICULARS_H

#include "core/job.h"
#include "core/merge.h"

enum particular {
	PARTICULAR_number,
	PARTICULAR_name,
	PARTICULAR_address,
	PARTICULAR_quotation,
	PARTICULAR_uncounted, /* over 10,000 of them in one text, or too many variables for so long a one: taken for lost */
	PARTICULAR_none,
};

/* @said: what issues say of @before as a whole. What they name may go; and for each new one of a kind that they name, another of that kind.
 * The kind of one that @before has outside the @n places @free and @after has lost; PARTICULAR_none: it has all. Bounded work: about 10 ms. */
enum particular particulars_lost(const struct job *, struct str before, const struct span *free,
				 int n, struct str after, struct str said);

#endif
