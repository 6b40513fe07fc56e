/*
 * app/page.h - text for a person, made whole in memory and then written. What comes from a job may hold any character, so it
 * goes through page_line() or page_text(): nothing in it can steer a terminal or look like a line of ours.
 */
#ifndef APP_PAGE_H
#define APP_PAGE_H

#include "base/json.h"

enum ink { INK_PLAIN, INK_BOLD, INK_RED, INK_GREEN };

struct page {
	struct buf text;
	bool colour; /* else ink leaves no mark */
	bool inside; /* page_text() stands inside a line */
};

enum { PAGE_BYTES_MAX = 1 << 28 };
#define PAGE(with_colour)                                                                          \
	{                                                                                          \
		BUF(PAGE_BYTES_MAX), (with_colour), false                                          \
	}

void page_printf(struct page *, const char *format, ...) PRINTF_LIKE(2, 3); /* our own words */
void page_ink(struct page *, enum ink);
void page_title(struct page *, const char *format, ...)
	PRINTF_LIKE(2, 3); /* an empty line before it; bold */

/* On one line: all control characters, and those that turn the direction of writing, as \uXXXX. Absent: "-". */
void page_line(struct page *, struct str);
/* A text in its own lines, each after a bar; tabs stay too. May come in pieces; page_text_end() closes the last line. */
void page_text(struct page *, struct str);
void page_text_end(struct page *);

void page_json(struct page *, const struct json *); /* one line; JSON has its own escapes */

/* A terminal that shows colours, and nobody said NO_COLOR (no-color.org). */
bool page_wants_colour(int fd);

/* All of @text to @fd. A reader that has gone (EPIPE) is fine; ST_DOWN: it cannot be written (a full disk), or was over PAGE_BYTES_MAX. */
enum status page_write(int fd, const struct buf *text, struct err *err) MUST_CHECK;

#endif
