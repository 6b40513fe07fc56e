/*
 * app/failpoint.h - places where the test build can be told to crash. DRAFTMILL_FAILPOINT="parse:TEXT" ends the process at once
 * when a message with TEXT in its value is about to be parsed; "start:TEXT" and "step:TEXT", when a job with TEXT in its id
 * is about to make its first step or a later one; "reply:TEXT", when a reply for one is about to be read; "replay:TEXT", when a
 * stored step of one is about to be fed in again. In other builds it is nothing.
 */
#ifndef APP_FAILPOINT_H
#define APP_FAILPOINT_H

#include "base/str.h"

#ifdef DRAFTMILL_FAILPOINTS
void failpoint(const char *name, struct str subject);
#else
static inline void failpoint(const char *name, struct str subject)
{
	(void)name;
	(void)subject;
}
#endif

#endif
