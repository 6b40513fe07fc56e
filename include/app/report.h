/*
 * app/report.h - what became of a batch, or of everything: figures of the trail, made by one query, so of one moment.
 *
 * Jobs by outcome and stop reason; texts with a red check before (first draft) and after (the draft that the outcome names, else
 * the latest), of jobs that have ended; tokens and money as the outcomes state them; calls by role; time of a job from intake to
 * outcome, and `own`, the part of it without model calls (the views v_job, v_violation, v_call of sql/ say what is counted).
 * A dead letter has no batch: they are counted for all. Percentiles are values that occurred.
 */
#ifndef APP_REPORT_H
#define APP_REPORT_H

#include "app/page.h"
#include "base/json.h"
#include "io/pg.h"

/* @batch NULL: everything. json_free(*out). */
enum status report_load(struct pg *, const char *batch, struct json **out,
			struct err *err) MUST_CHECK;
void report_text(const struct json *, struct page *);

#endif
