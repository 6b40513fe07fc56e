/*
 * app/page.h - text for a person, made whole in memory and then printed. What comes from a job may hold any character, so it
 * goes through page_line(), page_text() or page_fill(): nothing in it can steer a terminal or look like a line of ours.
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
void page_count(struct page *, int64_t n, const char *word); /* "1 call", "2 calls" */
void page_ink(struct page *, enum ink);

/* On one line: all control characters, and those that turn the direction of writing, as \uXXXX. Absent: "-". */
void page_line(struct page *, struct str);
/* A text in its own lines, each after a bar; tabs stay too. May come in pieces; page_text_end() closes the last line. */
void page_text(struct page *, struct str);
void page_text_end(struct page *);

/*
 * @form is a picture of the text, in which members of @object are put:
 *	{key}       a text as page_line() puts it, or an integer; {} is @object itself
 *	{key|none}  "none" where it is null or not there, else "-"
 *	{key:12}    in 12 columns at their right, {key:-12} at their left
 *	{key.12}    of a text its first 12 bytes
 *	{key/6}     an integer as one with 6 decimals: micro-USD as USD
 *	{key#call}  "1 call", "2 calls"
 *	{key@}      a time of PostgreSQL, spelled as ours
 *	[...]       left out if a member in it is null, 0, "" or not there
 *	*...*       bold
 */
void page_fill(struct page *, const struct json *object, const char *form);
void page_fill_each(struct page *, const struct json *list, const char *form);

void page_json(const struct json *, struct page *); /* one line; JSON has its own escapes */

/* A terminal that shows colours, and nobody said NO_COLOR (no-color.org). */
bool page_wants_colour(int fd);

/* To stdout, and empties it. Whether it arrived, stdout says at the end; false: it was over PAGE_BYTES_MAX. */
bool page_print(struct page *);

#endif
