/*
 * core/revision.h - a text out of what models wrap it in. Only what the draft itself does not have is taken off:
 *	a code fence	the reply has exactly two lines that begin with ```, the second with nothing behind it, and before the first stands a
 *			preamble, or nothing and then nothing behind the second: what is between them is the text. Not if a line of the
 *			draft begins with ```. A block that stands among other words is a part of the text
 *	a preamble	the first line, of 200 bytes at most and with text behind it, begins like "Here is", "Sure" or "The revised" and ends in a
 *			colon, or has 以下 or こちら, and 修正, 改訂 or 推敲, and ends in a colon or 。. Not if it is a part of the draft
 *	white space	at both ends: the draft's own takes its place
 */
#ifndef CORE_REVISION_H
#define CORE_REVISION_H

#include "base/arena.h"

/* The text in @reply, a revision of @draft; may be empty. In @a, or a part of @reply. */
struct str revision_text(struct arena *a, struct str reply, struct str draft);

#endif
