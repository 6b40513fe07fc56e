/*
 * app/suggest.h - the word a person may have meant: the nearest of those that are offered, by edit distance.
 *
 *	struct suggest s = {.wanted = STR_OF("brokrs")};
 *	suggest_offer(&s, STR_OF("brokers"));  ...
 *	if (s.best.p) ...
 */
#ifndef APP_SUGGEST_H
#define APP_SUGGEST_H

#include "base/str.h"

struct suggest {
	struct str wanted;
	struct str best; /* borrowed from what was offered; absent: nothing is near */
	size_t distance; /* of best */
};

/* Near is: at most a third of its letters, and at least one, has to change. Words over 100 bytes are not looked at. */
void suggest_offer(struct suggest *, struct str word);

#endif
