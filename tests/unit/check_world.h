/*
 * check_world.h - what the tests of checks begin with: an arena and a job, checks from their members, verdicts and places.
 */
#ifndef CHECK_WORLD_H
#define CHECK_WORLD_H

#include "core/check.h"
#include "core/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

extern struct arena *arena;  /* of the test that runs */
extern const struct job job; /* its variables: name 山田花子, plan Gold, number 00042, empty */

#define T(name) cmocka_unit_test_setup_teardown(name, new_arena, free_arena)
int new_arena(void **state);
int free_arena(void **state);

enum status read_spec(const char *spec, struct check *out, struct err *err);
/* @spec: a whole check. */
void assert_refused(const char *spec, const char *said);

/* @arguments: the members of a check besides its name. */
struct check check_of(const char *arguments);
struct check_result result_of(const char *arguments, const char *text);
void assert_green(const char *arguments, const char *text);
/* Red, and the bytes concerned are the first @place in @text; NULL = the whole text. */
void assert_red(const char *arguments, const char *text, const char *detail, const char *place);
void assert_phrase(const char *arguments, const char *english, const char *japanese);

#endif
