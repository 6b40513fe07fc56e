/* settings_world.h - settings under test: a folder with a file of one's own, and an environment without our variables. */
#ifndef SETTINGS_WORLD_H
#define SETTINGS_WORLD_H

#include "app/settings.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

extern char folder[64], path[96]; /* of the test; the file is s.yaml in it */
extern struct arena *a;
extern struct settings settings; /* as read last */
extern char faults[4096];	 /* of the reading, one a line */
extern const char a_model[];	 /* a file that has one */

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
int set_up(void **state);
int tear_down(void **state);

void keep_fault(void *owner, const struct err *);
void write_file(const char *name, const char *text); /* in the folder */
/* The number of faults. */
int read_text(const char *text);
int read_text_with(const char *text, const struct flag *, int n_flag);
/* That @text has exactly one fault, which is told at @line of the file as @what. */
void assert_fault(const char *text, int line, const char *what);

#endif
