#include "base/csv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define BOM "\xEF\xBB\xBF"
/* U+8FD4 U+91D1, the first two characters of a refund; and a character whose second byte is a backslash, U+69CB */
#define HENKIN_CP932 "\x95\xD4\x8B\xE0"
#define HENKIN_EUC "\xCA\xD6\xB6\xE2"
#define HENKIN "\xE8\xBF\x94\xE9\x87\x91"
#define KOU_CP932 "\x8D\x5C"
#define KOU "\xE6\xA7\x8B"

struct form {
	const char *encoding;
	char delimiter;
	size_t row_bytes_max;
};
static const struct form plain = {"UTF-8", ',', 1 << 20};

/* Every row as LINE|field|field|, with marks; a fault as !LINE: why. */
static void assert_rows(struct form form, const char *text, size_t n, const char *want)
{
	FILE *f = fmemopen((void *)(uintptr_t)text, n, "r");
	struct csv *c = csv_new(f, form.encoding, form.delimiter, form.row_bytes_max);
	struct buf got = BUF(1 << 16);
	struct csv_row row;
	struct err err;
	enum status status;

	while ((status = csv_next(c, &row, &err)) == ST_OK && row.n_field) {
		buf_printf(&got, "%lld|", (long long)row.line_no);
		for (int i = 0; i < row.n_field && !row.is_too_long; i++) {
			buf_str(&got, csv_field(&row.text));
			buf_putc(&got, '|');
		}
		buf_puts(&got, row.has_stray_quote ? "stray|" : "");
		buf_puts(&got, row.is_too_long ? "long|" : "");
	}
	if (status != ST_OK)
		buf_printf(&got, "!%lld: %s", (long long)row.line_no, err.text);
	assert_string_equal(buf_view(&got).n ? got.p : "", want);
	csv_free(c);
	fclose(f);
	buf_release(&got);
}
#define ASSERT_ROWS(text, want) assert_rows(plain, (text), sizeof(text) - 1, (want))
#define ASSERT_DECODED(name, text, want)                                                           \
	assert_rows((struct form){(name), ',', 1 << 20}, (text), sizeof(text) - 1, (want))

/* ---- rows and fields ---- */

static void rows_end_with_lf_crlf_or_the_file(void **state)
{
	ASSERT_ROWS("a,b\r\nc,d\ne,f", "1|a|b|2|c|d|3|e|f|");
	ASSERT_ROWS("a,\r\n,\n", "1|a||2|||");
	ASSERT_ROWS("a,", "1|a||");
}

static void empty_lines_are_no_rows(void **state)
{
	ASSERT_ROWS("\n\r\na\n\n\"\"\n \n", "3|a|5||6| |");
	ASSERT_ROWS("\r\n", "");
}

static void inside_quotes_everything_is_kept(void **state)
{
	ASSERT_ROWS("a,\"b\r\nc\rd\ne,\"\"f\"\"\"\n\"\",g\n", "1|a|b\r\nc\rd\ne,\"f\"|4||g|");
}

static void spaces_belong_to_their_field(void **state)
{
	ASSERT_ROWS(" a , b\t\n", "1| a | b\t|");
}

static void the_delimiter_is_what_was_said(void **state)
{
	assert_rows((struct form){"UTF-8", ';', 100}, "a,b;c\n", 6, "1|a,b|c|");
	assert_rows((struct form){"UTF-8", '\t', 100}, "a;b\tc", 5, "1|a;b|c|");
}

static void a_quote_inside_a_plain_field_marks_the_row_and_no_other(void **state)
{
	ASSERT_ROWS("A-4,ensemble\". End\nA-5,x\na, \"b\"\n",
		    "1|A-4|ensemble\". End|stray|2|A-5|x|3|a| \"b\"|stray|");
}

static void a_quote_that_never_closes_is_named_by_its_own_line(void **state)
{
	ASSERT_ROWS("A-1,x\nA-2,y\nA-3,\"I said hello\nA-4,z\nA-5,z\n",
		    "1|A-1|x|2|A-2|y|!3: the quote that opens here is never closed");
	ASSERT_ROWS("a,\"b\nc\",\"d\n", "!2: the quote that opens here is never closed");
	ASSERT_ROWS("\"", "!1: the quote that opens here is never closed");
	ASSERT_ROWS("\"\"\"", "!1: the quote that opens here is never closed");
}

static void what_stands_behind_a_closing_quote_ends_the_reading(void **state)
{
	ASSERT_ROWS(
		"1,\"a\nb\"c\n2,d\n",
		"!1: the quote that opens here is closed in line 2 before a character that is no delimiter");
}

static void a_nul_or_a_cr_alone_ends_the_reading(void **state)
{
	ASSERT_ROWS("a\nb\0c\n", "1|a|!2: a NUL; if the file is UTF-16, name that encoding");
	ASSERT_ROWS("a\n\"b\0\"\n", "1|a|!2: a NUL; if the file is UTF-16, name that encoding");
	ASSERT_ROWS("a\nb\rc\n", "1|a|!2: a carriage return without line feed outside of quotes");
	ASSERT_ROWS("a\r", "!1: a carriage return without line feed outside of quotes");
}

static void a_row_over_the_ceiling_is_marked_and_the_next_is_read(void **state)
{
	static const char text[] = "abc,d\n\"12345\n67890\",x\ny\n";

	/* three and one byte, and a NUL behind each */
	assert_rows((struct form){"UTF-8", ',', 6}, text, sizeof(text) - 1, "1|abc|d|2|long|4|y|");
	assert_rows((struct form){"UTF-8", ',', 5}, "abc,d\nz", 7, "1|long|2|z|");
}

/* Pieces are decoded 64 KiB at a time: no border of theirs shows. */
static void long_files_read_as_short_ones(void **state)
{
	enum { N = 30000 };
	char *text = malloc(N * 12);
	size_t n = 0;

	for (int i = 0; i < N; i++)
		n += (size_t)sprintf(text + n, "%d,\"" KOU "\"\r\n", i % 10);
	FILE *f = fmemopen(text, n, "r");
	struct csv *c = csv_new(f, "UTF-8", ',', 100);
	struct csv_row row;
	struct err err;
	for (int i = 0; i < N; i++) {
		assert_int_equal(csv_next(c, &row, &err), ST_OK);
		assert_int_equal(row.line_no, i + 1);
		assert_int_equal(row.n_field, 2);
		assert_true(csv_field(&row.text).p[0] == '0' + i % 10);
		assert_true(str_is(csv_field(&row.text), KOU));
	}
	assert_int_equal(csv_next(c, &row, &err), ST_OK);
	assert_int_equal(row.n_field, 0);
	assert_int_equal(csv_bytes(c), n);
	csv_free(c);
	fclose(f);
	free(text);
}

/* ---- encodings ---- */

static void a_byte_order_mark_is_the_files_not_the_texts(void **state)
{
	ASSERT_ROWS(BOM "id,x\n" BOM "1,a" BOM "b\n", "1|id|x|2|" BOM "1|a" BOM "b|");
	ASSERT_ROWS(BOM "\"id\"\n", "1|id|");
	ASSERT_ROWS(BOM, "");
	ASSERT_ROWS(BOM BOM "a", "1|" BOM "a|");
}

static void text_is_decoded_before_it_is_split(void **state)
{
	ASSERT_DECODED("CP932", "a,\"" KOU_CP932 "\"\r\n\"" HENKIN_CP932 "\",c",
		       "1|a|" KOU "|2|" HENKIN "|c|");
	ASSERT_DECODED("CP932", "a\\b," KOU_CP932, "1|a\\b|" KOU "|");
	ASSERT_DECODED("EUC-JP", HENKIN_EUC ",b", "1|" HENKIN "|b|");
	/* U+2C22 holds the bytes of a quote and a comma, U+0A0D those of an end of line */
	ASSERT_DECODED("UTF-16LE", "a\0,\0\x22\x2C\x0D\x0A\n\0", "1|a|\xE2\xB0\xA2\xE0\xA8\x8D|");
	ASSERT_DECODED("UTF-16",
		       "\xFF\xFE"
		       "a\0,\0b\0\n\0",
		       "1|a|b|");
	ASSERT_DECODED("UTF-16",
		       "\xFE\xFF"
		       "\0a\0,\0b\0\n",
		       "1|a|b|");
	ASSERT_DECODED("UTF-16BE", "\xFE\xFF\0a", "1|a|");
}

static void the_first_byte_that_does_not_fit_is_named(void **state)
{
	ASSERT_ROWS(
		"id,name,message\r\n\"A-1\",\"\x83\x65\x83\x58",
		"1|id|name|message|!2: byte 24 of the file (0x83) is not UTF-8; name the encoding that it is in");
	ASSERT_DECODED(
		"CP932", "a\nb\x81",
		"1|a|!2: byte 3 of the file (0x81) is not CP932; name the encoding that it is in");
	ASSERT_DECODED(
		"UTF-16LE", "a\0\n\0b",
		"1|a|!2: byte 4 of the file (0x62) is not UTF-16LE; name the encoding that it is in");
	/* overlong, a surrogate, over U+10FFFF */
	ASSERT_ROWS("\xC0\xAF",
		    "!1: byte 0 of the file (0xc0) is not UTF-8; name the encoding that it is in");
	ASSERT_ROWS("\xED\xA0\x80",
		    "!1: byte 0 of the file (0xed) is not UTF-8; name the encoding that it is in");
	ASSERT_ROWS("\xF4\x90\x80\x80",
		    "!1: byte 0 of the file (0xf4) is not UTF-8; name the encoding that it is in");
}

static void encodings_that_would_replace_or_drop_are_not_known(void **state)
{
	assert_true(decode_knows("UTF-8"));
	assert_true(decode_knows("cp932"));
	assert_true(decode_knows("EUC-JP"));
	assert_true(decode_knows("UTF-16"));
	assert_false(decode_knows("UTF-8//IGNORE"));
	assert_false(decode_knows("CP932//TRANSLIT"));
	assert_false(decode_knows("utf-nine"));
	assert_false(decode_knows(""));
}

static void a_file_that_cannot_be_read_is_no_empty_file(void **state)
{
	FILE *f = fopen("/", "r");
	struct csv *c = csv_new(f, "UTF-8", ',', 100);
	struct csv_row row;
	struct err err;

	assert_int_equal(csv_next(c, &row, &err), ST_DOWN);
	assert_string_equal(err.text, "Is a directory");
	csv_free(c);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_end_with_lf_crlf_or_the_file),
		cmocka_unit_test(empty_lines_are_no_rows),
		cmocka_unit_test(inside_quotes_everything_is_kept),
		cmocka_unit_test(spaces_belong_to_their_field),
		cmocka_unit_test(the_delimiter_is_what_was_said),
		cmocka_unit_test(a_quote_inside_a_plain_field_marks_the_row_and_no_other),
		cmocka_unit_test(a_quote_that_never_closes_is_named_by_its_own_line),
		cmocka_unit_test(what_stands_behind_a_closing_quote_ends_the_reading),
		cmocka_unit_test(a_nul_or_a_cr_alone_ends_the_reading),
		cmocka_unit_test(a_row_over_the_ceiling_is_marked_and_the_next_is_read),
		cmocka_unit_test(long_files_read_as_short_ones),
		cmocka_unit_test(a_byte_order_mark_is_the_files_not_the_texts),
		cmocka_unit_test(text_is_decoded_before_it_is_split),
		cmocka_unit_test(the_first_byte_that_does_not_fit_is_named),
		cmocka_unit_test(encodings_that_would_replace_or_drop_are_not_known),
		cmocka_unit_test(a_file_that_cannot_be_read_is_no_empty_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
