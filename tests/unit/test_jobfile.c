#include "app/jobfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <unistd.h>

#include "base/buf.h"

#define BOM "\xEF\xBB\xBF"

static const struct jobfile_form by_name = {.format = NULL};

/* What comes out: "LINE|text" of a job, "LINE!fault: why" of a fault, a line each. */
static void read_all(FILE *f, const char *name, const struct jobfile_form *form, struct buf *got)
{
	struct jobfile *j = jobfile_open(f, name, form);
	struct jobfile_line line;
	enum jobfile_got what;

	while ((what = jobfile_next(j, &line)) == JOBFILE_JOB || what == JOBFILE_FAULTY) {
		buf_printf(got, "%lld", (long long)line.line_no);
		if (what == JOBFILE_JOB) {
			buf_puts(got, "|");
			buf_str(got, line.text);
		} else {
			buf_printf(got, "!%s: %s", line.fault, line.why.text);
		}
		buf_puts(got, "\n");
	}
	if (what == JOBFILE_UNREAD)
		buf_printf(got, "unread: %s\n", line.why.text);
	else
		assert_int_equal(jobfile_next(j, &line), JOBFILE_END);
	jobfile_close(j);
}

static void assert_read(const char *name, const struct jobfile_form *form, const char *text,
			size_t n, const char *want)
{
	FILE *f = fmemopen((void *)(uintptr_t)text, n, "r");
	struct buf got = BUF(1 << 20);

	assert_non_null(f);
	read_all(f, name, form, &got);
	fclose(f);
	buf_putc(&got, '\0');
	assert_string_equal(got.p, want);
	buf_release(&got);
}
#define ASSERT_JSONL(text, want) assert_read("-", &by_name, (text), sizeof(text) - 1, (want))
#define ASSERT_CSV(text, want) assert_read("x.csv", &by_name, (text), sizeof(text) - 1, (want))

static void assert_mapped(const char *const *map, int n_map, const char *text, const char *want)
{
	const struct jobfile_form form = {.map = map, .n_map = n_map};

	assert_read("x.csv", &form, text, strlen(text), want);
}

/* ---- JSON lines ---- */

static void lines_end_with_lf_crlf_or_the_file(void **state)
{
	ASSERT_JSONL("a\r\nb\n\n \t\r\nc", "1|a\n2|b\n5|c\n");
	ASSERT_JSONL("a\n", "1|a\n");
	ASSERT_JSONL("a\n  ", "1|a\n");
}

static void the_byte_order_mark_is_the_files_not_the_texts(void **state)
{
	ASSERT_JSONL(BOM "a\nx" BOM "y\n", "1|a\n2|x" BOM "y\n");
	ASSERT_CSV(BOM "id,a\n1,x" BOM "y\n",
		   "2|{\"id\":\"1\",\"variables\":{\"a\":\"x" BOM "y\"}}\n");
}

static void a_line_over_1_mib_is_a_fault_and_the_next_is_read(void **state)
{
	size_t n = 3 << 20;
	char *text = malloc(n + 2);

	memset(text, 'x', n);
	memcpy(text + n, "\nb", 2);
	assert_read("x.jsonl", &by_name, text, n + 2, "1!too_large: over 1 MiB\n2|b\n");
	memset(text, ' ', n); /* what was cut off may be the job */
	text[n - 1] = 'x';
	assert_read("x.jsonl", &by_name, text, n + 2, "1!too_large: over 1 MiB\n2|b\n");
	free(text);
}

/* ---- CSV ---- */

static void columns_with_a_jobs_names_are_the_jobs_the_others_variables(void **state)
{
	ASSERT_CSV(
		"plan,id,source,revision,profile,task,language,stakes,not_after,batch,tenant,subject,name\n"
		"P,1,s,2,p,t,ja,high,n,b,te,su,N\n",
		"2|{\"id\":\"1\",\"source\":\"s\",\"revision\":2,\"profile\":\"p\",\"task\":\"t\",\"language\":\"ja\","
		"\"stakes\":\"high\",\"not_after\":\"n\",\"batch\":\"b\",\"tenant\":\"te\",\"subject\":\"su\","
		"\"variables\":{\"plan\":\"P\",\"name\":\"N\"}}\n");
}

static void numbers_and_dates_are_text_as_written(void **state)
{
	ASSERT_CSV(
		"ref,phone,code,date,flag,none\n\"00042\",+81312345678,1E5,2024-03-01,true, null\n",
		"2|{\"variables\":{\"ref\":\"00042\",\"phone\":\"+81312345678\",\"code\":\"1E5\",\"date\":\"2024-03-01\","
		"\"flag\":\"true\",\"none\":\" null\"}}\n");
}

static void an_empty_value_says_nothing_of_the_job_but_is_a_variables_text(void **state)
{
	ASSERT_CSV("stakes,x,id,revision\n,,,\n", "2|{\"id\":\"\",\"variables\":{\"x\":\"\"}}\n");
}

/* What is no number stays text: the schema refuses it then. */
static void a_revision_is_the_only_number(void **state)
{
	ASSERT_CSV("id,revision\n1,07\n1,7\n",
		   "2|{\"id\":\"1\",\"revision\":\"07\",\"variables\":{}}\n"
		   "3|{\"id\":\"1\",\"revision\":7,\"variables\":{}}\n");
}

static void a_map_gives_a_column_another_name_or_several(void **state)
{
	const char *const map[] = {"id=No. 1", "number=No. 1", "topic=subject", "a=b=c"};

	assert_mapped(
		map, 4, "No. 1,subject,x,b=c\n7,Hello,y,z\n",
		"2|{\"id\":\"7\",\"variables\":{\"number\":\"7\",\"topic\":\"Hello\",\"x\":\"y\",\"a\":\"z\"}}\n");
}

static void a_row_that_does_not_fit_is_a_fault_of_its_own(void **state)
{
	ASSERT_CSV(
		"id,x\n1\n2,a,b\n3,c\"d\n4,e\n",
		"2!ragged: 1 fields, but the header has 2\n3!ragged: 3 fields, but the header has 2\n"
		"4!stray_quote: a quote in a field that does not begin with one; quote the field and double the quotes in it\n"
		"5|{\"id\":\"4\",\"variables\":{\"x\":\"e\"}}\n");
}

static void a_row_over_1_mib_is_a_fault_and_the_next_is_read(void **state)
{
	size_t n = 2 << 20;
	char *text = malloc(n + 20);

	memcpy(text, "x\n", 2);
	memset(text + 2, 'x', n);
	memcpy(text + 2 + n, "\nb\n", 3);
	assert_read("x.csv", &by_name, text, n + 5,
		    "2!too_large: over 1 MiB\n3|{\"variables\":{\"x\":\"b\"}}\n");
	free(text);
}

#define NONE "nothing of this file is sent: "

static void a_file_whose_form_is_broken_gives_no_job(void **state)
{
	ASSERT_CSV("id,x\n1,a\n2,\"b\n3,c\n",
		   "3!refused: " NONE "the quote that opens here is never closed\n");
	ASSERT_CSV("id,x\n1,a\n2,\x83\n",
		   "3!refused: " NONE
		   "byte 11 of the file (0x83) is not UTF-8; name the encoding that it is in\n");
	ASSERT_CSV(
		"id,x\n1,\"a\"b\n",
		"2!refused: " NONE
		"the quote that opens here is closed in line 2 before a character that is no delimiter\n");
}

static void a_header_that_cannot_be_is_refused(void **state)
{
	const char *const unknown[] = {"id=nmae"}, *const met[] = {"name=id"};

	ASSERT_CSV("\n", "2!refused: " NONE "the file is empty: a header is missing\n");
	ASSERT_CSV("id,,x\n", "1!refused: " NONE "column 2 of the header has no name\n");
	ASSERT_CSV("id,x,id\n", "1!refused: " NONE "the header names \"id\" twice\n");
	ASSERT_CSV("id;task\n1;x\n",
		   "1!refused: " NONE
		   "the header is one column: name the delimiter by --delimiter\n");
	ASSERT_CSV("id,a\"b\n", "1!refused: " NONE "the header has a quote inside a plain name\n");
	ASSERT_CSV("id,tags\n",
		   "1!refused: " NONE
		   "a column cannot hold a job's tags; rename it by --map, or send JSON lines\n");
	assert_mapped(unknown, 1, "name\nx\n",
		      "1!refused: " NONE
		      "--map id=nmae: the header has no such column; did you mean \"name\"?\n");
	assert_mapped(met, 1, "id,name\n1,x\n",
		      "1!refused: " NONE "two columns are named \"name\"; rename one by --map\n");
	ASSERT_CSV("id,x\n", "");
}

static void a_header_of_too_many_columns_is_refused(void **state)
{
	struct buf text = BUF(1 << 20);

	for (int i = 0; i <= 1000; i++)
		buf_printf(&text, "%sc%d", i ? "," : "", i);
	assert_read("x.csv", &by_name, text.p, text.n,
		    "1!refused: " NONE "the header has 1001 columns, at most 1000 can be\n");
	buf_release(&text);
}

/* ---- which it is ---- */

static void the_name_tells_the_format_unless_told(void **state)
{
	static const char text[] = "id\tx,y\n1\t2,3\n";
	static const char tabs[] = "2|{\"id\":\"1\",\"variables\":{\"x,y\":\"2,3\"}}\n";
	static const char commas[] = "2|{\"variables\":{\"id\\tx\":\"1\\t2\",\"y\":\"3\"}}\n";
	static const char lines[] = "1|id\tx,y\n2|1\t2,3\n";
	const struct jobfile_form csv = {.format = "csv"}, jsonl = {.format = "jsonl"},
				  tab = {.format = "csv", .delimiter = "tab"},
				  comma = {.delimiter = ","};
	const size_t n = sizeof(text) - 1;

	assert_read("jobs.tsv", &by_name, text, n, tabs);
	assert_read("JOBS.CSV", &by_name, text, n, commas);
	assert_read("jobs.jsonl", &by_name, text, n, lines);
	assert_read("jobs", &by_name, text, n, lines);
	assert_read("-", &by_name, text, n, lines);
	assert_read("-", &csv, text, n, commas);
	assert_read("-", &tab, text, n, tabs);
	assert_read("jobs.csv", &jsonl, text, n, lines);
	assert_read("jobs.tsv", &comma, text, n, commas);
}

static void assert_form_fault(struct jobfile_form form, const char *want)
{
	const char *const name[] = {"a.jsonl", "b.csv"};
	struct err err;

	assert_int_equal(jobfile_check(&form, name, 2, &err), ST_INVALID);
	assert_non_null(strstr(err.text, want));
}

static void a_form_that_cannot_be_is_refused(void **state)
{
	const char *const map[] = {"name"}, *const nothing[] = {"=name"}, *const column[] = {"a="};
	const char *const jsonl[] = {"-"};
	struct jobfile_form form = {.encoding = "CP932"};
	struct err err;

	assert_form_fault((struct jobfile_form){.format = "xlsx"}, "--format");
	assert_form_fault((struct jobfile_form){.delimiter = ""}, "--delimiter");
	assert_form_fault((struct jobfile_form){.delimiter = "\""}, "--delimiter");
	assert_form_fault((struct jobfile_form){.delimiter = ",;"}, "--delimiter");
	assert_form_fault((struct jobfile_form){.delimiter = "\xE3\x80\x81"}, "--delimiter");
	assert_form_fault((struct jobfile_form){.encoding = "utf-nine"}, "--encoding");
	assert_form_fault((struct jobfile_form){.map = map, .n_map = 1}, "--map");
	assert_form_fault((struct jobfile_form){.map = nothing, .n_map = 1}, "--map");
	assert_form_fault((struct jobfile_form){.map = column, .n_map = 1}, "--map");
	assert_int_equal(jobfile_check(&form, jsonl, 1, &err), ST_INVALID);
	assert_non_null(strstr(err.text, "--format csv"));
	form.format = "csv";
	assert_int_equal(jobfile_check(&form, jsonl, 1, &err), ST_OK);
}

/* ---- what is no file ---- */

static void a_pipe_is_read_twice_as_well(void **state)
{
	static const char text[] = "id,x\n1,a\n";
	struct buf got = BUF(1000);
	int end[2];

	assert_int_equal(pipe(end), 0);
	assert_int_equal(write(end[1], text, sizeof(text) - 1), sizeof(text) - 1);
	close(end[1]);
	FILE *f = fdopen(end[0], "r");
	read_all(f, "x.csv", &by_name, &got);
	fclose(f);
	assert_string_equal(buf_view(&got).p, "2|{\"id\":\"1\",\"variables\":{\"x\":\"a\"}}\n");
	buf_release(&got);
}

static void what_cannot_be_read_is_no_empty_file(void **state)
{
	const char *const name[] = {"x.csv", "x.jsonl"};

	for (int i = 0; i < 2; i++) {
		struct buf got = BUF(1000);
		FILE *f = fopen("/", "r");
		read_all(f, name[i], &by_name, &got);
		fclose(f);
		assert_string_equal(buf_view(&got).p, "unread: Is a directory\n");
		buf_release(&got);
	}
}

static void what_became_of_the_columns_is_told(void **state)
{
	const char text[] = "name,id,plan,task\n";
	FILE *f = fmemopen((void *)(uintptr_t)text, sizeof(text) - 1, "r");
	struct jobfile *j = jobfile_open(f, "x.csv", &by_name);

	assert_string_equal(jobfile_columns(j).p, "of the job: id, task; variables: name, plan");
	jobfile_close(j);
	rewind(f);
	j = jobfile_open(f, "x.jsonl", &by_name);
	assert_int_equal(jobfile_columns(j).n, 0);
	jobfile_close(j);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_end_with_lf_crlf_or_the_file),
		cmocka_unit_test(the_byte_order_mark_is_the_files_not_the_texts),
		cmocka_unit_test(a_line_over_1_mib_is_a_fault_and_the_next_is_read),
		cmocka_unit_test(columns_with_a_jobs_names_are_the_jobs_the_others_variables),
		cmocka_unit_test(numbers_and_dates_are_text_as_written),
		cmocka_unit_test(an_empty_value_says_nothing_of_the_job_but_is_a_variables_text),
		cmocka_unit_test(a_revision_is_the_only_number),
		cmocka_unit_test(a_map_gives_a_column_another_name_or_several),
		cmocka_unit_test(a_row_that_does_not_fit_is_a_fault_of_its_own),
		cmocka_unit_test(a_row_over_1_mib_is_a_fault_and_the_next_is_read),
		cmocka_unit_test(a_file_whose_form_is_broken_gives_no_job),
		cmocka_unit_test(a_header_that_cannot_be_is_refused),
		cmocka_unit_test(a_header_of_too_many_columns_is_refused),
		cmocka_unit_test(the_name_tells_the_format_unless_told),
		cmocka_unit_test(a_form_that_cannot_be_is_refused),
		cmocka_unit_test(a_pipe_is_read_twice_as_well),
		cmocka_unit_test(what_cannot_be_read_is_no_empty_file),
		cmocka_unit_test(what_became_of_the_columns_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
