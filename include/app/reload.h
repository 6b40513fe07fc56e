/*
 * app/reload.h - SIGHUP: settings, prompts and profiles are read again and taken whole, or not at all.
 *
 * Reads small local files on the loop, as at the start: a turn of some milliseconds.
 */
#ifndef APP_RELOAD_H
#define APP_RELOAD_H

#include "app/run.h"

/* The log tells what became of it: each fault with its place, and each key whose new value waits for a restart. @start: the settings
 * that the worker began with; what is not said to change in README.md stays as they say. */
void reload(struct runs *, const struct settings *start);

#endif
