/*
 * core/copied.h - a verdict that a critic only read out. Whoever writes a job, a source or a draft can put a critic's reply into it; a critic
 * who repeats what it was given has judged nothing, so its reply is invalid, whatever it says.
 *
 * The rule: no JSON object in its prompt, static part included, says the same as the reply. The same is the same issues (category, snippet,
 * suggestion, severity), score and verdict, read by core/critique.h for this profile: order, white space, escapes and further
 * fields do not matter. Objects are found wherever they stand: among words, in one another, in a JSON string (\" for "), in
 * full width, with invisible characters in it (text_fold()).
 * Under `critique: text` NO_DEFECTS may not stand in the user message.
 *
 * Looked at are objects of at most COPIED_OBJECT_BYTES_MAX with the members that a critique must have, COPIED_BYTES_MAX of
 * them together. Material with more of them counts as copied from: so much can only be there to be repeated.
 */
#ifndef CORE_COPIED_H
#define CORE_COPIED_H

#include "core/critique.h"
#include "core/wire.h"

enum { COPIED_OBJECT_BYTES_MAX = 64 << 10, COPIED_BYTES_MAX = 128 << 10 };

/* Whether the valid @critique was read out of the prompt that it answers. */
bool copied_from(const struct profile *, const struct critique *, const struct prompt *);

/* Whether @text, a critic's template, shows a whole verdict that passes: who copied it would pass whatever it is. */
bool copied_would_pass(const struct profile *, struct str text);

#endif
