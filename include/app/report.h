/*
 * app/report.h - what became of a batch, or of everything: figures of the trail, made by one query, so of one moment.
 *
 * jobs by outcome and stop reason; texts with a failed check before (first draft) and after (the draft that the outcome names),
 * both over the jobs whose outcome names one; tokens and money as the outcomes state them; calls by role; `besides`: from
 * intake to outcome without the latencies of all attempts (queue, limits, backoff, storing). A dead letter has no batch: they are
 * counted for all. Percentiles are values that occurred.
 */
#ifndef APP_REPORT_H
#define APP_REPORT_H

#include "app/page.h"
#include "base/json.h"
#include "io/pg.h"

/* @batch NULL: everything. json_free(*out). */
enum status report_load(struct pg *, const char *batch, struct json **out, struct err *err) MUST_CHECK;
void report_text(const struct json *, struct page *);

#endif
